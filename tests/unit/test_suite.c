// SPDX-License-Identifier: GPL-2.0
/* Suite files, those that are built in, scaling, and what is made of their runs. */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "out_suite.h"
#include "whole_result.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static const char text[] =
	"[suite]\n"
	"title = a few\n"
	"[common]\n"
	"set = load.streams=3\n"
	"optional = qdisc.server.eth0=root netem delay 250ms\n"
	"[run first]\n"
	"class = A\n"
	"title = one\n"
	"set = load.seconds=30\n"
	"[run second]\n"
	"scenario = office\n"
	"set = load.streams=1\n"
	"set = up.rate=2mbit\n";

static void parse(struct suite *suite, const char *of)
{
	struct error error;

	if (suite_parse(suite, of, strlen(of), "suites/few.suite", &error))
		fail_msg("%s", error.text);
}

static void test_file(void **state)
{
	struct scenario scenario;
	struct suite suite;
	struct error error;

	(void)state;
	parse(&suite, text);
	assert_string_equal(suite.name, "few");
	assert_string_equal(suite.title, "a few");
	assert_int_equal(suite.run_count, 2);
	assert_string_equal(suite.runs[0].class, "A");
	if (suite_scenario(&suite.runs[0], 1, false, NULL, 0, &scenario, &error))
		fail_msg("%s", error.text);
	assert_string_equal(scenario.name, "bottleneck");
	assert_int_equal(scenario.load.streams, 3);
	assert_int_equal(scenario.load.ns, 30 * SECOND);
	assert_int_equal(scenario.plan.tree_count, 1);
	if (suite_scenario(&suite.runs[0], 1, true, NULL, 0, &scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.plan.tree_count, 0);
	if (suite_scenario(&suite.runs[1], 1, false, NULL, 0, &scenario, &error))
		fail_msg("%s", error.text);
	assert_string_equal(scenario.name, "office");
	assert_int_equal(scenario.load.streams, 1);
	assert_int_equal(scenario.up.rate, 2000000);
	suite_free(&suite);
}

/* Times are scaled, what the caller sets is not; a load keeps a second between its margins. */
static void test_scale(void **state)
{
	static const char *const more[] = { "idle.seconds=9" };
	struct scenario scenario;
	struct suite suite;
	struct error error;

	(void)state;
	parse(&suite, text);
	if (suite_scenario(&suite.runs[0], 0.2, false, NULL, 0, &scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.load.ns, 6 * SECOND);
	assert_int_equal(scenario.idle_ns, 1 * SECOND);
	assert_int_equal(scenario.recovery_ns, 2 * SECOND);
	if (suite_scenario(&suite.runs[0], 0.01, false, more, 1, &scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.load.ns, 3 * SECOND);
	assert_int_equal(scenario.idle_ns, 9 * SECOND);
	if (suite_scenario(&suite.runs[0], 2, false, NULL, 0, &scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.load.ns, 60 * SECOND);
	suite_free(&suite);
}

static void test_bad(void **state)
{
	static const char *const cases[][2] = {
		{ "", " has no run" },
		{ "[run a]\n[run a]\n", ":2: the run a is there twice" },
		{ "[run a/b]\n", ":1: [run a/b]: a run's name has" },
		{ "[run]\n", ":1: [run]: there are [suite], [common] and [run NAME]" },
		{ "[run a]\n[common]\n", ":2: [common] has to stand before" },
		{ "[run a]\nset = load.seconds\n", ":2: \"load.seconds\" is no key=value" },
		{ "[run a]\nsets = a=b\n", ":2: unknown key \"sets\": there are scenario, set, optional, title, class" },
		{ "[common]\nclass = a\n", ":2: unknown key \"class\": there are scenario, set, optional" },
		{ "title = x\n[suite]\nname = y\n", ":3: unknown key \"name\": [suite] has title" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct suite suite;
		struct error error = { 0 };

		if (!suite_parse(&suite, cases[i][0], strlen(cases[i][0]), "few", &error))
			fail_msg("case %zu is taken", i);
		if (!strstr(error.text, cases[i][1]))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, cases[i][1]);
		suite_free(&suite);
	}
}

/* Every run of every suite that is built in is a scenario that can be run, at any scale. */
static void test_built_in(void **state)
{
	static const double scales[] = { 0.01, 0.1, 1, 3 };
	struct scenario scenario;
	struct suite suite;
	struct error error;

	(void)state;
	assert_int_equal(suite_builtin_count(), 5);
	for (unsigned int i = 0; i < suite_builtin_count(); i++) {
		if (suite_named(&suite, suite_builtin_name(i), &error))
			fail_msg("%s", error.text);
		assert_true(suite.title[0]);
		for (unsigned int j = 0; j < suite.run_count * COUNT(scales); j++) {
			const struct suite_run *run = &suite.runs[j / COUNT(scales)];

			assert_true(run->title[0]);
			if (suite_scenario(run, scales[j % COUNT(scales)], false, NULL, 0, &scenario,
					   &error))
				fail_msg("%s %s: %s", suite.name, run->name, error.text);
		}
		suite_free(&suite);
	}
	assert_int_equal(suite_named(&suite, "rtt3", &error), -1);
	assert_non_null(strstr(error.text, "did you mean rtt30?"));
	suite_free(&suite);
}

static struct suite_row row_of(const char *name, const char *class, double mean, double delivered)
{
	struct suite_row row = { .rtt = { .count = 10, .mean = mean }, .increase_ns = mean - 1e6,
				 .delivered = delivered, .delivered_reverse = NAN };

	snprintf(row.name, sizeof(row.name), "%s", name);
	snprintf(row.label, sizeof(row.label), "%s", name);
	snprintf(row.class, sizeof(row.class), "%s", class);
	return row;
}

static void test_classes(void **state)
{
	struct suite_row rows[] = {
		row_of("slow", "A", 400e6, 9e6), row_of("quick", "B", 3e6, 9.2e6),
		row_of("lacking", "B", 0, NAN), row_of("middle", "A", 100e6, 9.1e6),
	};
	struct suite_class classes[4];
	size_t order[4];
	char words[512];

	(void)state;
	rows[2].status = SUITE_CANNOT;
	assert_int_equal(suite_classes(rows, 4, classes, 4), 2);
	assert_string_equal(classes[0].name, "A");
	assert_int_equal(classes[0].runs, 2);
	assert_true(classes[0].rtt.mean == 250e6 && classes[0].rtt.min == 100e6);
	assert_string_equal(classes[0].lowest, "middle");
	assert_string_equal(classes[0].highest, "slow");
	assert_int_equal(classes[1].runs, 1);
	assert_int_equal(suite_rank(rows, 4, order), 3);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[2], 0);
	suite_conclude(rows, 4, words, sizeof(words));
	assert_string_equal(words,
			    "The RTT rises least under quick (2.00 ms in the mean) and most under slow (399 ms, 200 times as much). What was delivered does not tell them apart: 9.00 Mbit/s to 9.20 Mbit/s.");
	rows[0].delivered = 4e6;
	suite_conclude(rows, 4, words, sizeof(words));
	assert_non_null(strstr(words, "Delivered were 4.00 Mbit/s (slow) to 9.20 Mbit/s (quick)."));
}

/* A row has the figures of its result, and the document those of its rows. */
static void test_row(void **state)
{
	struct suite_outcome outcome = { .scale = 1, .row_count = 1, .runs_asked = 1, .runs_done = 1 };
	struct suite suite = { .name = "few" };
	const struct phase *load;
	struct suite_row row = { .name = "first", .class = "A" };
	struct result result;
	cJSON *root, *run;
	char *json;

	(void)state;
	result_init(&result);
	make_result(&result);
	load = result_phase(&result, PHASE_LOAD);
	assert_int_equal(suite_row_fill(&row, &result, load), 0);
	assert_int_equal(row.status, SUITE_DONE);
	assert_int_equal(row.rtt.count, load->received);
	assert_true(row.rtt.max == (double)load->rtt.max && row.rtt.min == (double)load->rtt.min);
	assert_true(fabs(row.rtt.mean - load->rtt.mean) < 1);
	assert_true(row.delivered == load->load.iperf3.received.bits_per_second);
	assert_true(row.share == load->load.attribution.cause.share);
	outcome.suite = &suite;
	outcome.rows = &row;
	json = out_suite_json(&outcome);
	root = cJSON_Parse(json);
	assert_non_null(root);
	assert_string_equal(cJSON_GetObjectItem(root, "schema")->valuestring, "sojourn-suite/1");
	run = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "runs"), 0);
	assert_string_equal(cJSON_GetObjectItem(run, "status")->valuestring, "done");
	assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(run, "rtt_ns"), "max")->valuedouble ==
		    row.rtt.max);
	cJSON_Delete(root);
	cJSON_free(json);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_built_in),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
