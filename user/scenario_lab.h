/* SPDX-License-Identifier: GPL-2.0 */
/* The lab of a scenario: its qdisc trees as keys, and what a result document says of it. */
#ifndef SOJOURN_SCENARIO_LAB_H
#define SOJOURN_SCENARIO_LAB_H

#include "lab.h"
#include "scenario.h"

/* Is it "qdisc.HOST.DEVICE"? */
bool scenario_is_tree_key(const char *key);

/* Set the tree of that key, or take it away where commands are empty. 0, or -1 and error. */
int scenario_set_tree(struct lab_plan *plan, const char *key, const char *commands,
		      struct error *error);

/*
 * The lowest rate that a tree names, bit/s, in the words by which tc's kinds set one
 * ("rate", "bandwidth"); ~0: none does.
 */
__u64 scenario_trees_rate(const struct lab_plan *plan);

/* What a lab needs to know of the scenario, which outlives the lab. */
void scenario_lab_options(const struct scenario *scenario, struct lab_options *options);

struct cJSON;
struct json;

/*
 * "qdiscs": [{"host", "device", "commands"}] where there are trees, "lab": {"hosts",
 * "links"} where it is planned. 0, or -1: out of memory.
 */
int scenario_lab_json(const struct scenario *scenario, struct cJSON *object);

/* Back from there; the topology is LAB_PLANNED where the document has a "lab". */
void scenario_lab_from_json(struct scenario *scenario, const struct json *object);

#endif
