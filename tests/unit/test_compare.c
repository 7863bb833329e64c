// SPDX-License-Identifier: GPL-2.0
#include "compare.h"
#include "out_compare.h"
#include "whole_result.h"

/* All RTTs under load times factor; what is summed up follows. */
static void make_side(struct result *result, double factor)
{
	struct error error;
	size_t i;

	make_result(result);
	for (i = 0; i < result->probe_count; i++)
		if (result->probes[i].phase == PHASE_LOAD)
			result->probes[i].rtt_ns = (__u64)((double)result->probes[i].rtt_ns * factor);
	for (i = 0; i < result->phase_count; i++) {
		free(result->phases[i].qdiscs);
		result->phases[i].qdiscs = NULL;
	}
	assert_int_equal(phase_fill(result, &error), 0);
}

static void fill(struct comparison *comparison, struct result *before, size_t before_count,
		 struct result *after, size_t after_count)
{
	const struct compare_side was = { before, before_count }, is = { after, after_count };
	struct error error;

	if (compare_fill(comparison, &was, &is, 0.95, &error))
		fail_msg("%s", error.text);
}

static const struct compare_row *row(const struct comparison *comparison, const char *name)
{
	const struct compare_row *found = compare_row_find(comparison, name);

	if (!found)
		fail_msg("no %s", name);
	return found;
}

static void test_two_runs(void **state)
{
	struct result before, after;
	struct comparison comparison;
	const struct compare_row *found;

	(void)state;
	make_side(&before, 1);
	make_side(&after, 0.5);
	fill(&comparison, &before, 1, &after, 1);
	assert_false(comparison.by_repeats);
	found = row(&comparison, "load.rtt.p50");
	assert_true(found->before > 319 * (double)MS && found->before < 322 * (double)MS);
	assert_true(fabs(found->after - found->before / 2) <= 1);
	assert_true(found->have_interval && isnan(found->p));
	assert_true(found->change.low <= found->after - found->before &&
		    found->change.high >= found->after - found->before);
	assert_int_equal(found->verdict, COMPARE_BETTER);
	assert_int_equal(row(&comparison, "idle.rtt.p50")->verdict, COMPARE_SAME);
	found = row(&comparison, "load.received_rate");
	assert_false(found->have_interval);
	assert_int_equal(found->verdict, COMPARE_SAME);
	/* phases that neither has, and what an idle phase does not have */
	assert_null(compare_row_find(&comparison, "upload.rtt.p50"));
	assert_null(compare_row_find(&comparison, "idle.received_rate"));
	fill(&comparison, &after, 1, &before, 1);
	assert_int_equal(row(&comparison, "load.rtt.p50")->verdict, COMPARE_WORSE);
	result_free(&before);
	result_free(&after);
}

/* More is better of what was delivered; a change below 5 % is none. */
static void test_directions_and_bounds(void **state)
{
	struct result before, after;
	struct comparison comparison;
	struct iperf3_sum *received;

	(void)state;
	make_side(&before, 1);
	make_side(&after, 1.04);
	received = &after.phases[PHASE_LOAD].load.iperf3.received;
	received->bits_per_second *= 1.06;
	fill(&comparison, &before, 1, &after, 1);
	assert_int_equal(row(&comparison, "load.received_rate")->verdict, COMPARE_BETTER);
	assert_int_equal(row(&comparison, "load.rtt.p50")->verdict, COMPARE_SAME);
	fill(&comparison, &after, 1, &before, 1);
	assert_int_equal(row(&comparison, "load.received_rate")->verdict, COMPARE_WORSE);
	result_free(&before);
	result_free(&after);
}

/* Nine probes of a phase: a figure, and no word on how sure it is. */
static void test_few_probes(void **state)
{
	struct result before, after;
	struct comparison comparison;
	unsigned int left = 9;
	struct error error;
	size_t i;

	(void)state;
	make_side(&before, 1);
	make_side(&after, 0.5);
	for (i = 0; i < after.probe_count; i++)
		if (after.probes[i].phase == PHASE_LOAD && !after.probes[i].lost) {
			after.probes[i].lost = !left;
			left -= !!left;
		}
	for (i = 0; i < after.phase_count; i++) {
		free(after.phases[i].qdiscs);
		after.phases[i].qdiscs = NULL;
	}
	assert_int_equal(phase_fill(&after, &error), 0);
	assert_int_equal(after.phases[PHASE_LOAD].received, 9);
	fill(&comparison, &before, 1, &after, 1);
	assert_false(row(&comparison, "load.rtt.p50")->have_interval);
	assert_true(row(&comparison, "idle.rtt.p50")->have_interval);
	result_free(&before);
	result_free(&after);
}

static void make_repeats(struct result *results, const double *factors, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		make_side(&results[i], factors[i]);
}

static void test_repeats(void **state)
{
	static const double around[] = { 0.9, 1, 1.1, 1.2 }, low[] = { 0.4, 0.5, 0.45, 0.55 };
	static const double wide[] = { 0.2, 1.3, 1.6, 0.9 };
	struct result before[4], after[4], unsure[4];
	const struct compare_row *found;
	struct comparison comparison;
	size_t i;

	(void)state;
	make_repeats(before, around, 4);
	make_repeats(after, low, 4);
	make_repeats(unsure, wide, 4);
	fill(&comparison, before, 4, after, 4);
	assert_true(comparison.by_repeats);
	found = row(&comparison, "load.rtt.p50");
	/* 4 and 4, none of them between the others: 2 of 70 ways */
	assert_true(fabs(found->p - 2.0 / 70) < 1e-9);
	assert_int_equal(found->verdict, COMPARE_BETTER);
	fill(&comparison, before, 4, unsure, 4);
	found = row(&comparison, "load.rtt.p50");
	assert_true(found->change.low < 0 && found->change.high > 0);
	assert_int_equal(found->verdict, COMPARE_UNSURE);
	/* two are no repeats */
	fill(&comparison, before, 2, after, 4);
	assert_false(comparison.by_repeats);
	for (i = 0; i < 4; i++) {
		result_free(&before[i]);
		result_free(&after[i]);
		result_free(&unsure[i]);
	}
}

static void test_words(void **state)
{
	char *names[] = { "a.json", "b.json" }, *text = NULL, *document;
	struct comparison comparison;
	struct compare_output output = { .comparison = &comparison };
	struct result before, after;
	struct error error;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	const char *line;

	(void)state;
	assert_non_null(file);
	make_side(&before, 1);
	make_side(&after, 0.5);
	assert_int_equal(scenario_set(&after.scenario, "qdisc.kind=fq_codel", &error), 0);
	after.complete = false;
	snprintf(after.incomplete_why, sizeof(after.incomplete_why), "3 packets are missing");
	fill(&comparison, &before, 1, &after, 1);
	output.sides[0] = (struct compare_side){ &before, 1 };
	output.sides[1] = (struct compare_side){ &after, 1 };
	output.sources[0] = (struct compare_source){ "a.json", &names[0] };
	output.sources[1] = (struct compare_source){ "b.json", &names[1] };
	out_compare_text(&output, file, false);
	assert_int_equal(fclose(file), 0);
	assert_non_null(strstr(text, "before  a.json: scenario bottleneck"));
	assert_non_null(strstr(text, "INCOMPLETE: b.json: 3 packets are missing"));
	assert_non_null(strstr(text, "differs: qdisc.kind was tbf, is fq_codel\n"));
	assert_non_null(strstr(text, "RTT under load (median) fell from 320 ms to 160 ms (-50 %): better"));
	assert_non_null(strstr(text, "these two runs, not about what repeats would give"));
	for (line = text; *line; line += strcspn(line, "\n") + 1)
		if (strstr(line, "load.rtt") == line)
			assert_true(strcspn(line, "\n") <= 100);
	document = out_compare_json(&output);
	assert_non_null(document);
	assert_non_null(strstr(document, "\"sojourn-compare/1\""));
	free(document);
	free(text);
	result_free(&before);
	result_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_directions_and_bounds),
		cmocka_unit_test(test_few_probes),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
