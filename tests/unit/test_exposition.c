// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of the metrics against their definition, number by number, and the three formats: text as
 * it must be, protobuf taken apart by a decoder that knows nothing but wire types.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "exposition_protobuf.h"
#include "exposition_text.h"
#include "metric.h"

/* ---- buckets ---- */

/* All values of a bucket lie on the same side of each bound: le holds what is <= it. */
static void test_classic_bounds_cut_no_bucket(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CLASSIC_BOUNDS; i++) {
		__u64 bound = classic_bound_ns(i);
		__u32 bucket = histogram_bucket(bound);

		assert_true(histogram_bucket_high(bucket) == bound);
		assert_true(histogram_bucket_low(bucket + 1) == bound + 1);
	}
}

static void check_value(__u64 value)
{
	struct histogram histogram;
	struct metric_histogram *metric;

	histogram_init(&histogram);
	histogram_add_value(&histogram, value, 3);
	metric = metric_histogram_make(&histogram);
	assert_non_null(metric);
	assert_int_equal(metric->count, 3);
	for (unsigned int i = 0; i < CLASSIC_BOUNDS; i++)
		assert_int_equal(metric->classic[i], value <= classic_bound_ns(i) ? 3 : 0);
	free(metric);
}

/* Each number of ns up to 8 us, and those around each power of two. */
static void test_classic_values(void **state)
{
	(void)state;
	for (__u64 value = 0; value <= 8200; value++)
		check_value(value);
	for (unsigned int bit = 13; bit < 40; bit++)
		for (int off = -2; off <= 2; off++)
			check_value((1ULL << bit) + (__u64)off);
}

/* How far a value is beside (2^((i-1)/8), 2^(i/8)] seconds, as a share of it. */
static double beside(__u64 value, int index)
{
	double seconds = (double)value / 1e9;
	double low = pow(2, (index - 1) / 8.0), high = pow(2, index / 8.0);

	if (seconds <= low)
		return (low - seconds) / seconds;
	return seconds > high ? (seconds - high) / seconds : 0;
}

static void test_native_index(void **state)
{
	double most = 0;

	(void)state;
	for (__u32 bucket = 1; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
		int index = native_index(bucket);

		most = fmax(most, beside(histogram_bucket_low(bucket), index));
		most = fmax(most, beside(histogram_bucket_high(bucket), index));
	}
	assert_true(most <= 1.0 / 64);
	/* and the bound is near what happens: else the test would look at nothing */
	assert_true(most > 1.0 / 128);
	assert_true(beside(1ULL << HISTOGRAM_TOP_BIT, native_index(HISTOGRAM_BUCKETS - 1)) == 0);
}

static void test_native_zero(void **state)
{
	struct histogram histogram;
	struct metric_histogram *metric;

	(void)state;
	assert_true(NATIVE_ZERO_THRESHOLD < 1e-9);
	/* the zero bucket ends where the first one that is used begins */
	assert_true(pow(2, (native_index(1) - 1) / 8.0) == NATIVE_ZERO_THRESHOLD);
	histogram_init(&histogram);
	histogram_add_value(&histogram, 0, 5);
	histogram_add_value(&histogram, 1, 2);
	metric = metric_histogram_make(&histogram);
	assert_non_null(metric);
	assert_int_equal(metric->zero, 5);
	assert_int_equal(metric->native_count, 1);
	assert_int_equal(metric->native[0].count, 2);
	free(metric);
}

/* ---- what the formats are given ---- */

static void make_metrics(struct metrics *metrics)
{
	struct metric_labels *labels;
	struct histogram histogram;

	memset(metrics, 0, sizeof(*metrics));
	labels = metrics_labels(metrics);
	metrics_label(metrics, labels, "netns", "");
	metrics_label(metrics, labels, "device", "a\"\\\n\xff\xc3\xa9");
	histogram_init(&histogram);
	histogram_add_value(&histogram, 0, 1);
	histogram_add_value(&histogram, 1023, 2);
	histogram_add_value(&histogram, 1024, 4);
	histogram_add_value(&histogram, 1000000000, 8);
	histogram_add_value(&histogram, 200000000000, 16);
	metrics_family(metrics, METRIC_HISTOGRAM, "x_wait_seconds", "seconds", "A wait.");
	metrics_add_histogram(metrics, labels, &histogram);
	metrics_family(metrics, METRIC_COUNTER, "x_packets", "packets", "Packets.");
	metrics_add_also(metrics, labels, "outcome", "measured", 12345678901234);
	metrics_family(metrics, METRIC_GAUGE, "x_share", "", "A share.");
	metrics_add(metrics, NULL, 0.25);
	metrics_family(metrics, METRIC_INFO, "x_build", "", "Who.");
	metrics_add(metrics, labels, 1);
	metrics_family(metrics, METRIC_GAUGE, "x_nothing", "", "No sample, not told.");
	assert_false(metrics->failed);
}

/* ---- text ---- */

#define LABELS "netns=\"\",device=\"a\\\"\\\\\\n\xef\xbf\xbd\xc3\xa9\""

static void assert_holds(const struct bytes *text, const char *part)
{
	if (!memmem(text->data, text->length, part, strlen(part)))
		fail_msg("not in it: %s\n%.*s", part, (int)text->length, text->data);
}

static void assert_lacks(const struct bytes *text, const char *part)
{
	if (memmem(text->data, text->length, part, strlen(part)))
		fail_msg("in it: %s\n%.*s", part, (int)text->length, text->data);
}

static void test_text(void **state)
{
	struct metrics metrics;
	struct bytes text = { 0 };

	(void)state;
	make_metrics(&metrics);
	exposition_text(&metrics, false, &text);
	assert_false(text.failed);
	assert_holds(&text, "# TYPE x_wait_seconds histogram\n# HELP x_wait_seconds A wait.\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"1.023e-06\"} 3\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"2.047e-06\"} 7\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"0.000131071\"} 7\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"1.073741823\"} 15\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"17.179869183\"} 15\n");
	assert_holds(&text, "x_wait_seconds_bucket{" LABELS ",le=\"+Inf\"} 31\n");
	assert_holds(&text, "x_wait_seconds_sum{" LABELS "} 3208.000006142\n");
	assert_holds(&text, "x_wait_seconds_count{" LABELS "} 31\n");
	assert_holds(&text, "# TYPE x_packets_total counter\n# HELP x_packets_total Packets.\n"
		     "x_packets_total{" LABELS ",outcome=\"measured\"} 12345678901234\n");
	assert_holds(&text, "# TYPE x_share gauge\n# HELP x_share A share.\nx_share 0.25\n");
	assert_holds(&text, "# TYPE x_build_info gauge\n# HELP x_build_info Who.\n"
		     "x_build_info{" LABELS "} 1\n");
	assert_lacks(&text, "x_nothing");
	assert_lacks(&text, "# UNIT");
	assert_lacks(&text, "# EOF");
	bytes_free(&text);
	metrics_free(&metrics);
}

static void test_openmetrics(void **state)
{
	static const char end[] = "# EOF\n";
	struct metrics metrics;
	struct bytes text = { 0 };

	(void)state;
	make_metrics(&metrics);
	exposition_text(&metrics, true, &text);
	assert_holds(&text, "# TYPE x_wait_seconds histogram\n# UNIT x_wait_seconds seconds\n"
		     "# HELP x_wait_seconds A wait.\n");
	assert_holds(&text, "# TYPE x_packets counter\n# UNIT x_packets packets\n"
		     "# HELP x_packets Packets.\nx_packets_total{" LABELS);
	assert_holds(&text, "# TYPE x_build info\n# HELP x_build Who.\nx_build_info{" LABELS "} 1\n");
	assert_holds(&text, "# TYPE x_share gauge\n# HELP x_share");
	assert_true(text.length > strlen(end));
	assert_memory_equal(text.data + text.length - strlen(end), end, strlen(end));
	bytes_free(&text);
	metrics_free(&metrics);
}

/* ---- protobuf ---- */

struct message {
	const unsigned char *data, *end;
};

static __u64 take_varint(struct message *message)
{
	__u64 value = 0;
	unsigned int shift = 0;

	do {
		assert_true(message->data < message->end && shift < 64);
		value |= (__u64)(*message->data & 0x7f) << shift;
		shift += 7;
	} while (*message->data++ & 0x80);
	return value;
}

static struct message take_bytes(struct message *message)
{
	__u64 length = take_varint(message);
	struct message part = { message->data, message->data + length };

	assert_true(length <= (__u64)(message->end - message->data));
	message->data += length;
	return part;
}

static double take_double(struct message *message)
{
	double value;

	assert_true(message->end - message->data >= 8);
	memcpy(&value, message->data, sizeof(value));
	message->data += 8;
	return value;
}

static __s64 unzigzag(__u64 value)
{
	return (__s64)(value >> 1) ^ -(__s64)(value & 1);
}

/* One field: its number; what it holds by its wire type. */
struct field {
	unsigned int number;
	__u64 varint;
	double number_value;
	struct message bytes;
};

static bool next_field(struct message *message, struct field *field)
{
	__u64 key;

	if (message->data == message->end)
		return false;
	key = take_varint(message);
	*field = (struct field){ .number = (unsigned int)(key >> 3) };
	switch (key & 7) {
	case 0:
		field->varint = take_varint(message);
		break;
	case 1:
		field->number_value = take_double(message);
		break;
	case 2:
		field->bytes = take_bytes(message);
		break;
	default:
		fail_msg("wire type %d", (int)(key & 7));
	}
	return true;
}

/* The n-th field of that number. */
static struct field field_of(struct message message, unsigned int number, unsigned int n)
{
	struct field field;

	while (next_field(&message, &field))
		if (field.number == number && !n--)
			return field;
	fail_msg("no field %u", number);
	return field;
}

static unsigned int count_fields(struct message message, unsigned int number)
{
	unsigned int count = 0;
	struct field field;

	while (next_field(&message, &field))
		count += field.number == number;
	return count;
}

static void assert_text(struct field field, const char *text)
{
	assert_int_equal(field.bytes.end - field.bytes.data, strlen(text));
	assert_memory_equal(field.bytes.data, text, strlen(text));
}

static void check_label(struct message metric, unsigned int n, const char *name, const char *value)
{
	struct message label = field_of(metric, 1, n).bytes;

	assert_text(field_of(label, 1, 0), name);
	assert_text(field_of(label, 2, 0), value);
}

/* Spans and deltas, put together again, are the buckets as they were made. */
static void check_native(struct message histogram, const struct metric_histogram *wanted)
{
	struct message deltas = field_of(histogram, 13, 0).bytes;
	unsigned int spans = count_fields(histogram, 12), k, bucket = 0;
	__s64 index = 0, count = 0;

	assert_int_equal(unzigzag(field_of(histogram, 5, 0).varint), 3);
	assert_true(field_of(histogram, 6, 0).number_value == NATIVE_ZERO_THRESHOLD);
	assert_int_equal(field_of(histogram, 7, 0).varint, wanted->zero);
	for (k = 0; k < spans; k++) {
		struct message span = field_of(histogram, 12, k).bytes;
		__u64 length = field_of(span, 2, 0).varint;

		index += unzigzag(field_of(span, 1, 0).varint);
		while (length--) {
			count += unzigzag(take_varint(&deltas));
			assert_true(bucket < wanted->native_count);
			assert_int_equal(index++, wanted->native[bucket].index);
			assert_int_equal(count, wanted->native[bucket++].count);
		}
	}
	assert_int_equal(bucket, wanted->native_count);
	assert_true(deltas.data == deltas.end);
}

static void check_histogram(struct message histogram, const struct metric_histogram *wanted)
{
	assert_int_equal(field_of(histogram, 1, 0).varint, wanted->count);
	assert_true(field_of(histogram, 2, 0).number_value == wanted->sum);
	assert_int_equal(count_fields(histogram, 3), CLASSIC_BOUNDS);
	for (unsigned int i = 0; i < CLASSIC_BOUNDS; i++) {
		struct message bucket = field_of(histogram, 3, i).bytes;

		assert_int_equal(field_of(bucket, 1, 0).varint, wanted->classic[i]);
		assert_true(field_of(bucket, 2, 0).number_value ==
			    (double)classic_bound_ns(i) / 1e9);
	}
	check_native(histogram, wanted);
}

static void test_protobuf(void **state)
{
	struct message all, family, metric;
	struct bytes bytes = { 0 };
	struct metrics metrics;

	(void)state;
	make_metrics(&metrics);
	exposition_protobuf(&metrics, &bytes);
	assert_false(bytes.failed);
	all = (struct message){ (unsigned char *)bytes.data,
				(unsigned char *)bytes.data + bytes.length };

	family = take_bytes(&all);
	assert_text(field_of(family, 1, 0), "x_wait_seconds");
	assert_text(field_of(family, 2, 0), "A wait.");
	assert_int_equal(field_of(family, 3, 0).varint, 4);
	metric = field_of(family, 4, 0).bytes;
	check_label(metric, 0, "netns", "");
	check_label(metric, 1, "device", "a\"\\\n\xef\xbf\xbd\xc3\xa9");
	check_histogram(field_of(metric, 7, 0).bytes, metrics.families[0].metrics[0].histogram);

	family = take_bytes(&all);
	assert_text(field_of(family, 1, 0), "x_packets_total");
	assert_int_equal(field_of(family, 3, 0).varint, 0);
	metric = field_of(family, 4, 0).bytes;
	check_label(metric, 2, "outcome", "measured");
	assert_true(field_of(field_of(metric, 3, 0).bytes, 1, 0).number_value == 12345678901234);

	family = take_bytes(&all);
	assert_text(field_of(family, 1, 0), "x_share");
	assert_int_equal(field_of(family, 3, 0).varint, 1);
	metric = field_of(family, 4, 0).bytes;
	assert_true(field_of(field_of(metric, 2, 0).bytes, 1, 0).number_value == 0.25);

	family = take_bytes(&all);
	assert_text(field_of(family, 1, 0), "x_build_info");
	assert_int_equal(field_of(family, 3, 0).varint, 1);
	assert_true(all.data == all.end);
	bytes_free(&bytes);
	metrics_free(&metrics);
}

/* Buckets here and there, next to each other and far away: many spans. */
static void test_protobuf_spans(void **state)
{
	struct histogram histogram;
	struct metrics metrics = { 0 };
	struct bytes bytes = { 0 };
	struct message all;
	__u64 value = 88172645463325252ULL;

	(void)state;
	histogram_init(&histogram);
	for (unsigned int i = 0; i < 300; i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
		histogram_add_value(&histogram, (value >> 24) >> (value & 31), 1 + (value >> 50));
	}
	metrics_family(&metrics, METRIC_HISTOGRAM, "x_seconds", "seconds", "x.");
	metrics_add_histogram(&metrics, NULL, &histogram);
	exposition_protobuf(&metrics, &bytes);
	all = (struct message){ (unsigned char *)bytes.data,
				(unsigned char *)bytes.data + bytes.length };
	check_histogram(field_of(field_of(take_bytes(&all), 4, 0).bytes, 7, 0).bytes,
			metrics.families[0].metrics[0].histogram);
	bytes_free(&bytes);
	metrics_free(&metrics);
}

static void test_gzip(void **state)
{
	struct bytes plain = { 0 }, packed = { 0 };
	char back[100000];
	z_stream stream = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++)
		bytes_add_format(&plain, "%d line\n", i);
	bytes_add_text(&packed, "x");
	assert_int_equal(bytes_add_gzip(&packed, &plain), 0);
	assert_true(packed.length < plain.length);
	stream.next_in = (Bytef *)packed.data + 1;
	stream.avail_in = (uInt)packed.length - 1;
	stream.next_out = (Bytef *)back;
	stream.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, plain.length);
	assert_memory_equal(back, plain.data, plain.length);
	inflateEnd(&stream);
	bytes_free(&plain);
	bytes_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_bounds_cut_no_bucket),
		cmocka_unit_test(test_classic_values),
		cmocka_unit_test(test_native_index),
		cmocka_unit_test(test_native_zero),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_openmetrics),
		cmocka_unit_test(test_protobuf),
		cmocka_unit_test(test_protobuf_spans),
		cmocka_unit_test(test_gzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
