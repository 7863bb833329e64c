// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <unistd.h>

#include "in_json.h"
#include "out.h"
#include "whole_result.h"

/* Two loads beside the main one, the first of which has run. */
static void add_sides(struct result *result)
{
	static const char *const assignments[] = {
		"load.voice.proto=udp", "load.voice.direction=down", "load.voice.rate=64kbit",
		"load.voice.start=2s", "load.bulk.streams=4", "load.bulk.from=server",
		"load.bulk.to=client", "load.bulk.seconds=5", "load.bulk.cc=reno",
	};
	struct side_load_result *side = calloc(1, sizeof(*side));
	struct error error;

	for (size_t i = 0; i < sizeof(assignments) / sizeof(assignments[0]); i++)
		if (scenario_set(&result->scenario, assignments[i], &error))
			fail_msg("%s", error.text);
	assert_non_null(side);
	result->phases[PHASE_LOAD].load.sides = side;
	result->phases[PHASE_LOAD].load.side_count = 1;
	snprintf(side->name, sizeof(side->name), "voice");
	side->begin_ns = 105 * SECOND;
	side->end_ns = 118 * SECOND;
	side->iperf3.received = (struct iperf3_sum) { true, 64e3, 104000, 13, -1, 0, 70, 0.1 };
}

/* Two pings beside the main one, of the first of which there are probes. */
static void add_side_probes(struct result *result)
{
	static const char *const assignments[] = {
		"probe.gateway.to=router", "probe.back.from=server", "probe.back.to=client",
		"probe.back.interval=50ms",
	};
	struct side_probe_result *side = &result->side_probes[0];
	struct error error;
	size_t i;

	for (i = 0; i < sizeof(assignments) / sizeof(assignments[0]); i++)
		if (scenario_set(&result->scenario, assignments[i], &error))
			fail_msg("%s", error.text);
	side->probes = calloc(2, sizeof(*side->probes));
	assert_non_null(side->probes);
	side->probe_count = 2;
	for (i = 0; i < 2; i++)
		side->probes[i] = (struct probe) {
			.sequence = (__u16)(i + 1), .id = 9, .sent = true, .complete = !i, .lost = i,
			.sent_ns = 104 * SECOND + i * SECOND, .rtt_ns = i ? 0 : 70007,
			.phase = PHASE_LOAD,
		};
	side->probes[0].legs = calloc(1, sizeof(*side->probes[0].legs));
	assert_non_null(side->probes[0].legs);
	side->probes[0].leg_count = 1;
	side->probes[0].legs[0] = (struct leg) { LEG_QDISC, 0, "wan0", ROUTER, false, 70007, 0 };
}

/* Counters beyond 2^53 do not come back: cJSON keeps numbers as doubles. */
static void make_readable(struct result *result)
{
	struct ledger *ledger;
	size_t i;

	make_result(result);
	ledger = &result->qdiscs[0].ledger;
	ledger->offered = 1120;
	ledger->measured = ledger->kernel.packets = 1000;
	ledger->kernel.bytes = 1 << 20;
	for (i = 0; i < result->tcp_count; i++)
		result->tcp[i].bytes_acked = 77777777;
	add_sides(result);
	add_side_probes(result);
	result->phases[PHASE_LOAD].load.iperf3.intervals[1].have_reverse = true;
	result->phases[PHASE_LOAD].load.iperf3.intervals[1].reverse_bits_per_second = 7e6;
}

/* What a document does not give back: options of qdiscs, and the last bits of the date. */
static cJSON *comparable(const char *text)
{
	cJSON *document = cJSON_Parse(text), *qdisc;

	assert_non_null(document);
	cJSON_DeleteItemFromObject(cJSON_GetObjectItem(document, "tool"), "started_realtime_ns");
	cJSON_ArrayForEach(qdisc, cJSON_GetObjectItem(document, "qdiscs"))
		cJSON_DeleteItemFromObject(qdisc, "config");
	return document;
}

static void assert_same_members(const cJSON *a, const cJSON *b, const char *name)
{
	const cJSON *x, *y;

	if (a->type != b->type)
		fail_msg("%s: another type", name);
	if (cJSON_IsNumber(a) && a->valuedouble != b->valuedouble)
		fail_msg("%s: %.17g became %.17g", name, a->valuedouble, b->valuedouble);
	if (cJSON_IsString(a))
		assert_string_equal(a->valuestring, b->valuestring);
	for (x = a->child, y = b->child; x && y; x = x->next, y = y->next) {
		if (x->string)
			assert_string_equal(x->string, y->string);
		assert_same_members(x, y, x->string ? x->string : name);
	}
	if (x || y)
		fail_msg("%s: %s are missing", name, x ? "some" : "others");
}

static void test_there_and_back(void **state)
{
	struct result written, read;
	char *first, *second, *words, *words_again;
	struct error error = { 0 };
	cJSON *before, *after;

	(void)state;
	make_readable(&written);
	first = out_json(&written);
	result_init(&read);
	if (result_parse(first, strlen(first), "run.json", &read, &error))
		fail_msg("%s", error.text);
	second = out_json(&read);
	before = comparable(first);
	after = comparable(second);
	assert_same_members(before, after, "document");
	words = out_text_copy(&written);
	words_again = out_text_copy(&read);
	assert_string_equal(words, words_again);
	assert_true(read.started_realtime_ns - written.started_realtime_ns + 1000 <= 2000);
	free(first);
	free(second);
	free(words);
	free(words_again);
	cJSON_Delete(before);
	cJSON_Delete(after);
	result_free(&written);
	result_free(&read);
}

/* Text with the first from replaced by to; the caller frees it. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *found = strstr(text, from);
	char *out = NULL;

	if (!found)
		fail_msg("no %s", from);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(found - text), text, to,
			     found + strlen(from)) >= 0);
	return out;
}

static void assert_refused(const char *text, size_t length, const char *expected)
{
	struct error error = { 0 };
	struct result result;

	result_init(&result);
	if (!result_parse(text, length, "run.json", &result, &error))
		fail_msg("taken, where '%s' was expected", expected);
	assert_int_equal(error.code, EXIT_USAGE);
	if (strncmp(error.text, "run.json:", 9) || !strstr(error.text, expected))
		fail_msg("'%s' does not say '%s'", error.text, expected);
	assert_null(strchr(error.text, '\n'));
	result_free(&result);
}

static void test_what_is_wrong_is_told_by_its_place(void **state)
{
	static const char *const changes[][3] = {
		{ "\"sojourn/1\"", "\"sojourn/2\"", "schema is sojourn/2: this sojourn reads" },
		{ "\"schema\"", "\"scheme\"", "schema is missing" },
		{ "\"qdiscs\":[", "\"qdiscs\":3,\"x\":[", "qdiscs is no array" },
		{ "\"sent\":", "\"sent\":-", "phases[0].probes.sent is no whole number" },
		{ "\"sent\":", "\"sent\":0.5,\"x\":", "phases[0].probes.sent is no whole number" },
		{ "\"sent\":", "\"sent\":1e300,\"x\":", "phases[0].probes.sent is no whole" },
		{ "\"sent\":", "\"sent\":\"a\",\"x\":", "phases[0].probes.sent is no whole" },
		{ "\"handle\":\"10:\"", "\"handle\":\"10\"", "qdiscs[0].handle is no handle" },
		{ "\"handle\":\"10:\"", "\"handle\":\"10:x\"", "qdiscs[0].handle is no handle" },
		{ "\"handle\":\"10:\"", "\"handle\":\"fffff:\"", "qdiscs[0].handle is no handle" },
		{ "\"ifname\":\"wan0\"", "\"ifname\":\"wan0wan0wan0wan0\"",
		  "qdiscs[0].ifname is too long: 15 bytes" },
		{ "\"ifname\":\"wan0\"", "\"ifname\":\"wan\\u001b[0\"",
		  "qdiscs[0].ifname has a control character" },
		{ "\"name\":\"idle\"", "\"name\":\"idel\"", "phases[0].name is no phase of" },
		{ "\"name\":\"load\"", "\"name\":\"idle\"", "phases[1] is the second of that name" },
		{ "\"kind\":\"stack\"", "\"kind\":\"stuck\"", "kind is none of: qdisc, driver" },
		{ "\"complete\":true", "\"complete\":1", "complete is neither true nor false" },
		{ "\"counts\":[]", "\"counts\":[1]", "histogram has 0 bounds to 1 counts" },
		{ "\"load.proto\":\"tcp\"", "\"load.proto\":\"icmp\"",
		  "scenario.load.proto is none of tcp|udp" },
		{ "\"proto\":\"udp\"", "\"proto\":\"icmp\"",
		  "scenario.loads[0].proto is none of tcp|udp" },
		{ "\"name\":\"bulk\"", "\"name\":\"voice\"",
		  "scenario.loads[1] has a name that is none, or another one's" },
		{ "\"name\":\"bulk\"", "\"name\":\"Bulk load\"",
		  "scenario.loads[1] has a name that is none, or another one's" },
		{ "\"parent_qdisc\":null", "\"parent_qdisc\":\"nobody\"",
		  "qdiscs[0].parent_qdisc is no id of qdiscs[]" },
		{ "\"parent_qdisc\":null", "\"parent_qdisc\":\"pl-router/wan0/0/tbf/10:\"",
		  "qdiscs[0] is its own parent" },
		{ "\"local\":\"192.0.2.10\"", "\"local\":\"192.0.2.1000\"",
		  "timeline.tcp_samples[0].local is no address" },
	};
	struct result result;
	char *text, *wrong;
	size_t i;

	(void)state;
	make_readable(&result);
	text = out_json(&result);
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		wrong = changed(text, changes[i][0], changes[i][1]);
		assert_refused(wrong, strlen(wrong), changes[i][2]);
		free(wrong);
	}
	free(text);
	result_free(&result);
}

/* Parents that go round would keep whoever walks the tree for ever. */
static void test_trees_have_no_circles(void **state)
{
	static const char text[] =
		"{\"schema\":\"sojourn/1\",\"scenario\":{},\"phases\":[],\"qdiscs\":["
		"{\"id\":\"a\",\"parent_qdisc\":\"b\"},{\"id\":\"b\",\"parent_qdisc\":\"a\"}]}";

	(void)state;
	assert_refused(text, sizeof(text) - 1, "qdiscs are no tree");
}

/* Each length at which a document may be cut off: an error, and nothing leaks or crashes. */
static void test_cut_short(void **state)
{
	struct result result;
	size_t length, step;
	char *text;

	(void)state;
	make_readable(&result);
	text = out_json(&result);
	step = strlen(text) / 200;
	for (length = 0; length + 3 < strlen(text); length += step)
		assert_refused(text, length, ": no JSON");
	assert_refused(text, 0, "run.json:1:1: no JSON: it ends here, cut short");
	assert_refused("{\n\"a\": x}", 9, "run.json:2:6: no JSON");
	assert_refused("[]", 2, "the document is no object");
	free(text);
	result_free(&result);
}

static void test_little_is_enough(void **state)
{
	static const char text[] =
		"{\"schema\":\"sojourn/1\",\"scenario\":{\"name\":\"later\",\"new.key\":1},"
		"\"qdiscs\":[],\"phases\":[],\"new\":[{}]}";
	struct error error = { 0 };
	struct result result;
	char *words;

	(void)state;
	result_init(&result);
	if (result_parse(text, sizeof(text) - 1, "run.json", &result, &error))
		fail_msg("%s", error.text);
	assert_string_equal(result.scenario.name, "later");
	assert_false(result.complete);
	words = out_text_copy(&result);
	assert_non_null(strstr(words, "INCOMPLETE"));
	free(words);
	result_free(&result);
}

static void test_files(void **state)
{
	char path[] = "/tmp/sojourn-in-json-XXXXXX";
	struct error error = { 0 };
	struct result result;
	size_t length;
	int fd = mkstemp(path);
	char *text;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"schema\":1}", 12), 12);
	close(fd);
	text = result_text(path, 12, &length, &error);
	assert_non_null(text);
	assert_int_equal(length, 12);
	assert_int_equal(text[12], '\0');
	free(text);
	assert_null(result_text(path, 11, &length, &error));
	assert_non_null(strstr(error.text, "is too large"));
	result_init(&result);
	assert_int_equal(result_read(path, &result, &error), -1);
	assert_non_null(strstr(error.text, "schema is no text"));
	assert_non_null(strstr(error.text, path));
	result_free(&result);
	unlink(path);
	assert_null(result_text(path, 12, &length, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	assert_non_null(strstr(error.text, "No such file"));
	assert_null(result_text("/tmp", 12, &length, &error));
	assert_non_null(strstr(error.text, "Is a directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_what_is_wrong_is_told_by_its_place),
		cmocka_unit_test(test_trees_have_no_circles),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_little_is_enough),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
