/* SPDX-License-Identifier: GPL-2.0 */
/* Probes beside a scenario's main ones: their keys, their bounds, what a document says of them. */
#ifndef SOJOURN_SCENARIO_PROBES_H
#define SOJOURN_SCENARIO_PROBES_H

#include "scenario.h"

/* Is it "probe.NAME.KEY"? */
bool scenario_is_side_probe_key(const char *key);

/*
 * Set that key, of probes that are added where they are not there yet; KEY is to, from or
 * interval, or "" only to add them. 0, or -1 and error (EXIT_USAGE).
 */
int scenario_set_side_probe(struct scenario *scenario, const char *key, const char *value,
			    struct error *error);

/* Are their hosts there, does one ping number all of them? 0, or -1 and error. */
int scenario_check_side_probes(const struct scenario *scenario, struct error *error);

struct cJSON;

/* "probes": [{"name", "to", ...}] where there are some. 0, or -1: out of memory. */
int scenario_side_probes_json(const struct scenario *scenario, struct cJSON *object);

struct json;

/* The other way round; what is wrong is told by the reader (json_read.h). */
void scenario_side_probes_from_json(struct scenario *scenario, const struct json *object);

#endif
