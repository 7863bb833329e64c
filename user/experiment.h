/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run: the lab, the tracer in it, iperf3 and ping through the scenario's
 * phases, and the result.
 */
#ifndef SOJOURN_EXPERIMENT_H
#define SOJOURN_EXPERIMENT_H

#include <stddef.h>

#include "error.h"
#include "guard.h"
#include "result.h"
#include "scenario.h"
#include "tracer.h"

struct experiment_options {
	const struct scenario *scenario;
	struct guard *guard;
	/*
	 * Names of the namespaces to trace; NULL: the lab's. Of a client that is not
	 * among them only the ends of its probes' RTT and its TCP states are taken.
	 */
	const char *const *netns;
	size_t netns_count;
	enum tracer_tier tier;
	/* Told about progress: phase, seconds of it gone and in all. May be NULL. */
	void (*progress)(const char *phase, double gone_s, double all_s);
};

/* What the programs printed, for who wants to keep it; owned by the caller. */
struct experiment_output {
	char *iperf3[SCENARIO_LOADS_MAX];	/* of each load */
	char *ping;
	char left_behind[512];	/* why the lab could not be removed; "" where it was */
};

/*
 * Run it. result was initialized and is filled; everything that was made is
 * removed again when it returns, or output says what could not be. 0, or -1 and
 * error; after SIGINT, SIGTERM or SIGHUP error.code is 128 and the signal's
 * number. output is filled as far as it got.
 */
int experiment_run(const struct experiment_options *options, struct result *result,
		   struct experiment_output *output, struct error *error);

#endif
