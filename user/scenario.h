/* SPDX-License-Identifier: GPL-2.0 */
/* A scenario: every value of a run, its name, its default and its bounds. */
#ifndef SOJOURN_SCENARIO_H
#define SOJOURN_SCENARIO_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "iperf3.h"

struct cJSON;

struct scenario {
	char name[32];			/* "bottleneck" */
	__u64 idle_ns;			/* idle.seconds 3 */
	__u64 load_ns;			/* load.seconds 15 (whole seconds, iperf3's -t) */
	__u64 recovery_ns;		/* recovery.seconds 8 (26 s of probes less idle and load) */
	__u64 margin_ns;		/* load.margin 1s: left out at both ends of the load window */
	__u64 settle_ns;		/* recovery.margin 1s: recovery starts so long after the load */
	unsigned int load_streams;	/* load.streams 1 */
	char load_congestion[16];	/* load.cc cubic */
	enum load_proto load_proto;	/* load.proto tcp */
	__u64 load_rate;		/* load.rate 0: no cap */
	enum load_direction load_direction;	/* load.direction up */
	__u16 load_port;		/* load.port 5201 */
	char qdisc_kind[16];		/* qdisc.kind tbf */
	__u64 qdisc_rate;		/* qdisc.rate 10mbit */
	__u64 qdisc_burst;		/* qdisc.burst 32kb */
	__u64 qdisc_latency_ns;		/* qdisc.latency 400ms */
	__u64 probe_interval_ns;	/* probe.interval 0.1 */
	unsigned int probe_count;	/* probe.count 260 */
	unsigned int probe_size;	/* probe.size 56 */
	unsigned int restored_count;	/* restored.count 20 */
	char lab_prefix[24];		/* lab.prefix pl- */
	bool lab_ipv6;			/* lab.ipv6 false: probe and load over IPv4 */
};

/*
 * Fill scenario with the named scenario's defaults. Unknown names fail with
 * EXIT_USAGE and name those that exist and the closest one.
 */
int scenario_named(struct scenario *scenario, const char *name, struct error *error);

/*
 * Apply one "key=value". Unknown keys fail and name the close ones; bad values
 * fail and say what the key takes.
 */
int scenario_set(struct scenario *scenario, const char *assignment, struct error *error);

/*
 * Bounds between values: are there probes for every phase, is the burst large
 * enough for one packet at that rate and the timer, do the names fit. Where
 * idle, load or recovery were set and probe.count was not, the count follows.
 */
int scenario_check(struct scenario *scenario, struct error *error);

/* All keys with their values, for the result; the object is the caller's. */
struct cJSON *scenario_json(const struct scenario *scenario);

/* List every key, default and meaning on stdout (`sojourn help run`). */
void scenario_print_keys(void);

#endif
