// SPDX-License-Identifier: GPL-2.0
/*
 * Reading iperf3's JSON: documents that iperf3 3.12 printed (members that are
 * not read were cut out), hostile ones, and a real run over the loopback of a
 * namespace of our own against the server's own count.
 */
#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "iperf3.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char tcp_document[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[{\"streams\":[{\"start\":0,\"e"
	"nd\":0.500152,\"seconds\":0.5001519918441772,\"bytes\":2027200,\"bits_per_seco"
	"nd\":32425343.224570435,\"retransmits\":0,\"snd_cwnd\":154936,\"rtt\":43848,\"se"
	"nder\":true},{\"start\":0,\"end\":0.500162,\"seconds\":0.5001620054244995,\"byte"
	"s\":1859232,\"bits_per_second\":29738076.54057249,\"retransmits\":0,\"snd_cwnd"
	"\":153488,\"rtt\":42313,\"sender\":true}],\"sum\":{\"start\":0,\"end\":0.500152,\"se"
	"conds\":0.5001519918441772,\"bytes\":3886432,\"bits_per_second\":62164015.153"
	"39075,\"retransmits\":0,\"sender\":true}},{\"streams\":[{\"start\":0.500152,\"end"
	"\":1.000192,\"seconds\":0.5000399947166443,\"bytes\":1368360,\"bits_per_second"
	"\":21892008.87061689,\"retransmits\":0,\"snd_cwnd\":154936,\"rtt\":41663,\"sende"
	"r\":true},{\"start\":0.500162,\"end\":1.000215,\"seconds\":0.5000529885292053,\""
	"bytes\":1563840,\"bits_per_second\":25018788.58238104,\"retransmits\":0,\"snd_"
	"cwnd\":153488,\"rtt\":43878,\"sender\":true}],\"sum\":{\"start\":0.500152,\"end\":1"
	".000192,\"seconds\":0.5000399947166443,\"bytes\":2932200,\"bits_per_second\":4"
	"6911447.579893336,\"retransmits\":0,\"sender\":true}}],\"end\":{\"streams\":[{\"s"
	"ender\":{\"start\":0,\"end\":1.000192,\"seconds\":1.000192,\"bytes\":3395560,\"bit"
	"s_per_second\":27159265.42103916,\"retransmits\":0,\"max_snd_cwnd\":154936,\"m"
	"ax_rtt\":43848,\"min_rtt\":41663,\"mean_rtt\":42755,\"sender\":true},\"receiver\""
	":{\"start\":0,\"end\":1.046469,\"seconds\":1.000192,\"bytes\":3150848,\"bits_per_"
	"second\":24087463.65157496,\"sender\":true}},{\"sender\":{\"start\":0,\"end\":1.0"
	"00192,\"seconds\":1.000192,\"bytes\":3423072,\"bits_per_second\":27379319.1707"
	"1922,\"retransmits\":0,\"max_snd_cwnd\":153488,\"max_rtt\":43878,\"min_rtt\":423"
	"13,\"mean_rtt\":43095,\"sender\":true},\"receiver\":{\"start\":0,\"end\":1.046469,"
	"\"seconds\":1.000192,\"bytes\":3133472,\"bits_per_second\":23954628.37408466,\""
	"sender\":true}}],\"sum_sent\":{\"start\":0,\"end\":1.000192,\"seconds\":1.000192,"
	"\"bytes\":6818632,\"bits_per_second\":54538584.591758385,\"retransmits\":0,\"se"
	"nder\":true},\"sum_received\":{\"start\":0,\"end\":1.046469,\"seconds\":1.046469,"
	"\"bytes\":6284320,\"bits_per_second\":48042092.02565962,\"sender\":true},\"send"
	"er_tcp_congestion\":\"cubic\",\"receiver_tcp_congestion\":\"cubic\"}}";

static const char udp_document[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[{\"streams\":[{\"start\":0,\"e"
	"nd\":0.500068,\"seconds\":0.5000680088996887,\"bytes\":3130576,\"bits_per_seco"
	"nd\":50082403.90163377,\"packets\":2162,\"sender\":true}],\"sum\":{\"start\":0,\"e"
	"nd\":0.500068,\"seconds\":0.5000680088996887,\"bytes\":3130576,\"bits_per_seco"
	"nd\":50082403.90163377,\"packets\":2162,\"sender\":true}},{\"streams\":[{\"start"
	"\":0.500068,\"end\":1.000095,\"seconds\":0.5000270009040833,\"bytes\":3036456,\""
	"bits_per_second\":48580672.55584004,\"packets\":2097,\"sender\":true}],\"sum\":"
	"{\"start\":0.500068,\"end\":1.000095,\"seconds\":0.5000270009040833,\"bytes\":30"
	"36456,\"bits_per_second\":48580672.55584004,\"packets\":2097,\"sender\":true}}"
	"],\"end\":{\"sum\":{\"start\":0,\"end\":1.011049,\"seconds\":1.011049,\"bytes\":6167"
	"032,\"bits_per_second\":49331569.500897415,\"jitter_ms\":0.01327587099771695"
	"6,\"lost_packets\":0,\"packets\":4259,\"lost_percent\":0,\"sender\":true},\"sum_s"
	"ent\":{\"start\":0,\"end\":1.000095,\"seconds\":1.000095,\"bytes\":6167032,\"bits_"
	"per_second\":49331569.500897415,\"jitter_ms\":0,\"lost_packets\":0,\"packets\":"
	"4259,\"lost_percent\":0,\"sender\":true},\"sum_received\":{\"start\":0,\"end\":1.0"
	"11049,\"seconds\":1.011049,\"bytes\":6165584,\"bits_per_second\":48785639.4695"
	"0147,\"jitter_ms\":0.013275870997716956,\"lost_packets\":0,\"packets\":4258,\"l"
	"ost_percent\":0,\"sender\":false}}}";

static const char single_sum_document[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[],\"end\":{\"sum\":{\"start\":0"
	",\"end\":1.011049,\"seconds\":1.011049,\"bytes\":6168480,\"bits_per_second\":493"
	"43152.5,\"jitter_ms\":0.013275870997716956,\"lost_packets\":1065,\"packets\":4"
	"260,\"lost_percent\":0,\"sender\":true}}}";

static const char reverse_document[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[{\"streams\":[{\"start\":0,\"e"
	"nd\":0.500007,\"seconds\":0.5000069737434387,\"bytes\":1635961256,\"bits_per_s"
	"econd\":26175015020.321487,\"sender\":false}],\"sum\":{\"start\":0,\"end\":0.5000"
	"07,\"seconds\":0.5000069737434387,\"bytes\":1635961256,\"bits_per_second\":261"
	"75015020.321487,\"sender\":false}},{\"streams\":[{\"start\":0.500007,\"end\":1.0"
	"0004,\"seconds\":0.5000330209732056,\"bytes\":1657270608,\"bits_per_second\":2"
	"6514578653.617443,\"sender\":false}],\"sum\":{\"start\":0.500007,\"end\":1.00004"
	",\"seconds\":0.5000330209732056,\"bytes\":1657270608,\"bits_per_second\":26514"
	"578653.617443,\"sender\":false}}],\"end\":{\"sum_sent\":{\"start\":0,\"end\":1.000"
	"526,\"seconds\":1.000526,\"bytes\":3295150080,\"bits_per_second\":26347341938."
	"140537,\"retransmits\":647,\"sender\":false},\"sum_received\":{\"start\":0,\"end\""
	":1.00004,\"seconds\":1.00004,\"bytes\":3293231864,\"bits_per_second\":26344801"
	"119.9552,\"sender\":false},\"sender_tcp_congestion\":\"bbr\",\"receiver_tcp_con"
	"gestion\":\"bbr\"}}";

static const char bidir_document[] =
	"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[{\"streams\":[{\"start\":0,\"e"
	"nd\":0.500072,\"seconds\":0.5000720024108887,\"bytes\":3995032,\"bits_per_seco"
	"nd\":63911308.46341517,\"retransmits\":0,\"snd_cwnd\":46336,\"rtt\":6387,\"sende"
	"r\":true},{\"start\":0,\"end\":0.500081,\"seconds\":0.5000810027122498,\"bytes\":"
	"10379264,\"bits_per_second\":166041324.40475535,\"sender\":false}],\"sum\":{\"s"
	"tart\":0,\"end\":0.500072,\"seconds\":0.5000720024108887,\"bytes\":3995032,\"bit"
	"s_per_second\":63911308.46341517,\"retransmits\":0,\"sender\":true},\"sum_bidi"
	"r_reverse\":{\"start\":0,\"end\":0.500072,\"seconds\":0.5000720024108887,\"bytes"
	"\":10379264,\"bits_per_second\":166044312.81832546,\"sender\":false}},{\"strea"
	"ms\":[{\"start\":0.500072,\"end\":1.000036,\"seconds\":0.49996399879455566,\"byt"
	"es\":2736720,\"bits_per_second\":43790673.03403289,\"retransmits\":0,\"snd_cwn"
	"d\":40544,\"rtt\":6909,\"sender\":true},{\"start\":0.500081,\"end\":1.000065,\"sec"
	"onds\":0.4999839961528778,\"bytes\":33112864,\"bits_per_second\":529822782.40"
	"5623,\"sender\":false}],\"sum\":{\"start\":0.500072,\"end\":1.000036,\"seconds\":0"
	".49996399879455566,\"bytes\":2736720,\"bits_per_second\":43790673.03403289,\""
	"retransmits\":0,\"sender\":true},\"sum_bidir_reverse\":{\"start\":0.500072,\"end"
	"\":1.000036,\"seconds\":0.49996399879455566,\"bytes\":33112864,\"bits_per_seco"
	"nd\":529843974.043526,\"sender\":false}}],\"end\":{\"sum_sent\":{\"start\":0,\"end"
	"\":1.000036,\"seconds\":1.000036,\"bytes\":6731752,\"bits_per_second\":53852077"
	".3252163,\"retransmits\":0,\"sender\":true},\"sum_received\":{\"start\":0,\"end\":"
	"1.00445,\"seconds\":1.00445,\"bytes\":5971552,\"bits_per_second\":47560770.570"
	"959225,\"sender\":true},\"sum_sent_bidir_reverse\":{\"start\":0,\"end\":1.000036"
	",\"seconds\":1.000036,\"bytes\":46268416,\"bits_per_second\":370134003.1758857"
	",\"retransmits\":1,\"sender\":false},\"sum_received_bidir_reverse\":{\"start\":0"
	",\"end\":1.00445,\"seconds\":1.00445,\"bytes\":43492128,\"bits_per_second\":3463"
	"95563.741351,\"sender\":false},\"sender_tcp_congestion\":\"bbr\",\"receiver_tcp"
	"_congestion\":\"bbr\"}}";

static const char refused_document[] =
	"{\"start\":{\"connected\":[],\"version\":\"iperf 3.12\",\"system_info\":\"Linux vm "
	"6.18.44-fc-v657 #1 SMP PREEMPT_DYNAMIC @0 x86_64\"},\"intervals\":[],\"end\":"
	"{},\"error\":\"unable to connect to server: Connection refused\"}";

static void parse_good(const char *document, struct iperf3_result *result)
{
	struct error error = { 0 };

	if (iperf3_parse(document, strlen(document), result, &error))
		fail_msg("%s", error.text);
}

static void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= fabs(wanted) * 1e-9))
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void test_tcp(void **state)
{
	struct iperf3_result result;

	(void)state;
	parse_good(tcp_document, &result);
	assert_string_equal(result.version, "iperf 3.12");
	assert_string_equal(result.congestion, "cubic");
	assert_true(result.sent.present && result.received.present);
	assert_false(result.sent_reverse.present || result.received_reverse.present);
	assert_near(result.sent.bits_per_second, 54538584.591758385);
	assert_near(result.sent.bytes, 6818632);
	assert_near(result.sent.seconds, 1.000192);
	assert_near(result.sent.retransmits, 0);
	assert_near(result.received.bits_per_second, 48042092.025659621);
	assert_near(result.received.bytes, 6284320);
	assert_near(result.received.retransmits, -1);
	assert_near(result.received.lost_packets, -1);
	assert_int_equal(result.interval_count, 2);
	assert_near(result.intervals[0].start_s, 0);
	assert_near(result.intervals[1].end_s, 1.000192);
	assert_near(result.intervals[0].bits_per_second, 62164015.15339075);
	assert_near(result.intervals[1].rtt_us, (41663 + 43878) / 2.0);
	assert_near(result.intervals[1].cwnd_bytes, 154936 + 153488);
	assert_near(result.intervals[1].retransmits, 0);
	iperf3_result_free(&result);
	assert_null(result.intervals);
}

static void test_udp(void **state)
{
	struct iperf3_result result;

	(void)state;
	parse_good(udp_document, &result);
	assert_near(result.sent.bits_per_second, 49331569.500897415);
	assert_near(result.sent.packets, 4259);
	assert_near(result.sent.lost_packets, -1);
	assert_near(result.received.packets, 4258);
	assert_near(result.received.lost_packets, 0);
	assert_near(result.received.jitter_ms, 0.013275870997716956);
	assert_near(result.sent.retransmits, -1);
	assert_string_equal(result.congestion, "");
	assert_int_equal(result.interval_count, 2);
	assert_near(result.intervals[0].rtt_us, -1);
	assert_near(result.intervals[0].cwnd_bytes, -1);
	assert_near(result.intervals[0].retransmits, -1);
	iperf3_result_free(&result);
}

/* A quarter of the datagrams was lost: three quarters of the bytes arrived. */
static void test_udp_single_sum(void **state)
{
	struct iperf3_result result;

	(void)state;
	parse_good(single_sum_document, &result);
	assert_near(result.sent.bytes, 6168480);
	assert_near(result.received.bytes, 6168480 * 3 / 4);
	assert_near(result.received.bits_per_second, 49343152.5 * 3 / 4);
	assert_near(result.received.lost_packets, 1065);
	assert_near(result.sent.lost_packets, -1);
	assert_near(result.sent.packets, 4260);
	assert_int_equal(result.interval_count, 0);
	iperf3_result_free(&result);
}

static void test_reverse(void **state)
{
	struct iperf3_result result;

	(void)state;
	parse_good(reverse_document, &result);
	assert_near(result.sent.retransmits, 647);
	assert_near(result.sent.bytes, 3295150080.0);
	assert_near(result.received.bytes, 3293231864.0);
	assert_string_equal(result.congestion, "bbr");
	assert_near(result.intervals[0].rtt_us, -1);
	iperf3_result_free(&result);
}

static void test_bidirectional(void **state)
{
	struct iperf3_result result;

	(void)state;
	parse_good(bidir_document, &result);
	assert_true(result.sent_reverse.present && result.received_reverse.present);
	assert_near(result.received.bytes, 5971552);
	assert_near(result.sent_reverse.bytes, 46268416);
	assert_near(result.sent_reverse.retransmits, 1);
	assert_near(result.received_reverse.bytes, 43492128);
	/* Of the two streams only the one that we send on has an RTT. */
	assert_near(result.intervals[0].rtt_us, 6387);
	assert_near(result.intervals[0].cwnd_bytes, 46336);
	assert_true(result.intervals[0].have_reverse);
	assert_near(result.intervals[0].bits_per_second, 63911308.46341517);
	assert_near(result.intervals[0].reverse_bits_per_second, 166044312.81832546);
	assert_near(result.intervals[1].reverse_bits_per_second, 529843974.043526);
	iperf3_result_free(&result);
}

static void parse_bad(const char *document, size_t length, const char *wanted)
{
	struct iperf3_result result;
	struct error error = { 0 };

	if (!iperf3_parse(document, length, &result, &error))
		fail_msg("taken: %.*s", (int)(length < 80 ? length : 80), document);
	assert_int_equal(error.code, EXIT_INCOMPLETE);
	if (!strstr(error.text, wanted))
		fail_msg("\"%s\" does not say \"%s\"", error.text, wanted);
	assert_null(strchr(error.text, '\n'));
	iperf3_result_free(&result);
}

static void test_own_error(void **state)
{
	(void)state;
	parse_bad(refused_document, strlen(refused_document),
		  "unable to connect to server: Connection refused");
}

/* Interrupted: what it measured until then is there beside the error. */
static void test_error_with_figures(void **state)
{
	struct iperf3_result result;
	struct error error = { 0 };
	cJSON *document = cJSON_Parse(tcp_document);
	char *text;

	(void)state;
	cJSON_AddStringToObject(document, "error", "interrupt - the client\nhas terminated");
	text = cJSON_PrintUnformatted(document);
	cJSON_Delete(document);
	assert_int_equal(iperf3_parse(text, strlen(text), &result, &error), -1);
	assert_non_null(strstr(error.text, "interrupt - the client has terminated"));
	assert_true(result.sent.present);
	assert_int_equal(result.interval_count, 2);
	iperf3_result_free(&result);
	free(text);
}

/* In memory of exactly that length, so that a read beyond it is seen by the sanitizer. */
static void test_truncated(void **state)
{
	size_t length = strlen(tcp_document);

	(void)state;
	for (size_t cut = 0; cut < length; cut++) {
		char *part = malloc(cut ? cut : 1);

		memcpy(part, tcp_document, cut);
		parse_bad(part, cut, cut ? "cut short or broken" : "printed no JSON");
		free(part);
	}
}

static void test_not_json(void **state)
{
	static const char *const documents[] = {
		"iperf3: error - unable to connect", "[]", "null", "7", "\"text\"", "{}{}",
		"{\"end\":nan}", "\x01\x02", "{\"a\":\"\xff\xfe\"", "{]", "}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(documents); i++)
		parse_bad(documents[i], strlen(documents[i]), "cut short or broken");
	parse_bad(" \n\t ", 4, "printed no JSON");
	parse_bad("{}\0{}", 5, "cut short or broken");
}

/* Trailing blanks are no error: iperf3 ends its document with a newline. */
static void test_trailing_newline(void **state)
{
	char text[sizeof(single_sum_document) + 2];
	struct iperf3_result result;

	(void)state;
	snprintf(text, sizeof(text), "%s\n", single_sum_document);
	parse_good(text, &result);
	iperf3_result_free(&result);
}

static void test_missing_fields(void **state)
{
	static const char *const documents[] = {
		"{}",
		"{\"end\":{}}",
		"{\"end\":null}",
		"{\"end\":[1,2]}",
		"{\"end\":{\"sum_sent\":7,\"sum_received\":\"x\"}}",
		"{\"end\":{\"sum_sent\":{\"bytes\":1,\"bits_per_second\":1}}}",
		"{\"end\":{\"sum_received\":{\"bytes\":1,\"bits_per_second\":1}}}",
		"{\"end\":{\"sum_sent\":{\"bytes\":\"1\",\"bits_per_second\":1},\"sum_received\":{\"bytes\":1,\"bits_per_second\":1}}}",
		"{\"end\":{\"sum_sent\":{\"bytes\":-1,\"bits_per_second\":1},\"sum_received\":{\"bytes\":1,\"bits_per_second\":1}}}",
		"{\"end\":{\"sum_sent\":{\"bytes\":1,\"bits_per_second\":1e999},\"sum_received\":{\"bytes\":1,\"bits_per_second\":1}}}",
		"{\"end\":{\"sum\":{\"bytes\":1,\"bits_per_second\":1,\"packets\":0,\"lost_packets\":0}}}",
		"{\"end\":{\"sum\":{\"bytes\":1,\"bits_per_second\":1,\"packets\":3,\"lost_packets\":4}}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(documents); i++)
		parse_bad(documents[i], strlen(documents[i]), "has no end.sum_");
}

/* Every number of a good document replaced in turn by values of every other kind. */
static void replace_numbers(cJSON *root, cJSON *item, const char *replacement)
{
	for (; item; item = item->next) {
		struct iperf3_result result;
		cJSON saved = *item, *other;
		char *text;

		replace_numbers(root, item->child, replacement);
		other = cJSON_CreateRaw(replacement);
		item->type = other->type;
		item->valuestring = other->valuestring;
		item->child = NULL;
		text = cJSON_PrintUnformatted(root);
		item->type = saved.type;
		item->valuestring = saved.valuestring;
		item->child = saved.child;
		assert_non_null(text);
		iperf3_parse(text, strlen(text), &result, NULL);
		for (size_t i = 0; i < result.interval_count; i++) {
			assert_true(isfinite(result.intervals[i].bits_per_second));
			assert_true(isfinite(result.intervals[i].rtt_us));
			assert_true(result.intervals[i].start_s >= 0);
		}
		assert_true(isfinite(result.sent.bytes) && result.sent.bytes >= 0);
		assert_true(isfinite(result.received.bits_per_second));
		assert_true(result.sent.retransmits >= -1);
		iperf3_result_free(&result);
		free(text);
		cJSON_Delete(other);
	}
}

static void test_wrong_types(void **state)
{
	static const char *const replacements[] = {
		"null", "true", "-1", "1e308", "-1e999", "1e999", "\"\"", "\"7\"", "[]", "{}",
		"[[[{}]]]", "18446744073709551616", "0.0000000000000000000000000001",
		"{\"bytes\":{\"bytes\":[]}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(replacements); i++) {
		cJSON *document = cJSON_Parse(bidir_document);

		replace_numbers(document, document->child, replacements[i]);
		cJSON_Delete(document);
	}
}

static void test_deep_nesting(void **state)
{
	const size_t depth = 1000000;
	char *text = malloc(depth);

	(void)state;
	memset(text, '[', depth);
	parse_bad(text, depth, "cut short or broken");
	for (size_t i = 0; i + 5 <= depth; i += 5)
		memcpy(text + i, "{\"a\":", 5);
	parse_bad(text, depth, "cut short or broken");
	free(text);
}

/* Texts longer than the fields that take them, and control bytes in them. */
static void test_long_texts(void **state)
{
	char *text = NULL, long_text[5000];
	struct iperf3_result result;
	struct error error;

	(void)state;
	memset(long_text, 'v', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	assert_true(asprintf(&text, "{\"start\":{\"version\":\"%s\"},\"end\":{\"sender_tcp_congestion\":\"\\n%s\"},\"error\":\"%s\"}",
			     long_text, long_text, long_text) > 0);
	assert_int_equal(iperf3_parse(text, strlen(text), &result, &error), -1);
	assert_int_equal(strlen(result.version), sizeof(result.version) - 1);
	assert_int_equal(strspn(result.congestion, "v"), sizeof(result.congestion) - 1);
	assert_true(strlen(error.text) < sizeof(error.text));
	iperf3_result_free(&result);
	free(text);
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
	close(fd);
}

/* A namespace of our own for the real programs, or a skip. Returns iperf3's path. */
static const char *enter_namespace(void)
{
	static char path[64];
	struct error error;

	if (child_find_program("iperf3", path, sizeof(path), &error)) {
		print_message("skipped: %s\n", error.text);
		skip();
	}
	if (unshare(CLONE_NEWNET)) {
		print_message("skipped: no privilege to make a network namespace\n");
		skip();
	}
	loopback_up();
	return path;
}

static double member(const cJSON *document, const char *sum, const char *name)
{
	const cJSON *end = cJSON_GetObjectItem(document, "end");

	return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(end, sum), name));
}

/* What the client's document says was delivered is what the server says that it received. */
static void run_pair(const struct iperf3_options *options)
{
	const char *path = enter_namespace();
	struct child server, client;
	struct iperf3_result result;
	struct error error = { 0 };
	cJSON *document;

	if (iperf3_start_server(&server, -1, path, options->port, 10000, &error) ||
	    iperf3_start_client(&client, -1, path, options, &error))
		fail_msg("%s", error.text);
	assert_true(child_wait(&client, 20000));
	assert_true(child_wait(&server, 10000));
	if (iperf3_parse(client.out_text, client.out_length, &result, &error))
		fail_msg("%s", error.text);
	document = cJSON_Parse(server.out_text);
	assert_non_null(document);
	if (options->proto == LOAD_TCP && options->direction != LOAD_DOWN)
		assert_near(result.received.bytes, member(document, "sum_received", "bytes"));
	assert_true(result.received.bytes > 0);
	assert_int_equal(result.received_reverse.present, options->direction == LOAD_BIDIR);
	assert_in_range(result.interval_count, 8, 13);
	if (options->congestion)
		assert_string_equal(result.congestion, options->congestion);
	assert_near(result.intervals[0].rtt_us < 0,
		    options->proto == LOAD_UDP || options->direction == LOAD_DOWN);
	cJSON_Delete(document);
	iperf3_result_free(&result);
	child_free(&client);
	child_free(&server);
}

static void test_real_tcp(void **state)
{
	(void)state;
	run_pair(&(struct iperf3_options){
		.server = "127.0.0.1", .port = 5333, .seconds = 1, .streams = 2,
		.congestion = "reno", .rate_bit_per_s = 10000000,
	});
}

static void test_real_ipv6_reverse(void **state)
{
	(void)state;
	run_pair(&(struct iperf3_options){
		.server = "::1", .port = 5334, .seconds = 1, .streams = 1,
		.direction = LOAD_DOWN, .rate_bit_per_s = 10000000,
	});
}

static void test_real_bidirectional_udp(void **state)
{
	(void)state;
	run_pair(&(struct iperf3_options){
		.server = "127.0.0.1", .port = 5335, .proto = LOAD_UDP, .seconds = 1,
		.streams = 1, .direction = LOAD_BIDIR, .rate_bit_per_s = 5000000,
		.interval_ns = 100000000,
	});
}

/* Port in use: the server's own words come back. */
static void test_port_in_use(void **state)
{
	const char *path = enter_namespace();
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(5336) };
	struct child server;
	struct error error = { 0 };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(iperf3_start_server(&server, -1, path, 5336, 10000, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "5336"));
	assert_non_null(strstr(error.text, "Address already in use"));
	assert_int_equal(server.pid, 0);
	close(fd);
}

static void test_nobody_listens(void **state)
{
	const char *path = enter_namespace();
	const struct iperf3_options options = {
		.server = "127.0.0.1", .port = 5337, .seconds = 1, .streams = 1,
	};
	struct child client;
	struct error error = { 0 };
	struct iperf3_result result;

	(void)state;
	assert_int_equal(iperf3_start_client(&client, -1, path, &options, &error), 0);
	assert_true(child_wait(&client, 20000));
	assert_int_equal(iperf3_parse(client.out_text, client.out_length, &result, &error), -1);
	assert_int_equal(error.code, EXIT_INCOMPLETE);
	assert_non_null(strstr(error.text, "Connection refused"));
	iperf3_result_free(&result);
	child_free(&client);
}

static void test_version(void **state)
{
	char path[64], text[64], small[4];
	struct error error = { 0 };

	(void)state;
	if (child_find_program("iperf3", path, sizeof(path), &error)) {
		print_message("skipped: %s\n", error.text);
		skip();
	}
	assert_int_equal(iperf3_version(path, text, sizeof(text), &error), 0);
	assert_memory_equal(text, "3.", 2);
	assert_int_equal(iperf3_version(path, small, sizeof(small), &error), 0);
	assert_int_equal(strlen(small), 3);
	assert_int_equal(iperf3_version("/bin/echo", text, sizeof(text), &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
}

static void assert_command(const struct iperf3_options *options, const char *wanted)
{
	char joined[512] = "";
	struct child child;
	size_t used = 0;

	assert_int_equal(iperf3_start_client(&child, -1, "/bin/true", options, NULL), 0);
	assert_true(child_wait(&child, 10000));
	child_free(&child);
	for (char *const *argument = iperf3_client_command(); *argument; argument++)
		used += snprintf(joined + used, sizeof(joined) - used, "%s ", *argument);
	assert_string_equal(joined, wanted);
}

static void test_command(void **state)
{
	struct iperf3_options options = {
		.server = "192.0.2.1", .port = 5201, .seconds = 15, .streams = 1,
		.congestion = "cubic",
	};

	(void)state;
	assert_command(&options, "/bin/true -c 192.0.2.1 -p 5201 -J -t 15 -i 0.1 -P 1 -C cubic "
		       "--connect-timeout 5000 ");
	options.proto = LOAD_UDP;
	options.rate_bit_per_s = 12000000000;
	options.direction = LOAD_BIDIR;
	options.interval_ns = 2500000000;
	assert_command(&options, "/bin/true -c 192.0.2.1 -p 5201 -J -t 15 -i 2.5 -P 1 -u "
		       "-b 12000000000 --bidir --connect-timeout 5000 ");
	options = (struct iperf3_options){
		.server = "2001:db8::1", .port = 1, .seconds = 3600, .streams = 128,
		.direction = LOAD_DOWN,
	};
	assert_command(&options, "/bin/true -c 2001:db8::1 -p 1 -J -t 3600 -i 11.7 -P 128 -R "
		       "--connect-timeout 5000 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_udp),
		cmocka_unit_test(test_udp_single_sum),
		cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_bidirectional),
		cmocka_unit_test(test_own_error),
		cmocka_unit_test(test_error_with_figures),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_trailing_newline),
		cmocka_unit_test(test_missing_fields),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_real_tcp),
		cmocka_unit_test(test_real_ipv6_reverse),
		cmocka_unit_test(test_real_bidirectional_udp),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
