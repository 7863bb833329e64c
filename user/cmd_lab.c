// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "guard.h"
#include "lab.h"
#include "lab_state.h"
#include "options.h"
#include "scenario.h"
#include "scenario_lab.h"

#define LIST_MAX	64
#define PREFIX_DEFAULT	"pl-"
#define EXIT_NOT_EXECUTABLE	126	/* as a shell says it */
#define EXIT_NOT_FOUND		127

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

/* ---- down ---- */

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

/* ---- up ---- */

static void print_hosts(const struct scenario *scenario)
{
	const struct lab_plan *plan = &scenario->plan;
	unsigned int i;

	printf("lab %s is up:\n", scenario->lab_prefix);
	for (i = 0; i < plan->host_count; i++) {
		const char *address = lab_plan_address(plan, i, scenario->lab_ipv6);

		printf("  %s%-15s %s\n", scenario->lab_prefix, plan->hosts[i].name,
		       address ? address : "");
	}
	printf("`sojourn lab exec%s%s HOST -- COMMAND` runs something there, `sojourn lab down %s` removes it\n",
	       strcmp(scenario->lab_prefix, PREFIX_DEFAULT) ? " --prefix " : "",
	       strcmp(scenario->lab_prefix, PREFIX_DEFAULT) ? scenario->lab_prefix : "",
	       scenario->lab_prefix);
}

/* The guard removes it where we die before it is kept. */
static int make(const struct scenario *scenario, struct guard *guard)
{
	struct lab_options options;
	struct error error;
	struct lab *lab;

	scenario_lab_options(scenario, &options);
	if (guard_lab(guard, scenario->lab_prefix, &error))
		goto fail;
	lab = lab_create(&options, &error);
	if (!lab || lab_keep(lab, &error))
		goto fail;
	print_hosts(scenario);
	return EXIT_OK;
fail:
	return command_fail(&cmd_lab, error.code, "%s", error.text);
}

static int make_guarded(const struct scenario *scenario)
{
	struct doctor_check privileges;
	struct guard *guard;
	struct error error;
	int code;

	doctor_examine_privileges(&privileges);
	if (!privileges.works)
		return command_fail(&cmd_lab, EXIT_CANNOT, "%s", privileges.why);
	guard = guard_start(&error);
	if (!guard)
		return command_fail(&cmd_lab, error.code, "%s", error.text);
	code = make(scenario, guard);
	guard_stop(guard);
	return code;
}

static int up(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "set", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const char *set[LIST_MAX];
	struct scenario scenario;
	size_t set_count = 0;
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == 's')
			code = option_add(&cmd_lab, set, LIST_MAX, &set_count, "--set", optarg);
		else
			code = option_bad(&cmd_lab, options, option, argv[optind - 1]);
	}
	if (!code && argc - optind > 1)
		return command_fail(&cmd_lab, EXIT_USAGE, "lab up takes one scenario, not %d",
				    argc - optind);
	if (!code)
		code = option_scenario(&cmd_lab, optind < argc ? argv[optind] : "bottleneck", set,
				       set_count, &scenario);
	if (!code && scenario.topology == LAB_NONE)
		return command_fail(&cmd_lab, EXIT_USAGE, "lab up: this scenario has no lab");
	return code ? code : make_guarded(&scenario);
}

/* ---- exec ---- */

/*
 * As ip netns exec does: /sys shows the devices of the namespace in which it was mounted, so
 * it is mounted anew, in a mount namespace of our own.
 */
static int enter(int netns_fd, struct error *error)
{
	if (setns(netns_fd, CLONE_NEWNET))
		return error_set_errno(error, EXIT_CANNOT, "cannot enter the network namespace");
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_SLAVE | MS_REC, NULL))
		return error_set_errno(error, EXIT_CANNOT, "cannot have mounts of one's own");
	umount2("/sys", MNT_DETACH);
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		return error_set_errno(error, EXIT_CANNOT, "cannot mount /sys");
	return 0;
}

static int exec_in(const char *prefix, const char *host, char *command[])
{
	struct error error;
	int fd = lab_open_netns(prefix, host, &error);

	if (fd < 0 || enter(fd, &error))
		return command_fail(&cmd_lab, error.code, "%s", error.text);
	close(fd);
	execvp(command[0], command);
	return command_fail(&cmd_lab, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE,
			    "cannot run %s: %s", command[0], strerror(errno));
}

static int exec_command(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "prefix", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	const char *prefix = PREFIX_DEFAULT, *host;
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		if (option != 'p')
			return option_bad(&cmd_lab, options, option, argv[optind - 1]);
		prefix = optarg;
	}
	if (optind == argc)
		return command_fail(&cmd_lab, EXIT_USAGE,
				    "lab exec takes a host and a command: sojourn lab exec client -- ping -c 3 198.51.100.10");
	host = argv[optind++];
	if (optind < argc && !strcmp(argv[optind], "--"))
		optind++;
	if (optind == argc)
		return command_fail(&cmd_lab, EXIT_USAGE, "lab exec %s: which command?", host);
	return exec_in(prefix, host, argv + optind);
}

/* ---- list ---- */

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
	static const struct {
		const char *name;
		int (*run)(int argc, char *argv[]);
	} verbs[] = {
		{ "up", up },
		{ "exec", exec_command },
		{ "down", down },
		{ "list", list },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(verbs[i].name, argv[1]))
			return verbs[i].run(argc - 1, argv + 1);
	}
	if (argc > 1)
		return command_fail(&cmd_lab, EXIT_USAGE,
				    "unknown '%s': it is `sojourn lab up`, `lab exec`, `lab down` or `lab list`",
				    argv[1]);
	return command_fail(&cmd_lab, EXIT_USAGE,
			    "say `sojourn lab up`, `lab exec`, `lab down` or `lab list`");
}

static void help(void)
{
	puts("  up [SCENARIO] [--set KEY=VALUE]...\n"
	     "         make the lab of a scenario (`sojourn help run`) and keep it for work by hand;\n"
	     "         runs go elsewhere meanwhile (--set lab.prefix=NAME-)\n"
	     "  exec [--prefix PREFIX] HOST -- COMMAND...\n"
	     "         run a command in a host of a lab (prefix pl-); its exit status is ours\n"
	     "  down [--force] [PREFIX]\n"
	     "         remove kept labs and what killed runs left: exactly the network namespaces that a\n"
	     "         state file in " LAB_STATE_DIRECTORY " proves to be sojourn's, of the lab with that\n"
	     "         prefix or of all. A lab whose run is still going is refused without\n"
	     "         --force\n"
	     "  list   show the labs that there are, who made them, and whether that process\n"
	     "         still runs");
}

const struct command cmd_lab = {
	.name = "lab",
	.usage = "lab up [SCENARIO] [--set KEY=VALUE]... | lab exec [--prefix PREFIX] HOST -- COMMAND... | lab down [--force] [PREFIX] | lab list",
	.summary = "make a lab for work by hand, run something in it, list labs, remove them",
	.run = run,
	.help = help,
};
