/* SPDX-License-Identifier: GPL-2.0 */
/*
 * INI files with errors that name the line: "[words of a heading]", "key = value", comments
 * ("#", ";", and " ;" behind a value). libinih takes lines apart; here lines are counted and
 * headings read, also those with no key below.
 */
#ifndef SOJOURN_INI_FILE_H
#define SOJOURN_INI_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* The longest file and line, bytes; the most words of a heading. */
#define INI_FILE_MAX	65536
#define INI_LINE_MAX	198
#define INI_WORDS	3

struct ini_file {
	const char *name;		/* for errors */
	const char *what;		/* "scenario": what it should be */
	unsigned int line;		/* that is being read */
	struct error *error;
	void *context;			/* the caller's */
	/* A heading's words (writable), and a key: 0, or -1 with ini_file_fail() called. */
	int (*heading)(struct ini_file *file, char *words[], size_t count);
	int (*key)(struct ini_file *file, const char *key, const char *value);
	bool failed;
	const char *at, *end;		/* what is still to be read */
};

/* The text of a file, which must be a regular one; owned by the caller. NULL and error (EXIT_USAGE). */
char *ini_file_read(const char *path, const char *what, size_t *length, struct error *error);

/* Call heading and key for each line of text. 0, or -1 and error (EXIT_USAGE) with name and line. */
int ini_file_parse(struct ini_file *file, const char *text, size_t length);

/* "NAME:LINE: TEXT" as the file's error, unless something failed before. -1. */
int ini_file_fail(struct ini_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
