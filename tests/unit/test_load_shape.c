// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "load_shape.h"
#include "out.h"
#include "whole_result.h"

/* The load of whole_result.h: 320 ms from its begin to its end. */
static void test_a_load_of_a_whole_result(void **state)
{
	struct result result;
	struct phase *load;

	(void)state;
	make_result(&result);
	load = &result.phases[PHASE_LOAD];
	assert_int_equal(load->load.shape.name, SHAPE_PLATEAU);
	assert_non_null(strstr(load->load.shape.why, "settles at 320 ms above idle"));
	assert_int_equal(result.phases[PHASE_RECOVERY].load.shape.name, SHAPE_NONE);
	result_free(&result);
}

static void assert_shape(struct result *result, enum shape_name name)
{
	struct error error;

	result->phases[PHASE_LOAD].load.shape.name = SHAPE_NONE;
	assert_int_equal(load_shape_fill(result, &error), 0);
	assert_int_equal(result->phases[PHASE_LOAD].load.shape.name, name);
}

/* Which probes count, one by one. */
static void test_what_belongs_to_a_load(void **state)
{
	struct result result;
	size_t i;

	(void)state;
	make_result(&result);
	/* what follows a load does not make its shape */
	for (i = 0; i < result.probe_count; i++)
		if (result.probes[i].sent_ns >= 118 * SECOND)
			result.probes[i].rtt_ns = 900 * MS;
	assert_shape(&result, SHAPE_PLATEAU);
	/* lost ones say nothing: too few remain */
	for (i = 0; i < result.probe_count; i++)
		if (result.probes[i].sent_ns >= 105 * SECOND)
			result.probes[i].lost = true;
	assert_shape(&result, SHAPE_UNKNOWN);
	assert_string_equal(result.phases[PHASE_LOAD].load.shape.why,
			    "20 probes were answered under load, fewer than 30");
	/* nothing to compare with */
	result.phases[PHASE_IDLE].received = 0;
	assert_shape(&result, SHAPE_NONE);
	result_free(&result);
}

/* The first probes wait until an address is looked up: a third of a short idle phase. */
static void test_a_slow_begin(void **state)
{
	struct result result;
	size_t i, late = 0;

	(void)state;
	make_result(&result);
	for (i = 0; i < result.probe_count; i++) {
		struct probe *probe = &result.probes[i];

		if (probe->sent_ns < 102 * SECOND)
			probe->phase = -1;
		else if (probe->phase == PHASE_IDLE && late < 3)
			probe->rtt_ns += (3 - late++) * 80 * MS;
	}
	assert_int_equal(late, 3);
	assert_shape(&result, SHAPE_PLATEAU);
	result_free(&result);
}

static void test_in_the_summary_and_the_document(void **state)
{
	struct result result;
	char *text, *document;

	(void)state;
	make_result(&result);
	text = out_text_copy(&result);
	document = out_json(&result);
	assert_true(text && document);
	assert_non_null(strstr(text, "RTT under load: plateau (settles at 320 ms above idle"));
	assert_non_null(strstr(document, "\"shape\":{\"name\":\"plateau\",\"why\":\"settles at"));
	assert_non_null(strstr(document, "\"shape\":null"));
	free(text);
	free(document);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_load_of_a_whole_result),
		cmocka_unit_test(test_what_belongs_to_a_load),
		cmocka_unit_test(test_a_slow_begin),
		cmocka_unit_test(test_in_the_summary_and_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
