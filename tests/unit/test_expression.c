// SPDX-License-Identifier: GPL-2.0
/* Conditions of --fail-if: every figure of a made-up result, every operator, every mistake. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "expression.h"
#include "synthetic.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define MS		1000000ULL

static const struct summary rtt = {
	.count = 128, .min = 301 * MS, .p50 = 324 * MS, .p90 = 390 * MS, .p95 = 400 * MS,
	.p99 = 411 * MS, .max = 415 * MS, .mean = 325.5e6, .stdev = 12.25e6,
};

static const struct summary sojourn = {
	.count = 9000, .min = 1 * MS, .p50 = 320 * MS, .p90 = 380 * MS, .p95 = 395 * MS,
	.p99 = 409 * MS, .max = 414 * MS, .mean = 318e6,
};

static void fill_phase(struct phase *phase, unsigned int sent, unsigned int lost)
{
	phase->valid = true;
	phase->begin_ns = 1;
	phase->end_ns = 2;
	phase->sent = sent;
	phase->lost = lost;
	phase->received = sent - lost;
	phase->qdiscs = calloc(3, sizeof(*phase->qdiscs));
	assert_non_null(phase->qdiscs);
	phase->qdisc_count = 3;
	for (unsigned int i = 0; i < 3; i++)
		phase->qdiscs[i].qdisc = i;
}

/* Two roots, of which the second is the cause, and a child of it; idle, load and recovery. */
static void make_result(struct result *result)
{
	struct phase *load = &result->phases[PHASE_LOAD];

	assert_int_equal(synthetic_result(result), 0);
	result->qdiscs = reallocarray(result->qdiscs, 3, sizeof(*result->qdiscs));
	assert_non_null(result->qdiscs);
	result->qdiscs[1] = result->qdiscs[2] = result->qdiscs[0];
	result->qdiscs[2].root = false;
	result->qdisc_count = 3;
	fill_phase(&result->phases[PHASE_IDLE], 30, 0);
	fill_phase(load, 1000, 11);
	fill_phase(&result->phases[PHASE_RECOVERY], 40, 40);
	result->phases[PHASE_IDLE].rtt = (struct summary){ .count = 30, .min = 1, .p50 = 60000 };
	load->rtt = rtt;
	load->qdiscs[0].summary = (struct summary){ .count = 5, .min = 1, .p50 = 2, .max = 3 };
	load->qdiscs[1].summary = sojourn;
	load->qdiscs[0].drops = 3;
	load->qdiscs[1].drops = 104;
	load->qdiscs[2].drops = 100;
	result->phases[PHASE_LOAD].load.have_iperf3 = true;
	result->phases[PHASE_LOAD].load.iperf3.sent = (struct iperf3_sum){ .present = true, .bits_per_second = 10.7e6,
						   .retransmits = 104 };
	result->phases[PHASE_LOAD].load.iperf3.received = (struct iperf3_sum){ .present = true,
						       .bits_per_second = 9.57e6,
						       .retransmits = -1 };
	result->phases[PHASE_LOAD].load.attribution.valid = true;
	result->phases[PHASE_LOAD].load.attribution.rtt_increase_ns = 325.25e6;
	result->phases[PHASE_LOAD].load.attribution.explained = 0.9995;
	result->phases[PHASE_LOAD].load.attribution.cause.qdisc = 1;
	result->phases[PHASE_LOAD].load.attribution.cause.share = 0.998;
	result->phases[PHASE_LOAD].load.attribution.cause.held_share = 0.9;
	result->phases[PHASE_LOAD].load.attribution.cause.held_is_known = true;
	result->complete = true;
}

static struct expression *parse(const char *text)
{
	struct error error = { 0 };
	struct expression *expression = expression_parse(text, &error);

	if (!expression)
		fail_msg("'%s' refused: %s", text, error.text);
	return expression;
}

static bool holds(const struct result *result, const char *text)
{
	struct expression *expression = parse(text);
	struct error error = { 0 };
	bool found = false;

	if (expression_holds(expression, result, &found, &error))
		fail_msg("'%s' cannot be judged: %s", text, error.text);
	expression_free(expression);
	return found;
}

static void assert_holds(const struct result *result, const char *text)
{
	if (!holds(result, text))
		fail_msg("'%s' does not hold", text);
}

static void assert_not(const struct result *result, const char *text)
{
	if (holds(result, text))
		fail_msg("'%s' holds", text);
}

/* The figure is this value and no other one. */
static void assert_value(const struct result *result, const char *figure, const char *value)
{
	char text[128];

	snprintf(text, sizeof(text), "%s == %s", figure, value);
	assert_holds(result, text);
	snprintf(text, sizeof(text), "%s != %s", figure, value);
	assert_not(result, text);
}

static void test_every_figure(void **state)
{
	static const char *const values[][2] = {
		{ "load.rtt.min", "301ms" }, { "load.rtt.median", "324ms" },
		{ "load.rtt.p50", "324ms" }, { "load.rtt.p90", "390ms" },
		{ "load.rtt.p95", "400ms" }, { "load.rtt.p99", "411ms" },
		{ "load.rtt.max", "415ms" }, { "load.rtt.mean", "325.5ms" },
		{ "load.rtt.stdev", "12.25ms" }, { "idle.rtt.median", "60us" },
		{ "idle.sent", "30" }, { "idle.lost", "0" }, { "idle.received", "30" },
		{ "load.sent", "1000" }, { "load.lost", "11" }, { "load.received", "989" },
		{ "load.loss", "1.1%" }, { "load.loss", "0.011" }, { "idle.loss", "0" },
		{ "recovery.loss", "100%" }, { "recovery.lost", "40" }, { "recovery.received", "0" },
		{ "load.sojourn.min", "1ms" }, { "load.sojourn.median", "320ms" },
		{ "load.sojourn.p50", "320ms" }, { "load.sojourn.p90", "380ms" },
		{ "load.sojourn.p95", "395ms" }, { "load.sojourn.p99", "409ms" },
		{ "load.sojourn.max", "414ms" }, { "load.sojourn.mean", "318ms" },
		{ "load.drops", "107" }, { "idle.drops", "0" },
		{ "load.increase", "325.25ms" }, { "load.share", "99.8%" },
		{ "load.exclusive_share", "90%" },
		{ "load.explained", "0.9995" }, { "load.sent_rate", "10.7mbit" },
		{ "load.received_rate", "9.57mbit" }, { "load.retransmits", "104" },
		{ "complete", "1" },
	};
	struct result result;

	(void)state;
	make_result(&result);
	for (size_t i = 0; i < COUNT(values); i++)
		assert_value(&result, values[i][0], values[i][1]);
	result.complete = false;
	assert_value(&result, "complete", "0");
	result_free(&result);
}

static void copy_phase(struct phase *to, const struct phase *from)
{
	const struct scenario_phase plan = to->plan;

	*to = *from;
	to->plan = plan;
}

/* With two loads each has figures of its own, and a phase after a load those of that load. */
static void test_figures_of_two_loads(void **state)
{
	struct result result, two;

	(void)state;
	make_result(&result);
	result_init(&two);
	two.scenario.load.direction = LOAD_EACH;
	result_plan(&two);
	two.qdiscs = result.qdiscs;
	two.qdisc_count = result.qdisc_count;
	copy_phase(&two.phases[0], &result.phases[PHASE_IDLE]);
	copy_phase(&two.phases[1], &result.phases[PHASE_LOAD]);
	copy_phase(&two.phases[3], &result.phases[PHASE_LOAD]);
	copy_phase(&two.phases[4], &result.phases[PHASE_LOAD]);
	two.phases[3].rtt.p99 = 222 * MS;
	two.phases[3].load.attribution.cause.share = 0.5;
	two.phases[3].load.attribution.cause.qdisc = 0;
	two.phases[3].load.iperf3.received.bits_per_second = 19e6;
	assert_value(&two, "upload.rtt.p99", "411ms");
	assert_value(&two, "download.rtt.p99", "222ms");
	assert_value(&two, "upload.share", "99.8%");
	assert_value(&two, "download.share", "50%");
	assert_value(&two, "upload.received_rate", "9.57mbit");
	assert_value(&two, "download.received_rate", "19mbit");
	assert_value(&two, "upload.sojourn.max", "414ms");
	assert_value(&two, "download.sojourn.max", "3ns");
	assert_value(&two, "recovery.sojourn.max", "3ns");
	result_free(&result);
}

/* A figure of a phase that the run does not have is told before the run. */
static void test_phases_of_the_scenario(void **state)
{
	static const struct { const char *figure, *scenario, *wanted; } cases[] = {
		{ "load.rtt.p99 > 1ms", "bottleneck", NULL },
		{ "upload.rtt.p99 > 1ms", "office", NULL },
		{ "complete == 0", "office", NULL },
		{ "between.lost > 0", "office", NULL },
		{ "load.share < 50%", "office",
		  "load.share: this run has no phase \"load\"; it has idle, upload, between, download, recovery, restored" },
		{ "download.lost > 0", "bottleneck",
		  "no phase \"download\"; it has idle, load, recovery, restored" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct expression *expression = parse(cases[i].figure);
		struct scenario scenario;
		struct error error = { 0 };

		assert_int_equal(scenario_named(&scenario, cases[i].scenario, &error), 0);
		assert_int_equal(expression_check(expression, &scenario, &error),
				 cases[i].wanted ? -1 : 0);
		if (cases[i].wanted && !strstr(error.text, cases[i].wanted))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].wanted);
		assert_int_equal(error.code, cases[i].wanted ? EXIT_USAGE : 0);
		expression_free(expression);
	}
}

static void test_operators(void **state)
{
	static const struct { const char *name; bool below, same, above; } operators[] = {
		{ ">", true, false, false }, { ">=", true, true, false },
		{ "<", false, false, true }, { "<=", false, true, true },
		{ "==", false, true, false }, { "!=", true, false, true },
	};
	struct result result;
	char text[64];

	(void)state;
	make_result(&result);
	for (size_t i = 0; i < COUNT(operators); i++) {
		snprintf(text, sizeof(text), "load.lost %s 10", operators[i].name);
		assert_int_equal(holds(&result, text), operators[i].below);
		snprintf(text, sizeof(text), "load.lost %s 11", operators[i].name);
		assert_int_equal(holds(&result, text), operators[i].same);
		snprintf(text, sizeof(text), "load.lost %s 12", operators[i].name);
		assert_int_equal(holds(&result, text), operators[i].above);
	}
	result_free(&result);
}

static void test_blanks_and_units(void **state)
{
	static const char *const same[] = {
		"load.rtt.p99>410ms", "load.rtt.p99 > 410ms", " \tload.rtt.p99  >\n410 ms  ",
		"load.rtt.p99>0.41", "load.rtt.p99 > 0.41 s", "load.rtt.p99 > 410000us",
		"load.received_rate<9.6mbit", "load.received_rate < 9600 kbit ",
		"load.received_rate < 9600000", "load.received_rate < 1200 kbps",
		"load.share >= 99.8 %", "load.share>=.998", "load.lost>10", "complete==1",
	};
	struct result result;

	(void)state;
	make_result(&result);
	for (size_t i = 0; i < COUNT(same); i++)
		assert_holds(&result, same[i]);
	/* One nanosecond decides. */
	assert_holds(&result, "load.rtt.p99 > 410999999ns");
	assert_not(&result, "load.rtt.p99 > 411000000ns");
	result_free(&result);
}

/* Every share k / 1000, written as a percentage with one digit, is that share exactly. */
static void test_percent_is_exact(void **state)
{
	struct result result;
	char text[32];

	(void)state;
	make_result(&result);
	for (unsigned int k = 0; k <= 1000; k++) {
		result.phases[PHASE_LOAD].lost = k;
		snprintf(text, sizeof(text), "%u.%u%%", k / 10, k % 10);
		assert_value(&result, "load.loss", text);
	}
	result_free(&result);
}

static void test_mistakes(void **state)
{
	static const char *const mistakes[][2] = {
		{ "", "expected a figure at character 1," },
		{ "   ", "expected a figure at character 4," },
		{ "> 20ms", "expected a figure at character 1," },
		{ "load.rtt.p99", "expected an operator (> >= < <= == !=) at character 13" },
		{ "load.rtt.p99 20ms", "expected an operator (> >= < <= == !=) at character 14" },
		{ "load.rtt.p99 = 20ms", "expected an operator (> >= < <= == !=) at character 14" },
		{ "load.rtt.p99 => 20ms", "expected an operator (> >= < <= == !=) at character 14" },
		{ "load.rtt.p99 >", "expected a time such as 20ms at character 15" },
		{ "load.rtt.p99 >  ", "expected a time such as 20ms at character 17" },
		{ "load.lost >", "expected a count such as 3 at character 12" },
		{ "load.sent_rate <", "expected a rate such as 9mbit at character 17" },
		{ "load.share <", "expected a fraction such as 1% at character 13" },
		{ "load.rtt.p99 > 20xs", "at character 16: load.rtt.p99 is a time; time \"20xs\" has an unknown unit" },
		{ "load.rtt.p99 >> 20ms", "at character 15: load.rtt.p99 is a time; time \"> 20ms\"" },
		{ "load.rtt.p99 > -1ms", "is negative" },
		{ "load.rtt.p99 > 1 000ms", "has an unknown unit" },
		{ "load.rtt.p99 > 1ms 2", "has an unknown unit" },
		{ "load.received_rate < 9mbits", "rate \"9mbits\" has an unknown unit" },
		{ "load.lost > 99999999999999999999", "is too large" },
		{ "load.lost > 1.5", "is not a whole number" },
		{ "load.lost > 1%", "number \"1%\"" },
		{ "load.received < 9mbit",
		  "at character 17: load.received is a count; number \"9mbit\" has an unknown unit" },
		{ "load.loss > 5", "fraction \"5\" is more than 100 %; write it like 1% or 0.01" },
		{ "load.loss > 100.1%", "is more than 100 %" },
		{ "load.loss > 1%%", "does not end with its number or %" },
		{ "load.loss > %", "is no number" },
		{ "load.loss > .", "is no number" },
		{ "load.loss > 0x1", "does not end with its number or %" },
		{ "load.loss > 1e-2", "does not end with its number or %" },
		{ "load.loss > -1%", "is no number" },
		{ "load.loss > nan", "is no number" },
		{ "load.loss > 0.1234567890123456", "has more than 15 digits" },
		{ "complete == 2", "\"2\" is neither 0 (no) nor 1 (yes)" },
		{ "complete == true", "is neither 0 (no) nor 1 (yes)" },
		/* One character, three bytes. */
		{ "\xe2\x82\xac > 1", "unknown figure \"\xe2\x82\xac\" at character 1" },
		{ "\xe2\x82\xac", "unknown figure" },
		{ "load.rtt.p99 \xe2\x82\xac", "at character 14" },
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct expression *expression;

		memset(&error, 0, sizeof(error));
		expression = expression_parse(mistakes[i][0], &error);
		if (expression)
			fail_msg("'%s' taken", mistakes[i][0]);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_null(strchr(error.text, '\n'));
		if (!strstr(error.text, mistakes[i][1]))
			fail_msg("'%s': \"%s\" does not say \"%s\"", mistakes[i][0], error.text,
				 mistakes[i][1]);
	}
	/* error may be NULL. */
	assert_null(expression_parse("load.rtt.p99 > 20xs", NULL));
	assert_null(expression_parse("nonsense >", NULL));
}

static void test_close_names(void **state)
{
	static const char *const close[][2] = {
		{ "laod.rtt.p99 > 1", "did you mean load.rtt.p99?" },
		{ "load.rtt.P99 > 1", "did you mean load.rtt.p99?" },
		{ "load.rtt.p98 > 1", "load.rtt.p99" },
		{ "load.rtt > 1", "load.rtt.p99" },
		{ "load.rtt > 1", "load.rtt.max" },
		{ "load > 1", "load.received_rate" },
		{ "rtt.p99 > 1", "load.rtt.p99" },
		{ "rtt.p99 > 1", "restored.rtt.p99" },
		{ "lost > 1", "recovery.lost" },
		{ "load.recieved_rate > 1", "did you mean load.received_rate?" },
		{ "load.retransmit > 1", "did you mean load.retransmits?" },
		{ "compleet == 1", "did you mean complete?" },
		/* A sum over all packets has no standard deviation here. */
		{ "load.sojourn.stdev > 1", "unknown figure" },
		{ "idle.retransmits > 1", "unknown figure" },
		{ "latency.of.the.internet > 1", "`sojourn help run` lists them" },
	};
	struct error error;

	(void)state;
	for (size_t i = 0; i < COUNT(close); i++) {
		assert_null(expression_parse(close[i][0], &error));
		if (!strstr(error.text, close[i][1]))
			fail_msg("'%s': \"%s\" does not say \"%s\"", close[i][0], error.text,
				 close[i][1]);
	}
}

/* Longer than anything that is kept of it. */
static void test_long_texts(void **state)
{
	static char text[100064];
	size_t length = 100000;
	struct error error;

	(void)state;
	memset(text, 'a', length);
	strcpy(text + length, " > 1");
	assert_null(expression_parse(text, &error));
	assert_non_null(strstr(error.text, "unknown figure \"aaaa"));

	memcpy(text, "load.loss > 0.0", 15);
	memset(text + 15, '0', length - 15);
	text[length] = '\0';
	assert_null(expression_parse(text, &error));
	assert_non_null(strstr(error.text, "at character 13: a fraction of more than 60 characters"));
	memcpy(text, "load.sent > 1", 13);
	assert_null(expression_parse(text, &error));
	assert_non_null(strstr(error.text, "a count of more than 60 characters"));
	memcpy(text, "complete == 1", 13);
	assert_null(expression_parse(text, &error));
	assert_non_null(strstr(error.text, "a flag of more than 60 characters"));
}

static void assert_missing(const struct result *result, const char *text, const char *why)
{
	struct expression *expression = parse(text);
	struct error error = { 0 };
	char described[256];
	bool found = false;

	if (!expression_holds(expression, result, &found, &error))
		fail_msg("'%s' was judged", text);
	assert_int_equal(error.code, EXIT_INCOMPLETE);
	if (!strstr(error.text, why))
		fail_msg("'%s': \"%s\" does not say \"%s\"", text, error.text, why);
	assert_int_equal(expression_describe(expression, result, described, sizeof(described),
					     &error), -1);
	expression_free(expression);
}

static void test_missing_values(void **state)
{
	struct result result;

	(void)state;
	make_result(&result);
	assert_missing(&result, "restored.rtt.p99 > 1ms",
		       "restored.rtt.p99 has no value: the phase did not take place");
	assert_missing(&result, "restored.lost > 0", "did not take place");
	assert_missing(&result, "restored.drops == 0", "did not take place");
	assert_missing(&result, "recovery.rtt.max < 1ms", "no probe of the phase was answered");
	assert_missing(&result, "idle.sojourn.p99 > 0", "no packet went through the cause qdisc");
	result.phases[PHASE_IDLE].rtt.count = 1;
	assert_missing(&result, "idle.rtt.stdev == 0", "has no standard deviation");
	result.phases[PHASE_IDLE].sent = 0;
	assert_missing(&result, "idle.loss == 0", "no probe was sent");
	result.phases[PHASE_IDLE].received = 0;
	assert_missing(&result, "load.increase < 1ms", "both when idle and under load");
	result.phases[PHASE_IDLE].qdisc_count = 0;
	assert_missing(&result, "idle.drops == 0", "no qdisc was traced");
	result.phases[PHASE_LOAD].load.iperf3.sent.retransmits = -1;
	assert_missing(&result, "load.retransmits == 0", "no retransmits");
	result.phases[PHASE_LOAD].load.iperf3.received.present = false;
	assert_missing(&result, "load.received_rate < 1mbit", "no receiver's sum");
	result.phases[PHASE_LOAD].load.have_iperf3 = false;
	assert_missing(&result, "load.sent_rate < 1mbit", "no sender's sum");
	result.phases[PHASE_LOAD].load.attribution.cause.held_is_known = false;
	assert_missing(&result, "load.exclusive_share < 1%", "does not see the children");
	result.phases[PHASE_LOAD].load.attribution.cause.share = NAN;
	assert_missing(&result, "load.share < 1%", "it has no meaning here");
	result.phases[PHASE_LOAD].load.attribution.valid = false;
	result.phases[PHASE_LOAD].load.attribution.cause.qdisc = RESULT_NO_QDISC;
	assert_missing(&result, "load.share < 1%", "no RTT increase");
	assert_missing(&result, "load.exclusive_share < 1%", "no RTT increase");
	assert_missing(&result, "load.explained < 1%", "no RTT increase");
	assert_missing(&result, "load.sojourn.p99 < 1ms", "no qdisc was found");
	result_free(&result);
}

static void assert_described(const struct result *result, const char *text, const char *wanted)
{
	struct expression *expression = parse(text);
	char described[256], cut[9];
	struct error error;

	assert_int_equal(expression_describe(expression, result, described, sizeof(described),
					     &error), 0);
	assert_string_equal(described, wanted);
	assert_int_equal(expression_describe(expression, result, cut, sizeof(cut), &error), 0);
	assert_int_equal(strlen(cut), sizeof(cut) - 1);
	expression_free(expression);
}

static void test_describe(void **state)
{
	struct result result;

	(void)state;
	make_result(&result);
	assert_described(&result, "load.rtt.p99>20 ms", "load.rtt.p99 is 411 ms, which is > 20ms");
	assert_described(&result, "load.rtt.p99 < 20ms",
			 "load.rtt.p99 is 411 ms, which is not < 20ms");
	assert_described(&result, "load.loss > 1%", "load.loss is 1.1 %, which is > 1%");
	assert_described(&result, "load.lost == 11", "load.lost is 11, which is == 11");
	assert_described(&result, "load.received_rate < 9.6mbit",
			 "load.received_rate is 9.57 Mbit/s, which is < 9.6mbit");
	assert_described(&result, "complete == 0", "complete is 1, which is not == 0");
	/* The same three digits: which side it is on must be seen. */
	result.phases[PHASE_LOAD].rtt.p99 = 20000400;
	assert_described(&result, "load.rtt.p99 > 20ms",
			 "load.rtt.p99 is 20.0 ms (20000400 ns), which is > 20ms");
	result.phases[PHASE_LOAD].load.attribution.cause.share = 0.9999;
	assert_described(&result, "load.share < 100%",
			 "load.share is 100 % (99.99 %), which is < 100%");
	result_free(&result);
}

/* What help prints, read back from a pipe: every name in it can be used. */
static void test_help_tells_all(void **state)
{
	char printed[8192], *line, *rest = printed, name[64];
	int ends[2], kept;
	unsigned int figures = 0;
	ssize_t length;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	assert_true(kept >= 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	expression_print_figures();
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	length = read(ends[0], printed, sizeof(printed) - 1);
	close(ends[0]);
	assert_true(length > 0);
	printed[length] = '\0';
	while ((line = strsep(&rest, "\n"))) {
		char text[128], *dot;
		struct error error;

		assert_true(strlen(line) <= 80);
		if (sscanf(line, "  %63s", name) != 1 || line[0] != ' ' ||
		    (!strchr(name, '.') && strcmp(name, "complete")))
			continue;
		dot = strstr(name, ".STATISTIC");
		if (dot)
			*dot = '\0';
		snprintf(text, sizeof(text), "%s%s%s >", strncmp(name, "PHASE", 5) ? "" : "restored",
			 strncmp(name, "PHASE", 5) ? name : name + 5, dot ? ".max" : "");
		/* Only the value is missing, so that the figure is known. */
		assert_null(expression_parse(text, &error));
		if (!strstr(error.text, "such as"))
			fail_msg("'%s': %s", text, error.text);
		figures++;
	}
	assert_int_equal(figures, 16);
}

static void assert_change(const char *text, double before, double after, bool expected,
			  const char *words)
{
	struct expression *expression;
	struct error error;
	char found[256];
	bool holds;

	expression = expression_parse_change(text, &error);
	if (!expression)
		fail_msg("%s: %s", text, error.text);
	if (expression_change_holds(expression, before, after, &holds, found, sizeof(found), &error))
		fail_msg("%s: %s", text, error.text);
	assert_string_equal(found, words);
	assert_int_equal(holds, expected);
	expression_free(expression);
}

static void test_conditions_of_a_change(void **state)
{
	(void)state;
	assert_change("change.load.rtt.p99 > 10%", 100e6, 111e6, true,
		      "change.load.rtt.p99 is +11 %, which is > 10%");
	assert_change("change.load.rtt.p99 > 10%", 100e6, 110e6, false,
		      "change.load.rtt.p99 is +10 %, which is not > 10%");
	assert_change("change.load.rtt.p99 < -50 %", 100e6, 40e6, true,
		      "change.load.rtt.p99 is -60 %, which is < -50%");
	assert_change(" change.load.rtt.p50>=5ms", 10e6, 15e6, true,
		      "change.load.rtt.p50 is +5.00 ms, which is >= 5ms");
	assert_change("change.load.drops > -5", 9, 3, false,
		      "change.load.drops is -6, which is not > -5");
	assert_change("change.load.share < -10%", 0.9, 0.7, true,
		      "change.load.share is -20 %, which is < -10%");
	assert_change("before.load.rtt.p50 > 1ms", 2e6, 0, true,
		      "before.load.rtt.p50 is 2.00 ms, which is > 1ms");
	assert_change("after.load.received_rate < 9mbit", 0, 8e6, true,
		      "after.load.received_rate is 8.00 Mbit/s, which is < 9mbit");
}

static void assert_no_change(const char *text, const char *words)
{
	struct error error;

	assert_null(expression_parse_change(text, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	if (!strstr(error.text, words))
		fail_msg("%s: %s", text, error.text);
}

static void test_mistakes_in_a_change(void **state)
{
	struct expression *expression;
	struct error error;
	char found[64];
	bool holds;

	(void)state;
	assert_no_change("load.rtt.p99 > 10%", "expected before., after. or change. at character 1");
	assert_no_change("change.load.rtt.p9 > 10%", "at character 8: did you mean load.rtt.p90");
	assert_no_change("change.load.rtt.p99 > x%", "at character 23: a change in percent");
	assert_no_change("change.load.rtt.p99 > 10%%", "at character 23: a change in percent");
	expression = expression_parse_change("change.load.rtt.p99 > 10%", &error);
	assert_non_null(expression);
	assert_string_equal(expression_name(expression), "load.rtt.p99");
	assert_int_equal(expression_change_holds(expression, 0, 1, &holds, found, sizeof(found),
						 &error), -1);
	assert_non_null(strstr(error.text, "it was 0 before"));
	expression_free(expression);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_figure),
		cmocka_unit_test(test_figures_of_two_loads),
		cmocka_unit_test(test_phases_of_the_scenario),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_blanks_and_units),
		cmocka_unit_test(test_percent_is_exact),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_close_names),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_help_tells_all),
		cmocka_unit_test(test_conditions_of_a_change),
		cmocka_unit_test(test_mistakes_in_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
