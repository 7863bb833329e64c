// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "attribution.h"
#include "phase.h"
#include "synthetic.h"

#define SECOND	1000000000ULL
#define MS	1000000ULL
#define US	1000ULL

static const struct phase_moments moments = {
	.begin_ns = 100 * SECOND,
	.loads[0] = { 110 * SECOND, 130 * SECOND },
	.end_ns = 140 * SECOND,
};

/*
 * Probes of a made-up run. While idle each waits idle_wait ns in the qdisc and
 * the rest of its way takes base ns; under load probe i waits wait(i) and the
 * rest takes base + other ns, in a leg of the given kind.
 */
struct run {
	__u64 base, idle_wait, other;
	enum leg_kind other_kind;
	__u64 (*wait)(unsigned int i);
	unsigned int idle_count, load_count;
};

static void add_probe(struct probe *probe, __u64 sent_ns, const struct run *run, __u64 wait,
		      __u64 other)
{
	probe->sent = probe->complete = true;
	probe->sent_ns = sent_ns;
	probe->legs = calloc(3, sizeof(*probe->legs));
	assert_non_null(probe->legs);
	probe->leg_count = 3;
	probe->legs[0] = (struct leg) { .kind = LEG_QDISC, .qdisc = 0, .ns = wait };
	probe->legs[1] = (struct leg) { .kind = LEG_STACK, .qdisc = RESULT_NO_QDISC,
					.ns = run->base };
	probe->legs[2] = (struct leg) { .kind = run->other_kind,
					.qdisc = run->other_kind == LEG_QDISC ? 1 : RESULT_NO_QDISC,
					.ns = other };
	probe->rtt_ns = wait + run->base + other;
}

static void make_run(struct result *result, const struct run *run)
{
	unsigned int i, count = run->idle_count + run->load_count;
	struct error error;

	assert_int_equal(synthetic_result(result), 0);
	result->qdiscs = reallocarray(result->qdiscs, 2, sizeof(*result->qdiscs));
	assert_non_null(result->qdiscs);
	result->qdiscs[1] = result->qdiscs[0];
	result->qdiscs[1].have_info = false;
	snprintf(result->qdiscs[1].device, sizeof(result->qdiscs[1].device), "lan0");
	snprintf(result->qdiscs[1].kind, sizeof(result->qdiscs[1].kind), "pfifo");
	result->qdisc_count = 2;
	phase_windows(result, &moments, SECOND, SECOND);
	result->probes = calloc(count + 1, sizeof(*result->probes));
	assert_non_null(result->probes);
	result->probe_count = count;
	for (i = 0; i < run->idle_count; i++)
		add_probe(&result->probes[i], 100 * SECOND + i * 10 * MS, run, run->idle_wait, 0);
	for (i = 0; i < run->load_count; i++)
		add_probe(&result->probes[run->idle_count + i], 111 * SECOND + i * 10 * MS, run,
			  run->wait(i), run->other);
	assert_int_equal(phase_fill(result, &error), 0);
	assert_int_equal(attribution_fill(result, &error), 0);
}

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.9g instead of %.9g", value, expected);
}

static void assert_says(const struct result *result, const char *words)
{
	if (!strstr(result->phases[PHASE_LOAD].load.attribution.verdict, words))
		fail_msg("\"%s\" does not say \"%s\"", result->phases[PHASE_LOAD].load.attribution.verdict, words);
}

/* 300.02 ... 349.02 ms: mean 324.52, and the idle wait is 0.02 ms. */
static __u64 rising_wait(unsigned int i)
{
	return 300 * MS + i * MS + 20 * US;
}

static void test_known_share(void **state)
{
	/* Of the increase 324.5 ms are the qdisc's and 3.25 ms are not: a share of 0.9900839. */
	struct run run = { .base = 60 * US, .idle_wait = 20 * US, .other = 3250 * US,
			   .other_kind = LEG_DRIVER, .wait = rising_wait,
			   .idle_count = 100, .load_count = 50 };
	struct result result;

	(void)state;
	make_run(&result, &run);
	assert_true(result.phases[PHASE_LOAD].load.attribution.valid);
	assert_near(result.phases[PHASE_LOAD].load.attribution.rtt_increase_ns, 327.75e6, 1);
	assert_near(result.phases[PHASE_LOAD].load.attribution.rtt_increase_median_ns, 327.25e6, 1);
	assert_near(result.phases[PHASE_LOAD].load.attribution.cause_share, 324.5 / 327.75, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 324.5 / 327.75, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.unexplained_ns, 3.25e6, 1);
	assert_int_equal(result.phases[PHASE_LOAD].load.attribution.cause_qdisc, 0);
	assert_near(result.phases[PHASE_LOAD].qdiscs[0].share, 324.5 / 327.75, 1e-9);
	assert_near(result.phases[PHASE_LOAD].qdiscs[1].share, 0, 1e-9);
	assert_true(isnan(result.phases[PHASE_IDLE].qdiscs[0].share));
	assert_string_equal(result.phases[PHASE_LOAD].load.attribution.verdict,
			    "99 % of the RTT increase under load (324 ms of 328 ms) was spent waiting in tbf 10: on wan0 in pl-router.");
	result_free(&result);
}

/* One ppm short of all of it is not 100 %. */
static void test_never_rounds_up_to_all(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 20 * US, .other = 300,
			   .other_kind = LEG_DRIVER, .wait = rising_wait,
			   .idle_count = 100, .load_count = 50 };
	struct result result;

	(void)state;
	make_run(&result, &run);
	assert_says(&result, "99.9 % of the RTT increase");
	result_free(&result);
	run.other = 0;
	make_run(&result, &run);
	assert_says(&result, "100 % of the RTT increase");
	result_free(&result);
}

static void test_share_text(void **state)
{
	char text[SHARE_TEXT];

	(void)state;
	assert_string_equal(share_text(0.9999999, text), "99.9 %");
	assert_string_equal(share_text(0.998, text), "99.8 %");
	assert_string_equal(share_text(0.123456, text), "12.3 %");
	assert_string_equal(share_text(1, text), "100 %");
	assert_string_equal(share_text(0, text), "0 %");
	assert_string_equal(share_text(-0.0000024, text), "0 %");
	assert_string_equal(share_text(-0.0015, text), "-0.1 %");
	assert_string_equal(share_text(NAN, text), "-");
}

static void test_lost_probes_do_not_count(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 20 * US, .other = 0,
			   .other_kind = LEG_DRIVER, .wait = rising_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;
	struct error error;

	(void)state;
	make_run(&result, &run);
	result.probes[19].lost = true;	/* it had waited longest */
	result.probes[19].rtt_ns = 0;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	/* Waits of 300 ... 308 ms above idle. */
	assert_near(result.phases[PHASE_LOAD].load.attribution.rtt_increase_ns, 304e6, 1);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 1, 1e-9);
	result_free(&result);
}

static __u64 short_wait(unsigned int i)
{
	(void)i;
	return 20 * MS;
}

static void test_elsewhere(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 0, .other = 80 * MS,
			   .other_kind = LEG_LINK, .wait = short_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;

	(void)state;
	make_run(&result, &run);
	assert_true(result.phases[PHASE_LOAD].load.attribution.valid);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 0.2, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.unexplained_ns, 80e6, 1);
	assert_says(&result, "not on the devices traced: 80.0 ms of 100 ms");
	assert_says(&result, "80.0 ms of it between the devices");
	assert_says(&result, "the largest share, 20 %, was in tbf 10: on wan0");
	result_free(&result);
}

/* 55 ms in one qdisc and 45 in the other, then 48 to 45: no single one holds half. */
static __u64 larger_wait(unsigned int i)
{
	(void)i;
	return 55 * MS;
}

static __u64 nearly_half(unsigned int i)
{
	(void)i;
	return 48 * MS;
}

static void test_two_qdiscs(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 0, .other = 45 * MS,
			   .other_kind = LEG_QDISC, .wait = larger_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	make_run(&result, &run);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 1, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.cause_share, 0.55, 1e-9);
	assert_near(result.phases[PHASE_LOAD].qdiscs[1].share, 0.45, 1e-9);
	assert_says(&result, "55 % of the RTT increase under load (55.0 ms of 100 ms)");
	result_free(&result);

	run.wait = nearly_half;
	make_run(&result, &run);
	for (i = 10; i < 20; i++)
		result.probes[i].rtt_ns += 7 * MS;	/* 7 ms nowhere in particular */
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_says(&result, "93 % of the RTT increase under load (93.0 ms of 100 ms) was spent waiting in several qdiscs");
	assert_says(&result, "tbf 10: on wan0 in pl-router 48 %, pfifo 10: on lan0 in pl-router 45 %");
	result_free(&result);
}

/* A child's time is its root's time: it is never added. */
static void test_children_are_not_added(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 0, .other = 45 * MS,
			   .other_kind = LEG_QDISC, .wait = larger_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;
	struct error error;

	(void)state;
	make_run(&result, &run);
	result.qdiscs[1].root = false;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 0.55, 1e-9);
	assert_true(isnan(result.phases[PHASE_LOAD].qdiscs[1].share));
	result_free(&result);
}

static __u64 tiny_wait(unsigned int i)
{
	(void)i;
	return 450 * US;
}

static __u64 small_wait(unsigned int i)
{
	(void)i;
	return 4 * MS;
}

/* The rule: 5 ms, or else half a millisecond and twice the idle median. */
static void test_no_increase(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 0, .other = 0,
			   .other_kind = LEG_DRIVER, .wait = tiny_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;

	(void)state;
	make_run(&result, &run);	/* 0.45 ms on 0.06 */
	assert_false(result.phases[PHASE_LOAD].load.attribution.valid);
	assert_int_equal(result.phases[PHASE_LOAD].load.attribution.cause_qdisc, RESULT_NO_QDISC);
	assert_says(&result, "the load did not raise the RTT: median 510 us under load, 60");
	result_free(&result);

	run.wait = small_wait;		/* 4 ms on 0.06 */
	make_run(&result, &run);
	assert_true(result.phases[PHASE_LOAD].load.attribution.valid);
	result_free(&result);

	run.base = 3 * MS;		/* 4 ms on 3 */
	make_run(&result, &run);
	assert_false(result.phases[PHASE_LOAD].load.attribution.valid);
	result_free(&result);

	run.base = 60 * MS;		/* 20 ms on 60 */
	run.wait = short_wait;
	make_run(&result, &run);
	assert_true(result.phases[PHASE_LOAD].load.attribution.valid);
	result_free(&result);
}

static void test_no_probes(void **state)
{
	struct run run = { .base = 60 * US, .other_kind = LEG_DRIVER, .wait = short_wait,
			   .idle_count = 0, .load_count = 3 };
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	make_run(&result, &run);
	assert_false(result.phases[PHASE_LOAD].load.attribution.valid);
	assert_says(&result, "no verdict: the idle phase has no probes");
	result_free(&result);

	run.idle_count = 3;
	make_run(&result, &run);
	for (i = 3; i < 6; i++)
		result.probes[i].lost = true;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_false(result.phases[PHASE_LOAD].load.attribution.valid);
	assert_says(&result, "no verdict: all 3 probes of the load phase were lost");
	result_free(&result);
}

static void test_cause(void **state)
{
	struct run run = { .base = 60 * US, .idle_wait = 0, .other = 0,
			   .other_kind = LEG_DRIVER, .wait = rising_wait,
			   .idle_count = 10, .load_count = 10 };
	struct result result;
	struct error error;

	(void)state;
	make_run(&result, &run);
	/* 500000 bytes at 10 Mbit/s are 400 ms. */
	result.samples = calloc(1, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 1;
	result.samples[0] = (struct qdisc_sample) {
		.begin_ns = 112 * SECOND, .end_ns = 113 * SECOND, .min = ~0ULL, .drop_min = ~0ULL,
		.backlog_bytes_max = 500000, .backlog_packets_max = 331,
		.delta.rejected_packets = 12,
	};
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_string_equal(result.phases[PHASE_LOAD].load.attribution.cause_text,
			    "rate 10.0 Mbit/s, standing backlog up to 488 KB = 400 ms at that rate, 12 drops");
	result.qdiscs[0].have_info = false;
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_string_equal(result.phases[PHASE_LOAD].load.attribution.cause_text,
			    "standing backlog up to 488 KB (331 packets), 12 drops");
	result_free(&result);
}

/* From the events on: what the timeline cuts is what the attribution explains. */
static void test_from_events_to_share(void **state)
{
	struct timeline *timeline = timeline_create();
	struct probe_event events[WAY_POINTS];
	const __u64 base = synthetic_base_rtt();
	struct result result;
	struct error error;
	unsigned int i;

	(void)state;
	assert_non_null(timeline);
	assert_int_equal(synthetic_result(&result), 0);
	for (i = 0; i < 50; i++) {
		synthetic_probe(events, 7, (__u16)i, 101 * SECOND + i * 100 * MS, 15 * US);
		synthetic_feed(timeline, events, WAY_POINTS);
		synthetic_probe(events, 7, (__u16)(i + 100), 112 * SECOND + i * 100 * MS,
				200 * MS);
		synthetic_feed(timeline, events, WAY_POINTS);
	}
	assert_int_equal(timeline_finish(timeline, CLIENT, &result, &error), 0);
	timeline_free(timeline);
	phase_windows(&result, &moments, SECOND, SECOND);
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_int_equal(result.phases[PHASE_IDLE].rtt.p50, base + 15 * US);
	assert_int_equal(result.phases[PHASE_LOAD].rtt.p50, base + 200 * MS);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 1, 1e-12);
	assert_near(result.phases[PHASE_LOAD].load.attribution.rtt_increase_ns, 199.985e6, 0.5);
	result_free(&result);
}

/* ---- one host of several in sight ---- */

#define GATEWAY	2002u
#define MODEM	2003u

/* The gateway's fq_codel on wan0 as qdisc 0, the modem's tbf as qdisc 1. */
static void make_office(struct result *result, enum load_direction direction)
{
	struct error error;

	result_init(result);
	assert_int_equal(scenario_named(&result->scenario, "office", &error), 0);
	result->scenario.load_direction = direction;
	result_plan(result);
	result->qdiscs = calloc(2, sizeof(*result->qdiscs));
	assert_non_null(result->qdiscs);
	result->qdisc_count = 2;
	result->qdiscs[0] = (struct result_qdisc) {
		.netns = GATEWAY, .netns_name = "pl-gw", .device = "wan0", .kind = "fq_codel",
		.handle = 0x100000, .parent = 0xffffffff, .traced = true, .root = true,
	};
	result->qdiscs[1] = (struct result_qdisc) {
		.netns = MODEM, .netns_name = "pl-modem", .device = "wan0", .kind = "tbf",
		.handle = 0x200000, .parent = 0xffffffff, .traced = true, .root = true,
	};
	result->hosts[0] = (struct result_host) { GATEWAY, "pl-gw", "gateway" };
	result->hosts[1] = (struct result_host) { MODEM, "pl-modem", "modem" };
	result->host_count = 2;
	result->probes = calloc(40, sizeof(*result->probes));
	assert_non_null(result->probes);
}

/* A probe that only the gateway has seen: beyond wan0 it was away for so long. */
static void add_confined_probe(struct result *result, __u64 sent_ns, __u64 before, __u64 beyond)
{
	const struct leg legs[] = {
		{ LEG_LINK, RESULT_NO_QDISC, "lan0", GATEWAY, false, before },
		{ LEG_STACK, RESULT_NO_QDISC, "wan0", GATEWAY, false, 3 * US },
		{ LEG_QDISC, 0, "wan0", GATEWAY, false, 1 * US },
		{ LEG_DRIVER, RESULT_NO_QDISC, "wan0", GATEWAY, false, 1 * US },
		{ LEG_LINK, RESULT_NO_QDISC, "wan0", GATEWAY, true, beyond },
		{ LEG_STACK, RESULT_NO_QDISC, "lan0", GATEWAY, true, 4 * US },
		{ LEG_DRIVER, RESULT_NO_QDISC, "lan0", GATEWAY, true, 1 * US },
		{ LEG_LINK, RESULT_NO_QDISC, "eth0", CLIENT, true, 2 * US },
	};
	struct probe *probe = &result->probes[result->probe_count++];
	unsigned int i;

	probe->sent = probe->complete = true;
	probe->sent_ns = sent_ns;
	probe->leg_count = sizeof(legs) / sizeof(legs[0]);
	probe->legs = malloc(sizeof(legs));
	assert_non_null(probe->legs);
	memcpy(probe->legs, legs, sizeof(legs));
	for (i = 0; i < probe->leg_count; i++)
		probe->rtt_ns += legs[i].ns;
}

static void attribute(struct result *result, const struct phase_moments *when)
{
	struct error error;

	phase_windows(result, when, SECOND, SECOND);
	assert_int_equal(phase_fill(result, &error), 0);
	assert_int_equal(attribution_fill(result, &error), 0);
}

static void test_beyond_the_gateway(void **state)
{
	const struct attribution *attribution;
	struct result result;
	unsigned int i;

	(void)state;
	make_office(&result, LOAD_UP);
	result.qdisc_count = 1;		/* the modem is not traced */
	for (i = 0; i < 10; i++)
		add_confined_probe(&result, 101 * SECOND + i * 100 * MS, 2 * US, 40 * US);
	for (i = 0; i < 10; i++)
		add_confined_probe(&result, 112 * SECOND + i * 100 * MS, 2 * US,
				   700 * MS + i * 10 * MS);
	attribute(&result, &moments);
	attribution = &result.phases[PHASE_LOAD].load.attribution;
	assert_true(attribution->valid);
	assert_string_equal(attribution->beyond_device, "wan0");
	assert_int_equal(attribution->beyond_netns, GATEWAY);
	assert_near(attribution->beyond_ns, 744.96e6, 1);
	assert_near(attribution->unexplained_ns, 744.96e6, 1);
	assert_int_equal(attribution->exonerated_count, 1);
	assert_string_equal(attribution->verdict,
			    "not on the devices traced: 745 ms of 745 ms are beyond wan0 in pl-gw (RTT increase under load); not the gateway's fq_codel: its queue was empty (share < 1 %).");
	result_free(&result);
}

/* On the client's side of the gateway, then half of it on either side. */
static void test_beyond_the_other_device(void **state)
{
	const struct attribution *attribution;
	struct result result;
	unsigned int i;

	(void)state;
	make_office(&result, LOAD_UP);
	result.qdisc_count = 1;
	for (i = 0; i < 10; i++)
		add_confined_probe(&result, 101 * SECOND + i * 100 * MS, 2 * US, 40 * US);
	for (i = 0; i < 10; i++)
		add_confined_probe(&result, 112 * SECOND + i * 100 * MS, 300 * MS, 40 * US);
	attribute(&result, &moments);
	attribution = &result.phases[PHASE_LOAD].load.attribution;
	assert_string_equal(attribution->beyond_device, "lan0");

	for (i = 10; i < 20; i++) {
		result.probes[i].legs[0].ns = 150 * MS;
		result.probes[i].legs[4].ns = 150 * MS;
	}
	attribute(&result, &moments);
	assert_string_equal(attribution->beyond_device, "");
	assert_says(&result, "passed outside of their qdiscs, 300 ms of it between the devices");
	result_free(&result);
}

/* Both hosts traced: the probe waits in the modem's tbf, having passed the gateway's fq_codel. */
static void add_office_probe(struct result *result, __u64 sent_ns, __u64 wait)
{
	const struct leg legs[] = {
		{ LEG_STACK, RESULT_NO_QDISC, "wan0", GATEWAY, false, 20 * US },
		{ LEG_QDISC, 0, "wan0", GATEWAY, false, 1 * US },
		{ LEG_QDISC, 1, "wan0", MODEM, false, wait },
		{ LEG_STACK, RESULT_NO_QDISC, "lan0", GATEWAY, true, 20 * US },
	};
	struct probe *probe = &result->probes[result->probe_count++];

	probe->sent = probe->complete = true;
	probe->sent_ns = sent_ns;
	probe->leg_count = 4;
	probe->legs = malloc(sizeof(legs));
	assert_non_null(probe->legs);
	memcpy(probe->legs, legs, sizeof(legs));
	probe->rtt_ns = 41 * US + wait;
}

static void test_who_it_was_not(void **state)
{
	const struct attribution *attribution;
	struct result result;
	unsigned int i;

	(void)state;
	make_office(&result, LOAD_UP);
	for (i = 0; i < 10; i++)
		add_office_probe(&result, 101 * SECOND + i * 100 * MS, 5 * US);
	for (i = 0; i < 10; i++)
		add_office_probe(&result, 112 * SECOND + i * 100 * MS, 800 * MS);
	attribute(&result, &moments);
	attribution = &result.phases[PHASE_LOAD].load.attribution;
	assert_int_equal(attribution->cause_qdisc, 1);
	assert_int_equal(attribution->exonerated_count, 1);
	assert_int_equal(attribution->exonerated[0].qdisc, 0);
	assert_string_equal(attribution->verdict,
			    "100 % of the RTT increase under load (800 ms of 800 ms) was spent waiting in tbf 20: on wan0 in pl-modem; not the gateway's fq_codel: its queue was empty (share < 1 %).");

	/* What others left waiting there, and the probes passed by, is no empty queue. */
	result.samples = calloc(1, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 1;
	result.samples[0] = (struct qdisc_sample) {
		.begin_ns = 112 * SECOND, .end_ns = 113 * SECOND, .min = ~0ULL, .drop_min = ~0ULL,
		.backlog_bytes_max = 90000, .backlog_bytes_mean = 60000,
	};
	attribute(&result, &moments);
	assert_says(&result, "not the gateway's fq_codel: what waited in it did not hold up the probes");

	/* With a second one of that kind on the host the kind alone is no name. */
	result.qdiscs = reallocarray(result.qdiscs, 3, sizeof(*result.qdiscs));
	assert_non_null(result.qdiscs);
	result.qdiscs[2] = result.qdiscs[0];
	result.qdisc_count = 3;
	attribute(&result, &moments);
	assert_int_equal(attribution->exonerated_count, 1);
	assert_says(&result, "not the gateway's fq_codel on wan0: what waited");
	result.qdisc_count = 2;
	result.host_count = 0;
	attribute(&result, &moments);
	assert_says(&result, "not pl-gw's fq_codel:");

	/* On the same host as the cause, or off the probes' way, it needs no word. */
	result.qdiscs[1].netns = GATEWAY;
	attribute(&result, &moments);
	assert_int_equal(attribution->exonerated_count, 0);
	result.qdiscs[1].netns = MODEM;
	for (i = 10; i < 20; i++)
		result.probes[i].legs[1].kind = LEG_DRIVER;
	attribute(&result, &moments);
	assert_int_equal(attribution->exonerated_count, 0);

	/* 2 % of the increase are something. */
	for (i = 10; i < 20; i++) {
		result.probes[i].legs[1].kind = LEG_QDISC;
		result.probes[i].legs[1].ns = 16 * MS;
		result.probes[i].rtt_ns = 816 * MS + 40 * US;
	}
	attribute(&result, &moments);
	assert_int_equal(attribution->exonerated_count, 0);
	result_free(&result);
}

/* Two loads: each has its own increase, cause and sentence. */
static void test_two_loads(void **state)
{
	struct phase_moments two = moments;
	struct result result;
	char *verdicts;
	unsigned int i;

	(void)state;
	two.loads[0].end_ns = 120 * SECOND;
	two.loads[1].begin_ns = 122 * SECOND;
	two.loads[1].end_ns = 132 * SECOND;
	make_office(&result, LOAD_EACH);
	for (i = 0; i < 10; i++)
		add_office_probe(&result, 101 * SECOND + i * 100 * MS, 5 * US);
	for (i = 0; i < 10; i++)
		add_office_probe(&result, 112 * SECOND + i * 100 * MS, 800 * MS);
	for (i = 0; i < 10; i++)
		add_office_probe(&result, 124 * SECOND + i * 100 * MS, 400 * MS);
	attribute(&result, &two);
	assert_near(result.phases[1].load.attribution.rtt_increase_ns, 799.995e6, 1);
	assert_near(result.phases[3].load.attribution.rtt_increase_ns, 399.995e6, 1);
	assert_near(result.phases[3].qdiscs[1].share, 1, 1e-9);
	assert_true(isnan(result.phases[2].qdiscs[1].share));
	verdicts = attribution_verdicts(&result);
	assert_non_null(verdicts);
	assert_non_null(strstr(verdicts, "under upload (800 ms of 800 ms)"));
	assert_non_null(strstr(verdicts, "(share < 1 %). 100 % of the RTT increase under download (400 ms of 400 ms)"));
	free(verdicts);
	result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_share),
		cmocka_unit_test(test_never_rounds_up_to_all),
		cmocka_unit_test(test_share_text),
		cmocka_unit_test(test_lost_probes_do_not_count),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_two_qdiscs),
		cmocka_unit_test(test_children_are_not_added),
		cmocka_unit_test(test_no_increase),
		cmocka_unit_test(test_no_probes),
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_from_events_to_share),
		cmocka_unit_test(test_beyond_the_gateway),
		cmocka_unit_test(test_beyond_the_other_device),
		cmocka_unit_test(test_who_it_was_not),
		cmocka_unit_test(test_two_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
