/* SPDX-License-Identifier: GPL-2.0 */
/* Phases: which window each has, which probes and slices belong to it, their figures. */
#ifndef SOJOURN_PHASE_H
#define SOJOURN_PHASE_H

#include "error.h"
#include "result.h"

/* Moments of a run; 0 where it did not get that far. */
struct phase_moments {
	__u64 begin_ns;			/* first ping started */
	__u64 load_begin_ns;		/* iperf3 client started */
	__u64 load_end_ns;		/* iperf3 client ended */
	__u64 end_ns;			/* first ping ended */
	__u64 restored_begin_ns;	/* second ping, qdisc under test removed */
	__u64 restored_end_ns;
};

/*
 * Windows by the definitions of the design: load = client's life less margin_ns
 * at both ends, recovery from load_end + settle_ns. A window that would be
 * empty leaves its phase invalid.
 */
void phase_windows(struct phase phases[PHASES], const struct phase_moments *moments,
		   __u64 margin_ns, __u64 settle_ns);

/*
 * Give each probe its phase by its sending time and fill the phases' figures:
 * probes, RTT, qdiscs (slices that lie wholly in the window), TCP, retransmits.
 */
int phase_fill(struct result *result, struct error *error);

const char *phase_name_text(enum phase_name name);

#endif
