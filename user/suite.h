/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A suite: runs of scenarios with what each of them changes, from a file (INI) or one of
 * those that are built in:
 *
 *	[suite]		title
 *	[common]	scenario, set, optional: of all runs
 *	[run NAME]	title, class, scenario, set, optional
 */
#ifndef SOJOURN_SUITE_H
#define SOJOURN_SUITE_H

#include "error.h"
#include "scenario.h"

#define SUITE_RUNS		64
#define SUITE_SETS		24	/* of a run, with the common ones */
#define SUITE_NAME_SIZE		32
#define SUITE_TITLE_SIZE	128

struct suite_run {
	char name[SUITE_NAME_SIZE];
	char class[SUITE_NAME_SIZE];	/* runs of one class are summed up together; "": none */
	char title[SUITE_TITLE_SIZE];
	char *scenario;			/* owned */
	char *sets[SUITE_SETS];		/* KEY=VALUE; owned */
	unsigned int set_count;
	/* Those of them that are left out, and told, where the kernel has no such qdisc. */
	bool optional[SUITE_SETS];
};

struct suite {
	char name[SUITE_NAME_SIZE];
	char title[SUITE_TITLE_SIZE];
	struct suite_run *runs;		/* owned; SUITE_RUNS of them fit */
	unsigned int run_count;
};

/*
 * Fill suite from a built-in one or from a file: a name with a "/" in it, or one of a file
 * that exists where none is built in by that name. 0, or -1 and error (EXIT_USAGE);
 * suite_free() is right in either case.
 */
int suite_named(struct suite *suite, const char *name, struct error *error);

/* The same from a text; name stands for it in errors. */
int suite_parse(struct suite *suite, const char *text, size_t length, const char *name,
		struct error *error);

void suite_free(struct suite *suite);

/* How many suites are built in, and the name of one of them. */
unsigned int suite_builtin_count(void);
const char *suite_builtin_name(unsigned int index);

/*
 * The scenario of a run, scaled: idle, load, recovery and what is omitted last scale times as
 * long, a load no less than it needs between its margins. more: KEY=VALUE of the caller, which
 * come last and are not scaled. without_optional leaves those out. 0, or -1 and error.
 */
int suite_scenario(const struct suite_run *run, double scale, bool without_optional,
		   const char *const *more, size_t more_count, struct scenario *scenario,
		   struct error *error);

#endif
