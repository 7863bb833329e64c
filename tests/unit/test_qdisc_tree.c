// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qdisc_tree.h"

#define MESSAGE_SIZE	2048

static _Alignas(8) char buffer[MESSAGE_SIZE];

/* Begin an RTM_NEWQDISC message for qdisc 10: at the root of device 7. */
static struct nlmsghdr *begin(const char *kind)
{
	struct nlmsghdr *header;
	struct tcmsg *message;

	memset(buffer, 0, sizeof(buffer));
	header = mnl_nlmsg_put_header(buffer);
	header->nlmsg_type = RTM_NEWQDISC;
	message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	message->tcm_ifindex = 7;
	message->tcm_handle = 0x100000;
	message->tcm_parent = TC_H_ROOT;
	mnl_attr_put_strz(header, TCA_KIND, kind);
	return header;
}

/* Parse from memory of the exact size, so that a sanitizer sees a read behind the end. */
static void parse(const struct nlmsghdr *header, struct qdisc_info *info)
{
	struct nlmsghdr *copy = malloc(header->nlmsg_len);

	assert_non_null(copy);
	memcpy(copy, header, header->nlmsg_len);
	assert_int_equal(qdisc_info_parse(info, copy), 0);
	free(copy);
}

static bool has_option(const struct qdisc_info *info, const char *name)
{
	unsigned int i;

	for (i = 0; i < info->option_count; i++) {
		if (!strcmp(info->options[i].name, name))
			return true;
	}
	return false;
}

static void expect_option(const struct qdisc_info *info, const char *name,
			  enum qdisc_option_unit unit, __u64 value)
{
	unsigned int i;

	for (i = 0; i < info->option_count; i++) {
		if (strcmp(info->options[i].name, name))
			continue;
		assert_int_equal(info->options[i].unit, unit);
		assert_int_equal(info->options[i].value, value);
		return;
	}
	fail_msg("no option %s of %s", name, info->kind);
}

static void test_handle_text(void **context)
{
	char text[16];

	(void)context;
	assert_string_equal(qdisc_handle_text(0x100000, text), "10:");
	assert_string_equal(qdisc_handle_text(0x10001, text), "1:1");
	assert_string_equal(qdisc_handle_text(0x8001ffff, text), "8001:ffff");
	assert_string_equal(qdisc_handle_text(0, text), "0:");
	assert_string_equal(qdisc_handle_text(TC_H_ROOT, text), "ffff:ffff");
}

static void test_identity(void **context)
{
	struct qdisc_info info;

	(void)context;
	parse(begin("nosuchkind"), &info);
	assert_string_equal(info.kind, "nosuchkind");
	assert_int_equal(info.ifindex, 7);
	assert_int_equal(info.handle, 0x100000);
	assert_int_equal(info.parent, TC_H_ROOT);
	assert_int_equal(info.option_count, 0);
	assert_string_equal(info.device, "");
}

static void test_other_messages_are_refused(void **context)
{
	struct nlmsghdr *header = begin("tbf");
	struct qdisc_info info;

	(void)context;
	header->nlmsg_type = RTM_NEWTCLASS;
	errno = 0;
	assert_int_equal(qdisc_info_parse(&info, header), -1);
	assert_int_equal(errno, EBADMSG);
	header->nlmsg_type = RTM_NEWQDISC;
	header->nlmsg_len = NLMSG_HDRLEN + sizeof(struct tcmsg) - 4;
	assert_int_equal(qdisc_info_parse(&info, header), -1);
}

/* Statistics as the kernel sends them; packets64 0: none. */
static void put_statistics(struct nlmsghdr *header, __u32 packets, __u64 packets64)
{
	const struct gnet_stats_basic basic = { .bytes = 123456789012ull, .packets = packets };
	const struct gnet_stats_queue queue = {
		.qlen = 3, .backlog = 4542, .drops = 17, .requeues = 5, .overlimits = 99,
	};
	struct nlattr *nest = mnl_attr_nest_start(header, TCA_STATS2);

	mnl_attr_put(header, TCA_STATS_BASIC, sizeof(basic), &basic);
	if (packets64)
		mnl_attr_put_u64(header, TCA_STATS_PKT64, packets64);
	mnl_attr_put(header, TCA_STATS_QUEUE, sizeof(queue), &queue);
	mnl_attr_nest_end(header, nest);
}

static void test_counters(void **context)
{
	struct nlmsghdr *header = begin("pfifo_fast");
	struct qdisc_info info;

	(void)context;
	put_statistics(header, 4000000000u, 0);
	parse(header, &info);
	assert_int_equal(info.kernel.packets, 4000000000u);
	assert_true(info.kernel.bytes == 123456789012ull);
	assert_int_equal(info.kernel.backlog_packets, 3);
	assert_int_equal(info.kernel.backlog_bytes, 4542);
	assert_int_equal(info.kernel.drops, 17);
	assert_int_equal(info.kernel.requeues, 5);
	assert_int_equal(info.kernel.overlimits, 99);
}

static void test_64_bit_packets(void **context)
{
	struct nlmsghdr *header = begin("pfifo_fast");
	struct qdisc_info info;

	(void)context;
	put_statistics(header, 1, (1ull << 32) + 1);
	parse(header, &info);
	assert_true(info.kernel.packets == (1ull << 32) + 1);
}

static void put_tbf(struct nlmsghdr *header, __u32 rate, __u64 rate64, __u32 ticks, __u32 limit)
{
	const struct tc_tbf_qopt parameters = {
		.rate = { .rate = rate }, .buffer = ticks, .limit = limit,
	};
	struct nlattr *nest = mnl_attr_nest_start(header, TCA_OPTIONS);

	mnl_attr_put(header, TCA_TBF_PARMS, sizeof(parameters), &parameters);
	if (rate64)
		mnl_attr_put_u64(header, TCA_TBF_RATE64, rate64);
	mnl_attr_nest_end(header, nest);
}

static void test_tbf(void **context)
{
	struct nlmsghdr *header = begin("tbf");
	struct qdisc_info info;

	(void)context;
	/* 32768 bytes at 1250000 byte/s take 26214400 ns: 409600 ticks of 64 ns. */
	put_tbf(header, 1250000, 0, 409600, 532768);
	parse(header, &info);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 10000000);
	expect_option(&info, "burst", OPTION_BYTES, 32768);
	expect_option(&info, "limit", OPTION_BYTES, 532768);
	expect_option(&info, "latency", OPTION_NS, 400000000);
	assert_int_equal(info.option_count, 4);
}

static void test_tbf_rate64(void **context)
{
	struct nlmsghdr *header = begin("tbf");
	struct qdisc_info info;

	(void)context;
	put_tbf(header, UINT32_MAX, 5000000000ull, 100, 1000000);
	parse(header, &info);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 40000000000ull);
	expect_option(&info, "burst", OPTION_BYTES, 32000);
}

static void test_tbf_of_rate_0(void **context)
{
	struct nlmsghdr *header = begin("tbf");
	struct qdisc_info info;

	(void)context;
	put_tbf(header, 0, 0, 100, 1000);
	parse(header, &info);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 0);
	assert_false(has_option(&info, "latency"));
}

static void test_htb(void **context)
{
	const struct tc_htb_glob parameters = {
		.version = 3, .rate2quantum = 10, .defcls = 0x10, .direct_pkts = 42,
	};
	struct nlmsghdr *header = begin("htb");
	struct qdisc_info info;
	struct nlattr *nest;

	(void)context;
	nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	mnl_attr_put(header, TCA_HTB_INIT, sizeof(parameters), &parameters);
	mnl_attr_put_u32(header, TCA_HTB_DIRECT_QLEN, 1000);
	mnl_attr_nest_end(header, nest);
	parse(header, &info);
	expect_option(&info, "r2q", OPTION_NUMBER, 10);
	expect_option(&info, "default", OPTION_HANDLE, 0x100010);
	expect_option(&info, "direct_packets_stat", OPTION_PACKETS, 42);
	expect_option(&info, "direct_qlen", OPTION_PACKETS, 1000);
}

static void test_fifos(void **context)
{
	const struct tc_fifo_qopt parameters = { .limit = 1000 };
	struct nlmsghdr *header = begin("pfifo");
	struct qdisc_info info;

	(void)context;
	mnl_attr_put(header, TCA_OPTIONS, sizeof(parameters), &parameters);
	parse(header, &info);
	expect_option(&info, "limit", OPTION_PACKETS, 1000);
	header = begin("bfifo");
	mnl_attr_put(header, TCA_OPTIONS, sizeof(parameters), &parameters);
	parse(header, &info);
	expect_option(&info, "limit", OPTION_BYTES, 1000);
}

static void test_fq_codel(void **context)
{
	struct nlmsghdr *header = begin("fq_codel");
	struct qdisc_info info;
	struct nlattr *nest;

	(void)context;
	nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_TARGET, 4999);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_LIMIT, 10240);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_INTERVAL, 99999);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_ECN, 1);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_QUANTUM, 1514);
	mnl_attr_put_u32(header, TCA_FQ_CODEL_MEMORY_LIMIT, 32 << 20);
	mnl_attr_nest_end(header, nest);
	parse(header, &info);
	expect_option(&info, "target", OPTION_NS, 4999000);
	expect_option(&info, "interval", OPTION_NS, 99999000);
	expect_option(&info, "limit", OPTION_PACKETS, 10240);
	expect_option(&info, "quantum", OPTION_BYTES, 1514);
	expect_option(&info, "memory_limit", OPTION_BYTES, 32 << 20);
	assert_false(has_option(&info, "ce_threshold"));
}

static void test_netem(void **context)
{
	const struct tc_netem_qopt parameters = { .limit = 1000, .latency = 15625 };
	const struct tc_netem_rate rate = { .rate = 125000 };
	struct nlmsghdr *header = begin("netem");
	struct qdisc_info info;
	struct nlattr *nest;

	(void)context;
	nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	memcpy(mnl_nlmsg_put_extra_header(header, sizeof(parameters)), &parameters,
	       sizeof(parameters));
	mnl_attr_put(header, TCA_NETEM_RATE, sizeof(rate), &rate);
	mnl_attr_nest_end(header, nest);
	parse(header, &info);
	expect_option(&info, "limit", OPTION_PACKETS, 1000);
	expect_option(&info, "delay", OPTION_NS, 1000000);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 1000000);
}

static void test_fq_and_cake(void **context)
{
	struct nlmsghdr *header = begin("fq");
	struct qdisc_info info;
	struct nlattr *nest;

	(void)context;
	nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	mnl_attr_put_u32(header, TCA_FQ_FLOW_MAX_RATE, UINT32_MAX);
	mnl_attr_put_u32(header, TCA_FQ_BUCKETS_LOG, 10);
	mnl_attr_put_u32(header, TCA_FQ_HORIZON, 10000000);
	mnl_attr_nest_end(header, nest);
	parse(header, &info);
	assert_false(has_option(&info, "maxrate"));
	expect_option(&info, "buckets", OPTION_NUMBER, 1024);
	expect_option(&info, "horizon", OPTION_NS, 10000000000ull);

	header = begin("cake");
	nest = mnl_attr_nest_start(header, TCA_OPTIONS);
	mnl_attr_put_u64(header, TCA_CAKE_BASE_RATE64, 12500000);
	mnl_attr_put_u32(header, TCA_CAKE_RTT, 100000);
	mnl_attr_nest_end(header, nest);
	parse(header, &info);
	expect_option(&info, "bandwidth", OPTION_BIT_PER_S, 100000000);
	expect_option(&info, "rtt", OPTION_NS, 100000000);
}

static void test_short_attributes_give_nothing(void **context)
{
	static const char *const kinds[] = {
		"tbf", "htb", "pfifo", "bfifo", "codel", "fq_codel", "netem", "cake", "fq", "red",
		"choke", "gred", "sfb", "hhf", "pie", "fq_pie", "dualpi2", "taprio", "etf",
	};
	struct nlmsghdr *header;
	struct qdisc_info info;
	struct nlattr *nest;
	size_t i;
	int type;

	(void)context;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		header = begin(kinds[i]);
		nest = mnl_attr_nest_start(header, TCA_OPTIONS);
		/* Too short for a number, and as a whole too short for a fifo's or netem's structure. */
		if (strcmp(kinds[i] + 1, "fifo") && strcmp(kinds[i], "netem")) {
			for (type = 1; type < 20; type++)
				mnl_attr_put(header, type, 2, "\1\1");
		}
		mnl_attr_nest_end(header, nest);
		parse(header, &info);
		assert_int_equal(info.option_count, 0);
	}
}

/* Bytes at random in every place: no crash, no read outside, no more options than fit. */
static void test_noise(void **context)
{
	struct nlmsghdr *header;
	struct qdisc_info info;
	unsigned int seed = 1;
	int round, i;

	(void)context;
	for (round = 0; round < 20000; round++) {
		static const char *const kinds[] = {
			"tbf", "htb", "pfifo", "netem", "fq_codel", "cake", "fq", "red",
		};

		header = begin(kinds[round % 8]);
		put_statistics(header, 1, 1ull << 40);
		put_tbf(header, 1, 2, 3, 4);
		for (i = 0; i < 4; i++) {
			size_t from = NLMSG_HDRLEN + sizeof(struct tcmsg);

			buffer[from + rand_r(&seed) % (header->nlmsg_len - from)] =
				rand_r(&seed);
		}
		parse(header, &info);
		assert_true(info.option_count <= QDISC_OPTIONS_MAX);
		assert_non_null(memchr(info.kind, '\0', sizeof(info.kind)));
	}
}

static void test_find(void **context)
{
	struct qdisc_info qdiscs[] = {
		{ .netns = 1, .ifindex = 2, .parent = TC_H_ROOT, .handle = 0x100000 },
		{ .netns = 1, .ifindex = 2, .parent = 0x100001, .handle = 0 },
		{ .netns = 2, .ifindex = 2, .parent = TC_H_ROOT, .handle = 0x100000 },
	};
	const struct qdisc_tree tree = { .qdiscs = qdiscs, .count = 3 };

	(void)context;
	assert_ptr_equal(qdisc_tree_find(&tree, 1, 2, 0x100001, 0), &qdiscs[1]);
	assert_ptr_equal(qdisc_tree_find(&tree, 2, 2, TC_H_ROOT, 0x100000), &qdiscs[2]);
	assert_null(qdisc_tree_find(&tree, 3, 2, TC_H_ROOT, 0x100000));
	assert_null(qdisc_tree_find(&tree, 1, 3, TC_H_ROOT, 0x100000));
	assert_null(qdisc_tree_find(&tree, 1, 2, 0x100001, 0x200000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handle_text),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_other_messages_are_refused),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_64_bit_packets),
		cmocka_unit_test(test_tbf),
		cmocka_unit_test(test_tbf_rate64),
		cmocka_unit_test(test_tbf_of_rate_0),
		cmocka_unit_test(test_htb),
		cmocka_unit_test(test_fifos),
		cmocka_unit_test(test_fq_codel),
		cmocka_unit_test(test_netem),
		cmocka_unit_test(test_fq_and_cake),
		cmocka_unit_test(test_short_attributes_give_nothing),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
