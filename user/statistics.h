/* SPDX-License-Identifier: GPL-2.0 */
/* Are two sets of figures different, and by how much? */
#ifndef SOJOURN_STATISTICS_H
#define SOJOURN_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The smallest of count values (one at least) that percent % of them do not exceed (nearest
 * rank), as histogram_percentile() and summary_of_values() have it. Sorts values in place.
 */
double statistics_percentile(double *values, size_t count, double percent);

double statistics_mean(const double *values, size_t count);

/* What is taken of a set of values; may change their order. context: of who calls. */
typedef double statistics_figure(double *values, size_t count, const void *context);

/* What a box plot shows, and the moments. All 0 where count is. */
struct statistics_box {
	size_t count;
	double mean, deviation;		/* of a sample: by count - 1 */
	double min, q1, median, q3, max;	/* statistics_percentile() */
};

/* Sorts values in place. */
void statistics_box(double *values, size_t count, struct statistics_box *box);

struct statistics_interval {
	double low, high;
};

/* Resamples of a bootstrap. */
#define STATISTICS_RESAMPLES	2000

/*
 * An interval that holds figure(after) - figure(before) with that confidence (0.95), by a
 * bootstrap: both sets are drawn anew from blocks of block values that follow each other
 * (Künsch 1989; block 1: Efron's, of values that have nothing to do with each other), and the
 * interval holds the middle of what comes out. The same sets give the same interval each time.
 * 0, or -1: a set is empty, or memory is short.
 */
int statistics_bootstrap(const double *before, size_t before_count, const double *after,
			 size_t after_count, size_t block, double confidence,
			 statistics_figure *figure, const void *context,
			 struct statistics_interval *interval);

/* A block for count values in a row: the root of their number, 1 at least. */
size_t statistics_block(size_t count);

/*
 * How likely two sets differ in rank as much as these or more if they are of one kind: two-sided
 * Mann-Whitney test. Exact where no values tie and there are no more than 40 in all, else by
 * the normal distribution with corrections for ties and for continuity. NAN: a set is empty.
 */
double statistics_mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count);

#endif
