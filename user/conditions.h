/* SPDX-License-Identifier: GPL-2.0 */
/* The --fail-if options of a command: read together, judged one by one, told the same way. */
#ifndef SOJOURN_CONDITIONS_H
#define SOJOURN_CONDITIONS_H

#include <stddef.h>

#include "commands.h"
#include "expression.h"

#define CONDITIONS_MAX	64

struct conditions {
	const char *texts[CONDITIONS_MAX];	/* as they were given; not copied */
	struct expression *expressions[CONDITIONS_MAX];	/* owned */
	size_t count;
};

/* One more --fail-if. EXIT_OK, or the line is told and EXIT_USAGE. */
int conditions_add(struct conditions *conditions, const struct command *command,
		   const char *text);

/*
 * Read them all, with expression_parse() or expression_parse_change(). scenario (may be NULL):
 * of the run that they will be about, expression_check(). EXIT_OK, or the line is told and its
 * code.
 */
typedef struct expression *condition_parser(const char *text, struct error *error);
int conditions_parse(struct conditions *conditions, const struct command *command,
		     condition_parser *parse, const struct scenario *scenario);

/*
 * Does it hold, and how for a person (found)? 0, or -1 and error where its figure has no value.
 */
typedef int condition_judge(const struct expression *expression, const void *context, bool *holds,
			    char *found, size_t size, struct error *error);

/* The judge of a result (the context). */
condition_judge condition_of_result;

/*
 * Judge all of them and tell each that holds or has no value. The gravest code: EXIT_INCOMPLETE
 * before EXIT_FAIL_IF before EXIT_OK.
 */
int conditions_judge(const struct conditions *conditions, const struct command *command,
		     condition_judge *judge, const void *context);

void conditions_free(struct conditions *conditions);

#endif
