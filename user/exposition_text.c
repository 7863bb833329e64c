// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "exposition_text.h"

#define EXACT_INTEGERS	9007199254740992.0	/* 2^53: up to there a double is exact */

/* What stands between the braces, without them: the same for each sample of a qdisc. */
struct label_text {
	const struct metric_labels *of;
	struct bytes text;
};

struct writer {
	bool openmetrics;
	struct bytes *text;
	struct label_text labels;
};

/* Both formats have the same three escapes in a label's value. */
static void add_value(struct bytes *text, const char *value)
{
	size_t plain;

	while (*value) {
		plain = strcspn(value, "\\\"\n");
		bytes_add(text, value, plain);
		value += plain;
		if (!*value)
			break;
		bytes_add_text(text, *value == '\n' ? "\\n" : *value == '"' ? "\\\"" : "\\\\");
		value++;
	}
}

static void add_label(struct bytes *text, const char *name, const char *value)
{
	if (text->length)
		bytes_add_text(text, ",");
	bytes_add_text(text, name);
	bytes_add_text(text, "=\"");
	add_value(text, value);
	bytes_add_text(text, "\"");
}

static void take_labels(struct writer *writer, const struct metric_labels *labels)
{
	struct label_text *cached = &writer->labels;

	if (cached->of == labels)
		return;
	cached->of = labels;
	bytes_empty(&cached->text);
	for (unsigned int i = 0; labels && i < labels->count; i++)
		add_label(&cached->text, labels->labels[i].name, labels->labels[i].value);
	writer->text->failed |= cached->text.failed;
}

static void add_number(struct bytes *text, double value)
{
	if (value == floor(value) && fabs(value) < EXACT_INTEGERS)
		bytes_add_format(text, "%.0f\n", value);
	else
		bytes_add_format(text, "%.15g\n", value);
}

/* "NAMEend{labels,also="..."} " */
static void begin_sample(struct writer *writer, const struct metric_family *family,
			 const struct metric *metric, const char *end, const char *also_name,
			 const char *also_value)
{
	struct bytes *text = writer->text;
	bool labels;

	take_labels(writer, metric->labels);
	labels = writer->labels.text.length;
	bytes_add_text(text, family->name);
	bytes_add_text(text, end);
	if (labels || also_name) {
		bytes_add_text(text, "{");
		bytes_add(text, writer->labels.text.data, writer->labels.text.length);
		if (also_name)
			bytes_add_format(text, "%s%s=\"%s\"", labels ? "," : "", also_name,
					 also_value);
		bytes_add_text(text, "}");
	}
	bytes_add_text(text, " ");
}

static void add_histogram(struct writer *writer, const struct metric_family *family,
			  const struct metric *metric)
{
	const struct metric_histogram *histogram = metric->histogram;
	struct bytes bound = { 0 };
	unsigned int i;

	for (i = 0; i < CLASSIC_BOUNDS; i++) {
		bytes_empty(&bound);
		bytes_add_format(&bound, "%.12g%c", (double)classic_bound_ns(i) / 1e9, '\0');
		begin_sample(writer, family, metric, "_bucket", "le", bound.failed ? "" : bound.data);
		writer->text->failed |= bound.failed;
		add_number(writer->text, (double)histogram->classic[i]);
	}
	bytes_free(&bound);
	begin_sample(writer, family, metric, "_bucket", "le", "+Inf");
	add_number(writer->text, (double)histogram->count);
	begin_sample(writer, family, metric, "_sum", NULL, NULL);
	add_number(writer->text, histogram->sum);
	begin_sample(writer, family, metric, "_count", NULL, NULL);
	add_number(writer->text, (double)histogram->count);
}

static const char *end_of(const struct metric_family *family)
{
	switch (family->type) {
	case METRIC_COUNTER:
		return "_total";
	case METRIC_INFO:
		return "_info";
	case METRIC_GAUGE:
	case METRIC_HISTOGRAM:
		break;
	}
	return "";
}

/* Version 0.0.4 has no info, and names a counter's family as its sample. */
static void add_head(const struct writer *writer, const struct metric_family *family)
{
	static const char *const types[] = {
		[METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram", [METRIC_INFO] = "info",
	};
	const char *end = writer->openmetrics ? "" : end_of(family);
	const char *type = family->type == METRIC_INFO && !writer->openmetrics ?
			   "gauge" : types[family->type];

	bytes_add_format(writer->text, "# TYPE %s%s %s\n", family->name, end, type);
	if (writer->openmetrics && family->unit[0])
		bytes_add_format(writer->text, "# UNIT %s %s\n", family->name, family->unit);
	bytes_add_format(writer->text, "# HELP %s%s ", family->name, end);
	bytes_add_text(writer->text, family->help);
	bytes_add_text(writer->text, "\n");
}

static void add_family(struct writer *writer, const struct metric_family *family)
{
	for (size_t i = 0; i < family->count; i++) {
		const struct metric *metric = &family->metrics[i];

		if (metric->histogram) {
			add_histogram(writer, family, metric);
			continue;
		}
		begin_sample(writer, family, metric, end_of(family), metric->also_name,
			     metric->also_value);
		add_number(writer->text, metric->value);
	}
}

void exposition_text(const struct metrics *metrics, bool openmetrics, struct bytes *text)
{
	struct writer writer = { .openmetrics = openmetrics, .text = text };

	text->failed |= metrics->failed;
	for (unsigned int i = 0; i < metrics->family_count; i++) {
		if (!metrics->families[i].count)
			continue;
		add_head(&writer, &metrics->families[i]);
		add_family(&writer, &metrics->families[i]);
	}
	if (openmetrics)
		bytes_add_text(text, "# EOF\n");
	bytes_free(&writer.labels.text);
}
