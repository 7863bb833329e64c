/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a histogram that the kernel side adds to all the time: what came since it
 * was read last.
 */
#ifndef SOJOURN_HISTOGRAM_SNAPSHOT_H
#define SOJOURN_HISTOGRAM_SNAPSHOT_H

#include <linux/types.h>

#include "histogram.h"
#include "sojourn/histogram.h"
#include "sojourn/qdisc_record.h"

/* As it was when it was read last; all 0 before. Only the buckets in use are kept. */
struct histogram_snapshot {
	__s64 sum;		/* ns */
	__u32 first, count;	/* buckets */
	__s32 *counts;		/* owned */
};

/*
 * What was added to live since last was taken, without its extremes; last becomes what it
 * is now. 0, or -1 where memory is short: then nothing is taken, and a later call has it.
 */
int histogram_snapshot_take(struct histogram_snapshot *last, const struct histogram_counts *live,
			    struct histogram_slice *slice);

void histogram_snapshot_free(struct histogram_snapshot *last);

/*
 * Give a slice its extremes, in ns: those of its own bank, and those that came to the bank
 * of the slice before after it was read (then is what was read). A sample may have been told in
 * another slice than its value: the extremes never contradict the buckets.
 */
void histogram_slice_bound(struct histogram_slice *slice, const struct extremes *own,
			   const struct extremes *before, const struct extremes *then);

#endif
