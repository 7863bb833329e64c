/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run: the lab, the tracer in it, iperf3 and ping through an idle, a loaded,
 * a recovery and a restored phase, and the result.
 */
#ifndef SOJOURN_EXPERIMENT_H
#define SOJOURN_EXPERIMENT_H

#include <stddef.h>

#include "error.h"
#include "guard.h"
#include "result.h"
#include "scenario.h"

/* The most namespaces that can be traced. */
#define EXPERIMENT_NETNS_MAX	64

struct experiment_options {
	const struct scenario *scenario;
	struct guard *guard;
	const char *const *netns;	/* names whose qdiscs are traced; NULL: the lab's */
	size_t netns_count;
	/* Told about progress: phase, seconds of it gone and in all. May be NULL. */
	void (*progress)(enum phase_name phase, double gone_s, double all_s);
};

/* What the programs printed, for who wants to keep it; owned by the caller. */
struct experiment_output {
	char *iperf3;
	char *ping;
	char left_behind[512];	/* why the lab could not be removed; "" where it was */
};

/*
 * Run it. result was initialized and is filled; everything that was made is
 * removed again when it returns, or output says what could not be. 0, or -1 and error; after SIGINT, SIGTERM or
 * SIGHUP error.code is 128 and the signal's number. output is filled as far as
 * it got.
 */
int experiment_run(const struct experiment_options *options, struct result *result,
		   struct experiment_output *output, struct error *error);

#endif
