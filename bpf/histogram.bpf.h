/* SPDX-License-Identifier: GPL-2.0 */
/* Adding to the histograms of a qdisc. */
#ifndef SOJOURN_HISTOGRAM_BPF_H
#define SOJOURN_HISTOGRAM_BPF_H

#include "kernel.bpf.h"
#include "sojourn/histogram.h"
#include "sojourn/qdisc_record.h"

/* Size is set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram_counts);
} histograms SEC(".maps");

/* Places in the table that no qdisc has. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_histograms SEC(".maps");

/* NULL: the qdisc has none of that kind. */
static __always_inline struct histogram_counts *histogram_of(const struct qdisc_record *record,
							      enum qdisc_histogram which)
{
	__u32 at = record->histograms[which] - 1;

	return bpf_map_lookup_elem(&histograms, &at);
}

/* Give the qdisc a histogram of that kind where it has none. The table may be full. */
static __always_inline void histogram_want(struct qdisc_record *record,
					   enum qdisc_histogram which)
{
	__u32 at;

	if (record->histograms[which] || bpf_map_pop_elem(&free_histograms, &at))
		return;
	if (!compare_and_swap(&record->histograms[which], 0, at + 1))
		bpf_map_push_elem(&free_histograms, &at, BPF_ANY);
}

/* Take back what a record was given that no qdisc will have. */
static __always_inline void histograms_return(struct qdisc_record *record)
{
	__u32 i, at;

	for (i = 0; i < QDISC_HISTOGRAMS; i++) {
		at = record->histograms[i] - 1;
		record->histograms[i] = 0;
		if (at + 1)
			bpf_map_push_elem(&free_histograms, &at, BPF_ANY);
	}
}

static __always_inline void extremes_add(struct extremes *extremes, __u64 value)
{
	if (value < extremes->min)
		extremes->min = value;
	if (value > extremes->max)
		extremes->max = value;
}

/* barrier_var(): what is checked is what is used, for older verifiers. */
static __always_inline void histogram_count(struct histogram_counts *histogram, __u64 value,
					    __s32 weight)
{
	__u64 bucket = histogram_bucket(value);

	barrier_var(bucket);
	if (bucket < HISTOGRAM_BUCKETS)
		histogram->counts[bucket] += weight;
}

/*
 * Add weight packets that took value ns; bank is of the present slice. Plain stores: only
 * one CPU at a time runs a qdisc, hands out its packets and passes others to the driver
 * (qdisc_run_begin(), include/net/sch_generic.h; the root lock alone is given back for the
 * driver). Where there is no histogram the user side finds samples missing.
 */
static __always_inline void histogram_add(struct qdisc_record *record, struct qdisc_bank *bank,
					  enum qdisc_histogram which, __u64 value, __u64 weight)
{
	struct histogram_counts *histogram = histogram_of(record, which);

	extremes_add(&bank->extremes[which], value);
	if (!histogram)
		return;
	histogram->sum += value * weight;
	histogram_count(histogram, value, weight);
}

/* Replace a sample of before ns by one of after ns. */
static __always_inline void histogram_move(struct qdisc_record *record, struct qdisc_bank *bank,
					   enum qdisc_histogram which, __u64 before,
					   __u64 after, __u64 weight)
{
	struct histogram_counts *histogram = histogram_of(record, which);

	if (after > bank->extremes[which].max)
		bank->extremes[which].max = after;
	if (!histogram)
		return;
	histogram->sum += (after - before) * weight;
	histogram_count(histogram, before, -(__s32)weight);
	histogram_count(histogram, after, weight);
}

/*
 * As histogram_add, where nothing serializes the callers (packets are freed without a
 * lock); few qdiscs need it, so it is given when first asked for.
 */
static __always_inline void histogram_add_unlocked(struct qdisc_record *record,
						   struct qdisc_bank *bank,
						   enum qdisc_histogram which, __u64 value,
						   __u64 weight)
{
	__u64 bucket = histogram_bucket(value);
	struct histogram_counts *histogram;

	histogram_want(record, which);
	histogram = histogram_of(record, which);
	extremes_add(&bank->extremes[which], value);
	barrier_var(bucket);
	if (!histogram || bucket >= HISTOGRAM_BUCKETS)
		return;
	__sync_fetch_and_add(&histogram->sum, value * weight);
	__sync_fetch_and_add(&histogram->counts[bucket], (__s32)weight);
}

#endif
