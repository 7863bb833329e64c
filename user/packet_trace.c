// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "commands.h"
#include "ledger.h"
#include "netns.h"
#include "output_file.h"
#include "packet_file.h"
#include "packet_print.h"
#include "packet_trace.h"
#include "packet_writer.h"
#include "qdisc_tree.h"
#include "result.h"
#include "result_terms.h"
#include "signals.h"
#include "text.h"
#include "witness.h"

#define POLL_MS		5		/* the ring buffer holds half a million packets */
#define QUIET_MS	100
#define WRITTEN_POLL_MS	50
#define STALLED_NS	5000000000ULL
#define OUTCOMES	(PACKET_UNMATCHED + 1)

/* What was told of one qdisc. */
struct tally {
	bool described;
	__u64 packets[OUTCOMES];
};

struct trace {
	const struct packet_trace_options *options;
	struct packet_trace_result *result;
	struct tracer *tracer;
	struct packet_file_header header;
	sigset_t blocked, previous;
	int signals;			/* signalfd */

	struct witness_netns *netns;	/* descriptors and names are owned */
	__u32 *inodes;
	size_t netns_count, netns_room, inodes_room;
	size_t witness_count;		/* those whose counters are read: they were there at the begin */
	__u64 attached_ns;		/* all hooks: from then on every packet is told */
	__u32 own_netns;

	struct output_file *place;	/* until the file is there */
	int opened;			/* a descriptor of ours; -1: none */
	struct packet_output *output;
	FILE *stream;			/* lines; NULL: binary */
	struct packet_printer *printer;
	struct packet_decoder *decoder;
	struct packet_writer *writer;

	struct tally tallies[PACKET_QDISCS_MAX];
	__u64 taken;			/* records, with those that were not written */
	__u64 packets;			/* of the records that are written, each counted once */
	__u64 not_written;
	__u64 not_told;			/* packets that were counted and not told of */

	char absent[256];		/* devices wanted that were not there at first, by commas */

	struct qdisc_tree first;	/* before anything was attached */
	struct qdisc_tree before, after;
	char not_compared[96];		/* why the kernel's counters are not; "": they are */
	unsigned int ledgers_off;
};

static void add_trouble(struct trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_trouble(struct trace *trace, const char *format, ...)
{
	struct text text = { trace->result->trouble, sizeof(trace->result->trouble),
			     strlen(trace->result->trouble) };
	va_list arguments;

	if (text.used)
		text_add(&text, ", ");
	va_start(arguments, format);
	text_add_list(&text, format, arguments);
	va_end(arguments);
}

/* ---- network namespaces ---- */

static int add_netns(struct trace *trace, int fd, const char *name, struct error *error)
{
	struct witness_netns *netns = array_grow(trace->netns, trace->netns_count,
						 &trace->netns_room, sizeof(*netns));
	__u32 *inodes = array_grow(trace->inodes, trace->netns_count, &trace->inodes_room,
				   sizeof(*inodes));
	char *copy = strdup(name);

	if (netns)
		trace->netns = netns;
	if (inodes)
		trace->inodes = inodes;
	if (!netns || !inodes || !copy) {
		free(copy);
		close(fd);
		return error_set(error, EXIT_CANNOT, "out of memory");
	}
	inodes[trace->netns_count] = netns_inode(fd);
	netns[trace->netns_count++] = (struct witness_netns){ fd, copy };
	return 0;
}

static bool is_listed(const struct trace *trace, __u32 inode)
{
	size_t i;

	for (i = 0; i < trace->netns_count; i++)
		if (trace->inodes[i] == inode)
			return true;
	return false;
}

/* Those with a name. One that cannot be opened is left out: it is no more than a witness. */
static int add_named(struct trace *trace, struct error *error)
{
	DIR *directory = opendir(NETNS_DIRECTORY);
	struct dirent *entry;
	int fd, failed = 0;

	while (directory && !failed && (entry = readdir(directory))) {
		if (netns_name_look(entry->d_name, &fd) != NETNS_NAME_MOUNTED)
			continue;
		if (is_listed(trace, netns_inode(fd)))
			close(fd);
		else
			failed = add_netns(trace, fd, entry->d_name, error);
	}
	if (directory)
		closedir(directory);
	return failed;
}

static int list_netns(struct trace *trace, struct error *error)
{
	const struct packet_trace_options *options = trace->options;
	size_t i;
	int fd;

	trace->own_netns = netns_identify(-1, error);
	if (!trace->own_netns)
		return -1;
	for (i = 0; i < options->netns_count; i++) {
		fd = netns_open(options->netns[i], error);
		if (fd < 0 || add_netns(trace, fd, options->netns[i], error))
			return -1;
	}
	trace->witness_count = trace->netns_count;
	if (options->netns_count)
		return 0;
	fd = netns_open_own(error);
	if (fd < 0 || add_netns(trace, fd, "", error) || add_named(trace, error))
		return -1;
	trace->witness_count = trace->netns_count;
	return 0;
}

static void free_netns(struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->netns_count; i++) {
		close(trace->netns[i].fd);
		free((char *)trace->netns[i].name);
	}
	free(trace->netns);
	free(trace->inodes);
}

/* "": ours. One that nobody gave a name is "net:[4026531840]", as in /proc/PID/ns. */
static void name_netns(struct trace *trace, __u32 inode, char *name, size_t size)
{
	struct error error;
	size_t i;

	/* named since, perhaps */
	if (inode != trace->own_netns && !is_listed(trace, inode) &&
	    !trace->options->netns_count)
		add_named(trace, &error);
	for (i = 0; i < trace->netns_count; i++) {
		if (trace->inodes[i] == inode) {
			snprintf(name, size, "%s", trace->netns[i].name);
			return;
		}
	}
	snprintf(name, size, "net:[%u]", inode);
}

/* ---- from the tracer to the writer ---- */

/* Before the first packet of it. False: out of memory. */
static bool describe(struct trace *trace, unsigned int index)
{
	const struct qdisc_record *record = tracer_qdisc(trace->tracer, index);
	struct packet_qdisc qdisc = {
		.qdisc = index,
		.netns = record->netns,
		.ifindex = record->ifindex,
		/* a root that serves all queues is no one queue's */
		.queue = record->parent == TC_H_ROOT ? 0 : record->queue,
		.handle = record->handle,
		.parent = record->parent,
		.depth = record->depth,
	};

	snprintf(qdisc.device, sizeof(qdisc.device), "%.*s", QDISC_DEVICE_LEN, record->device);
	snprintf(qdisc.kind, sizeof(qdisc.kind), "%.*s", QDISC_KIND_LEN, record->kind);
	name_netns(trace, record->netns, qdisc.netns_name, sizeof(qdisc.netns_name));
	trace->tallies[index].described = packet_writer_put(trace->writer, BLOCK_QDISC, &qdisc,
							    sizeof(qdisc), 0, true);
	return trace->tallies[index].described;
}

static bool describe_all(struct trace *trace, const struct packet_event *packets,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!trace->tallies[packets[i].qdisc].described &&
		    !describe(trace, packets[i].qdisc))
			return false;
	return true;
}

static bool limit_reached(const struct trace *trace)
{
	return trace->options->count && trace->taken >= trace->options->count;
}

/* How many packets stand for packets of their own. */
static __u64 add_up(struct trace *trace, const struct packet_event *packets, unsigned int count)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		trace->tallies[packets[i].qdisc].packets[packets[i].outcome] +=
			packets[i].packets;
		if (packets[i].outcome != PACKET_REPEATED)
			sum += packets[i].packets;
	}
	return sum;
}

static void take_packets(void *context, const struct packet_event *packets, unsigned int count)
{
	struct trace *trace = context;
	__u64 sum;

	if (trace->options->count && count > trace->options->count - trace->taken)
		count = trace->options->count - trace->taken;
	if (!count)
		return;
	trace->taken += count;
	sum = add_up(trace, packets, count);
	if (!describe_all(trace, packets, count) ||
	    !packet_writer_put(trace->writer, BLOCK_PACKETS, packets, count * sizeof(*packets),
			       count, false)) {
		trace->not_written += count;
		return;
	}
	trace->result->records += count;
	trace->packets += sum;
}

/* ---- where it goes ---- */

static int write_binary(void *context, const void *bytes, size_t length, struct error *error)
{
	struct trace *trace = context;

	return packet_output_write(trace->output, bytes, length, error);
}

static int write_lines(void *context, const void *bytes, size_t length, struct error *error)
{
	struct trace *trace = context;
	size_t used;

	if (packet_decode(trace->decoder, bytes, length, &used, error) ||
	    packet_printer_finish(trace->printer, error)) {
		packet_output_error(trace->output, error);
		return -1;
	}
	return 0;
}

static bool to_stdout(const struct trace *trace)
{
	return !trace->options->path || !strcmp(trace->options->path, "-");
}

static int open_pipe(struct trace *trace, struct error *error)
{
	const char *path = trace->options->path;

	trace->opened = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (trace->opened >= 0)
		return 0;
	if (errno == ENXIO)
		return error_set(error, EXIT_CANNOT,
				 "cannot write to %s: nobody reads it; start the reader first",
				 path);
	return error_set_errno(error, EXIT_USAGE, "cannot write to %s", path);
}

/* Can it be written to? Nothing is changed yet. */
static int check_place(struct trace *trace, struct error *error)
{
	const char *path = to_stdout(trace) ? "-" : trace->options->path;
	struct stat status;

	if (trace->options->path && to_stdout(trace) && isatty(STDOUT_FILENO))
		return error_set(error, EXIT_USAGE,
				 "standard output is a terminal; without -o there are lines to read");
	if (!to_stdout(trace) && !lstat(path, &status)) {
		if (S_ISFIFO(status.st_mode))
			return open_pipe(trace, error);
		if (S_ISLNK(status.st_mode))
			return error_set(error, EXIT_USAGE,
					 "cannot write to %s: it is a symbolic link; name the file itself, or - for standard output",
					 path);
	}
	trace->place = output_file_open(path, NULL, error);
	return trace->place ? 0 : -1;
}

/* Is it our header that is there, and nothing else? */
static bool is_our_file(const struct trace *trace, int fd)
{
	struct packet_file_header found;
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	       status.st_size == sizeof(found) &&
	       pread(fd, &found, sizeof(found), 0) == sizeof(found) &&
	       !memcmp(&found, &trace->header, sizeof(found));
}

/*
 * A file gets into its place as soon as it has its header, and grows there: a trace that
 * is killed is readable up to its last whole block. Whether it is still the same file when
 * it is opened again its own header shows.
 */
static int place_file(struct trace *trace, struct error *error)
{
	const char *path = trace->options->path;
	struct output_file *place = trace->place;

	trace->place = NULL;
	if (output_file_finish(place, (const char *)&trace->header, sizeof(trace->header), error))
		return -1;
	trace->opened = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (trace->opened < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot write %s", path);
	if (!is_our_file(trace, trace->opened))
		return error_set(error, EXIT_CANNOT,
				 "cannot write %s: somebody else has put a file there meanwhile",
				 path);
	return 0;
}

static int open_lines(struct trace *trace, struct error *error)
{
	struct packet_print_options options = { .json = trace->options->json };
	struct packet_sink sink;

	trace->stream = options.file = packet_output_stream(trace->output);
	if (trace->stream)
		trace->printer = packet_printer_open(&options);
	if (trace->printer) {
		sink = packet_printer_sink(trace->printer);
		trace->decoder = packet_decoder_open(&sink);
	}
	return trace->decoder ? 0 : error_set(error, EXIT_CANNOT, "out of memory");
}

static int open_output(struct trace *trace, struct error *error)
{
	bool lines = !trace->options->path, has_header = trace->place && !to_stdout(trace);

	if (has_header && place_file(trace, error))
		return -1;
	fflush(stdout);
	trace->output = to_stdout(trace) ?
			packet_output_open(STDOUT_FILENO, "standard output") :
			packet_output_open(trace->opened, trace->options->path);
	if (!trace->output)
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (lines && open_lines(trace, error))
		return -1;
	trace->writer = packet_writer_start(lines ? write_lines : write_binary, trace, error);
	if (!trace->writer)
		return -1;
	if (!has_header && packet_writer_put_header(trace->writer, &trace->header))
		return error_set(error, EXIT_CANNOT, "out of memory");
	return 0;
}

/* ---- begin ---- */

/* Wait for a signal that ends the trace, and take it. */
static bool wait_signal(const struct trace *trace, int timeout_ms)
{
	struct pollfd signals = { .fd = trace->signals, .events = POLLIN };
	struct signalfd_siginfo signal;

	poll(&signals, 1, timeout_ms);
	return read(trace->signals, &signal, sizeof(signal)) == sizeof(signal);
}

static void fill_header(struct trace *trace)
{
	struct packet_file_header *header = &trace->header;
	struct utsname names;

	packet_file_header_init(header);
	snprintf(header->version, sizeof(header->version), "%s", SOJOURN_VERSION);
	if (!uname(&names))
		snprintf(header->kernel, sizeof(header->kernel), "%s", names.release);
	snprintf(header->tier, sizeof(header->tier), "%s", tracer_tier(trace->tracer));
	header->started_ns = clock_ns(CLOCK_MONOTONIC);
	header->started_realtime_ns = clock_ns(CLOCK_REALTIME);
}

static int open_tracer(struct trace *trace, struct error *error)
{
	const struct packet_trace_options *wanted = trace->options;
	struct tracer_options options = {
		.tier = wanted->tier,
		.netns = wanted->netns_count ? trace->inodes : NULL,
		.netns_count = wanted->netns_count,
		.devices = wanted->device_count ? wanted->devices : NULL,
		.device_count = wanted->device_count,
		.packets = true,
		.sink = { .context = trace, .packets = take_packets },
	};

	trace->tracer = tracer_open(&options, error);
	return trace->tracer ? 0 : -1;
}

static bool is_wanted(const struct trace *trace, const char *device)
{
	size_t i;

	for (i = 0; i < trace->options->device_count; i++)
		if (!strcmp(trace->options->devices[i], device))
			return true;
	return !trace->options->device_count;
}

/* Has the tracer seen a packet, or does one wait that came before it? */
static bool anything_moves(const struct trace *trace)
{
	unsigned int i, count = tracer_qdisc_count(trace->tracer);
	size_t at;

	for (i = 0; i < count; i++) {
		const struct qdisc_counters *counters =
			&tracer_qdisc(trace->tracer, i)->counters;

		if (counters->offered_packets || counters->unmatched_packets)
			return true;
	}
	for (at = 0; at < trace->before.count; at++)
		if (is_wanted(trace, trace->before.qdiscs[at].device) &&
		    trace->before.qdiscs[at].kernel.backlog_packets)
			return true;
	return false;
}

/*
 * Only a trace that begins and ends at moments without packets can be compared with the
 * kernel's own counters. It is not waited for: a trace is for busy machines too.
 */
static void read_before(struct trace *trace)
{
	struct error error;

	if (trace->options->count)
		snprintf(trace->not_compared, sizeof(trace->not_compared),
			 "it may end before the packets do");
	else if (witness_read(&trace->before, trace->netns, trace->witness_count, &error))
		snprintf(trace->not_compared, sizeof(trace->not_compared), "%.90s", error.text);
	else if (anything_moves(trace))
		snprintf(trace->not_compared, sizeof(trace->not_compared),
			 "packets were under way when it began");
}

static void read_after(struct trace *trace)
{
	struct error error;
	bool quiet;

	if (trace->not_compared[0])
		return;
	if (witness_end(trace->tracer, trace->netns, trace->witness_count, QUIET_MS,
			&trace->after, &quiet, &error))
		snprintf(trace->not_compared, sizeof(trace->not_compared), "%.90s", error.text);
	else if (!quiet)
		snprintf(trace->not_compared, sizeof(trace->not_compared),
			 "packets were under way when it ended");
}

static int follow(struct trace *trace, struct error *error)
{
	__u64 begin_ns = clock_ns(CLOCK_MONOTONIC);

	while (!wait_signal(trace, POLL_MS)) {
		if (tracer_poll(trace->tracer, error) || packet_writer_poll(trace->writer, error))
			return -1;
		if (limit_reached(trace))
			break;
		if (trace->options->length_ns &&
		    clock_ns(CLOCK_MONOTONIC) - begin_ns >= trace->options->length_ns)
			break;
	}
	return 0;
}

/* ---- the end ---- */

static void ledger_of(const struct trace *trace, const struct ledger *from, unsigned int index,
		      struct packet_ledger *ledger)
{
	*ledger = (struct packet_ledger){
		.qdisc = index,
		.offered = from->offered,
		.measured = from->measured,
		.bypassed = from->bypassed,
		.rejected = from->rejected,
		.dropped_inside = from->dropped_inside,
		.queued = from->queued,
		.unmatched = from->unmatched,
		.requeued = from->requeued,
		.unaccounted = from->unaccounted,
	};
	if (trace->not_compared[0] || from->agrees == LEDGER_UNKNOWN)
		return;
	ledger->agrees = from->agrees == LEDGER_AGREES ? AGREES_YES : AGREES_NO;
	ledger->kernel_packets = from->kernel.packets;
	ledger->kernel_drops = from->kernel.drops;
	ledger->kernel_requeues = from->kernel.requeues;
}

static __u64 difference(__u64 a, __u64 b)
{
	return a > b ? a - b : b - a;
}

/* The counters are counted apart from what is told: is every packet in both? */
static void check_told(struct trace *trace, const struct ledger *ledger, unsigned int index)
{
	const __u64 *told = trace->tallies[index].packets;

	if (limit_reached(trace))
		return;
	trace->not_told += difference(ledger->measured, told[PACKET_MEASURED]) +
			   difference(ledger->bypassed, told[PACKET_BYPASSED]) +
			   difference(ledger->rejected, told[PACKET_REJECTED]) +
			   difference(ledger->dropped_inside, told[PACKET_DROPPED]) +
			   difference(ledger->unmatched, told[PACKET_UNMATCHED]);
}

static int put_ledger(struct trace *trace, const struct result_qdisc *qdisc, struct error *error)
{
	const struct ledger *ledger = &qdisc->ledger;
	struct packet_ledger out;

	if (!qdisc->traced) {
		/* a root whose packets the kernel counted, and nobody saw */
		trace->ledgers_off += !trace->not_compared[0] && qdisc->root &&
				      is_wanted(trace, qdisc->device) &&
				      ledger->agrees == LEDGER_DISAGREES;
		return 0;
	}
	if (!ledger->offered && !ledger->measured && !ledger->unmatched &&
	    !trace->tallies[qdisc->record].described && ledger->agrees != LEDGER_DISAGREES)
		return 0;
	check_told(trace, ledger, qdisc->record);
	ledger_of(trace, ledger, qdisc->record, &out);
	trace->ledgers_off += out.agrees == AGREES_NO ||
			      (out.agrees == AGREES_YES && out.unaccounted);
	if ((trace->tallies[qdisc->record].described || describe(trace, qdisc->record)) &&
	    packet_writer_put(trace->writer, BLOCK_LEDGER, &out, sizeof(out), 0, true))
		return 0;
	return error_set(error, EXIT_CANNOT, "out of memory");
}

static int put_ledgers(struct trace *trace, struct error *error)
{
	struct result *result = calloc(1, sizeof(*result));
	int failed;
	size_t i;

	if (!result)
		return error_set(error, EXIT_CANNOT, "out of memory");
	result_init(result);
	failed = ledger_join(result, trace->tracer, &trace->before, &trace->after, error);
	for (i = 0; !failed && i < result->qdisc_count; i++)
		failed = put_ledger(trace, &result->qdiscs[i], error);
	result_free(result);
	free(result);
	return failed;
}

#define TRACER_LOSSES	(sizeof(struct tracer_losses) / sizeof(__u64))

/*
 * Beside the tracer's own: what was counted and not told of, what was told of and not
 * written, what the kernel counted differently.
 */
#define LOSSES		(TRACER_LOSSES + 3)

static void set_loss(struct trace *trace, struct packet_loss *loss, const char *name,
		     __u64 value)
{
	snprintf(loss->name, sizeof(loss->name), "%s", name);
	loss->value = value;
	if (value)
		add_trouble(trace, "%s %llu", name, value);
}

static int put_trailer(struct trace *trace, struct error *error)
{
	struct {
		struct packet_trailer trailer;
		struct packet_loss losses[LOSSES];
	} end = {
		.trailer.ended_ns = clock_ns(CLOCK_MONOTONIC),
		.trailer.records = trace->result->records,
		.trailer.packets = trace->packets,
		.trailer.kernel_compared = !trace->not_compared[0],
		.trailer.loss_count = LOSSES,
	};
	struct tracer_losses losses;
	size_t i;

	tracer_losses(trace->tracer, &losses);
	memcpy(end.trailer.not_compared_why, trace->not_compared, sizeof(trace->not_compared));
	for (i = 0; i < TRACER_LOSSES; i++)
		set_loss(trace, &end.losses[i], loss_terms[i].name,
			 result_term_value(&loss_terms[i], &losses));
	set_loss(trace, &end.losses[i++], "packets_not_told", trace->not_told);
	set_loss(trace, &end.losses[i++], "records_not_written", trace->not_written);
	set_loss(trace, &end.losses[i++], "ledgers_off", trace->ledgers_off);
	trace->result->length_ns = end.trailer.ended_ns - trace->attached_ns;
	if (packet_writer_put(trace->writer, BLOCK_TRAILER, &end, sizeof(end), 0, true))
		return 0;
	return error_set(error, EXIT_CANNOT, "out of memory");
}

/* Nobody takes what is left: forget it. */
static void give_up(struct trace *trace)
{
	__u64 left = packet_writer_untaken(trace->writer);

	packet_output_give_up(trace->output);
	trace->result->records -= left;
	add_trouble(trace, "nobody took the last %llu records, and the end", left);
}

/* Some network file systems tell of a full disk at close(2) only. */
static int close_file(struct trace *trace, struct error *error)
{
	int fd = trace->opened;

	trace->opened = -1;
	if (fd < 0 || !close(fd))
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot write %s", trace->options->path);
}

static int wait_written(struct trace *trace, struct error *error)
{
	__u64 written = 0, now, moved_ns = clock_ns(CLOCK_MONOTONIC);
	int finished;

	packet_writer_finish(trace->writer);
	while (!(finished = packet_writer_finished(trace->writer, error))) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (packet_output_written(trace->output) != written) {
			written = packet_output_written(trace->output);
			moved_ns = now;
		}
		if (now - moved_ns >= STALLED_NS || wait_signal(trace, WRITTEN_POLL_MS)) {
			give_up(trace);
			return 0;
		}
	}
	if (finished < 0)
		return -1;
	return close_file(trace, error);
}

/* False: the thread cannot be ended, and what it uses must stay. */
static bool close_output(struct trace *trace)
{
	if (trace->output)
		packet_output_give_up(trace->output);
	if (!packet_writer_close(trace->writer))
		return false;
	packet_decoder_close(trace->decoder);
	packet_printer_close(trace->printer);
	if (trace->stream)
		fclose(trace->stream);
	packet_output_close(trace->output);
	output_file_cancel(trace->place);
	if (trace->opened >= 0)
		close(trace->opened);
	return true;
}

static bool device_is_in(const struct qdisc_tree *tree, const char *device)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (!strcmp(tree->qdiscs[i].device, device))
			return true;
	return false;
}

static bool device_was_traced(const struct trace *trace, const char *device)
{
	unsigned int i, count = tracer_qdisc_count(trace->tracer);

	for (i = 0; i < count; i++)
		if (!strncmp(tracer_qdisc(trace->tracer, i)->device, device, QDISC_DEVICE_LEN))
			return true;
	return false;
}

/* Which of the devices wanted are nowhere: each device has a qdisc, and be it noqueue. */
static int find_absent(struct trace *trace, struct error *error)
{
	struct text absent = text_begin(trace->absent, sizeof(trace->absent));
	size_t i;

	if (witness_read(&trace->first, trace->netns, trace->witness_count, error))
		return -1;
	for (i = 0; i < trace->options->device_count; i++)
		if (!device_is_in(&trace->first, trace->options->devices[i]))
			text_add(&absent, "%s%s", absent.used ? ", " : "",
				 trace->options->devices[i]);
	return 0;
}

/* A device that was not there when it began, and never came: most likely nobody's. */
static void tell_absent(struct trace *trace)
{
	size_t i;

	for (i = 0; i < trace->options->device_count; i++)
		if (!device_is_in(&trace->first, trace->options->devices[i]) &&
		    !device_is_in(&trace->before, trace->options->devices[i]) &&
		    !device_is_in(&trace->after, trace->options->devices[i]) &&
		    !device_was_traced(trace, trace->options->devices[i]))
			add_trouble(trace, "no device %s was there",
				    trace->options->devices[i]);
}

static int trace_all(struct trace *trace, struct error *error)
{
	trace->signals = signals_take(&trace->blocked, &trace->previous, error);
	if (trace->signals < 0 || list_netns(trace, error) || find_absent(trace, error) ||
	    check_place(trace, error) || open_tracer(trace, error))
		return -1;
	fill_header(trace);
	if (open_output(trace, error) || tracer_attach(trace->tracer, error))
		return -1;
	trace->attached_ns = clock_ns(CLOCK_MONOTONIC);
	read_before(trace);
	if (trace->options->begun)
		trace->options->begun(tracer_tier(trace->tracer), trace->absent);
	if (follow(trace, error))
		return -1;
	read_after(trace);
	if (tracer_detach(trace->tracer, error))
		return -1;
	tell_absent(trace);
	if (put_ledgers(trace, error) || put_trailer(trace, error))
		return -1;
	return wait_written(trace, error);
}

int packet_trace(const struct packet_trace_options *options, struct packet_trace_result *result,
		 struct error *error)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int failed;

	memset(result, 0, sizeof(*result));
	if (!trace)
		return error_set(error, EXIT_CANNOT, "out of memory");
	trace->options = options;
	trace->result = result;
	trace->signals = trace->opened = -1;
	failed = trace_all(trace, error);
	tracer_close(trace->tracer);
	qdisc_tree_free(&trace->first);
	qdisc_tree_free(&trace->before);
	qdisc_tree_free(&trace->after);
	free_netns(trace);
	if (trace->signals >= 0) {
		while (wait_signal(trace, 0))
			;	/* said twice */
		close(trace->signals);
		sigprocmask(SIG_SETMASK, &trace->previous, NULL);
	}
	if (close_output(trace))
		free(trace);
	return failed;
}
