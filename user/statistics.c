// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "statistics.h"

#define EXACT_MAX	40
#define SEED		0x9e3779b97f4a7c15ULL

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_values);
}

double statistics_percentile(double *values, size_t count, double percent)
{
	double rank = ceil(percent / 100 * (double)count);

	sort(values, count);
	return values[rank < 1 ? 0 : rank > (double)count ? count - 1 : (size_t)rank - 1];
}

double statistics_mean(const double *values, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static double deviation(const double *values, size_t count, double mean)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return count > 1 ? sqrt(sum / (double)(count - 1)) : 0;
}

void statistics_box(double *values, size_t count, struct statistics_box *box)
{
	memset(box, 0, sizeof(*box));
	box->count = count;
	if (!count)
		return;
	box->mean = statistics_mean(values, count);
	box->deviation = deviation(values, count, box->mean);
	box->min = statistics_percentile(values, count, 0);
	box->q1 = statistics_percentile(values, count, 25);
	box->median = statistics_percentile(values, count, 50);
	box->q3 = statistics_percentile(values, count, 75);
	box->max = values[count - 1];
}

/* ---- bootstrap ---- */

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, and it is the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* As many values as there are, in blocks that begin anywhere; one that passes the end goes on at the begin. */
static void resample(const double *values, size_t count, size_t block, uint64_t *random,
		     double *drawn)
{
	size_t i, at = 0;

	for (i = 0; i < count; i++, at++) {
		if (i % block == 0)
			at = next_random(random) % count;
		drawn[i] = values[at % count];
	}
}

size_t statistics_block(size_t count)
{
	size_t block = (size_t)lround(sqrt((double)count));

	return block ? block : 1;
}

int statistics_bootstrap(const double *before, size_t before_count, const double *after,
			 size_t after_count, size_t block, double confidence,
			 statistics_figure *figure, const void *context,
			 struct statistics_interval *interval)
{
	size_t most = before_count > after_count ? before_count : after_count, i;
	double *drawn = NULL, *differences = NULL;
	double outside = (1 - confidence) / 2 * 100;
	uint64_t random = SEED;
	int err = -1;

	if (!before_count || !after_count || !block)
		return -1;
	drawn = calloc(most, sizeof(*drawn));
	differences = calloc(STATISTICS_RESAMPLES, sizeof(*differences));
	if (!drawn || !differences)
		goto out;
	for (i = 0; i < STATISTICS_RESAMPLES; i++) {
		resample(after, after_count, block, &random, drawn);
		differences[i] = figure(drawn, after_count, context);
		resample(before, before_count, block, &random, drawn);
		differences[i] -= figure(drawn, before_count, context);
	}
	interval->low = statistics_percentile(differences, STATISTICS_RESAMPLES, outside);
	interval->high = statistics_percentile(differences, STATISTICS_RESAMPLES, 100 - outside);
	err = 0;
out:
	free(drawn);
	free(differences);
	return err;
}

/* ---- Mann and Whitney ---- */

struct ranked {
	double value;
	bool of_a;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare_values(&((const struct ranked *)a)->value,
			      &((const struct ranked *)b)->value);
}

/* Rank sum of a; *ties: sum of t^3 - t over values that t times are the same. */
static double rank_sum(struct ranked *all, size_t count, double *ties)
{
	size_t i, end, k;
	double sum = 0, same;

	*ties = 0;
	qsort(all, count, sizeof(*all), compare_ranked);
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count && all[end].value == all[i].value; end++)
			;
		same = (double)(end - i);
		*ties += same * same * same - same;
		for (k = i; k < end; k++)
			if (all[k].of_a)
				sum += ((double)i + 1 + (double)end) / 2;
	}
	return sum;
}

/*
 * How many of the ways to choose a_count ranks of all have a U of u or less, over all ways:
 * ways[n][s] is how many sets of n ranks have that sum of places.
 */
static double exact_share(size_t a_count, size_t b_count, size_t u)
{
	size_t most = a_count * b_count, rank, n, s;
	double *ways = calloc((a_count + 1) * (most + 1), sizeof(*ways));
	double all = 0, low = 0;

	if (!ways)
		return NAN;
	ways[0] = 1;
	/* U counts, of each value of a, those of b below it: a's n-th has rank - n of them */
	for (rank = 0; rank < a_count + b_count; rank++)
		for (n = rank + 1 < a_count ? rank + 1 : a_count; n >= 1; n--)
			for (s = rank - (n - 1); s <= most; s++)
				if (rank - (n - 1) <= b_count)
					ways[n * (most + 1) + s] +=
						ways[(n - 1) * (most + 1) + s - (rank - (n - 1))];
	for (s = 0; s <= most; s++) {
		all += ways[a_count * (most + 1) + s];
		if (s <= u)
			low += ways[a_count * (most + 1) + s];
	}
	free(ways);
	return low / all;
}

static double normal_share(double a, double b, double u, double ties)
{
	double all = a + b;
	double deviation = sqrt(a * b / 12 * (all + 1 - ties / (all * (all - 1))));
	double distance = fabs(u - a * b / 2) - 0.5;

	if (deviation <= 0)
		return 1;
	return erfc((distance < 0 ? 0 : distance) / deviation / sqrt(2));
}

double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
	struct ranked *all = calloc(a_count + b_count, sizeof(*all));
	double ties, u, other, p;
	size_t i;

	if (!a_count || !b_count || !all) {
		free(all);
		return NAN;
	}
	for (i = 0; i < a_count + b_count; i++) {
		all[i].of_a = i < a_count;
		all[i].value = i < a_count ? a[i] : b[i - a_count];
	}
	u = rank_sum(all, a_count + b_count, &ties) - (double)(a_count * (a_count + 1)) / 2;
	free(all);
	other = (double)(a_count * b_count) - u;
	if (ties > 0 || a_count + b_count > EXACT_MAX)
		return normal_share((double)a_count, (double)b_count, u, ties);
	p = 2 * exact_share(a_count, b_count, (size_t)(u < other ? u : other));
	return p > 1 ? 1 : p;
}
