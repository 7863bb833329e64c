/* SPDX-License-Identifier: GPL-2.0 */
/* Adding to a bank of a histogram. */
#ifndef SOJOURN_HISTOGRAM_BPF_H
#define SOJOURN_HISTOGRAM_BPF_H

#include "sojourn/histogram.h"

/*
 * Add weight packets that took value ns. Plain stores: only one CPU at a time runs a
 * qdisc, hands out its packets and passes others to the driver (qdisc_run_begin(),
 * include/net/sch_generic.h; the root lock alone is given back for the driver).
 */
static __always_inline void histogram_add(struct histogram_bank *bank, __u64 value,
					  __u64 weight)
{
	__u32 bucket = histogram_bucket(value);

	bank->count += weight;
	bank->sum += value * weight;
	if (value < bank->min)
		bank->min = value;
	if (value > bank->max)
		bank->max = value;
	if (bucket < HISTOGRAM_BUCKETS)
		bank->counts[bucket] += weight;
}

/* Replace a sample of before ns by one of after ns. */
static __always_inline void histogram_move(struct histogram_bank *bank, __u64 before,
					   __u64 after, __u64 weight)
{
	__u32 from = histogram_bucket(before), to = histogram_bucket(after);

	bank->sum += (after - before) * weight;
	if (after > bank->max)
		bank->max = after;
	if (from < HISTOGRAM_BUCKETS)
		bank->counts[from] -= weight;
	if (to < HISTOGRAM_BUCKETS)
		bank->counts[to] += weight;
}

/* As histogram_add, where nothing serializes the callers (packets are freed without a lock). */
static __always_inline void histogram_add_unlocked(struct histogram_bank *bank, __u64 value,
						   __u64 weight)
{
	__u32 bucket = histogram_bucket(value);

	__sync_fetch_and_add(&bank->count, weight);
	__sync_fetch_and_add(&bank->sum, value * weight);
	if (value < bank->min)
		bank->min = value;
	if (value > bank->max)
		bank->max = value;
	if (bucket < HISTOGRAM_BUCKETS)
		__sync_fetch_and_add(&bank->counts[bucket], (__s32)weight);
}

#endif
