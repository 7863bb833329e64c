// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "error.h"
#include "options.h"

int option_add(const struct command *command, const char **list, size_t most, size_t *count,
	       const char *option, const char *value)
{
	if (*count == most)
		return command_fail(command, EXIT_USAGE, "%s may be given %zu times at most",
				    option, most);
	list[(*count)++] = value;
	return EXIT_OK;
}

int option_tier(const struct command *command, const char *name, enum tracer_tier *tier)
{
	if (!strcmp(name, "functions"))
		*tier = TIER_FUNCTIONS;
	else if (!strcmp(name, "tracepoints"))
		*tier = TIER_TRACEPOINTS;
	else
		return command_fail(command, EXIT_USAGE,
				    "--tier %s: there are the tiers functions and tracepoints; without --tier it is the best that works",
				    name);
	return EXIT_OK;
}
