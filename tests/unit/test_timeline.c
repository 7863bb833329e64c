// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "synthetic.h"

#define SECOND	1000000000ULL
#define START	(1000 * SECOND)

static __u64 sum_of_legs(const struct probe *probe)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++)
		sum += probe->legs[i].ns;
	return sum;
}

/* Feed events and finish; the result is the caller's to free. */
static void run(struct result *result, const struct probe_event *events, unsigned int count)
{
	struct timeline *timeline = timeline_create();
	struct error error;

	assert_non_null(timeline);
	assert_int_equal(synthetic_result(result), 0);
	synthetic_feed(timeline, events, count);
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, result, &error), 0);
	timeline_free(timeline);
}

static void test_legs_of_the_whole_way(void **state)
{
	static const struct {
		enum leg_kind kind;
		const char *device;
		__u32 netns;
		bool reply;
	} expected[] = {
		{ LEG_DRIVER, "eth0", CLIENT, false },
		{ LEG_LINK, "lan0", ROUTER, false },
		{ LEG_STACK, "wan0", ROUTER, false },
		{ LEG_QDISC, "wan0", ROUTER, false },
		{ LEG_DRIVER, "wan0", ROUTER, false },
		{ LEG_LINK, "eth0", SERVER, false },
		{ LEG_STACK, "eth0", SERVER, true },
		{ LEG_DRIVER, "eth0", SERVER, true },
		{ LEG_LINK, "wan0", ROUTER, true },
		{ LEG_STACK, "lan0", ROUTER, true },
		{ LEG_DRIVER, "lan0", ROUTER, true },
		{ LEG_LINK, "eth0", CLIENT, true },
	};
	struct probe_event events[WAY_POINTS];
	const struct probe *probe;
	struct result result;
	unsigned int i;
	__u64 rtt;

	(void)state;
	rtt = synthetic_probe(events, 77, 9, START, 320000017);
	run(&result, events, WAY_POINTS);
	assert_int_equal(result.probe_count, 1);
	probe = result.probes;
	assert_true(probe->complete && probe->sent && !probe->lost);
	assert_int_equal(probe->id, 77);
	assert_int_equal(probe->sequence, 9);
	assert_int_equal(probe->sent_ns, START);
	assert_int_equal(probe->rtt_ns, rtt);
	assert_int_equal(probe->leg_count, 12);
	for (i = 0; i < 12; i++) {
		assert_int_equal(probe->legs[i].kind, expected[i].kind);
		assert_string_equal(probe->legs[i].device, expected[i].device);
		assert_int_equal(probe->legs[i].netns, expected[i].netns);
		assert_int_equal(probe->legs[i].reply, expected[i].reply);
		assert_int_equal(probe->legs[i].ns,
				 i + 1 == WAY_QDISC ? 320000017 : synthetic_way()[i + 1].ns);
		assert_int_equal(probe->legs[i].qdisc, i + 1 == WAY_QDISC ? 0 : RESULT_NO_QDISC);
	}
	assert_int_equal(sum_of_legs(probe), rtt);
	result_free(&result);
}

/* Without a hand-out event the qdisc was passed by: its leg ends at the driver, whatever it took. */
static void test_bypass(void **state)
{
	struct probe_event events[WAY_POINTS];
	struct result result;
	__u64 rtt;

	(void)state;
	rtt = synthetic_probe(events, 77, 1, START, 100);
	memmove(&events[WAY_QDISC], &events[WAY_QDISC + 1],
		(WAY_POINTS - WAY_QDISC - 1) * sizeof(*events));
	run(&result, events, WAY_POINTS - 1);
	assert_true(result.probes[0].complete);
	assert_int_equal(result.probes[0].leg_count, 11);
	assert_int_equal(result.probes[0].legs[3].kind, LEG_QDISC);
	assert_int_equal(result.probes[0].legs[3].qdisc, 0);
	assert_int_equal(result.probes[0].legs[3].ns, 100 + synthetic_way()[WAY_QDISC + 1].ns);
	assert_int_equal(sum_of_legs(&result.probes[0]), rtt);
	result_free(&result);
}

static void test_any_order_of_arrival(void **state)
{
	struct probe_event events[WAY_POINTS], shuffled[WAY_POINTS];
	struct result result;
	unsigned int i, turn;
	__u64 rtt;

	(void)state;
	rtt = synthetic_probe(events, 77, 1, START, 5000);
	for (turn = 1; turn < WAY_POINTS; turn++) {
		for (i = 0; i < WAY_POINTS; i++)
			shuffled[i] = events[(i * 4 + turn) % WAY_POINTS];
		run(&result, shuffled, WAY_POINTS);
		assert_int_equal(result.probe_count, 1);
		assert_true(result.probes[0].complete);
		assert_int_equal(result.probes[0].rtt_ns, rtt);
		assert_int_equal(sum_of_legs(&result.probes[0]), rtt);
		result_free(&result);
	}
}

/* Two or three points at one and the same ns, in any order: only the way itself can tell. */
static void test_ties(void **state)
{
	static const unsigned int orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 }
	};
	struct probe_event events[WAY_POINTS], tied[WAY_POINTS];
	unsigned int first, order, i;
	struct result result;
	__u64 rtt;

	(void)state;
	for (first = 0; first + 2 < WAY_ARRIVAL; first++) {
		for (order = 0; order < 6; order++) {
			rtt = synthetic_probe(events, 77, 1, START, 5000);
			events[first + 1].header.time_ns = events[first].header.time_ns;
			events[first + 2].header.time_ns = events[first].header.time_ns;
			memcpy(tied, events, sizeof(events));
			for (i = 0; i < 3; i++)
				tied[first + i] = events[first + orders[order][i]];
			run(&result, tied, WAY_POINTS);
			assert_int_equal(result.probe_count, 1);
			assert_true(result.probes[0].complete);
			assert_int_equal(result.probes[0].rtt_ns, rtt);
			assert_int_equal(result.probes[0].leg_count, 12);
			assert_int_equal(sum_of_legs(&result.probes[0]), rtt);
			result_free(&result);
		}
	}
}

static void test_each_missing_point_is_seen(void **state)
{
	struct probe_event events[WAY_POINTS], fewer[WAY_POINTS];
	struct result result;
	unsigned int missing;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	for (missing = 1; missing < WAY_ARRIVAL; missing++) {
		if (missing == WAY_QDISC)	/* a bypass, rightly */
			continue;
		memcpy(fewer, events, sizeof(events));
		memmove(&fewer[missing], &fewer[missing + 1],
			(WAY_POINTS - missing - 1) * sizeof(*fewer));
		run(&result, fewer, WAY_POINTS - 1);
		assert_int_equal(result.probe_count, 1);
		assert_false(result.probes[0].complete);
		assert_false(result.probes[0].lost);
		assert_int_equal(sum_of_legs(&result.probes[0]), result.probes[0].rtt_ns);
		result_free(&result);
	}
}

static void test_each_doubled_point_is_seen(void **state)
{
	struct probe_event events[WAY_POINTS], more[WAY_POINTS + 1];
	struct result result;
	unsigned int doubled;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	for (doubled = 0; doubled <= WAY_ARRIVAL; doubled++) {
		if (doubled == WAY_QDISC)	/* a requeue, rightly */
			continue;
		memcpy(more, events, sizeof(events));
		more[WAY_POINTS] = events[doubled];
		more[WAY_POINTS].header.time_ns += 1;
		run(&result, more, WAY_POINTS + 1);
		assert_int_equal(result.probe_count, 1);
		assert_false(result.probes[0].complete);
		result_free(&result);
	}
}

/* One packet, one sojourn, which ends at the last hand-out. */
static void test_requeue(void **state)
{
	struct probe_event events[WAY_POINTS + 2];
	struct result result;
	__u64 rtt, last;

	(void)state;
	rtt = synthetic_probe(events, 77, 1, START, 5000);
	memmove(&events[WAY_QDISC + 2], &events[WAY_QDISC],
		(WAY_POINTS - WAY_QDISC) * sizeof(*events));
	last = events[WAY_QDISC + 2].header.time_ns;
	events[WAY_QDISC].header.time_ns = last - 3000;
	events[WAY_QDISC + 1] = events[WAY_QDISC + 3];	/* the driver refused it */
	events[WAY_QDISC + 1].header.time_ns = last - 2900;
	run(&result, events, WAY_POINTS + 2);
	assert_true(result.probes[0].complete);
	assert_int_equal(result.probes[0].legs[3].kind, LEG_QDISC);
	assert_int_equal(result.probes[0].legs[3].ns, 5000);
	assert_int_equal(sum_of_legs(&result.probes[0]), rtt);
	result_free(&result);
}

static void test_dropped_in_the_qdisc(void **state)
{
	struct probe_event events[WAY_POINTS];
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	events[4] = events[3];
	events[4].point = PROBE_DROPPED;
	events[4].header.time_ns += 250;
	run(&result, events, 5);
	assert_true(result.probes[0].lost);
	assert_false(result.probes[0].complete);
	assert_int_equal(result.probes[0].rtt_ns, 0);
	assert_int_equal(result.probes[0].leg_count, 4);
	assert_int_equal(result.probes[0].legs[3].kind, LEG_QDISC);
	assert_int_equal(result.probes[0].legs[3].ns, 250);
	result_free(&result);
}

/* The same id and sequence again: another probe after the answer, or after 5 s without one. */
static void test_sequence_comes_again(void **state)
{
	struct probe_event events[3 * WAY_POINTS];
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 1000);
	synthetic_probe(events + WAY_POINTS, 77, 1, START + SECOND, 2000);
	run(&result, events, 2 * WAY_POINTS);
	assert_int_equal(result.probe_count, 2);
	assert_true(result.probes[0].complete && result.probes[1].complete);
	assert_int_equal(result.probes[1].sent_ns, START + SECOND);
	result_free(&result);

	/* Unanswered: only the first four events, then the same 6 s later. */
	synthetic_probe(events + 4, 77, 1, START + 6 * SECOND, 2000);
	run(&result, events, 4 + WAY_POINTS);
	assert_int_equal(result.probe_count, 2);
	assert_true(result.probes[0].lost);
	assert_true(result.probes[1].complete);
	result_free(&result);
}

static void test_ids_and_families_apart(void **state)
{
	struct probe_event events[3 * WAY_POINTS];
	struct result result;
	unsigned int i;

	(void)state;
	synthetic_probe(events, 78, 1, START + 500, 1000);
	synthetic_probe(events + WAY_POINTS, 77, 1, START, 2000);
	synthetic_probe(events + 2 * WAY_POINTS, 77, 1, START + 300, 3000);
	for (i = 2 * WAY_POINTS; i < 3 * WAY_POINTS; i++)
		events[i].family = AF_INET6;
	run(&result, events, 3 * WAY_POINTS);
	assert_int_equal(result.probe_count, 3);
	for (i = 0; i < 3; i++)
		assert_true(result.probes[i].complete);
	assert_int_equal(result.probes[0].id, 77);
	assert_true(result.probes[1].ipv6);
	assert_int_equal(result.probes[2].id, 78);
	result_free(&result);
}

/* An echo that did not start in the client's namespace is none of ours. */
static void test_foreign_echo(void **state)
{
	struct probe_event events[WAY_POINTS];
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	run(&result, events + 1, WAY_POINTS - 1);
	assert_int_equal(result.probe_count, 0);
	result_free(&result);
}

/* The chain without the server looks gapless by itself, but the other probes went by it. */
static void test_missing_host(void **state)
{
	struct probe_event events[3 * WAY_POINTS];
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	synthetic_probe(events + WAY_POINTS, 77, 2, START + SECOND, 5000);
	synthetic_probe(events + 2 * WAY_POINTS, 77, 3, START + 2 * SECOND, 5000);
	memmove(&events[2 * WAY_POINTS + 6], &events[2 * WAY_POINTS + 9],
		(WAY_POINTS - 9) * sizeof(*events));
	run(&result, events, 3 * WAY_POINTS - 3);
	assert_int_equal(result.probe_count, 3);
	assert_true(result.probes[0].complete && result.probes[1].complete);
	assert_false(result.probes[2].complete);
	assert_int_equal(sum_of_legs(&result.probes[2]), result.probes[2].rtt_ns);
	result_free(&result);
}

/* From and to this host without a router: the reply answers from beyond. */
static void test_answer_from_beyond_the_host(void **state)
{
	struct probe_event all[WAY_POINTS], events[3];
	struct result result;

	(void)state;
	synthetic_probe(all, 77, 1, START, 5000);
	events[0] = all[0];
	events[1] = all[1];
	events[2] = all[WAY_ARRIVAL];
	run(&result, events, 3);
	assert_true(result.probes[0].complete);
	assert_int_equal(result.probes[0].leg_count, 2);
	assert_int_equal(result.probes[0].legs[1].kind, LEG_LINK);
	assert_int_equal(sum_of_legs(&result.probes[0]), result.probes[0].rtt_ns);
	result_free(&result);
}

static void test_many_probes_with_wrapping_sequence(void **state)
{
	const unsigned int count = 70000;
	struct timeline *timeline = timeline_create();
	struct probe_event events[WAY_POINTS];
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	assert_non_null(timeline);
	assert_int_equal(synthetic_result(&result), 0);
	for (i = 0; i < count; i++) {
		synthetic_probe(events, 77, (__u16)(i + 1), START + i * 2000000ULL, i);
		synthetic_feed(timeline, events, WAY_POINTS);
	}
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, &result, &error), 0);
	timeline_free(timeline);
	assert_int_equal(result.probe_count, count);
	for (i = 0; i < count; i++) {
		assert_true(result.probes[i].complete);
		assert_int_equal(result.probes[i].sequence, (__u16)(i + 1));
		assert_int_equal(result.probes[i].legs[3].ns, i);
		assert_int_equal(sum_of_legs(&result.probes[i]), result.probes[i].rtt_ns);
	}
	result_free(&result);
}

static void test_ping_beside_probes(void **state)
{
	struct probe_event events[4 * WAY_POINTS];
	struct ping_reply replies[] = {
		{ .sequence = 1, .rtt_ns = 111 },
		{ .sequence = 3, .rtt_ns = 333 },
		{ .sequence = 3, .rtt_ns = 334, .duplicate = true },
		{ .sequence = 9, .rtt_ns = 999 },
	};
	struct ping_result ping = { .replies = replies, .count = 4 };
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	synthetic_probe(events + WAY_POINTS, 77, 2, START + SECOND, 5000);
	synthetic_probe(events + 2 * WAY_POINTS, 77, 3, START + 2 * SECOND, 5000);
	/* Another ping's probe of the same sequence, in the same window. */
	synthetic_probe(events + 3 * WAY_POINTS, 12, 1, START - 1000, 5000);
	run(&result, events, 4 * WAY_POINTS);
	/* Sequence 9 has no probe, probe 2 has no reply. */
	assert_int_equal(timeline_match_ping(result.probes, result.probe_count, &ping,
					     START - SECOND, START + 9 * SECOND), 2);
	assert_int_equal(result.probes[0].id, 12);
	assert_int_equal(result.probes[0].ping_rtt_ns, 0);
	assert_int_equal(result.probes[1].ping_rtt_ns, 111);
	assert_int_equal(result.probes[2].ping_rtt_ns, 0);
	assert_int_equal(result.probes[3].ping_rtt_ns, 333);
	result_free(&result);
}

/* Two pings one after the other use the same sequence numbers; each has its window. */
static void test_ping_windows(void **state)
{
	struct probe_event events[2 * WAY_POINTS];
	struct ping_reply reply = { .sequence = 1, .rtt_ns = 42 };
	struct ping_result ping = { .replies = &reply, .count = 1 };
	struct result result;

	(void)state;
	synthetic_probe(events, 77, 1, START, 5000);
	synthetic_probe(events + WAY_POINTS, 78, 1, START + 10 * SECOND, 5000);
	run(&result, events, 2 * WAY_POINTS);
	assert_int_equal(timeline_match_ping(result.probes, result.probe_count, &ping,
					     START + 9 * SECOND, START + 11 * SECOND), 0);
	assert_int_equal(result.probes[0].ping_rtt_ns, 0);
	assert_int_equal(result.probes[1].ping_rtt_ns, 42);
	assert_int_equal(timeline_match_ping(result.probes, result.probe_count, &ping,
					     START + 20 * SECOND, START + 21 * SECOND), 1);
	result_free(&result);
}

static void test_slices_are_kept(void **state)
{
	struct histogram_slice *banks = calloc(3, sizeof(*banks));
	struct timeline *timeline = timeline_create();
	struct tracer_sink sink = timeline_sink(timeline);
	struct tracer_slice slice = {
		.qdisc = RECORD, .begin_ns = 100, .end_ns = 200,
		.sojourn = &banks[0], .wait_before_drop = &banks[1], .part = &banks[2],
		.backlog_bytes_max = 4500, .backlog_packets_max = 3,
		.backlog_bytes_mean = 1500.5, .delta = { .rejected_packets = 2 },
	};
	const struct qdisc_sample *sample;
	struct result result;
	struct error error;

	(void)state;
	assert_non_null(banks);
	banks[0].count = 1;
	banks[0].sum = 65;
	banks[0].counts[10] = 2;
	banks[0].counts[HISTOGRAM_BUCKETS - 1] = -1;
	banks[2].count = 1;
	banks[2].sum = banks[2].min = banks[2].max = 31;
	banks[2].counts[31] = 1;
	assert_int_equal(synthetic_result(&result), 0);
	sink.slice(sink.context, &slice);
	slice.qdisc = RECORD + 1;	/* of no qdisc that is listed */
	sink.slice(sink.context, &slice);
	memset(banks, 0xff, 3 * sizeof(*banks));	/* valid during the call only */
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, &result, &error), 0);
	timeline_free(timeline);
	assert_int_equal(result.sample_count, 2);
	sample = result.samples;
	assert_int_equal(sample->qdisc, 0);
	assert_int_equal(result.samples[1].qdisc, RESULT_NO_QDISC);
	assert_int_equal(sample->sojourn.count, 1);
	assert_int_equal(sample->sojourn.sum, 65);
	assert_int_equal(sample->sojourn.part_count, 2);
	assert_int_equal(sample->sojourn.parts[0].bucket, 10);
	assert_int_equal(sample->sojourn.parts[0].count, 2);
	assert_int_equal(sample->sojourn.parts[1].bucket, HISTOGRAM_BUCKETS - 1);
	assert_int_equal(sample->sojourn.parts[1].count, -1);
	assert_int_equal(sample->before_drop.part_count, 0);
	assert_int_equal(sample->part.count, 1);
	assert_int_equal(sample->part.sum, 31);
	assert_int_equal(sample->part.part_count, 1);
	assert_int_equal(sample->part.parts[0].bucket, 31);
	assert_int_equal(sample->backlog_bytes_max, 4500);
	assert_int_equal(sample->delta.rejected_packets, 2);
	result_free(&result);
	free(banks);
}

static void test_tcp_is_sorted_by_time(void **state)
{
	struct timeline *timeline = timeline_create();
	struct tracer_sink sink = timeline_sink(timeline);
	struct tcp_event tcp = { .header.time_ns = 200, .cwnd = 2 };
	struct retransmit_event retransmit = { .header.time_ns = 50, .length = 1448 };
	struct result result;
	struct error error;

	(void)state;
	assert_int_equal(synthetic_result(&result), 0);
	sink.tcp(sink.context, &tcp);
	tcp.header.time_ns = 100;
	tcp.cwnd = 1;
	sink.tcp(sink.context, &tcp);
	sink.retransmit(sink.context, &retransmit);
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, &result, &error), 0);
	timeline_free(timeline);
	assert_int_equal(result.tcp_count, 2);
	assert_int_equal(result.tcp[0].cwnd, 1);
	assert_int_equal(result.tcp[1].cwnd, 2);
	assert_int_equal(result.retransmit_count, 1);
	assert_int_equal(result.retransmits[0].length, 1448);
	result_free(&result);
}

/* Two pings at once are told apart by their identifiers; a stranger's is nobody's. */
static void test_two_senders(void **state)
{
	static const struct probe_sender senders[] = { { CLIENT, 7 }, { CLIENT, 9 } };
	struct timeline *timeline = timeline_create();
	struct probe_event events[WAY_POINTS];
	struct side_probe_result *side;
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	assert_non_null(timeline);
	assert_int_equal(synthetic_result(&result), 0);
	for (i = 0; i < 6; i++) {
		synthetic_probe(events, 7 + i % 3, (__u16)(i + 1), START + i * SECOND, 5003);
		synthetic_feed(timeline, events, WAY_POINTS);
	}
	assert_int_equal(timeline_finish(timeline, senders, 2, &result, &error), 0);
	timeline_free(timeline);
	side = &result.side_probes[0];
	assert_int_equal(result.probe_count, 2);
	assert_int_equal(side->probe_count, 2);
	assert_int_equal(result.probes[1].sequence, 4);
	assert_int_equal(side->probes[0].id, 9);
	assert_int_equal(side->probes[1].sequence, 6);
	assert_true(side->probes[1].complete);
	assert_int_equal(sum_of_legs(&side->probes[1]), side->probes[1].rtt_ns);
	result_free(&result);
}

/* Of a client that is not traced only the ends of the RTT stay. */
static void test_hidden_client(void **state)
{
	struct probe_event events[WAY_POINTS];
	const __u64 rtt = synthetic_probe(events, 7, 1, START, 5003);
	const struct hop *way = synthetic_way();
	const struct probe *probe;
	struct result result;

	(void)state;
	run(&result, events, WAY_POINTS);
	assert_int_equal(result.probe_count, 1);
	timeline_hide_client(result.probes, result.probe_count, CLIENT);
	probe = &result.probes[0];
	assert_true(probe->complete);
	assert_int_equal(probe->rtt_ns, rtt);
	assert_int_equal(sum_of_legs(probe), rtt);
	assert_int_equal(probe->leg_count, WAY_ARRIVAL - 1);
	assert_int_equal(probe->legs[0].kind, LEG_LINK);
	assert_int_equal(probe->legs[0].netns, ROUTER);
	assert_string_equal(probe->legs[0].device, "lan0");
	assert_int_equal(probe->legs[0].ns, way[1].ns + way[2].ns);
	assert_int_equal(probe->legs[1].kind, LEG_STACK);
	/* Again: there is nothing left to hide. */
	timeline_hide_client(result.probes, result.probe_count, CLIENT);
	assert_int_equal(probe->leg_count, WAY_ARRIVAL - 1);
	assert_int_equal(sum_of_legs(probe), rtt);
	result_free(&result);
}

/* Nothing but the client in sight: all of the way is one link. A lost probe keeps its legs. */
static void test_hidden_client_alone(void **state)
{
	struct probe_event events[WAY_POINTS], seen[3];
	const __u64 rtt = synthetic_probe(events, 7, 1, START, 5003);
	struct result result;

	(void)state;
	seen[0] = events[0];
	seen[1] = events[1];
	seen[2] = events[WAY_ARRIVAL];
	run(&result, seen, 3);
	timeline_hide_client(result.probes, result.probe_count, CLIENT);
	assert_int_equal(result.probes[0].leg_count, 1);
	assert_int_equal(result.probes[0].legs[0].kind, LEG_LINK);
	assert_int_equal(result.probes[0].legs[0].ns, rtt);
	result_free(&result);

	run(&result, events, 2);
	timeline_hide_client(result.probes, result.probe_count, CLIENT);
	assert_true(result.probes[0].lost);
	assert_int_equal(result.probes[0].leg_count, 1);
	assert_int_equal(result.probes[0].legs[0].kind, LEG_DRIVER);
	result_free(&result);
}

/* ---- trees of qdiscs ---- */

#define WAY_OFFER	3	/* index of the offer to the root */

/* Times of a probe in a tree: before, in and after the child, ns. */
static __u64 tree_probe(struct probe_event events[WAY_POINTS + 1], __u64 before, __u64 inside,
			__u64 after)
{
	__u64 rtt = synthetic_probe(events, 77, 1, START, before + inside + after);
	__u64 offered = events[WAY_OFFER].header.time_ns;

	events[WAY_POINTS] = synthetic_hand_up(&events[WAY_OFFER], RECORD + TREE_LOADED,
					       offered + before, offered + before + inside);
	return rtt;
}

/* Feed and finish with the tree; the result is the caller's to free. */
static const struct probe *run_tree(struct result *result, const struct probe_event *events,
				    unsigned int count)
{
	struct timeline *timeline = timeline_create();
	struct error error;

	assert_non_null(timeline);
	synthetic_feed(timeline, events, count);
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, result, &error), 0);
	timeline_free(timeline);
	assert_int_equal(result->probe_count, 1);
	return result->probes;
}

static void assert_qdisc_leg(const struct leg *leg, __u32 qdisc, __u64 ns)
{
	assert_int_equal(leg->kind, LEG_QDISC);
	assert_int_equal(leg->qdisc, qdisc);
	assert_int_equal(leg->root, TREE_HTB);
	assert_string_equal(leg->device, "wan0");
	assert_int_equal(leg->netns, ROUTER);
	assert_int_equal(leg->ns, ns);
}

static void test_legs_in_a_tree(void **state)
{
	struct probe_event events[WAY_POINTS + 1];
	const struct probe *probe;
	struct result result;
	__u64 rtt;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	rtt = tree_probe(events, 1009, 300000007, 5003);
	probe = run_tree(&result, events, WAY_POINTS + 1);
	assert_true(probe->complete && !probe->lost);
	assert_int_equal(probe->event_count, WAY_POINTS);
	assert_int_equal(probe->hand_up_count, 1);
	assert_int_equal(probe->rtt_ns, rtt);
	assert_int_equal(probe->leg_count, 14);
	assert_qdisc_leg(&probe->legs[3], TREE_HTB, 1009);
	assert_qdisc_leg(&probe->legs[4], TREE_LOADED, 300000007);
	assert_qdisc_leg(&probe->legs[5], TREE_HTB, 5003);
	assert_int_equal(probe->legs[6].kind, LEG_DRIVER);
	assert_int_equal(sum_of_legs(probe), rtt);
	assert_int_equal(probe_time_in(&result, probe, TREE_HTB), 1009 + 300000007 + 5003);
	assert_int_equal(probe_time_in(&result, probe, TREE_LOADED), 300000007);
	assert_int_equal(probe_time_in(&result, probe, TREE_IDLE), 0);
	assert_int_equal(probe_exclusive_time_in(&result, probe, TREE_HTB), 1009 + 5003);
	assert_int_equal(probe_exclusive_time_in(&result, probe, TREE_LOADED), 300000007);
	result_free(&result);
}

/* Parts of no length are no legs, but a root that took no time at all is one. */
static void test_legs_without_length(void **state)
{
	struct probe_event events[WAY_POINTS + 1];
	const struct probe *probe;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	tree_probe(events, 0, 500, 0);
	probe = run_tree(&result, events, WAY_POINTS + 1);
	assert_true(probe->complete);
	assert_int_equal(probe->leg_count, 12);
	assert_qdisc_leg(&probe->legs[3], TREE_LOADED, 500);
	assert_int_equal(probe_time_in(&result, probe, TREE_HTB), 500);
	assert_int_equal(probe_exclusive_time_in(&result, probe, TREE_HTB), 0);
	result_free(&result);

	assert_int_equal(synthetic_tree(&result), 0);
	tree_probe(events, 0, 0, 0);
	probe = run_tree(&result, events, WAY_POINTS + 1);
	assert_int_equal(probe->leg_count, 12);
	assert_qdisc_leg(&probe->legs[3], TREE_HTB, 0);
	result_free(&result);
}

/*
 * Three levels, the events in any order; then the one in the middle for as long as
 * that below it, so that only their depths tell which is which.
 */
static void test_legs_of_three_levels(void **state)
{
	struct probe_event events[WAY_POINTS + 2], swapped;
	const struct probe *probe;
	struct result result;
	__u64 rtt, offered;
	unsigned int turn;

	(void)state;
	for (turn = 0; turn < 4; turn++) {
		assert_int_equal(synthetic_tree(&result), 0);
		synthetic_qdisc(&result, TREE_IDLE, "bfifo", 0, 0x1100001, TREE_LOADED);
		rtt = tree_probe(events, 100, turn < 2 ? 1000 : 700, 10);
		offered = events[WAY_OFFER].header.time_ns;
		events[WAY_POINTS + 1] = synthetic_hand_up(&events[WAY_OFFER],
							   RECORD + TREE_IDLE,
							   offered + (turn < 2 ? 300 : 100),
							   offered + 800);
		if (turn % 2) {
			swapped = events[WAY_POINTS];
			events[WAY_POINTS] = events[WAY_POINTS + 1];
			events[WAY_POINTS + 1] = swapped;
		}
		probe = run_tree(&result, events, WAY_POINTS + 2);
		assert_true(probe->complete);
		assert_int_equal(sum_of_legs(probe), rtt);
		assert_qdisc_leg(&probe->legs[3], TREE_HTB, 100);
		if (turn < 2) {
			assert_qdisc_leg(&probe->legs[4], TREE_LOADED, 200);
			assert_qdisc_leg(&probe->legs[5], TREE_IDLE, 500);
			assert_qdisc_leg(&probe->legs[6], TREE_LOADED, 300);
			assert_qdisc_leg(&probe->legs[7], TREE_HTB, 10);
		} else {
			assert_qdisc_leg(&probe->legs[4], TREE_IDLE, 700);
			assert_qdisc_leg(&probe->legs[5], TREE_HTB, 10);
		}
		assert_int_equal(probe_time_in(&result, probe, TREE_HTB),
				 turn < 2 ? 1110 : 810);
		assert_int_equal(probe_time_in(&result, probe, TREE_LOADED),
				 turn < 2 ? 1000 : 700);
		result_free(&result);
	}
}

/* What a child hands up where no root has the probe: something was not seen. */
static void test_hand_up_out_of_place(void **state)
{
	struct probe_event events[WAY_POINTS + 1];
	const struct probe *probe;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	tree_probe(events, 100, 1000, 10);
	events[WAY_POINTS].header.ifindex = 2;
	probe = run_tree(&result, events, WAY_POINTS + 1);
	assert_false(probe->complete || probe->lost);
	assert_int_equal(sum_of_legs(probe), probe->rtt_ns);
	assert_qdisc_leg(&probe->legs[3], TREE_HTB, 1110);
	result_free(&result);

	/* It came before the offer by another CPU's clock: never a leg below 0. */
	assert_int_equal(synthetic_tree(&result), 0);
	tree_probe(events, 100, 1000, 10);
	events[WAY_POINTS].since_ns -= 150;
	probe = run_tree(&result, events, WAY_POINTS + 1);
	assert_true(probe->complete);
	assert_qdisc_leg(&probe->legs[3], TREE_LOADED, 1100);
	assert_qdisc_leg(&probe->legs[4], TREE_HTB, 10);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legs_of_the_whole_way),
		cmocka_unit_test(test_bypass),
		cmocka_unit_test(test_any_order_of_arrival),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_each_missing_point_is_seen),
		cmocka_unit_test(test_each_doubled_point_is_seen),
		cmocka_unit_test(test_requeue),
		cmocka_unit_test(test_dropped_in_the_qdisc),
		cmocka_unit_test(test_sequence_comes_again),
		cmocka_unit_test(test_ids_and_families_apart),
		cmocka_unit_test(test_foreign_echo),
		cmocka_unit_test(test_missing_host),
		cmocka_unit_test(test_answer_from_beyond_the_host),
		cmocka_unit_test(test_many_probes_with_wrapping_sequence),
		cmocka_unit_test(test_two_senders),
		cmocka_unit_test(test_hidden_client),
		cmocka_unit_test(test_hidden_client_alone),
		cmocka_unit_test(test_ping_beside_probes),
		cmocka_unit_test(test_ping_windows),
		cmocka_unit_test(test_legs_in_a_tree),
		cmocka_unit_test(test_legs_without_length),
		cmocka_unit_test(test_legs_of_three_levels),
		cmocka_unit_test(test_hand_up_out_of_place),
		cmocka_unit_test(test_slices_are_kept),
		cmocka_unit_test(test_tcp_is_sorted_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
