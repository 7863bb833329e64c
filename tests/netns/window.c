// SPDX-License-Identifier: GPL-2.0
/*
 * A window of tracing without a lab: counts every packet of the given network
 * namespaces between two moments at which they are quiet, and prints the
 * ledgers as one JSON document.
 *
 *   window --netns NAME [--netns NAME]... [--netns-prefix TEXT] [--device NAME]...
 *          [--tier functions|tracepoints] [--only-kprobes] [--qdiscs N] [--slice-ms N] [--seconds N]
 *          [--probes PAYLOAD] [--tcp] [--packets] [--only-losses]
 *
 * --netns-prefix: every named namespace whose name begins so. --qdiscs: as many as that
 * are traced at most (256). --packets: every packet is told, and how many were of each
 * outcome (enum packet_outcome) is printed. --only-losses: nothing of the qdiscs is kept or
 * printed, so that what memory there is, is the tracer's.
 *
 * Says "ready" on stderr when it counts. The window ends with the first of: end
 * of standard input, SIGINT, SIGTERM, N seconds.
 *
 * Both ends are moments at which the tracer and the kernel speak of the same
 * packets (user/witness.h).
 */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <linux/pkt_sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "histogram.h"
#include "ledger.h"
#include "netns.h"
#include "qdisc_tree.h"
#include "result.h"
#include "tracer.h"
#include "witness.h"

#define DEVICES_MAX	8
#define POLL_MS		20
#define QUIET_MS	5000

struct window {
	struct witness_netns *netns;	/* the names are owned */
	__u32 *inodes;
	size_t netns_count;
	const char *devices[DEVICES_MAX];
	size_t device_count;
	enum tracer_tier tier;
	bool only_kprobes;
	bool packets;
	bool only_losses;
	__u64 told[PACKET_UNMATCHED + 1];	/* packets by outcome */
	unsigned int max_qdiscs;	/* 0: the tracer's own limit */
	__u64 slice_ns;
	double seconds;			/* 0: until told to end */
	bool probes;
	bool tcp;			/* their states are traced, and nobody takes them */
	unsigned int payload;
	struct tracer *tracer;

	/* By record index, grown as records appear. */
	struct window_qdisc {
		struct histogram sojourn;
		struct histogram wait_before_drop;
		struct histogram part;
		__u64 backlog_bytes_max;
		__u64 backlog_packets_max;
		double backlog_byte_seconds;	/* mean times length, over the slices */
	} *qdiscs;
	size_t qdisc_count;
	struct probe_event *events;
	size_t event_count;
	size_t event_room;
	bool out_of_memory;
};

static __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static bool grow_qdiscs(struct window *window, size_t count)
{
	struct window_qdisc *grown;

	if (count <= window->qdisc_count)
		return true;
	grown = realloc(window->qdiscs, count * sizeof(*grown));
	if (!grown) {
		window->out_of_memory = true;
		return false;
	}
	window->qdiscs = grown;
	for (; window->qdisc_count < count; window->qdisc_count++) {
		memset(&grown[window->qdisc_count], 0, sizeof(*grown));
		histogram_init(&grown[window->qdisc_count].sojourn);
		histogram_init(&grown[window->qdisc_count].wait_before_drop);
		histogram_init(&grown[window->qdisc_count].part);
	}
	return true;
}

static void take_slice(void *context, const struct tracer_slice *slice)
{
	struct window *window = context;
	struct window_qdisc *qdisc;

	if (window->only_losses || !grow_qdiscs(window, slice->qdisc + 1))
		return;
	qdisc = &window->qdiscs[slice->qdisc];
	histogram_add_slice(&qdisc->sojourn, slice->sojourn);
	histogram_add_slice(&qdisc->wait_before_drop, slice->wait_before_drop);
	histogram_add_slice(&qdisc->part, slice->part);
	if (slice->backlog_bytes_max > qdisc->backlog_bytes_max)
		qdisc->backlog_bytes_max = slice->backlog_bytes_max;
	if (slice->backlog_packets_max > qdisc->backlog_packets_max)
		qdisc->backlog_packets_max = slice->backlog_packets_max;
	qdisc->backlog_byte_seconds += slice->backlog_bytes_mean *
				       (slice->end_ns - slice->begin_ns) / 1e9;
}

static void take_probe(void *context, const struct probe_event *event)
{
	struct window *window = context;
	struct probe_event *grown;

	if (window->event_count == window->event_room) {
		window->event_room = window->event_room ? 2 * window->event_room : 1024;
		grown = realloc(window->events, window->event_room * sizeof(*grown));
		if (!grown) {
			window->out_of_memory = true;
			return;
		}
		window->events = grown;
	}
	window->events[window->event_count++] = *event;
}

static void take_packets(void *context, const struct packet_event *packets, unsigned int count)
{
	struct window *window = context;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (packets[i].outcome <= PACKET_UNMATCHED)
			window->told[packets[i].outcome] += packets[i].packets;
}

static int begin(struct window *window, struct qdisc_tree *before, struct error *error)
{
	struct tracer_options options = {
		.tier = window->tier,
		.only_kprobes = window->only_kprobes,
		.max_qdiscs = window->max_qdiscs,
		.slice_ns = window->slice_ns,
		.netns = window->inodes,
		.netns_count = window->netns_count,
		.devices = window->device_count ? window->devices : NULL,
		.device_count = window->device_count,
		.probes = window->probes,
		.probe_payload = window->payload,
		.tcp = window->tcp,
		.packets = window->packets,
		.sink = {
			.context = window,
			.slice = take_slice,
			.probe = take_probe,
			.packets = take_packets,
		},
	};

	window->tracer = witness_begin(&options, window->netns, window->netns_count, before,
				       NULL, error);
	return window->tracer ? 0 : -1;
}

static int end(struct window *window, struct qdisc_tree *after, struct error *error)
{
	bool quiet;

	if (witness_end(window->tracer, window->netns, window->netns_count, QUIET_MS, after,
			&quiet, error))
		return -1;
	if (!quiet)
		return error_set(error, EXIT_INCOMPLETE, "packets still move %u ms after the end",
				 QUIET_MS);
	return 0;
}

/* Poll the tracer until the window is told to end. */
static int run(struct window *window, int signals, struct error *error)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	__u64 until = now_ns() + (__u64)(window->seconds * 1e9);
	char buffer[64];

	for (;;) {
		if (poll(fds, 2, POLL_MS) < 0 && errno != EINTR)
			return error_set_errno(error, EXIT_CANNOT, "poll");
		if (tracer_poll(window->tracer, error))
			return -1;
		if (fds[1].revents || (window->seconds > 0 && now_ns() >= until))
			return 0;
		if (fds[0].revents && read(STDIN_FILENO, buffer, sizeof(buffer)) <= 0)
			return 0;
	}
}

static void add_u64(cJSON *object, const char *name, __u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	cJSON_AddRawToObject(object, name, text);
}

static void add_s64(cJSON *object, const char *name, __s64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", value);
	cJSON_AddRawToObject(object, name, text);
}

static void add_histogram(cJSON *object, const char *name, const struct histogram *histogram)
{
	cJSON *figures = cJSON_AddObjectToObject(object, name);
	struct summary summary;

	histogram_summary(histogram, &summary);
	add_u64(figures, "count", summary.count);
	add_s64(figures, "sum", histogram->sum);
	add_u64(figures, "min", summary.min);
	add_u64(figures, "p49", histogram_percentile(histogram, 49));
	add_u64(figures, "p50", summary.p50);
	add_u64(figures, "p51", histogram_percentile(histogram, 51));
	add_u64(figures, "p90", summary.p90);
	add_u64(figures, "p95", summary.p95);
	add_u64(figures, "p98", histogram_percentile(histogram, 98));
	add_u64(figures, "p99", summary.p99);
	add_u64(figures, "max", summary.max);
	cJSON_AddNumberToObject(figures, "mean", summary.mean);
}

static void add_ledger(cJSON *object, const struct ledger *ledger)
{
	static const char *const agrees[] = {
		[LEDGER_AGREES] = "yes",
		[LEDGER_DISAGREES] = "no",
		[LEDGER_UNKNOWN] = "unknown",
	};
	cJSON *figures = cJSON_AddObjectToObject(object, "ledger");
	cJSON *kernel = cJSON_AddObjectToObject(object, "kernel");

	add_u64(figures, "offered", ledger->offered);
	add_u64(figures, "measured", ledger->measured);
	add_u64(figures, "bypassed", ledger->bypassed);
	add_u64(figures, "rejected", ledger->rejected);
	add_u64(figures, "dropped_inside", ledger->dropped_inside);
	add_u64(figures, "requeued", ledger->requeued);
	add_u64(figures, "queued", ledger->queued);
	add_s64(figures, "unaccounted", ledger->unaccounted);
	add_u64(figures, "unmatched", ledger->unmatched);
	add_u64(figures, "flow_misses", ledger->flow_misses);
	add_u64(figures, "dropped_skbs", ledger->dropped_skbs);
	add_u64(figures, "rejected_skbs", ledger->rejected_skbs);
	add_u64(kernel, "packets", ledger->kernel.packets);
	add_u64(kernel, "bytes", ledger->kernel.bytes);
	add_u64(kernel, "drops", ledger->kernel.drops);
	add_u64(kernel, "requeues", ledger->kernel.requeues);
	add_u64(kernel, "backlog_bytes", ledger->kernel.backlog_bytes);
	add_u64(kernel, "backlog_packets", ledger->kernel.backlog_packets);
	cJSON_AddBoolToObject(object, "have_kernel", ledger->have_kernel);
	cJSON_AddStringToObject(object, "agrees", agrees[ledger->agrees]);
	cJSON_AddStringToObject(object, "why", ledger->why);
}

static void add_counters(cJSON *object, const struct qdisc_record *record)
{
	cJSON *figures = cJSON_AddObjectToObject(object, "counters");
	const struct qdisc_counters *counters = &record->counters;

	add_u64(figures, "offered_skbs", counters->offered_skbs);
	add_u64(figures, "measured_skbs", counters->measured_skbs);
	add_u64(figures, "bypassed_skbs", counters->bypassed_skbs);
	add_u64(figures, "segments", counters->segments);
	add_u64(figures, "flow_misses", counters->flow_misses);
	add_u64(figures, "negative", counters->negative);
	add_u64(figures, "rejected_inactive", counters->rejected_inactive);
	add_u64(figures, "purged_skbs", counters->purged_skbs);
	add_u64(figures, "stolen_skbs", counters->stolen_skbs);
	add_u64(figures, "parts_refused", counters->parts_refused);
	add_u64(figures, "drops_here", counters->drops_here);
	add_u64(figures, "exclusive_misses", counters->exclusive_misses);
	cJSON_AddNumberToObject(object, "depth", record->depth);
	cJSON_AddBoolToObject(object, "is_parent", record->traits & QDISC_IS_PARENT);
	cJSON_AddBoolToObject(object, "paces", (record->traits & QDISC_PACES) != 0);
	cJSON_AddBoolToObject(object, "destroyed", record->destroyed_ns != 0);
}

static void add_qdisc(const struct window *window, cJSON *array, const struct result_qdisc *qdisc)
{
	cJSON *object = cJSON_CreateObject();
	char text[16];

	cJSON_AddItemToArray(array, object);
	cJSON_AddStringToObject(object, "id", qdisc->id);
	cJSON_AddStringToObject(object, "netns", qdisc->netns_name);
	cJSON_AddStringToObject(object, "ifname", qdisc->device);
	cJSON_AddStringToObject(object, "kind", qdisc->kind);
	cJSON_AddStringToObject(object, "handle", qdisc_handle_text(qdisc->handle, text));
	cJSON_AddStringToObject(object, "parent", qdisc->parent == TC_H_ROOT ? "root" :
				qdisc_handle_text(qdisc->parent, text));
	cJSON_AddStringToObject(object, "path", qdisc->path);
	cJSON_AddNumberToObject(object, "queue", qdisc->queue);
	cJSON_AddBoolToObject(object, "root", qdisc->root);
	cJSON_AddBoolToObject(object, "traced", qdisc->traced);
	add_ledger(object, &qdisc->ledger);
	if (!qdisc->traced)
		return;
	cJSON_AddNumberToObject(object, "record", qdisc->record);
	add_counters(object, tracer_qdisc(window->tracer, qdisc->record));
	if (qdisc->record < window->qdisc_count) {
		const struct window_qdisc *seen = &window->qdiscs[qdisc->record];

		add_histogram(object, "sojourn_ns", &seen->sojourn);
		add_histogram(object, "wait_before_drop_ns", &seen->wait_before_drop);
		add_histogram(object, "part_ns", &seen->part);
		add_u64(object, "backlog_bytes_max", seen->backlog_bytes_max);
		add_u64(object, "backlog_packets_max", seen->backlog_packets_max);
		cJSON_AddNumberToObject(object, "backlog_byte_seconds", seen->backlog_byte_seconds);
	}
}

static void add_losses(const struct window *window, cJSON *document)
{
	cJSON *object = cJSON_AddObjectToObject(document, "losses");
	struct tracer_losses losses;

	tracer_losses(window->tracer, &losses);
	add_u64(object, "ring_full", losses.ring_full);
	add_u64(object, "slot_overwrites", losses.slot_overwrites);
	add_u64(object, "flow_misses", losses.flow_misses);
	add_u64(object, "unmatched", losses.unmatched);
	add_u64(object, "records_full", losses.records_full);
	add_u64(object, "samples_missing", losses.samples_missing);
	add_u64(object, "recursion_misses", losses.recursion_misses);
	add_u64(object, "negative", losses.negative);
	add_u64(object, "stale", losses.stale);
	add_u64(object, "tcp_flows_full", losses.tcp_flows_full);
}

static const char *netns_name(const struct window *window, __u32 inode)
{
	size_t i;

	for (i = 0; i < window->netns_count; i++)
		if (window->inodes[i] == inode)
			return window->netns[i].name;
	return "";
}

/* A probe's points in each device, as they came; the reader joins them. */
static void add_events(const struct window *window, cJSON *document)
{
	static const char *const points[] = {
		[PROBE_OFFERED] = "offered",
		[PROBE_DEQUEUED] = "dequeued",
		[PROBE_TRANSMIT] = "transmit",
		[PROBE_RECEIVED] = "received",
		[PROBE_DROPPED] = "dropped",
		[PROBE_HANDED_UP] = "handed up",
	};
	cJSON *array = cJSON_AddArrayToObject(document, "probe_events");
	size_t i;

	for (i = 0; i < window->event_count; i++) {
		const struct probe_event *event = &window->events[i];
		cJSON *object = cJSON_CreateObject();

		cJSON_AddItemToArray(array, object);
		cJSON_AddStringToObject(object, "point",
					event->point <= PROBE_HANDED_UP && points[event->point] ?
					points[event->point] : "unknown");
		cJSON_AddStringToObject(object, "netns",
					netns_name(window, event->header.netns));
		cJSON_AddStringToObject(object, "device", event->device);
		cJSON_AddNumberToObject(object, "id", event->id);
		cJSON_AddNumberToObject(object, "sequence", event->sequence);
		cJSON_AddBoolToObject(object, "reply", event->reply);
		add_u64(object, "time_ns", event->header.time_ns);
	}
}

static void add_told(const struct window *window, cJSON *document)
{
	static const char *const names[] = {
		[PACKET_MEASURED] = "measured", [PACKET_REPEATED] = "repeated",
		[PACKET_BYPASSED] = "bypassed", [PACKET_DROPPED] = "dropped",
		[PACKET_REJECTED] = "rejected", [PACKET_UNMATCHED] = "unmatched",
	};
	cJSON *told = cJSON_AddObjectToObject(document, "told");
	size_t i;

	for (i = PACKET_MEASURED; i <= PACKET_UNMATCHED; i++)
		add_u64(told, names[i], window->told[i]);
}

static int print(const struct window *window, const struct result *result, __u64 lasted_ns)
{
	cJSON *document = cJSON_CreateObject(), *array;
	char *text;
	size_t i;
	int err;

	cJSON_AddStringToObject(document, "tier", tracer_tier(window->tracer));
	add_u64(document, "window_ns", lasted_ns);
	add_losses(window, document);
	if (window->packets)
		add_told(window, document);
	array = cJSON_AddArrayToObject(document, "qdiscs");
	for (i = 0; !window->only_losses && i < result->qdisc_count; i++)
		add_qdisc(window, array, &result->qdiscs[i]);
	if (window->probes)
		add_events(window, document);
	text = cJSON_Print(document);
	cJSON_Delete(document);
	if (!text)
		return -1;
	err = puts(text) < 0 || fflush(stdout) ? -1 : 0;
	cJSON_free(text);
	return err;
}

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int measure(struct window *window, struct error *error)
{
	struct qdisc_tree before = { 0 }, after = { 0 };
	int signals = signals_open(), err = -1;
	struct result *result;
	__u64 begin_ns;

	/* Too large for the stack of a careful program. */
	result = calloc(1, sizeof(*result));
	if (!result)
		return error_set_errno(error, EXIT_CANNOT, "memory");
	result_init(result);
	if (signals < 0 || begin(window, &before, error))
		goto out;
	begin_ns = now_ns();
	fprintf(stderr, "ready\n");
	if (run(window, signals, error) || end(window, &after, error) ||
	    tracer_detach(window->tracer, error))
		goto out;
	if (ledger_join(result, window->tracer, &before, &after, error))
		goto out;
	if (window->out_of_memory || print(window, result, now_ns() - begin_ns)) {
		error_set(error, EXIT_CANNOT, "no memory, or standard output failed");
		goto out;
	}
	err = 0;
out:
	if (window->tracer)
		tracer_close(window->tracer);
	qdisc_tree_free(&before);
	qdisc_tree_free(&after);
	result_free(result);
	free(result);
	free(window->qdiscs);
	free(window->events);
	if (signals >= 0)
		close(signals);
	return err;
}

static int add_netns(struct window *window, const char *name, struct error *error)
{
	size_t count = window->netns_count + 1;
	char *copy = strdup(name);
	void *grown;
	int fd;

	grown = realloc(window->netns, count * sizeof(*window->netns));
	if (grown)
		window->netns = grown;
	grown = grown ? realloc(window->inodes, count * sizeof(*window->inodes)) : NULL;
	if (!grown || !copy) {
		free(copy);
		return error_set_errno(error, EXIT_CANNOT, "memory");
	}
	window->inodes = grown;
	fd = netns_open(name, error);
	if (fd < 0) {
		free(copy);
		return -1;
	}
	window->inodes[window->netns_count] = netns_inode(fd);
	window->netns[window->netns_count++] = (struct witness_netns){ fd, copy };
	return 0;
}

static int add_netns_with_prefix(struct window *window, const char *prefix, struct error *error)
{
	DIR *directory = opendir(NETNS_DIRECTORY);
	struct dirent *entry;
	int err = 0;

	if (!directory)
		return error_set_errno(error, EXIT_CANNOT, "%s", NETNS_DIRECTORY);
	while (!err && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			err = add_netns(window, entry->d_name, error);
	closedir(directory);
	return err;
}

static int set_tier(struct window *window, const char *name, struct error *error)
{
	if (!strcmp(name, "functions"))
		window->tier = TIER_FUNCTIONS;
	else if (!strcmp(name, "tracepoints"))
		window->tier = TIER_TRACEPOINTS;
	else
		return error_set(error, EXIT_USAGE, "no tier is called '%s'", name);
	return 0;
}

static int parse(struct window *window, int argc, char *argv[], struct error *error)
{
	static const struct option options[] = {
		{ "netns", required_argument, NULL, 'n' },
		{ "netns-prefix", required_argument, NULL, 'x' },
		{ "tier", required_argument, NULL, 't' },
		{ "qdiscs", required_argument, NULL, 'q' },
		{ "slice-ms", required_argument, NULL, 'm' },
		{ "device", required_argument, NULL, 'd' },
		{ "seconds", required_argument, NULL, 's' },
		{ "probes", required_argument, NULL, 'p' },
		{ "tcp", no_argument, NULL, 'c' },
		{ "only-kprobes", no_argument, NULL, 'k' },
		{ "packets", no_argument, NULL, 'P' },
		{ "only-losses", no_argument, NULL, 'l' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'n':
			if (add_netns(window, optarg, error))
				return -1;
			break;
		case 'x':
			if (add_netns_with_prefix(window, optarg, error))
				return -1;
			break;
		case 'P':
			window->packets = true;
			break;
		case 'l':
			window->only_losses = true;
			break;
		case 'k':
			window->only_kprobes = true;
			break;
		case 't':
			if (set_tier(window, optarg, error))
				return -1;
			break;
		case 'q':
			window->max_qdiscs = strtoul(optarg, NULL, 10);
			break;
		case 'm':
			window->slice_ns = strtoul(optarg, NULL, 10) * 1000000;
			break;
		case 'd':
			if (window->device_count == DEVICES_MAX)
				return error_set(error, EXIT_USAGE, "too many devices");
			window->devices[window->device_count++] = optarg;
			break;
		case 's':
			window->seconds = strtod(optarg, NULL);
			break;
		case 'p':
			window->probes = true;
			window->payload = strtoul(optarg, NULL, 10);
			break;
		case 'c':
			window->tcp = true;
			break;
		default:
			return error_set(error, EXIT_USAGE, "see the head of window.c");
		}
	}
	if (!window->netns_count)
		return error_set(error, EXIT_USAGE, "no network namespace is given");
	return 0;
}

int main(int argc, char *argv[])
{
	struct window window = { 0 };
	struct error error = { 0 };
	size_t i;
	int err;

	err = parse(&window, argc, argv, &error);
	if (!err)
		err = measure(&window, &error);
	if (err)
		fprintf(stderr, "window: %s\n", error.text);
	for (i = 0; i < window.netns_count; i++) {
		close(window.netns[i].fd);
		free((char *)window.netns[i].name);
	}
	free(window.netns);
	free(window.inodes);
	return err ? error.code ? error.code : EXIT_CANNOT : EXIT_OK;
}
