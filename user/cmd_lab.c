// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "lab.h"
#include "lab_state.h"

static void print_removal(const char *prefix, const struct lab_removal *removal)
{
	int host;

	if (!removal->found) {
		printf("no lab %s: nothing to remove\n", prefix);
		return;
	}
	for (host = 0; host < LAB_HOSTS; host++) {
		const char *name = removal->names[host];

		if (removal->fate[host] == LAB_FATE_REMOVED)
			printf("removed network namespace %s\n", name);
		else if (removal->fate[host] == LAB_FATE_FOREIGN)
			printf("left alone %s: sojourn did not make what has that name now\n",
			       name);
	}
	if (!removal->removed)
		printf("lab %s had nothing left: removed its state file\n", prefix);
}

static int down_one(const char *prefix, bool force)
{
	struct lab_removal removal;
	struct error error;

	if (lab_remove_one(prefix, force, &removal, &error))
		return command_fail(&cmd_lab, error.code, "%s", error.text);
	print_removal(prefix, &removal);
	return EXIT_OK;
}

/* Every lab with a state file; one that is in use does not keep the others. */
static int down_all(bool force)
{
	struct error error;
	char **prefixes;
	int i, status, code = EXIT_OK;
	int count = lab_state_prefixes(&prefixes, &error);

	if (count < 0)
		return command_fail(&cmd_lab, error.code, "%s", error.text);
	if (!count)
		puts("no lab: nothing to remove");
	for (i = 0; i < count; i++) {
		status = down_one(prefixes[i], force);
		if (status)
			code = status;
	}
	lab_state_prefixes_free(prefixes, count);
	return code;
}

static int down(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "force", no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	bool force = false;
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'f')
			return command_fail(&cmd_lab, EXIT_USAGE,
					    "lab down takes --force and a prefix, not '%s'",
					    argv[optind - 1]);
		force = true;
	}
	if (argc - optind > 1)
		return command_fail(&cmd_lab, EXIT_USAGE, "lab down takes one prefix, not %d",
				    argc - optind);
	return optind < argc ? down_one(argv[optind], force) : down_all(force);
}

static void print_line(void *context, const char *text)
{
	(void)context;
	puts(text);
}

static int list(int argc, char *argv[])
{
	struct error error;
	int count;

	if (argc > 1)
		return command_fail(&cmd_lab, EXIT_USAGE, "lab list takes nothing, not '%s'",
				    argv[1]);
	count = lab_list(print_line, NULL, &error);
	if (count < 0)
		return command_fail(&cmd_lab, error.code, "%s", error.text);
	if (!count)
		puts("no lab");
	return EXIT_OK;
}

static int run(int argc, char *argv[])
{
	if (argc > 1 && !strcmp(argv[1], "down"))
		return down(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "list"))
		return list(argc - 1, argv + 1);
	if (argc > 1)
		return command_fail(&cmd_lab, EXIT_USAGE,
				    "unknown '%s': it is `sojourn lab down` or `sojourn lab list`",
				    argv[1]);
	return command_fail(&cmd_lab, EXIT_USAGE, "say `sojourn lab down` or `sojourn lab list`");
}

static void help(void)
{
	puts("  down [--force] [PREFIX]\n"
	     "         remove what killed runs left: exactly the network namespaces that a\n"
	     "         state file in " LAB_STATE_DIRECTORY " proves to be sojourn's, of the lab with that\n"
	     "         prefix or of all. A lab whose run is still going is refused without\n"
	     "         --force\n"
	     "  list   show the labs that there are, who made them, and whether that process\n"
	     "         still runs");
}

const struct command cmd_lab = {
	.name = "lab",
	.usage = "lab down [--force] [PREFIX] | lab list",
	.summary = "list the labs of runs and remove what a killed one left",
	.run = run,
	.help = help,
};
