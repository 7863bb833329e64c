// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out_suite.h"
#include "result_terms.h"
#include "table.h"
#include "units.h"

#define SCHEMA		"sojourn-suite/1"
#define CLASSES_MAX	SUITE_RUNS
#define WORDS_SIZE	1024

static const char *const status_names[] = {
	[SUITE_DONE] = "done",
	[SUITE_INCOMPLETE] = "incomplete",
	[SUITE_FAILED] = "failed",
	[SUITE_CANNOT] = "cannot",
};

static bool has_figures(const struct suite_row *row)
{
	return row->status <= SUITE_INCOMPLETE;
}

/* A row with its name; NULL where there are no figures to put into it. */
static struct table_row *add_named(struct table *table, const struct suite_row *of)
{
	struct table_row *row = has_figures(of) ? table_add(table) : NULL;

	if (row)
		table_cell(row, 0, "%s%s", of->label, of->status == SUITE_INCOMPLETE ? " !" : "");
	return row;
}

static void time_cell(struct table_row *row, unsigned int column, double ns)
{
	char text[UNITS_TEXT];

	table_cell(row, column, "%s", units_time_text(fmax(ns, 0), text));
}

static void box_cells(struct table_row *row, const struct statistics_box *box)
{
	const double values[] = { box->mean, box->deviation, box->min, box->q1, box->median, box->q3,
				  box->max };

	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		time_cell(row, 2 + i, values[i]);
}

static void print_rtts(const struct suite_outcome *outcome, FILE *file)
{
	static const char *const titles[] = {
		"RTT under load", "idle", "mean", "sd", "min", "q1", "median", "q3", "max", "shape"
	};
	struct table table;

	table_heading(&table, titles, 10);
	for (size_t i = 0; i < outcome->row_count; i++) {
		const struct suite_row *of = &outcome->rows[i];
		struct table_row *row = add_named(&table, of);

		if (!row)
			continue;
		time_cell(row, 1, of->idle_ns);
		if (of->rtt.count)
			box_cells(row, &of->rtt);
		table_cell(row, 9, "%s", shape_names[of->shape.name]);
	}
	table_print(file, &table);
}

static void rate_cell(struct table_row *row, unsigned int column, const struct suite_row *of)
{
	char text[UNITS_TEXT], back[UNITS_TEXT];

	if (!isfinite(of->delivered))
		table_cell(row, column, "-");
	else if (isfinite(of->delivered_reverse))
		table_cell(row, column, "%s + %s", units_rate_text(of->delivered, text),
			   units_rate_text(of->delivered_reverse, back));
	else
		table_cell(row, column, "%s", units_rate_text(of->delivered, text));
}

/* "12 (0.1 %)" retransmits, or "3.4 % lost, 0.2 ms" of UDP. */
static void quality_cell(struct table_row *row, unsigned int column, const struct suite_row *of)
{
	if (of->udp && isfinite(of->lost_percent))
		table_cell(row, column, "%.2g %% lost, jitter %.2g ms", of->lost_percent,
			   of->jitter_ms);
	else if (isfinite(of->retransmit_percent))
		table_cell(row, column, "%.0f retr (%.2g %%)", of->retransmits,
			   of->retransmit_percent);
	else
		table_cell(row, column, "-");
}

/* What TCP itself takes the RTT for, of its senders under load. */
static void print_srtts(const struct suite_outcome *outcome, FILE *file)
{
	static const char *const titles[] = {
		"TCP's own RTT", "samples", "mean", "sd", "min", "q1", "median", "q3", "max"
	};
	struct table table;

	table_heading(&table, titles, 9);
	for (size_t i = 0; i < outcome->row_count; i++) {
		const struct suite_row *of = &outcome->rows[i];
		const struct summary *srtt = &of->srtt;
		const double values[] = { srtt->mean, srtt->stdev, (double)srtt->min,
					  (double)srtt->p25, (double)srtt->p50, (double)srtt->p75,
					  (double)srtt->max };
		struct table_row *row = srtt->count ? add_named(&table, of) : NULL;

		if (!row)
			continue;
		table_cell(row, 1, "%llu", srtt->count);
		/* files of an older version tell no quartiles and no deviation: they are 0 */
		for (unsigned int column = 0; column < sizeof(values) / sizeof(values[0]); column++)
			if (values[column] > 0)
				time_cell(row, 2 + column, values[column]);
	}
	if (table.count > 1)
		fputc('\n', file);
	else
		table.count = 0;
	table_print(file, &table);
}

static void print_traffic(const struct suite_outcome *outcome, FILE *file)
{
	static const char *const titles[] = {
		"traffic", "delivered", "transfer", "quality", "cwnd", "BDP", "grade", "RPM"
	};
	char text[UNITS_TEXT];
	struct table table;

	table_heading(&table, titles, 8);
	for (size_t i = 0; i < outcome->row_count; i++) {
		const struct suite_row *of = &outcome->rows[i];
		struct table_row *row = add_named(&table, of);

		if (!row)
			continue;
		rate_cell(row, 1, of);
		table_cell(row, 2, "%s", isfinite(of->delivered) ?
			   units_size_text(of->transferred, text) : "-");
		quality_cell(row, 3, of);
		if (of->udp)
			table_cell(row, 4, "-");
		else
			table_cell(row, 4, "%.0f", of->cwnd_median);
		table_cell(row, 5, "%s", isfinite(of->bdp_bytes) ?
			   units_size_text(of->bdp_bytes, text) : "-");
		table_cell(row, 6, "%s", of->grade[0] ? of->grade : "-");
		if (isfinite(of->rpm))
			table_cell(row, 7, "%.0f", of->rpm);
		else
			table_cell(row, 7, "-");
	}
	table_print(file, &table);
}

/* "pl-router/wan0/0/tbf/10:" is "router wan0 0 tbf 10:" to a person who knows the lab. */
static void queue_cell(struct table_row *row, unsigned int column, const struct suite_row *of)
{
	char text[TABLE_CELL_SIZE];

	snprintf(text, sizeof(text), "%s",
		 of->queue + (strlen(of->queue) > of->prefix ? of->prefix : 0));
	for (char *at = text; (at = strchr(at, '/')); )
		*at = ' ';
	table_cell(row, column, "%s", text);
}

static void print_queues(const struct suite_outcome *outcome, FILE *file)
{
	static const char *const titles[] = {
		"waiting", "most of it in", "sojourn", "p99", "max", "backlog max", "drops",
		"share"
	};
	char text[UNITS_TEXT];
	struct table table;

	table_heading(&table, titles, 8);
	for (size_t i = 0; i < outcome->row_count; i++) {
		const struct suite_row *of = &outcome->rows[i];
		struct table_row *row = of->queue[0] ? add_named(&table, of) : NULL;

		if (!row)
			continue;
		queue_cell(row, 1, of);
		time_cell(row, 2, (double)of->sojourn.p50);
		time_cell(row, 3, (double)of->sojourn.p99);
		time_cell(row, 4, (double)of->sojourn.max);
		table_cell(row, 5, "%s", units_size_text((double)of->backlog_bytes_max, text));
		table_cell(row, 6, "%llu", of->drops);
		if (of->cause[0])
			table_cell(row, 7, "%.0f %%", 100 * of->share);
		else
			table_cell(row, 7, "-");
	}
	table_print(file, &table);
}

static void print_classes(const struct suite_outcome *outcome, FILE *file)
{
	static const char *const titles[] = {
		"class, mean RTT of runs", "runs", "mean", "sd", "min", "q1", "median", "q3", "max",
		"delivered"
	};
	struct suite_class *classes = calloc(CLASSES_MAX, sizeof(*classes));
	char text[UNITS_TEXT];
	struct table table;
	unsigned int count;

	if (!classes)
		return;
	count = suite_classes(outcome->rows, outcome->row_count, classes, CLASSES_MAX);
	if (count)
		fputc('\n', file);
	table_heading(&table, titles, 10);
	for (unsigned int i = 0; i < count; i++) {
		struct table_row *row = table_add(&table);

		if (!row)
			continue;
		table_cell(row, 0, "%s", classes[i].name);
		table_cell(row, 1, "%zu", classes[i].runs);
		box_cells(row, &classes[i].rtt);
		table_cell(row, 9, "%s", units_rate_text(classes[i].delivered.median, text));
	}
	if (count)
		table_print(file, &table);
	else
		free(table.rows);
	free(classes);
}

static void print_ranking(const struct suite_outcome *outcome, FILE *file)
{
	size_t *order = calloc(outcome->row_count + 1, sizeof(*order)), ranked;
	char words[WORDS_SIZE], text[UNITS_TEXT];
	char *list = NULL;
	size_t size;
	FILE *stream;

	ranked = order ? suite_rank(outcome->rows, outcome->row_count, order) : 0;
	stream = ranked > 1 ? open_memstream(&list, &size) : NULL;
	for (size_t i = 0; stream && i < ranked; i++)
		fprintf(stream, "%s%s %s", i ? ", " : "", outcome->rows[order[i]].label,
			units_time_text(fmax(outcome->rows[order[i]].increase_ns, 0), text));
	if (stream && !fclose(stream)) {
		fputc('\n', file);
		table_line(file, 4, "ranking by the RTT increase under load: %s", list);
		suite_conclude(outcome->rows, outcome->row_count, words, sizeof(words));
		table_line(file, 4, "%s", words);
	}
	free(list);
	free(order);
}

static void print_troubles(const struct suite_outcome *outcome, FILE *file)
{
	for (size_t i = 0; i < outcome->row_count; i++) {
		const struct suite_row *row = &outcome->rows[i];

		if (row->status != SUITE_DONE)
			table_line(file, 4, "%s %s: %s", row->name, status_names[row->status],
				   row->why);
		if (row->note[0])
			table_line(file, 4, "%s: note: %s", row->name, row->note);
		if (row->dropping[0] && row->udp)
			table_line(file, 4, "%s: %llu packets were dropped by %s", row->name,
				   row->dropped, row->dropping);
	}
}

void out_suite_text(const struct suite_outcome *outcome, FILE *file)
{
	fprintf(file, "sojourn %s, kernel %s, tier %s\n", outcome->version, outcome->kernel,
		outcome->tier);
	table_line(file, 4, "suite %s", outcome->suite->title[0] ? outcome->suite->title :
		   outcome->suite->name);
	if (outcome->scale != 1)
		table_line(file, 4, "times are %g of those that the suite asks for", outcome->scale);
	for (size_t i = 0; i < outcome->row_count; i++)
		if (!i || strcmp(outcome->rows[i].name, outcome->rows[i - 1].name))
			table_line(file, 8, "  %s: %s", outcome->rows[i].name,
				   outcome->rows[i].title);
	fputc('\n', file);
	print_rtts(outcome, file);
	print_srtts(outcome, file);
	fputc('\n', file);
	print_traffic(outcome, file);
	fputc('\n', file);
	print_queues(outcome, file);
	print_classes(outcome, file);
	print_ranking(outcome, file);
	fputc('\n', file);
	print_troubles(outcome, file);
	table_line(file, 4, "%u of %u runs have a result%s", outcome->runs_done, outcome->runs_asked,
		   outcome->interrupted ? "; it was interrupted" : "");
}

/* ---- the document ---- */

static void add_double(cJSON *object, const char *name, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, name, value);
	else
		cJSON_AddNullToObject(object, name);
}

static void add_text(cJSON *object, const char *name, const char *text)
{
	if (text[0])
		cJSON_AddStringToObject(object, name, text);
	else
		cJSON_AddNullToObject(object, name);
}

static void add_box(cJSON *object, const char *name, const struct statistics_box *box)
{
	cJSON *of = cJSON_AddObjectToObject(object, name);

	add_double(of, "count", (double)box->count);
	add_double(of, "mean", box->mean);
	add_double(of, "stdev", box->deviation);
	add_double(of, "min", box->min);
	add_double(of, "q1", box->q1);
	add_double(of, "median", box->median);
	add_double(of, "q3", box->q3);
	add_double(of, "max", box->max);
}

static void add_summary(cJSON *object, const char *name, const struct summary *summary)
{
	cJSON *of = cJSON_AddObjectToObject(object, name);

	add_double(of, "count", (double)summary->count);
	add_double(of, "mean", summary->mean);
	add_double(of, "stdev", summary->stdev);
	add_double(of, "min", (double)summary->min);
	add_double(of, "p25", (double)summary->p25);
	add_double(of, "p50", (double)summary->p50);
	add_double(of, "p75", (double)summary->p75);
	add_double(of, "p95", (double)summary->p95);
	add_double(of, "p99", (double)summary->p99);
	add_double(of, "max", (double)summary->max);
}

static void add_figures(cJSON *object, const struct suite_row *row)
{
	cJSON *shape;

	cJSON_AddStringToObject(object, "phase", row->phase);
	add_double(object, "probes", row->sent);
	add_double(object, "probes_lost", row->lost);
	add_double(object, "idle_rtt_ns", row->idle_ns);
	add_double(object, "increase_ns", row->increase_ns);
	add_box(object, "rtt_ns", &row->rtt);
	add_summary(object, "srtt_ns", &row->srtt);
	add_double(object, "cwnd_median", row->cwnd_median);
	add_double(object, "cwnd_max", row->cwnd_max);
	add_double(object, "delivered_bit_per_s", row->delivered);
	add_double(object, "delivered_reverse_bit_per_s", row->delivered_reverse);
	add_double(object, "transferred_bytes", row->transferred);
	add_double(object, "retransmits", row->retransmits);
	add_double(object, "retransmit_percent", row->retransmit_percent);
	add_double(object, "lost_percent", row->lost_percent);
	add_double(object, "jitter_ms", row->jitter_ms);
	add_double(object, "bdp_bytes", row->bdp_bytes);
	add_text(object, "cause", row->cause);
	add_double(object, "share", row->cause[0] ? row->share : NAN);
	add_text(object, "queue", row->queue);
	add_summary(object, "sojourn_ns", &row->sojourn);
	add_double(object, "drops", (double)row->drops);
	add_double(object, "backlog_bytes_max", (double)row->backlog_bytes_max);
	add_text(object, "dropping", row->dropping);
	add_double(object, "dropped", (double)row->dropped);
	add_text(object, "grade", row->grade);
	add_double(object, "rpm", row->rpm);
	shape = cJSON_AddObjectToObject(object, "shape");
	cJSON_AddStringToObject(shape, "name", shape_names[row->shape.name]);
	cJSON_AddStringToObject(shape, "why", row->shape.why);
}

static cJSON *row_json(const struct suite_row *row)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", row->name);
	add_text(object, "class", row->class);
	add_text(object, "title", row->title);
	cJSON_AddStringToObject(object, "status", status_names[row->status]);
	add_text(object, "why", row->why);
	add_text(object, "note", row->note);
	if (has_figures(row))
		add_figures(object, row);
	return object;
}

static void add_classes(cJSON *root, const struct suite_outcome *outcome)
{
	struct suite_class *classes = calloc(CLASSES_MAX, sizeof(*classes));
	cJSON *array = cJSON_AddArrayToObject(root, "classes");
	unsigned int count;

	count = classes ? suite_classes(outcome->rows, outcome->row_count, classes, CLASSES_MAX) : 0;
	for (unsigned int i = 0; i < count; i++) {
		cJSON *object = cJSON_CreateObject();

		cJSON_AddStringToObject(object, "name", classes[i].name);
		add_double(object, "runs", (double)classes[i].runs);
		add_box(object, "rtt_ns", &classes[i].rtt);
		add_box(object, "increase_ns", &classes[i].increase);
		add_box(object, "delivered_bit_per_s", &classes[i].delivered);
		cJSON_AddStringToObject(object, "lowest", classes[i].lowest);
		cJSON_AddStringToObject(object, "highest", classes[i].highest);
		cJSON_AddItemToArray(array, object);
	}
	free(classes);
}

static void add_ranking(cJSON *root, const struct suite_outcome *outcome)
{
	size_t *order = calloc(outcome->row_count + 1, sizeof(*order)), ranked;
	cJSON *array = cJSON_AddArrayToObject(root, "ranking");
	char words[WORDS_SIZE];

	ranked = order ? suite_rank(outcome->rows, outcome->row_count, order) : 0;
	for (size_t i = 0; i < ranked; i++)
		cJSON_AddItemToArray(array,
				     cJSON_CreateString(outcome->rows[order[i]].label));
	suite_conclude(outcome->rows, outcome->row_count, words, sizeof(words));
	add_text(root, "conclusion", words);
	free(order);
}

char *out_suite_json(const struct suite_outcome *outcome)
{
	cJSON *root = cJSON_CreateObject(), *tool, *runs;
	char *text;

	cJSON_AddStringToObject(root, "schema", SCHEMA);
	cJSON_AddStringToObject(root, "suite", outcome->suite->name);
	add_text(root, "title", outcome->suite->title);
	tool = cJSON_AddObjectToObject(root, "tool");
	cJSON_AddStringToObject(tool, "version", outcome->version);
	cJSON_AddStringToObject(tool, "kernel", outcome->kernel);
	cJSON_AddStringToObject(tool, "tier", outcome->tier);
	add_double(root, "started_realtime_s", (double)outcome->started_realtime_ns / 1e9);
	add_double(root, "time_scale", outcome->scale);
	add_double(root, "runs_asked", outcome->runs_asked);
	add_double(root, "runs_done", outcome->runs_done);
	cJSON_AddBoolToObject(root, "interrupted", outcome->interrupted);
	runs = cJSON_AddArrayToObject(root, "runs");
	for (size_t i = 0; i < outcome->row_count; i++)
		cJSON_AddItemToArray(runs, row_json(&outcome->rows[i]));
	add_classes(root, outcome);
	add_ranking(root, outcome);
	text = cJSON_Print(root);
	cJSON_Delete(root);
	return text;
}
