// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "histogram.h"

#define SAMPLES		20000
#define ERROR_MAX	0.016

/* xorshift64: the same values in every run. */
static __u64 random_state = 88172645463325252ULL;

static __u64 random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* From 1 ns to 100 s, each octave as likely as the others. */
static __u64 random_time(void)
{
	__u64 value = random_u64() >> (27 + random_u64() % 37);

	return value > 100000000000ULL ? 100000000000ULL : value + !value;
}

static int compare(const void *a, const void *b)
{
	__u64 left = *(const __u64 *)a, right = *(const __u64 *)b;

	return (left > right) - (left < right);
}

/* The definition itself, by counting: the smallest value that percent % do not exceed. */
static __u64 by_counting(const __u64 *sorted, unsigned int count, unsigned int percent)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if ((__u64)(i + 1) * 100 >= (__u64)percent * count)
			return sorted[i];
	return sorted[count - 1];
}

static void assert_close(__u64 value, __u64 expected)
{
	double difference = fabs((double)value - (double)expected);

	if (difference > ERROR_MAX * (double)expected)
		fail_msg("%llu instead of %llu", value, expected);
}

static void test_buckets_tile_the_range(void **state)
{
	unsigned int bucket;

	(void)state;
	assert_int_equal(histogram_bucket_low(0), 0);
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
		__u64 low = histogram_bucket_low(bucket), high = histogram_bucket_high(bucket);

		assert_true(low <= high);
		assert_int_equal(histogram_bucket(low), bucket);
		assert_int_equal(histogram_bucket(high), bucket);
		assert_int_equal(histogram_bucket_low(bucket + 1), high + 1);
		if (low)
			assert_true((double)(high - low) / 2 <= ERROR_MAX * (double)low);
	}
	assert_int_equal(histogram_bucket(~0ULL), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket(1ULL << HISTOGRAM_TOP_BIT), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket((1ULL << HISTOGRAM_TOP_BIT) - 1), HISTOGRAM_BUCKETS - 2);
}

static void test_percentiles_against_sorting(void **state)
{
	__u64 *values = calloc(SAMPLES, sizeof(*values));
	struct histogram *histogram = malloc(sizeof(*histogram));
	unsigned int i, percent;
	struct summary summary;
	double sum = 0;

	(void)state;
	assert_non_null(values);
	assert_non_null(histogram);
	histogram_init(histogram);
	for (i = 0; i < SAMPLES; i++) {
		values[i] = random_time();
		sum += (double)values[i];
		histogram_add_value(histogram, values[i], 1);
	}
	qsort(values, SAMPLES, sizeof(*values), compare);
	for (percent = 1; percent <= 100; percent++)
		assert_close(histogram_percentile(histogram, percent),
			     by_counting(values, SAMPLES, percent));
	assert_close(histogram_percentile(histogram, 99.9), values[SAMPLES / 1000 * 999 - 1]);
	histogram_summary(histogram, &summary);
	assert_int_equal(summary.count, SAMPLES);
	assert_int_equal(summary.min, values[0]);
	assert_int_equal(summary.max, values[SAMPLES - 1]);
	assert_close((__u64)summary.mean, (__u64)(sum / SAMPLES));
	free(histogram);
	free(values);
}

static void test_exact_summary_against_sorting(void **state)
{
	static const unsigned int percents[] = { 50, 90, 95, 99 };
	__u64 values[257], sorted[257];
	struct summary summary;
	unsigned int count, i;

	(void)state;
	for (count = 1; count <= 257; count++) {
		for (i = 0; i < count; i++)
			sorted[i] = values[i] = random_time();
		qsort(sorted, count, sizeof(*sorted), compare);
		summary_of_values(values, count, &summary);
		const __u64 got[] = { summary.p50, summary.p90, summary.p95, summary.p99 };

		for (i = 0; i < 4; i++)
			assert_int_equal(got[i], by_counting(sorted, count, percents[i]));
		assert_int_equal(summary.min, sorted[0]);
		assert_int_equal(summary.max, sorted[count - 1]);
		assert_int_equal(summary.count, count);
	}
}

static void test_mean_and_deviation(void **state)
{
	/* 2 4 4 4 5 5 7 9: mean 5, squares of deviations add up to 32, sample deviation sqrt(32/7). */
	__u64 values[] = { 9, 2, 4, 4, 5, 7, 4, 5 }, one = 42;
	struct summary summary;

	(void)state;
	summary_of_values(values, 8, &summary);
	assert_true(fabs(summary.mean - 5) < 1e-12);
	assert_true(fabs(summary.stdev - sqrt(32.0 / 7)) < 1e-12);
	assert_int_equal(summary.p50, 4);
	summary_of_values(&one, 1, &summary);
	assert_true(summary.stdev == 0);
	assert_int_equal(summary.p99, 42);
	summary_of_values(NULL, 0, &summary);
	assert_int_equal(summary.count, 0);
}

static void test_deviation_keeps_its_digits(void **state)
{
	/* Two values 2 ns apart near 10^15 ns: the squares alone would need 100 bits. */
	__u64 values[] = { 1000000000000000ULL, 1000000000000002ULL };
	struct summary summary;

	(void)state;
	summary_of_values(values, 2, &summary);
	assert_true(fabs(summary.stdev - sqrt(2)) < 1e-6);
}

static void test_weights_and_merge(void **state)
{
	struct histogram one, two, all;
	unsigned int i;

	(void)state;
	histogram_init(&one);
	histogram_init(&two);
	histogram_init(&all);
	histogram_add_value(&one, 7, 0);
	assert_int_equal(one.count, 0);
	for (i = 0; i < 1000; i++) {
		__u64 value = random_time(), weight = 1 + random_u64() % 44;

		histogram_add_value(i % 2 ? &one : &two, value, weight);
		histogram_add_value(&all, value, weight);
	}
	histogram_merge(&one, &two);
	assert_memory_equal(&one, &all, sizeof(one));
}

static void test_requeue_is_taken_back(void **state)
{
	struct histogram_slice *bank = calloc(2, sizeof(*bank));
	struct histogram histogram;
	struct summary summary;

	(void)state;
	assert_non_null(bank);
	/* First bank: two packets of 10 us. Second: one of them was requeued and took 40 us. */
	bank[0].count = 2;
	bank[0].sum = 20000;
	bank[0].min = bank[0].max = 10000;
	bank[0].counts[histogram_bucket(10000)] = 2;
	bank[1].count = 0;
	bank[1].sum = 30000;
	bank[1].min = bank[1].max = 40000;
	bank[1].counts[histogram_bucket(10000)] = -1;
	bank[1].counts[histogram_bucket(40000)] = 1;

	histogram_init(&histogram);
	histogram_add_slice(&histogram, &bank[1]);
	assert_int_equal(histogram_negative(&histogram), 1);
	histogram_summary(&histogram, &summary);
	assert_int_equal(summary.count, 0);

	histogram_add_slice(&histogram, &bank[0]);
	assert_int_equal(histogram_negative(&histogram), 0);
	histogram_summary(&histogram, &summary);
	assert_int_equal(summary.count, 2);
	assert_true(summary.mean == 25000);
	assert_close(summary.p50, 10000);
	assert_close(summary.p99, 40000);
	free(bank);
}

static void test_a_bank_of_less_than_nothing(void **state)
{
	struct histogram_slice *bank = calloc(1, sizeof(*bank));
	struct histogram histogram;

	(void)state;
	assert_non_null(bank);
	bank->count = -3;
	bank->sum = -300;
	bank->min = ~0ULL;
	bank->counts[histogram_bucket(100)] = -3;
	histogram_init(&histogram);
	histogram_add_slice(&histogram, bank);
	histogram_add_value(&histogram, 100, 5);
	assert_int_equal(histogram.count, 2);
	assert_int_equal(histogram.sum, 200);
	assert_int_equal(histogram_percentile(&histogram, 50), 100);
	free(bank);
}

static void test_empty_and_extreme(void **state)
{
	struct histogram histogram;
	struct summary summary;

	(void)state;
	histogram_init(&histogram);
	assert_int_equal(histogram_percentile(&histogram, 50), 0);
	histogram_summary(&histogram, &summary);
	assert_int_equal(summary.count, 0);
	histogram_add_value(&histogram, 0, 3);
	assert_int_equal(histogram_percentile(&histogram, 99), 0);
	histogram_add_value(&histogram, 1ULL << 40, 1);
	assert_int_equal(histogram_percentile(&histogram, 100), 1ULL << 40);
	assert_int_equal(histogram_percentile(&histogram, 75), 0);
}

/* Nothing is made for nothing; what is made adds up. */
static void test_gather(void **state)
{
	struct histogram *gathered = NULL, *again = NULL;
	struct histogram_slice slice = { .min = ~0ULL };

	(void)state;
	assert_true(histogram_gather(&gathered, NULL));
	assert_true(histogram_gather_slice(&gathered, &slice));
	assert_null(gathered);
	slice = (struct histogram_slice) { .count = 3, .sum = 300, .min = 90, .max = 110 };
	slice.counts[histogram_bucket(100)] = 3;
	assert_true(histogram_gather_slice(&gathered, &slice));
	assert_true(histogram_gather_slice(&gathered, &slice));
	assert_true(histogram_gather(&again, gathered));
	assert_true(histogram_gather(&again, gathered));
	assert_non_null(again);
	assert_int_equal(gathered->count, 6);
	assert_int_equal(again->count, 12);
	assert_int_equal(again->sum, 1200);
	assert_int_equal(again->min, 90);
	assert_int_equal(again->max, 110);
	free(gathered);
	free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_tile_the_range),
		cmocka_unit_test(test_percentiles_against_sorting),
		cmocka_unit_test(test_exact_summary_against_sorting),
		cmocka_unit_test(test_mean_and_deviation),
		cmocka_unit_test(test_deviation_keeps_its_digits),
		cmocka_unit_test(test_weights_and_merge),
		cmocka_unit_test(test_requeue_is_taken_back),
		cmocka_unit_test(test_a_bank_of_less_than_nothing),
		cmocka_unit_test(test_empty_and_extreme),
		cmocka_unit_test(test_gather),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
