// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "array.h"
#include "timeline.h"

/* Without an answer for so long, the same id and sequence offered again is another probe. */
#define PROBE_PATIENCE_NS	5000000000ULL

/* Sequence numbers of ICMP echoes have 16 bits. */
#define PROBE_SEQUENCES		65536u

/* More hops than a way through one host has; longer ways share the last count. */
#define HOPS_MAX		64u

struct timeline {
	struct probe_event *probe_events;
	size_t probe_event_count, probe_event_capacity;
	struct qdisc_sample *samples;
	size_t sample_count, sample_capacity;
	struct tcp_event *tcp;
	size_t tcp_count, tcp_capacity;
	struct retransmit_event *retransmits;
	size_t retransmit_count, retransmit_capacity;
	bool out_of_memory;
};

struct timeline *timeline_create(void)
{
	return calloc(1, sizeof(struct timeline));
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	if (!timeline)
		return;
	for (i = 0; i < timeline->sample_count; i++) {
		free(timeline->samples[i].sojourn.parts);
		free(timeline->samples[i].before_drop.parts);
		free(timeline->samples[i].part.parts);
	}
	free(timeline->samples);
	free(timeline->probe_events);
	free(timeline->tcp);
	free(timeline->retransmits);
	free(timeline);
}

/* A slice with only those of its buckets that are not empty. */
static int sample_of_histogram(const struct histogram_slice *slice, struct sample_histogram *sample)
{
	unsigned int bucket, used = 0;

	sample->count = slice->count;
	sample->sum = slice->sum;
	sample->min = slice->min;
	sample->max = slice->max;
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		used += slice->counts[bucket] != 0;
	if (!used)
		return 0;
	sample->parts = calloc(used, sizeof(*sample->parts));
	if (!sample->parts)
		return -1;
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!slice->counts[bucket])
			continue;
		sample->parts[sample->part_count].bucket = (__u16)bucket;
		sample->parts[sample->part_count++].count = slice->counts[bucket];
	}
	return 0;
}

static int sample_of_slice(const struct tracer_slice *slice, struct qdisc_sample *sample)
{
	*sample = (struct qdisc_sample) {
		.qdisc = slice->qdisc,
		.begin_ns = slice->begin_ns,
		.end_ns = slice->end_ns,
		.backlog_bytes_max = slice->backlog_bytes_max,
		.backlog_packets_max = slice->backlog_packets_max,
		.backlog_bytes_mean = slice->backlog_bytes_mean,
		.backlog_packets_mean = slice->backlog_packets_mean,
		.backlog_bytes = slice->backlog_bytes,
		.backlog_packets = slice->backlog_packets,
		.delta = slice->delta,
	};
	if (!sample_of_histogram(slice->sojourn, &sample->sojourn) &&
	    !sample_of_histogram(slice->wait_before_drop, &sample->before_drop) &&
	    !sample_of_histogram(slice->part, &sample->part))
		return 0;
	free(sample->sojourn.parts);
	free(sample->before_drop.parts);
	return -1;
}

static void take_slice(void *context, const struct tracer_slice *slice)
{
	struct timeline *timeline = context;
	struct qdisc_sample *samples;

	samples = array_grow(timeline->samples, timeline->sample_count,
			     &timeline->sample_capacity, sizeof(*samples));
	if (!samples) {
		timeline->out_of_memory = true;
		return;
	}
	timeline->samples = samples;
	if (sample_of_slice(slice, &samples[timeline->sample_count]))
		timeline->out_of_memory = true;
	else
		timeline->sample_count++;
}

static void take_probe(void *context, const struct probe_event *event)
{
	struct timeline *timeline = context;
	struct probe_event *events;

	events = array_grow(timeline->probe_events, timeline->probe_event_count,
			    &timeline->probe_event_capacity, sizeof(*events));
	if (!events) {
		timeline->out_of_memory = true;
		return;
	}
	timeline->probe_events = events;
	events[timeline->probe_event_count++] = *event;
}

static void take_tcp(void *context, const struct tcp_event *event)
{
	struct timeline *timeline = context;
	struct tcp_event *events;

	events = array_grow(timeline->tcp, timeline->tcp_count, &timeline->tcp_capacity,
			    sizeof(*events));
	if (!events) {
		timeline->out_of_memory = true;
		return;
	}
	timeline->tcp = events;
	events[timeline->tcp_count++] = *event;
}

static void take_retransmit(void *context, const struct retransmit_event *event)
{
	struct timeline *timeline = context;
	struct retransmit_event *events;

	events = array_grow(timeline->retransmits, timeline->retransmit_count,
			    &timeline->retransmit_capacity, sizeof(*events));
	if (!events) {
		timeline->out_of_memory = true;
		return;
	}
	timeline->retransmits = events;
	events[timeline->retransmit_count++] = *event;
}

struct tracer_sink timeline_sink(struct timeline *timeline)
{
	return (struct tracer_sink) {
		.context = timeline,
		.slice = take_slice,
		.probe = take_probe,
		.tcp = take_tcp,
		.retransmit = take_retransmit,
	};
}

/* ---- the way of one probe ---- */

static bool same_device(const struct probe_event *a, const struct probe_event *b)
{
	return a->header.netns == b->header.netns && a->header.ifindex == b->header.ifindex;
}

/*
 * May next come right after event on a way without gaps? The points of a device
 * follow __dev_queue_xmit() and __netif_receive_skb_core() (net/core/dev.c). A
 * device stacked on another (VLAN, bridge) offers what it was given to transmit,
 * and a bridge receives again what its port received. A reply that comes in
 * after a request left answers from beyond this host.
 */
static bool follows(const struct probe_event *event, const struct probe_event *next)
{
	if (next->reply < event->reply)
		return false;
	switch (event->point) {
	case PROBE_OFFERED:
		return same_device(event, next) && next->reply == event->reply &&
		       (next->point == PROBE_DEQUEUED || next->point == PROBE_TRANSMIT);
	case PROBE_DEQUEUED:
		return same_device(event, next) && next->reply == event->reply &&
		       next->point == PROBE_TRANSMIT;
	case PROBE_TRANSMIT:
		if (next->point == PROBE_RECEIVED)
			return true;
		return next->point == PROBE_OFFERED && next->reply == event->reply &&
		       next->header.netns == event->header.netns && !same_device(event, next);
	case PROBE_RECEIVED:
		if (next->header.netns != event->header.netns)
			return false;
		return next->point == PROBE_OFFERED ||
		       (next->point == PROBE_RECEIVED && next->reply == event->reply &&
			!same_device(event, next));
	}
	return false;
}

/* Events of one and the same ns: put each behind the one that it follows. */
static void order_ties(struct probe_event *events, unsigned int count)
{
	struct probe_event chosen;
	unsigned int i, j;

	for (i = 1; i < count; i++) {
		for (j = i; j < count; j++) {
			if (events[j].header.time_ns != events[i].header.time_ns) {
				j = count;
				break;
			}
			if (follows(&events[i - 1], &events[j]))
				break;
		}
		if (j >= count || j == i)
			continue;
		chosen = events[j];
		memmove(&events[i + 1], &events[i], (j - i) * sizeof(chosen));
		events[i] = chosen;
	}
}

static bool starts(const struct probe_event *event, __u32 client_netns)
{
	return event->point == PROBE_OFFERED && !event->reply &&
	       event->header.netns == client_netns;
}

static bool arrives(const struct probe_event *event, __u32 client_netns)
{
	return event->point == PROBE_RECEIVED && event->reply &&
	       event->header.netns == client_netns;
}

/*
 * The points that cut the RTT, as pointers into the probe's events: from the
 * first offer to the reply's arrival (or as far as it got). Two kinds of events
 * are no points. A hand-out or transmission that the same device repeats was
 * requeued (dev_requeue_skb(), net/sched/sch_generic.c): the last one counts.
 * And a free that is not the end of the way: icmp_rcv() frees an answered
 * reply as if it were dropped when only raw sockets took it.
 */
static unsigned int choose_points(struct probe *probe, __u32 client_netns,
				  const struct probe_event **points)
{
	const struct probe_event *event;
	unsigned int i, count = 0;

	for (i = 0; i < probe->event_count; i++) {
		event = &probe->events[i];
		if (!count && !starts(event, client_netns))
			continue;
		if (event->point == PROBE_DROPPED && i + 1 < probe->event_count)
			continue;
		while (event->point == PROBE_DEQUEUED && count && same_device(points[count - 1], event) &&
		       points[count - 1]->reply == event->reply &&
		       (points[count - 1]->point == PROBE_DEQUEUED ||
			points[count - 1]->point == PROBE_TRANSMIT))
			count--;
		points[count++] = event;
	}
	return count;
}

/*
 * Index of the arrival that ends the RTT, or -1. Where stacked devices receive
 * the reply one after the other the last one is meant; the same device again is
 * a duplicate.
 */
static int find_arrival(const struct probe_event **points, unsigned int count,
			__u32 client_netns)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (arrives(points[i], client_netns))
			break;
	if (i == count)
		return -1;
	while (i + 1 < count && arrives(points[i + 1], client_netns) &&
	       follows(points[i], points[i + 1]))
		i++;
	return (int)i;
}

/* Which leg lies between two points in a row; also sensible where points are missing. */
static void cut_leg(const struct probe_event *from, const struct probe_event *to,
		    struct leg *leg)
{
	const struct probe_event *named = from;
	__u32 qdisc = to->point == PROBE_DEQUEUED && to->qdisc != PROBE_NO_QDISC ?
		      to->qdisc : from->qdisc;

	leg->kind = LEG_DRIVER;
	leg->qdisc = leg->root = RESULT_NO_QDISC;
	if (from->point == PROBE_OFFERED && (to->point == PROBE_DEQUEUED || qdisc != PROBE_NO_QDISC)) {
		leg->kind = LEG_QDISC;
		leg->qdisc = leg->root = qdisc;
	} else if (from->point == PROBE_TRANSMIT && to->point == PROBE_RECEIVED) {
		leg->kind = LEG_LINK;
		named = to;
	} else if (from->point == PROBE_RECEIVED) {
		leg->kind = LEG_STACK;
		named = to;
	}
	memcpy(leg->device, named->device, sizeof(leg->device));
	leg->device[sizeof(leg->device) - 1] = '\0';
	leg->netns = to->header.netns;
	leg->reply = to->reply;
	leg->ns = to->header.time_ns - from->header.time_ns;
}

/* ---- the time in a root, cut into the parts of the qdiscs on the way ---- */

/*
 * What children hand up are no points of the way, but lie within the root's leg:
 * behind the points with them, in either part in the order of time.
 */
static int move_hand_ups_back(struct probe *probe)
{
	unsigned int all = probe->event_count + probe->hand_up_count, i, points = 0, hand_ups = 0;
	struct probe_event *sorted = calloc(all, sizeof(*sorted));

	if (!sorted)
		return -1;
	for (i = 0; i < all; i++)
		if (probe->events[i].point != PROBE_HANDED_UP)
			sorted[points++] = probe->events[i];
	for (i = 0; i < all; i++)
		if (probe->events[i].point == PROBE_HANDED_UP)
			sorted[points + hand_ups++] = probe->events[i];
	free(probe->events);
	probe->events = sorted;
	probe->event_count = points;
	probe->hand_up_count = hand_ups;
	return 0;
}

/* The stay of a probe in a root: from its offer to the event that ends it. */
struct stay {
	const struct result *result;
	const struct probe *probe;
	const struct probe_event *from, *to;
};

static bool lies_in(const struct stay *stay, const struct probe_event *hand_up)
{
	return same_device(stay->from, hand_up) && stay->from->reply == hand_up->reply &&
	       hand_up->header.time_ns >= stay->from->header.time_ns &&
	       hand_up->header.time_ns <= stay->to->header.time_ns;
}

/* Which qdisc a probe is in from a moment on; *until: when that changes. */
static __u32 innermost(const struct stay *stay, __u32 root, __u64 now, __u64 *until)
{
	const struct probe_event *first = stay->probe->events + stay->probe->event_count, *event;
	unsigned int deepest = 0, depth;
	__u32 qdisc = root;

	*until = stay->to->header.time_ns;
	for (event = first; event < first + stay->probe->hand_up_count; event++) {
		if (!lies_in(stay, event) || event->qdisc >= stay->result->qdisc_count ||
		    event->header.time_ns <= now)
			continue;
		if (event->since_ns > now) {
			*until = event->since_ns < *until ? event->since_ns : *until;
			continue;
		}
		*until = event->header.time_ns < *until ? event->header.time_ns : *until;
		depth = stay->result->qdiscs[event->qdisc].depth;
		if (depth <= deepest)
			continue;
		deepest = depth;
		qdisc = event->qdisc;
	}
	return qdisc;
}

/*
 * Cut whole, the root's leg, into legs of which each is the time in one qdisc and in
 * none below it. Returns their number, at most twice that of the hand-ups and one.
 */
static unsigned int cut_stay(const struct stay *stay, const struct leg *whole, struct leg *legs)
{
	__u64 now = stay->from->header.time_ns, until;
	unsigned int count = 0;
	__u32 qdisc;

	do {
		qdisc = innermost(stay, whole->root, now, &until);
		if (!count || legs[count - 1].qdisc != qdisc) {
			legs[count] = *whole;
			legs[count].qdisc = qdisc;
			legs[count++].ns = 0;
		}
		legs[count - 1].ns += until - now;
		now = until;
	} while (now < stay->to->header.time_ns);
	return count;
}

static unsigned int hand_ups_in(const struct stay *stay)
{
	const struct probe_event *first = stay->probe->events + stay->probe->event_count;
	unsigned int i, count = 0;

	for (i = 0; i < stay->probe->hand_up_count; i++)
		count += lies_in(stay, &first[i]);
	return count;
}

/* All legs between the points. Returns how many hand-ups were in a qdisc's leg. */
static unsigned int cut_legs(const struct result *result, struct probe *probe,
			     const struct probe_event **points, unsigned int count)
{
	unsigned int i, placed = 0;
	struct leg leg;

	for (i = 1; i < count; i++) {
		const struct stay stay = { result, probe, points[i - 1], points[i] };

		cut_leg(points[i - 1], points[i], &leg);
		if (leg.kind != LEG_QDISC) {
			probe->legs[probe->leg_count++] = leg;
			continue;
		}
		placed += hand_ups_in(&stay);
		probe->leg_count += cut_stay(&stay, &leg, &probe->legs[probe->leg_count]);
	}
	return placed;
}

/* ---- all legs of a probe ---- */

/* Every point once, each following the one before, and nothing behind the arrival. */
static bool is_gapless(const struct probe_event **points, unsigned int count)
{
	unsigned int i, j;

	for (i = 1; i < count; i++) {
		if (!follows(points[i - 1], points[i]))
			return false;
		for (j = 0; j < i; j++)
			if (points[j]->point == points[i]->point &&
			    points[j]->reply == points[i]->reply &&
			    same_device(points[j], points[i]))
				return false;
	}
	return true;
}

static bool only_frees_after(const struct probe *probe, const struct probe_event *end)
{
	const struct probe_event *event;

	for (event = end + 1; event < probe->events + probe->event_count; event++)
		if (event->point != PROBE_DROPPED)
			return false;
	return true;
}

int probe_cut_legs(const struct result *result, struct probe *probe, __u32 client_netns)
{
	const struct probe_event **points = NULL;
	unsigned int count;
	int arrival;

	probe->rtt_ns = 0;
	probe->lost = true;
	probe->complete = false;
	probe->leg_count = 0;
	if (!probe->event_count)
		return 0;
	if (move_hand_ups_back(probe))
		return -1;
	order_ties(probe->events, probe->event_count);
	points = calloc(probe->event_count + 1, sizeof(*points));
	probe->legs = calloc(probe->event_count + 2 * probe->hand_up_count + 1,
			     sizeof(*probe->legs));
	if (!points || !probe->legs) {
		free(points);
		return -1;
	}
	count = choose_points(probe, client_netns, points);
	arrival = find_arrival(points, count, client_netns);
	if (arrival >= 0)
		count = (unsigned int)arrival + 1;
	probe->lost = arrival < 0;
	probe->complete = cut_legs(result, probe, points, count) == probe->hand_up_count;
	if (arrival < 0) {
		probe->complete = false;
		free(points);
		return 0;
	}
	probe->rtt_ns = points[arrival]->header.time_ns - points[0]->header.time_ns;
	probe->complete = probe->complete && points[0] == probe->events &&
			  is_gapless(points, count) && only_frees_after(probe, points[arrival]);
	free(points);
	return 0;
}

/* ---- from all events to the probes ---- */

static __u64 probe_key(const struct probe_event *event)
{
	return (__u64)event->family << 32 | (__u64)event->id << 16 | event->sequence;
}

/* By probe, then by time; the rest only makes the order of ties the same everywhere. */
static int compare_events(const void *a, const void *b)
{
	const struct probe_event *left = a, *right = b;
	__u64 left_key = probe_key(left), right_key = probe_key(right);

	if (left_key != right_key)
		return left_key < right_key ? -1 : 1;
	if (left->header.time_ns != right->header.time_ns)
		return left->header.time_ns < right->header.time_ns ? -1 : 1;
	if (left->reply != right->reply)
		return left->reply < right->reply ? -1 : 1;
	return (left->point > right->point) - (left->point < right->point);
}

/*
 * How many of the events, all of one key and the first an offer in the client's
 * namespace, belong to the same probe: up to the next such offer that comes
 * after the answer or after too long a time.
 */
static size_t probe_extent(const struct probe_event *events, size_t count, __u32 client_netns)
{
	bool answered = false;
	size_t i;

	for (i = 1; i < count; i++) {
		if (starts(&events[i], client_netns) &&
		    (answered || events[i].header.time_ns - events[0].header.time_ns >
				 PROBE_PATIENCE_NS))
			break;
		if (arrives(&events[i], client_netns))
			answered = true;
	}
	return i;
}

static int make_probe(const struct result *result, struct probe *probe,
		      const struct probe_event *events, size_t count, __u32 client_netns)
{
	memset(probe, 0, sizeof(*probe));
	probe->sequence = events->sequence;
	probe->id = events->id;
	probe->ipv6 = events->family == AF_INET6;
	probe->sent = true;
	probe->sent_ns = events->header.time_ns;
	probe->phase = -1;
	probe->events = malloc(count * sizeof(*events));
	if (!probe->events)
		return -1;
	memcpy(probe->events, events, count * sizeof(*events));
	probe->event_count = (unsigned int)count;
	return probe_cut_legs(result, probe, client_netns);
}

static unsigned int hops(const struct probe *probe)
{
	unsigned int i, count = 0;

	for (i = 0; i < probe->event_count; i++)
		count += probe->events[i].point == PROBE_OFFERED ||
			 probe->events[i].point == PROBE_RECEIVED;
	return count < HOPS_MAX ? count : HOPS_MAX - 1;
}

/*
 * A chain that lacks every event of one host looks gapless. All probes of one
 * ping go to one place, so one with fewer hops than most of them misses some.
 */
static void doubt_short_ways(struct probe *probes, size_t count)
{
	unsigned int seen[HOPS_MAX] = { 0 }, usual = 0, i;
	size_t probe;

	for (probe = 0; probe < count; probe++)
		if (probes[probe].complete)
			seen[hops(&probes[probe])]++;
	for (i = 0; i < HOPS_MAX; i++)
		if (seen[i] >= seen[usual])
			usual = i;
	for (probe = 0; probe < count; probe++)
		if (hops(&probes[probe]) < usual)
			probes[probe].complete = false;
}

/* The probes come sorted by family and id. */
static void doubt_short_ways_of_each_ping(struct probe *probes, size_t count)
{
	size_t begin, end;

	for (begin = 0; begin < count; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (probes[end].id != probes[begin].id ||
			    probes[end].ipv6 != probes[begin].ipv6)
				break;
		doubt_short_ways(&probes[begin], end - begin);
	}
}

static int compare_sent(const void *a, const void *b)
{
	const struct probe *left = a, *right = b;

	return (left->sent_ns > right->sent_ns) - (left->sent_ns < right->sent_ns);
}

/* Events before the first offer in the sender's namespace are of others' echoes. */
static int group_events(const struct probe_event *events, size_t count,
			const struct probe_sender *sender, const struct result *result,
			struct side_probe_result *out)
{
	struct probe *probes;
	size_t capacity = 0, i, end, extent;

	for (i = 0; i < count; i += extent) {
		extent = 1;
		if (!starts(&events[i], sender->netns) ||
		    (sender->id && events[i].id != sender->id))
			continue;
		for (end = i + 1; end < count; end++)
			if (probe_key(&events[end]) != probe_key(&events[i]))
				break;
		extent = probe_extent(&events[i], end - i, sender->netns);
		probes = array_grow(out->probes, out->probe_count, &capacity, sizeof(*probes));
		if (!probes)
			return -1;
		out->probes = probes;
		if (make_probe(result, &probes[out->probe_count++], &events[i], extent,
			       sender->netns))
			return -1;
	}
	doubt_short_ways_of_each_ping(out->probes, out->probe_count);
	if (out->probe_count)
		qsort(out->probes, out->probe_count, sizeof(*out->probes), compare_sent);
	return 0;
}

/* What was made is in result also where memory runs out: it is freed with it. */
static int group_by_sender(const struct timeline *timeline, const struct probe_sender *senders,
			   size_t sender_count, struct result *result)
{
	struct side_probe_result probes = { 0 };
	int failed;
	size_t i;

	failed = group_events(timeline->probe_events, timeline->probe_event_count, &senders[0],
			      result, &probes);
	result->probes = probes.probes;
	result->probe_count = probes.probe_count;
	for (i = 1; i < sender_count && !failed; i++)
		failed = group_events(timeline->probe_events, timeline->probe_event_count,
				      &senders[i], result, &result->side_probes[i - 1]);
	return failed;
}

static int compare_tcp(const void *a, const void *b)
{
	const struct tcp_event *left = a, *right = b;

	return (left->header.time_ns > right->header.time_ns) -
	       (left->header.time_ns < right->header.time_ns);
}

static int compare_retransmits(const void *a, const void *b)
{
	const struct retransmit_event *left = a, *right = b;

	return (left->header.time_ns > right->header.time_ns) -
	       (left->header.time_ns < right->header.time_ns);
}

/* Index into result.qdiscs by tracer record; *size entries. NULL: out of memory. */
static __u32 *map_records(const struct result *result, __u32 *size)
{
	__u32 *map, i;
	size_t qdisc;

	*size = 0;
	for (qdisc = 0; qdisc < result->qdisc_count; qdisc++)
		if (result->qdiscs[qdisc].traced && result->qdiscs[qdisc].record >= *size)
			*size = result->qdiscs[qdisc].record + 1;
	map = malloc((*size + 1) * sizeof(*map));
	if (!map)
		return NULL;
	for (i = 0; i <= *size; i++)
		map[i] = RESULT_NO_QDISC;
	for (qdisc = 0; qdisc < result->qdisc_count; qdisc++)
		if (result->qdiscs[qdisc].traced)
			map[result->qdiscs[qdisc].record] = (__u32)qdisc;
	return map;
}

static int translate_records(struct timeline *timeline, const struct result *result)
{
	struct probe_event *event;
	struct qdisc_sample *sample;
	__u32 *map, size;
	size_t i;

	map = map_records(result, &size);
	if (!map)
		return -1;
	for (i = 0; i < timeline->probe_event_count; i++) {
		event = &timeline->probe_events[i];
		event->qdisc = event->qdisc < size ? map[event->qdisc] : RESULT_NO_QDISC;
	}
	for (i = 0; i < timeline->sample_count; i++) {
		sample = &timeline->samples[i];
		sample->qdisc = sample->qdisc < size ? map[sample->qdisc] : RESULT_NO_QDISC;
	}
	free(map);
	return 0;
}

static void hand_over(struct timeline *timeline, struct result *result)
{
	result->samples = timeline->samples;
	result->sample_count = timeline->sample_count;
	timeline->samples = NULL;
	timeline->sample_count = timeline->sample_capacity = 0;

	result->tcp = timeline->tcp;
	result->tcp_count = timeline->tcp_count;
	timeline->tcp = NULL;
	timeline->tcp_count = timeline->tcp_capacity = 0;
	if (result->tcp_count)
		qsort(result->tcp, result->tcp_count, sizeof(*result->tcp), compare_tcp);

	result->retransmits = timeline->retransmits;
	result->retransmit_count = timeline->retransmit_count;
	timeline->retransmits = NULL;
	timeline->retransmit_count = timeline->retransmit_capacity = 0;
	if (result->retransmit_count)
		qsort(result->retransmits, result->retransmit_count,
		      sizeof(*result->retransmits), compare_retransmits);
}

int timeline_finish(struct timeline *timeline, const struct probe_sender *senders,
		    size_t sender_count, struct result *result, struct error *error)
{
	int failed;

	if (timeline->out_of_memory || translate_records(timeline, result))
		return error_set(error, EXIT_CANNOT,
				 "out of memory for the run's events; trace fewer namespaces or a shorter run");
	hand_over(timeline, result);
	if (timeline->probe_event_count)
		qsort(timeline->probe_events, timeline->probe_event_count,
		      sizeof(*timeline->probe_events), compare_events);
	failed = group_by_sender(timeline, senders, sender_count, result);
	free(timeline->probe_events);
	timeline->probe_events = NULL;
	timeline->probe_event_count = timeline->probe_event_capacity = 0;
	if (failed)
		return error_set(error, EXIT_CANNOT,
				 "out of memory for the run's probes; use fewer of them (probe.count)");
	return 0;
}

/* The legs up to the first one that ends elsewhere become one of its kind: a link. */
static void hide_first_legs(struct probe *probe, __u32 client_netns)
{
	unsigned int hidden = 0;
	__u64 ns = 0;

	while (hidden + 1 < probe->leg_count && probe->legs[hidden].netns == client_netns &&
	       probe->legs[hidden].kind != LEG_LINK)
		ns += probe->legs[hidden++].ns;
	if (probe->legs[hidden].kind != LEG_LINK)
		return;
	probe->legs[hidden].ns += ns;
	probe->leg_count -= hidden;
	memmove(probe->legs, probe->legs + hidden, probe->leg_count * sizeof(*probe->legs));
}

void timeline_hide_client(struct probe *probes, size_t count, __u32 client_netns)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (probes[i].leg_count)
			hide_first_legs(&probes[i], client_netns);
}

/* ---- what ping printed ---- */

struct ping_match {
	size_t begin, end;		/* probes sent in the window */
	__u32 who;			/* family and id of the ping meant */
	__u32 first[PROBE_SEQUENCES];	/* probe of that sequence not yet matched, + 1; 0: none */
	__u32 *next;			/* the next one of the same sequence, + 1 */
};

static __u32 probe_who(const struct probe *probe)
{
	return (__u32)probe->ipv6 << 16 | probe->id;
}

/* Of several pings in the window ours is the one with the most probes. */
static int choose_ping(const struct probe *probes, struct ping_match *match)
{
	__u32 *counts = calloc(2 * 65536, sizeof(*counts)), best = 0;
	size_t i;

	if (!counts)
		return -1;
	for (i = match->begin; i < match->end; i++) {
		__u32 who = probe_who(&probes[i]);

		if (++counts[who] > best) {
			best = counts[who];
			match->who = who;
		}
	}
	free(counts);
	return 0;
}

/* Lists by sequence, earliest first, of the answered probes of that ping. Returns their number. */
static unsigned int list_answered(const struct probe *probes, struct ping_match *match)
{
	unsigned int answered = 0;
	size_t i;

	for (i = match->end; i > match->begin; i--) {
		const struct probe *probe = &probes[i - 1];

		if (probe->lost || probe_who(probe) != match->who)
			continue;
		match->next[i - 1 - match->begin] = match->first[probe->sequence];
		match->first[probe->sequence] = (__u32)(i - match->begin);
		answered++;
	}
	return answered;
}

/* Returns how many replies found their probe; *strangers counts those that did not. */
static unsigned int take_replies(struct probe *probes, const struct ping_result *ping,
				 struct ping_match *match, unsigned int *strangers)
{
	unsigned int matched = 0;
	__u32 *first, found;
	size_t i;

	for (i = 0; i < ping->count; i++) {
		if (ping->replies[i].duplicate)
			continue;
		first = &match->first[ping->replies[i].sequence % PROBE_SEQUENCES];
		found = *first;
		if (!found) {
			(*strangers)++;
			continue;
		}
		probes[match->begin + found - 1].ping_rtt_ns = ping->replies[i].rtt_ns;
		*first = match->next[found - 1];
		matched++;
	}
	return matched;
}

unsigned int timeline_match_ping(struct probe *probes, size_t probe_count,
				 const struct ping_result *ping, __u64 begin_ns, __u64 end_ns)
{
	struct ping_match *match = calloc(1, sizeof(*match));
	unsigned int answered = 0, matched = 0, strangers = 0;

	if (!match)
		return (unsigned int)ping->count;
	while (match->begin < probe_count && probes[match->begin].sent_ns < begin_ns)
		match->begin++;
	match->end = match->begin;
	while (match->end < probe_count && probes[match->end].sent_ns <= end_ns)
		match->end++;
	match->next = calloc(match->end - match->begin + 1, sizeof(*match->next));
	if (!match->next || choose_ping(probes, match)) {
		strangers = (unsigned int)ping->count;
		goto out;
	}
	answered = list_answered(probes, match);
	matched = take_replies(probes, ping, match, &strangers);
out:
	free(match->next);
	free(match);
	return strangers + answered - matched;
}
