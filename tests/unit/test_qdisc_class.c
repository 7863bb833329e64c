// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
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
#include "qdisc_class.h"
#include "qdisc_options.h"

static void parse_bytes(const __u8 *bytes, size_t size, struct class_info *info)
{
	struct nlmsghdr *copy = copy_message(bytes, size);

	assert_int_equal(class_info_parse(info, copy), 0);
	free(copy);
}

#define PARSE(bytes, info) parse_bytes(bytes, sizeof(bytes), info)

static void expect_option(const struct class_info *info, const char *name,
			  enum qdisc_option_unit unit, __u64 value)
{
	const struct qdisc_option *option =
		qdisc_option_find(info->options, info->option_count, name);

	if (!option)
		fail_msg("no option %s of %s", name, info->kind);
	assert_int_equal(option->unit, unit);
	assert_int_equal(option->value, value);
}

static void test_htb_leaf(void **context)
{
	struct class_info info;

	(void)context;
	PARSE(class_htb_10011, &info);
	assert_string_equal(info.kind, "htb");
	assert_int_equal(info.classid, 0x10011);
	assert_int_equal(info.parent, 0x10001);
	assert_int_equal(info.leaf, 0x1100000);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 300000);
	expect_option(&info, "ceil", OPTION_BIT_PER_S, 800000);
	expect_option(&info, "burst", OPTION_BYTES, 4096);
	expect_option(&info, "cburst", OPTION_BYTES, 3072);
	expect_option(&info, "prio", OPTION_NUMBER, 2);
	expect_option(&info, "quantum", OPTION_BYTES, 2000);
	assert_int_equal(info.option_count, 6);
	/* As tc showed them: lended 47, borrowed 55, tokens 1689156 and ctokens 473437 of 64 ns. */
	assert_int_equal(info.kernel.packets, 102);
	assert_int_equal(info.kernel.bytes, 104284);
	assert_int_equal(info.kernel.overlimits, 82);
	assert_true(info.have_htb);
	assert_false(info.have_hfsc);
	assert_int_equal(info.htb.lends, 47);
	assert_int_equal(info.htb.borrows, 55);
	assert_int_equal(info.htb.tokens_ns, 1689156 * 64);
	assert_int_equal(info.htb.ctokens_ns, 473437 * 64);
}

static void test_htb_inner(void **context)
{
	struct class_info info;

	(void)context;
	PARSE(class_htb_10001, &info);
	assert_int_equal(info.parent, TC_H_ROOT);
	assert_int_equal(info.leaf, 0);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 1000000);
	expect_option(&info, "ceil", OPTION_BIT_PER_S, 1000000);
	assert_null(qdisc_option_find(info.options, info.option_count, "prio"));
	assert_int_equal(info.htb.lends, 55);
	assert_int_equal(info.htb.borrows, 0);
	assert_int_equal(info.kernel.overlimits, 29);
}

static void test_htb_rates_of_64_bits(void **context)
{
	struct class_info info;

	(void)context;
	PARSE(class_htb_10012, &info);
	expect_option(&info, "rate", OPTION_BIT_PER_S, 50000000000ull);
	expect_option(&info, "ceil", OPTION_BIT_PER_S, 60000000000ull);
	expect_option(&info, "mpu", OPTION_BYTES, 64);
	expect_option(&info, "overhead", OPTION_BYTES, 14);
}

static void test_hfsc(void **context)
{
	struct class_info info;

	(void)context;
	PARSE(class_hfsc_10011, &info);
	assert_string_equal(info.kind, "hfsc");
	assert_int_equal(info.parent, 0x10000);
	expect_option(&info, "rt_m1", OPTION_BIT_PER_S, 2000000);
	expect_option(&info, "rt_d", OPTION_NS, 20000000);
	expect_option(&info, "rt_m2", OPTION_BIT_PER_S, 1000000);
	expect_option(&info, "ls_m2", OPTION_BIT_PER_S, 1000000);
	expect_option(&info, "ul_m2", OPTION_BIT_PER_S, 3000000);
	assert_int_equal(info.option_count, 5);
	assert_true(info.have_hfsc);
	assert_int_equal(info.hfsc.work, 20840);
	assert_int_equal(info.hfsc.rtwork, 11462);
	assert_int_equal(info.hfsc.period, 20);
	assert_int_equal(info.hfsc.level, 0);
}

static void test_other_messages_are_refused(void **context)
{
	_Alignas(8) __u8 bytes[sizeof(class_htb_10001)];
	struct nlmsghdr *header = (void *)bytes;
	struct class_info info;

	(void)context;
	memcpy(bytes, class_htb_10001, sizeof(bytes));
	header->nlmsg_type = RTM_NEWQDISC;
	errno = 0;
	assert_int_equal(class_info_parse(&info, header), -1);
	assert_int_equal(errno, EBADMSG);
	header->nlmsg_type = RTM_NEWTCLASS;
	header->nlmsg_len = NLMSG_HDRLEN + sizeof(struct tcmsg) - 4;
	assert_int_equal(class_info_parse(&info, header), -1);
}

/* Bytes at random behind the tcmsg: no crash, no read outside, no more options than fit. */
static void test_noise(void **context)
{
	const size_t from = NLMSG_HDRLEN + sizeof(struct tcmsg);
	_Alignas(8) __u8 bytes[sizeof(class_htb_10011)];
	struct class_info info;
	unsigned int seed = 1;
	int round, i;

	(void)context;
	for (round = 0; round < 20000; round++) {
		memcpy(bytes, class_htb_10011, sizeof(bytes));
		for (i = 0; i < 4; i++)
			bytes[from + rand_r(&seed) % (sizeof(bytes) - from)] = rand_r(&seed);
		PARSE(bytes, &info);
		assert_true(info.option_count <= QDISC_OPTIONS_MAX);
		assert_non_null(memchr(info.kind, '\0', sizeof(info.kind)));
	}
}

/* Flows are left out; classes get the qdisc that hangs in them, of their own device. */
static void test_join(void **context)
{
	struct qdisc_info qdiscs[] = {
		{ .netns = 1, .ifindex = 2, .kind = "htb", .handle = 0x10000,
		  .parent = TC_H_ROOT },
		{ .netns = 1, .ifindex = 2, .kind = "fq_codel", .handle = 0x1100000,
		  .parent = 0x10011 },
		{ .netns = 1, .ifindex = 2, .kind = "pfifo", .parent = 0x10012 },
		{ .netns = 1, .ifindex = 3, .kind = "tbf", .handle = 0x200000,
		  .parent = TC_H_ROOT },
		{ .netns = 1, .ifindex = 3, .kind = "bfifo", .parent = 0x200001 },
	};
	const struct qdisc_tree tree = { .qdiscs = qdiscs, .count = 5 };
	struct class_info list[] = {
		{ .netns = 1, .ifindex = 2, .kind = "htb", .classid = 0x10011 },
		{ .netns = 1, .ifindex = 2, .kind = "fq_codel", .classid = 0x110017c },
		{ .netns = 1, .ifindex = 2, .kind = "htb", .classid = 0x10012 },
		{ .netns = 1, .ifindex = 2, .kind = "htb", .classid = 0x10001, .leaf = 7 },
		{ .netns = 1, .ifindex = 3, .kind = "tbf", .classid = 0x200001 },
		{ .netns = 2, .ifindex = 2, .kind = "htb", .classid = 0x10011 },
	};
	struct qdisc_classes classes = { .classes = list, .count = 6 };

	(void)context;
	qdisc_classes_join(&classes, &tree);
	assert_int_equal(classes.count, 5);
	assert_true(list[0].has_leaf);
	assert_int_equal(list[0].leaf, 0x1100000);
	assert_int_equal(list[1].classid, 0x10012);
	assert_true(list[1].has_leaf);
	assert_int_equal(list[1].leaf, 0);
	assert_false(list[2].has_leaf);
	assert_string_equal(list[3].kind, "tbf");
	assert_true(list[3].has_leaf);
	assert_int_equal(list[4].netns, 2);
	assert_false(list[4].has_leaf);
}

static void test_find_and_parent(void **context)
{
	struct class_info list[] = {
		{ .netns = 1, .ifindex = 2, .classid = 0x10001, .parent = TC_H_ROOT },
		{ .netns = 1, .ifindex = 2, .classid = 0x10011, .parent = 0x10001 },
		{ .netns = 1, .ifindex = 3, .classid = 0x10011, .parent = 0x10001 },
		{ .netns = 1, .ifindex = 3, .classid = 0x10012, .parent = 0x10012 },
		{ .netns = 1, .ifindex = 2, .classid = 0x200001, .parent = 0x10011 },
	};
	const struct qdisc_classes classes = { .classes = list, .count = 5 };

	(void)context;
	assert_ptr_equal(qdisc_class_find(&classes, 1, 3, 0x10011), &list[2]);
	assert_null(qdisc_class_find(&classes, 2, 3, 0x10011));
	assert_null(qdisc_class_find(NULL, 1, 3, 0x10011));
	assert_ptr_equal(qdisc_class_parent(&classes, &list[1]), &list[0]);
	assert_null(qdisc_class_parent(&classes, &list[0]));
	assert_null(qdisc_class_parent(&classes, &list[2]));
	assert_null(qdisc_class_parent(&classes, &list[3]));
	assert_null(qdisc_class_parent(&classes, &list[4]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_htb_leaf),
		cmocka_unit_test(test_htb_inner),
		cmocka_unit_test(test_htb_rates_of_64_bits),
		cmocka_unit_test(test_hfsc),
		cmocka_unit_test(test_other_messages_are_refused),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_find_and_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
