/* SPDX-License-Identifier: GPL-2.0 */
/* The shape of the RTT under each load of a run. */
#ifndef SOJOURN_LOAD_SHAPE_H
#define SOJOURN_LOAD_SHAPE_H

#include "result.h"

/*
 * Fill the shape of every load that took place: of the answered probes that were sent from its
 * begin until two seconds after its end, or until the next load or the removal of the qdiscs
 * under test; the base is the idle median. Without an answered probe in idle it stays
 * SHAPE_NONE. 0, or -1 and error (EXIT_CANNOT: memory).
 */
int load_shape_fill(struct result *result, struct error *error);

#endif
