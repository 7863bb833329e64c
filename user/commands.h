/* SPDX-License-Identifier: GPL-2.0 */
/* The table of subcommands; each lives in cmd_NAME.c. */
#ifndef SOJOURN_COMMANDS_H
#define SOJOURN_COMMANDS_H

#define SOJOURN_VERSION "0.1.0"

struct command {
	const char *name;
	const char *usage;		/* the line behind "usage: sojourn " */
	const char *summary;		/* for the list of commands */
	int (*run)(int argc, char *argv[]);	/* argv[0] is the name; returns an exit code */
	void (*help)(void);		/* the rest of `sojourn help NAME` */
};

extern const struct command cmd_run;
extern const struct command cmd_doctor;
extern const struct command cmd_lab;
extern const struct command cmd_trace;
extern const struct command cmd_report;
extern const struct command cmd_compare;
extern const struct command cmd_suite;
extern const struct command cmd_watch;
extern const struct command cmd_export;

/* One line on stderr, "sojourn: ...", and the code to return. */
int command_fail(const struct command *command, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
