/* SPDX-License-Identifier: GPL-2.0 */
/* What a suite measured: tables for the terminal, and a document ("sojourn-suite/1"). */
#ifndef SOJOURN_OUT_SUITE_H
#define SOJOURN_OUT_SUITE_H

#include <stdio.h>

#include "suite_figures.h"

struct suite_outcome {
	const struct suite *suite;
	double scale;			/* of times */
	char version[32], kernel[128], tier[32];
	__u64 started_realtime_ns;
	struct suite_row *rows;
	size_t row_count;
	unsigned int runs_asked, runs_done;	/* with repeats; done: with a result */
	bool interrupted;
};

void out_suite_text(const struct suite_outcome *outcome, FILE *file);

/* The text is the caller's to free; NULL: out of memory. */
char *out_suite_json(const struct suite_outcome *outcome);

#endif
