/* SPDX-License-Identifier: GPL-2.0 */
/* Two results, or two sets of repeats, figure by figure: what changed, and how sure that is. */
#ifndef SOJOURN_COMPARE_H
#define SOJOURN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "result.h"
#include "statistics.h"

/* So many repeats a side are compared as such; fewer by the first of them alone. */
#define COMPARE_REPEATS		3

#define COMPARE_NAME		48
#define COMPARE_ROWS_MAX	160

enum compare_verdict {
	COMPARE_SAME,		/* the difference is too small to matter */
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE_CHANGED,	/* neither is better */
	COMPARE_UNSURE,		/* it is not small, but may be chance */
};

struct compare_row {
	char name[COMPARE_NAME];	/* as in conditions: "load.rtt.p50" */
	double before, after;		/* of repeats their medians */
	bool have_interval;
	struct statistics_interval change;	/* what the change lies in, with the confidence asked for */
	double p;			/* of repeats (statistics_mann_whitney()); else NAN */
	enum compare_verdict verdict;
};

/* The results of one side. */
struct compare_side {
	const struct result *results;
	size_t count;			/* 1 at least */
};

struct comparison {
	bool by_repeats;		/* else by the probes of two runs */
	double confidence;		/* 0.95 */
	struct compare_row rows[COMPARE_ROWS_MAX];
	size_t count;
};

/*
 * Compare every figure that both sides have. An interval of the change: of repeats for all
 * figures, by a bootstrap over the repeats; of two runs for the RTT figures of a phase, by
 * a bootstrap over blocks of its probes, ten at least, and it is about these two runs then. A
 * change below 5 %, and of a time, below 0.2 ms, of a count below 3, of a share below 2
 * points, does not matter. 0, or -1 and error (EXIT_CANNOT: memory).
 */
int compare_fill(struct comparison *comparison, const struct compare_side *before,
		 const struct compare_side *after, double confidence, struct error *error);

/* The row of that name, or NULL. */
const struct compare_row *compare_row_find(const struct comparison *comparison, const char *name);

const char *compare_verdict_text(enum compare_verdict verdict);

#endif
