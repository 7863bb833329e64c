/* SPDX-License-Identifier: GPL-2.0 */
/* A comparison for a person and for a program. */
#ifndef SOJOURN_OUT_COMPARE_H
#define SOJOURN_OUT_COMPARE_H

#include <stdio.h>

#include "compare.h"

/* Where a side's results came from. */
struct compare_source {
	const char *name;		/* the file, or the directory */
	char *const *files;		/* as many as the side has results */
};

struct compare_output {
	const struct comparison *comparison;
	struct compare_side sides[2];	/* before, after */
	struct compare_source sources[2];
};

/* Tables and the verdict, 100 columns at most. */
void out_compare_text(const struct compare_output *output, FILE *file, bool color);

/* One JSON document ("sojourn-compare/1", docs/compare.md). The caller's to free; NULL: out of memory. */
char *out_compare_json(const struct compare_output *output);

#endif
