/* SPDX-License-Identifier: GPL-2.0 */
/* Options that several subcommands take. Each function: EXIT_OK, or the line is told and EXIT_USAGE. */
#ifndef SOJOURN_OPTIONS_H
#define SOJOURN_OPTIONS_H

#include <stddef.h>

#include "commands.h"
#include "tracer.h"

/* One more value of an option that may be repeated, most times at most; list is not owned. */
int option_add(const struct command *command, const char **list, size_t most, size_t *count,
	       const char *option, const char *value);

struct option;

/*
 * What getopt_long() did not know, or had no value for: option is what it returned, argument the
 * one that it looked at. The line names the closest long option.
 */
int option_bad(const struct command *command, const struct option *long_options, int option,
	       const char *argument);

struct scenario;

/* The scenario of that name with each KEY=VALUE of --set, checked. */
int option_scenario(const struct command *command, const char *name, const char *const *set,
		    size_t set_count, struct scenario *scenario);

/* --out DIRECTORY: can files be made in it, or it itself be made? Nothing is made yet. */
int option_directory(const struct command *command, const char *directory);

/* --tier NAME */
int option_tier(const struct command *command, const char *name, enum tracer_tier *tier);

#endif
