// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "out_compare.h"
#include "text.h"

#define SCHEMA		"sojourn-compare/1"
#define VERDICT_SIZE	512
#define CHANGE_SIZE	80
#define VALUE_SIZE	64

static const char *const side_names[] = { "before", "after" };

/* ---- words ---- */

/* "-362 ms": with its sign. */
static const char *signed_text(const char *name, double value, char text[VALUE_SIZE])
{
	char rounded[EXPRESSION_TEXT];

	expression_figure_text(name, fabs(value), rounded);
	snprintf(text, VALUE_SIZE, "%s%s", value < 0 ? "-" : "+", rounded);
	return text;
}

static void percent_text(const struct compare_row *row, char text[VALUE_SIZE])
{
	if (row->before)
		snprintf(text, VALUE_SIZE, "%+.0f %%",
			 (row->after - row->before) / fabs(row->before) * 100);
	else
		snprintf(text, VALUE_SIZE, "-");
}

/* Loads that both have, each with its sentence: RTT, then what was delivered. */
static void add_load_words(struct text *text, const struct comparison *comparison,
			   const char *phase)
{
	char name[COMPARE_NAME], before[EXPRESSION_TEXT], after[EXPRESSION_TEXT];
	char percent[VALUE_SIZE];
	const struct compare_row *row;

	snprintf(name, sizeof(name), "%s.rtt.p50", phase);
	row = compare_row_find(comparison, name);
	if (!row)
		return;
	percent_text(row, percent);
	text_add(text, "%sRTT under %s (median) %s from %s to %s (%s): %s",
		 text->used ? "; " : "", phase,
		 row->after < row->before ? "fell" : row->after > row->before ? "rose" : "went",
		 expression_figure_text(name, row->before, before),
		 expression_figure_text(name, row->after, after), percent,
		 compare_verdict_text(row->verdict));
	snprintf(name, sizeof(name), "%s.received_rate", phase);
	row = compare_row_find(comparison, name);
	if (row)
		text_add(text, "; delivered %s, before %s: %s",
			 expression_figure_text(name, row->after, after),
			 expression_figure_text(name, row->before, before),
			 compare_verdict_text(row->verdict));
}

static void verdict_words(const struct comparison *comparison, char verdict[VERDICT_SIZE])
{
	struct text text = text_begin(verdict, VERDICT_SIZE);
	const struct scenario_phase *phases;
	unsigned int count = scenario_known_phases(&phases), i;

	for (i = 0; i < count; i++)
		if (phases[i].kind == PHASE_LOAD)
			add_load_words(&text, comparison, phases[i].name);
	if (!text.used)
		text_add(&text, "no load that both have: nothing to say of it");
}

/* Called for each key of the scenario that is not the same on both sides; NULL: absent. */
typedef void key_differs(void *context, const char *key, const cJSON *before, const cJSON *after);

static void for_keys_of(const cJSON *keys, const cJSON *others, bool swapped, key_differs *differs,
			void *context)
{
	const cJSON *key, *other;

	cJSON_ArrayForEach(key, keys) {
		other = cJSON_GetObjectItemCaseSensitive(others, key->string);
		if (swapped ? !other : !other || !cJSON_Compare(key, other, true))
			differs(context, key->string, swapped ? NULL : key, swapped ? key : other);
	}
}

static void for_differences(const struct compare_output *output, key_differs *differs,
			    void *context)
{
	cJSON *before = scenario_json(&output->sides[0].results->scenario);
	cJSON *after = scenario_json(&output->sides[1].results->scenario);

	for_keys_of(before, after, false, differs, context);
	for_keys_of(after, before, true, differs, context);
	cJSON_Delete(before);
	cJSON_Delete(after);
}

/* ---- for a person ---- */

static void value_words(const cJSON *value, char text[VALUE_SIZE])
{
	if (!value)
		snprintf(text, VALUE_SIZE, "nothing");
	else if (cJSON_IsString(value))
		snprintf(text, VALUE_SIZE, "%s", value->valuestring);
	else if (cJSON_IsBool(value))
		snprintf(text, VALUE_SIZE, "%s", cJSON_IsTrue(value) ? "true" : "false");
	else
		snprintf(text, VALUE_SIZE, "%.12g", value->valuedouble);
}

static void print_difference(void *context, const char *key, const cJSON *before,
			     const cJSON *after)
{
	char was[VALUE_SIZE], is[VALUE_SIZE];

	value_words(before, was);
	value_words(after, is);
	fprintf(context, "differs: %s was %s, is %s\n", key, was, is);
}

static void print_side(const struct compare_output *output, unsigned int side, FILE *file)
{
	const struct compare_side *results = &output->sides[side];
	const struct result *first = results->results;
	size_t i;

	fprintf(file, "%-7s %s", side_names[side], output->sources[side].name);
	if (results->count > 1)
		fprintf(file, " (%zu results)", results->count);
	fprintf(file, ": scenario %s, kernel %s, tier %s\n", first->scenario.name, first->kernel,
		first->tier);
	for (i = 0; i < results->count; i++)
		if (!results->results[i].complete)
			fprintf(file, "        INCOMPLETE: %s: %s\n",
				output->sources[side].files[i],
				results->results[i].incomplete_why);
}

static void print_row(const struct comparison *comparison, const struct compare_row *row,
		      FILE *file)
{
	char before[EXPRESSION_TEXT], after[EXPRESSION_TEXT], percent[VALUE_SIZE];
	char low[VALUE_SIZE], high[VALUE_SIZE], interval[2 * VALUE_SIZE + 8] = "-";

	percent_text(row, percent);
	if (row->have_interval)
		snprintf(interval, sizeof(interval), "%s ... %s",
			 signed_text(row->name, row->change.low, low),
			 signed_text(row->name, row->change.high, high));
	fprintf(file, "%-24s %12s %12s %8s %26s", row->name,
		expression_figure_text(row->name, row->before, before),
		expression_figure_text(row->name, row->after, after), percent, interval);
	if (comparison->by_repeats)
		fprintf(file, " %7.3g", row->p);
	fprintf(file, "  %s\n", compare_verdict_text(row->verdict));
}

static void print_cause(const struct compare_output *output, unsigned int side, FILE *file)
{
	const struct result *result = output->sides[side].results;
	unsigned int i;

	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].load.attribution.verdict[0])
			fprintf(file, "%-7s %s\n", side_names[side],
				result->phases[i].load.attribution.verdict);
}

void out_compare_text(const struct compare_output *output, FILE *file, bool color)
{
	const struct comparison *comparison = output->comparison;
	char verdict[VERDICT_SIZE], heading[VALUE_SIZE];
	size_t i;

	print_side(output, 0, file);
	print_side(output, 1, file);
	for_differences(output, print_difference, file);
	snprintf(heading, sizeof(heading), "change, %.3g %%", comparison->confidence * 100);
	fprintf(file, "\n%-24s %12s %12s %8s %26s%s\n", "figure", "before", "after", "change",
		heading, comparison->by_repeats ? "       p" : "");
	for (i = 0; i < comparison->count; i++)
		print_row(comparison, &comparison->rows[i], file);
	fprintf(file, "\n%s\n", comparison->by_repeats ?
		"medians of the repeats; intervals by a bootstrap over them, p by Mann and Whitney" :
		"intervals are about these two runs, not about what repeats would give: by blocks of probes");
	fputc('\n', file);
	print_cause(output, 0, file);
	print_cause(output, 1, file);
	verdict_words(comparison, verdict);
	fprintf(file, color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", verdict);
}

/* ---- for a program ---- */

static cJSON *side_json(const struct compare_output *output, unsigned int side)
{
	const struct compare_side *results = &output->sides[side];
	cJSON *object = cJSON_CreateObject(), *files = cJSON_AddArrayToObject(object, "files");
	bool complete = true;
	size_t i;

	for (i = 0; i < results->count; i++) {
		cJSON_AddItemToArray(files, cJSON_CreateString(output->sources[side].files[i]));
		complete = complete && results->results[i].complete;
	}
	cJSON_AddStringToObject(object, "scenario", results->results->scenario.name);
	cJSON_AddStringToObject(object, "kernel", results->results->kernel);
	cJSON_AddStringToObject(object, "tier", results->results->tier);
	cJSON_AddBoolToObject(object, "complete", complete);
	return object;
}

static cJSON *row_json(const struct compare_row *row)
{
	cJSON *object = cJSON_CreateObject(), *interval;

	cJSON_AddStringToObject(object, "figure", row->name);
	cJSON_AddNumberToObject(object, "before", row->before);
	cJSON_AddNumberToObject(object, "after", row->after);
	cJSON_AddNumberToObject(object, "change", row->after - row->before);
	if (row->have_interval) {
		interval = cJSON_AddObjectToObject(object, "interval");
		cJSON_AddNumberToObject(interval, "low", row->change.low);
		cJSON_AddNumberToObject(interval, "high", row->change.high);
	} else {
		cJSON_AddNullToObject(object, "interval");
	}
	if (isfinite(row->p))
		cJSON_AddNumberToObject(object, "p", row->p);
	else
		cJSON_AddNullToObject(object, "p");
	cJSON_AddStringToObject(object, "verdict", compare_verdict_text(row->verdict));
	return object;
}

static void add_difference(void *context, const char *key, const cJSON *before, const cJSON *after)
{
	cJSON *object = cJSON_AddObjectToObject(context, key);

	cJSON_AddItemToObject(object, "before",
			      before ? cJSON_Duplicate(before, true) : cJSON_CreateNull());
	cJSON_AddItemToObject(object, "after",
			      after ? cJSON_Duplicate(after, true) : cJSON_CreateNull());
}

char *out_compare_json(const struct compare_output *output)
{
	const struct comparison *comparison = output->comparison;
	cJSON *document = cJSON_CreateObject(), *rows;
	char verdict[VERDICT_SIZE], *text;
	size_t i;

	cJSON_AddStringToObject(document, "schema", SCHEMA);
	cJSON_AddItemToObject(document, "before", side_json(output, 0));
	cJSON_AddItemToObject(document, "after", side_json(output, 1));
	for_differences(output, add_difference,
			cJSON_AddObjectToObject(document, "differences"));
	cJSON_AddBoolToObject(document, "by_repeats", comparison->by_repeats);
	cJSON_AddNumberToObject(document, "confidence", comparison->confidence);
	rows = cJSON_AddArrayToObject(document, "figures");
	for (i = 0; i < comparison->count; i++)
		cJSON_AddItemToArray(rows, row_json(&comparison->rows[i]));
	verdict_words(comparison, verdict);
	cJSON_AddStringToObject(document, "verdict", verdict);
	text = cJSON_Print(document);
	cJSON_Delete(document);
	return text;
}
