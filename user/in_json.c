// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "in_json.h"
#include "json_read.h"
#include "read_file.h"
#include "result_terms.h"

#define SCHEMA		"sojourn/1"

/* A tree of values may take so much; a document of ours takes a dozen times its size. */
#define TREE_BYTES_MAX	(4UL << 30)

#define HOOKS_MAX	4096
#define QDISCS_MAX	65536
#define PROBES_MAX	10000000
#define LEGS_MAX	4096
#define SAMPLES_MAX	50000000
#define INTERVALS_MAX	1000000
#define WORDS_MAX	256

/* ---- arrays and names ---- */

/* Room for count elements of an array; NULL, and told, where memory is short. */
static void *room_for(const struct json *array, size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		json_fail(array, "is more than memory holds");
	return memory;
}

static void read_terms(const struct json *object, const struct result_term *terms,
		       void *structure)
{
	for (; terms->name; terms++)
		json_u64(object, terms->name, JSON_WHOLE_MAX, result_term_place(terms, structure));
}

/* A qdisc by its id; RESULT_NO_QDISC where there is none. */
static __u32 read_qdisc(const struct json *object, const char *name, const struct result *result)
{
	struct json member = json_member(object, name);
	const char *id = json_string(&member);
	__u32 i;

	if (!id)
		return RESULT_NO_QDISC;
	for (i = 0; i < result->qdisc_count; i++)
		if (!strcmp(result->qdiscs[i].id, id))
			return i;
	json_fail(&member, "is no id of qdiscs[]");
	return RESULT_NO_QDISC;
}

/* Inode number of a namespace, by the name that hosts[] or qdiscs[] give it. */
static __u32 read_netns(const struct json *object, const char *name, const struct result *result)
{
	struct json member = json_member(object, name);
	const char *text = json_string(&member);
	__u32 inode;
	size_t i;

	if (!text)
		return 0;
	for (i = 0; i < result->host_count; i++)
		if (!strcmp(result->hosts[i].netns_name, text))
			return result->hosts[i].netns;
	for (i = 0; i < result->qdisc_count; i++)
		if (!strcmp(result->qdiscs[i].netns_name, text))
			return result->qdiscs[i].netns;
	if (sscanf(text, "net:[%u]", &inode) == 1)
		return inode;
	return 0;
}

/* "10:1" or "10:", as tc writes handles: hexadecimal. */
static __u32 read_handle(const struct json *object, const char *name)
{
	struct json member = json_member(object, name);
	const char *text = json_string(&member);
	unsigned long major, minor = 0;
	char *end;

	if (!text)
		return 0;
	if (!strcmp(text, "root"))
		return TC_H_ROOT;
	if (!strcmp(text, "ingress"))
		return TC_H_INGRESS;
	major = strtoul(text, &end, 16);
	if (*end == ':' && end[1])
		minor = strtoul(end + 1, &end, 16);
	else if (*end == ':')
		end++;
	else
		major = ~0UL;
	if (*end || major > 0xffff || minor > 0xffff)
		json_fail(&member, "is no handle");
	return TC_H_MAKE(major << 16, minor);
}

/* ---- who measured, and what ---- */

static void read_tool(const struct json *root, struct result *result)
{
	struct json tool = json_member(root, "tool"), hooks, hook;
	size_t count;

	json_text(&tool, "version", result->version, sizeof(result->version));
	json_text(&tool, "kernel", result->kernel, sizeof(result->kernel));
	json_text(&tool, "tier", result->tier, sizeof(result->tier));
	json_text(&tool, "tier_why", result->tier_why, sizeof(result->tier_why));
	/* beyond 2^53: to some 250 ns */
	json_u64(&tool, "started_realtime_ns", 1ULL << 63, &result->started_realtime_ns);
	hooks = json_member(&tool, "hooks");
	count = json_count(&hooks, HOOKS_MAX);
	result->hooks = room_for(&hooks, count, sizeof(*result->hooks));
	if (!result->hooks)
		return;
	for (hook = json_first(&hooks); hook.item; hook = json_next(&hook)) {
		struct tracer_hook *out = &result->hooks[result->hook_count++];

		json_text(&hook, "name", out->name, sizeof(out->name));
		json_text(&hook, "how", out->how, sizeof(out->how));
		json_bool(&hook, "attached", &out->attached);
		json_u64(&hook, "skipped", JSON_WHOLE_MAX, &out->skipped);
		json_text(&hook, "why", out->why, sizeof(out->why));
	}
}

static void read_hosts(const struct json *root, struct result *result)
{
	struct json hosts = json_member(root, "hosts"), host;

	json_count(&hosts, RESULT_HOSTS_MAX);
	for (host = json_first(&hosts); host.item; host = json_next(&host)) {
		struct result_host *out = &result->hosts[result->host_count++];

		json_text(&host, "netns", out->netns_name, sizeof(out->netns_name));
		json_u32(&host, "netns_inode", ~0U, &out->netns);
		json_text(&host, "role", out->role, sizeof(out->role));
	}
}

/* ---- qdiscs ---- */

static void read_ledger(const struct json *qdisc, struct ledger *ledger)
{
	struct json object = json_member(qdisc, "ledger");

	read_terms(&object, ledger_terms, ledger);
	json_s64(&object, "unaccounted", &ledger->unaccounted);
}

static void read_kernel(const struct json *qdisc, struct ledger *ledger)
{
	struct json object = json_member(qdisc, "kernel"), agrees = json_member(qdisc, "agrees");
	struct qdisc_kernel_counters *kernel = &ledger->kernel;
	bool good = false;

	ledger->have_kernel = object.item;
	json_u64(&object, "packets", JSON_WHOLE_MAX, &kernel->packets);
	json_u64(&object, "bytes", JSON_WHOLE_MAX, &kernel->bytes);
	json_u64(&object, "drops", JSON_WHOLE_MAX, &kernel->drops);
	json_u64(&object, "requeues", JSON_WHOLE_MAX, &kernel->requeues);
	json_u64(&object, "overlimits", JSON_WHOLE_MAX, &kernel->overlimits);
	json_u64(&object, "backlog_bytes", JSON_WHOLE_MAX, &kernel->backlog_bytes);
	json_u64(&object, "backlog_packets", JSON_WHOLE_MAX, &kernel->backlog_packets);
	json_bool(qdisc, "agrees", &good);
	ledger->agrees = !agrees.item ? LEDGER_UNKNOWN : good ? LEDGER_AGREES : LEDGER_DISAGREES;
	json_text(qdisc, "why", ledger->why, sizeof(ledger->why));
}

static void read_one_qdisc(const struct json *qdisc, struct result_qdisc *out)
{
	json_needed(qdisc, "id");
	json_text(qdisc, "id", out->id, sizeof(out->id));
	json_text(qdisc, "netns", out->netns_name, sizeof(out->netns_name));
	json_u32(qdisc, "netns_inode", ~0U, &out->netns);
	json_text(qdisc, "ifname", out->device, sizeof(out->device));
	json_u32(qdisc, "ifindex", ~0U, &out->ifindex);
	json_u32(qdisc, "queue", ~0U, &out->queue);
	json_text(qdisc, "kind", out->kind, sizeof(out->kind));
	out->handle = read_handle(qdisc, "handle");
	out->parent = read_handle(qdisc, "parent");
	json_text(qdisc, "path", out->path, sizeof(out->path));
	json_bool(qdisc, "root", &out->root);
	json_bool(qdisc, "traced", &out->traced);
	json_u32(qdisc, "depth", QDISC_LEVELS, &out->depth);
	json_u64(qdisc, "drops_here", JSON_WHOLE_MAX, &out->drops_here);
	out->paces = !strcmp(out->kind, "fq") || !strcmp(out->kind, "etf");
	out->parent_qdisc = RESULT_NO_QDISC;
	read_ledger(qdisc, &out->ledger);
	read_kernel(qdisc, &out->ledger);
}

static void read_qdiscs(const struct json *root, struct result *result)
{
	struct json qdiscs = json_needed(root, "qdiscs"), qdisc;
	size_t count = json_count(&qdiscs, QDISCS_MAX), i = 0;

	result->qdiscs = room_for(&qdiscs, count, sizeof(*result->qdiscs));
	if (!result->qdiscs)
		return;
	for (qdisc = json_first(&qdiscs); qdisc.item; qdisc = json_next(&qdisc))
		read_one_qdisc(&qdisc, &result->qdiscs[result->qdisc_count++]);
	/* now that all their ids are known */
	for (qdisc = json_first(&qdiscs); qdisc.item; qdisc = json_next(&qdisc), i++) {
		result->qdiscs[i].parent_qdisc = read_qdisc(&qdisc, "parent_qdisc", result);
		if (result->qdiscs[i].parent_qdisc == i)
			json_fail(&qdisc, "is its own parent");
		else if (result->qdiscs[i].parent_qdisc < result->qdisc_count)
			result->qdiscs[result->qdiscs[i].parent_qdisc].is_parent = true;
	}
}

/* A tree has no circle: who walks it goes by that. */
static void check_parents(const struct json *root, const struct result *result)
{
	struct json qdiscs = json_member(root, "qdiscs");
	__u32 i, above, steps;

	for (i = 0; i < result->qdisc_count; i++) {
		above = result->qdiscs[i].parent_qdisc;
		for (steps = 0; above < result->qdisc_count; steps++) {
			above = result->qdiscs[above].parent_qdisc;
			if (steps > QDISC_LEVELS) {
				json_fail(&qdiscs, "are no tree: parents of '%s' go round, or too deep",
					  result->qdiscs[i].id);
				return;
			}
		}
	}
}

/* ---- phases ---- */

/* count: of the samples, which the figures themselves do not tell. */
static void read_summary(const struct json *object, const char *name, __u64 count,
			 struct summary *summary)
{
	struct json member = json_member(object, name), median = json_member(&member, "p50");

	if (!median.item)
		return;
	summary->count = count ? count : 1;
	json_u64(&member, "min", JSON_WHOLE_MAX, &summary->min);
	json_u64(&member, "p25", JSON_WHOLE_MAX, &summary->p25);
	json_u64(&member, "p50", JSON_WHOLE_MAX, &summary->p50);
	json_u64(&member, "p75", JSON_WHOLE_MAX, &summary->p75);
	json_u64(&member, "p90", JSON_WHOLE_MAX, &summary->p90);
	json_u64(&member, "p95", JSON_WHOLE_MAX, &summary->p95);
	json_u64(&member, "p99", JSON_WHOLE_MAX, &summary->p99);
	json_u64(&member, "max", JSON_WHOLE_MAX, &summary->max);
	json_double(&member, "mean", &summary->mean);
	json_double(&member, "stdev", &summary->stdev);
}

/* counts[i] lie from bounds_ns[i] on, the low end of a bucket. */
static void read_histogram(const struct json *object, const struct summary *summary,
			   struct histogram *histogram)
{
	struct json member = json_member(object, "histogram");
	struct json bounds = json_member(&member, "bounds_ns");
	struct json counts = json_member(&member, "counts"), bound, count;
	size_t bounds_count = json_count(&bounds, HISTOGRAM_BUCKETS + 1);
	size_t counts_count = json_count(&counts, HISTOGRAM_BUCKETS);
	__u64 low, packets;

	histogram_init(histogram);
	if (counts_count && bounds_count != counts_count + 1)
		json_fail(&member, "has %zu bounds to %zu counts", bounds_count, counts_count);
	for (bound = json_first(&bounds), count = json_first(&counts); count.item;
	     bound = json_next(&bound), count = json_next(&count)) {
		low = json_whole(&bound, JSON_WHOLE_MAX);
		packets = json_whole(&count, JSON_WHOLE_MAX / HISTOGRAM_BUCKETS);
		if (packets && histogram_bucket_low(histogram_bucket(low)) != low)
			json_fail(&bound, "is the low end of no bucket");
		histogram->counts[histogram_bucket(low)] += (__s64)packets;
		histogram->count += packets;
	}
	if (!histogram->count)
		return;
	histogram->min = summary->min;
	histogram->max = summary->max;
	histogram->sum = (__s64)(summary->mean * (double)histogram->count);
}

static bool read_part(const struct json *object, const char *name, __u64 count,
		      struct summary *summary)
{
	read_summary(object, name, count, summary);
	return json_member(object, name).item;
}

static void read_phase_qdisc(const struct json *object, const struct result *result,
			     struct phase_qdisc *out)
{
	struct json id = json_needed(object, "id");

	out->qdisc = read_qdisc(object, "id", result);
	out->share = out->exclusive_share = out->held_share = NAN;
	json_u64(object, "packets", JSON_WHOLE_MAX, &out->packets);
	read_summary(object, "sojourn_ns", out->packets, &out->summary);
	out->have_exclusive = read_part(object, "exclusive_ns", out->packets, &out->exclusive);
	out->have_paced = read_part(object, "paced_ns", out->packets, &out->paced);
	read_summary(object, "wait_before_drop_ns", 0, &out->wait_before_drop);
	json_u64(object, "backlog_bytes_max", JSON_WHOLE_MAX, &out->backlog_bytes_max);
	json_u64(object, "backlog_packets_max", JSON_WHOLE_MAX, &out->backlog_packets_max);
	json_double(object, "backlog_bytes_mean", &out->backlog_bytes_mean);
	json_u64(object, "drops", JSON_WHOLE_MAX, &out->drops);
	json_u64(object, "drops_here", JSON_WHOLE_MAX, &out->drops_here);
	json_u64(object, "own_median_ns", JSON_WHOLE_MAX, &out->own_median_ns);
	json_u64(object, "own_exclusive_median_ns", JSON_WHOLE_MAX,
		 &out->own_exclusive_median_ns);
	json_double(object, "share", &out->share);
	json_double(object, "exclusive_share", &out->exclusive_share);
	read_histogram(object, &out->summary, &out->sojourn);
	if (out->qdisc == RESULT_NO_QDISC)
		json_fail(&id, "names no qdisc");
}

static void read_sum(const struct json *object, const char *name, struct iperf3_sum *sum)
{
	struct json member = json_member(object, name);

	sum->retransmits = sum->lost_packets = sum->packets = sum->jitter_ms = -1;
	sum->present = member.item;
	json_double(&member, "bits_per_second", &sum->bits_per_second);
	json_double(&member, "bytes", &sum->bytes);
	json_double(&member, "seconds", &sum->seconds);
	json_double(&member, "retransmits", &sum->retransmits);
	json_double(&member, "lost_packets", &sum->lost_packets);
	json_double(&member, "packets", &sum->packets);
	json_double(&member, "jitter_ms", &sum->jitter_ms);
}

static void read_sums(const struct json *iperf3, struct iperf3_result *out)
{
	read_sum(iperf3, "sum_sent", &out->sent);
	read_sum(iperf3, "sum_received", &out->received);
	read_sum(iperf3, "sum_sent_reverse", &out->sent_reverse);
	read_sum(iperf3, "sum_received_reverse", &out->received_reverse);
}

static void read_holder(const struct json *cause, const struct result *result, struct cause *out)
{
	struct json holder = json_member(cause, "held_by"), kind = json_member(&holder, "kind");

	out->have_path = holder.item;
	out->holder.kind = json_word(&kind, holder_kind_names);
	out->holder_qdisc = read_qdisc(&holder, "qdisc", result);
	out->holder_class = read_handle(&holder, "class");
	json_text(&holder, "text", out->holder.text, sizeof(out->holder.text));
	json_u64(&holder, "rate", JSON_WHOLE_MAX, &out->holder.rate_bit_per_s);
	json_bool(&holder, "seen", &out->holder.seen);
}

static void read_cause(const struct json *attribution, const struct result *result,
		       struct cause *out)
{
	struct json cause = json_member(attribution, "cause");
	struct json held = json_member(&cause, "exclusive_share");

	out->share = out->held_share = out->paced_ns = out->queued_ns = NAN;
	out->qdisc = read_qdisc(&cause, "qdisc", result);
	json_double(&cause, "share", &out->share);
	json_double(&cause, "exclusive_share", &out->held_share);
	out->held_is_known = held.item;
	out->waits_in = read_qdisc(&cause, "waits_in", result);
	json_text(&cause, "text", out->text, sizeof(out->text));
	json_text(&cause, "path", out->path, sizeof(out->path));
	json_bool(&cause, "pacing", &out->is_pacing);
	json_double(&cause, "paced_ns", &out->paced_ns);
	json_double(&cause, "queued_ns", &out->queued_ns);
	read_holder(&cause, result, out);
}

static void read_exonerated(const struct json *attribution, const struct result *result,
			    struct attribution *out)
{
	struct json array = json_member(attribution, "exonerated"), one;

	json_count(&array, EXONERATIONS_MAX);
	for (one = json_first(&array); one.item; one = json_next(&one)) {
		struct exoneration *exoneration = &out->exonerated[out->exonerated_count++];

		exoneration->share = NAN;
		exoneration->qdisc = read_qdisc(&one, "qdisc", result);
		json_double(&one, "share", &exoneration->share);
		json_bool(&one, "empty", &exoneration->empty);
	}
}

static void read_attribution(const struct json *phase, const struct result *result,
			     struct attribution *out)
{
	struct json attribution = json_member(phase, "attribution");
	struct json beyond = json_member(&attribution, "beyond");

	json_bool(&attribution, "valid", &out->valid);
	json_double(&attribution, "rtt_increase_ns", &out->rtt_increase_ns);
	json_double(&attribution, "rtt_increase_median_ns", &out->rtt_increase_median_ns);
	json_double(&attribution, "explained", &out->explained);
	json_double(&attribution, "unexplained_ns", &out->unexplained_ns);
	json_text(&attribution, "verdict", out->verdict, sizeof(out->verdict));
	json_text(&beyond, "device", out->beyond_device, sizeof(out->beyond_device));
	out->beyond_netns = read_netns(&beyond, "netns", result);
	json_double(&beyond, "ns", &out->beyond_ns);
	read_cause(&attribution, result, &out->cause);
	read_exonerated(&attribution, result, out);
}

static void read_shape(const struct json *phase, struct shape *out)
{
	struct json shape = json_member(phase, "shape"), name = json_member(&shape, "name");

	out->name = json_word(&name, shape_names);
	json_text(&shape, "why", out->why, sizeof(out->why));
}

static void read_phase(const struct json *object, const struct result *result, struct phase *out)
{
	struct json probes = json_member(object, "probes"), tcp = json_member(object, "tcp");
	struct json iperf3 = json_member(object, "iperf3");
	struct json qdiscs = json_member(object, "qdiscs"), qdisc;
	size_t count = json_count(&qdiscs, QDISCS_MAX);
	__u64 samples = 0;

	out->valid = true;
	json_u64(object, "begin_ns", JSON_WHOLE_MAX, &out->begin_ns);
	json_u64(object, "end_ns", JSON_WHOLE_MAX, &out->end_ns);
	json_u32(&probes, "sent", ~0U, &out->sent);
	json_u32(&probes, "received", ~0U, &out->received);
	json_u32(&probes, "lost", ~0U, &out->lost);
	read_summary(&probes, "rtt_ns", out->received, &out->rtt);
	json_u64(&tcp, "samples", JSON_WHOLE_MAX, &samples);
	read_summary(&tcp, "srtt_ns", samples, &out->srtt);
	read_summary(&tcp, "cwnd", samples, &out->cwnd);
	json_u32(&tcp, "retransmits", ~0U, &out->retransmits);
	out->load.have_iperf3 = iperf3.item;
	read_sums(&iperf3, &out->load.iperf3);
	if (out->plan.kind == PHASE_LOAD) {
		read_attribution(object, result, &out->load.attribution);
		read_shape(object, &out->load.shape);
	}
	out->qdiscs = room_for(&qdiscs, count, sizeof(*out->qdiscs));
	if (!out->qdiscs)
		return;
	for (qdisc = json_first(&qdiscs); qdisc.item; qdisc = json_next(&qdisc))
		read_phase_qdisc(&qdisc, result, &out->qdiscs[out->qdisc_count++]);
}

/* A phase of the run by its name; -1, and told, where the run has none of it. */
static int read_phase_name(const struct json *object, const char *name,
			   const struct result *result)
{
	struct json member = json_member(object, name);
	const char *text = json_string(&member);
	const struct phase *phase = text ? result_phase_named(result, text) : NULL;

	if (phase)
		return (int)(phase - result->phases);
	if (text)
		json_fail(&member, "is no phase of scenario %s", result->scenario.name);
	return -1;
}

static void read_phases(const struct json *root, struct result *result)
{
	struct json phases = json_needed(root, "phases"), phase;
	int index;

	json_count(&phases, SCENARIO_PHASES_MAX);
	for (phase = json_first(&phases); phase.item; phase = json_next(&phase)) {
		json_needed(&phase, "name");
		index = read_phase_name(&phase, "name", result);
		if (index >= 0 && result->phases[index].valid)
			json_fail(&phase, "is the second of that name");
		else if (index >= 0)
			read_phase(&phase, result, &result->phases[index]);
	}
}

/* ---- loads ---- */

static void read_intervals(const struct json *iperf3, struct iperf3_result *out)
{
	struct json intervals = json_member(iperf3, "intervals"), interval;
	size_t count = json_count(&intervals, INTERVALS_MAX);

	out->intervals = room_for(&intervals, count, sizeof(*out->intervals));
	if (!out->intervals)
		return;
	for (interval = json_first(&intervals); interval.item; interval = json_next(&interval)) {
		struct iperf3_interval *one = &out->intervals[out->interval_count++];

		one->bits_per_second = NAN;
		one->retransmits = one->rtt_us = one->cwnd_bytes = -1;
		json_double(&interval, "start_s", &one->start_s);
		json_double(&interval, "end_s", &one->end_s);
		json_double(&interval, "bits_per_second", &one->bits_per_second);
		json_double(&interval, "retransmits", &one->retransmits);
		json_double(&interval, "rtt_us", &one->rtt_us);
		json_double(&interval, "cwnd_bytes", &one->cwnd_bytes);
		one->have_reverse = json_member(&interval, "reverse_bits_per_second").item;
		json_double(&interval, "reverse_bits_per_second", &one->reverse_bits_per_second);
	}
}

static void read_command(const struct json *iperf3, struct phase_load *out)
{
	struct json words = json_member(iperf3, "command"), word;
	size_t count = json_count(&words, WORDS_MAX), i = 0;
	const char *text;

	out->command = room_for(&words, count, sizeof(*out->command));
	for (word = json_first(&words); out->command && word.item; word = json_next(&word)) {
		text = json_string(&word);
		if (text)
			out->command[i++] = strdup(text);
	}
}

static void read_sides(const struct json *load, struct phase_load *out)
{
	struct json sides = json_member(load, "beside"), side;
	size_t count = json_count(&sides, SCENARIO_SIDE_LOADS);

	if (!count)
		return;
	out->sides = room_for(&sides, count, sizeof(*out->sides));
	if (!out->sides)
		return;
	for (side = json_first(&sides); side.item; side = json_next(&side)) {
		struct side_load_result *one = &out->sides[out->side_count++];

		json_text(&side, "name", one->name, sizeof(one->name));
		json_u64(&side, "begin_ns", JSON_WHOLE_MAX, &one->begin_ns);
		json_u64(&side, "end_ns", JSON_WHOLE_MAX, &one->end_ns);
		read_sums(&side, &one->iperf3);
		read_intervals(&side, &one->iperf3);
	}
}

static void read_loads(const struct json *root, struct result *result)
{
	struct json loads = json_member(root, "loads"), load, iperf3;
	struct phase_load *out;
	int index;

	json_count(&loads, SCENARIO_LOADS_MAX);
	for (load = json_first(&loads); load.item; load = json_next(&load)) {
		index = read_phase_name(&load, "phase", result);
		if (index < 0 || result->phases[index].load.command)
			continue;
		out = &result->phases[index].load;
		json_u64(&load, "begin_ns", JSON_WHOLE_MAX, &out->begin_ns);
		json_u64(&load, "end_ns", JSON_WHOLE_MAX, &out->end_ns);
		if (!out->sides)
			read_sides(&load, out);
		iperf3 = json_member(&load, "iperf3");
		if (!iperf3.item)
			continue;
		out->have_iperf3 = true;
		json_text(&iperf3, "version", out->iperf3.version, sizeof(out->iperf3.version));
		json_text(&iperf3, "congestion", out->iperf3.congestion,
			  sizeof(out->iperf3.congestion));
		read_sums(&iperf3, &out->iperf3);
		read_intervals(&iperf3, &out->iperf3);
		read_command(&iperf3, out);
	}
}

/* ---- losses ---- */

static void read_losses(const struct json *root, struct result *result)
{
	struct json losses = json_member(root, "losses");

	read_terms(&losses, loss_terms, &result->losses);
	json_u32(&losses, "ping_unmatched", ~0U, &result->ping_unmatched);
	json_u32(&losses, "clock_steps", ~0U, &result->clock_steps);
}

/* ---- probes ---- */

static void read_leg(const struct json *object, const struct result *result, struct leg *leg)
{
	struct json kind = json_needed(object, "kind");

	leg->kind = json_word(&kind, leg_kind_names);
	leg->qdisc = read_qdisc(object, "qdisc", result);
	leg->root = read_qdisc(object, "root", result);
	json_text(object, "device", leg->device, sizeof(leg->device));
	leg->netns = read_netns(object, "netns", result);
	json_bool(object, "reply", &leg->reply);
	json_u64(object, "ns", JSON_WHOLE_MAX, &leg->ns);
	if (leg->kind == LEG_QDISC && leg->qdisc == RESULT_NO_QDISC)
		json_fail(object, "names no qdisc");
}

static void read_probe(const struct json *object, const struct result *result,
		       struct probe *probe)
{
	struct json legs = json_member(object, "legs"), leg;
	size_t count = json_count(&legs, LEGS_MAX);
	__u64 number = 0;

	json_u64(object, "seq", 0xffff, &number);
	probe->sequence = (__u16)number;
	number = 0;
	json_u64(object, "id", 0xffff, &number);
	probe->id = (__u16)number;
	json_bool(object, "ipv6", &probe->ipv6);
	probe->phase = read_phase_name(object, "phase", result);
	json_u64(object, "sent_ns", JSON_WHOLE_MAX, &probe->sent_ns);
	probe->sent = probe->sent_ns;
	json_u64(object, "rtt_ns", JSON_WHOLE_MAX, &probe->rtt_ns);
	json_u64(object, "ping_rtt_ns", JSON_WHOLE_MAX, &probe->ping_rtt_ns);
	json_bool(object, "lost", &probe->lost);
	json_bool(object, "complete", &probe->complete);
	probe->legs = count ? room_for(&legs, count, sizeof(*probe->legs)) : NULL;
	if (!probe->legs)
		return;
	for (leg = json_first(&legs); leg.item; leg = json_next(&leg))
		read_leg(&leg, result, &probe->legs[probe->leg_count++]);
}

static void read_probe_list(const struct json *object, const struct result *result,
			    struct probe **list, size_t *list_count)
{
	struct json probes = json_member(object, "probes"), probe;
	size_t count = json_count(&probes, PROBES_MAX);

	*list = room_for(&probes, count, sizeof(**list));
	if (!*list)
		return;
	for (probe = json_first(&probes); probe.item; probe = json_next(&probe))
		read_probe(&probe, result, &(*list)[(*list_count)++]);
}

/* By name: the scenario says which there are. */
static void read_side_probes(const struct json *root, struct result *result)
{
	struct json sides = json_member(root, "side_probes"), side;

	json_count(&sides, SCENARIO_SIDE_PROBES);
	for (side = json_first(&sides); side.item && !side.reader->failed;
	     side = json_next(&side)) {
		char name[LAB_WORD_SIZE] = "";
		struct side_probe_result *out;
		unsigned int i = 0;

		json_text(&side, "name", name, sizeof(name));
		while (i < result->scenario.side_probe_count &&
		       strcmp(result->scenario.side_probes[i].name, name))
			i++;
		out = i < result->scenario.side_probe_count ? &result->side_probes[i] : NULL;
		if (!out || out->probes)
			json_fail(&side, "has a name that the scenario has not, or another one's");
		else
			read_probe_list(&side, result, &out->probes, &out->probe_count);
	}
}

/* ---- timeline ---- */

/* Median and maximum as a histogram that gives just these. */
static void read_sampled(const struct json *sample, const char *name, __s64 count,
			 struct sample_histogram *out)
{
	struct json member = json_member(sample, name), median = json_member(&member, "p50");

	out->min = ~0ULL;
	if (!median.item || count <= 0)
		return;
	json_u64(&member, "p50", JSON_WHOLE_MAX, &out->min);
	json_u64(&member, "max", JSON_WHOLE_MAX, &out->max);
	out->count = count;
	out->sum = (__s64)out->min * count;
	out->parts = room_for(&member, 1, sizeof(*out->parts));
	if (!out->parts)
		return;
	out->part_count = 1;
	out->parts->bucket = (__u16)histogram_bucket(out->min);
	out->parts->count = count > 0x7fffffff ? 0x7fffffff : (__s32)count;
}

static void read_sample(const struct json *object, const struct result *result,
			struct qdisc_sample *out)
{
	struct json exclusive = json_member(object, "exclusive_ns");
	__s64 packets = 0;

	json_needed(object, "qdisc");
	out->qdisc = read_qdisc(object, "qdisc", result);
	json_u64(object, "begin_ns", JSON_WHOLE_MAX, &out->begin_ns);
	json_u64(object, "end_ns", JSON_WHOLE_MAX, &out->end_ns);
	json_s64(object, "packets", &packets);
	read_sampled(object, "sojourn_ns", packets, &out->sojourn);
	out->sojourn.count = packets;
	read_sampled(object, exclusive.item ? "exclusive_ns" : "paced_ns", packets, &out->part);
	json_u64(object, "backlog_bytes_max", JSON_WHOLE_MAX, &out->backlog_bytes_max);
	json_u64(object, "backlog_packets_max", JSON_WHOLE_MAX, &out->backlog_packets_max);
	json_double(object, "backlog_bytes_mean", &out->backlog_bytes_mean);
	json_double(object, "backlog_packets_mean", &out->backlog_packets_mean);
	json_u64(object, "backlog_bytes", JSON_WHOLE_MAX, &out->backlog_bytes);
	json_u64(object, "backlog_packets", JSON_WHOLE_MAX, &out->backlog_packets);
	json_u64(object, "drops", JSON_WHOLE_MAX, &out->delta.dropped_packets);
	json_u64(object, "requeued", JSON_WHOLE_MAX, &out->delta.requeued);
}

static void read_samples(const struct json *timeline, struct result *result)
{
	struct json samples = json_member(timeline, "qdisc_samples"), sample;
	size_t count = json_count(&samples, SAMPLES_MAX);

	result->samples = room_for(&samples, count, sizeof(*result->samples));
	if (!result->samples)
		return;
	for (sample = json_first(&samples); sample.item; sample = json_next(&sample))
		read_sample(&sample, result, &result->samples[result->sample_count++]);
}

static int read_address(const struct json *object, const char *name, __u8 *address)
{
	struct json member = json_member(object, name);
	const char *text = json_string(&member);

	if (!text)
		return AF_UNSPEC;
	if (inet_pton(AF_INET, text, address) == 1)
		return AF_INET;
	if (inet_pton(AF_INET6, text, address) == 1)
		return AF_INET6;
	json_fail(&member, "is no address");
	return AF_UNSPEC;
}

static void read_endpoints(const struct json *object, struct tcp_endpoints *ends)
{
	__u64 local = 0, remote = 0;

	ends->family = (__u16)read_address(object, "local", ends->local);
	read_address(object, "remote", ends->remote);
	json_u64(object, "local_port", 0xffff, &local);
	json_u64(object, "remote_port", 0xffff, &remote);
	ends->local_port = (__u16)local;
	ends->remote_port = (__u16)remote;
}

static void read_tcp_sample(const struct json *object, const struct result *result,
			    struct tcp_event *out)
{
	__u64 srtt_ns = 0, pacing = JSON_WHOLE_MAX;

	out->header.type = EVENT_TCP;
	json_u64(object, "time_ns", JSON_WHOLE_MAX, &out->header.time_ns);
	out->header.netns = read_netns(object, "netns", result);
	read_endpoints(object, &out->ends);
	json_u64(object, "srtt_ns", JSON_WHOLE_MAX, &srtt_ns);
	out->srtt_us = (__u32)(srtt_ns / 1000);
	json_u32(object, "cwnd", ~0U, &out->cwnd);
	out->ssthresh = ~0U;
	json_u32(object, "ssthresh", ~0U, &out->ssthresh);
	json_u32(object, "in_flight", ~0U, &out->in_flight);
	json_u64(object, "pacing_rate", JSON_WHOLE_MAX, &pacing);
	out->pacing_rate = pacing == JSON_WHOLE_MAX ? ~0ULL : pacing / 8;
	json_u64(object, "bytes_acked", JSON_WHOLE_MAX, &out->bytes_acked);
	json_u32(object, "total_retransmits", ~0U, &out->total_retransmits);
	json_u32(object, "mss", ~0U, &out->mss);
}

static void read_tcp(const struct json *timeline, struct result *result)
{
	struct json samples = json_member(timeline, "tcp_samples"), sample;
	size_t count = json_count(&samples, SAMPLES_MAX);

	result->tcp = room_for(&samples, count, sizeof(*result->tcp));
	if (!result->tcp)
		return;
	for (sample = json_first(&samples); sample.item; sample = json_next(&sample))
		read_tcp_sample(&sample, result, &result->tcp[result->tcp_count++]);
}

static void read_retransmits(const struct json *timeline, struct result *result)
{
	struct json events = json_member(timeline, "retransmits"), event;
	size_t count = json_count(&events, SAMPLES_MAX);

	result->retransmits = room_for(&events, count, sizeof(*result->retransmits));
	if (!result->retransmits)
		return;
	for (event = json_first(&events); event.item; event = json_next(&event)) {
		struct retransmit_event *out = &result->retransmits[result->retransmit_count++];

		out->header.type = EVENT_RETRANSMIT;
		json_u64(&event, "time_ns", JSON_WHOLE_MAX, &out->header.time_ns);
		out->header.netns = read_netns(&event, "netns", result);
		read_endpoints(&event, &out->ends);
		json_u32(&event, "sequence", ~0U, &out->sequence);
		json_u32(&event, "length", ~0U, &out->length);
	}
}

/* ---- the document ---- */

static void read_schema(const struct json *root)
{
	struct json schema = json_needed(root, "schema");
	const char *text = json_string(&schema);

	if (text && strcmp(text, SCHEMA))
		json_fail(&schema, "is %.40s: this sojourn reads %s", text, SCHEMA);
}

static void read_scenario(const struct json *root, struct result *result)
{
	struct json scenario = json_needed(root, "scenario");

	scenario_from_json(&result->scenario, &scenario);
	result_plan(result);
}

static void read_document(const struct json *root, struct result *result)
{
	struct json window = json_member(root, "window"), suite, timeline;

	read_schema(root);
	result->complete = false;
	json_bool(root, "complete", &result->complete);
	json_text(root, "incomplete_why", result->incomplete_why, sizeof(result->incomplete_why));
	json_text(root, "note", result->note, sizeof(result->note));
	suite = json_member(root, "suite");
	json_text(&suite, "name", result->suite, sizeof(result->suite));
	json_text(&suite, "run", result->suite_run, sizeof(result->suite_run));
	json_text(&suite, "class", result->suite_class, sizeof(result->suite_class));
	read_tool(root, result);
	read_scenario(root, result);
	json_u64(&window, "begin_ns", JSON_WHOLE_MAX, &result->started_ns);
	json_u64(&window, "end_ns", JSON_WHOLE_MAX, &result->ended_ns);
	read_hosts(root, result);
	read_qdiscs(root, result);
	check_parents(root, result);
	read_phases(root, result);
	read_loads(root, result);
	read_losses(root, result);
	read_probe_list(root, result, &result->probes, &result->probe_count);
	read_side_probes(root, result);
	timeline = json_member(root, "timeline");
	read_samples(&timeline, result);
	read_tcp(&timeline, result);
	read_retransmits(&timeline, result);
}

/* A document of many small values takes many times its size: not without end. */
static size_t tree_bytes;

static void *counting_malloc(size_t size)
{
	tree_bytes += size;
	return tree_bytes > TREE_BYTES_MAX ? NULL : malloc(size);
}

int result_parse(const char *text, size_t length, const char *name, struct result *result,
		 struct error *error)
{
	struct json_reader reader = { .name = name, .error = error };
	cJSON_Hooks hooks = { .malloc_fn = counting_malloc, .free_fn = free };
	struct cJSON *document;
	struct json root;

	tree_bytes = 0;
	cJSON_InitHooks(&hooks);
	document = json_parse(&reader, &root, text, length);
	cJSON_InitHooks(NULL);
	if (!document && tree_bytes > TREE_BYTES_MAX)
		return error_set(error, EXIT_CANNOT,
				 "%s: too many values: they take more than %lu GiB of memory", name,
				 TREE_BYTES_MAX >> 30);
	if (!document)
		return -1;
	read_document(&root, result);
	cJSON_Delete(document);
	return reader.failed ? -1 : 0;
}

/* ---- files ---- */

char *result_text(const char *path, size_t most, size_t *length, struct error *error)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0) {
		error_set_errno(error, EXIT_USAGE, "%s cannot be read", name);
		return NULL;
	}
	text = read_file(fd, most, length);
	if (!text && errno == EFBIG)
		error_set(error, EXIT_USAGE, "%s is too large: %zu MiB are the most", name, most >> 20);
	else if (!text)
		error_set_errno(error, errno == ENOMEM ? EXIT_CANNOT : EXIT_USAGE,
				"%s cannot be read", name);
	if (!is_stdin)
		close(fd);
	return text;
}

int result_read(const char *path, struct result *result, struct error *error)
{
	size_t length;
	char *text = result_text(path, IN_JSON_BYTES_MAX, &length, error);
	int failed;

	if (!text)
		return -1;
	failed = result_parse(text, length, strcmp(path, "-") ? path : "standard input", result,
			      error);
	free(text);
	return failed;
}
