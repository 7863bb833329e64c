// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "statistics.h"

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void test_percentiles_by_nearest_rank(void **state)
{
	double values[] = { 40, 15, 50, 20, 35 };

	(void)state;
	/* the example of the usual definition: ranks 1, 2, 2, 3 and 5 of five */
	assert_near(statistics_percentile(values, 5, 5), 15, 0);
	assert_near(statistics_percentile(values, 5, 30), 20, 0);
	assert_near(statistics_percentile(values, 5, 40), 20, 0);
	assert_near(statistics_percentile(values, 5, 50), 35, 0);
	assert_near(statistics_percentile(values, 5, 100), 50, 0);
	assert_near(statistics_percentile(values, 5, 0), 15, 0);
	assert_near(statistics_mean(values, 5), 32, 1e-12);
}

/*
 * Of all 20 ways to choose 3 ranks of 6, one has all of a below b: p = 2 / 20. U = 1: one way
 * more; U = 2: two more. The table of critical values agrees: at 4 and 4, U = 0 is 0.0286.
 */
static void test_mann_whitney_by_counting(void **state)
{
	const double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 };
	const double mixed[] = { 1, 2, 4 }, rest[] = { 3, 5, 6 };
	const double four[] = { 1, 2, 3, 4 }, others[] = { 5, 6, 7, 8 };
	const double turn[] = { 1, 4, 5, 8 }, about[] = { 2, 3, 6, 7 };

	(void)state;
	assert_near(statistics_mann_whitney(low, 3, high, 3), 2.0 / 20, 1e-12);
	assert_near(statistics_mann_whitney(high, 3, low, 3), 2.0 / 20, 1e-12);
	assert_near(statistics_mann_whitney(mixed, 3, rest, 3), 4.0 / 20, 1e-12);
	assert_near(statistics_mann_whitney(four, 4, others, 4), 2.0 / 70, 1e-12);
	assert_near(statistics_mann_whitney(turn, 4, about, 4), 1, 1e-12);
	assert_near(statistics_mann_whitney(low, 1, high, 1), 1, 1e-12);
	assert_true(isnan(statistics_mann_whitney(low, 0, high, 3)));
}

/* With ties there is the normal distribution: worked by hand for these. */
static void test_mann_whitney_with_ties(void **state)
{
	const double a[] = { 1, 1, 2, 3 }, b[] = { 2, 3, 3, 4 };
	/*
	 * Ranks: 1.5 1.5 3.5 6 and 3.5 6 6 8: a's sum 12.5, U = 2.5. t^3 - t: 6 + 6 + 24 = 36.
	 * Variance 16 / 12 * (9 - 36 / 56) = 11.142857; z = (|2.5 - 8| - 0.5) / 3.338091
	 */
	double z = 5 / sqrt(16.0 / 12 * (9 - 36.0 / 56));
	const double same[] = { 5, 5, 5 };

	(void)state;
	assert_near(statistics_mann_whitney(a, 4, b, 4), erfc(z / sqrt(2)), 1e-12);
	assert_near(statistics_mann_whitney(same, 3, same, 3), 1, 0);
}

/* Where exact and normal meet: many values, nothing tied. */
static void test_exact_and_normal_agree(void **state)
{
	double a[20], b[20], more_a[21], exact, normal;
	size_t i;

	(void)state;
	for (i = 0; i < 20; i++) {
		a[i] = more_a[i] = (double)(i * 7 % 41);
		b[i] = (double)(i * 11 % 43) + 6.5;
	}
	more_a[20] = 17.25;
	exact = statistics_mann_whitney(a, 20, b, 20);
	normal = statistics_mann_whitney(more_a, 21, b, 20);
	assert_true(exact > 0 && exact < 1);
	assert_near(exact, normal, 0.1);
}

static double median(double *values, size_t count, const void *context)
{
	(void)context;
	return statistics_percentile(values, count, 50);
}

static void test_bootstrap(void **state)
{
	struct statistics_interval interval, again;
	double before[100], after[100];
	size_t i;

	(void)state;
	for (i = 0; i < 100; i++) {
		before[i] = 100 + (double)(i * 37 % 100) / 10;
		after[i] = before[i] - 20;
	}
	assert_int_equal(statistics_bootstrap(before, 100, after, 100, 1, 0.95, median, NULL,
					      &interval), 0);
	assert_true(interval.low < -20 && interval.low > -24);
	assert_true(interval.high > -20 && interval.high < -16);
	assert_int_equal(statistics_bootstrap(before, 100, after, 100, 1, 0.95, median, NULL,
					      &again), 0);
	assert_memory_equal(&interval, &again, sizeof(again));
	assert_int_equal(statistics_bootstrap(before, 100, before, 100, 1, 0.95, median, NULL,
					      &interval), 0);
	assert_true(interval.low < 0 && interval.high > 0);
	assert_int_equal(statistics_bootstrap(before, 0, after, 100, 1, 0.95, median, NULL,
					      &interval), -1);
}

/*
 * Values that stay up or down for long tell less than as many that do not: blocks show it, and
 * single values do not.
 */
static void test_blocks_are_wider_where_values_hang_together(void **state)
{
	struct statistics_interval single, blocks;
	double slow[400], other[400];
	size_t i;

	(void)state;
	for (i = 0; i < 400; i++) {
		slow[i] = (double)(i / 50 % 2) * 100 + (double)(i % 7);
		other[i] = (double)(i / 40 % 2) * 100 + (double)(i % 5);
	}
	assert_int_equal(statistics_bootstrap(slow, 400, other, 400, 1, 0.95, median, NULL,
					      &single), 0);
	assert_int_equal(statistics_bootstrap(slow, 400, other, 400, statistics_block(400), 0.95,
					      median, NULL, &blocks), 0);
	assert_int_equal(statistics_block(400), 20);
	assert_int_equal(statistics_block(0), 1);
	assert_true(blocks.high - blocks.low >= single.high - single.low);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, and of a sample the deviation is the root of 32 / 7. */
static void test_box(void **state)
{
	double values[] = { 9, 4, 5, 2, 4, 7, 4, 5 }, one[] = { 3 };
	struct statistics_box box;

	(void)state;
	statistics_box(values, 8, &box);
	assert_int_equal(box.count, 8);
	assert_true(box.mean == 5 && fabs(box.deviation - sqrt(32.0 / 7)) < 1e-12);
	assert_true(box.min == 2 && box.q1 == 4 && box.median == 4 && box.q3 == 5 && box.max == 9);
	statistics_box(one, 1, &box);
	assert_true(box.deviation == 0 && box.min == 3 && box.median == 3 && box.max == 3);
	statistics_box(one, 0, &box);
	assert_true(box.count == 0 && box.mean == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_box),
		cmocka_unit_test(test_percentiles_by_nearest_rank),
		cmocka_unit_test(test_mann_whitney_by_counting),
		cmocka_unit_test(test_mann_whitney_with_ties),
		cmocka_unit_test(test_exact_and_normal_agree),
		cmocka_unit_test(test_bootstrap),
		cmocka_unit_test(test_blocks_are_wider_where_values_hang_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
