// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ledger.h"

/* ---- a tracer that knows only its records ---- */

struct tracer {
	struct qdisc_record records[8];
	__u64 queued[8];
	unsigned int count;
};

unsigned int tracer_qdisc_count(const struct tracer *tracer)
{
	return tracer->count;
}

const struct qdisc_record *tracer_qdisc(const struct tracer *tracer, unsigned int index)
{
	return index < tracer->count ? &tracer->records[index] : NULL;
}

__u64 tracer_queued(const struct tracer *tracer, unsigned int index)
{
	return tracer->queued[index];
}

/* 1000 offered: 800 measured, 50 bypassed, 100 rejected, 40 dropped inside, 10 queued. */
static struct qdisc_record make_record(void)
{
	struct qdisc_record record = {
		.qdisc = 0xffff888000001000, .netns = 7, .ifindex = 3, .handle = 0x100000, .parent = TC_H_ROOT,
		.kind = "tbf", .device = "wan0", .first_seen_ns = 500,
		.counters = {
			.offered_packets = 1000, .measured_packets = 800,
			.bypassed_packets = 50, .rejected_packets = 100, .rejected_skbs = 30,
			.dropped_packets = 40, .dropped_skbs = 20,
		},
	};

	return record;
}

static const struct qdisc_kernel_counters kernel_before = {
	.packets = 1ULL << 33, .bytes = 5000, .drops = 7, .requeues = 1, .overlimits = 3,
	.backlog_bytes = 300, .backlog_packets = 2,
};

/* What the kernel must say at the end for make_record() to agree. */
static struct qdisc_kernel_counters make_after(void)
{
	struct qdisc_kernel_counters after = kernel_before;

	after.packets += 850;
	after.bytes += 850000;
	after.drops += 50;
	after.overlimits += 4;
	after.backlog_bytes = 15000;
	after.backlog_packets = 10;
	return after;
}

static void test_all_adds_up(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = make_after();
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.offered, 1000);
	assert_int_equal(ledger.measured, 800);
	assert_int_equal(ledger.bypassed, 50);
	assert_int_equal(ledger.rejected, 100);
	assert_int_equal(ledger.dropped_inside, 40);
	assert_int_equal(ledger.queued, 10);
	assert_int_equal(ledger.unaccounted, 0);
	assert_int_equal(ledger.queued_at_start, 2);
	assert_true(ledger.have_kernel);
	assert_int_equal(ledger.kernel.packets, 850);
	assert_int_equal(ledger.kernel.bytes, 850000);
	assert_int_equal(ledger.kernel.drops, 50);
	assert_int_equal(ledger.kernel.overlimits, 4);
	assert_int_equal(ledger.kernel.backlog_packets, 10);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_string_equal(ledger.why, "");
}

/* The comparison must be able to fail, by a single packet and either way. */
static void test_one_packet_off(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = make_after();
	struct ledger ledger;

	(void)state;
	after.packets++;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	assert_non_null(strstr(ledger.why, "packets: traced 850, kernel 851 (-1)"));

	after = make_after();
	after.drops--;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	assert_non_null(strstr(ledger.why, "drops: traced 50, kernel 49 (+1)"));

	after = make_after();
	record.counters.requeued = 1;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	assert_non_null(strstr(ledger.why, "requeues: traced 1, kernel 0 (+1)"));
}

static void test_unaccounted_has_a_sign(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = make_after();
	struct ledger ledger;

	(void)state;
	record.counters.offered_packets = 1003;
	record.counters.unmatched_packets = 3;
	record.counters.flow_misses = 2;
	after.packets += 3;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.unaccounted, 3);
	assert_int_equal(ledger.unmatched, 3);
	assert_int_equal(ledger.flow_misses, 2);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_non_null(strstr(ledger.why, "3 offered packets unaccounted"));
	assert_non_null(strstr(ledger.why, "2 of them GSO segments"));

	record = make_record();
	after = make_after();
	ledger_fill(&ledger, &record, 15, &kernel_before, &after);
	assert_int_equal(ledger.unaccounted, -5);
}

/* A packet that came back and was not handed out again is in the backlog. */
static void test_requeue_under_way(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = make_after();
	struct ledger ledger;

	(void)state;
	record.counters.requeued = 4;
	after.requeues += 5;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	after.backlog_packets = 0;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

static void test_inactive_device_counts_no_drop(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = make_after();
	struct ledger ledger;

	(void)state;
	record.counters.rejected_inactive = 9;
	after.drops -= 9;
	ledger_fill(&ledger, &record, 10, &kernel_before, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
}

static void test_made_during_the_window(void **state)
{
	struct qdisc_record record = make_record();
	struct qdisc_kernel_counters after = { .packets = 850, .drops = 50, .backlog_packets = 10 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 10, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_int_equal(ledger.queued_at_start, 0);
}

static void test_gone(void **state)
{
	struct qdisc_record record = make_record();
	struct ledger ledger;

	(void)state;
	record.destroyed_ns = 900;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_UNKNOWN);
	assert_false(ledger.have_kernel);
	assert_true(ledger.why[0]);

	record.last_valid = 1;
	record.last_packets = kernel_before.packets + 850;
	record.last_drops = kernel_before.drops + 50;
	record.last_requeues = kernel_before.requeues;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_int_equal(ledger.kernel.packets, 850);

	/* 12 of the 20 dropped skbs were purged with the qdisc: the kernel did not count them. */
	record.counters.purged_skbs = 12;
	record.last_drops = kernel_before.drops + 38;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_non_null(strstr(ledger.why, "12 skbs were freed when the qdisc was emptied"));

	/* No more and no less than were purged. */
	record.last_drops = kernel_before.drops + 37;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	record.last_drops = kernel_before.drops + 39;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	record.counters.purged_skbs = 0;
	record.last_drops = kernel_before.drops + 50;
	record.last_packets++;
	ledger_fill(&ledger, &record, 0, &kernel_before, NULL);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

/* A qdisc that appeared after its packets: the kernel's counters start where the record's base is. */
static void test_base_of_late_qdisc(void **state)
{
	struct qdisc_record record = {
		.base_valid = 1, .base_packets = 40, .base_drops = 3,
		.counters = { .offered_packets = 100, .measured_packets = 100 } };
	struct qdisc_kernel_counters after = { .packets = 140, .drops = 3 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_int_equal(ledger.kernel.packets, 100);
	assert_int_equal(ledger.before_hooked, 40);
	assert_non_null(strstr(ledger.why, "40 packets passed before"));
	after.packets++;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

/* What the kernel does not count as drops: exactly so many may be missing. */
static void test_drops_not_counted(void **state)
{
	struct qdisc_record record = { .counters = {
		.offered_packets = 100, .measured_packets = 80,
		.rejected_packets = 20, .rejected_skbs = 20, .stolen_skbs = 5,
		.parts_refused = 8 } };
	struct qdisc_kernel_counters after = { .packets = 80, .drops = 7 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	assert_int_equal(ledger.unaccounted, 0);
	assert_int_equal(ledger_drops(&ledger), 7);
	after.drops = 8;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	after.drops = 6;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

/* netem counts what it puts in front as requeues; of another kind they must be handed out again. */
static void test_netem_reorders(void **state)
{
	struct qdisc_record record = { .kind = "netem",
		.counters = { .offered_packets = 10, .measured_packets = 10 } };
	struct qdisc_kernel_counters after = { .packets = 10, .requeues = 4 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	record.counters.requeued = 5;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	record.counters.requeued = 0;
	strcpy(record.kind, "pfifo");
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

/* A leaf that is told by stamps: its packets are compared, its drops are its root's. */
static void test_stamped_leaf(void **state)
{
	struct qdisc_record record = { .traits = QDISC_BY_STAMP,
		.counters = { .offered_packets = 10, .measured_packets = 10 } };
	struct qdisc_kernel_counters after = { .packets = 10, .drops = 4 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_AGREES);
	after.packets = 11;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
}

/* Many reasons at once do not run over the end. */
static void test_long_reason(void **state)
{
	struct qdisc_record record = { .counters = {
		.offered_packets = ~0ULL, .measured_packets = 1ULL << 62,
		.dropped_skbs = 1ULL << 61, .requeued = 1ULL << 60,
		.unmatched_packets = 1ULL << 59, .flow_misses = 1ULL << 58 } };
	struct qdisc_kernel_counters after = { .packets = 1 };
	struct ledger ledger;

	(void)state;
	ledger_fill(&ledger, &record, 0, NULL, &after);
	assert_int_equal(ledger.agrees, LEDGER_DISAGREES);
	assert_true(strlen(ledger.why) < sizeof(ledger.why));
}

/* ---- join ---- */

static struct qdisc_info make_info(__u32 netns, const char *name, __u32 ifindex,
				   const char *device, const char *kind, __u32 handle, __u32 parent)
{
	struct qdisc_info info = { .netns = netns, .ifindex = ifindex, .handle = handle,
				   .parent = parent };

	snprintf(info.netns_name, sizeof(info.netns_name), "%s", name);
	snprintf(info.device, sizeof(info.device), "%s", device);
	snprintf(info.kind, sizeof(info.kind), "%s", kind);
	return info;
}

static const struct result_qdisc *find(const struct result *result, const char *id)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (!strcmp(result->qdiscs[i].id, id))
			return &result->qdiscs[i];
	fail_msg("no qdisc %s", id);
	return NULL;
}

static void test_join(void **state)
{
	struct qdisc_info before_infos[] = {
		make_info(7, "pl-router", 3, "wan0", "bfifo", 0, 0x100001),
		make_info(7, "pl-router", 3, "wan0", "tbf", 0x100000, TC_H_ROOT),
		make_info(7, "pl-router", 2, "lan0", "noqueue", 0, TC_H_ROOT),
		make_info(9, "", 4, "eth0", "mq", 0, TC_H_ROOT),
		make_info(9, "", 4, "eth0", "pfifo_fast", 0, 1),
		make_info(9, "", 4, "eth0", "pfifo_fast", 0, 2),
		make_info(9, "", 5, "gone0", "pfifo", 0x800000, TC_H_ROOT),
	};
	struct qdisc_info after_infos[6];
	struct qdisc_tree before = { before_infos, 7, 400 }, after = { after_infos, 6, 5000 };
	struct tracer tracer = { .count = 2 };
	const struct result_qdisc *qdisc;
	struct result result;
	struct error error;

	(void)state;
	memcpy(after_infos, before_infos, sizeof(after_infos));
	before_infos[1].kernel = kernel_before;
	after_infos[1].kernel = make_after();
	after_infos[1].options[0] = (struct qdisc_option) { "rate", OPTION_BIT_PER_S, 1000 };
	after_infos[1].option_count = 1;
	after_infos[4].kernel.packets = 1;	/* counted by the kernel, never traced */
	after_infos[5].kernel.packets = 5;
	tracer.records[0] = make_record();
	tracer.queued[0] = 10;
	tracer.records[1] = (struct qdisc_record) {
		.qdisc = 0xffff888000002000,
		.netns = 9, .ifindex = 4, .queue = 1, .parent = 2, .kind = "pfifo_fast",
		.device = "eth0", .counters = { .offered_packets = 5, .bypassed_packets = 5 },
	};

	result_init(&result);
	assert_int_equal(ledger_join(&result, &tracer, &before, &after, &error), 0);
	assert_int_equal(result.qdisc_count, 7);

	assert_string_equal(result.qdiscs[0].device, "lan0");
	assert_string_equal(result.qdiscs[1].kind, "tbf");	/* the root before its child */
	assert_string_equal(result.qdiscs[2].kind, "bfifo");
	assert_string_equal(result.qdiscs[3].kind, "mq");
	assert_int_equal(result.qdiscs[4].queue, 0);
	assert_int_equal(result.qdiscs[5].queue, 1);

	qdisc = find(&result, "pl-router/wan0/0/tbf/10:");
	assert_true(qdisc->traced && qdisc->root && qdisc->have_info);
	assert_int_equal(qdisc->record, 0);
	assert_string_equal(qdisc->path, "wan0 root tbf 10:");
	assert_int_equal(qdisc->ledger.agrees, LEDGER_AGREES);
	assert_int_equal(qdisc->ledger.kernel.packets, 850);
	assert_int_equal(qdisc->info.options[0].value, 1000);

	qdisc = find(&result, "pl-router/wan0/0/bfifo/0:@10:1");
	assert_false(qdisc->traced || qdisc->root);
	assert_int_equal(qdisc->ledger.agrees, LEDGER_UNKNOWN);

	qdisc = find(&result, "-/eth0/1/pfifo_fast/0:");
	assert_true(qdisc->traced && qdisc->root);
	assert_int_equal(qdisc->ledger.agrees, LEDGER_AGREES);

	qdisc = find(&result, "-/eth0/0/pfifo_fast/0:");
	assert_true(qdisc->root && !qdisc->traced);
	assert_int_equal(qdisc->ledger.agrees, LEDGER_DISAGREES);

	qdisc = find(&result, "-/eth0/0/mq/0:");
	assert_false(qdisc->root);
	assert_int_equal(qdisc->ledger.agrees, LEDGER_UNKNOWN);

	qdisc = find(&result, "-/gone0/0/pfifo/80:");
	assert_int_equal(qdisc->ledger.agrees, LEDGER_UNKNOWN);
	qdisc = find(&result, "pl-router/lan0/0/noqueue/0:");
	assert_int_equal(qdisc->ledger.agrees, LEDGER_AGREES);
	assert_false(qdisc->root);
	result_free(&result);
}

/* tc qdisc replace with the same handle: two Qdisc objects, two records, one identity. */
static void test_join_replaced(void **state)
{
	struct qdisc_info first = make_info(7, "r", 3, "wan0", "tbf", 0x100000, TC_H_ROOT);
	struct qdisc_info last = first;
	struct qdisc_tree before = { &first, 1, 400 }, after = { &last, 1, 5000 };
	struct tracer tracer = { .count = 2 };
	struct result result;
	struct error error;

	(void)state;
	first.kernel = kernel_before;
	last.kernel = (struct qdisc_kernel_counters) { .packets = 850, .drops = 50 };
	tracer.records[0] = make_record();
	tracer.records[0].first_seen_ns = 2000;		/* the second one, by time */
	tracer.records[1] = make_record();
	tracer.records[1].destroyed_ns = 1500;
	tracer.records[1].last_valid = 1;
	tracer.records[1].last_packets = kernel_before.packets + 850;
	tracer.records[1].last_drops = kernel_before.drops + 50;
	tracer.records[1].last_requeues = kernel_before.requeues;
	result_init(&result);
	assert_int_equal(ledger_join(&result, &tracer, &before, &after, &error), 0);
	assert_int_equal(result.qdisc_count, 2);
	assert_string_equal(result.qdiscs[0].id, "r/wan0/0/tbf/10:");
	assert_string_equal(result.qdiscs[1].id, "r/wan0/0/tbf/10:#2");
	assert_int_equal(result.qdiscs[0].ledger.agrees, LEDGER_AGREES);
	assert_int_equal(result.qdiscs[1].ledger.agrees, LEDGER_AGREES);
	result_free(&result);
}

/* Destroyed after netlink was read: the record's last figures are the later ones. */
static void test_join_destroyed_after_the_dump(void **state)
{
	struct qdisc_info first = make_info(7, "r", 3, "wan0", "tbf", 0x100000, TC_H_ROOT);
	struct qdisc_info last = first;
	struct qdisc_tree before = { &first, 1, 400 }, after = { &last, 1, 5000 };
	struct tracer tracer = { .count = 1 };
	struct result result;
	struct error error;

	(void)state;
	last.kernel = (struct qdisc_kernel_counters) { .packets = 700, .bytes = 700000, .drops = 50 };
	tracer.records[0] = make_record();
	tracer.records[0].destroyed_ns = 6000;
	tracer.records[0].last_valid = 1;
	tracer.records[0].last_packets = 850;
	tracer.records[0].last_drops = 50;
	result_init(&result);
	assert_int_equal(ledger_join(&result, &tracer, &before, &after, &error), 0);
	assert_int_equal(result.qdisc_count, 1);
	assert_int_equal(result.qdiscs[0].ledger.agrees, LEDGER_AGREES);
	assert_int_equal(result.qdiscs[0].ledger.kernel.packets, 850);
	assert_int_equal(result.qdiscs[0].ledger.kernel.bytes, 700000);
	result_free(&result);
}

/* Gone, and another of the same identity in its place that had no packet yet: not its counters. */
static void test_join_successor_without_packets(void **state)
{
	struct qdisc_info first = make_info(7, "r", 3, "wan0", "tbf", 0x100000, TC_H_ROOT);
	struct qdisc_info last = first;
	struct qdisc_tree before = { &first, 1, 400 }, after = { &last, 1, 5000 };
	struct tracer tracer = { .count = 1 };
	struct result result;
	struct error error;

	(void)state;
	first.kernel = kernel_before;
	tracer.records[0] = make_record();
	tracer.records[0].destroyed_ns = 1500;
	result_init(&result);
	assert_int_equal(ledger_join(&result, &tracer, &before, &after, &error), 0);
	assert_int_equal(result.qdiscs[0].ledger.agrees, LEDGER_UNKNOWN);
	assert_false(result.qdiscs[0].ledger.have_kernel);
	result_free(&result);
}

/* A namespace that no tree was read of still has a name, and long names do not run over. */
static void test_join_without_trees(void **state)
{
	struct qdisc_tree empty = { 0 };
	struct tracer tracer = { .count = 2 };
	struct result result;
	struct error error;

	(void)state;
	tracer.records[0] = make_record();
	tracer.records[1] = make_record();
	memset(tracer.records[1].kind, 'k', sizeof(tracer.records[1].kind));
	memset(tracer.records[1].device, 'd', sizeof(tracer.records[1].device));
	tracer.records[1].parent = 0xfffefffe;
	tracer.records[1].handle = 0xffff0000;
	result_init(&result);
	assert_int_equal(ledger_join(&result, &tracer, &empty, &empty, &error), 0);
	assert_int_equal(result.qdisc_count, 2);
	assert_string_equal(result.qdiscs[0].netns_name, "net:[7]");
	assert_int_equal(result.qdiscs[0].ledger.agrees, LEDGER_UNKNOWN);
	assert_int_equal(strlen(result.qdiscs[1].kind), 15);
	assert_int_equal(strlen(result.qdiscs[1].device), 15);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_adds_up),
		cmocka_unit_test(test_one_packet_off),
		cmocka_unit_test(test_unaccounted_has_a_sign),
		cmocka_unit_test(test_requeue_under_way),
		cmocka_unit_test(test_inactive_device_counts_no_drop),
		cmocka_unit_test(test_made_during_the_window),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_long_reason),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_join_replaced),
		cmocka_unit_test(test_join_destroyed_after_the_dump),
		cmocka_unit_test(test_join_successor_without_packets),
		cmocka_unit_test(test_join_without_trees),
		cmocka_unit_test(test_base_of_late_qdisc),
		cmocka_unit_test(test_drops_not_counted),
		cmocka_unit_test(test_netem_reorders),
		cmocka_unit_test(test_stamped_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
