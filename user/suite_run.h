/* SPDX-License-Identifier: GPL-2.0 */
/* Performing a suite, run by run. */
#ifndef SOJOURN_SUITE_RUN_H
#define SOJOURN_SUITE_RUN_H

#include "out_suite.h"
#include "tracer.h"

struct suite_options {
	const char *only;		/* of names or classes of runs (fnmatch(3)); NULL: all */
	unsigned int repeats;		/* of each, 1 at least */
	double scale;			/* of times */
	const char *directory;		/* where results are kept and found again; NULL: nowhere */
	const char *const *sets;	/* KEY=VALUE for every run */
	size_t set_count;
	enum tracer_tier tier;
	/* Told of each result (may be NULL): an exit code that is kept where it is the gravest. */
	int (*finished)(void *context, const char *name, const struct result *result);
	void *context;
	/* A line about what is being done; may be NULL. */
	void (*progress)(const char *text);
};

/* Check every run that is asked for. 0, or -1 and error (EXIT_USAGE): also where none is. */
int suite_check(const struct suite *suite, const struct suite_options *options,
		struct error *error);

/*
 * Perform it. outcome is filled as far as it got, also where it ends early; its rows are the
 * caller's to free. Returns an exit code; where that is not EXIT_OK, EXIT_FAIL_IF or
 * EXIT_INCOMPLETE error says why it ended early. A run that has a complete result of the same
 * scenario in the directory is not done again.
 */
int suite_perform(const struct suite *suite, const struct suite_options *options,
		  struct suite_outcome *outcome, struct error *error);

#endif
