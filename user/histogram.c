// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

void histogram_init(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min = ~0ULL;
}

static void widen(struct histogram *histogram, __u64 min, __u64 max)
{
	if (min < histogram->min)
		histogram->min = min;
	if (max > histogram->max)
		histogram->max = max;
}

void histogram_add_value(struct histogram *histogram, __u64 value, __u64 weight)
{
	if (!weight)
		return;
	histogram->count += weight;
	histogram->sum += (__s64)(value * weight);
	histogram->counts[histogram_bucket(value)] += (__s64)weight;
	widen(histogram, value, value);
}

void histogram_add_slice(struct histogram *histogram, const struct histogram_slice *slice)
{
	unsigned int bucket;

	/* A slice may hold only the taking back of a sample: unsigned addition wraps to the right sum. */
	histogram->count += (__u64)slice->count;
	histogram->sum += slice->sum;
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		histogram->counts[bucket] += slice->counts[bucket];
	widen(histogram, slice->min, slice->max);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	unsigned int bucket;

	into->count += from->count;
	into->sum += from->sum;
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		into->counts[bucket] += from->counts[bucket];
	widen(into, from->min, from->max);
}

static bool make(struct histogram **histogram)
{
	if (*histogram)
		return true;
	*histogram = malloc(sizeof(**histogram));
	if (*histogram)
		histogram_init(*histogram);
	return *histogram;
}

bool histogram_gather(struct histogram **into, const struct histogram *from)
{
	if (!from)
		return true;
	if (!make(into))
		return false;
	histogram_merge(*into, from);
	return true;
}

bool histogram_gather_slice(struct histogram **into, const struct histogram_slice *slice)
{
	if (!slice->count && !slice->sum && slice->min > slice->max)
		return true;
	if (!make(into))
		return false;
	histogram_add_slice(*into, slice);
	return true;
}

__u64 histogram_negative(const struct histogram *histogram)
{
	__u64 negative = 0;
	unsigned int bucket;

	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		if (histogram->counts[bucket] < 0)
			negative += (__u64)-histogram->counts[bucket];
	return negative;
}

static __u64 positive_total(const struct histogram *histogram)
{
	__u64 total = 0;
	unsigned int bucket;

	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		if (histogram->counts[bucket] > 0)
			total += (__u64)histogram->counts[bucket];
	return total;
}

/* Nearest rank, counted from 1. The product comes first: 7 * 100 / 100 is exact, 0.07 * 100 is not. */
static __u64 nearest_rank(double percent, __u64 total)
{
	double rank = ceil(percent * (double)total / 100);

	if (rank < 1)
		return 1;
	return rank > (double)total ? total : (__u64)rank;
}

static __u64 clamp_to_range(const struct histogram *histogram, __u64 value)
{
	if (value > histogram->max)
		value = histogram->max;
	if (value < histogram->min)
		value = histogram->min;
	return value;
}

__u64 histogram_percentile(const struct histogram *histogram, double percent)
{
	__u64 total = positive_total(histogram), seen = 0, rank, low;
	unsigned int bucket;

	if (!total || histogram->min > histogram->max)
		return 0;
	rank = nearest_rank(percent, total);
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (histogram->counts[bucket] > 0)
			seen += (__u64)histogram->counts[bucket];
		if (seen >= rank)
			break;
	}
	if (bucket >= HISTOGRAM_BUCKETS - 1)
		return histogram->max;
	low = histogram_bucket_low(bucket);
	return clamp_to_range(histogram, low + (histogram_bucket_high(bucket) - low) / 2);
}

void histogram_summary(const struct histogram *histogram, struct summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	if (!positive_total(histogram) || histogram->min > histogram->max ||
	    (__s64)histogram->count <= 0)
		return;
	summary->count = histogram->count;
	summary->min = histogram->min;
	summary->p25 = histogram_percentile(histogram, 25);
	summary->p50 = histogram_percentile(histogram, 50);
	summary->p75 = histogram_percentile(histogram, 75);
	summary->p90 = histogram_percentile(histogram, 90);
	summary->p95 = histogram_percentile(histogram, 95);
	summary->p99 = histogram_percentile(histogram, 99);
	summary->max = histogram->max;
	summary->mean = (double)histogram->sum / (double)histogram->count;
}

static int compare_values(const void *a, const void *b)
{
	__u64 left = *(const __u64 *)a, right = *(const __u64 *)b;

	return (left > right) - (left < right);
}

/* Deviations from the mean rather than sums of squares: these would lose every digit at ns scale. */
static void moments_of_values(const __u64 *values, __u64 count, struct summary *summary)
{
	long double sum = 0, squares = 0, mean, difference;
	__u64 i;

	for (i = 0; i < count; i++)
		sum += values[i];
	mean = sum / count;
	for (i = 0; i < count; i++) {
		difference = values[i] - mean;
		squares += difference * difference;
	}
	summary->mean = (double)mean;
	summary->stdev = count > 1 ? sqrt((double)(squares / (count - 1))) : 0;
}

void summary_of_values(__u64 *values, __u64 count, struct summary *summary)
{
	memset(summary, 0, sizeof(*summary));
	if (!count)
		return;
	qsort(values, count, sizeof(*values), compare_values);
	summary->count = count;
	summary->min = values[0];
	summary->p25 = values[nearest_rank(25, count) - 1];
	summary->p50 = values[nearest_rank(50, count) - 1];
	summary->p75 = values[nearest_rank(75, count) - 1];
	summary->p90 = values[nearest_rank(90, count) - 1];
	summary->p95 = values[nearest_rank(95, count) - 1];
	summary->p99 = values[nearest_rank(99, count) - 1];
	summary->max = values[count - 1];
	moments_of_values(values, count, summary);
}
