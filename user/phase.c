// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phase.h"

/*
 * A flow counts as a sender of the load where it got at least this part of the
 * bytes of the largest one acknowledged: iperf3's control connection and the
 * receiving ends stay out.
 */
#define SENDER_PART	100

static void set_window(struct phase *phase, __u64 begin_ns, __u64 end_ns)
{
	phase->begin_ns = begin_ns;
	phase->end_ns = end_ns;
	phase->valid = begin_ns && begin_ns < end_ns;
	if (!phase->valid)
		phase->begin_ns = phase->end_ns = 0;
}

static void set_load(struct phase *phase, __u64 begin_ns, __u64 end_ns, __u64 omit_ns,
		     __u64 margin_ns)
{
	__u64 span = end_ns - begin_ns;

	phase->load.begin_ns = begin_ns;
	phase->load.end_ns = end_ns;
	if (!begin_ns || begin_ns >= end_ns || omit_ns >= span)
		return;
	span -= omit_ns;
	if (margin_ns < span && margin_ns < span - margin_ns)
		set_window(phase, begin_ns + omit_ns + margin_ns, end_ns - margin_ns);
}

/* After a number of loads, up to the next one. */
static void set_recovery(struct phase *phase, const struct phase_moments *moments,
			 unsigned int loads, __u64 settle_ns)
{
	__u64 end_ns = moments->end_ns;

	if (!loads || !moments->loads[loads - 1].begin_ns ||
	    moments->loads[loads - 1].end_ns <= moments->loads[loads - 1].begin_ns)
		return;
	if (loads < SCENARIO_LOADS_MAX && moments->loads[loads].begin_ns)
		end_ns = moments->loads[loads].begin_ns;
	set_window(phase, moments->loads[loads - 1].end_ns + settle_ns, end_ns);
}

void phase_windows(struct result *result, const struct phase_moments *moments,
		   __u64 margin_ns, __u64 settle_ns)
{
	unsigned int i, loads = 0;

	for (i = 0; i < result->phase_count; i++) {
		struct phase *phase = &result->phases[i];

		set_window(phase, 0, 0);
		switch (phase->plan.kind) {
		case PHASE_IDLE:
			set_window(phase, moments->begin_ns, moments->loads[0].begin_ns ?
				   moments->loads[0].begin_ns : moments->end_ns);
			break;
		case PHASE_LOAD:
			set_load(phase, moments->loads[loads].begin_ns,
				 moments->loads[loads].end_ns, moments->omit_ns, margin_ns);
			loads++;
			break;
		case PHASE_RECOVERY:
			set_recovery(phase, moments, loads, settle_ns);
			break;
		case PHASE_RESTORED:
			set_window(phase, moments->restored_begin_ns, moments->restored_end_ns);
			break;
		}
	}
}

/* The phase of a moment: windows hold their begin, not their end. -1: none. */
static int phase_at(const struct result *result, __u64 time_ns)
{
	unsigned int i;

	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].valid && time_ns >= result->phases[i].begin_ns &&
		    time_ns < result->phases[i].end_ns)
			return (int)i;
	return -1;
}

static bool in_window(const struct phase *phase, __u64 time_ns)
{
	return time_ns >= phase->begin_ns && time_ns < phase->end_ns;
}

static void assign_probes(struct result *result)
{
	struct probe *probe;
	struct phase *phase;
	size_t i;

	for (i = 0; i < result->phase_count; i++)
		result->phases[i].sent = result->phases[i].received = result->phases[i].lost = 0;
	for (i = 0; i < result->probe_count; i++) {
		probe = &result->probes[i];
		probe->phase = probe->sent ? phase_at(result, probe->sent_ns) : -1;
		if (probe->phase < 0)
			continue;
		phase = &result->phases[probe->phase];
		phase->sent++;
		if (probe->lost)
			phase->lost++;
		else
			phase->received++;
	}
	for (unsigned int side = 0; side < SCENARIO_SIDE_PROBES; side++)
		for (i = 0; i < result->side_probes[side].probe_count; i++) {
			probe = &result->side_probes[side].probes[i];
			probe->phase = probe->sent ? phase_at(result, probe->sent_ns) : -1;
		}
}

static void fill_rtt(const struct result *result, struct phase *phase, __u64 *values)
{
	__u64 count = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], phase))
			values[count++] = result->probes[i].rtt_ns;
	summary_of_values(values, count, &phase->rtt);
}

__u64 phase_median_in(const struct result *result, const struct phase *phase, probe_time *time_in,
		      __u32 qdisc, __u64 *values)
{
	struct summary summary;
	__u64 count = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], phase))
			values[count++] = time_in(result, &result->probes[i], qdisc);
	summary_of_values(values, count, &summary);
	return summary.p50;
}

static __u64 max_of(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* Of a qdisc in a phase, while it is summed up. */
struct sums {
	struct histogram drops, part;
	double byte_ns, covered_ns;
};

static void add_sample(struct phase_qdisc *qdisc, struct sums *sums,
		       const struct qdisc_sample *sample)
{
	double length = (double)(sample->end_ns - sample->begin_ns);

	sample_histogram_add(&qdisc->sojourn, &sample->sojourn);
	sample_histogram_add(&sums->drops, &sample->before_drop);
	sample_histogram_add(&sums->part, &sample->part);
	qdisc->drops += sample->delta.rejected_packets + sample->delta.dropped_packets;
	qdisc->drops_here += sample->delta.drops_here;
	qdisc->backlog_bytes_max = max_of(qdisc->backlog_bytes_max, sample->backlog_bytes_max);
	qdisc->backlog_packets_max = max_of(qdisc->backlog_packets_max,
					    sample->backlog_packets_max);
	sums->byte_ns += sample->backlog_bytes_mean * length;
	sums->covered_ns += length;
}

static bool lies_within(const struct qdisc_sample *sample, const struct phase *phase)
{
	return sample->begin_ns >= phase->begin_ns && sample->end_ns <= phase->end_ns;
}

/* Are there others below a qdisc? traced: such that have a record. */
static bool has_below(const struct result *result, __u32 qdisc, bool traced)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if ((!traced || result->qdiscs[i].traced) &&
		    result_is_below(result, (__u32)i, qdisc))
			return true;
	return false;
}

bool phase_part_is_exclusive(const struct result *result, __u32 qdisc)
{
	return result->qdiscs[qdisc].is_parent &&
	       (result_sees_children(result) || has_below(result, qdisc, true));
}

/* What the part is depends on the qdisc; without children the whole sojourn is exclusive. */
static void fill_parts(const struct result *result, const struct histogram *part,
		       struct phase_qdisc *qdisc)
{
	const struct result_qdisc *whose = &result->qdiscs[qdisc->qdisc];

	if (phase_part_is_exclusive(result, qdisc->qdisc)) {
		qdisc->have_exclusive = true;
		histogram_summary(part, &qdisc->exclusive);
	} else if (!has_below(result, qdisc->qdisc, false)) {
		qdisc->have_exclusive = true;
		qdisc->exclusive = qdisc->summary;
	}
	if (!whose->paces)
		return;
	qdisc->have_paced = true;
	histogram_summary(part, &qdisc->paced);
}

static void fill_qdisc(const struct result *result, const struct phase *phase,
		       struct phase_qdisc *qdisc)
{
	const struct qdisc_sample *sample;
	struct sums sums = { .byte_ns = 0 };
	size_t i;

	histogram_init(&qdisc->sojourn);
	histogram_init(&sums.drops);
	histogram_init(&sums.part);
	for (i = 0; i < result->sample_count; i++) {
		sample = &result->samples[i];
		if (sample->qdisc == qdisc->qdisc && lies_within(sample, phase))
			add_sample(qdisc, &sums, sample);
	}
	if (sums.covered_ns > 0)
		qdisc->backlog_bytes_mean = sums.byte_ns / sums.covered_ns;
	histogram_summary(&qdisc->sojourn, &qdisc->summary);
	histogram_summary(&sums.drops, &qdisc->wait_before_drop);
	qdisc->packets = (__s64)qdisc->sojourn.count > 0 ? qdisc->sojourn.count : 0;
	fill_parts(result, &sums.part, qdisc);
}

static int fill_qdiscs(const struct result *result, struct phase *phase, __u64 *values)
{
	struct phase_qdisc *qdisc;
	size_t i;

	free(phase->qdiscs);
	phase->qdisc_count = 0;
	phase->qdiscs = calloc(result->qdisc_count + 1, sizeof(*phase->qdiscs));
	if (!phase->qdiscs)
		return -1;
	for (i = 0; i < result->qdisc_count; i++) {
		if (!result->qdiscs[i].traced)
			continue;
		qdisc = &phase->qdiscs[phase->qdisc_count++];
		qdisc->qdisc = (__u32)i;
		qdisc->share = qdisc->exclusive_share = qdisc->held_share = NAN;
		fill_qdisc(result, phase, qdisc);
		qdisc->own_median_ns = phase_median_in(result, phase, probe_time_in,
						       qdisc->qdisc, values);
		qdisc->own_exclusive_median_ns =
			phase_median_in(result, phase, probe_exclusive_time_in, qdisc->qdisc,
					values);
	}
	return 0;
}

/* ---- TCP ---- */

static int compare_flow(const struct tcp_event *a, const struct tcp_event *b)
{
	if (a->header.netns != b->header.netns)
		return a->header.netns < b->header.netns ? -1 : 1;
	return memcmp(&a->ends, &b->ends, sizeof(a->ends));
}

static int compare_by_flow(const void *a, const void *b)
{
	const struct tcp_event *const *left = a, *const *right = b;
	int order = compare_flow(*left, *right);

	if (order)
		return order;
	return ((*left)->header.time_ns > (*right)->header.time_ns) -
	       ((*left)->header.time_ns < (*right)->header.time_ns);
}

/* Keep only the senders' states: sorted by flow, the last one of each tells its bytes. */
static size_t keep_senders(const struct tcp_event **states, size_t count)
{
	size_t begin, end, kept = 0;
	__u64 largest = 0;

	for (begin = 0; begin < count; begin++)
		largest = max_of(largest, states[begin]->bytes_acked);
	for (begin = 0; begin < count; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (compare_flow(states[begin], states[end]))
				break;
		if (!states[end - 1]->bytes_acked ||
		    states[end - 1]->bytes_acked < largest / SENDER_PART)
			continue;
		memmove(&states[kept], &states[begin], (end - begin) * sizeof(*states));
		kept += end - begin;
	}
	return kept;
}

static void fill_tcp(struct phase *phase, const struct tcp_event **states, size_t count,
		     __u64 *values)
{
	__u64 used = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (in_window(phase, states[i]->header.time_ns))
			values[used++] = (__u64)states[i]->srtt_us * 1000;
	summary_of_values(values, used, &phase->srtt);
	used = 0;
	for (i = 0; i < count; i++)
		if (in_window(phase, states[i]->header.time_ns))
			values[used++] = states[i]->cwnd;
	summary_of_values(values, used, &phase->cwnd);
}

static void count_retransmits(const struct result *result, struct phase *phase)
{
	size_t i;

	phase->retransmits = 0;
	for (i = 0; i < result->retransmit_count; i++)
		if (in_window(phase, result->retransmits[i].header.time_ns))
			phase->retransmits++;
}

/* With a UDP load the only TCP is iperf3's control connection, which is no load. */
static int fill_all_tcp(struct result *result, __u64 *values)
{
	const struct tcp_event **states = calloc(result->tcp_count + 1, sizeof(*states));
	size_t count = 0, i;

	if (!states)
		return -1;
	if (result->scenario.load.proto == LOAD_TCP)
		for (; count < result->tcp_count; count++)
			states[count] = &result->tcp[count];
	if (count)
		qsort(states, count, sizeof(*states), compare_by_flow);
	count = keep_senders(states, count);
	for (i = 0; i < result->phase_count; i++) {
		if (!result->phases[i].valid)
			continue;
		fill_tcp(&result->phases[i], states, count, values);
		count_retransmits(result, &result->phases[i]);
	}
	free(states);
	return 0;
}

int phase_fill(struct result *result, struct error *error)
{
	size_t room = result->probe_count > result->tcp_count ? result->probe_count :
								result->tcp_count;
	__u64 *values = calloc(room + 1, sizeof(*values));
	int code = -1;
	size_t i;

	if (!values)
		goto out;
	assign_probes(result);
	for (i = 0; i < result->phase_count; i++) {
		if (!result->phases[i].valid)
			continue;
		fill_rtt(result, &result->phases[i], values);
		if (fill_qdiscs(result, &result->phases[i], values))
			goto out;
	}
	code = fill_all_tcp(result, values);
out:
	free(values);
	if (code)
		return error_set(error, EXIT_CANNOT, "out of memory for the phases' figures");
	return 0;
}
