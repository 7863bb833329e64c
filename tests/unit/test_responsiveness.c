// SPDX-License-Identifier: GPL-2.0
#include "out.h"
#include "responsiveness.h"
#include "whole_result.h"

static void test_grades(void **state)
{
	(void)state;
	assert_string_equal(responsiveness_grade(-3e6), "A+");
	assert_string_equal(responsiveness_grade(4.999e6), "A+");
	assert_string_equal(responsiveness_grade(5e6), "A");
	assert_string_equal(responsiveness_grade(29.9e6), "A");
	assert_string_equal(responsiveness_grade(30e6), "B");
	assert_string_equal(responsiveness_grade(60e6), "C");
	assert_string_equal(responsiveness_grade(200e6), "D");
	assert_string_equal(responsiveness_grade(399.9e6), "D");
	assert_string_equal(responsiveness_grade(400e6), "F");
}

/* 20 probes of a phase: 19 of 100 ms and one of 10 s, which is the slowest 5 %. */
static void test_round_trips_per_minute(void **state)
{
	struct result result;
	struct phase *load;
	size_t i;

	(void)state;
	result_init(&result);
	load = &result.phases[PHASE_LOAD];
	assert_true(isnan(responsiveness_rpm(&result, load)));
	result.probes = calloc(22, sizeof(*result.probes));
	assert_non_null(result.probes);
	result.probe_count = 22;
	for (i = 0; i < 22; i++) {
		result.probes[i].phase = PHASE_LOAD;
		result.probes[i].rtt_ns = i == 3 ? 10 * SECOND : 100 * MS;
	}
	/* these two are not of it */
	result.probes[20].lost = true;
	result.probes[20].rtt_ns = 0;
	result.probes[21].phase = PHASE_IDLE;
	result.probes[21].rtt_ns = 1;
	assert_true(fabs(responsiveness_rpm(&result, load) - 600) < 1e-9);
	result_free(&result);
}

static void test_in_the_summary_and_the_document(void **state)
{
	struct result result;
	char *text = NULL, *document;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	assert_non_null(file);
	make_result(&result);
	out_text(&result, file, false);
	assert_int_equal(fclose(file), 0);
	/* 60 s by 320 ms */
	assert_non_null(strstr(text, "responsiveness under load: grade D (RTT increase 320 ms in the mean), 187 round trips"));
	document = out_json(&result);
	assert_non_null(document);
	assert_non_null(strstr(document, "\"responsiveness\":{\"grade\":\"D\",\"rpm\":187."));
	assert_non_null(strstr(document, "\"responsiveness\":null"));
	free(text);
	free(document);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grades),
		cmocka_unit_test(test_round_trips_per_minute),
		cmocka_unit_test(test_in_the_summary_and_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
