// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "expression.h"

/* A few probes cannot tell how much they vary. */
#define PROBES_MIN		10

#define MATTERS_SHARE		0.05
#define MATTERS_NS		200000.0
#define MATTERS_COUNT		3.0
#define MATTERS_POINTS		0.02

enum better { BETTER_LESS, BETTER_MORE, BETTER_NEITHER };

/* What is compared of each phase, as conditions name it behind the phase. */
static const struct {
	const char *name;
	enum better better;
	double matters;		/* at least, in its unit */
	double percent;		/* of the RTT of probes: the percentile; 0: none, -1: the mean */
} figures[] = {
	{ "rtt.p50", BETTER_LESS, MATTERS_NS, 50 },
	{ "rtt.p95", BETTER_LESS, MATTERS_NS, 95 },
	{ "rtt.p99", BETTER_LESS, MATTERS_NS, 99 },
	{ "rtt.max", BETTER_LESS, MATTERS_NS, 0 },
	{ "rtt.mean", BETTER_LESS, MATTERS_NS, -1 },
	{ "lost", BETTER_LESS, MATTERS_COUNT, 0 },
	{ "increase", BETTER_LESS, MATTERS_NS, 0 },
	{ "rpm", BETTER_MORE, 0, 0 },
	{ "received_rate", BETTER_MORE, 0, 0 },
	{ "retransmits", BETTER_LESS, MATTERS_COUNT, 0 },
	{ "drops", BETTER_LESS, MATTERS_COUNT, 0 },
	{ "sojourn.p50", BETTER_LESS, MATTERS_NS, 0 },
	{ "sojourn.p99", BETTER_LESS, MATTERS_NS, 0 },
	{ "share", BETTER_NEITHER, MATTERS_POINTS, 0 },
	{ "explained", BETTER_NEITHER, MATTERS_POINTS, 0 },
};

#define FIGURES	(sizeof(figures) / sizeof(figures[0]))

/* ---- values ---- */

struct values {
	double *values;
	size_t count;
};

static double median(double *values, size_t count, const void *context)
{
	(void)context;
	return statistics_percentile(values, count, 50);
}

static double probe_figure(double *values, size_t count, const void *context)
{
	double percent = *(const double *)context;

	return percent < 0 ? statistics_mean(values, count) :
			     statistics_percentile(values, count, percent);
}

/* The figure of each result of a side; those that lack it are left out. */
static int of_results(const struct compare_side *side, const char *name, struct values *out)
{
	double value;
	size_t i;

	out->count = 0;
	out->values = calloc(side->count, sizeof(*out->values));
	for (i = 0; out->values && i < side->count; i++)
		if (expression_figure(name, &side->results[i], &value))
			out->values[out->count++] = value;
	return out->values ? 0 : -1;
}

/* RTT of the answered probes of a phase, by the time that they were sent at. */
static int of_probes(const struct result *result, const char *phase_name, struct values *out)
{
	const struct phase *phase = result_phase_named(result, phase_name);
	size_t i;

	out->count = 0;
	out->values = calloc(result->probe_count + 1, sizeof(*out->values));
	if (!out->values)
		return -1;
	for (i = 0; phase && i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], phase))
			out->values[out->count++] = (double)result->probes[i].rtt_ns;
	return 0;
}

/* ---- a row ---- */

static bool matters(const struct compare_row *row, size_t figure)
{
	double change = fabs(row->after - row->before);

	return change >= figures[figure].matters && change > 0 &&
	       change >= MATTERS_SHARE * fabs(row->before);
}

static enum compare_verdict judge(const struct compare_row *row, size_t figure)
{
	double change = row->after - row->before;

	if (!matters(row, figure))
		return COMPARE_SAME;
	if (row->have_interval && row->change.low <= 0 && row->change.high >= 0)
		return COMPARE_UNSURE;
	if (figures[figure].better == BETTER_NEITHER)
		return COMPARE_CHANGED;
	return (change < 0) == (figures[figure].better == BETTER_LESS) ? COMPARE_BETTER :
									 COMPARE_WORSE;
}

static int compare_repeats(struct comparison *comparison, const struct values *before,
			   const struct values *after, struct compare_row *row)
{
	row->p = statistics_mann_whitney(before->values, before->count, after->values,
					 after->count);
	if (before->count < COMPARE_REPEATS || after->count < COMPARE_REPEATS)
		return 0;
	row->have_interval = true;
	return statistics_bootstrap(before->values, before->count, after->values, after->count, 1,
				    comparison->confidence, median, NULL, &row->change);
}

static int compare_probes(struct comparison *comparison, const struct compare_side *before,
			  const struct compare_side *after, const char *phase, size_t figure,
			  struct compare_row *row)
{
	struct values was = { 0 }, is = { 0 };
	size_t block;
	int err = -1;

	if (of_probes(before->results, phase, &was) || of_probes(after->results, phase, &is))
		goto out;
	err = 0;
	block = statistics_block(was.count < is.count ? was.count : is.count);
	if (was.count < PROBES_MIN || is.count < PROBES_MIN)
		goto out;
	row->have_interval = true;
	err = statistics_bootstrap(was.values, was.count, is.values, is.count, block,
				   comparison->confidence, probe_figure, &figures[figure].percent,
				   &row->change);
out:
	free(was.values);
	free(is.values);
	return err;
}

static int compare_figure(struct comparison *comparison, const struct compare_side *before,
			  const struct compare_side *after, const char *phase, size_t figure)
{
	struct compare_row row = { .p = NAN };
	struct values was = { 0 }, is = { 0 };
	int err = -1;

	snprintf(row.name, sizeof(row.name), "%s.%s", phase, figures[figure].name);
	if (of_results(before, row.name, &was) || of_results(after, row.name, &is))
		goto out;
	err = 0;
	if (!was.count || !is.count || comparison->count == COMPARE_ROWS_MAX)
		goto out;
	row.before = median(was.values, was.count, NULL);
	row.after = median(is.values, is.count, NULL);
	if (comparison->by_repeats)
		err = compare_repeats(comparison, &was, &is, &row);
	else if (figures[figure].percent)
		err = compare_probes(comparison, before, after, phase, figure, &row);
	row.verdict = judge(&row, figure);
	if (!err)
		comparison->rows[comparison->count++] = row;
out:
	free(was.values);
	free(is.values);
	return err;
}

int compare_fill(struct comparison *comparison, const struct compare_side *before,
		 const struct compare_side *after, double confidence, struct error *error)
{
	const struct scenario_phase *phases;
	unsigned int count = scenario_known_phases(&phases), i;
	struct compare_side first[2] = { *before, *after };
	size_t figure;

	memset(comparison, 0, sizeof(*comparison));
	comparison->confidence = confidence;
	comparison->by_repeats = before->count >= COMPARE_REPEATS &&
				 after->count >= COMPARE_REPEATS;
	if (!comparison->by_repeats)
		first[0].count = first[1].count = 1;
	for (i = 0; i < count; i++)
		for (figure = 0; figure < FIGURES; figure++)
			if (compare_figure(comparison, &first[0], &first[1], phases[i].name, figure))
				return error_set(error, EXIT_CANNOT, "out of memory");
	return 0;
}

const struct compare_row *compare_row_find(const struct comparison *comparison, const char *name)
{
	size_t i;

	for (i = 0; i < comparison->count; i++)
		if (!strcmp(comparison->rows[i].name, name))
			return &comparison->rows[i];
	return NULL;
}

const char *compare_verdict_text(enum compare_verdict verdict)
{
	static const char *const texts[] = {
		[COMPARE_SAME] = "same",
		[COMPARE_BETTER] = "better",
		[COMPARE_WORSE] = "worse",
		[COMPARE_CHANGED] = "changed",
		[COMPARE_UNSURE] = "cannot tell",
	};

	return texts[verdict];
}
