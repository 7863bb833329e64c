// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "histogram_snapshot.h"

/* The buckets of live that are not 0, and those that last holds already. */
static void range_in_use(const struct histogram_snapshot *last, const __s32 *counts,
			 __u32 *first, __u32 *end)
{
	__u32 bucket;

	*first = last->count ? last->first : HISTOGRAM_BUCKETS;
	*end = last->count ? last->first + last->count : 0;
	for (bucket = 0; bucket < *first; bucket++)
		if (counts[bucket])
			*first = bucket;
	for (bucket = HISTOGRAM_BUCKETS; bucket > *end; bucket--)
		if (counts[bucket - 1])
			*end = bucket;
}

static int make_room(struct histogram_snapshot *last, __u32 first, __u32 end)
{
	__s32 *counts;

	if (end <= first || (last->count && first == last->first &&
			     end == last->first + last->count))
		return 0;
	counts = calloc(end - first, sizeof(*counts));
	if (!counts)
		return -1;
	if (last->count)
		memcpy(counts + (last->first - first), last->counts,
		       last->count * sizeof(*counts));
	free(last->counts);
	last->counts = counts;
	last->first = first;
	last->count = end - first;
	return 0;
}

int histogram_snapshot_take(struct histogram_snapshot *last, const struct histogram_counts *live,
			    struct histogram_slice *slice)
{
	__s32 now[HISTOGRAM_BUCKETS];
	__u32 first, end, i;
	__s64 sum;

	memset(slice, 0, sizeof(*slice));
	slice->min = ~0ULL;
	memcpy(now, live->counts, sizeof(now));
	sum = *(volatile const __s64 *)&live->sum;
	range_in_use(last, now, &first, &end);
	if (make_room(last, first, end))
		return -1;
	for (i = 0; i < last->count; i++) {
		/* the kernel's count wraps; what came in a slice does not */
		__s32 added = (__s32)((__u32)now[last->first + i] - (__u32)last->counts[i]);

		slice->counts[last->first + i] = added;
		slice->count += added;
		last->counts[i] = now[last->first + i];
	}
	slice->sum = sum - last->sum;
	last->sum = sum;
	return 0;
}

void histogram_snapshot_free(struct histogram_snapshot *last)
{
	free(last->counts);
	memset(last, 0, sizeof(*last));
}

static void widen(struct histogram_slice *slice, __u64 min, __u64 max)
{
	if (min < slice->min)
		slice->min = min;
	if (max > slice->max)
		slice->max = max;
}

void histogram_slice_bound(struct histogram_slice *slice, const struct extremes *own,
			   const struct extremes *before, const struct extremes *then)
{
	__u32 first = 0, last = HISTOGRAM_BUCKETS;

	while (first < HISTOGRAM_BUCKETS && slice->counts[first] <= 0)
		first++;
	while (last > first && slice->counts[last - 1] <= 0)
		last--;
	if (first == last)
		return;
	widen(slice, own->min, own->max);
	if (before->min < then->min)
		widen(slice, before->min, before->min);
	if (before->max > then->max)
		widen(slice, before->max, before->max);
	if (slice->min > histogram_bucket_high(first))
		slice->min = histogram_bucket_low(first);
	if (slice->max < histogram_bucket_low(last - 1))
		slice->max = histogram_bucket_low(last - 1);
}
