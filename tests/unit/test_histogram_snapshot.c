// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "histogram_snapshot.h"

static const struct extremes none = { .min = ~0ULL };

static void test_differences(void **state)
{
	struct histogram_counts *live = calloc(1, sizeof(*live));
	struct histogram_slice *slice = calloc(1, sizeof(*slice));
	struct histogram_snapshot last = { 0 };

	(void)state;
	assert_true(live && slice);
	live->counts[100] = 3;
	live->counts[200] = 1;
	live->sum = 1000;
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, 4);
	assert_int_equal(slice->sum, 1000);
	assert_int_equal(slice->counts[100], 3);
	assert_int_equal(slice->counts[200], 1);
	/* only what came since, also below and above the buckets used before */
	live->counts[100] += 2;
	live->counts[7] = 1;
	live->counts[HISTOGRAM_BUCKETS - 1] = 5;
	live->sum = 900;
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, 8);
	assert_int_equal(slice->sum, -100);
	assert_int_equal(slice->counts[100], 2);
	assert_int_equal(slice->counts[200], 0);
	assert_int_equal(slice->counts[7], 1);
	assert_int_equal(slice->counts[HISTOGRAM_BUCKETS - 1], 5);
	/* a sample that is taken back, and nothing at all */
	live->counts[200]--;
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, -1);
	assert_int_equal(slice->counts[200], -1);
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, 0);
	histogram_snapshot_free(&last);
	free(live);
	free(slice);
}

static void test_counts_wrap(void **state)
{
	struct histogram_counts *live = calloc(1, sizeof(*live));
	struct histogram_slice *slice = calloc(1, sizeof(*slice));
	struct histogram_snapshot last = { 0 };

	(void)state;
	assert_true(live && slice);
	live->counts[50] = INT32_MAX - 1;
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, INT32_MAX - 1);
	live->counts[50] = INT32_MIN + 2;
	assert_int_equal(histogram_snapshot_take(&last, live, slice), 0);
	assert_int_equal(slice->count, 4);
	histogram_snapshot_free(&last);
	free(live);
	free(slice);
}

static void test_extremes(void **state)
{
	struct histogram_slice *slice = calloc(1, sizeof(*slice));
	struct extremes own = { .min = 1000, .max = 5000 };
	struct extremes read = { .min = 900, .max = 4000 };
	struct extremes late = { .min = 900, .max = 7000 };

	(void)state;
	assert_non_null(slice);
	slice->min = ~0ULL;
	/* nothing came: no extremes, whatever the banks say */
	histogram_slice_bound(slice, &own, &late, &read);
	assert_true(slice->min == ~0ULL && slice->max == 0);
	slice->counts[histogram_bucket(1000)] = 1;
	slice->counts[histogram_bucket(5000)] = 1;
	histogram_slice_bound(slice, &own, &read, &read);
	assert_int_equal(slice->min, 1000);
	assert_int_equal(slice->max, 5000);
	/* what came to the slice before after it was read is of this one */
	histogram_slice_bound(slice, &own, &late, &read);
	assert_int_equal(slice->min, 1000);
	assert_int_equal(slice->max, 7000);
	/* a value whose extreme was told in another slice */
	slice->min = ~0ULL;
	slice->max = 0;
	histogram_slice_bound(slice, &none, &none, &none);
	assert_int_equal(slice->min, histogram_bucket_low(histogram_bucket(1000)));
	assert_int_equal(slice->max, histogram_bucket_low(histogram_bucket(5000)));
	free(slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_counts_wrap),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
