// SPDX-License-Identifier: GPL-2.0
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "messages.h"
#include "qdisc_options.h"

static void parse_bytes(const __u8 *bytes, size_t size, struct qdisc_info *info)
{
	struct nlmsghdr *copy = copy_message(bytes, size);

	assert_int_equal(qdisc_info_parse(info, copy), 0);
	free(copy);
}

#define PARSE(bytes, info) parse_bytes(bytes, sizeof(bytes), info)

static const struct qdisc_option *option_of(const struct qdisc_info *info, const char *name)
{
	const struct qdisc_option *option =
		qdisc_option_find(info->options, info->option_count, name);

	if (!option)
		fail_msg("no option %s of %s", name, info->kind);
	return option;
}

static void expect(const struct qdisc_info *info, const char *name, __u64 value)
{
	assert_int_equal(option_of(info, name)->value, value);
}

static void expect_text(const struct qdisc_info *info, const char *name, const char *wanted)
{
	char text[QDISC_OPTION_TEXT];

	assert_string_equal(qdisc_option_text(option_of(info, name), text), wanted);
}

static void test_netem(void **context)
{
	struct qdisc_info info;

	(void)context;
	PARSE(qdisc_netem_100000, &info);
	expect(&info, "limit", 333);
	expect_text(&info, "delay", "20.0 ms");
	expect_text(&info, "jitter", "3.00 ms");
	expect_text(&info, "delay_correlation", "25 %");
	expect_text(&info, "loss", "1 %");
	expect_text(&info, "loss_correlation", "10 %");
	expect_text(&info, "duplicate", "2 %");
	expect_text(&info, "reorder", "5 %");
	expect_text(&info, "corrupt", "0.5 %");
	expect_text(&info, "rate", "10.0 Mbit/s");
	expect(&info, "gap", 1);
	assert_int_equal(info.option_count, 11);
}

static void test_taprio(void **context)
{
	struct qdisc_info info;

	(void)context;
	PARSE(qdisc_taprio_100000, &info);
	expect(&info, "num_tc", 2);
	expect_text(&info, "map", "0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
	expect_text(&info, "queues_0", "1@0");
	expect_text(&info, "queues_1", "1@1");
	expect_text(&info, "clockid", "TAI");
	expect(&info, "base-time", 1000000);
	expect(&info, "cycle-time", 700000);
	expect(&info, "sched-entries", 2);
}

static void test_ets(void **context)
{
	struct qdisc_info info;

	(void)context;
	PARSE(qdisc_ets_100000, &info);
	expect(&info, "bands", 4);
	expect(&info, "strict", 1);
	expect_text(&info, "priomap", "3 3 2 1 0 0 0 3 3 3 3 3 3 3 3 3");
}

static void test_red(void **context)
{
	struct qdisc_info info;

	(void)context;
	PARSE(qdisc_red_100000, &info);
	expect(&info, "limit", 400000);
	expect(&info, "min", 30000);
	expect(&info, "max", 90000);
	expect_text(&info, "probability", "2 %");
	expect(&info, "ecn", 1);
	expect(&info, "adaptive", 1);
	assert_int_equal(info.option_count, 6);
}

/* Begin a message of qdisc 10: and its options; for kinds whose real ones are large. */
static _Alignas(8) char buffer[2048];

static struct nlmsghdr *begin(const char *kind, struct nlattr **nest)
{
	struct nlmsghdr *header;
	struct tcmsg *message;

	memset(buffer, 0, sizeof(buffer));
	header = mnl_nlmsg_put_header(buffer);
	header->nlmsg_type = RTM_NEWQDISC;
	message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	message->tcm_handle = 0x100000;
	mnl_attr_put_strz(header, TCA_KIND, kind);
	*nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	return header;
}

static void parse(struct nlmsghdr *header, struct nlattr *nest, struct qdisc_info *info)
{
	mnl_attr_nest_end(header, nest);
	parse_bytes((void *)header, header->nlmsg_len, info);
}

static void test_cake_words(void **context)
{
	struct nlattr *nest;
	struct nlmsghdr *header = begin("cake", &nest);
	struct qdisc_info info;

	(void)context;
	mnl_attr_put_u32(header, TCA_CAKE_DIFFSERV_MODE, CAKE_DIFFSERV_DIFFSERV4);
	mnl_attr_put_u32(header, TCA_CAKE_FLOW_MODE, CAKE_FLOW_TRIPLE);
	mnl_attr_put_u32(header, TCA_CAKE_ACK_FILTER, CAKE_ACK_AGGRESSIVE);
	mnl_attr_put_u32(header, TCA_CAKE_ATM, 99);
	mnl_attr_put_u32(header, TCA_CAKE_OVERHEAD, (__u32)-4);
	parse(header, nest, &info);
	expect_text(&info, "diffserv", "diffserv4");
	expect_text(&info, "flowmode", "triple-isolate");
	expect_text(&info, "ack-filter", "ack-filter-aggressive");
	expect_text(&info, "atm", "99");
	expect_text(&info, "overhead", "-4");
	header = begin("cake", &nest);
	mnl_attr_put_u32(header, TCA_CAKE_RAW, 0);
	mnl_attr_put_u32(header, TCA_CAKE_OVERHEAD, 0);
	parse(header, nest, &info);
	expect(&info, "raw", 1);
	assert_null(qdisc_option_find(info.options, info.option_count, "overhead"));
}

/* The numbers of the attributes are those of Linux 6.17. */
static void test_dualpi2(void **context)
{
	struct nlattr *nest;
	struct nlmsghdr *header = begin("dualpi2", &nest);
	struct qdisc_info info;

	(void)context;
	mnl_attr_put_u32(header, 1, 10000);
	mnl_attr_put_u32(header, 3, 15000);
	mnl_attr_put_u32(header, 8, 1000);
	mnl_attr_put_u8(header, 10, 2);
	mnl_attr_put_u8(header, 11, 1);
	mnl_attr_put_u8(header, 12, 0);
	mnl_attr_put_u8(header, 13, 10);
	mnl_attr_put_u8(header, 14, 3);
	parse(header, nest, &info);
	expect_text(&info, "limit", "10000p");
	expect_text(&info, "target", "15.0 ms");
	expect_text(&info, "step_thresh", "1.00 ms");
	expect(&info, "coupling_factor", 2);
	expect_text(&info, "overload", "drop_on_overload");
	expect_text(&info, "drop", "drop_dequeue");
	expect(&info, "classic_protection", 10);
	expect_text(&info, "ect", "any_ect");
}

/* Bytes at random, and options cut short at every length: no crash, no read outside. */
static void noise(const __u8 *bytes, size_t size)
{
	const size_t from = NLMSG_HDRLEN + sizeof(struct tcmsg) + 16;
	_Alignas(8) __u8 copy[1024];
	char text[QDISC_OPTION_TEXT];
	struct qdisc_info info;
	unsigned int seed = 1, i;
	int round;

	assert_true(size <= sizeof(copy));
	for (round = 0; round < 5000; round++) {
		memcpy(copy, bytes, size);
		for (i = 0; i < 4; i++)
			copy[from + rand_r(&seed) % (size - from)] = rand_r(&seed);
		parse_bytes(copy, size, &info);
		assert_true(info.option_count <= QDISC_OPTIONS_MAX);
		for (i = 0; i < info.option_count; i++)
			assert_true(strlen(qdisc_option_text(&info.options[i], text)) <
				    QDISC_OPTION_TEXT);
	}
}

static void test_noise(void **context)
{
	(void)context;
	noise(qdisc_netem_100000, sizeof(qdisc_netem_100000));
	noise(qdisc_taprio_100000, sizeof(qdisc_taprio_100000));
	noise(qdisc_ets_100000, sizeof(qdisc_ets_100000));
	noise(qdisc_red_100000, sizeof(qdisc_red_100000));
}

/* An option of any content has a text that fits. */
static void test_texts_fit(void **context)
{
	enum qdisc_option_unit unit;
	char text[QDISC_OPTION_TEXT];

	(void)context;
	for (unit = OPTION_BIT_PER_S; unit <= OPTION_QUEUES; unit++) {
		struct qdisc_option option = { "clockid", unit, UINT64_MAX };

		assert_true(strlen(qdisc_option_text(&option, text)) < QDISC_OPTION_TEXT);
	}
}

static void test_units(void **context)
{
	const struct qdisc_option packets = { "limit", OPTION_PACKETS, 1000 };
	const struct qdisc_option handle = { "default", OPTION_HANDLE, 0x10020 };
	const struct qdisc_option bytes = { "burst", OPTION_BYTES, 32768 };
	const struct qdisc_option word = { "nosuchword", OPTION_WORD, 1 };
	char text[QDISC_OPTION_TEXT];

	(void)context;
	assert_string_equal(qdisc_option_text(&packets, text), "1000p");
	assert_string_equal(qdisc_option_text(&handle, text), "1:20");
	assert_string_equal(qdisc_option_text(&bytes, text), "32.0 KB");
	assert_string_equal(qdisc_option_text(&word, text), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netem),
		cmocka_unit_test(test_taprio),
		cmocka_unit_test(test_ets),
		cmocka_unit_test(test_red),
		cmocka_unit_test(test_cake_words),
		cmocka_unit_test(test_dualpi2),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_texts_fit),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
