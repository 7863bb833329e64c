/* SPDX-License-Identifier: GPL-2.0 */
/* A made-up result that has something of everything: probes, samples, a load, TCP, ledgers. */
#ifndef SOJOURN_TESTS_WHOLE_RESULT_H
#define SOJOURN_TESTS_WHOLE_RESULT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "attribution.h"
#include "load_shape.h"
#include "phase.h"
#include "synthetic.h"

#define SECOND	1000000000ULL
#define MS	1000000ULL
#define US	1000ULL

/* More than 2^53: a double would round it. */
#define BIG	9007199254740993ULL

static const struct phase_moments moments = {
	.begin_ns = 100 * SECOND,
	.loads[0] = { 103 * SECOND, 118 * SECOND },
	.end_ns = 126 * SECOND,
	.restored_begin_ns = 130 * SECOND,
	.restored_end_ns = 132 * SECOND,
};

static inline void fill_samples(struct result *result)
{
	struct qdisc_sample *sample;
	unsigned int i;

	result->samples = calloc(10, sizeof(*result->samples));
	assert_non_null(result->samples);
	result->sample_count = 10;
	for (i = 0; i < 10; i++) {
		sample = &result->samples[i];
		*sample = (struct qdisc_sample) {
			.begin_ns = 105 * SECOND + i * 100 * MS,
			.end_ns = 105 * SECOND + (i + 1) * 100 * MS,
			.sojourn = { .count = 83, .sum = 83 * 320 * (__s64)MS, .min = 300 * MS,
				     .max = 340 * MS },
			.backlog_bytes_max = 400000 + i, .backlog_packets_max = 264,
			.backlog_bytes_mean = 390000.5, .backlog_packets_mean = 257.5,
			.backlog_bytes = 395000, .backlog_packets = 261,
			.delta = { .rejected_packets = 2 },
		};
		sample->sojourn.parts = calloc(2, sizeof(*sample->sojourn.parts));
		assert_non_null(sample->sojourn.parts);
		sample->sojourn.part_count = 2;
		sample->sojourn.parts[0] = (struct histogram_part) { histogram_bucket(300 * MS), 3 };
		sample->sojourn.parts[1] = (struct histogram_part) { histogram_bucket(320 * MS), 80 };
	}
}

static inline void fill_probes(struct result *result)
{
	struct timeline *timeline = timeline_create();
	struct probe_event events[WAY_POINTS];
	struct error error;
	unsigned int i;

	assert_non_null(timeline);
	for (i = 0; i < 260; i++) {
		__u64 sent = 100 * SECOND + i * 100 * MS;
		bool loaded = sent >= 103 * SECOND && sent < 118 * SECOND;

		synthetic_probe(events, 7, (__u16)(i + 1), sent, loaded ? 320 * MS : 15 * US);
		synthetic_feed(timeline, events, i == 50 ? 4 : WAY_POINTS);
	}
	for (i = 0; i < 20; i++) {
		synthetic_probe(events, 8, (__u16)(i + 1), 130 * SECOND + i * 100 * MS, 15 * US);
		synthetic_feed(timeline, events, WAY_POINTS);
	}
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, result, &error), 0);
	timeline_free(timeline);
	result->probes[0].ping_rtt_ns = 61000;
}

static inline void fill_ledgers(struct result *result)
{
	struct ledger *ledger = &result->qdiscs[0].ledger;

	*ledger = (struct ledger) {
		.offered = BIG, .measured = BIG - 120, .rejected = 112, .dropped_inside = 5,
		.queued = 3, .requeued = 1, .rejected_skbs = 112, .dropped_skbs = 9,
		.parts_refused = 4, .have_kernel = true,
		.kernel = { .packets = BIG - 120, .bytes = BIG + 2, .drops = 117, .requeues = 1,
			    .overlimits = 77, .backlog_packets = 3, .backlog_bytes = 4500 },
		.agrees = LEDGER_AGREES,
	};
	result->qdiscs[1].ledger.agrees = LEDGER_UNKNOWN;
	snprintf(result->qdiscs[1].ledger.why, sizeof(result->qdiscs[1].ledger.why),
		 "a child qdisc: this tier measures roots");
}

static inline void fill_qdiscs(struct result *result)
{
	struct result_qdisc *child;

	assert_int_equal(synthetic_result(result), 0);
	result->qdiscs = reallocarray(result->qdiscs, 3, sizeof(*result->qdiscs));
	assert_non_null(result->qdiscs);
	result->qdisc_count = 3;
	result->qdiscs[0].parent_qdisc = RESULT_NO_QDISC;
	child = &result->qdiscs[1];
	*child = result->qdiscs[0];
	snprintf(child->id, sizeof(child->id), "pl-router/wan0/0/bfifo/0:@10:1");
	snprintf(child->kind, sizeof(child->kind), "bfifo");
	child->traced = child->root = child->have_info = false;
	child->parent_qdisc = 0;
	child->handle = 0;
	child->parent = 0x100001;
	result->qdiscs[2] = result->qdiscs[0];
	snprintf(result->qdiscs[2].id, sizeof(result->qdiscs[2].id), "pl-client/eth\"0/0/pfifo/20:");
	snprintf(result->qdiscs[2].netns_name, sizeof(result->qdiscs[2].netns_name), "pl-client");
	snprintf(result->qdiscs[2].device, sizeof(result->qdiscs[2].device), "eth\"0");
	snprintf(result->qdiscs[2].kind, sizeof(result->qdiscs[2].kind), "pfifo");
	result->qdiscs[2].netns = CLIENT;
	result->qdiscs[2].ifindex = 2;
	result->qdiscs[2].handle = 0x200000;
	result->qdiscs[2].record = RECORD + 1;
	fill_ledgers(result);
}

static inline void fill_iperf3(struct result *result)
{
	struct iperf3_result *iperf3 = &result->phases[PHASE_LOAD].load.iperf3;

	result->phases[PHASE_LOAD].load.have_iperf3 = true;
	snprintf(iperf3->version, sizeof(iperf3->version), "iperf 3.12");
	snprintf(iperf3->congestion, sizeof(iperf3->congestion), "cubic");
	iperf3->sent = (struct iperf3_sum) { true, 10.6e6, 19875000, 15, 34, -1, -1, -1 };
	iperf3->received = (struct iperf3_sum) { true, 9.57e6, 18300000, 15.3, -1, -1, -1, -1 };
	iperf3->intervals = calloc(2, sizeof(*iperf3->intervals));
	assert_non_null(iperf3->intervals);
	iperf3->interval_count = 2;
	iperf3->intervals[0] = (struct iperf3_interval) { 0, 0.1, 9e6, 2, 320000, 500000, true, 4e6 };
	iperf3->intervals[1] = (struct iperf3_interval) { 0.1, 0.2, NAN, -1, -1, -1, false, 0 };
	result->phases[PHASE_LOAD].load.command = calloc(4, sizeof(char *));
	assert_non_null(result->phases[PHASE_LOAD].load.command);
	result->phases[PHASE_LOAD].load.command[0] = strdup("/usr/bin/iperf3");
	result->phases[PHASE_LOAD].load.command[1] = strdup("-c");
	result->phases[PHASE_LOAD].load.command[2] = strdup("198.51.100.10");
}

static inline void fill_tcp(struct result *result)
{
	result->tcp = calloc(2, sizeof(*result->tcp));
	result->retransmits = calloc(1, sizeof(*result->retransmits));
	assert_true(result->tcp && result->retransmits);
	result->tcp_count = 2;
	result->tcp[0] = (struct tcp_event) {
		.header = { EVENT_TCP, 0, 105 * SECOND, CLIENT, 0 }, .ends = {
			.family = AF_INET, .local_port = 40001, .remote_port = 5201,
			.local = { 192, 0, 2, 10 }, .remote = { 198, 51, 100, 10 },
		},
		.srtt_us = 320000, .cwnd = 350,
		.ssthresh = 0x7fffffff, .in_flight = 340, .pacing_rate = ~0ULL,
		.bytes_acked = BIG, .total_retransmits = 3, .mss = 1448,
	};
	result->tcp[1] = result->tcp[0];
	result->tcp[1].ends.family = AF_INET6;
	result->tcp[1].ends.local[0] = 0x20;
	result->tcp[1].ssthresh = 44;
	result->tcp[1].pacing_rate = 1000;
	result->retransmit_count = 1;
	result->retransmits[0] = (struct retransmit_event) {
		.header = { EVENT_RETRANSMIT, 0, 106 * SECOND, CLIENT, 0 }, .ends = {
			.family = AF_INET, .local_port = 40001, .remote_port = 5201,
			.local = { 192, 0, 2, 10 }, .remote = { 198, 51, 100, 10 },
		},
		.sequence = 4000000000u, .length = 1448,
	};
}

static inline void make_result(struct result *result)
{
	struct error error;

	fill_qdiscs(result);
	assert_int_equal(scenario_named(&result->scenario, "bottleneck", &error), 0);
	snprintf(result->version, sizeof(result->version), "0.1.0");
	snprintf(result->kernel, sizeof(result->kernel), "6.18.0");
	snprintf(result->tier, sizeof(result->tier), "tracepoints");
	result->hooks = calloc(2, sizeof(*result->hooks));
	assert_non_null(result->hooks);
	result->hook_count = 2;
	result->hooks[0] = (struct tracer_hook) { "qdisc_enqueue", "tp_btf", true, "", 0 };
	result->hooks[1] = (struct tracer_hook) { "qdisc_drop", "tp_btf", false, "not in 6.18", 0 };
	result->started_realtime_ns = 1790000000123456789ULL;
	result->started_ns = 99 * SECOND;
	result->ended_ns = 133 * SECOND;
	fill_probes(result);
	fill_samples(result);
	fill_iperf3(result);
	fill_tcp(result);
	phase_windows(result, &moments, SECOND, SECOND);
	assert_int_equal(phase_fill(result, &error), 0);
	assert_int_equal(attribution_fill(result, &error), 0);
	assert_int_equal(load_shape_fill(result, &error), 0);
	result->complete = true;
}

#endif
