/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Errors and exit codes. A function that can fail for more reasons than errno
 * tells takes a struct error and fills it with one line: what, where, and how
 * to mend it. Nothing below main() and the commands prints or exits.
 */
#ifndef SOJOURN_ERROR_H
#define SOJOURN_ERROR_H

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAIL_IF = 1,	/* done, and a --fail-if held */
	EXIT_USAGE = 2,		/* bad usage or bad input */
	EXIT_CANNOT = 3,	/* cannot run here: privilege, kernel, program */
	EXIT_INCOMPLETE = 4,	/* done, but with losses or an open ledger */
	EXIT_SIGINT = 130,
	EXIT_SIGTERM = 143,
};

struct error {
	int code;		/* enum exit_code that fits */
	char text[512];		/* one line, no newline at the end */
};

/*
 * Fill error with code and a formatted line; a line that is too long ends in
 * "...". error may be NULL. Returns -1 for the caller to return.
 */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with ": " and the text of errno at the end. */
int error_set_errno(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
