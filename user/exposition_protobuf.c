// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "exposition_protobuf.h"

/* Wire types of protobuf. */
enum { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2 };

/* Field numbers of io/prometheus/client/metrics.proto. */
enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_HISTOGRAM = 4 };
enum { METRIC_LABEL_FIELD = 1, METRIC_GAUGE_FIELD = 2, METRIC_COUNTER_FIELD = 3,
       METRIC_HISTOGRAM_FIELD = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { VALUE = 1 };
enum { SAMPLE_COUNT = 1, SAMPLE_SUM = 2, BUCKET = 3, SCHEMA = 5, ZERO_THRESHOLD = 6,
       ZERO_COUNT = 7, POSITIVE_SPAN = 12, POSITIVE_DELTA = 13 };
enum { CUMULATIVE_COUNT = 1, UPPER_BOUND = 2 };
enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };

/* Messages in messages: what is inside is made first, for its length. Kept for their room. */
struct writer {
	struct bytes *out;
	struct bytes family, metric, value, part;
};

static void add_varint(struct bytes *bytes, __u64 value)
{
	unsigned char text[10];
	size_t length = 0;

	do {
		text[length++] = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	bytes_add(bytes, text, length);
}

/* Signed ones take few bytes near 0 on both sides. */
static __u64 zigzag(__s64 value)
{
	return ((__u64)value << 1) ^ (value < 0 ? ~0ULL : 0);
}

static void add_number(struct bytes *bytes, unsigned int field, __u64 value)
{
	add_varint(bytes, field << 3 | WIRE_VARINT);
	add_varint(bytes, value);
}

static void add_double(struct bytes *bytes, unsigned int field, double value)
{
	unsigned char text[8];
	__u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		text[i] = (unsigned char)(bits >> (8 * i));
	add_varint(bytes, field << 3 | WIRE_DOUBLE);
	bytes_add(bytes, text, sizeof(text));
}

static void add_bytes(struct bytes *bytes, unsigned int field, const void *data, size_t length)
{
	add_varint(bytes, field << 3 | WIRE_BYTES);
	add_varint(bytes, length);
	bytes_add(bytes, data, length);
}

static void add_text(struct bytes *bytes, unsigned int field, const char *text)
{
	add_bytes(bytes, field, text, strlen(text));
}

static void add_message(struct bytes *bytes, unsigned int field, const struct bytes *message)
{
	add_bytes(bytes, field, message->data, message->length);
	bytes->failed |= message->failed;
}

static void add_label(struct writer *writer, const char *name, const char *value)
{
	bytes_empty(&writer->part);
	add_text(&writer->part, LABEL_NAME, name);
	add_text(&writer->part, LABEL_VALUE, value);
	add_message(&writer->metric, METRIC_LABEL_FIELD, &writer->part);
}

static void add_classic(struct writer *writer, __u64 count, double bound)
{
	bytes_empty(&writer->part);
	add_number(&writer->part, CUMULATIVE_COUNT, count);
	add_double(&writer->part, UPPER_BOUND, bound);
	add_message(&writer->value, BUCKET, &writer->part);
}

/* Buckets that follow each other are a span; offset: empty ones between it and the last one. */
static void add_spans(struct writer *writer, const struct metric_histogram *histogram)
{
	unsigned int begin, end;
	int next = 0;

	for (begin = 0; begin < histogram->native_count; begin = end) {
		int first = histogram->native[begin].index;

		for (end = begin + 1; end < histogram->native_count; end++)
			if (histogram->native[end].index != first + (int)(end - begin))
				break;
		bytes_empty(&writer->part);
		add_number(&writer->part, SPAN_OFFSET, zigzag(first - next));
		add_number(&writer->part, SPAN_LENGTH, end - begin);
		add_message(&writer->value, POSITIVE_SPAN, &writer->part);
		next = first + (int)(end - begin);
	}
}

static void add_native(struct writer *writer, const struct metric_histogram *histogram)
{
	__u64 before = 0;

	add_number(&writer->value, SCHEMA, zigzag(NATIVE_SCHEMA));
	add_double(&writer->value, ZERO_THRESHOLD, NATIVE_ZERO_THRESHOLD);
	add_number(&writer->value, ZERO_COUNT, histogram->zero);
	add_spans(writer, histogram);
	bytes_empty(&writer->part);
	for (unsigned int i = 0; i < histogram->native_count; i++) {
		add_varint(&writer->part,
			   zigzag((__s64)(histogram->native[i].count - before)));
		before = histogram->native[i].count;
	}
	if (histogram->native_count)
		add_message(&writer->value, POSITIVE_DELTA, &writer->part);
}

static void add_histogram(struct writer *writer, const struct metric_histogram *histogram)
{
	add_number(&writer->value, SAMPLE_COUNT, histogram->count);
	add_double(&writer->value, SAMPLE_SUM, histogram->sum);
	for (unsigned int i = 0; i < CLASSIC_BOUNDS; i++)
		add_classic(writer, histogram->classic[i], (double)classic_bound_ns(i) / 1e9);
	add_native(writer, histogram);
}

static void add_metric(struct writer *writer, const struct metric_family *family,
		       const struct metric *metric)
{
	const struct metric_labels *labels = metric->labels;
	unsigned int field = METRIC_GAUGE_FIELD;

	bytes_empty(&writer->metric);
	for (unsigned int i = 0; labels && i < labels->count; i++)
		add_label(writer, labels->labels[i].name, labels->labels[i].value);
	if (metric->also_name)
		add_label(writer, metric->also_name, metric->also_value);
	bytes_empty(&writer->value);
	if (metric->histogram) {
		field = METRIC_HISTOGRAM_FIELD;
		add_histogram(writer, metric->histogram);
	} else {
		if (family->type == METRIC_COUNTER)
			field = METRIC_COUNTER_FIELD;
		add_double(&writer->value, VALUE, metric->value);
	}
	add_message(&writer->metric, field, &writer->value);
	add_message(&writer->family, FAMILY_METRIC, &writer->metric);
}

static void add_family(struct writer *writer, const struct metric_family *family)
{
	/* An info is a gauge here: the messages have no type of that name. */
	static const unsigned int types[] = {
		[METRIC_COUNTER] = TYPE_COUNTER, [METRIC_GAUGE] = TYPE_GAUGE,
		[METRIC_HISTOGRAM] = TYPE_HISTOGRAM, [METRIC_INFO] = TYPE_GAUGE,
	};
	char name[128];

	snprintf(name, sizeof(name), "%s%s", family->name,
		 family->type == METRIC_COUNTER ? "_total" :
		 family->type == METRIC_INFO ? "_info" : "");
	bytes_empty(&writer->family);
	add_text(&writer->family, FAMILY_NAME, name);
	add_text(&writer->family, FAMILY_HELP, family->help);
	add_number(&writer->family, FAMILY_TYPE, types[family->type]);
	for (size_t i = 0; i < family->count; i++)
		add_metric(writer, family, &family->metrics[i]);
	add_varint(writer->out, writer->family.length);
	bytes_add(writer->out, writer->family.data, writer->family.length);
	writer->out->failed |= writer->family.failed;
}

void exposition_protobuf(const struct metrics *metrics, struct bytes *message)
{
	struct writer writer = { .out = message };

	message->failed |= metrics->failed;
	for (unsigned int i = 0; i < metrics->family_count; i++)
		if (metrics->families[i].count)
			add_family(&writer, &metrics->families[i]);
	bytes_free(&writer.family);
	bytes_free(&writer.metric);
	bytes_free(&writer.value);
	bytes_free(&writer.part);
}
