// SPDX-License-Identifier: GPL-2.0
/* The order of rows, and what namespaces of containers are called. */
#include <linux/pkt_sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "live_order.h"
#include "netns_names.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static struct live_qdisc row(const char *netns, __u32 inode, __u32 ifindex, __u32 queue,
			     __u32 parent, __u32 handle)
{
	struct live_qdisc made = {
		.netns = inode, .ifindex = ifindex, .queue = queue, .parent = parent,
		.handle = handle,
	};

	snprintf(made.netns_name, sizeof(made.netns_name), "%s", netns);
	return made;
}

/* Ours first, then by name; htb with its leaves in the order of their classes; mq by queue. */
static void test_order(void **state)
{
	struct live_qdisc rows[] = {
		row("web", 7, 2, 0, TC_H_ROOT, 0x10000),
		row("", 4, 3, 1, 0x80010002, 0x0),
		row("", 4, 2, 0, 0x10014, 0x200000),
		row("db", 9, 2, 0, TC_H_ROOT, 0x10000),
		row("", 4, 2, 0, TC_H_ROOT, 0x10000),
		row("", 4, 2, 0, 0x200001, 0x300000),
		row("", 4, 3, 0, 0x80010001, 0x0),
		row("", 4, 2, 0, 0x1000a, 0x150000),
	};
	static const size_t order[] = { 4, 7, 2, 5, 6, 1, 3, 0 };
	static const unsigned int levels[] = { 0, 1, 1, 2, 0, 0, 0, 0 };
	struct live_qdisc *pointers[COUNT(rows)];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		pointers[i] = &rows[i];
	live_order(pointers, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (pointers[i] != &rows[order[i]])
			fail_msg("place %zu has row %td", i, pointers[i] - rows);
		assert_int_equal(pointers[i]->level, levels[i]);
	}
	live_order(pointers, 0);
}

/* Handles that name each other, which no kernel makes: every row is still there once. */
static void test_circle(void **state)
{
	struct live_qdisc rows[] = {
		row("", 4, 2, 0, 0x20001, 0x10000),
		row("", 4, 2, 0, 0x10001, 0x20000),
		row("", 4, 2, 0, 0x30001, 0x30000),
	};
	struct live_qdisc *pointers[] = { &rows[0], &rows[1], &rows[2] };
	unsigned int seen = 0;

	(void)state;
	live_order(pointers, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++)
		seen |= 1u << (pointers[i] - rows);
	assert_int_equal(seen, 7);
}

static void test_containers(void **state)
{
#define ID	"3f2a9c11d0aa" "0123456789abcdef0123456789abcdef0123456789abcdef0123"
	static const char *const containers[] = {
		"0::/system.slice/docker-" ID ".scope\n",
		"12:memory:/docker/" ID "\n0::/x\n",
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" ID ".scope",
		"0::/machine.slice/libpod-" ID ".scope/container\n",
	};
	static const char *const others[] = {
		"", "0::/init.scope\n", "0::/user.slice/user-1000.slice/session-3.scope\n",
		"0::/x/" ID "00\n", "0::/x/3f2a9c11d0aa\n",
	};
	char id[13];

	(void)state;
	for (size_t i = 0; i < COUNT(containers); i++) {
		assert_true(netns_names_container(containers[i], id));
		assert_string_equal(id, "3f2a9c11d0aa");
	}
	for (size_t i = 0; i < COUNT(others); i++)
		assert_false(netns_names_container(others[i], id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
