// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "phase.h"
#include "text.h"
#include "verdict.h"

/*
 * An increase is worth explaining where its mean is at least 5 ms, which an
 * application can feel, or else at least twice the idle median and half a
 * millisecond: less than that is what a busy CPU does to any RTT.
 */
#define INCREASE_FELT_NS	5e6
#define INCREASE_LEAST_NS	0.5e6
#define INCREASE_FACTOR		2

/* Bytes of an Ethernet frame with an MTU of 1500: a queue that holds less in the mean is empty. */
#define FULL_PACKET		1514

const char *share_text(double share, char text[SHARE_TEXT])
{
	/* Half a billionth makes up for 0.998 * 1000 being 997.999... */
	double tenths = trunc(share * 1000 + copysign(1e-9, share));

	if (isnan(share))
		snprintf(text, SHARE_TEXT, "-");
	else if (tenths == 0)	/* also -0 */
		snprintf(text, SHARE_TEXT, "0 %%");
	else if (fmod(tenths, 10) == 0)
		snprintf(text, SHARE_TEXT, "%.0f %%", tenths / 10);
	else
		snprintf(text, SHARE_TEXT, "%.1f %%", tenths / 10);
	return text;
}

/* ---- arithmetic ---- */

static double sum_of_increases(const struct judged *judged)
{
	const struct result *result = judged->result;
	double idle = (double)judged->idle->rtt.p50, sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], judged->load))
			sum += (double)result->probes[i].rtt_ns - idle;
	return sum;
}

/* In the qdisc itself and in the children that it made by itself. */
static __u64 held_time(const struct result *result, const struct probe *probe, __u32 qdisc)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++)
		if (probe->legs[i].kind == LEG_QDISC &&
		    result_known_as(result, probe->legs[i].qdisc) == qdisc)
			sum += probe->legs[i].ns;
	return sum;
}

/* A qdisc that the idle phase does not list held none: its median is 0. */
static double sum_over_load(const struct judged *judged, __u32 qdisc, probe_time *time_in,
			    double median)
{
	const struct result *result = judged->result;
	double sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], judged->load))
			sum += (double)time_in(result, &result->probes[i], qdisc) - median;
	return sum;
}

/* values: room for one of each probe. */
static void fill_shares_of(const struct judged *judged, struct phase_qdisc *qdisc,
			   double increases, __u64 *values)
{
	const struct phase_qdisc *idle = phase_qdisc_find(judged->idle, qdisc->qdisc);
	double median = idle ? (double)idle->own_median_ns : 0;
	double exclusive_median = idle ? (double)idle->own_exclusive_median_ns : 0;
	__u32 index = qdisc->qdisc;
	__u64 held_median;

	qdisc->share = sum_over_load(judged, index, probe_time_in, median) / increases;
	qdisc->exclusive_share = NAN;
	if (qdisc->have_exclusive)
		qdisc->exclusive_share = sum_over_load(judged, index, probe_exclusive_time_in,
						       exclusive_median) / increases;
	qdisc->held_share = NAN;
	if (result_known_as(judged->result, index) != index)
		return;
	held_median = phase_median_in(judged->result, judged->idle, held_time, index, values);
	qdisc->held_share = sum_over_load(judged, index, held_time, (double)held_median) /
			    increases;
}

/* Returns what the roots explain together: a root's sojourn holds its children's. */
static double fill_shares(const struct judged *judged, double increases, __u64 *values)
{
	struct phase *load = judged->load;
	double explained = 0;
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++) {
		fill_shares_of(judged, &load->qdiscs[i], increases, values);
		if (judged->result->qdiscs[load->qdiscs[i].qdisc].root)
			explained += load->qdiscs[i].share;
	}
	return explained;
}

static double clamp_share(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- what held the packets ---- */

static const struct phase_qdisc *largest_root(const struct judged *judged)
{
	const struct phase_qdisc *largest = NULL, *qdisc;
	unsigned int i;

	for (i = 0; i < judged->load->qdisc_count; i++) {
		qdisc = &judged->load->qdiscs[i];
		if (judged->result->qdiscs[qdisc->qdisc].root &&
		    (!largest || qdisc->share > largest->share))
			largest = qdisc;
	}
	return largest;
}

/* Where one root explains the increase, the one in its tree; else the one of all. */
static const struct phase_qdisc *largest_holder(const struct judged *judged)
{
	const struct phase_qdisc *root = largest_root(judged), *largest = root, *qdisc;
	unsigned int i;

	for (i = 0; root && i < judged->load->qdisc_count; i++) {
		qdisc = &judged->load->qdiscs[i];
		if (root->share >= SHARE_MAIN && qdisc != root &&
		    !result_is_below(judged->result, qdisc->qdisc, root->qdisc))
			continue;
		if (qdisc->held_share > largest->held_share)
			largest = qdisc;
	}
	return largest;
}

/* Of a qdisc and the children that it made by itself, the one that held most. */
static __u32 find_queue(const struct judged *judged, const struct phase_qdisc *cause)
{
	const struct phase_qdisc *most = cause, *qdisc;
	unsigned int i;

	for (i = 0; i < judged->load->qdisc_count; i++) {
		qdisc = &judged->load->qdiscs[i];
		if (result_known_as(judged->result, qdisc->qdisc) == cause->qdisc &&
		    qdisc->exclusive_share > most->exclusive_share)
			most = qdisc;
	}
	return most->qdisc;
}

/* Are all children that a user has set up measured? (In the share are those that are not.) */
static bool sees_all_below(const struct result *result, __u32 qdisc)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (!result->qdiscs[i].traced && result_is_below(result, (__u32)i, qdisc) &&
		    result_known_as(result, (__u32)i) != qdisc)
			return false;
	return true;
}

/* Of all its packets under load, since pacing is what it does to them, not to probes. */
static void fill_pacing(const struct phase_qdisc *qdisc, struct cause *cause)
{
	cause->paced_ns = cause->queued_ns = NAN;
	if (!qdisc->have_paced || !qdisc->paced.count || !qdisc->summary.count)
		return;
	cause->paced_ns = qdisc->paced.mean;
	cause->queued_ns = qdisc->summary.mean - qdisc->paced.mean;
	cause->is_pacing = cause->paced_ns > cause->queued_ns;
}

static void fill_cause(const struct judged *judged)
{
	struct cause *cause = &judged->attribution->cause;
	const struct phase_qdisc *qdisc = largest_holder(judged);

	if (!qdisc)
		return;
	cause->qdisc = qdisc->qdisc;
	cause->share = qdisc->share;
	cause->held_share = qdisc->held_share;
	cause->held_is_known = sees_all_below(judged->result, qdisc->qdisc);
	cause->waits_in = find_queue(judged, qdisc);
	fill_pacing(qdisc, cause);
}

/* ---- what held them back ---- */

static void name_holder(const struct result *result, const struct load_snapshot *end,
			const struct qdisc_info *held, struct cause *cause)
{
	const struct qdisc_holder *holder = &cause->holder;

	cause->holder_qdisc = RESULT_NO_QDISC;
	if (holder->kind == HOLDER_QDISC && &end->tree.qdiscs[holder->index] == held) {
		cause->holder_qdisc = cause->waits_in;
	} else if (holder->kind == HOLDER_QDISC) {
		cause->holder_qdisc = result_by_handle(result, held->netns, held->ifindex,
						       end->tree.qdiscs[holder->index].handle);
	} else if (holder->kind == HOLDER_CLASS) {
		cause->holder_class = end->classes.classes[holder->index].classid;
		cause->holder_qdisc = result_by_handle(result, held->netns, held->ifindex,
						       TC_H_MAJ(cause->holder_class));
	}
}

static void fill_holder(const struct judged *judged)
{
	const struct load_snapshot *begin = &judged->load->load.begin;
	const struct load_snapshot *end = &judged->load->load.end;
	const struct qdisc_snapshot before = { &begin->tree, &begin->classes };
	const struct qdisc_snapshot after = { &end->tree, &end->classes };
	struct cause *cause = &judged->attribution->cause;
	const struct result_qdisc *queue;
	const struct qdisc_info *held;
	struct qdisc_path path;

	if (cause->qdisc == RESULT_NO_QDISC || !end->taken)
		return;
	queue = &judged->result->qdiscs[cause->waits_in];
	held = qdisc_tree_find(&end->tree, queue->netns, queue->ifindex, queue->parent,
			       queue->handle);
	if (!held)
		return;
	cause->have_path = true;
	qdisc_path_find(&path, &after, held);
	qdisc_path_text(&path, &after, cause->path, sizeof(cause->path));
	text_end_at_character(cause->path);
	qdisc_holder_find(&cause->holder, begin->taken ? &before : NULL, &after, held);
	name_holder(judged->result, end, held, cause);
}

/* ---- where the probes left what is traced ---- */

/* A traced device beyond which probes were for a time out of sight. */
struct edge {
	__u32 netns;
	char device[sizeof(((struct leg *)0)->device)];
	double load_ns, idle_ns;	/* sums over the probes of the phase */
};

#define EDGES_MAX	16

/*
 * The leg whose device a probe left for where nothing is traced, or came back by,
 * with leg i: a link of which only one end is seen. NULL where leg i is none. A
 * probe that begins with a link comes from a host that is not traced, and its
 * reply goes back there.
 */
static const struct leg *edge_of(const struct probe *probe, unsigned int i)
{
	const struct leg *leg = &probe->legs[i];

	if (leg->kind != LEG_LINK)
		return NULL;
	if (!i)
		return leg;
	if (i + 1 == probe->leg_count && probe->legs[0].kind == LEG_LINK)
		return &probe->legs[i - 1];
	return leg->reply && !probe->legs[i - 1].reply ? &probe->legs[i - 1] : NULL;
}

static struct edge *find_edge(struct edge *edges, unsigned int *count, const struct leg *leg)
{
	unsigned int i;

	for (i = 0; i < *count; i++)
		if (edges[i].netns == leg->netns && !strcmp(edges[i].device, leg->device))
			return &edges[i];
	if (*count == EDGES_MAX)
		return NULL;
	edges[*count] = (struct edge){ .netns = leg->netns };
	memcpy(edges[*count].device, leg->device, sizeof(leg->device));
	return &edges[(*count)++];
}

static void add_edges(const struct judged *judged, const struct probe *probe, struct edge *edges,
		      unsigned int *count)
{
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++) {
		const struct leg *leg = edge_of(probe, i);
		struct edge *edge = leg ? find_edge(edges, count, leg) : NULL;

		if (!edge)
			continue;
		if (probe_is_of(judged->result, probe, judged->load))
			edge->load_ns += (double)probe->legs[i].ns / judged->load->received;
		else
			edge->idle_ns += (double)probe->legs[i].ns / judged->idle->received;
	}
}

/* The edge beyond which most of what no traced qdisc explains has grown. */
static void fill_beyond(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	const struct result *result = judged->result;
	struct edge edges[EDGES_MAX];
	unsigned int count = 0, i;
	double most = 0;
	size_t probe;

	for (probe = 0; probe < result->probe_count; probe++)
		if (probe_is_of(result, &result->probes[probe], judged->load) ||
		    probe_is_of(result, &result->probes[probe], judged->idle))
			add_edges(judged, &result->probes[probe], edges, &count);
	for (i = 0; i < count; i++) {
		if (edges[i].load_ns - edges[i].idle_ns <= most)
			continue;
		most = edges[i].load_ns - edges[i].idle_ns;
		memcpy(attribution->beyond_device, edges[i].device, sizeof(edges[i].device));
		attribution->beyond_netns = edges[i].netns;
		attribution->beyond_ns = most;
	}
}

/* ---- those that it was not ---- */

static bool any_probe_passed(const struct judged *judged, __u32 root)
{
	const struct result *result = judged->result;
	unsigned int leg;
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (!probe_is_of(result, probe, judged->load))
			continue;
		for (leg = 0; leg < probe->leg_count; leg++)
			if (probe->legs[leg].kind == LEG_QDISC && probe->legs[leg].root == root)
				return true;
	}
	return false;
}

/* On the way of the probes, on another host than the cause, and it held next to nothing. */
static bool is_innocent(const struct judged *judged, const struct phase_qdisc *qdisc)
{
	const struct attribution *attribution = judged->attribution;
	const struct result_qdisc *suspect = &judged->result->qdiscs[qdisc->qdisc];

	if (!suspect->root || fabs(qdisc->share) >= SHARE_INNOCENT)
		return false;
	if (attribution->cause.qdisc != RESULT_NO_QDISC &&
	    attribution->cause.share >= SHARE_INNOCENT &&
	    judged->result->qdiscs[attribution->cause.qdisc].netns == suspect->netns)
		return false;
	return any_probe_passed(judged, qdisc->qdisc);
}

static void fill_exonerated(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	const struct phase *load = judged->load;
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++) {
		const struct phase_qdisc *qdisc = &load->qdiscs[i];

		if (attribution->exonerated_count == EXONERATIONS_MAX)
			return;
		if (!is_innocent(judged, qdisc))
			continue;
		attribution->exonerated[attribution->exonerated_count++] = (struct exoneration){
			.qdisc = qdisc->qdisc,
			.share = qdisc->share,
			.empty = qdisc->backlog_bytes_mean < FULL_PACKET,
		};
	}
}

/* ---- the whole ---- */

static bool is_worth_explaining(double increase, double idle)
{
	return increase >= INCREASE_FELT_NS ||
	       (increase >= INCREASE_LEAST_NS && increase >= INCREASE_FACTOR * idle);
}

/* What no qdisc explains was beyond one device, or else the device is not named. */
static void fill_outside(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;

	if (attribution->explained >= SHARE_MAIN)
		return;
	fill_beyond(judged);
	if (attribution->beyond_ns > attribution->unexplained_ns / 2)
		return;
	attribution->beyond_device[0] = '\0';
	attribution->beyond_netns = 0;
	attribution->beyond_ns = 0;
}

static int explain(const struct judged *judged, double increases)
{
	struct attribution *attribution = judged->attribution;
	__u64 *values = calloc(judged->result->probe_count + 1, sizeof(*values));

	if (!values)
		return -1;
	attribution->explained = clamp_share(fill_shares(judged, increases, values));
	free(values);
	attribution->unexplained_ns = (1 - attribution->explained) * attribution->rtt_increase_ns;
	fill_cause(judged);
	fill_holder(judged);
	fill_outside(judged);
	fill_exonerated(judged);
	return verdict_fill(judged);
}

static int fill_one(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	double increases;

	memset(attribution, 0, sizeof(*attribution));
	attribution->cause.qdisc = attribution->cause.waits_in = RESULT_NO_QDISC;
	attribution->cause.holder_qdisc = RESULT_NO_QDISC;
	attribution->cause.share = attribution->cause.held_share = NAN;
	if (!judged->idle->received || !judged->load->received) {
		verdict_fill_no_answer(judged);
		return 0;
	}
	increases = sum_of_increases(judged);
	attribution->rtt_increase_ns = increases / judged->load->received;
	attribution->rtt_increase_median_ns = (double)judged->load->rtt.p50 -
					      (double)judged->idle->rtt.p50;
	attribution->valid = is_worth_explaining(attribution->rtt_increase_ns,
						 (double)judged->idle->rtt.p50);
	if (attribution->valid)
		return explain(judged, increases);
	verdict_fill_no_increase(judged);
	return 0;
}

int attribution_fill(struct result *result, struct error *error)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);
	unsigned int i;

	for (i = 0; idle && i < result->phase_count; i++) {
		struct phase *load = &result->phases[i];
		const struct judged judged = { result, idle, load, &load->load.attribution };

		if (load->plan.kind == PHASE_LOAD && fill_one(&judged))
			return error_set(error, EXIT_CANNOT, "out of memory for the verdict");
	}
	return 0;
}

char *attribution_verdicts(const struct result *result)
{
	char *text = NULL;
	bool any = false;
	unsigned int i;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (i = 0; i < result->phase_count; i++) {
		const char *verdict = result->phases[i].load.attribution.verdict;

		if (!*verdict)
			continue;
		fprintf(stream, "%s%s", any ? " " : "", verdict);
		any = true;
	}
	if (!fclose(stream))
		return text;
	free(text);
	return NULL;
}
