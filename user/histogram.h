/* SPDX-License-Identifier: GPL-2.0 */
/* Histograms on the user side: sums of slices, percentiles, figures. */
#ifndef SOJOURN_USER_HISTOGRAM_H
#define SOJOURN_USER_HISTOGRAM_H

#include <linux/types.h>
#include <stdbool.h>

#include "sojourn/histogram.h"

/*
 * What came to a histogram of the kernel's in one slice of time. Counts are packets. A
 * requeued packet takes its first sample back and adds a longer one, perhaps in another
 * slice: the counts are therefore signed, and only their sum over all slices is one.
 */
struct histogram_slice {
	__s64 count;
	__s64 sum;		/* ns; packets times their sojourn */
	__u64 min;		/* ns; ~0 when empty */
	__u64 max;		/* ns */
	__s32 counts[HISTOGRAM_BUCKETS];
};

struct histogram {
	__u64 count;		/* packets */
	__s64 sum;		/* ns */
	__u64 min;		/* ns; ~0 when empty */
	__u64 max;		/* ns */
	__s64 counts[HISTOGRAM_BUCKETS];
};

/* The figures of a distribution, in ns. count 0: the others are 0 and mean nothing. */
struct summary {
	__u64 count;
	__u64 min, p25, p50, p75, p90, p95, p99, max;
	double mean;
	double stdev;		/* sample standard deviation; 0 where only a histogram is known */
};

void histogram_init(struct histogram *histogram);
void histogram_add_value(struct histogram *histogram, __u64 value, __u64 weight);
void histogram_add_slice(struct histogram *histogram, const struct histogram_slice *slice);
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The same where a histogram is made when there is something to add to it: *into, NULL at first,
 * is the caller's to free. from NULL or an empty slice: nothing. False: out of memory.
 */
bool histogram_gather(struct histogram **into, const struct histogram *from);
bool histogram_gather_slice(struct histogram **into, const struct histogram_slice *slice);

/*
 * The smallest value that at least percent % of the samples do not exceed
 * (nearest rank), as the middle of its bucket, never outside [min, max].
 */
__u64 histogram_percentile(const struct histogram *histogram, double percent);

/*
 * Packets that were taken back from buckets that do not hold them: a requeue
 * correction whose first sample lies outside of what was summed up. Such
 * buckets count as 0 in percentiles; 0 in a sum over a whole run.
 */
__u64 histogram_negative(const struct histogram *histogram);

void histogram_summary(const struct histogram *histogram, struct summary *summary);

/* Exact summary (nearest rank) of count values; sorts them in place. */
void summary_of_values(__u64 *values, __u64 count, struct summary *summary);

#endif
