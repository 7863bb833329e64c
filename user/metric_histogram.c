// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "metric_histogram.h"

int native_index(__u32 bucket)
{
	double low = (double)histogram_bucket_low(bucket), high = low;

	if (bucket < HISTOGRAM_BUCKETS - 1)
		high = (double)histogram_bucket_high(bucket);
	return (int)ceil(log2((low + high) / 2 / 1e9) * (1 << NATIVE_SCHEMA));
}

/* Of each bucket but the first; the logarithms are taken once. */
static const int *native_indices(void)
{
	static int indices[HISTOGRAM_BUCKETS];
	static bool known;
	__u32 bucket;

	for (bucket = 1; !known && bucket < HISTOGRAM_BUCKETS; bucket++)
		indices[bucket] = native_index(bucket);
	known = true;
	return indices;
}

static __u64 bucket_count(const struct histogram *histogram, __u32 bucket)
{
	return histogram->counts[bucket] > 0 ? (__u64)histogram->counts[bucket] : 0;
}

static void fill_native(struct metric_histogram *metric, const struct histogram *histogram)
{
	const int *indices = native_indices();
	struct native_bucket *last;
	__u64 count;
	__u32 bucket;

	metric->zero = bucket_count(histogram, 0);
	for (bucket = 1; bucket < HISTOGRAM_BUCKETS; bucket++) {
		count = bucket_count(histogram, bucket);
		if (!count)
			continue;
		last = metric->native_count ? &metric->native[metric->native_count - 1] : NULL;
		if (!last || last->index != indices[bucket]) {
			last = &metric->native[metric->native_count++];
			*last = (struct native_bucket){ .index = indices[bucket] };
		}
		last->count += count;
	}
}

static void fill_classic(struct metric_histogram *metric, const struct histogram *histogram)
{
	unsigned int bound = 0;
	__u32 bucket;

	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		while (bound < CLASSIC_BOUNDS &&
		       histogram_bucket_low(bucket) > classic_bound_ns(bound))
			metric->classic[bound++] = metric->count;
		metric->count += bucket_count(histogram, bucket);
	}
}

struct metric_histogram *metric_histogram_make(const struct histogram *histogram)
{
	struct metric_histogram *metric;
	unsigned int used = 0;
	__u32 bucket;

	for (bucket = 1; bucket < HISTOGRAM_BUCKETS; bucket++)
		used += histogram->counts[bucket] > 0;
	metric = calloc(1, sizeof(*metric) + used * sizeof(metric->native[0]));
	if (!metric)
		return NULL;
	fill_classic(metric, histogram);
	fill_native(metric, histogram);
	metric->sum = (double)histogram->sum / 1e9;
	return metric;
}
