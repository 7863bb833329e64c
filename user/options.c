// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "closest.h"
#include "error.h"
#include "options.h"
#include "scenario.h"

#define LONG_OPTIONS_MAX	64

int option_add(const struct command *command, const char **list, size_t most, size_t *count,
	       const char *option, const char *value)
{
	if (*count == most)
		return command_fail(command, EXIT_USAGE, "%s may be given %zu times at most",
				    option, most);
	list[(*count)++] = value;
	return EXIT_OK;
}

static int unknown_long(const struct command *command, const struct option *long_options,
			const char *argument)
{
	const char *names[LONG_OPTIONS_MAX];
	size_t count = 0;
	char bare[64];
	int nearest;

	while (count < LONG_OPTIONS_MAX && long_options[count].name) {
		names[count] = long_options[count].name;
		count++;
	}
	snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(argument, "="), argument);
	nearest = closest_name(bare + strspn(bare, "-"), names, count);
	if (nearest >= 0)
		return command_fail(command, EXIT_USAGE,
				    "unknown option \"%s\": did you mean \"--%s\"?", bare,
				    names[nearest]);
	return command_fail(command, EXIT_USAGE,
			    "unknown option \"%s\": `sojourn help %s` lists them", bare,
			    command->name);
}

int option_bad(const struct command *command, const struct option *long_options, int option,
	       const char *argument)
{
	/* Of short ones in a cluster only the letter is known. */
	if (option == '?' && optopt > 0 && optopt < 256)
		return command_fail(command, EXIT_USAGE,
				    "unknown option \"-%c\": `sojourn help %s` lists them", optopt,
				    command->name);
	if (option == ':')
		return command_fail(command, EXIT_USAGE,
				    "%s needs a value; see `sojourn help %s`", argument,
				    command->name);
	return unknown_long(command, long_options, argument);
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

int option_scenario(const struct command *command, const char *name, const char *const *set,
		    size_t set_count, struct scenario *scenario)
{
	struct error error;

	if (scenario_named(scenario, name, &error))
		goto fail;
	for (size_t i = 0; i < set_count; i++)
		if (scenario_set(scenario, set[i], &error))
			goto fail;
	if (scenario_check(scenario, &error))
		goto fail;
	return EXIT_OK;
fail:
	return command_fail(command, error.code, "%s", error.text);
}

int option_directory(const struct command *command, const char *directory)
{
	char parent[PATH_MAX];
	struct stat status;

	if (!stat(directory, &status)) {
		if (!S_ISDIR(status.st_mode))
			return command_fail(command, EXIT_USAGE, "--out %s: it is not a directory",
					    directory);
		if (access(directory, W_OK | X_OK))
			return command_fail(command, EXIT_USAGE, "--out %s: %s", directory,
					    strerror(errno));
		return EXIT_OK;
	}
	if (strlen(directory) >= sizeof(parent))
		return command_fail(command, EXIT_USAGE, "--out: the name is too long");
	strcpy(parent, directory);
	if (access(dirname(parent), W_OK | X_OK))
		return command_fail(command, EXIT_USAGE, "--out %s: it cannot be made: %s",
				    directory, strerror(errno));
	return EXIT_OK;
}
