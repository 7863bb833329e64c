/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram as Prometheus takes it, twice: with the bounds of a classic histogram and with
 * the buckets of a native one, in seconds. Both come from the buckets of the kernel side
 * (include/sojourn/histogram.h), which count whole ns.
 */
#ifndef SOJOURN_METRIC_HISTOGRAM_H
#define SOJOURN_METRIC_HISTOGRAM_H

#include <linux/types.h>

#include "histogram.h"

/*
 * Classic bounds: (2^k - 1) ns for k from 10 (1.023 us) to 34 (17.2 s). A bound is inclusive
 * and a bucket of the kernel side ends at 2^k - 1 ns, itself included: each bucket lies whole
 * on one side of each bound, and so does every number of ns. A bound of 2^k ns would have the
 * packets of just so many ns on the wrong side.
 */
#define CLASSIC_FIRST_BIT	10
#define CLASSIC_BOUNDS		25

/* The bound, ns; index below CLASSIC_BOUNDS. */
static inline __u64 classic_bound_ns(unsigned int index)
{
	return (1ULL << (CLASSIC_FIRST_BIT + index)) - 1;
}

/*
 * Native buckets of schema 3: bucket i holds (2^((i-1)/8), 2^(i/8)] seconds, 9.05 % wide. A
 * second is no power of two ns, so that no bound of any schema is the end of one of the kernel
 * side's buckets, which are 1.6 to 3.2 % wide. Each of these goes whole where its middle lies:
 * a packet is at most 1.6 % (1/64) beside the bucket that it is counted in.
 */
#define NATIVE_SCHEMA		3

/* 2^-30 s, 0.93 ns: a bound of every schema. Of whole ns only 0 is in the zero bucket. */
#define NATIVE_ZERO_THRESHOLD	0x1p-30

struct native_bucket {
	int index;
	__u64 count;		/* not 0 */
};

struct metric_histogram {
	__u64 count;
	double sum;			/* seconds */
	__u64 classic[CLASSIC_BOUNDS];	/* cumulative; count is that of +Inf */
	__u64 zero;
	unsigned int native_count;
	struct native_bucket native[];	/* by index */
};

/*
 * Index of the native bucket of a bucket of the kernel side, but for bucket 0, which is the
 * zero bucket. The last one, which has no end, is where it begins.
 */
int native_index(__u32 bucket);

/* histogram as both; buckets below 0 count as 0. The caller frees it; NULL: out of memory. */
struct metric_histogram *metric_histogram_make(const struct histogram *histogram);

#endif
