/* SPDX-License-Identifier: GPL-2.0 */
/* The figures of a phase for probes beside the main ones. */
#ifndef SOJOURN_SIDE_PROBE_FIGURES_H
#define SOJOURN_SIDE_PROBE_FIGURES_H

#include "error.h"
#include "result.h"

struct side_probe_figures {
	unsigned int sent, lost;
	struct summary rtt;		/* ns, of those that were answered */
	__u32 qdisc;			/* in which they were longest; RESULT_NO_QDISC: in none */
	double qdisc_ns;		/* the mean time there, both ways, without that in others below */
};

/*
 * Of result.side_probes[side] in that phase, one of result's. 0, or -1 and error: out of
 * memory.
 */
int side_probe_figures(const struct result *result, unsigned int side, const struct phase *phase,
		       struct side_probe_figures *figures, struct error *error);

#endif
