/* SPDX-License-Identifier: GPL-2.0 */
/* Plots for a terminal: of characters, in Unicode (braille dots, eighths of blocks) or ASCII. */
#ifndef SOJOURN_PLOT_H
#define SOJOURN_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "units.h"

#define PLOT_WIDTH_MIN	40
#define PLOT_WIDTH_MAX	1000
#define PLOT_MARGIN	12	/* columns of the labels at the left */

struct plot_style {
	unsigned int width;	/* of a line, PLOT_WIDTH_MIN ... PLOT_WIDTH_MAX columns */
	bool ascii;
};

/* x grows from point to point. y NAN: there is none, and no line leads across. */
struct plot_point {
	double x, y;
};

/* A value as a person reads it; the functions of units.h. */
typedef const char *plot_text(double value, char text[UNITS_TEXT]);

struct plot {
	const char *title;
	double begin, end;	/* x of the left and the right end */
	const struct plot_point *points;
	size_t count;
	double gap;		/* points farther apart are not joined */
	plot_text *text;	/* of y */
};

/*
 * A curve over lines rows, from 0 at the bottom to the largest y at the top, with both named at
 * the left. Points side by side in one column are drawn from the lowest to the highest. Without
 * a single y: the title, and that there is nothing.
 */
void plot_curve(FILE *file, const struct plot_style *style, const struct plot *plot,
		unsigned int lines);

/* A part of the x axis, and its name. */
struct plot_span {
	const char *name;
	double begin, end;
};

/* The x axis below curves: spans named, and the seconds since begin. */
void plot_axis(FILE *file, const struct plot_style *style, double begin, double end,
	       const struct plot_span *spans, size_t count);

/* Values that are counted by column of a logarithmic axis from low to high, both above 0. */
struct plot_scale {
	double low, high;
};

/* Columns that a strip has, and that of a value; one below low or above high is at the end. */
unsigned int plot_strip_columns(const struct plot_style *style);
unsigned int plot_strip_column(const struct plot_style *style, const struct plot_scale *scale,
			       double value);

/*
 * A histogram in one line: as high in each column as its count is to the largest, and seen
 * where it is not 0. label: PLOT_MARGIN - 1 columns at most.
 */
void plot_strip(FILE *file, const struct plot_style *style, const char *label,
		const double *counts);

/* The axis below strips: its ends and the powers of ten between. */
void plot_strip_axis(FILE *file, const struct plot_style *style, const struct plot_scale *scale,
		     plot_text *text);

/* A bar from begin to end of a whole that is total long, indented by its begin, with its label. */
void plot_bar(FILE *file, const struct plot_style *style, const char *label, double begin,
	      double end, double total, plot_text *text);

#endif
