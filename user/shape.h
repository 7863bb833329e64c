/* SPDX-License-Identifier: GPL-2.0 */
/* The shape of a timeline by a name that a person would give it, and why (docs/shapes.md). */
#ifndef SOJOURN_SHAPE_H
#define SOJOURN_SHAPE_H

#include "shape_figures.h"

enum shape_name {
	SHAPE_NONE,		/* not looked for */
	SHAPE_UNKNOWN,		/* too few points */
	SHAPE_FLAT,
	SHAPE_TEARDOWN_SPIKE,	/* flat, and a peak where the load ends */
	SHAPE_SAWTOOTH,		/* rises, and falls at once */
	SHAPE_RAMP,		/* rises to the end of the load */
	SHAPE_TRIANGLE,		/* the same, and is seen to drain */
	SHAPE_PLATEAU,		/* rises, and stays */
	SHAPE_CHAOTIC,		/* none of these */
};

#define SHAPE_WHY	240

struct shape {
	enum shape_name name;
	char why[SHAPE_WHY];	/* the figures that decided, in words */
};

/* The name that belongs to the figures; none that was never measured. */
enum shape_name shape_of_figures(const struct shape_figures *figures);

/*
 * Name the shape of timeline and say why. figures may be NULL: else what was measured goes
 * there. 0, or -1: memory is short.
 */
int shape_find(const struct shape_timeline *timeline, struct shape *shape,
	       struct shape_figures *figures);

#endif
