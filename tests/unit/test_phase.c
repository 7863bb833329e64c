// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "phase.h"
#include "synthetic.h"

#define SECOND	1000000000ULL
#define MS	1000000ULL

static const struct phase_moments moments = {
	.begin_ns = 100 * SECOND,
	.loads[0] = { 103 * SECOND, 118 * SECOND },
	.end_ns = 126 * SECOND,
	.restored_begin_ns = 130 * SECOND,
	.restored_end_ns = 132 * SECOND,
};

static void assert_window(const struct phase *phase, __u64 begin, __u64 end)
{
	assert_true(phase->valid);
	assert_int_equal(phase->begin_ns, begin);
	assert_int_equal(phase->end_ns, end);
}

/* Phases that none but the windows are asked of. */
static struct result planned(enum load_direction direction)
{
	struct result result;

	result_init(&result);
	result.scenario.load.direction = direction;
	result_plan(&result);
	return result;
}

static void test_windows(void **state)
{
	struct result result = planned(LOAD_UP);

	(void)state;
	phase_windows(&result, &moments, SECOND, 2 * SECOND);
	assert_int_equal(result.phase_count, 4);
	assert_window(&result.phases[PHASE_IDLE], 100 * SECOND, 103 * SECOND);
	assert_window(&result.phases[PHASE_LOAD], 104 * SECOND, 117 * SECOND);
	assert_window(&result.phases[PHASE_RECOVERY], 120 * SECOND, 126 * SECOND);
	assert_window(&result.phases[PHASE_RESTORED], 130 * SECOND, 132 * SECOND);
	assert_int_equal(result.phases[PHASE_RECOVERY].plan.kind, PHASE_RECOVERY);
	assert_int_equal(result.phases[PHASE_LOAD].load.begin_ns, 103 * SECOND);
	assert_int_equal(result.phases[PHASE_LOAD].load.end_ns, 118 * SECOND);
}

/* A run that was cut short has the phases that it reached, and no empty ones. */
static void test_windows_of_a_short_run(void **state)
{
	struct result result = planned(LOAD_UP);
	struct phase *phases = result.phases;
	struct phase_moments early = { .begin_ns = 5, .end_ns = 9 };

	(void)state;
	phase_windows(&result, &early, SECOND, SECOND);
	assert_window(&phases[PHASE_IDLE], 5, 9);
	assert_false(phases[PHASE_LOAD].valid || phases[PHASE_RECOVERY].valid ||
		     phases[PHASE_RESTORED].valid);

	early.loads[0].begin_ns = 7;
	phase_windows(&result, &early, 0, 0);
	assert_window(&phases[PHASE_IDLE], 5, 7);
	assert_false(phases[PHASE_LOAD].valid || phases[PHASE_RECOVERY].valid);

	early.loads[0].end_ns = 9;
	phase_windows(&result, &early, 1, 0);
	assert_false(phases[PHASE_LOAD].valid);		/* the margins leave nothing */
	assert_false(phases[PHASE_RECOVERY].valid);
	phase_windows(&result, &early, 0, 0);
	assert_window(&phases[PHASE_LOAD], 7, 9);

	memset(&early, 0, sizeof(early));
	phase_windows(&result, &early, SECOND, SECOND);
	assert_false(phases[PHASE_IDLE].valid);
}

/* Margins wider than any time must not wrap around. */
static void test_windows_with_huge_margins(void **state)
{
	struct result result = planned(LOAD_UP);

	(void)state;
	phase_windows(&result, &moments, 1ULL << 63, 100 * SECOND);
	assert_false(result.phases[PHASE_LOAD].valid);
	assert_false(result.phases[PHASE_RECOVERY].valid);
}

/* Two loads: each has a window of its own, and a recovery that ends with the next one. */
static void test_windows_of_two_loads(void **state)
{
	static const char *const names[] = {
		"idle", "upload", "between", "download", "recovery", "restored"
	};
	struct result result = planned(LOAD_EACH);
	struct phase_moments two = moments;
	unsigned int i;

	(void)state;
	two.loads[0].end_ns = 108 * SECOND;
	two.loads[1].begin_ns = 112 * SECOND;
	two.loads[1].end_ns = 119 * SECOND;
	phase_windows(&result, &two, SECOND, 2 * SECOND);
	assert_int_equal(result.phase_count, 6);
	for (i = 0; i < 6; i++)
		assert_string_equal(result.phases[i].plan.name, names[i]);
	assert_window(&result.phases[0], 100 * SECOND, 103 * SECOND);
	assert_window(&result.phases[1], 104 * SECOND, 107 * SECOND);
	assert_window(&result.phases[2], 110 * SECOND, 112 * SECOND);
	assert_window(&result.phases[3], 113 * SECOND, 118 * SECOND);
	assert_window(&result.phases[4], 121 * SECOND, 126 * SECOND);
	assert_window(&result.phases[5], 130 * SECOND, 132 * SECOND);
	assert_int_equal(result.phases[1].plan.direction, LOAD_UP);
	assert_int_equal(result.phases[3].plan.direction, LOAD_DOWN);
	assert_int_equal(result.phases[3].load.begin_ns, 112 * SECOND);

	/* The first load ended when the second was due: nothing lies between. */
	two.loads[0].end_ns = two.loads[1].begin_ns;
	phase_windows(&result, &two, SECOND, 2 * SECOND);
	assert_window(&result.phases[1], 104 * SECOND, 111 * SECOND);
	assert_false(result.phases[2].valid);
	assert_true(result.phases[3].valid);

	/* It never got to the second one. */
	memset(&two.loads[1], 0, sizeof(two.loads[1]));
	phase_windows(&result, &two, SECOND, 2 * SECOND);
	assert_window(&result.phases[2], 114 * SECOND, 126 * SECOND);
	assert_false(result.phases[3].valid || result.phases[4].valid);
}

static void test_load_of_a_phase(void **state)
{
	struct result result = planned(LOAD_EACH);
	const struct phase *phases = result.phases;

	(void)state;
	assert_ptr_equal(result_load_of(&result, &phases[0]), &phases[1]);
	assert_ptr_equal(result_load_of(&result, &phases[1]), &phases[1]);
	assert_ptr_equal(result_load_of(&result, &phases[2]), &phases[1]);
	assert_ptr_equal(result_load_of(&result, &phases[3]), &phases[3]);
	assert_ptr_equal(result_load_of(&result, &phases[5]), &phases[3]);
	assert_ptr_equal(result_phase(&result, PHASE_LOAD), &phases[1]);
	assert_ptr_equal(result_phase(&result, PHASE_RECOVERY), &phases[2]);
	result.phase_count = 0;
	assert_null(result_phase(&result, PHASE_IDLE));
}

static void begin(struct result *result)
{
	assert_int_equal(synthetic_result(result), 0);
	phase_windows(result, &moments, SECOND, 2 * SECOND);
	result->scenario.load.proto = LOAD_TCP;
}

static void add_probes(struct result *result, const __u64 *sent, unsigned int count)
{
	unsigned int i;

	result->probes = calloc(count, sizeof(*result->probes));
	assert_non_null(result->probes);
	result->probe_count = count;
	for (i = 0; i < count; i++) {
		result->probes[i].sent = true;
		result->probes[i].sent_ns = sent[i];
		result->probes[i].rtt_ns = (i + 1) * MS;
		result->probes[i].phase = 42;
	}
}

/* Windows hold their first moment and not their end; the sending time decides. */
static void test_probes_at_the_boundaries(void **state)
{
	static const __u64 sent[] = {
		100 * SECOND - 1, 100 * SECOND, 103 * SECOND - 1, 103 * SECOND,
		104 * SECOND - 1, 104 * SECOND, 117 * SECOND - 1, 117 * SECOND,
		120 * SECOND, 126 * SECOND, 130 * SECOND, 132 * SECOND,
	};
	static const int expected[] = {
		-1, PHASE_IDLE, PHASE_IDLE, -1, -1, PHASE_LOAD, PHASE_LOAD, -1,
		PHASE_RECOVERY, -1, PHASE_RESTORED, -1,
	};
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	begin(&result);
	add_probes(&result, sent, 12);
	result.probes[6].lost = true;
	result.probes[6].rtt_ns = 0;
	result.probes[8].sent = false;
	assert_int_equal(phase_fill(&result, &error), 0);
	for (i = 0; i < 12; i++)
		assert_int_equal(result.probes[i].phase, i == 8 ? -1 : expected[i]);
	assert_int_equal(result.phases[PHASE_IDLE].sent, 2);
	assert_int_equal(result.phases[PHASE_IDLE].received, 2);
	assert_int_equal(result.phases[PHASE_IDLE].rtt.min, 2 * MS);
	assert_int_equal(result.phases[PHASE_IDLE].rtt.max, 3 * MS);
	assert_int_equal(result.phases[PHASE_LOAD].sent, 2);
	assert_int_equal(result.phases[PHASE_LOAD].lost, 1);
	assert_int_equal(result.phases[PHASE_LOAD].rtt.count, 1);
	assert_int_equal(result.phases[PHASE_LOAD].rtt.p50, 6 * MS);
	assert_int_equal(result.phases[PHASE_RECOVERY].sent, 0);
	assert_int_equal(result.phases[PHASE_RESTORED].received, 1);
	/* Again, as after a change of the windows: counts do not pile up. */
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_IDLE].sent, 2);
	result_free(&result);
}

static void add_part(struct sample_histogram *sample, __u64 value, __s32 count)
{
	sample->parts = calloc(1, sizeof(*sample->parts));
	assert_non_null(sample->parts);
	sample->part_count = 1;
	sample->parts->bucket = (__u16)histogram_bucket(value);
	sample->parts->count = count;
}

static struct qdisc_sample make_sample(__u64 begin_ns, __u64 end_ns, __u64 value, __s32 count)
{
	struct qdisc_sample sample = {
		.begin_ns = begin_ns, .end_ns = end_ns,
		.sojourn = { .count = count, .sum = (__s64)value * count, .min = value,
			     .max = value },
		.backlog_bytes_max = (__u64)count * 1000, .backlog_packets_max = (__u64)count,
		.backlog_bytes_mean = count,
		.delta = { .rejected_packets = 1, .dropped_packets = 2 },
	};

	add_part(&sample.sojourn, value, count);
	return sample;
}

static void test_slices_wholly_within(void **state)
{
	const __u64 begin_ns = 104 * SECOND, end_ns = 117 * SECOND;
	struct phase_qdisc *qdisc;
	struct result result;
	struct error error;

	(void)state;
	begin(&result);
	result.samples = calloc(6, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.samples[0] = make_sample(begin_ns - 1, begin_ns + 100, 5, 1000);
	result.samples[1] = make_sample(begin_ns, begin_ns + 100, 10, 30);
	result.samples[2] = make_sample(end_ns - 300, end_ns, 20, 10);
	result.samples[3] = make_sample(end_ns - 100, end_ns + 1, 6, 1000);
	result.samples[4] = make_sample(begin_ns, begin_ns + 100, 7, 1000);
	result.samples[4].qdisc = RESULT_NO_QDISC;
	result.samples[5] = make_sample(50 * SECOND, 51 * SECOND, 8, 1000);
	result.sample_count = 6;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].qdisc_count, 1);
	qdisc = &result.phases[PHASE_LOAD].qdiscs[0];
	assert_int_equal(qdisc->qdisc, 0);
	assert_int_equal(qdisc->packets, 40);
	assert_int_equal(qdisc->summary.p50, 10);
	assert_int_equal(qdisc->summary.p90, 20);
	assert_int_equal(qdisc->summary.min, 10);
	assert_int_equal(qdisc->summary.max, 20);
	assert_true(qdisc->summary.mean == 12.5);
	assert_int_equal(qdisc->drops, 6);
	assert_int_equal(qdisc->backlog_bytes_max, 30000);
	assert_int_equal(qdisc->backlog_packets_max, 30);
	/* 100 ns with 30 bytes, 300 ns with 10. */
	assert_true(fabs(qdisc->backlog_bytes_mean - 15) < 1e-9);
	assert_true(isnan(qdisc->share));
	assert_int_equal(result.phases[PHASE_IDLE].qdiscs[0].packets, 0);
	result_free(&result);
}

/* What a requeue takes back in one slice it gave in another: only the sum counts. */
static void test_requeue_over_two_slices(void **state)
{
	const __u64 begin_ns = 104 * SECOND;
	struct result result;
	struct error error;

	(void)state;
	begin(&result);
	result.samples = calloc(3, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.samples[0] = make_sample(begin_ns, begin_ns + 100, 10, 5);
	result.samples[1] = make_sample(begin_ns + 100, begin_ns + 200, 10, -1);
	result.samples[1].backlog_bytes_max = result.samples[1].backlog_packets_max = 0;
	result.samples[2] = make_sample(begin_ns + 100, begin_ns + 200, 40, 1);
	result.sample_count = 3;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].qdiscs[0].packets, 5);
	assert_int_equal(result.phases[PHASE_LOAD].qdiscs[0].summary.p50, 10);
	assert_int_equal(result.phases[PHASE_LOAD].qdiscs[0].summary.p90, 40);
	assert_true(result.phases[PHASE_LOAD].qdiscs[0].summary.mean == 16);
	assert_int_equal(histogram_negative(&result.phases[PHASE_LOAD].qdiscs[0].sojourn), 0);
	result_free(&result);
}

/* A probe that passes the qdisc there and back: both legs are its own sojourn. */
static void test_own_median(void **state)
{
	static const __u64 sent[] = { 105 * SECOND, 106 * SECOND, 107 * SECOND };
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	begin(&result);
	add_probes(&result, sent, 3);
	for (i = 0; i < 3; i++) {
		result.probes[i].legs = calloc(3, sizeof(struct leg));
		assert_non_null(result.probes[i].legs);
		result.probes[i].leg_count = 3;
		result.probes[i].legs[0] = (struct leg) { .kind = LEG_QDISC, .qdisc = 0, .ns = i * 100 };
		result.probes[i].legs[1] = (struct leg) { .kind = LEG_STACK,
							  .qdisc = RESULT_NO_QDISC, .ns = 7777 };
		result.probes[i].legs[2] = (struct leg) { .kind = LEG_QDISC, .qdisc = 0, .ns = 11 };
	}
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].qdiscs[0].own_median_ns, 111);
	result_free(&result);
}

/* A parent's part is its exclusive time, a leaf's exclusive time its sojourn. */
static void test_exclusive_times(void **state)
{
	const __u64 begin_ns = 104 * SECOND;
	const struct phase_qdisc *qdiscs;
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	phase_windows(&result, &moments, SECOND, SECOND);
	result.samples = calloc(4, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 4;
	for (i = 0; i < 2; i++) {
		result.samples[2 * i] = make_sample(begin_ns + i, begin_ns + i + 1, 50 + i, 10);
		result.samples[2 * i].part = (struct sample_histogram){
			.count = 10, .sum = 40 + (__s64)i * 10, .min = 4 + i, .max = 4 + i,
		};
		add_part(&result.samples[2 * i].part, 4 + i, 10);
		result.samples[2 * i + 1] = make_sample(begin_ns + i, begin_ns + i + 1, 46, 10);
		result.samples[2 * i + 1].qdisc = TREE_LOADED;
		result.samples[2 * i + 1].delta.drops_here = 3;
	}
	assert_int_equal(phase_fill(&result, &error), 0);
	qdiscs = result.phases[PHASE_LOAD].qdiscs;
	assert_true(qdiscs[TREE_HTB].have_exclusive && qdiscs[TREE_LOADED].have_exclusive);
	assert_int_equal(qdiscs[TREE_HTB].exclusive.count, 20);
	assert_int_equal(qdiscs[TREE_HTB].exclusive.min, 4);
	assert_int_equal(qdiscs[TREE_HTB].exclusive.p50, 4);
	assert_int_equal(qdiscs[TREE_HTB].exclusive.max, 5);
	assert_true(qdiscs[TREE_HTB].exclusive.mean == 4.5);
	assert_int_equal(qdiscs[TREE_LOADED].exclusive.p50, 46);
	/* Along the path they add up. */
	assert_true(qdiscs[TREE_HTB].exclusive.mean + qdiscs[TREE_LOADED].exclusive.mean ==
		    qdiscs[TREE_HTB].summary.mean);
	assert_int_equal(qdiscs[TREE_IDLE].exclusive.count, 0);
	assert_int_equal(qdiscs[TREE_HTB].drops, 6);
	assert_int_equal(qdiscs[TREE_HTB].drops_here, 0);
	assert_int_equal(qdiscs[TREE_LOADED].drops_here, 6);
	assert_false(qdiscs[TREE_HTB].have_paced || qdiscs[TREE_LOADED].have_paced);

	/* Where only roots are seen the parent's is not known. */
	snprintf(result.tier, sizeof(result.tier), "tracepoints");
	result.qdiscs[TREE_LOADED].traced = result.qdiscs[TREE_IDLE].traced = false;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].qdisc_count, 1);
	assert_false(result.phases[PHASE_LOAD].qdiscs[0].have_exclusive);
	result.qdisc_count = 1;		/* a parent without children is alone in either tier */
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].qdiscs[0].exclusive.max, 51);
	result_free(&result);
}

/*
 * Tracepoints tier: of a root with a leaf that is told by stamps the part is the time
 * outside of that leaf, however deep it lies.
 */
static void test_exclusive_times_by_stamps(void **state)
{
	const __u64 begin_ns = 104 * SECOND;
	const struct phase_qdisc *qdisc;
	struct result result;
	struct error error;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	phase_windows(&result, &moments, SECOND, SECOND);
	snprintf(result.tier, sizeof(result.tier), "tracepoints");
	result.qdiscs[TREE_IDLE].traced = false;
	result.qdiscs[TREE_LOADED].parent_qdisc = TREE_IDLE;
	result.samples = calloc(1, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 1;
	result.samples[0] = make_sample(begin_ns, begin_ns + 1, 50, 10);
	result.samples[0].part = (struct sample_histogram){
		.count = 10, .sum = 40, .min = 4, .max = 4,
	};
	add_part(&result.samples[0].part, 4, 10);
	assert_int_equal(phase_fill(&result, &error), 0);
	qdisc = &result.phases[PHASE_LOAD].qdiscs[0];
	assert_true(qdisc->have_exclusive);
	assert_int_equal(qdisc->exclusive.count, 10);
	assert_int_equal(qdisc->exclusive.max, 4);

	result.qdiscs[TREE_HTB].is_parent = false;
	assert_false(phase_part_is_exclusive(&result, TREE_HTB));
	result.qdiscs[TREE_HTB].is_parent = true;
	result.qdiscs[TREE_LOADED].traced = false;
	assert_false(phase_part_is_exclusive(&result, TREE_HTB));
	result.qdiscs[TREE_LOADED].traced = true;
	result.qdiscs[TREE_LOADED].parent_qdisc = RESULT_NO_QDISC;
	assert_false(phase_part_is_exclusive(&result, TREE_HTB));
	result_free(&result);
}

/* Of one that paces the part is the time up to the packets' departure times, in either tier. */
static void test_paced_times(void **state)
{
	const __u64 begin_ns = 104 * SECOND;
	const struct phase_qdisc *qdisc;
	struct result result;
	struct error error;

	(void)state;
	begin(&result);
	result.qdiscs[0].paces = true;
	result.samples = calloc(1, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 1;
	result.samples[0] = make_sample(begin_ns, begin_ns + 100, 60, 10);
	result.samples[0].part = (struct sample_histogram){
		.count = 10, .sum = 500, .min = 50, .max = 50,
	};
	add_part(&result.samples[0].part, 50, 10);
	assert_int_equal(phase_fill(&result, &error), 0);
	qdisc = &result.phases[PHASE_LOAD].qdiscs[0];
	assert_true(qdisc->have_paced && qdisc->have_exclusive);
	assert_int_equal(qdisc->paced.p50, 50);
	assert_int_equal(qdisc->exclusive.p50, 60);
	result_free(&result);
}

/* Medians of the probes' own time, in the root with what is below it and in it alone. */
static void test_own_medians_in_a_tree(void **state)
{
	static const __u64 sent[] = { 105 * SECOND, 106 * SECOND, 107 * SECOND };
	const struct phase_qdisc *qdiscs;
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	phase_windows(&result, &moments, SECOND, SECOND);
	add_probes(&result, sent, 3);
	for (i = 0; i < 3; i++) {
		result.probes[i].legs = calloc(2, sizeof(struct leg));
		assert_non_null(result.probes[i].legs);
		result.probes[i].leg_count = 2;
		result.probes[i].legs[0] = (struct leg) { .kind = LEG_QDISC, .qdisc = TREE_HTB,
							  .root = TREE_HTB, .ns = 7 + i };
		result.probes[i].legs[1] = (struct leg) { .kind = LEG_QDISC, .qdisc = TREE_LOADED,
							  .root = TREE_HTB, .ns = 100 * i };
	}
	assert_int_equal(phase_fill(&result, &error), 0);
	qdiscs = result.phases[PHASE_LOAD].qdiscs;
	assert_int_equal(qdiscs[TREE_HTB].own_median_ns, 108);
	assert_int_equal(qdiscs[TREE_HTB].own_exclusive_median_ns, 8);
	assert_int_equal(qdiscs[TREE_LOADED].own_median_ns, 100);
	assert_int_equal(qdiscs[TREE_LOADED].own_exclusive_median_ns, 100);
	assert_int_equal(qdiscs[TREE_IDLE].own_median_ns, 0);
	result_free(&result);
}

static struct tcp_event make_tcp(__u64 time_ns, __u16 port, __u32 srtt_us, __u32 cwnd, __u64 acked)
{
	return (struct tcp_event) {
		.header = { .type = EVENT_TCP, .time_ns = time_ns, .netns = CLIENT },
		.ends = { .family = AF_INET, .local_port = port, .remote_port = 5201 },
		.srtt_us = srtt_us, .cwnd = cwnd, .bytes_acked = acked,
	};
}

static void test_tcp_of_the_senders(void **state)
{
	const __u64 load = 105 * SECOND;
	struct result result;
	struct error error;

	(void)state;
	begin(&result);
	result.tcp = calloc(8, sizeof(*result.tcp));
	assert_non_null(result.tcp);
	result.tcp[0] = make_tcp(load, 40001, 300000, 10, 100);
	result.tcp[1] = make_tcp(load + 1, 40001, 320000, 20, 9000000);
	result.tcp[2] = make_tcp(load + 2, 40002, 310000, 30, 8000000);
	result.tcp[3] = make_tcp(load + 3, 40000, 55, 99, 500);		/* control connection */
	result.tcp[4] = make_tcp(load + 4, 5201, 66, 88, 0);		/* receiving end */
	result.tcp[5] = make_tcp(103 * SECOND, 40001, 10, 5, 50);	/* in the margin */
	result.tcp[6] = make_tcp(117 * SECOND, 40002, 999999, 77, 8000001);
	result.tcp_count = 7;
	result.retransmits = calloc(3, sizeof(*result.retransmits));
	assert_non_null(result.retransmits);
	result.retransmits[0].header.time_ns = 104 * SECOND;
	result.retransmits[1].header.time_ns = 117 * SECOND - 1;
	result.retransmits[2].header.time_ns = 117 * SECOND;
	result.retransmit_count = 3;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].srtt.count, 3);
	assert_int_equal(result.phases[PHASE_LOAD].srtt.p50, 310 * MS);
	assert_int_equal(result.phases[PHASE_LOAD].srtt.max, 320 * MS);
	assert_int_equal(result.phases[PHASE_LOAD].cwnd.p50, 20);
	assert_int_equal(result.phases[PHASE_LOAD].retransmits, 2);
	assert_int_equal(result.phases[PHASE_IDLE].srtt.count, 0);

	result.scenario.load.proto = LOAD_UDP;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_LOAD].srtt.count, 0);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_windows_of_a_short_run),
		cmocka_unit_test(test_windows_with_huge_margins),
		cmocka_unit_test(test_probes_at_the_boundaries),
		cmocka_unit_test(test_slices_wholly_within),
		cmocka_unit_test(test_requeue_over_two_slices),
		cmocka_unit_test(test_own_median),
		cmocka_unit_test(test_exclusive_times),
		cmocka_unit_test(test_exclusive_times_by_stamps),
		cmocka_unit_test(test_paced_times),
		cmocka_unit_test(test_own_medians_in_a_tree),
		cmocka_unit_test(test_tcp_of_the_senders),
		cmocka_unit_test(test_windows_of_two_loads),
		cmocka_unit_test(test_load_of_a_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
