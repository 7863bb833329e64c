// SPDX-License-Identifier: GPL-2.0
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "histogram_snapshot.h"
#include "tier.h"
#include "tracer.h"

#define DEFAULT_QDISCS		256
#define MOST_QDISCS		16384	/* 16 bits of a slot, and memory */
#define DEFAULT_SLICE_NS	100000000ULL
#define DEFAULT_TCP_INTERVAL_NS	10000000ULL
#define FORGET_AFTER_NS		5000000000ULL

struct record_moment {
	struct qdisc_counters counters;
	__u64 backlog_byte_ns, backlog_packet_ns;	/* integrals up to the moment */
	__s64 backlog_bytes;
	__s64 backlog_packets;
};

struct slice_moment {
	__u64 time_ns;
	struct record_moment *records;
};

struct tracer {
	struct tier *tier;
	struct tier_view view;
	struct tracer_options options;
	struct ring_buffer *ring;
	__u32 slice;			/* the open one */
	struct slice_moment ends[2];	/* of slice n: ends[n % 2] */
	struct histogram_snapshot *snapshots;	/* of each histogram when it was read last */
	struct qdisc_bank *banks_read;	/* by record: the bank of the last slice, when it was read */
	struct histogram_slice *out;	/* of the slice that is given out: QDISC_HISTOGRAMS */
	__u64 *sampled;			/* packets in slices given out, by record */
	bool *needed;			/* by record: another one refers to it */
	struct tracer_losses forgotten;	/* of records that are forgotten */
	bool attached;
};

static void give_packets(const struct tracer_sink *sink, const struct packets_event *event,
			 size_t size)
{
	if (!sink->packets || size < offsetof(struct packets_event, packets) ||
	    event->count > PACKETS_OF_EVENT ||
	    size < offsetof(struct packets_event, packets[event->count]))
		return;
	sink->packets(sink->context, event->packets, event->count);
}

static int on_event(void *context, void *data, size_t size)
{
	struct tracer *tracer = context;
	const struct tracer_sink *sink = &tracer->options.sink;
	const struct event_header *header = data;

	if (size < sizeof(*header))
		return 0;
	switch (header->type) {
	case EVENT_PROBE:
		if (sink->probe && size >= sizeof(struct probe_event))
			sink->probe(sink->context, data);
		break;
	case EVENT_TCP:
		if (sink->tcp && size >= sizeof(struct tcp_event))
			sink->tcp(sink->context, data);
		break;
	case EVENT_PACKETS:
		give_packets(sink, data, size);
		break;
	case EVENT_SLOW:
		if (sink->slow && size >= sizeof(struct slow_event))
			sink->slow(sink->context, data);
		break;
	case EVENT_RETRANSMIT:
		if (sink->retransmit && size >= sizeof(struct retransmit_event))
			sink->retransmit(sink->context, data);
		break;
	}
	return 0;
}

static struct qdisc_bank *bank_of(struct tracer *tracer, unsigned int record, __u32 slice)
{
	return &tracer->view.banks[record * QDISC_BANKS + slice % QDISC_BANKS];
}

static void bank_clear(struct qdisc_bank *bank)
{
	unsigned int i;

	memset(bank, 0, sizeof(*bank));
	for (i = 0; i < QDISC_HISTOGRAMS; i++)
		bank->extremes[i].min = ~0ULL;
}

static int allocate(struct tracer *tracer)
{
	size_t count = tracer->view.max_qdiscs;
	unsigned int i;

	tracer->sampled = calloc(count, sizeof(*tracer->sampled));
	tracer->needed = calloc(count, sizeof(*tracer->needed));
	tracer->banks_read = calloc(count, sizeof(*tracer->banks_read));
	tracer->snapshots = calloc(tracer->view.max_histograms, sizeof(*tracer->snapshots));
	tracer->out = calloc(QDISC_HISTOGRAMS, sizeof(*tracer->out));
	if (!tracer->sampled || !tracer->needed || !tracer->banks_read || !tracer->snapshots || !tracer->out)
		return -1;
	for (i = 0; i < 2; i++) {
		tracer->ends[i].records = calloc(count, sizeof(struct record_moment));
		if (!tracer->ends[i].records)
			return -1;
	}
	for (i = 0; i < count * QDISC_BANKS; i++)
		bank_clear(&tracer->view.banks[i]);
	for (i = 0; i < count; i++)
		bank_clear(&tracer->banks_read[i]);
	return 0;
}

struct tracer *tracer_open(const struct tracer_options *options, struct error *error)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	tracer->options = *options;
	if (!tracer->options.max_qdiscs)
		tracer->options.max_qdiscs = DEFAULT_QDISCS;
	if (!tracer->options.slice_ns)
		tracer->options.slice_ns = DEFAULT_SLICE_NS;
	if (!tracer->options.tcp_interval_ns)
		tracer->options.tcp_interval_ns = DEFAULT_TCP_INTERVAL_NS;
	if (tracer->options.max_qdiscs > MOST_QDISCS) {
		error_set(error, EXIT_USAGE, "%u qdiscs are too many to trace: %u are the most",
			  tracer->options.max_qdiscs, MOST_QDISCS);
		goto fail;
	}
	tracer->tier = tier_open(&tracer->options, &tracer->view, error);
	if (!tracer->tier)
		goto fail;
	tracer->ring = ring_buffer__new(tracer->view.events_fd, on_event, tracer, NULL);
	if (!tracer->ring) {
		error_set_errno(error, EXIT_CANNOT, "cannot map the BPF ring buffer");
		goto fail;
	}
	if (allocate(tracer)) {
		error_set(error, EXIT_CANNOT, "out of memory");
		goto fail;
	}
	return tracer;
fail:
	tracer_close(tracer);
	return NULL;
}

/* Backlog and its integral at a moment, extrapolated from the last event before it. */
static void read_backlog(const struct qdisc_record *record, __u64 time_ns,
			 struct record_moment *moment)
{
	const volatile struct qdisc_record *live = record;
	unsigned int tries;
	__u32 sequence;
	__s64 elapsed;

	for (tries = 0; tries < 1000; tries++) {
		sequence = live->sequence;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		moment->backlog_bytes = live->backlog_bytes;
		moment->backlog_packets = (__s32)live->backlog_packets;
		moment->backlog_byte_ns = live->backlog_byte_ns;
		moment->backlog_packet_ns = live->backlog_packet_ns;
		elapsed = time_ns - live->backlog_at_ns;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(sequence & 1) && live->sequence == sequence)
			break;
	}
	if (moment->backlog_bytes < 0)
		moment->backlog_bytes = 0;
	if (moment->backlog_packets < 0)
		moment->backlog_packets = 0;
	if (elapsed > 0) {
		moment->backlog_byte_ns += moment->backlog_bytes * elapsed;
		moment->backlog_packet_ns += moment->backlog_packets * elapsed;
	}
}

static void read_moment(struct tracer *tracer, struct slice_moment *moment)
{
	unsigned int i;

	moment->time_ns = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < tracer->view.max_qdiscs; i++) {
		const struct qdisc_record *record = &tracer->view.records[i];

		if (!record->qdisc)
			continue;
		moment->records[i].counters = record->counters;
		read_backlog(record, moment->time_ns, &moment->records[i]);
	}
}

static void counters_subtract(struct qdisc_counters *from, const struct qdisc_counters *less)
{
	__u64 *to = (__u64 *)from;
	const __u64 *by = (const __u64 *)less;
	size_t i;

	for (i = 0; i < sizeof(*from) / sizeof(__u64); i++)
		to[i] -= by[i];
}

/*
 * The histograms of a record as of the end of the slice. Where none of its counters moved there
 * is nothing to read: what is on its way to a histogram moves them too, at last.
 */
static void take_histograms(struct tracer *tracer, unsigned int record, __u32 slice)
{
	const __u32 *places = tracer->view.records[record].histograms;
	struct qdisc_bank then = tracer->banks_read[record];
	const struct qdisc_bank *before = bank_of(tracer, record, slice - 1);
	bool moved = memcmp(&tracer->ends[slice % 2].records[record].counters,
			    &tracer->ends[(slice - 1) % 2].records[record].counters,
			    sizeof(struct qdisc_counters));
	unsigned int i;
	__u32 at;

	tracer->banks_read[record] = *bank_of(tracer, record, slice);
	for (i = 0; i < QDISC_HISTOGRAMS; i++) {
		at = *(volatile const __u32 *)&places[i];
		memset(&tracer->out[i], 0, sizeof(tracer->out[i]));
		tracer->out[i].min = ~0ULL;
		if (moved && at && at <= tracer->view.max_histograms &&
		    !histogram_snapshot_take(&tracer->snapshots[at - 1],
					     &tracer->view.histograms[at - 1], &tracer->out[i]))
			histogram_slice_bound(&tracer->out[i],
					      &tracer->banks_read[record].extremes[i],
					      &before->extremes[i], &then.extremes[i]);
	}
	/* read for the second time, and not to be used before the next slice but one */
	bank_clear(bank_of(tracer, record, slice - 1));
}

static void give_slice(struct tracer *tracer, unsigned int record, __u32 slice)
{
	const struct slice_moment *begin = &tracer->ends[(slice - 1) % 2];
	const struct slice_moment *end = &tracer->ends[slice % 2];
	const struct record_moment *from = &begin->records[record];
	const struct record_moment *to = &end->records[record];
	const struct qdisc_bank *bank = &tracer->banks_read[record];
	double length = (double)(end->time_ns - begin->time_ns);
	struct tracer_slice out = {
		.qdisc = record,
		.begin_ns = begin->time_ns,
		.end_ns = end->time_ns,
		.sojourn = &tracer->out[HISTOGRAM_SOJOURN],
		.wait_before_drop = &tracer->out[HISTOGRAM_WAIT_BEFORE_DROP],
		.part = &tracer->out[HISTOGRAM_PART],
		.backlog_bytes = to->backlog_bytes,
		.backlog_packets = to->backlog_packets,
		.backlog_bytes_max = bank->backlog_bytes_max,
		.backlog_packets_max = bank->backlog_packets_max,
		.delta = to->counters,
	};

	if ((__u64)from->backlog_bytes > out.backlog_bytes_max)
		out.backlog_bytes_max = from->backlog_bytes;
	if ((__u64)from->backlog_packets > out.backlog_packets_max)
		out.backlog_packets_max = from->backlog_packets;
	counters_subtract(&out.delta, &from->counters);
	if (length > 0) {
		out.backlog_bytes_mean = (to->backlog_byte_ns - from->backlog_byte_ns) / length;
		out.backlog_packets_mean = (to->backlog_packet_ns - from->backlog_packet_ns) / length;
	}
	tracer->sampled[record] += out.sojourn->count;
	if (tracer->options.sink.slice)
		tracer->options.sink.slice(tracer->options.sink.context, &out);
}

/* Give out one closed slice, of every record that was there. */
static void give_slices(struct tracer *tracer, __u32 slice)
{
	unsigned int i;

	for (i = 0; i < tracer->view.max_qdiscs; i++)
		if (tracer->view.records[i].qdisc) {
			take_histograms(tracer, i, slice);
			give_slice(tracer, i, slice);
		}
}

/* ---- forgetting ---- */

/* What its own counters say was lost. */
static void add_record_losses(const struct tracer *tracer, unsigned int index,
			      struct tracer_losses *losses)
{
	const struct qdisc_counters *counters = &tracer->view.records[index].counters;
	__u64 all = counters->measured_packets + counters->bypassed_packets;

	losses->flow_misses += counters->flow_misses;
	losses->unmatched += counters->unmatched_packets - counters->flow_misses;
	losses->negative += counters->negative;
	losses->exclusive_misses += counters->exclusive_misses;
	if (all > tracer->sampled[index])
		losses->samples_missing += all - tracer->sampled[index];
}

/*
 * A snapshot of a histogram stays, and is what the next qdisc that has the histogram begins
 * with: the kernel's own counts are not taken back.
 */
static void forget(struct tracer *tracer, unsigned int index)
{
	unsigned int i;

	if (tracer->options.sink.forget)
		tracer->options.sink.forget(tracer->options.sink.context, index);
	add_record_losses(tracer, index, &tracer->forgotten);
	tracer->sampled[index] = 0;
	for (i = 0; i < 2; i++)
		memset(&tracer->ends[i].records[index], 0, sizeof(struct record_moment));
	for (i = 0; i < QDISC_BANKS; i++)
		bank_clear(bank_of(tracer, index, i));
	bank_clear(&tracer->banks_read[index]);
	if (tier_forget(tracer->tier, index))
		tracer->forgotten.records_full++;
}

/* Children that outlive their root for a moment, and leaves told by stamps, are named by others. */
static void find_needed(struct tracer *tracer)
{
	const struct qdisc_record *records = tracer->view.records;
	unsigned int i;

	memset(tracer->needed, 0, tracer->view.max_qdiscs * sizeof(*tracer->needed));
	for (i = 0; i < tracer->view.max_qdiscs; i++) {
		if (!records[i].qdisc)
			continue;
		if (records[i].root != i && records[i].root < tracer->view.max_qdiscs)
			tracer->needed[records[i].root] = true;
		if (records[i].leaf_record && records[i].leaf_record <= tracer->view.max_qdiscs)
			tracer->needed[records[i].leaf_record - 1] = true;
	}
}

/* Those that were gone when the slice began that was just given out. */
static void forget_gone(struct tracer *tracer, __u64 slice_began_ns)
{
	const struct qdisc_record *records = tracer->view.records;
	unsigned int i;

	find_needed(tracer);
	for (i = 0; i < tracer->view.max_qdiscs; i++)
		if (records[i].qdisc && records[i].destroyed_ns && !tracer->needed[i] &&
		    records[i].destroyed_ns + FORGET_AFTER_NS < slice_began_ns)
			forget(tracer, i);
}

/* Slices count from 1: the moment of slice 0 is the begin. */
int tracer_attach(struct tracer *tracer, struct error *error)
{
	tracer->slice = 1;
	*tracer->view.slice = 1;
	tracer->ends[0].time_ns = clock_ns(CLOCK_MONOTONIC);
	if (tier_attach(tracer->tier, error))
		return -1;
	tracer->attached = true;
	tracer->ends[0].time_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

__u64 tracer_cut(struct tracer *tracer)
{
	struct slice_moment *end = &tracer->ends[tracer->slice % 2];

	*tracer->view.slice = tracer->slice + 1;
	read_moment(tracer, end);
	if (tracer->options.packets)
		tier_flush_packets(tracer->tier);
	give_slices(tracer, tracer->slice);
	if (tracer->options.forget)
		forget_gone(tracer, tracer->ends[(tracer->slice - 1) % 2].time_ns);
	tracer->slice++;
	return end->time_ns;
}

int tracer_poll(struct tracer *tracer, struct error *error)
{
	int taken = ring_buffer__consume(tracer->ring);

	if (taken < 0) {
		errno = -taken;
		return error_set_errno(error, EXIT_INCOMPLETE, "cannot read the BPF ring buffer");
	}
	if (tracer->attached &&
	    clock_ns(CLOCK_MONOTONIC) - tracer->ends[(tracer->slice - 1) % 2].time_ns >=
		    tracer->options.slice_ns)
		tracer_cut(tracer);
	if (tracer->attached)
		tier_follow(tracer->tier);
	return 0;
}

int tracer_detach(struct tracer *tracer, struct error *error)
{
	if (!tracer->attached)
		return 0;
	tier_detach(tracer->tier);
	tracer->attached = false;
	tracer_cut(tracer);
	return tracer_poll(tracer, error);
}

const char *tracer_tier(const struct tracer *tracer)
{
	return tier_name(tracer->tier);
}

const char *tracer_tier_why(const struct tracer *tracer)
{
	return tier_why(tracer->tier);
}

const struct tracer_hook *tracer_hooks(const struct tracer *tracer, size_t *count)
{
	return tier_hooks(tracer->tier, count);
}

/* Records are given out in order; one that lost a race for its qdisc is given out again later. */
unsigned int tracer_qdisc_count(const struct tracer *tracer)
{
	unsigned int i, count = 0;

	for (i = 0; i < tracer->view.max_qdiscs; i++)
		if (tracer->view.records[i].qdisc)
			count = i + 1;
	return count;
}

const struct qdisc_record *tracer_qdisc(const struct tracer *tracer, unsigned int index)
{
	return &tracer->view.records[index];
}

int tracer_follow_flows(struct tracer *tracer, unsigned int record, struct error *error)
{
	return tier_follow_flows(tracer->tier, record == TRACER_NO_QDISC ? 0 : record + 1, error);
}

size_t tracer_take_flows(struct tracer *tracer, struct tracer_flow *flows, size_t most)
{
	return tier_take_flows(tracer->tier, flows, most);
}

__u64 tracer_queued(const struct tracer *tracer, unsigned int index)
{
	return tier_queued(tracer->tier, index);
}

void tracer_losses(const struct tracer *tracer, struct tracer_losses *losses)
{
	unsigned int i;

	*losses = tracer->forgotten;
	tier_losses(tracer->tier, losses);
	for (i = 0; i < tracer->view.max_qdiscs; i++)
		add_record_losses(tracer, i, losses);
	/* what runs is in a slice that is still open */
	if (tracer->attached)
		losses->samples_missing = tracer->forgotten.samples_missing;
}

void tracer_close(struct tracer *tracer)
{
	unsigned int i;

	if (!tracer)
		return;
	ring_buffer__free(tracer->ring);
	tier_close(tracer->tier);
	for (i = 0; i < 2; i++)
		free(tracer->ends[i].records);
	for (i = 0; tracer->snapshots && i < tracer->view.max_histograms; i++)
		histogram_snapshot_free(&tracer->snapshots[i]);
	free(tracer->snapshots);
	free(tracer->banks_read);
	free(tracer->out);
	free(tracer->sampled);
	free(tracer->needed);
	free(tracer);
}
