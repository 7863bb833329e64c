/* SPDX-License-Identifier: GPL-2.0 */
/* The loads beside a run's main one: an iperf3 server and client each, started in their time. */
#ifndef SOJOURN_SIDE_LOADS_H
#define SOJOURN_SIDE_LOADS_H

#include "child.h"
#include "error.h"
#include "result.h"
#include "scenario.h"
#include "site.h"

struct side_loads {
	const struct scenario *scenario;
	const struct site_path *paths;	/* one for each, the site's */
	struct child servers[SCENARIO_SIDE_LOADS], clients[SCENARIO_SIDE_LOADS];
};

/* None runs; paths are asked for when one is started. */
void side_loads_init(struct side_loads *sides, const struct scenario *scenario,
		     const struct site_path *paths);

/* Start the servers, where they are ours to start. 0, or -1 and error. */
int side_loads_serve(struct side_loads *sides, const char *iperf3_path, struct error *error);

/*
 * gone_ns of the main load are over: start the clients whose time has come, take in what all
 * of them print. 0, or -1 and error: one could not be started, or ended with an error.
 */
int side_loads_turn(struct side_loads *sides, const char *iperf3_path, __u64 gone_ns,
		    struct error *error);

/* The main load is over: wait for the others, read what they say into load. 0, or -1 and error. */
int side_loads_finish(struct side_loads *sides, struct phase_load *load, struct error *error);

/* End what still runs, free what is left. */
void side_loads_stop(struct side_loads *sides);

#endif
