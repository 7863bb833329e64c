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

static const cJSON *result_of(const cJSON *root, const char *name)
{
	return at(at(root, "results"), name);
}

static const cJSON *raw_of(const cJSON *root, const char *name)
{
	return at(at(root, "raw_values"), name);
}

static void expect_step(const cJSON *values, int index, double value)
{
	const cJSON *item = cJSON_GetArrayItem(values, index);

	if (!cJSON_IsNumber(item) || fabs(item->valuedouble - value) > 1e-6 * (1 + fabs(value)))
		fail_msg("step %d is %s, not %g", index, item ? cJSON_PrintUnformatted(item) : "none",
			 value);
}

static void expect_null(const cJSON *values, int index)
{
	assert_true(cJSON_IsNull(cJSON_GetArrayItem(values, index)));
}

static double number_of(const cJSON *object, const char *name)
{
	assert_true(cJSON_IsNumber(at(object, name)));
	return at(object, name)->valuedouble;
}

static void test_metadata(void **state)
{
	const cJSON *meta, *units;
	struct result result;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	root = document(&result);
	assert_int_equal(at(root, "version")->valueint, 4);
	meta = at(root, "metadata");
	assert_string_equal(at(meta, "NAME")->valuestring, "tcp_upload");
	assert_string_equal(at(meta, "TITLE")->valuestring, "bottleneck");
	assert_string_equal(at(meta, "DATA_FILENAME")->valuestring, "x.flent.gz");
	assert_string_equal(at(meta, "HOST")->valuestring, "server");
	assert_string_equal(at(meta, "KERNEL_RELEASE")->valuestring, "6.18.0");
	assert_true(number_of(meta, "STEP_SIZE") == 0.2);
	assert_true(number_of(meta, "LENGTH") == 15);
	/* 1790000000.123 s was second 99, the first probe came one later */
	assert_int_equal(strncmp(at(meta, "T0")->valuestring, "2026-09-21T14:13:21.123456", 25), 0);
	assert_string_equal(at(meta, "TIME")->valuestring, at(meta, "T0")->valuestring);
	units = at(meta, "SERIES_META");
	assert_string_equal(at(at(units, "Ping (ms) ICMP"), "UNITS")->valuestring, "ms");
	assert_string_equal(at(at(units, "TCP upload"), "UNITS")->valuestring, "Mbits/s");
	cJSON_Delete(root);
	result_free(&result);
}

/* 260 probes every 0.1 s from second 100, number 51 lost; 20 more from second 130. */
static void test_probes(void **state)
{
	const cJSON *raw, *ping, *probe;
	struct result result;
	cJSON *root;
	int seq = 0;

	(void)state;
	result_init(&result);
	make_result(&result);
	root = document(&result);
	raw = raw_of(root, "Ping (ms) ICMP");
	assert_int_equal(cJSON_GetArraySize(raw), 280);
	cJSON_ArrayForEach(probe, raw) {
		const struct probe *of = &result.probes[seq++];

		assert_int_equal(number_of(probe, "seq"), seq);
		assert_true(fabs(number_of(probe, "t") - 1790000000.123456789 -
				 ((double)of->sent_ns / 1e9 - 99)) < 1e-6);
		assert_int_equal(cJSON_HasObjectItem(probe, "lost"), seq == 51);
		assert_int_equal(cJSON_HasObjectItem(probe, "val"), seq != 51);
		if (seq != 51)
			assert_true(number_of(probe, "val") == (double)of->rtt_ns / 1e6);
	}
	/* up to the last probe, at 131.9 s */
	ping = result_of(root, "Ping (ms) ICMP");
	assert_int_equal(cJSON_GetArraySize(ping), 160);
	assert_int_equal(cJSON_GetArraySize(at(root, "x_values")), 160);
	assert_true(cJSON_GetArrayItem(at(root, "x_values"), 7)->valuedouble == 1.4);
	for (int i = 0; i < 130; i++)
		if (i == 25)
			expect_null(ping, i);
		else
			expect_step(ping, i, (double)result.probes[2 * i].rtt_ns / 1e6);
	for (int i = 130; i < 150; i++)
		expect_null(ping, i);
	expect_step(ping, 150, (double)result.probes[260].rtt_ns / 1e6);
	cJSON_Delete(root);
	result_free(&result);
}

/* Probes beside the grid: between neighbours on the line from one to the other, else null. */
static void test_interpolation(void **state)
{
	struct result result;
	struct error error;
	const cJSON *ping;
	cJSON *root;

	(void)state;
	result_init(&result);
	assert_int_equal(scenario_named(&result.scenario, "bottleneck", &error), 0);
	result.scenario.probe_interval_ns = 300 * MS;
	result.probes = calloc(6, sizeof(*result.probes));
	assert_non_null(result.probes);
	result.probe_count = 6;
	for (unsigned int i = 0; i < 6; i++)
		result.probes[i] = (struct probe) {
			.id = i < 5 ? 7 : 8, .sequence = i < 5 ? (__u16)(65534 + i) : 3,
			.sent = true, .sent_ns = SECOND + i * 301 * MS, .rtt_ns = i * 301 * MS,
		};
	result.probes[3].lost = true;
	result.probes[3].rtt_ns = 0;
	root = document(&result);
	ping = result_of(root, "Ping (ms) ICMP");
	/* at 0, 0.3, 0.6, 0.9, 1.2, 1.5 s; probes at 0, 0.301, 0.602, (0.903), 1.204, 1.505 */
	assert_int_equal(cJSON_GetArraySize(ping), 6);
	expect_step(ping, 0, 0);
	expect_step(ping, 1, 300);
	expect_step(ping, 2, 600);
	expect_null(ping, 3);
	expect_null(ping, 4);
	expect_null(ping, 5);	/* the next one is of another ping */
	cJSON_Delete(root);
	result_free(&result);
}

/* Intervals end 0.1 s and 0.2 s after the load's begin at 103 s; what has no figure is out. */
static void test_throughput(void **state)
{
	struct iperf3_interval *intervals;
	const cJSON *raw, *upload;
	struct result result;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	intervals = reallocarray(result.phases[1].load.iperf3.intervals, 6, sizeof(*intervals));
	assert_non_null(intervals);
	result.phases[1].load.iperf3.intervals = intervals;
	result.phases[1].load.iperf3.interval_count = 6;
	intervals[2] = (struct iperf3_interval) { 0.2, 0.3, 5e6, -1, -1, -1, false, 0 };
	intervals[3] = (struct iperf3_interval) { 0.3, 0.9, 7e6, -1, -1, -1, false, 0 };
	intervals[4] = (struct iperf3_interval) { 2, 2.1, 8e6, -1, -1, -1, false, 0 };
	intervals[5] = (struct iperf3_interval) { 2.1, 1e300, 8e6, -1, -1, -1, false, 0 };
	root = document(&result);
	raw = raw_of(root, "TCP upload");
	assert_int_equal(cJSON_GetArraySize(raw), 4);
	raw = cJSON_GetArrayItem(raw, 2);
	assert_true(number_of(raw, "val") == 7);
	assert_true(fabs(number_of(raw, "dur") - 0.6) < 1e-9);
	assert_true(fabs(number_of(raw, "t") - (1790000000.123456789 + 4.9)) < 1e-6);
	upload = result_of(root, "TCP upload");
	for (int i = 0; i < 17; i++)	/* the second has no figure: up to 3.3 s nothing */
		expect_null(upload, i);
	expect_step(upload, 17, 5 + 2 * 0.1 / 0.6);
	expect_step(upload, 19, 5 + 2 * 0.5 / 0.6);
	for (int i = 20; i < 160; i++)
		expect_null(upload, i);
	cJSON_Delete(root);
	result_free(&result);
}

/* Ten slices of 0.1 s from second 105 on, where flent's plots of tc's figures find them. */
static void test_qdisc(void **state)
{
	static const char series[] = "qdisc_stats_pl-router/wan0/0/tbf/10";
	const cJSON *raw, *parameters;
	struct result result;
	char name[128];
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	result.samples[4].sojourn.count = 0;
	root = document(&result);
	parameters = at(at(root, "metadata"), "TEST_PARAMETERS");
	assert_string_equal(at(parameters, "qdisc_stats_hosts")->valuestring,
			    "\"pl-router/wan0/0/tbf/10\"");
	assert_string_equal(at(parameters, "qdisc_stats_interfaces")->valuestring, "\"wan0\"");
	raw = raw_of(root, series);
	assert_int_equal(cJSON_GetArraySize(raw), 10);
	raw = cJSON_GetArrayItem(raw, 3);
	assert_true(fabs(number_of(raw, "t") - (1790000000.123456789 + 6.4)) < 1e-6);
	assert_true(number_of(raw, "backlog_bytes") == 395000);
	assert_true(number_of(raw, "backlog_pkts") == 261);
	assert_true(number_of(raw, "dropped") == 2);
	assert_true(number_of(raw, "delay_max") == 340);
	assert_true(fabs(number_of(raw, "delay") - 320) < 5);
	assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(raw_of(root, series), 4), "delay"));
	snprintf(name, sizeof(name), "%s::backlog_bytes", series);
	expect_null(result_of(root, name), 25);
	for (int i = 26; i <= 30; i++)	/* 105.2 to 106.0 s */
		expect_step(result_of(root, name), i, 395000);
	expect_null(result_of(root, name), 31);
	snprintf(name, sizeof(name), "%s::delay_max", series);
	expect_step(result_of(root, name), 27, 340);
	expect_step(result_of(root, name), 28, 340);
	cJSON_Delete(root);
	result_free(&result);
}

/* Names that would lead flent astray: it takes lists apart and has patterns. */
static void test_hostile_name(void **state)
{
	struct result result;
	const cJSON *parameters;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	snprintf(result.qdiscs[0].id, sizeof(result.qdiscs[0].id), "a,b:c\\/w\"0/0/tbf/10:@1:2");
	root = document(&result);
	parameters = at(at(root, "metadata"), "TEST_PARAMETERS");
	assert_string_equal(at(parameters, "qdisc_stats_hosts")->valuestring,
			    "\"a,b.c\\\\/w\\\"0/0/tbf/10.@1.2\"");
	raw_of(root, "qdisc_stats_a,b.c\\/w\"0/0/tbf/10.@1.2");
	cJSON_Delete(root);
	result_free(&result);
}

/* A load beside the main one is a series by its name. */
static void test_side(void **state)
{
	struct scenario_side_load *plan;
	struct side_load_result *side;
	struct result result;
	const cJSON *raw;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	plan = &result.scenario.side_loads[result.scenario.side_load_count++];
	snprintf(plan->name, sizeof(plan->name), "voice");
	plan->load.proto = LOAD_UDP;
	plan->load.direction = LOAD_DOWN;
	side = calloc(1, sizeof(*side));
	assert_non_null(side);
	snprintf(side->name, sizeof(side->name), "voice");
	side->begin_ns = 104 * SECOND;
	side->iperf3.intervals = calloc(1, sizeof(*side->iperf3.intervals));
	assert_non_null(side->iperf3.intervals);
	side->iperf3.interval_count = 1;
	side->iperf3.intervals[0] = (struct iperf3_interval) { 0, 0.2, 64000, -1, -1, -1, false, 0 };
	result.phases[1].load.sides = side;
	result.phases[1].load.side_count = 1;
	root = document(&result);
	raw = raw_of(root, "UDP download::voice");
	assert_int_equal(cJSON_GetArraySize(raw), 1);
	assert_true(number_of(cJSON_GetArrayItem(raw, 0), "val") == 0.064);
	expect_step(result_of(root, "UDP download::voice"), 21, 0.064);
	expect_null(result_of(root, "UDP download::voice"), 20);
	cJSON_Delete(root);
	result_free(&result);
}

/* Times that cannot be true do not make a document without end. */
static void test_far_apart(void **state)
{
	struct result result;
	cJSON *root;

	(void)state;
	result_init(&result);
	make_result(&result);
	result.samples[9].end_ns = ~0ULL;
	root = document(&result);
	assert_in_range(cJSON_GetArraySize(at(root, "x_values")), 2, 200000);
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
		result.scenario.load.proto = cases[i].proto;
		result.scenario.load.direction = cases[i].direction;
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
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_interpolation),
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_qdisc),
		cmocka_unit_test(test_hostile_name),
		cmocka_unit_test(test_side),
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_gzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
