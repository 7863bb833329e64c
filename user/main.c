// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "closest.h"
#include "commands.h"
#include "error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct command *const commands[] = {
	&cmd_run,
	&cmd_doctor,
	&cmd_lab,
	&cmd_trace,
	&cmd_report,
	&cmd_compare,
	&cmd_suite,
	&cmd_watch,
	&cmd_export,
};

int command_fail(const struct command *command, int code, const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "sojourn%s%s: ", command ? " " : "", command ? command->name : "");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return code;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *names[COUNT(commands) + 1];
	int nearest;

	for (size_t i = 0; i < COUNT(commands); i++)
		names[i] = commands[i]->name;
	names[COUNT(commands)] = "help";
	nearest = closest_name(name, names, COUNT(names));
	if (nearest >= 0)
		return command_fail(NULL, EXIT_USAGE,
				    "unknown command \"%s\": did you mean \"%s\"?", name,
				    names[nearest]);
	return command_fail(NULL, EXIT_USAGE,
			    "unknown command \"%s\": `sojourn help` lists the commands", name);
}

static void print_commands(FILE *file)
{
	fputs("usage: sojourn COMMAND [ARGUMENT]...\n"
	      "       sojourn help [COMMAND]\n"
	      "       sojourn --version\n"
	      "\n"
	      "Where packets wait: sojourn times in every qdisc of the kernel, and which one\n"
	      "of them the RTT under load comes from.\n"
	      "\n", file);
	for (size_t i = 0; i < COUNT(commands); i++)
		fprintf(file, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
}

static int print_help(const char *name)
{
	const struct command *command = find_command(name);

	if (!strcmp(name, "help")) {
		print_commands(stdout);
		return EXIT_OK;
	}
	if (!command)
		return unknown_command(name);
	printf("usage: sojourn %s\n\n%c%s.\n\n", command->usage, toupper(command->summary[0]),
	       command->summary + 1);
	command->help();
	return EXIT_OK;
}

static bool is_help_option(const char *text)
{
	return !strcmp(text, "--help") || !strcmp(text, "-h");
}

static int dispatch(int argc, char *argv[])
{
	const struct command *command;

	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("sojourn %s\n", SOJOURN_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || is_help_option(argv[1])) {
		if (argc > 3)
			return command_fail(NULL, EXIT_USAGE, "help takes one command, not %d",
					    argc - 2);
		return print_help(argc == 3 ? argv[2] : "help");
	}
	if (argv[1][0] == '-')
		return command_fail(NULL, EXIT_USAGE,
				    "unknown option \"%s\": a command comes first, such as `sojourn run`",
				    argv[1]);
	command = find_command(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	for (int i = 2; i < argc && strcmp(argv[i], "--"); i++) {
		if (is_help_option(argv[i]))
			return print_help(command->name);
	}
	return command->run(argc - 1, argv + 1);
}

/* A pipe or socket of ours must never become 0, 1 or 2, where libraries print. */
static int open_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -1;
	} while (fd <= STDERR_FILENO);
	close(fd);
	return 0;
}

int main(int argc, char *argv[])
{
	int code;

	if (open_standard_descriptors())
		return EXIT_CANNOT;
	/* A closed pipe behind --json - is an error to tell, not a death in mid-run. */
	signal(SIGPIPE, SIG_IGN);
	/* Ignored, as some parents leave it, the kernel would throw away how children ended. */
	signal(SIGCHLD, SIG_DFL);
	code = dispatch(argc, argv);
	if ((fflush(stdout) || ferror(stdout)) && (code == EXIT_OK || code == EXIT_FAIL_IF))
		code = command_fail(NULL, EXIT_CANNOT, "cannot write to standard output: %s",
				    strerror(errno));
	return code;
}
