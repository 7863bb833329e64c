// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "qdisc_path.h"

#define MBIT		1000000ull
#define SECOND		1000000000ull
#define OTHER_DEVICE	9

/* A namespace at the begin and at the end of a window of one second. */
struct world {
	struct qdisc_info qdiscs[2][32];
	struct class_info classes[2][80];
	struct qdisc_tree tree[2];
	struct qdisc_classes list[2];
	struct qdisc_snapshot begin, end;
};

static struct world world;

static int setup(void **context)
{
	int i;

	(void)context;
	memset(&world, 0, sizeof(world));
	for (i = 0; i < 2; i++) {
		world.tree[i] = (struct qdisc_tree){ world.qdiscs[i], 0, (i + 1) * SECOND };
		world.list[i] = (struct qdisc_classes){ world.classes[i], 0, (i + 1) * SECOND };
	}
	world.begin = (struct qdisc_snapshot){ &world.tree[0], &world.list[0] };
	world.end = (struct qdisc_snapshot){ &world.tree[1], &world.list[1] };
	return 0;
}

static void set(struct qdisc_option *options, unsigned int *count, const char *name,
		enum qdisc_option_unit unit, __u64 value)
{
	options[(*count)++] = (struct qdisc_option){ name, unit, value };
}

/* A qdisc of wan0 in both snapshots; returns the one at the end. */
static struct qdisc_info *qdisc(const char *kind, __u32 handle, __u32 parent)
{
	struct qdisc_info *info = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		info = &world.qdiscs[i][world.tree[i].count++];
		info->netns = 1;
		info->ifindex = 2;
		strcpy(info->device, "wan0");
		snprintf(info->kind, sizeof(info->kind), "%s", kind);
		info->handle = handle;
		info->parent = parent;
		info->kernel.bytes = 5000;
		info->kernel.overlimits = 70;
	}
	info->kernel.bytes = 5000;
	return info;
}

static void option(struct qdisc_info *info, const char *name, __u64 value)
{
	set(info->options, &info->option_count, name,
	    strcmp(name, "delay") ? OPTION_BIT_PER_S : OPTION_NS, value);
}

/* A class in both, with rate and ceil where they are not 0. */
static struct class_info *class(const char *kind, __u32 classid, __u32 parent, __u64 rate,
				__u64 ceil)
{
	struct class_info *info = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		info = &world.classes[i][world.list[i].count++];
		info->netns = 1;
		info->ifindex = 2;
		snprintf(info->kind, sizeof(info->kind), "%s", kind);
		info->classid = classid;
		info->parent = parent;
		info->kernel.overlimits = 1000;
		info->kernel.bytes = 5000;
		info->htb.borrows = 0xfffffff0;
		info->have_htb = !strcmp(kind, "htb");
	}
	if (rate)
		set(info->options, &info->option_count, "rate", OPTION_BIT_PER_S, rate);
	if (ceil)
		set(info->options, &info->option_count, "ceil", OPTION_BIT_PER_S, ceil);
	return info;
}

/* In the window so many bit were sent and so many overlimits counted. */
static void count(struct qdisc_kernel_counters *kernel, __u64 bits, __u64 overlimits)
{
	kernel->bytes += bits / 8;
	kernel->overlimits += overlimits;
}

static void expect_path(const struct qdisc_info *info, const char *wanted)
{
	struct qdisc_path path;
	char text[512];

	qdisc_path_find(&path, &world.end, info);
	assert_string_equal(qdisc_path_text(&path, &world.end, text, sizeof(text)), wanted);
}

static struct qdisc_holder find(const struct qdisc_info *info)
{
	struct qdisc_holder holder;

	qdisc_holder_find(&holder, &world.begin, &world.end, info);
	return holder;
}

static void expect_class(const struct qdisc_info *info, const struct class_info *class, bool seen)
{
	struct qdisc_holder holder = find(info);

	assert_int_equal(holder.kind, HOLDER_CLASS);
	assert_int_equal(holder.how, HOLDS_BY_RATE);
	assert_ptr_equal(&world.classes[1][holder.index], class);
	assert_int_equal(holder.seen, seen);
}

static void expect_qdisc(const struct qdisc_info *info, const struct qdisc_info *holds,
			 enum holder_how how, bool seen)
{
	struct qdisc_holder holder = find(info);

	assert_int_equal(holder.kind, HOLDER_QDISC);
	assert_int_equal(holder.how, how);
	assert_ptr_equal(&world.qdiscs[1][holder.index], holds);
	assert_int_equal(holder.seen, seen);
}

static void expect_device(const struct qdisc_info *info)
{
	struct qdisc_holder holder = find(info);

	assert_int_equal(holder.kind, HOLDER_DEVICE);
	assert_int_equal(holder.how, HOLDS_BY_DEVICE);
	assert_ptr_equal(&world.qdiscs[1][holder.index], info);
	assert_false(holder.seen);
	assert_string_equal(holder.text, "the device wan0 itself (its driver and link)");
}

/* htb 1: with class 1:1 and in it 1:11 and 1:12, with fq_codel 110: and 120:. */
static struct class_info *top, *leaf, *sibling;
static struct qdisc_info *htb, *queue, *other;

static void make_htb(__u64 top_rate, __u64 top_ceil, __u64 rate, __u64 ceil)
{
	htb = qdisc("htb", 0x10000, TC_H_ROOT);
	queue = qdisc("fq_codel", 0x1100000, 0x10011);
	other = qdisc("fq_codel", 0x1200000, 0x10012);
	top = class("htb", 0x10001, TC_H_ROOT, top_rate, top_ceil);
	leaf = class("htb", 0x10011, 0x10001, rate, ceil);
	sibling = class("htb", 0x10012, 0x10001, rate, ceil);
}

/* ---- paths ---- */

static void test_path_of_htb(void **context)
{
	(void)context;
	make_htb(10 * MBIT, 10 * MBIT, 5 * MBIT, 10 * MBIT);
	expect_path(htb, "wan0 → htb 1:");
	expect_path(queue, "wan0 → htb 1: → class 1:1 rate 10.0 Mbit/s → "
			   "class 1:11 rate 5.00 Mbit/s ceil 10.0 Mbit/s → fq_codel 110:");
}

static void test_path_of_tbf_and_mq(void **context)
{
	struct qdisc_info *tbf, *bfifo, *mq, *second;

	(void)context;
	tbf = qdisc("tbf", 0x100000, TC_H_ROOT);
	option(tbf, "rate", 10 * MBIT);
	bfifo = qdisc("bfifo", 0, 0x100001);
	expect_path(bfifo, "wan0 → tbf 10: rate 10.0 Mbit/s → bfifo 0:");
	setup(NULL);
	mq = qdisc("mq", 0, TC_H_ROOT);
	qdisc("fq_codel", 0, 0x1);
	second = qdisc("fq_codel", 0, 0x2);
	class("mq", 0x1, TC_H_ROOT, 0, 0);
	class("mq", 0x2, TC_H_ROOT, 0, 0);
	expect_path(mq, "wan0 → mq 0:");
	expect_path(second, "wan0 → mq 0: → class 0:2 → fq_codel 0:");
}

/* The same handle on another device, and in another namespace, is another qdisc. */
static void test_path_keeps_to_its_device(void **context)
{
	struct qdisc_info *elsewhere, *child;

	(void)context;
	elsewhere = qdisc("tbf", 0x100000, TC_H_ROOT);
	elsewhere->ifindex = OTHER_DEVICE;
	elsewhere = qdisc("netem", 0x100000, TC_H_ROOT);
	elsewhere->netns = 77;
	qdisc("drr", 0x100000, TC_H_ROOT);
	child = qdisc("pfifo", 0x200000, 0x100003);
	expect_path(child, "wan0 → drr 10: → class 10:3 → pfifo 20:");
}

static void test_path_of_hfsc_leaves_its_root_class_out(void **context)
{
	struct class_info *curve;
	struct qdisc_info *child;

	(void)context;
	qdisc("hfsc", 0x10000, TC_H_ROOT);
	child = qdisc("pfifo", 0, 0x10011);
	class("hfsc", 0x10000, TC_H_ROOT, 0, 0);
	curve = class("hfsc", 0x10011, 0x10000, 0, 0);
	set(curve->options, &curve->option_count, "ul_m2", OPTION_BIT_PER_S, 3 * MBIT);
	expect_path(child, "wan0 → hfsc 1: → class 1:11 ul 3.00 Mbit/s → pfifo 0:");
}

static void test_broken_paths(void **context)
{
	struct qdisc_info *orphan, *own, *a, *b, *ingress;
	struct qdisc_path path;
	char text[8];

	(void)context;
	orphan = qdisc("pfifo", 0x200000, 0x100001);
	expect_path(orphan, "wan0 → … → pfifo 20:");
	own = qdisc("drr", 0x300000, 0x300001);
	expect_path(own, "wan0 → … → drr 30:");
	a = qdisc("tbf", 0x400000, 0x500001);
	b = qdisc("tbf", 0x500000, 0x400001);
	qdisc_path_find(&path, &world.end, a);
	assert_true(path.broken);
	assert_int_equal(path.count, PATH_STEPS_MAX);
	qdisc_path_find(&path, &world.end, b);
	assert_true(path.broken);
	ingress = qdisc("ingress", 0xffff0000, TC_H_INGRESS);
	expect_path(ingress, "wan0 → ingress ffff:");
	qdisc_path_find(&path, &world.end, ingress);
	assert_int_equal(strlen(qdisc_path_text(&path, &world.end, text, sizeof(text))), 7);
}

/* Eight qdiscs, one in the other, each of eight levels of classes: as much as the kernel lets. */
static void test_deep_path(void **context)
{
	struct qdisc_info *last = NULL;
	struct qdisc_path path;
	__u32 parent = TC_H_ROOT;
	__u32 i, level;

	(void)context;
	for (i = 1; i <= 8; i++) {
		last = qdisc("htb", i << 16, parent);
		for (level = 1; level <= 8; level++)
			class("htb", i << 16 | level,
			      level == 1 ? TC_H_ROOT : i << 16 | (level - 1), MBIT, MBIT);
		parent = i << 16 | 8;
	}
	qdisc_path_find(&path, &world.end, last);
	assert_false(path.broken);
	assert_int_equal(path.count, 8 + 7 * 8);
	assert_int_equal(path.steps[0].id, 0x10000);
	assert_int_equal(path.steps[1].id, 0x10001);
	assert_int_equal(path.steps[8].id, 0x10008);
	assert_int_equal(path.steps[63].id, 0x80000);
}

/* ---- holders ---- */

static void test_leaf_at_its_ceil(void **context)
{
	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 5 * MBIT, 10 * MBIT);
	count(&leaf->kernel, 10 * MBIT, 800);
	count(&top->kernel, 10 * MBIT, 0);
	leaf->htb.borrows += 20;
	expect_class(queue, leaf, true);
	assert_string_equal(find(queue).text, "class 1:11 of htb 1: (rate 5.00 Mbit/s, "
			    "ceil 10.0 Mbit/s; 800 overlimits, 20 borrowed)");
	assert_int_equal(find(queue).rate_bit_per_s, 10 * MBIT);
}

/* Two share what the class above has: each is below its own ceil, and reaches it in bursts only. */
static void test_parent_at_its_ceil(void **context)
{
	(void)context;
	make_htb(10 * MBIT, 10 * MBIT, 5 * MBIT, 10 * MBIT);
	count(&leaf->kernel, 5 * MBIT, 30);
	count(&sibling->kernel, 5 * MBIT, 20);
	count(&top->kernel, 10 * MBIT, 900);
	expect_class(queue, top, true);
	expect_class(other, top, true);
}

/* Both at their ceil: the nearest. */
static void test_leaf_and_parent_at_their_ceil(void **context)
{
	(void)context;
	make_htb(20 * MBIT, 20 * MBIT, 10 * MBIT, 10 * MBIT);
	count(&leaf->kernel, 10 * MBIT, 400);
	count(&sibling->kernel, 10 * MBIT, 400);
	count(&top->kernel, 20 * MBIT, 900);
	expect_class(queue, leaf, true);
	expect_class(other, sibling, true);
}

/* A class without parent cannot borrow: its rate holds, though the kernel counts no overlimits. */
static void test_top_at_its_rate(void **context)
{
	(void)context;
	make_htb(10 * MBIT, 80 * MBIT, 5 * MBIT, 80 * MBIT);
	count(&leaf->kernel, 10 * MBIT, 0);
	count(&top->kernel, 10 * MBIT, 0);
	expect_class(queue, top, true);
	assert_int_equal(find(queue).rate_bit_per_s, 10 * MBIT);
	/* A window of which half was idle. */
	top->kernel.bytes -= MBIT / 8 * 5;
	expect_class(queue, leaf, false);
	top->htb.tokens_ns = -1000;
	expect_class(queue, top, true);
}

static void test_nothing_was_reached(void **context)
{
	struct qdisc_holder holder;

	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 5 * MBIT, 10 * MBIT);
	count(&leaf->kernel, MBIT, 0);
	count(&top->kernel, MBIT, 0);
	expect_class(queue, leaf, false);
	/* Without a begin there is no evidence and no count. */
	qdisc_holder_find(&holder, NULL, &world.end, queue);
	assert_int_equal(holder.kind, HOLDER_CLASS);
	assert_false(holder.seen);
	assert_string_equal(holder.text,
			    "class 1:11 of htb 1: (rate 5.00 Mbit/s, ceil 10.0 Mbit/s)");
}

/* Of the htb itself: the class through which most of what was held back went. */
static void test_root_with_classes(void **context)
{
	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 5 * MBIT, 10 * MBIT);
	count(&queue->kernel, 3 * MBIT, 0);
	count(&leaf->kernel, 3 * MBIT, 0);
	count(&other->kernel, 2 * MBIT, 0);
	count(&sibling->kernel, 2 * MBIT, 0);
	expect_class(htb, leaf, false);
	sibling->kernel.overlimits += 5;
	expect_class(htb, sibling, true);
	leaf->kernel.overlimits += 5;
	expect_class(htb, leaf, true);
}

static void test_tbf_above_and_below(void **context)
{
	struct qdisc_info *tbf, *bfifo;

	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 5 * MBIT, 40 * MBIT);
	tbf = qdisc("tbf", 0x200000, TC_H_ROOT);
	option(tbf, "rate", 10 * MBIT);
	htb->parent = 0x200001;
	world.qdiscs[0][0].parent = 0x200001;
	count(&tbf->kernel, 10 * MBIT, 600);
	count(&leaf->kernel, 10 * MBIT, 3);
	count(&top->kernel, 10 * MBIT, 0);
	expect_qdisc(queue, tbf, HOLDS_BY_RATE, true);
	expect_qdisc(htb, tbf, HOLDS_BY_RATE, true);
	expect_qdisc(tbf, tbf, HOLDS_BY_RATE, true);
	assert_string_equal(find(queue).text, "tbf 20: (rate 10.0 Mbit/s; 600 overlimits)");
	setup(NULL);
	tbf = qdisc("tbf", 0x100000, TC_H_ROOT);
	option(tbf, "rate", 10 * MBIT);
	bfifo = qdisc("bfifo", 0, 0x100001);
	count(&tbf->kernel, MBIT, 1);
	expect_qdisc(bfifo, tbf, HOLDS_BY_RATE, true);
}

static void test_hfsc(void **context)
{
	struct class_info *inner, *fast, *shared;
	struct qdisc_info *root, *first, *second;

	(void)context;
	root = qdisc("hfsc", 0x10000, TC_H_ROOT);
	first = qdisc("pfifo", 0, 0x10011);
	second = qdisc("pfifo", 0, 0x10012);
	class("hfsc", 0x10000, TC_H_ROOT, 0, 0);
	inner = class("hfsc", 0x10001, 0x10000, 0, 0);
	set(inner->options, &inner->option_count, "ls_m2", OPTION_BIT_PER_S, 20 * MBIT);
	set(inner->options, &inner->option_count, "ul_m2", OPTION_BIT_PER_S, 20 * MBIT);
	fast = class("hfsc", 0x10011, 0x10001, 0, 0);
	set(fast->options, &fast->option_count, "rt_m2", OPTION_BIT_PER_S, 4 * MBIT);
	shared = class("hfsc", 0x10012, 0x10001, 0, 0);
	set(shared->options, &shared->option_count, "ls_m2", OPTION_BIT_PER_S, 1 * MBIT);
	count(&root->kernel, 20 * MBIT, 500);
	count(&inner->kernel, 20 * MBIT, 0);
	count(&fast->kernel, 4 * MBIT, 0);
	count(&shared->kernel, 16 * MBIT, 0);
	/* Only rt: its own curve; only ls: what the class above may send. */
	expect_class(first, fast, true);
	expect_class(second, inner, true);
	root->kernel.overlimits -= 500;
	expect_class(second, inner, false);
}

static void test_those_that_hold_by_themselves(void **context)
{
	struct qdisc_info *tbf, *netem, *child, *info;

	(void)context;
	tbf = qdisc("tbf", 0x100000, TC_H_ROOT);
	option(tbf, "rate", 10 * MBIT);
	netem = qdisc("netem", 0x200000, 0x100001);
	option(netem, "delay", 50000000);
	child = qdisc("pfifo", 0x300000, 0x200001);
	count(&tbf->kernel, 10 * MBIT, 600);
	expect_qdisc(netem, netem, HOLDS_BY_DELAY, true);
	assert_string_equal(find(netem).text, "netem 20: (delay 50.0 ms)");
	expect_qdisc(child, tbf, HOLDS_BY_RATE, true);
	expect_qdisc(tbf, tbf, HOLDS_BY_RATE, true);
	setup(NULL);
	info = qdisc("etf", 0x100000, TC_H_ROOT);
	expect_qdisc(info, info, HOLDS_BY_PACING, false);
	setup(NULL);
	info = qdisc("fq", 0x100000, TC_H_ROOT);
	expect_device(info);
	option(info, "pacing", 1);
	expect_qdisc(info, info, HOLDS_BY_PACING, false);
	option(info, "maxrate", 5 * MBIT);
	expect_qdisc(info, info, HOLDS_BY_RATE, false);
	assert_string_equal(find(info).text, "fq 10: (maxrate of each flow 5.00 Mbit/s)");
	setup(NULL);
	info = qdisc("cake", 0x100000, TC_H_ROOT);
	expect_device(info);
	option(info, "bandwidth", 5 * MBIT);
	count(&info->kernel, 5 * MBIT, 4);
	expect_qdisc(info, info, HOLDS_BY_RATE, true);
	assert_string_equal(find(info).text, "cake 10: (bandwidth 5.00 Mbit/s; 4 overlimits)");
}

static void test_gates_and_a_paced_child(void **context)
{
	struct qdisc_info *taprio, *fq;

	(void)context;
	taprio = qdisc("taprio", 0x100000, TC_H_ROOT);
	fq = qdisc("fq", 0x200000, 0x100001);
	option(fq, "pacing", 1);
	expect_qdisc(fq, taprio, HOLDS_BY_GATES, false);
	expect_qdisc(taprio, taprio, HOLDS_BY_GATES, false);
}

static void test_nothing_limits(void **context)
{
	struct qdisc_info *prio, *red;

	(void)context;
	prio = qdisc("prio", 0x100000, TC_H_ROOT);
	red = qdisc("red", 0x200000, 0x100001);
	count(&red->kernel, MBIT, 500);
	expect_device(prio);
	expect_device(red);
}

/* A shaper in a band of prio is what holds prio's packets. */
static void test_shaper_below(void **context)
{
	struct qdisc_info *prio, *tbf;

	(void)context;
	prio = qdisc("prio", 0x100000, TC_H_ROOT);
	qdisc("pfifo", 0, 0x100001);
	tbf = qdisc("tbf", 0x200000, 0x100002);
	option(tbf, "rate", 3 * MBIT);
	qdisc("bfifo", 0, 0x200001);
	count(&tbf->kernel, 3 * MBIT, 100);
	expect_qdisc(prio, tbf, HOLDS_BY_RATE, true);
}

/* What was made in the window counts from 0; what was made anew does not count backwards. */
static void test_new_in_the_window(void **context)
{
	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 10 * MBIT, 10 * MBIT);
	world.list[0].count = 0;
	leaf->kernel = (struct qdisc_kernel_counters){ .bytes = 1250000, .overlimits = 12 };
	leaf->htb.borrows = 3;
	top->kernel = (struct qdisc_kernel_counters){ .bytes = 1250000 };
	expect_class(queue, leaf, true);
	assert_string_equal(find(queue).text, "class 1:11 of htb 1: (rate 10.0 Mbit/s, "
			    "ceil 10.0 Mbit/s; 12 overlimits, 3 borrowed)");
	world.list[0].count = 3;
	expect_class(queue, leaf, false);
}

/* Snapshots without classes: the path says so, and there is no limit in what is not known. */
static void test_without_classes(void **context)
{
	(void)context;
	make_htb(50 * MBIT, 50 * MBIT, 10 * MBIT, 10 * MBIT);
	world.begin.classes = NULL;
	world.end.classes = NULL;
	expect_path(queue, "wan0 → htb 1: → class 1:11 → fq_codel 110:");
	expect_device(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_path_of_htb, setup),
		cmocka_unit_test_setup(test_path_of_tbf_and_mq, setup),
		cmocka_unit_test_setup(test_path_keeps_to_its_device, setup),
		cmocka_unit_test_setup(test_path_of_hfsc_leaves_its_root_class_out, setup),
		cmocka_unit_test_setup(test_broken_paths, setup),
		cmocka_unit_test_setup(test_deep_path, setup),
		cmocka_unit_test_setup(test_leaf_at_its_ceil, setup),
		cmocka_unit_test_setup(test_parent_at_its_ceil, setup),
		cmocka_unit_test_setup(test_leaf_and_parent_at_their_ceil, setup),
		cmocka_unit_test_setup(test_top_at_its_rate, setup),
		cmocka_unit_test_setup(test_nothing_was_reached, setup),
		cmocka_unit_test_setup(test_root_with_classes, setup),
		cmocka_unit_test_setup(test_tbf_above_and_below, setup),
		cmocka_unit_test_setup(test_hfsc, setup),
		cmocka_unit_test_setup(test_those_that_hold_by_themselves, setup),
		cmocka_unit_test_setup(test_gates_and_a_paced_child, setup),
		cmocka_unit_test_setup(test_nothing_limits, setup),
		cmocka_unit_test_setup(test_shaper_below, setup),
		cmocka_unit_test_setup(test_new_in_the_window, setup),
		cmocka_unit_test_setup(test_without_classes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
