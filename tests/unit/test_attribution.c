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
					.root = 1,
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
	assert_near(result.phases[PHASE_LOAD].load.attribution.cause.share, 324.5 / 327.75, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 324.5 / 327.75, 1e-9);
	assert_near(result.phases[PHASE_LOAD].load.attribution.unexplained_ns, 3.25e6, 1);
	assert_int_equal(result.phases[PHASE_LOAD].load.attribution.cause.qdisc, 0);
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
	assert_near(result.phases[PHASE_LOAD].load.attribution.cause.share, 0.55, 1e-9);
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
	result.qdiscs[1].parent_qdisc = 0;
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	/* In the root's time is the child's: 100 ms of 100, of which 45 are the child's. */
	assert_near(result.phases[PHASE_LOAD].load.attribution.explained, 1, 1e-9);
	assert_near(result.phases[PHASE_LOAD].qdiscs[0].share, 1, 1e-9);
	assert_near(result.phases[PHASE_LOAD].qdiscs[1].share, 0.45, 1e-9);
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
	assert_int_equal(result.phases[PHASE_LOAD].load.attribution.cause.qdisc, RESULT_NO_QDISC);
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
		.begin_ns = 112 * SECOND, .end_ns = 113 * SECOND, .sojourn.min = ~0ULL,
		.backlog_bytes_max = 500000, .backlog_packets_max = 331,
		.delta.rejected_packets = 12,
	};
	assert_int_equal(phase_fill(&result, &error), 0);
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_string_equal(result.phases[PHASE_LOAD].load.attribution.cause.text,
			    "rate 10.0 Mbit/s, standing backlog up to 488 KB = 400 ms at that rate, 12 drops");
	result.qdiscs[0].have_info = false;
	assert_int_equal(attribution_fill(&result, &error), 0);
	assert_string_equal(result.phases[PHASE_LOAD].load.attribution.cause.text,
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
	assert_int_equal(timeline_finish(timeline, &synthetic_client, 1, &result, &error), 0);
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
	result->scenario.load.direction = direction;
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
		{ LEG_LINK, RESULT_NO_QDISC, "lan0", GATEWAY, false, before, RESULT_NO_QDISC },
		{ LEG_STACK, RESULT_NO_QDISC, "wan0", GATEWAY, false, 3 * US, RESULT_NO_QDISC },
		{ LEG_QDISC, 0, "wan0", GATEWAY, false, 1 * US, 0 },
		{ LEG_DRIVER, RESULT_NO_QDISC, "wan0", GATEWAY, false, 1 * US, RESULT_NO_QDISC },
		{ LEG_LINK, RESULT_NO_QDISC, "wan0", GATEWAY, true, beyond, RESULT_NO_QDISC },
		{ LEG_STACK, RESULT_NO_QDISC, "lan0", GATEWAY, true, 4 * US, RESULT_NO_QDISC },
		{ LEG_DRIVER, RESULT_NO_QDISC, "lan0", GATEWAY, true, 1 * US, RESULT_NO_QDISC },
		{ LEG_LINK, RESULT_NO_QDISC, "eth0", CLIENT, true, 2 * US, RESULT_NO_QDISC },
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
		{ LEG_STACK, RESULT_NO_QDISC, "wan0", GATEWAY, false, 20 * US, RESULT_NO_QDISC },
		{ LEG_QDISC, 0, "wan0", GATEWAY, false, 1 * US, 0 },
		{ LEG_QDISC, 1, "wan0", MODEM, false, wait, 1 },
		{ LEG_STACK, RESULT_NO_QDISC, "lan0", GATEWAY, true, 20 * US, RESULT_NO_QDISC },
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
	assert_int_equal(attribution->cause.qdisc, 1);
	assert_int_equal(attribution->exonerated_count, 1);
	assert_int_equal(attribution->exonerated[0].qdisc, 0);
	assert_string_equal(attribution->verdict,
			    "100 % of the RTT increase under load (800 ms of 800 ms) was spent waiting in tbf 20: on wan0 in pl-modem; not the gateway's fq_codel: its queue was empty (share < 1 %).");

	/* What others left waiting there, and the probes passed by, is no empty queue. */
	result.samples = calloc(1, sizeof(*result.samples));
	assert_non_null(result.samples);
	result.sample_count = 1;
	result.samples[0] = (struct qdisc_sample) {
		.begin_ns = 112 * SECOND, .end_ns = 113 * SECOND, .sojourn.min = ~0ULL,
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

/* ---- trees of qdiscs ---- */

/* A probe of which each qdisc of the tree had its part. */
static void add_tree_probe(struct result *result, __u64 sent_ns, const __u64 *held)
{
	struct probe *probe;
	unsigned int i;

	result->probes = reallocarray(result->probes, result->probe_count + 1,
				      sizeof(*result->probes));
	assert_non_null(result->probes);
	probe = &result->probes[result->probe_count++];
	memset(probe, 0, sizeof(*probe));
	probe->sent = probe->complete = true;
	probe->sent_ns = sent_ns;
	probe->leg_count = (unsigned int)result->qdisc_count + 1;
	probe->legs = calloc(probe->leg_count, sizeof(*probe->legs));
	assert_non_null(probe->legs);
	for (i = 0; i < result->qdisc_count; i++) {
		probe->legs[i] = (struct leg) { .kind = LEG_QDISC, .qdisc = i, .root = 0,
						.ns = held[i] };
		probe->rtt_ns += held[i];
	}
	probe->legs[i] = (struct leg) { .kind = LEG_STACK, .qdisc = RESULT_NO_QDISC,
					.root = RESULT_NO_QDISC, .ns = 60 * US };
	probe->rtt_ns += 60 * US;
}

/* Ten probes when idle, that each qdisc holds for 1 us, and ten under load. */
static const struct attribution *attribute_tree(struct result *result, const __u64 *held)
{
	static const __u64 idle[] = { US, US, US };
	unsigned int i;

	for (i = 0; i < 10; i++)
		add_tree_probe(result, 101 * SECOND + i * 100 * MS, idle);
	for (i = 0; i < 10; i++)
		add_tree_probe(result, 112 * SECOND + i * 100 * MS, held);
	attribute(result, &moments);
	return &result->phases[PHASE_LOAD].load.attribution;
}

static void add_info(struct qdisc_tree *tree, const struct result_qdisc *qdisc)
{
	struct qdisc_info *info;

	tree->qdiscs = reallocarray(tree->qdiscs, tree->count + 1, sizeof(*tree->qdiscs));
	assert_non_null(tree->qdiscs);
	info = &tree->qdiscs[tree->count++];
	*info = (struct qdisc_info) {
		.netns = qdisc->netns, .ifindex = qdisc->ifindex, .handle = qdisc->handle,
		.parent = qdisc->parent, .invisible = !qdisc->root && !qdisc->handle,
	};
	memcpy(info->device, qdisc->device, sizeof(info->device));
	memcpy(info->kind, qdisc->kind, sizeof(info->kind));
}

static void add_class(struct qdisc_classes *classes, __u32 classid, __u32 parent, __u64 rate,
		      __u64 bytes, __u64 overlimits)
{
	struct class_info *class;

	classes->classes = reallocarray(classes->classes, classes->count + 1,
					sizeof(*classes->classes));
	assert_non_null(classes->classes);
	class = &classes->classes[classes->count++];
	*class = (struct class_info) {
		.netns = ROUTER, .ifindex = 3, .kind = "htb", .classid = classid,
		.parent = parent, .option_count = 2, .have_htb = true,
		.options = { { "rate", OPTION_BIT_PER_S, rate },
			     { "ceil", OPTION_BIT_PER_S, rate } },
		.kernel = { .bytes = bytes, .overlimits = overlimits },
	};
}

/* What the kernel said of the tree and htb's classes; 10 s lie between the two. */
static void fill_snapshot(const struct result *result, struct load_snapshot *snapshot,
			  __u64 time_ns, __u64 bytes, __u64 overlimits)
{
	size_t i;

	snapshot->taken = true;
	snapshot->tree.time_ns = snapshot->classes.time_ns = time_ns;
	for (i = 0; i < result->qdisc_count; i++) {
		add_info(&snapshot->tree, &result->qdiscs[i]);
		snapshot->tree.qdiscs[i].kernel.bytes = bytes;
		snapshot->tree.qdiscs[i].kernel.overlimits = overlimits;
	}
	add_class(&snapshot->classes, 0x10001, 0xffffffff, 20000000, bytes, 0);
	add_class(&snapshot->classes, 0x10011, 0x10001, 10000000, bytes, overlimits);
	add_class(&snapshot->classes, 0x10012, 0x10001, 5000000, 0, 0);
}

static void fill_snapshots(struct result *result)
{
	struct phase_load *load = &result->phases[PHASE_LOAD].load;

	fill_snapshot(result, &load->begin, 111 * SECOND, 1000000, 3);
	fill_snapshot(result, &load->end, 121 * SECOND, 13000000, 403);
}

/* One of two classes is loaded: its leaf held the packets, and the class held them back. */
static void test_held_and_holder(void **state)
{
	static const __u64 held[] = { 2 * MS + US, 198 * MS + US, US };
	const struct attribution *attribution;
	const struct phase_qdisc *qdiscs;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	fill_snapshots(&result);
	attribution = attribute_tree(&result, held);
	qdiscs = result.phases[PHASE_LOAD].qdiscs;
	assert_near(attribution->explained, 1, 1e-9);
	assert_near(qdiscs[TREE_HTB].share, 1, 1e-9);
	assert_near(qdiscs[TREE_HTB].exclusive_share, 0.01, 1e-9);
	assert_near(qdiscs[TREE_LOADED].share, 0.99, 1e-9);
	assert_near(qdiscs[TREE_LOADED].exclusive_share, 0.99, 1e-9);
	assert_near(qdiscs[TREE_IDLE].share, 0, 1e-9);
	assert_int_equal(attribution->cause.qdisc, TREE_LOADED);
	assert_int_equal(attribution->cause.waits_in, TREE_LOADED);
	assert_near(attribution->cause.share, 0.99, 1e-9);
	assert_near(attribution->cause.held_share, 0.99, 1e-9);
	assert_true(attribution->cause.held_is_known && attribution->cause.holder.seen);
	assert_int_equal(attribution->cause.holder.kind, HOLDER_CLASS);
	assert_int_equal(attribution->cause.holder_class, 0x10011);
	assert_int_equal(attribution->cause.holder_qdisc, TREE_HTB);
	assert_string_equal(attribution->cause.path,
			    "wan0 → htb 1: → class 1:1 rate 20.0 Mbit/s → class 1:11 rate 10.0 Mbit/s → fq_codel 110:");
	assert_string_equal(attribution->verdict,
			    "99 % of the RTT increase under load (198 ms of 200 ms) was spent waiting in fq_codel 110: on wan0 in pl-router, held back by class 1:11 of htb 1: (rate 10.0 Mbit/s, ceil 10.0 Mbit/s; 400 overlimits, 0 borrowed): wan0 → htb 1: → class 1:1 rate 20.0 Mbit/s → class 1:11 rate 10.0 Mbit/s → fq_codel 110:.");
	assert_string_equal(attribution->cause.text,
			    "rate 10.0 Mbit/s, standing backlog up to 0 B = 0 ns at that rate, 0 drops");
	result_free(&result);
}

/* Nothing asked of the kernel: the place is known, and what held the packets back is not. */
static void test_held_without_snapshots(void **state)
{
	static const __u64 held[] = { US, 200 * MS, US };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	attribution = attribute_tree(&result, held);
	assert_false(attribution->cause.have_path);
	assert_says(&result, "was spent waiting in fq_codel 110: on wan0 in pl-router.");
	result_free(&result);
}

/* Limits that no counter shows as reached are read from the settings, and it is said. */
static void test_holder_by_settings(void **state)
{
	static const __u64 held[] = { US, 200 * MS, US };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	fill_snapshot(&result, &result.phases[PHASE_LOAD].load.end, 121 * SECOND, 9, 0);
	attribution = attribute_tree(&result, held);
	assert_true(attribution->cause.have_path && !attribution->cause.holder.seen);
	assert_says(&result, "pl-router, held back, by its settings, by class 1:11 of htb 1:");
	result_free(&result);
}

/* Where only the root is seen it stands for its tree, and the class is named. */
static void test_holder_below_an_unseen_tree(void **state)
{
	static const __u64 held[] = { 200 * MS, 0, 0 };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	snprintf(result.tier, sizeof(result.tier), "tracepoints");
	result.qdiscs[TREE_LOADED].traced = result.qdiscs[TREE_IDLE].traced = false;
	fill_snapshots(&result);
	attribution = attribute_tree(&result, held);
	assert_int_equal(attribution->cause.qdisc, TREE_HTB);
	assert_false(attribution->cause.held_is_known);
	assert_true(isnan(result.phases[PHASE_LOAD].qdiscs[0].exclusive_share));
	assert_int_equal(attribution->cause.holder_class, 0x10011);
	assert_says(&result, "waiting in htb 1: on wan0 in pl-router, held back by class 1:11 of htb 1:");
	result_free(&result);
}

/* tbf with the bfifo that it made: both tiers say tbf, in the same words. */
static void test_own_fifo(void **state)
{
	static const __u64 held[] = { 2 * MS, 198 * MS }, all[] = { 200 * MS, 0 };
	const struct attribution *attribution;
	struct result result;
	unsigned int sees;

	(void)state;
	for (sees = 0; sees < 2; sees++) {
		assert_int_equal(synthetic_tree(&result), 0);
		result.qdisc_count = 2;
		synthetic_qdisc(&result, 0, "tbf", 0x100000, 0xffffffff, RESULT_NO_QDISC);
		result.qdiscs[0].is_parent = true;
		synthetic_qdisc(&result, 1, "bfifo", 0, 0x100001, 0);
		if (!sees) {
			snprintf(result.tier, sizeof(result.tier), "tracepoints");
			result.qdiscs[1].traced = false;
		}
		fill_snapshots(&result);
		attribution = attribute_tree(&result, sees ? held : all);
		assert_int_equal(attribution->cause.qdisc, 0);
		assert_int_equal(attribution->cause.waits_in, sees);
		assert_near(attribution->cause.held_share, attribution->cause.share, 1e-9);
		assert_true(attribution->cause.held_is_known);
		assert_int_equal(attribution->cause.holder_qdisc, 0);
		assert_string_equal(attribution->cause.path,
				    sees ? "wan0 → tbf 10: → bfifo 0:" : "wan0 → tbf 10:");
		assert_says(&result,
			    "100 % of the RTT increase under load (200 ms of 200 ms) was spent waiting in tbf 10: on wan0 in pl-router.");
		assert_int_equal(!strstr(attribution->cause.text, "; tbf keeps its packets in a bfifo of its own"),
				 !sees);
		result_free(&result);
	}
}

/* tbf below netem: it holds its packets back by itself, and the way to it is told. */
static void test_shaper_below_another(void **state)
{
	static const __u64 held[] = { 20 * MS, US, 180 * MS };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	synthetic_qdisc(&result, 0, "netem", 0x100000, 0xffffffff, RESULT_NO_QDISC);
	synthetic_qdisc(&result, 1, "tbf", 0x200000, 0x100001, 0);
	synthetic_qdisc(&result, 2, "bfifo", 0, 0x200001, 1);
	result.qdiscs[0].is_parent = result.qdiscs[1].is_parent = true;
	fill_snapshots(&result);
	attribution = attribute_tree(&result, held);
	assert_int_equal(attribution->cause.qdisc, 1);
	assert_int_equal(attribution->cause.waits_in, 2);
	assert_near(attribution->cause.share, 0.9, 1e-4);
	assert_near(attribution->cause.held_share, 0.9, 1e-4);
	assert_near(result.phases[PHASE_LOAD].qdiscs[0].exclusive_share, 0.1, 1e-4);
	assert_near(result.phases[PHASE_LOAD].qdiscs[0].share, 1, 1e-9);
	assert_says(&result, "waiting in tbf 20: on wan0 in pl-router: wan0 → netem 10: → tbf 20: → bfifo 0:.");
	result_free(&result);
}

/* The root explains all of it, and no qdisc of its tree holds half. */
static void test_several_in_one_tree(void **state)
{
	static const __u64 held[] = { 40 * MS, 96 * MS, 64 * MS };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	attribution = attribute_tree(&result, held);
	assert_near(attribution->explained, 1, 1e-4);
	assert_says(&result, "was spent waiting in several qdiscs: fq_codel 110: on wan0 in pl-router 48 %, fq_codel 120: on wan0 in pl-router 31.9 %, htb 1: on wan0 in pl-router 19.9 %");
	result_free(&result);
}

static void fill_paced_sample(struct result *result, __u64 sojourn, __u64 paced)
{
	struct qdisc_sample *sample = calloc(1, sizeof(*sample));

	assert_non_null(sample);
	*sample = (struct qdisc_sample) {
		.begin_ns = 112 * SECOND, .end_ns = 113 * SECOND,
		.sojourn = { .count = 1, .sum = (__s64)sojourn, .min = sojourn, .max = sojourn },
		.part = { .count = 1, .sum = (__s64)paced, .min = paced, .max = paced },
	};
	sample->sojourn.parts = calloc(1, sizeof(struct histogram_part));
	sample->part.parts = calloc(1, sizeof(struct histogram_part));
	assert_true(sample->sojourn.parts && sample->part.parts);
	sample->sojourn.part_count = sample->part.part_count = 1;
	*sample->sojourn.parts = (struct histogram_part) { histogram_bucket(sojourn), 1 };
	*sample->part.parts = (struct histogram_part) { histogram_bucket(paced), 1 };
	result->samples = sample;
	result->sample_count = 1;
}

/* Packets that wait for their own departure times are paced, not queued. */
static void test_pacing(void **state)
{
	static const __u64 held[] = { 200 * MS };
	const struct attribution *attribution;
	struct result result;

	(void)state;
	assert_int_equal(synthetic_tree(&result), 0);
	result.qdisc_count = 1;
	synthetic_qdisc(&result, 0, "fq", 0x100000, 0xffffffff, RESULT_NO_QDISC);
	result.qdiscs[0].paces = true;
	fill_paced_sample(&result, 200 * MS, 190 * MS);
	attribution = attribute_tree(&result, held);
	assert_true(attribution->cause.is_pacing);
	assert_near(attribution->cause.paced_ns, 190e6, 1);
	assert_near(attribution->cause.queued_ns, 10e6, 1);
	assert_string_equal(attribution->verdict,
			    "100 % of the RTT increase under load (200 ms of 200 ms) was spent in fq 10: on wan0 in pl-router, sent by its own schedule: fq paces flows, which is pacing, not queueing (of its packets' time 190 ms were paced and 10.0 ms queued, in the mean).");

	/* Most of it queued: then it is a queue as any other. */
	result.samples[0].part.sum = 90 * MS;
	attribute(&result, &moments);
	assert_false(attribution->cause.is_pacing);
	assert_near(attribution->cause.paced_ns, 90e6, 1);
	assert_says(&result, "was spent waiting in fq 10: on wan0 in pl-router.");

	result.samples[0].part.sum = 190 * MS;
	snprintf(result.qdiscs[0].kind, sizeof(result.qdiscs[0].kind), "etf");
	attribute(&result, &moments);
	assert_says(&result, "it keeps packets until the time that they carry, which is pacing");
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
		cmocka_unit_test(test_held_and_holder),
		cmocka_unit_test(test_held_without_snapshots),
		cmocka_unit_test(test_holder_by_settings),
		cmocka_unit_test(test_holder_below_an_unseen_tree),
		cmocka_unit_test(test_own_fifo),
		cmocka_unit_test(test_shaper_below_another),
		cmocka_unit_test(test_several_in_one_tree),
		cmocka_unit_test(test_pacing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
