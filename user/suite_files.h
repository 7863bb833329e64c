/* SPDX-License-Identifier: GPL-2.0 */
/* The suites that are built in: the text of user/suites/NAME.suite. */
#ifndef SOJOURN_SUITE_FILES_H
#define SOJOURN_SUITE_FILES_H

#define SUITE_FILES_MAX	16

struct suite_file {
	const char *name;
	const char *text, *end;
};

extern const struct suite_file suite_files[];
extern const unsigned int suite_files_count;

#endif
