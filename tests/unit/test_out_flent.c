// SPDX-License-Identifier: GPL-2.0
/* The document for flent: its grid, every value, and what is null. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <zlib.h>

#include "out_flent.h"
#include "whole_result.h"

static cJSON *document(const struct result *result)
{
	char *text = out_flent_json(result, "x.flent.gz");
	cJSON *root;

	assert_non_null(text);
	root = cJSON_Parse(text);
	assert_non_null(root);
	cJSON_free(text);
	return root;
}

static const cJSON *at(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItem(object, name);

	if (!item)
		fail_msg("there is no %s", name);
	return item;
}

static void test_document(void **state)
{
	const cJSON *ping, *raw, *values, *meta, *upload;
	unsigned int answered = 0, summed = 0;
	double sum = 0, grid = 0;
	struct result result;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	root = document(&result);
	assert_int_equal(at(root, "version")->valueint, 4);
	meta = at(root, "metadata");
	assert_string_equal(at(meta, "NAME")->valuestring, "tcp_upload");
	assert_string_equal(at(meta, "DATA_FILENAME")->valuestring, "x.flent.gz");
	assert_true(at(meta, "STEP_SIZE")->valuedouble == 0.2);
	/* the first probe, 1790000000.123 s and what lies between 99 s and it */
	assert_int_equal(strncmp(at(meta, "T0")->valuestring, "2026-09-21T", 11), 0);

	for (size_t i = 0; i < result.probe_count; i++) {
		if (result.probes[i].lost)
			continue;
		answered++;
		sum += (double)result.probes[i].rtt_ns / 1e6;
	}
	raw = at(at(root, "raw_values"), "Ping (ms) ICMP");
	assert_int_equal(cJSON_GetArraySize(raw), answered);
	ping = at(at(root, "results"), "Ping (ms) ICMP");
	assert_int_equal(cJSON_GetArraySize(ping), cJSON_GetArraySize(at(root, "x_values")));
	cJSON_ArrayForEach(values, raw)
		grid += at(values, "val")->valuedouble;
	assert_true(answered > 3 && fabs(grid - sum) < 1e-6 * sum);
	cJSON_ArrayForEach(values, ping)
		summed += cJSON_IsNumber(values);
	assert_true(summed >= 1 && summed <= answered);

	/* nothing before the load begins, at the third second */
	upload = at(at(root, "results"), "TCP upload");
	for (int i = 0; i < 14; i++)
		assert_true(cJSON_IsNull(cJSON_GetArrayItem(upload, i)));
	assert_int_equal(cJSON_GetArraySize(at(at(root, "raw_values"), "TCP upload")),
			 result.phases[1].load.iperf3.interval_count);
	assert_string_equal(at(at(at(meta, "SERIES_META"), "TCP upload"), "UNITS")->valuestring,
			    "Mbits/s");
	cJSON_Delete(root);
	result_free(&result);
}

/* The name of the test follows the load; a series without a value is not there. */
static void test_names(void **state)
{
	static const struct {
		enum load_proto proto;
		enum load_direction direction;
		const char *name;
	} cases[] = {
		{ LOAD_TCP, LOAD_DOWN, "tcp_download" },
		{ LOAD_TCP, LOAD_BIDIR, "tcp_bidirectional" },
		{ LOAD_TCP, LOAD_EACH, "tcp_bidirectional" },
		{ LOAD_UDP, LOAD_UP, "udp_flood" },
	};
	struct result result;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cJSON *root;

		result_init(&result);
		assert_int_equal(scenario_named(&result.scenario, "bottleneck", &error), 0);
		result.scenario.load_proto = cases[i].proto;
		result.scenario.load_direction = cases[i].direction;
		root = document(&result);
		assert_string_equal(at(at(root, "metadata"), "NAME")->valuestring, cases[i].name);
		assert_null(at(root, "results")->child);
		cJSON_Delete(root);
		result_free(&result);
	}
}

static void test_gzip(void **state)
{
	z_stream stream = { 0 };
	char out[65536 * 4], *packed, *text;
	struct result result;
	size_t length;

	(void)state;
	result_init(&result);
	make_result(&result);
	text = out_flent_json(&result, "y");
	packed = out_flent(&result, "y", &length);
	assert_true(text && packed && length < strlen(text) && strlen(text) < sizeof(out));
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)packed;
	stream.avail_in = length;
	stream.next_out = (Bytef *)out;
	stream.avail_out = sizeof(out);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, strlen(text));
	assert_memory_equal(out, text, strlen(text));
	inflateEnd(&stream);
	cJSON_free(text);
	free(packed);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_gzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
