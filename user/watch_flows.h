/* SPDX-License-Identifier: GPL-2.0 */
/* The flows of a qdisc that watch shows: whose packets they are. */
#ifndef SOJOURN_WATCH_FLOWS_H
#define SOJOURN_WATCH_FLOWS_H

#include <stddef.h>

#include "tracer.h"

#define WATCH_FLOWS_MAX	4096
#define WATCH_FLOW_SIZE	160	/* bytes of a flow as text */

struct watch_flows {
	struct tracer_flow *flows;	/* WATCH_FLOWS_MAX; owned */
	size_t count;			/* by their part of the backlog, the largest first */
	double byte_us;			/* of all */
};

/* 0, or -1: out of memory. */
int watch_flows_init(struct watch_flows *flows);
void watch_flows_free(struct watch_flows *flows);

/* After flows and count were filled: sort and sum them up. */
void watch_flows_sort(struct watch_flows *flows);

/* "tcp 10.0.0.1:5201 > [fd00::2]:40000", "no IP"; returns text. */
const char *watch_flow_text(const struct packet_flow *flow, char text[WATCH_FLOW_SIZE]);

/* The heading, and the line of one of them; returns line. */
const char *watch_flows_heading(char *line, size_t size);
const char *watch_flows_line(const struct watch_flows *flows, size_t index, double seconds,
			     char *line, size_t size);

#endif
