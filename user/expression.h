/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The conditions of --fail-if: FIGURE OPERATOR VALUE, as in "load.rtt.p99 > 20ms",
 * "recovery.lost > 0", "load.received_rate < 9mbit", "load.share >= 50%".
 */
#ifndef SOJOURN_EXPRESSION_H
#define SOJOURN_EXPRESSION_H

#include <stdbool.h>

#include "error.h"
#include "result.h"

struct expression;

/*
 * Read a condition. NULL and error (EXIT_USAGE) that says what is wrong and at
 * which character, and names close figures. Owned by the caller.
 */
struct expression *expression_parse(const char *text, struct error *error);

/*
 * Does the run have the phase that the figure is of? 0, or -1 and error
 * (EXIT_USAGE) that names those that it has.
 */
int expression_check(const struct expression *expression, const struct scenario *scenario,
		     struct error *error);

/*
 * Does it hold for result? A figure that the result does not have (a phase that
 * did not take place, no reply) is an error (EXIT_INCOMPLETE), never false.
 * 0, or -1 and error.
 */
int expression_holds(const struct expression *expression, const struct result *result,
		     bool *holds, struct error *error);

/* "load.rtt.p99 is 411 ms, which is > 20ms": the figure as it was found, for a person. */
int expression_describe(const struct expression *expression, const struct result *result,
			char *text, size_t size, struct error *error);

void expression_free(struct expression *expression);

/*
 * A figure by its name, such as "load.rtt.p99", in ns, bit/s, packets or as a fraction. False
 * where result has none, or there is none of that name.
 */
bool expression_figure(const char *name, const struct result *result, double *value);

/* A value of it for a person: "411 ms", "9.57 Mbit/s", "12 %", "3". Returns text. */
#define EXPRESSION_TEXT	32
const char *expression_figure_text(const char *name, double value, char text[EXPRESSION_TEXT]);

/*
 * The conditions of `sojourn compare`: "before.FIGURE", "after.FIGURE" or "change.FIGURE" in
 * place of the figure. A change is after less before, in the figure's unit, or with "%" in
 * percent of before; it may be negative: "change.load.rtt.p99 > 10%", "change.load.drops > -5".
 * For a figure that is a fraction itself, "%" are points.
 */
struct expression *expression_parse_change(const char *text, struct error *error);

/*
 * Does such a condition hold between two values of its figure (expression_name()), and how for a
 * person? -1 and error (EXIT_INCOMPLETE): a change in percent of 0.
 */
int expression_change_holds(const struct expression *expression, double before, double after,
			    bool *holds, char *text, size_t size, struct error *error);

/* The figure's name, without "before." and the like; owned by expression. */
const char *expression_name(const struct expression *expression);

/* Every figure with its unit and meaning, to stdout (`sojourn help run`). */
void expression_print_figures(void);

#endif
