/* SPDX-License-Identifier: GPL-2.0 */
/* What is measured of a timeline before its shape is named. */
#ifndef SOJOURN_SHAPE_FIGURES_H
#define SOJOURN_SHAPE_FIGURES_H

#include <linux/types.h>
#include <stddef.h>

/* One answered probe. */
struct shape_point {
	__u64 time_ns;			/* when it was sent */
	double value_ns;		/* its RTT */
};

/* The RTT while a load lasted and for a while after it. Gaps are lost probes. */
struct shape_timeline {
	const struct shape_point *points;	/* by time, from the load's begin on */
	size_t count;
	__u64 begin_ns, end_ns;		/* of the load */
	double base_ns;			/* RTT without load: median */
	double spread_ns;		/* how far it strays from that of itself, as p95 - median tells it */
};

/*
 * Heights are ns above the base. The load ends where its queue begins to drain, which is
 * before its client ends: what the two ends say to each other last waits in that queue too.
 * "smooth" is after medians of three points, and of more where they scatter.
 */
struct shape_figures {
	/* points of the load; below SHAPE_POINTS_MIN nothing else is valid */
	size_t count;
	double load_ns;			/* how long it lasted */
	double tolerance_ns;		/* up to here a point is at the base */
	double height_ns;		/* smooth: p95 */

	/* flat, teardown spike */
	double at_base;			/* share of the points of the load that are */
	size_t above_row;		/* most points in a row that are not */
	/* highest before and since the last tenth of the load */
	double early_peak_ns, late_peak_ns;
	size_t early_row;		/* above_row before the last tenth */

	/* swings of the smooth line; those in a row are alternately up and down */
	unsigned int rises, falls;
	/* in 2/5 of the time that the rise beside them takes, or less */
	unsigned int sharp_falls;
	double sharp;			/* these of all, each weighed by that time; 0 to 1 */
	double falling;			/* time of all falls, of that of the rises beside them */
	double fall_ns, low_ns;		/* medians of the sharp falls: height, where they end, */
	double fall_time_ns;		/* time from 80 % to 20 % of it */
	double rise_time_ns;		/* and from 20 % to 80 % of the rises beside them */
	double upward;			/* what all swings come to, of their sum: 1: all rise */
	double first_rise;		/* time from 20 % to 80 % of the first, of all of it */

	/* thirds of the load, smooth: medians */
	double second_third_ns, last_third_ns;
	/* the last two of them: median, p10, p90 */
	double settled_ns, settled_low_ns, settled_high_ns;

	/* behind the load */
	double end_ns;			/* smooth: where it ends */
	size_t drain_points;		/* between 90 % and 10 % of that */
	/* from the last of 90 % or more to the first below 10 %; NAN: none is */
	double drain_time_ns;
};

#define SHAPE_POINTS_MIN	30

/*
 * Measure timeline. O(n log n); memory of its own for n points, given back. 0, or -1: memory is
 * short.
 */
int shape_measure(const struct shape_timeline *timeline, struct shape_figures *figures);

#endif
