// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "attribution.h"
#include "out.h"
#include "phase.h"
#include "whole_result.h"

/* ---- JSON ---- */

/* Walk "a.b.2.c"; fails where a part is missing. */
static const cJSON *at(const cJSON *item, const char *path)
{
	const char *rest = path;
	char name[64];
	size_t length;

	while (*rest) {
		length = strcspn(rest, ".");
		assert_true(length < sizeof(name));
		memcpy(name, rest, length);
		name[length] = '\0';
		item = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, atoi(name)) :
					     cJSON_GetObjectItemCaseSensitive(item, name);
		if (!item)
			fail_msg("no %s in %s", name, path);
		rest += length + (rest[length] == '.');
	}
	return item;
}

/* Types as letters: n number, s string, b boolean, o object, a array, 0 null. */
static void assert_type(const cJSON *item, const char *path, char type)
{
	const cJSON *found = at(item, path);
	bool right = type == 'n' ? cJSON_IsNumber(found) : type == 's' ? cJSON_IsString(found) :
		     type == 'b' ? cJSON_IsBool(found) : type == 'o' ? cJSON_IsObject(found) :
		     type == 'a' ? cJSON_IsArray(found) : cJSON_IsNull(found);

	if (!right)
		fail_msg("%s is not of type %c", path, type);
}

static void assert_types(const cJSON *item, const char *const paths[][2], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		assert_type(item, paths[i][0], paths[i][1][0]);
}

#define ASSERT_TYPES(item, paths)	assert_types(item, paths, sizeof(paths) / sizeof((paths)[0]))

static void assert_text(const cJSON *item, const char *path, const char *expected)
{
	assert_type(item, path, 's');
	assert_string_equal(at(item, path)->valuestring, expected);
}

static void assert_number(const cJSON *item, const char *path, double expected)
{
	assert_type(item, path, 'n');
	if (fabs(at(item, path)->valuedouble - expected) > fabs(expected) * 1e-12)
		fail_msg("%s is %.17g instead of %.17g", path, at(item, path)->valuedouble,
			 expected);
}

static cJSON *parse(const struct result *result, char **text)
{
	cJSON *document;

	*text = out_json(result);
	assert_non_null(*text);
	document = cJSON_ParseWithOpts(*text, NULL, true);
	assert_non_null(document);
	return document;
}

static void test_every_field_of_the_contract(void **state)
{
	static const char *const paths[][2] = {
		{ "schema", "s" }, { "complete", "b" }, { "tool.version", "s" },
		{ "tool.kernel", "s" }, { "tool.tier", "s" }, { "tool.hooks", "a" },
		{ "tool.hooks.0.name", "s" }, { "tool.hooks.0.how", "s" },
		{ "tool.hooks.0.attached", "b" }, { "tool.started_realtime_ns", "n" },
		{ "scenario", "o" }, { "scenario.name", "s" },
		{ "qdiscs", "a" }, { "qdiscs.0.id", "s" }, { "qdiscs.0.netns", "s" },
		{ "qdiscs.0.ifname", "s" }, { "qdiscs.0.ifindex", "n" },
		{ "qdiscs.0.queue", "n" }, { "qdiscs.0.kind", "s" }, { "qdiscs.0.handle", "s" },
		{ "qdiscs.0.parent", "s" }, { "qdiscs.0.path", "s" }, { "qdiscs.0.config", "o" },
		{ "qdiscs.0.config.rate", "n" },
		{ "qdiscs.0.ledger.offered", "n" }, { "qdiscs.0.ledger.measured", "n" },
		{ "qdiscs.0.ledger.bypassed", "n" }, { "qdiscs.0.ledger.rejected", "n" },
		{ "qdiscs.0.ledger.dropped_inside", "n" }, { "qdiscs.0.ledger.requeued", "n" },
		{ "qdiscs.0.ledger.queued", "n" }, { "qdiscs.0.ledger.unaccounted", "n" },
		{ "qdiscs.0.kernel.packets", "n" }, { "qdiscs.0.kernel.bytes", "n" },
		{ "qdiscs.0.kernel.drops", "n" }, { "qdiscs.0.kernel.requeues", "n" },
		{ "qdiscs.0.kernel.overlimits", "n" }, { "qdiscs.0.kernel.backlog_bytes", "n" },
		{ "qdiscs.0.kernel.backlog_packets", "n" }, { "qdiscs.0.agrees", "b" },
		{ "qdiscs.1.kernel", "0" }, { "qdiscs.1.agrees", "0" },
		{ "phases", "a" }, { "phases.1.name", "s" }, { "phases.1.begin_ns", "n" },
		{ "phases.1.end_ns", "n" }, { "phases.1.probes.sent", "n" },
		{ "phases.1.probes.received", "n" }, { "phases.1.probes.lost", "n" },
		{ "phases.1.probes.rtt_ns.min", "n" }, { "phases.1.probes.rtt_ns.p50", "n" },
		{ "phases.1.probes.rtt_ns.p90", "n" }, { "phases.1.probes.rtt_ns.p95", "n" },
		{ "phases.1.probes.rtt_ns.p99", "n" }, { "phases.1.probes.rtt_ns.max", "n" },
		{ "phases.1.probes.rtt_ns.mean", "n" }, { "phases.1.probes.rtt_ns.stdev", "n" },
		{ "phases.1.qdiscs", "a" }, { "phases.1.qdiscs.0.id", "s" },
		{ "phases.1.qdiscs.0.packets", "n" }, { "phases.1.qdiscs.0.sojourn_ns.min", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.p50", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.p90", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.p95", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.p99", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.max", "n" },
		{ "phases.1.qdiscs.0.sojourn_ns.mean", "n" },
		{ "phases.1.qdiscs.0.exclusive_ns", "0" }, { "phases.1.qdiscs.0.paced_ns", "0" },
		{ "phases.1.qdiscs.1.exclusive_ns", "o" },
		{ "phases.1.qdiscs.0.backlog_bytes_max", "n" },
		{ "phases.1.qdiscs.0.backlog_packets_max", "n" },
		{ "phases.1.qdiscs.0.drops", "n" },
		{ "phases.1.qdiscs.0.histogram.bounds_ns", "a" },
		{ "phases.1.qdiscs.0.histogram.counts", "a" },
		{ "phases.1.qdiscs.0.share", "n" }, { "phases.0.qdiscs.0.share", "0" },
		{ "phases.0.qdiscs.0.sojourn_ns.p50", "0" },
		{ "phases.1.tcp.srtt_ns.p50", "n" }, { "phases.1.tcp.cwnd.p50", "n" },
		{ "phases.1.tcp.retransmits", "n" },
		{ "phases.1.iperf3.sum_received.bits_per_second", "n" },
		{ "phases.0.iperf3", "0" },
		{ "attribution.rtt_increase_ns", "n" }, { "attribution.explained", "n" },
		{ "attribution.unexplained_ns", "n" }, { "attribution.cause.qdisc", "s" },
		{ "attribution.cause.share", "n" }, { "attribution.cause.text", "s" },
		{ "attribution.verdict", "s" },
		{ "probes", "a" }, { "probes.0.seq", "n" }, { "probes.0.id", "n" },
		{ "probes.0.phase", "s" }, { "probes.0.sent_ns", "n" },
		{ "probes.0.rtt_ns", "n" }, { "probes.0.ping_rtt_ns", "n" },
		{ "probes.1.ping_rtt_ns", "0" }, { "probes.0.lost", "b" },
		{ "probes.50.rtt_ns", "0" },
		{ "probes.0.legs", "a" }, { "probes.0.legs.0.kind", "s" },
		{ "probes.0.legs.0.device", "s" }, { "probes.0.legs.0.ns", "n" },
		{ "probes.0.legs.3.qdisc", "s" }, { "probes.0.legs.2.netns", "s" },
		{ "iperf3.version", "s" }, { "iperf3.command", "a" },
		{ "iperf3.command.2", "s" },
		{ "iperf3.sum_sent.bits_per_second", "n" }, { "iperf3.sum_sent.bytes", "n" },
		{ "iperf3.sum_sent.seconds", "n" }, { "iperf3.sum_sent.retransmits", "n" },
		{ "iperf3.sum_received.bits_per_second", "n" },
		{ "iperf3.sum_received.retransmits", "0" },
		{ "iperf3.intervals.0.bits_per_second", "n" },
		{ "iperf3.intervals.1.bits_per_second", "0" },
		{ "losses.ring_full", "n" }, { "losses.slot_overwrites", "n" },
		{ "losses.flow_misses", "n" }, { "losses.events_late", "n" },
		{ "timeline.qdisc_samples", "a" }, { "timeline.tcp_samples", "a" },
		{ "timeline.retransmits", "a" },
		{ "timeline.qdisc_samples.0.qdisc", "s" },
		{ "timeline.qdisc_samples.0.begin_ns", "n" },
		{ "timeline.qdisc_samples.0.end_ns", "n" },
		{ "timeline.qdisc_samples.0.packets", "n" },
		{ "timeline.qdisc_samples.0.sojourn_ns.p50", "n" },
		{ "timeline.qdisc_samples.0.sojourn_ns.max", "n" },
		{ "timeline.qdisc_samples.0.backlog_bytes_mean", "n" },
		{ "timeline.tcp_samples.0.local", "s" }, { "timeline.tcp_samples.0.srtt_ns", "n" },
		{ "timeline.tcp_samples.0.ssthresh", "0" },
		{ "timeline.tcp_samples.0.pacing_rate", "0" },
	};
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	make_result(&result);
	document = parse(&result, &text);
	ASSERT_TYPES(document, paths);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

static void test_values(void **state)
{
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	make_result(&result);
	document = parse(&result, &text);
	assert_text(document, "schema", "sojourn/1");
	assert_true(cJSON_IsTrue(at(document, "complete")));
	assert_text(document, "tool.hooks.1.why", "not in 6.18");
	assert_text(document, "qdiscs.0.handle", "10:");
	assert_text(document, "qdiscs.0.parent", "root");
	assert_text(document, "qdiscs.1.parent", "10:1");
	assert_text(document, "qdiscs.2.ifname", "eth\"0");
	assert_true(cJSON_IsTrue(at(document, "qdiscs.0.agrees")));
	assert_int_equal(cJSON_GetArraySize(at(document, "phases")), 4);
	assert_text(document, "phases.0.name", "idle");
	assert_text(document, "phases.3.name", "restored");
	assert_number(document, "phases.0.probes.sent", 30);
	assert_number(document, "phases.1.probes.sent", 130);
	assert_number(document, "phases.1.probes.lost", 1);
	assert_number(document, "phases.1.probes.rtt_ns.p50",
		      (double)(synthetic_base_rtt() + 320 * MS));
	assert_number(document, "phases.1.qdiscs.0.packets", 830);
	assert_number(document, "phases.1.qdiscs.0.sojourn_ns.mean", 320e6);
	assert_number(document, "phases.1.qdiscs.0.drops", 20);
	assert_number(document, "phases.1.tcp.retransmits", 1);
	assert_number(document, "phases.1.tcp.cwnd.max", 350);
	assert_number(document, "attribution.explained", 1);
	assert_text(document, "attribution.cause.qdisc", "pl-router/wan0/0/tbf/10:");
	assert_int_equal(cJSON_GetArraySize(at(document, "probes")), 280);
	assert_text(document, "probes.0.phase", "idle");
	assert_type(document, "probes.35.phase", '0');	/* in the margin of the load */
	assert_text(document, "probes.0.legs.3.kind", "qdisc");
	assert_text(document, "probes.0.legs.3.qdisc", "pl-router/wan0/0/tbf/10:");
	assert_text(document, "probes.0.legs.0.netns", "pl-client");
	assert_text(document, "probes.0.legs.5.netns", "net:[1003]");	/* no qdisc listed there */
	assert_number(document, "iperf3.sum_received.bits_per_second", 9.57e6);
	assert_int_equal(cJSON_GetArraySize(at(document, "timeline.qdisc_samples")), 10);
	assert_text(document, "timeline.tcp_samples.0.local", "192.0.2.10");
	assert_text(document, "timeline.tcp_samples.1.remote", "c633:640a::");
	assert_number(document, "timeline.tcp_samples.1.pacing_rate", 8000);
	assert_number(document, "timeline.tcp_samples.1.ssthresh", 44);
	assert_number(document, "timeline.retransmits.0.sequence", 4000000000.0);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

static void test_legs_add_up_in_the_document(void **state)
{
	const cJSON *probe, *leg;
	struct result result;
	cJSON *document;
	double sum;
	char *text;

	(void)state;
	make_result(&result);
	document = parse(&result, &text);
	cJSON_ArrayForEach(probe, at(document, "probes")) {
		if (cJSON_IsTrue(at(probe, "lost")))
			continue;
		sum = 0;
		cJSON_ArrayForEach(leg, at(probe, "legs"))
			sum += at(leg, "ns")->valuedouble;
		assert_true(sum == at(probe, "rtt_ns")->valuedouble);
	}
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

/* By the text: reading it back as a double would hide what was lost. */
static void test_integers_are_exact(void **state)
{
	struct result result;
	char *text;

	(void)state;
	make_result(&result);
	result.qdiscs[0].ledger.unaccounted = -(__s64)BIG;
	text = out_json(&result);
	assert_non_null(text);
	assert_non_null(strstr(text, "\"offered\":9007199254740993,"));
	assert_non_null(strstr(text, "\"bytes\":9007199254740995,"));
	assert_non_null(strstr(text, "\"unaccounted\":-9007199254740993,"));
	assert_non_null(strstr(text, "\"started_realtime_ns\":1790000000123456789"));
	assert_non_null(strstr(text, "\"bytes_acked\":9007199254740993,"));
	free(text);
	result_free(&result);
}

static void test_histogram_bounds(void **state)
{
	const cJSON *bounds, *counts;
	struct result result;
	double total = 0;
	cJSON *document;
	char *text;
	int i;

	(void)state;
	make_result(&result);
	document = parse(&result, &text);
	bounds = at(document, "phases.1.qdiscs.0.histogram.bounds_ns");
	counts = at(document, "phases.1.qdiscs.0.histogram.counts");
	assert_int_equal(cJSON_GetArraySize(bounds), cJSON_GetArraySize(counts) + 1);
	for (i = 0; i < cJSON_GetArraySize(counts); i++) {
		double low = cJSON_GetArrayItem(bounds, i)->valuedouble;
		double high = cJSON_GetArrayItem(bounds, i + 1)->valuedouble;
		double count = cJSON_GetArrayItem(counts, i)->valuedouble;

		assert_true(low < high);
		if (low <= 300e6 && 300e6 < high)
			assert_true(count == 30);
		else if (low <= 320e6 && 320e6 < high)
			assert_true(count == 800);
		else
			assert_true(count == 0);
		total += count;
	}
	assert_true(total == 830);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

/* A run that got nowhere still gives one document with every member. */
static void test_empty_result(void **state)
{
	static const char *const paths[][2] = {
		{ "schema", "s" }, { "complete", "b" }, { "tool", "o" }, { "scenario", "o" },
		{ "qdiscs", "a" }, { "phases", "a" }, { "attribution", "o" },
		{ "attribution.cause", "0" }, { "attribution.explained", "0" },
		{ "probes", "a" }, { "iperf3", "0" }, { "losses", "o" },
		{ "timeline.qdisc_samples", "a" },
	};
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	result_init(&result);
	document = parse(&result, &text);
	ASSERT_TYPES(document, paths);
	assert_int_equal(cJSON_GetArraySize(at(document, "phases")), 0);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

/* gcc defines the macro, clang has the feature. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SLOW_MEMORY
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SLOW_MEMORY
#endif

/* As many as a run of some hours has; fewer where each access to memory is checked. */
#ifdef SLOW_MEMORY
#define MANY_PROBES	5000
#else
#define MANY_PROBES	100000
#endif

static void test_many_probes(void **state)
{
	const unsigned int count = MANY_PROBES;
	struct timespec begin, end;
	struct result result;
	char *text, *place;
	unsigned int i, j;
	double seconds;

	(void)state;
	assert_int_equal(synthetic_result(&result), 0);
	result.probes = calloc(count, sizeof(*result.probes));
	assert_non_null(result.probes);
	result.probe_count = count;
	for (i = 0; i < count; i++) {
		result.probes[i].sent_ns = i;
		result.probes[i].phase = -1;
		result.probes[i].legs = calloc(12, sizeof(struct leg));
		assert_non_null(result.probes[i].legs);
		result.probes[i].leg_count = 12;
		for (j = 0; j < 12; j++)
			result.probes[i].legs[j].netns = ROUTER;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	text = out_json(&result);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_non_null(text);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	print_message("%u probes: %.1f s, %zu bytes\n", count, seconds, strlen(text));
	assert_true(seconds < 120);	/* quadratic time would be hours */
	/* Each probe has a line of its own. (strstr() in a loop takes quadratic time under ASAN.) */
	for (i = 0, place = text; *place; place++)
		i += place[0] == '\n' && !strncmp(place + 1, "{\"seq\":", 7);
	assert_int_equal(i, count);
	free(text);
	result_free(&result);
}

/* ---- text ---- */

static char *print_text(const struct result *result, bool color)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	out_text(result, stream, color);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void assert_in(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is missing in:\n%s", words, text);
}

static void assert_not_in(const char *text, const char *words)
{
	if (strstr(text, words))
		fail_msg("\"%s\" should not be in:\n%s", words, text);
}

/* Two texts in one line, in that order. */
static void assert_row(const char *text, const char *first, const char *then)
{
	const char *line = strstr(text, first), *end, *found;

	if (!line)
		fail_msg("no row \"%s\" in:\n%s", first, text);
	end = strchr(line, '\n');
	found = strstr(line, then);
	if (!found || (end && found > end))
		fail_msg("no \"%s\" in the row of \"%s\" in:\n%s", then, first, text);
}

static void assert_lines_fit(const char *text)
{
	const char *line;
	size_t length;

	for (line = text; *line; line += length + (line[length] == '\n')) {
		length = strcspn(line, "\n");
		if (length > 100)
			fail_msg("%zu columns: %.*s", length, (int)length, line);
		if (length && line[length - 1] == ' ')
			fail_msg("space at the end: %.*s", (int)length, line);
	}
}

static void test_summary(void **state)
{
	struct result result;
	char *text;

	(void)state;
	make_result(&result);
	text = print_text(&result, false);
	if (getenv("SHOW_TEXT"))
		fputs(text, stderr);
	assert_lines_fit(text);
	assert_not_in(text, "\033");
	assert_in(text, "sojourn 0.1.0, kernel 6.18.0, tier tracepoints\n");
	assert_in(text, "tbf 10: on wan0 in pl-router, rate 10.0 Mbit/s, burst 32.0 KB, latency 400 ms");
	assert_in(text, "1 TCP stream (cubic), client to server, 15 s");
	assert_row(text, "idle ", " 30     0 ");
	assert_row(text, "load  ", " 130     1 ");
	assert_row(text, "load  ", "320 ms");
	assert_row(text, "load  ", "9.57 Mbit/s");
	assert_row(text, "pl-router/wan0 tbf 10:", "391 KB 264p");
	assert_row(text, "pl-router/wan0 tbf 10:", "100 %");
	assert_in(text, "sender 10.6 Mbit/s, 34 retransmits");
	assert_in(text, "receiver (delivered) 9.57 Mbit/s");
	assert_in(text, "kernel: packets 9007199254740873, drops 117, requeues 1, backlog 3; traced: packets");
	assert_in(text, "drops 117 skbs,");
	assert_in(text, "agrees");
	assert_in(text, "1 more root qdisc without a packet");
	assert_in(text, "\nrecovered: median ");
	assert_in(text, "\nrestored (qdisc under test removed): median ");
	assert_in(text, "\nno losses\n");
	assert_in(text, "not seen by the tracepoints tier: the time inside 1 child qdisc");
	assert_in(text, "\ncause: rate 10.0 Mbit/s");
	assert_in(text, "of the RTT increase under load (320 ms of 320 ms) was spent waiting in");
	/* The verdict is the end. */
	assert_non_null(strstr(strstr(text, "of the RTT increase under load"), "pl-router.\n"));
	assert_string_equal(text + strlen(text) - strlen("pl-router.\n"), "pl-router.\n");
	free(text);
	text = print_text(&result, true);
	assert_in(text, "\033[1m");
	free(text);
	result_free(&result);
}

/* The same run as the first of two loads of an office. */
static void make_office_result(struct result *result)
{
	struct error error;

	make_result(result);
	assert_int_equal(scenario_named(&result->scenario, "office", &error), 0);
	result->phases[4] = result->phases[PHASE_RECOVERY];
	result->phases[5] = result->phases[PHASE_RESTORED];
	result->phase_count = 6;
	result->phases[2].plan = (struct scenario_phase) { "between", PHASE_RECOVERY, LOAD_UP };
	result->phases[1].plan.name = "upload";
	result->phases[3] = (struct phase) {
		.plan = { "download", PHASE_LOAD, LOAD_DOWN },
		.load.begin_ns = 120 * SECOND, .load.end_ns = 125 * SECOND,
	};
	result->phases[2].qdiscs = NULL;	/* they went along */
	result->phases[2].qdisc_count = 0;
	assert_int_equal(attribution_fill(result, &error), 0);
	result->hosts[0] = (struct result_host) { ROUTER, "pl-router", "gateway" };
	result->hosts[1] = (struct result_host) { SERVER, "pl-server", "server" };
	result->host_count = 2;
	snprintf(result->note, sizeof(result->note), "this kernel has no fq_codel");
}

static void test_two_loads(void **state)
{
	struct attribution *attribution;
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	make_office_result(&result);
	attribution = &result.phases[1].load.attribution;
	snprintf(attribution->beyond_device, sizeof(attribution->beyond_device), "wan0");
	attribution->beyond_netns = SERVER;
	attribution->exonerated[0] = (struct exoneration) { 2, -0.0001, true };
	attribution->exonerated_count = 1;
	text = print_text(&result, false);
	assert_lines_fit(text);
	assert_in(text, "scenario office: tbf 20: on wan0 in pl-modem, rate 5.00 Mbit/s, burst 16.0 KB, latency 1.00 s");
	assert_in(text, "fq_codel 10: on wan0\n    in pl-gw; 1 TCP stream (cubic), client to server, then server to client, 20 s each");
	assert_in(text, "\nnote: this kernel has no fq_codel\n");
	assert_in(text, "\nupload: iperf 3.12; sender");
	assert_in(text, "\nTCP under upload: srtt");
	assert_in(text, "\nrecovered from the upload: median ");
	assert_in(text, "\nrecovered from the download: median ");
	assert_in(text, "\nrestored (qdiscs under test removed): median ");
	assert_in(text, "of the RTT increase under upload (320 ms of 320 ms) was spent waiting in");
	assert_in(text, "no verdict: the download phase has no probes.");
	free(text);

	document = parse(&result, &text);
	assert_text(document, "note", "this kernel has no fq_codel");
	assert_text(document, "hosts.1.role", "server");
	assert_text(document, "phases.1.name", "upload");
	assert_text(document, "phases.1.kind", "load");
	assert_text(document, "phases.2.name", "between");
	assert_text(document, "phases.2.kind", "recovery");
	assert_type(document, "phases.2.attribution", '0');
	assert_text(document, "phases.1.attribution.beyond.netns", "pl-server");
	assert_text(document, "phases.1.attribution.beyond.device", "wan0");
	assert_text(document, "phases.1.attribution.exonerated.0.qdisc", "pl-client/eth\"0/0/pfifo/20:");
	assert_type(document, "phases.1.attribution.exonerated.0.empty", 'b');
	assert_text(document, "loads.0.phase", "upload");
	assert_text(document, "loads.1.phase", "download");
	assert_text(document, "loads.0.iperf3.version", "iperf 3.12");
	assert_type(document, "loads.1.iperf3", '0');
	assert_text(document, "iperf3.version", "iperf 3.12");
	assert_text(document, "probes.0.legs.5.netns", "pl-server");
	assert_number(document, "window.load_begin_ns", (double)moments.loads[0].begin_ns);
	assert_non_null(strstr(at(document, "attribution.verdict")->valuestring,
			       "pl-router. no verdict: the download phase"));
	assert_null(strstr(at(document, "phases.1.attribution.verdict")->valuestring, "no verdict"));
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

static void test_summary_of_a_bad_run(void **state)
{
	struct result result;
	unsigned int i;
	char *text;

	(void)state;
	make_result(&result);
	result.losses.ring_full = 12;
	result.losses.flow_misses = 3;
	result.complete = false;
	snprintf(result.incomplete_why, sizeof(result.incomplete_why), "12 events were lost");
	result.qdiscs[0].ledger.agrees = LEDGER_DISAGREES;
	snprintf(result.qdiscs[0].ledger.why, sizeof(result.qdiscs[0].ledger.why),
		 "packets: traced 1, kernel 2 (-1)");
	result.phases[PHASE_RECOVERY].rtt.p50 = 300 * MS;
	result.phases[PHASE_RESTORED].received = 0;
	for (i = 0; i < sizeof(result.qdiscs[0].netns_name) - 1; i++)
		result.qdiscs[0].netns_name[i] = 'n';
	text = print_text(&result, false);
	assert_lines_fit(text);
	assert_in(text, "losses: events that found the ring buffer full 12, GSO segments not matched 3");
	assert_not_in(text, "no losses");
	assert_in(text, "INCOMPLETE: 12 events were lost");
	assert_in(text, "DISAGREES: packets: traced 1, kernel 2 (-1)");
	assert_in(text, "NOT recovered: median 300 ms");
	assert_in(text, "NOT restored");
	free(text);
	result_free(&result);
}

static void test_summary_of_nothing(void **state)
{
	struct result result;
	char *text;

	(void)state;
	result_init(&result);
	snprintf(result.tier, sizeof(result.tier), "tracepoints");
	text = print_text(&result, false);
	assert_lines_fit(text);
	free(text);
	result_free(&result);
}

/* ---- trees of qdiscs ---- */

static void fill_part(struct sample_histogram *sample, __u64 value, __s32 count)
{
	*sample = (struct sample_histogram){
		.count = count, .sum = (__s64)value * count, .min = value, .max = value,
		.parts = calloc(1, sizeof(*sample->parts)), .part_count = 1,
	};
	assert_non_null(sample->parts);
	*sample->parts = (struct histogram_part) { histogram_bucket(value), count };
}

/* htb holds 1 ms of 320, the fq_codel of its class the rest; another class is idle. */
static void make_tree_result(struct result *result)
{
	const struct phase_moments idle_and_load = {
		.begin_ns = 100 * SECOND, .loads[0] = { 103 * SECOND, 118 * SECOND },
		.end_ns = 118 * SECOND,
	};
	struct timeline *timeline = timeline_create();
	struct probe_event events[WAY_POINTS + 1];
	struct error error;
	unsigned int i;

	assert_int_equal(synthetic_tree(result), 0);
	assert_int_equal(scenario_named(&result->scenario, "bottleneck", &error), 0);
	for (i = 0; i < 180; i++) {
		__u64 inside = i < 30 ? 10 * US : 319 * MS;

		synthetic_probe(events, 7, (__u16)i, 100 * SECOND + i * 100 * MS, inside + MS);
		events[WAY_POINTS] = synthetic_hand_up(&events[3], RECORD + TREE_LOADED,
			events[3].header.time_ns + MS / 4,
			events[3].header.time_ns + MS / 4 + inside);
		synthetic_feed(timeline, events, WAY_POINTS + 1);
	}
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, result, &error), 0);
	timeline_free(timeline);
	result->samples = calloc(2, sizeof(*result->samples));
	assert_non_null(result->samples);
	result->sample_count = 2;
	for (i = 0; i < 2; i++)
		result->samples[i] = (struct qdisc_sample) {
			.qdisc = i, .begin_ns = 105 * SECOND, .end_ns = 106 * SECOND,
			.delta = { .rejected_packets = 5, .drops_here = i ? 5 : 0 },
		};
	fill_part(&result->samples[0].sojourn, 320 * MS, 800);
	fill_part(&result->samples[0].part, MS, 800);
	fill_part(&result->samples[1].sojourn, 319 * MS, 800);
	result->qdiscs[TREE_LOADED].drops_here = 5;
	result->qdiscs[TREE_LOADED].ledger = (struct ledger) { .offered = 805, .measured = 800,
							       .rejected = 5 };
	phase_windows(result, &idle_and_load, SECOND, SECOND);
	assert_int_equal(phase_fill(result, &error), 0);
	assert_int_equal(attribution_fill(result, &error), 0);
	result->complete = true;
}

static void fill_holder(struct cause *cause)
{
	cause->have_path = true;
	snprintf(cause->path, sizeof(cause->path), "wan0 → htb 1: → class 1:11 → fq_codel 110:");
	cause->holder = (struct qdisc_holder) {
		.kind = HOLDER_CLASS, .how = HOLDS_BY_RATE, .rate_bit_per_s = 10000000,
		.seen = true, .text = "class 1:11 of htb 1: (rate 10.0 Mbit/s)",
	};
	cause->holder_qdisc = TREE_HTB;
	cause->holder_class = 0x10011;
}

static void test_tree_in_the_document(void **state)
{
	static const char *const paths[][2] = {
		{ "tool.tier_why", "0" },
		{ "qdiscs.0.parent_qdisc", "0" }, { "qdiscs.1.depth", "n" },
		{ "qdiscs.0.ledger.stolen_skbs", "n" }, { "qdiscs.0.ledger.before_hooked", "n" },
		{ "phases.1.qdiscs.0.exclusive_ns", "o" }, { "phases.1.qdiscs.0.paced_ns", "0" },
		{ "phases.1.qdiscs.0.exclusive_share", "n" },
		{ "phases.0.qdiscs.0.exclusive_share", "0" },
		{ "attribution.cause.exclusive_share", "n" },
		{ "attribution.cause.pacing", "b" }, { "attribution.cause.paced_ns", "0" },
		{ "attribution.cause.held_by.seen", "b" },
		{ "timeline.qdisc_samples.0.exclusive_ns.max", "n" },
	};
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	make_tree_result(&result);
	fill_holder(&result.phases[PHASE_LOAD].load.attribution.cause);
	document = parse(&result, &text);
	ASSERT_TYPES(document, paths);
	assert_text(document, "qdiscs.1.parent_qdisc", "pl-router/wan0/0/htb/1:");
	assert_number(document, "qdiscs.1.drops_here", 5);
	assert_number(document, "phases.1.qdiscs.0.sojourn_ns.max", 320e6);
	assert_number(document, "phases.1.qdiscs.0.exclusive_ns.max", 1e6);
	assert_number(document, "phases.1.qdiscs.1.exclusive_ns.max", 319e6);
	assert_number(document, "phases.1.qdiscs.0.drops", 5);
	assert_number(document, "phases.1.qdiscs.0.drops_here", 0);
	assert_number(document, "phases.1.qdiscs.1.drops_here", 5);
	assert_number(document, "phases.1.qdiscs.0.own_exclusive_median_ns", 1e6);
	assert_text(document, "attribution.cause.qdisc", "pl-router/wan0/0/fq_codel/110:@1:11");
	assert_text(document, "attribution.cause.waits_in", "pl-router/wan0/0/fq_codel/110:@1:11");
	assert_text(document, "attribution.cause.path",
		    "wan0 → htb 1: → class 1:11 → fq_codel 110:");
	assert_text(document, "attribution.cause.held_by.kind", "class");
	assert_text(document, "attribution.cause.held_by.class", "1:11");
	assert_text(document, "attribution.cause.held_by.qdisc", "pl-router/wan0/0/htb/1:");
	assert_number(document, "attribution.cause.held_by.rate", 1e7);
	assert_text(document, "probes.50.legs.3.qdisc", "pl-router/wan0/0/htb/1:");
	assert_text(document, "probes.50.legs.4.qdisc", "pl-router/wan0/0/fq_codel/110:@1:11");
	assert_text(document, "probes.50.legs.4.root", "pl-router/wan0/0/htb/1:");
	assert_number(document, "probes.50.legs.3.ns", 250e3);
	assert_number(document, "probes.50.legs.4.ns", 319e6);
	assert_number(document, "probes.50.legs.5.ns", 750e3);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

static void test_tree_in_the_summary(void **state)
{
	struct result result;
	char *text;

	(void)state;
	make_tree_result(&result);
	text = print_text(&result, false);
	if (getenv("SHOW_TEXT"))
		fputs(text, stderr);
	assert_lines_fit(text);
	assert_row(text, "\npl-router/wan0 htb 1:", "");
	assert_row(text, "  in itself", "1.00 ms");
	assert_row(text, "  in itself", " 0 %");
	assert_row(text, "\n  fq_codel 110: parent 1:11 ", "");
	assert_in(text, "  fq_codel 110: parent 1:11      800   319 ms   319 ms   319 ms   319 ms       0 B 0p      5  100 %\n");
	assert_not_in(text, "fq_codel 120:");
	assert_in(text, "\ntier functions: every qdisc of a tree is measured by itself\n");
	assert_not_in(text, "not seen by");
	assert_in(text, "was spent waiting in fq_codel 110: on wan0\n    in pl-router.\n");
	free(text);

	/* Paced: a row of its own below the qdisc's. */
	result.qdiscs[TREE_LOADED].paces = true;
	result.phases[PHASE_LOAD].qdiscs[TREE_LOADED].have_paced = true;
	result.phases[PHASE_LOAD].qdiscs[TREE_LOADED].paced =
		(struct summary) { .count = 9, .p50 = 300 * MS, .max = 310 * MS };
	text = print_text(&result, false);
	assert_lines_fit(text);
	assert_row(text, "\n    paced", "");
	assert_row(text, "    paced", "300 ms");
	free(text);
	result_free(&result);
}

/* Tracepoints tier: what is outside of a leaf told by stamps is the root's own. */
static void test_stamped_leaf_in_the_outputs(void **state)
{
	struct result result;
	struct error error;
	cJSON *document;
	char *text;

	(void)state;
	make_tree_result(&result);
	snprintf(result.tier, sizeof(result.tier), "tracepoints");
	result.qdisc_count = TREE_LOADED + 1;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	document = parse(&result, &text);
	assert_number(document, "phases.1.qdiscs.0.exclusive_ns.max", 1e6);
	assert_number(document, "phases.1.qdiscs.0.own_exclusive_median_ns", 1e6);
	assert_type(document, "phases.1.qdiscs.0.exclusive_share", 'n');
	assert_type(document, "phases.1.qdiscs.0.drops_here", '0');
	assert_number(document, "timeline.qdisc_samples.0.exclusive_ns.max", 1e6);
	cJSON_Delete(document);
	free(text);
	text = print_text(&result, false);
	assert_lines_fit(text);
	assert_row(text, "  in itself", "1.00 ms");
	assert_row(text, "  in itself", "  -    0 %");
	free(text);

	result.qdiscs[TREE_LOADED].traced = false;
	assert_int_equal(phase_fill(&result, &error), 0);
	document = parse(&result, &text);
	assert_type(document, "phases.1.qdiscs.0.exclusive_ns", '0');
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

/* The tier, and why it is not the other one. */
static void test_tier_in_the_outputs(void **state)
{
	struct result result;
	cJSON *document;
	char *text;

	(void)state;
	make_result(&result);
	text = print_text(&result, false);
	assert_in(text, "\ntier tracepoints, as it was asked for: roots are measured\n");
	free(text);
	snprintf(result.tier_why, sizeof(result.tier_why), "the kernel has no kprobes");
	text = print_text(&result, false);
	assert_in(text, "\ntier tracepoints, not functions: the kernel has no kprobes\n");
	free(text);
	document = parse(&result, &text);
	assert_text(document, "tool.tier_why", "the kernel has no kprobes");
	assert_type(document, "phases.1.qdiscs.0.drops_here", '0');
	assert_type(document, "phases.1.qdiscs.0.own_exclusive_median_ns", '0');
	assert_type(document, "attribution.cause.held_by", '0');
	assert_type(document, "qdiscs.1.depth", '0');
	assert_text(document, "qdiscs.1.parent_qdisc", "pl-router/wan0/0/tbf/10:");
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

/* Options as a program takes them: numbers where they are quantities, else tc's words. */
static void test_options_in_the_document(void **state)
{
	struct result result;
	struct qdisc_info *info;
	cJSON *document;
	char *text;

	(void)state;
	make_result(&result);
	info = &result.qdiscs[0].info;
	info->option_count = 0;
	info->options[info->option_count++] = (struct qdisc_option) { "loss", OPTION_PER_BILLION, 25000000 };
	info->options[info->option_count++] = (struct qdisc_option) { "overhead", OPTION_SIGNED, (__u64)-4 };
	info->options[info->option_count++] = (struct qdisc_option) { "default", OPTION_HANDLE, 0x11 };
	info->options[info->option_count++] = (struct qdisc_option) { "queues", OPTION_QUEUES, 2 << 16 | 1 };
	info->options[info->option_count++] = (struct qdisc_option) { "limit", OPTION_PACKETS, 1000 };
	document = parse(&result, &text);
	assert_number(document, "qdiscs.0.config.loss", 0.025);
	assert_text(document, "qdiscs.0.config.overhead", "-4");
	assert_text(document, "qdiscs.0.config.queues", "2@1");
	assert_type(document, "qdiscs.0.config.default", 's');
	assert_number(document, "qdiscs.0.config.limit", 1000);
	cJSON_Delete(document);
	free(text);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_of_the_contract),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_legs_add_up_in_the_document),
		cmocka_unit_test(test_integers_are_exact),
		cmocka_unit_test(test_histogram_bounds),
		cmocka_unit_test(test_empty_result),
		cmocka_unit_test(test_many_probes),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_two_loads),
		cmocka_unit_test(test_summary_of_a_bad_run),
		cmocka_unit_test(test_summary_of_nothing),
		cmocka_unit_test(test_tree_in_the_document),
		cmocka_unit_test(test_tree_in_the_summary),
		cmocka_unit_test(test_stamped_leaf_in_the_outputs),
		cmocka_unit_test(test_tier_in_the_outputs),
		cmocka_unit_test(test_options_in_the_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
