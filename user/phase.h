/* SPDX-License-Identifier: GPL-2.0 */
/* Phases: which window each has, which probes and slices belong to it, their figures. */
#ifndef SOJOURN_PHASE_H
#define SOJOURN_PHASE_H

#include "error.h"
#include "result.h"

/* Moments of a run; 0 where it did not get that far. */
struct phase_moments {
	__u64 begin_ns;			/* first ping started */
	__u64 end_ns;			/* first ping ended */
	struct {
		__u64 begin_ns;		/* iperf3 client started */
		__u64 end_ns;		/* iperf3 client ended */
	} loads[SCENARIO_LOADS_MAX];
	__u64 omit_ns;			/* of a load's begin: left out, on top of the margin */
	__u64 restored_begin_ns;	/* second ping, qdiscs under test removed */
	__u64 restored_end_ns;
};

/*
 * The windows of result.phases by the definitions of the design: a load = its
 * client's life less omit_ns at its begin and margin_ns at both ends, a recovery from that load's end +
 * settle_ns to the next load or the end. A window that would be empty leaves its
 * phase invalid.
 */
void phase_windows(struct result *result, const struct phase_moments *moments,
		   __u64 margin_ns, __u64 settle_ns);

/*
 * Give each probe its phase by its sending time and fill the phases' figures:
 * probes, RTT, qdiscs (slices that lie wholly in the window), TCP, retransmits.
 */
int phase_fill(struct result *result, struct error *error);

/*
 * Median, over the answered probes of the phase, of such a time in that qdisc; ns, 0
 * where there are none. values has room for one of each probe.
 */
__u64 phase_median_in(const struct result *result, const struct phase *phase, probe_time *time_in,
		      __u32 qdisc, __u64 *values);

/*
 * Is the part that a slice has of that qdisc (index into result.qdiscs) its exclusive
 * time? So it is of a parent in the functions tier, and in the tracepoints tier of a root
 * with a leaf that is told by stamps: there it is the time outside of that leaf.
 */
bool phase_part_is_exclusive(const struct result *result, __u32 qdisc);

#endif
