// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "live.h"
#include "live_names.h"
#include "live_order.h"
#include "netns.h"

#define SECOND_NS		1000000000ULL
#define DEFAULT_QDISCS		4096
#define DEFAULT_KEEP_NS		(60 * SECOND_NS)

struct live {
	struct live_options options;
	struct tracer *tracer;
	struct live_names *names;
	struct live_qdisc **rows;
	size_t count, room;
	struct live_qdisc **row_of;	/* by record; several may share one */
	unsigned int max_qdiscs;
	__u64 begin_ns, end_ns;		/* of the last whole interval */
	__u64 opened_ns;		/* begin of the one that runs */
	__u64 rows_missing;
	__u64 unmatched_before, flow_misses_before;	/* of the first interval */
	bool changed;			/* rows came or went: their order is to be made */
};

/* ---- sums ---- */

static void free_histograms(struct live_sums *sums)
{
	free(sums->sojourn);
	free(sums->part);
	free(sums->wait_before_drop);
}

static void add_counters(struct qdisc_counters *into, const struct qdisc_counters *from)
{
	__u64 *to = (__u64 *)into;
	const __u64 *by = (const __u64 *)from;

	for (size_t i = 0; i < sizeof(*into) / sizeof(*to); i++)
		to[i] += by[i];
}

static void raise(__u64 *most, __u64 value)
{
	if (value > *most)
		*most = value;
}

/* The interval that runs has ended: it becomes the last one, and part of all. */
static bool close_row(struct live_qdisc *row)
{
	bool whole;

	add_counters(&row->all.counters, &row->next.counters);
	whole = histogram_gather(&row->all.sojourn, row->next.sojourn) &&
		histogram_gather(&row->all.part, row->next.part) &&
		histogram_gather(&row->all.wait_before_drop, row->next.wait_before_drop);
	raise(&row->all.backlog_bytes_max, row->next.backlog_bytes_max);
	raise(&row->all.backlog_packets_max, row->next.backlog_packets_max);
	free_histograms(&row->last);
	row->last = row->next;
	memmove(row->trend, row->trend + 1, sizeof(row->trend) - sizeof(row->trend[0]));
	row->trend[LIVE_TREND - 1] = row->last.sojourn ?
				     histogram_percentile(row->last.sojourn, 99) : 0;
	memset(&row->next, 0, sizeof(row->next));
	return whole;
}

/* ---- rows ---- */

/* A root that serves all queues is no one queue's. */
static __u32 queue_of(const struct qdisc_record *record)
{
	return record->parent == TC_H_ROOT ? 0 : record->queue;
}

static bool is_same_place(const struct live_qdisc *row, const struct qdisc_record *record)
{
	return row->netns == record->netns && row->queue == queue_of(record) &&
	       row->handle == record->handle && row->parent == record->parent &&
	       !strncmp(row->device, record->device, sizeof(row->device)) &&
	       !strncmp(row->kind, record->kind, sizeof(row->kind));
}

/* One that is gone, or was replaced in this interval. */
static struct live_qdisc *find_gone(const struct live *live, const struct qdisc_record *record)
{
	for (size_t i = 0; i < live->count; i++) {
		struct live_qdisc *row = live->rows[i];

		if ((row->gone_ns || tracer_qdisc(live->tracer, row->record)->destroyed_ns) &&
		    is_same_place(row, record))
			return row;
	}
	return NULL;
}

static struct live_qdisc *add_row(struct live *live)
{
	struct live_qdisc **rows = array_grow(live->rows, live->count, &live->room, sizeof(*rows));
	struct live_qdisc *row = calloc(1, sizeof(*row));

	if (rows)
		live->rows = rows;
	if (!rows || !row) {
		free(row);
		live->rows_missing++;
		return NULL;
	}
	rows[live->count++] = row;
	return row;
}

/* What its record says of it; the names come later (live_names.h). */
static void describe(struct live_qdisc *row, const struct qdisc_record *record, unsigned int index)
{
	row->netns = record->netns;
	row->ifindex = record->ifindex;
	row->queue = queue_of(record);
	row->handle = record->handle;
	row->parent = record->parent;
	row->depth = record->depth;
	row->traits = record->traits;
	snprintf(row->device, sizeof(row->device), "%.*s", QDISC_DEVICE_LEN - 1, record->device);
	snprintf(row->kind, sizeof(row->kind), "%.*s", QDISC_KIND_LEN - 1, record->kind);
	row->record = index;
	row->gone_ns = 0;
	row->renewed = true;
	if (!row->path[0])
		snprintf(row->path, sizeof(row->path), "?");
}

static struct live_qdisc *row_of(struct live *live, unsigned int index)
{
	const struct qdisc_record *record = tracer_qdisc(live->tracer, index);
	struct live_qdisc *row = live->row_of[index];

	if (row)
		return row;
	row = find_gone(live, record);
	if (!row)
		row = add_row(live);
	if (!row)
		return NULL;
	live->row_of[index] = row;
	describe(row, record, index);
	live->changed = true;
	return row;
}

static bool is_empty(const struct tracer_slice *slice)
{
	static const struct qdisc_counters nothing;

	return !memcmp(&slice->delta, &nothing, sizeof(nothing));
}

static void take_slice(void *context, const struct tracer_slice *slice)
{
	struct live *live = context;
	struct live_sums *next;
	struct live_qdisc *row;

	/* the tracer tells of one that is gone for ever, its row does not last so long */
	if (!live->row_of[slice->qdisc] && is_empty(slice) &&
	    tracer_qdisc(live->tracer, slice->qdisc)->destroyed_ns)
		return;
	row = row_of(live, slice->qdisc);
	if (!row)
		return;
	next = &row->next;
	add_counters(&next->counters, &slice->delta);
	if (!histogram_gather_slice(&next->sojourn, slice->sojourn) || !histogram_gather_slice(&next->part, slice->part) ||
	    !histogram_gather_slice(&next->wait_before_drop, slice->wait_before_drop))
		live->rows_missing++;
	raise(&next->backlog_bytes_max, slice->backlog_bytes_max);
	raise(&next->backlog_packets_max, slice->backlog_packets_max);
	/* an interval is one slice; two where a qdisc took another one's place in it */
	next->backlog_bytes_mean += slice->backlog_bytes_mean;
	next->backlog_packets_mean += slice->backlog_packets_mean;
	if (row->record != slice->qdisc)
		return;
	row->backlog_bytes = slice->backlog_bytes;
	row->backlog_packets = slice->backlog_packets;
}

static void forget_row(struct live *live, size_t index)
{
	struct live_qdisc *row = live->rows[index];

	for (unsigned int i = 0; i < live->max_qdiscs; i++)
		if (live->row_of[i] == row)
			live->row_of[i] = NULL;
	free_histograms(&row->last);
	free_histograms(&row->all);
	free_histograms(&row->next);
	free(row);
	live->rows[index] = live->rows[--live->count];
	live->changed = true;
}

static void mark_gone(struct live *live)
{
	for (size_t i = 0; i < live->count; i++) {
		struct live_qdisc *row = live->rows[i];

		/* of one that is gone already the record may be another's */
		if (!row->gone_ns)
			row->gone_ns = tracer_qdisc(live->tracer, row->record)->destroyed_ns;
		if (!row->gone_ns)
			continue;
		row->backlog_bytes = row->backlog_packets = 0;
	}
}

/* The one that is gone longest, its last slice in; live->count: none. */
static size_t longest_gone(const struct live *live)
{
	size_t longest = live->count;

	for (size_t i = 0; i < live->count; i++) {
		__u64 gone_ns = live->rows[i]->gone_ns;

		if (gone_ns && gone_ns < live->begin_ns &&
		    (longest == live->count || gone_ns < live->rows[longest]->gone_ns))
			longest = i;
	}
	return longest;
}

/* Where qdiscs come and go by the hundred, those that are gone would fill the memory. */
static void forget_surplus(struct live *live)
{
	while (live->count > live->max_qdiscs) {
		size_t longest = longest_gone(live);

		if (longest == live->count)
			return;
		forget_row(live, longest);
	}
}

static void forget_old(struct live *live, __u64 now)
{
	for (size_t i = live->count; i > 0; i--) {
		const struct live_qdisc *row = live->rows[i - 1];

		/* its last slice is in */
		if (row->gone_ns && row->gone_ns < live->begin_ns &&
		    now - row->gone_ns > live->options.keep_ns)
			forget_row(live, i - 1);
	}
	forget_surplus(live);
}

static void take_forget(void *context, unsigned int index)
{
	((struct live *)context)->row_of[index] = NULL;
}

/* ---- intervals ---- */

/* What waited when tracing began is handed out without a known arrival. */
static void note_queued_before(struct live *live)
{
	struct tracer_losses losses;

	tracer_losses(live->tracer, &losses);
	live->unmatched_before = losses.unmatched;
	live->flow_misses_before = losses.flow_misses;
}

static void close_interval(struct live *live)
{
	__u64 now = tracer_cut(live->tracer);

	if (!live->end_ns)
		note_queued_before(live);
	live->begin_ns = live->opened_ns;
	live->end_ns = live->opened_ns = now;
	for (size_t i = 0; i < live->count; i++)
		if (!close_row(live->rows[i]))
			live->rows_missing++;
	mark_gone(live);
	forget_old(live, now);
	if (live_names_renew(live->names, live->rows, live->count))
		live->changed = true;
	if (!live->changed)
		return;
	live_order(live->rows, live->count);
	live->changed = false;
}

int live_poll(struct live *live, struct error *error)
{
	if (tracer_poll(live->tracer, error))
		return -1;
	if (clock_ns(CLOCK_MONOTONIC) - live->opened_ns < live->options.interval_ns)
		return 0;
	close_interval(live);
	return 1;
}

void live_interval(const struct live *live, __u64 *begin_ns, __u64 *end_ns)
{
	*begin_ns = live->begin_ns;
	*end_ns = live->end_ns;
}

struct live_qdisc *const *live_qdiscs(const struct live *live, size_t *count)
{
	*count = live->count;
	return live->rows;
}

const struct live_qdisc *live_qdisc_of(const struct live *live, unsigned int record)
{
	return record < live->max_qdiscs ? live->row_of[record] : NULL;
}

const char *live_netns_name(struct live *live, __u32 inode)
{
	return live_names_netns(live->names, inode);
}

void live_losses(const struct live *live, struct live_losses *losses)
{
	tracer_losses(live->tracer, &losses->tracer);
	losses->tracer.unmatched -= live->unmatched_before;
	losses->tracer.flow_misses -= live->flow_misses_before;
	losses->queued_before = live->unmatched_before + live->flow_misses_before;
	losses->rows_missing = live->rows_missing;
}

const struct tracer *live_tracer(const struct live *live)
{
	return live->tracer;
}

/* ---- events, handed on ---- */

static void take_tcp(void *context, const struct tcp_event *event)
{
	const struct tracer_sink *sink = &((struct live *)context)->options.sink;

	sink->tcp(sink->context, event);
}

static void take_retransmit(void *context, const struct retransmit_event *event)
{
	const struct tracer_sink *sink = &((struct live *)context)->options.sink;

	sink->retransmit(sink->context, event);
}

static void take_packets(void *context, const struct packet_event *packets, unsigned int count)
{
	const struct tracer_sink *sink = &((struct live *)context)->options.sink;

	sink->packets(sink->context, packets, count);
}

static void take_slow(void *context, const struct slow_event *event)
{
	const struct tracer_sink *sink = &((struct live *)context)->options.sink;

	sink->slow(sink->context, event);
}

int live_follow_flows(struct live *live, const struct live_qdisc *row, struct error *error)
{
	return tracer_follow_flows(live->tracer, row ? row->record : TRACER_NO_QDISC, error);
}

size_t live_take_flows(struct live *live, struct tracer_flow *flows, size_t most)
{
	return tracer_take_flows(live->tracer, flows, most);
}

/* ---- open and close ---- */

static int open_tracer(struct live *live, const __u32 *inodes, struct error *error)
{
	const struct live_options *wanted = &live->options;
	struct tracer_options options = {
		.tier = wanted->tier,
		.netns = wanted->netns_count ? inodes : NULL,
		.netns_count = wanted->netns_count,
		.devices = wanted->device_count ? wanted->devices : NULL,
		.device_count = wanted->device_count,
		.max_qdiscs = live->max_qdiscs,
		/* cut by us alone */
		.slice_ns = ~0ULL,
		.packets = wanted->packets,
		.tcp = wanted->tcp,
		.slow_ns = wanted->slow_ns,
		.forget = true,
		.sink = {
			.context = live,
			.slice = take_slice,
			.forget = take_forget,
			.tcp = wanted->sink.tcp ? take_tcp : NULL,
			.retransmit = wanted->sink.retransmit ? take_retransmit : NULL,
			.packets = wanted->sink.packets ? take_packets : NULL,
			.slow = wanted->sink.slow ? take_slow : NULL,
		},
	};

	live->tracer = tracer_open(&options, error);
	return live->tracer ? 0 : -1;
}

static int find_inodes(const struct live_options *options, __u32 *inodes, struct error *error)
{
	for (size_t i = 0; i < options->netns_count; i++) {
		int fd = netns_open(options->netns[i], error);

		if (fd < 0)
			return -1;
		inodes[i] = netns_inode(fd);
		close(fd);
	}
	return 0;
}

struct live *live_open(const struct live_options *options, struct error *error)
{
	__u32 *inodes = calloc(options->netns_count + 1, sizeof(*inodes));
	struct live *live = calloc(1, sizeof(*live));

	if (!live || !inodes) {
		error_set(error, EXIT_CANNOT, "out of memory");
		goto fail;
	}
	live->options = *options;
	if (!live->options.keep_ns)
		live->options.keep_ns = DEFAULT_KEEP_NS;
	live->max_qdiscs = options->max_qdiscs ? options->max_qdiscs : DEFAULT_QDISCS;
	live->row_of = calloc(live->max_qdiscs, sizeof(*live->row_of));
	if (!live->row_of) {
		error_set(error, EXIT_CANNOT, "out of memory");
		goto fail;
	}
	live->names = live_names_create(error);
	if (!live->names || find_inodes(options, inodes, error) ||
	    open_tracer(live, inodes, error))
		goto fail;
	free(inodes);
	return live;
fail:
	free(inodes);
	live_close(live);
	return NULL;
}

int live_attach(struct live *live, struct error *error)
{
	if (tracer_attach(live->tracer, error))
		return -1;
	live->opened_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	tracer_close(live->tracer);
	while (live->count)
		forget_row(live, live->count - 1);
	live_names_free(live->names);
	free(live->rows);
	free(live->row_of);
	free(live);
}
