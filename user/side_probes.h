/* SPDX-License-Identifier: GPL-2.0 */
/* The probes beside a run's main ones: a ping each, from the begin of the main ones to their end. */
#ifndef SOJOURN_SIDE_PROBES_H
#define SOJOURN_SIDE_PROBES_H

#include "child.h"
#include "error.h"
#include "result.h"
#include "scenario.h"
#include "site.h"

struct side_probes {
	const struct scenario *scenario;
	const struct site_path *paths;	/* one for each, the site's */
	struct child pings[SCENARIO_SIDE_PROBES];
};

/* None runs; paths are asked for when they are started. */
void side_probes_init(struct side_probes *sides, const struct scenario *scenario,
		      const struct site_path *paths);

/* Start all of them; the first has that ICMP identifier, the next one more. 0, or -1 and error. */
int side_probes_start(struct side_probes *sides, const char *ping_path, __u16 id,
		      struct error *error);

/* Take in what they print. 0, or -1 and error: one ended with an error. */
int side_probes_turn(struct side_probes *sides, struct error *error);

bool side_probes_ended(const struct side_probes *sides);

/*
 * All have ended: put what they printed beside result's probes of each, which are there. Returns
 * the number of replies that differ between ping and the trace, or -1 and error.
 */
int side_probes_match(const struct side_probes *sides, struct result *result,
		      struct error *error);

/* End what still runs, free what is left. */
void side_probes_stop(struct side_probes *sides);

#endif
