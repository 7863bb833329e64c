/* SPDX-License-Identifier: GPL-2.0 */
/* Loads beside a scenario's main one: their keys, their bounds, what a document says of them. */
#ifndef SOJOURN_SCENARIO_SIDE_H
#define SOJOURN_SCENARIO_SIDE_H

#include "scenario.h"

/* Is it "load.NAME.KEY"? */
bool scenario_is_side_key(const char *key);

/*
 * Set that key, of a load that is added where it is not there yet; KEY is one of load.*, or
 * "start". 0, or -1 and error (EXIT_USAGE).
 */
int scenario_set_side(struct scenario *scenario, const char *key, const char *value,
		      struct error *error);

/* Do they fit into the main load, is each port of a host another one? 0, or -1 and error. */
int scenario_check_sides(const struct scenario *scenario, struct error *error);

struct cJSON;

/* "loads": [{"name", "from", ...}] where there are some. 0, or -1: out of memory. */
int scenario_sides_json(const struct scenario *scenario, struct cJSON *object);

struct json;

/* The other way round; what is wrong is told by the reader (json_read.h). */
void scenario_sides_from_json(struct scenario *scenario, const struct json *object);

#endif
