/* SPDX-License-Identifier: GPL-2.0 */
/* Results back from the documents that out_json() writes. */
#ifndef SOJOURN_IN_JSON_H
#define SOJOURN_IN_JSON_H

#include <stddef.h>

#include "error.h"
#include "result.h"

/* A document is not larger than that. */
#define IN_JSON_BYTES_MAX	(256UL << 20)

/*
 * Fill result, which result_init() made and result_free() frees in either case, from the
 * document in a file; path "-": standard input. 0, or -1 and error: EXIT_USAGE (it cannot be
 * read, is no such document, is cut short; the file and the place in it are named) or
 * EXIT_CANNOT (memory).
 *
 * What the document does not hold is empty: the kernel's snapshots of its qdiscs, the points of
 * probes' ways, options of qdiscs. Of the samples there are count, median, maximum, drops
 * and backlog. Fields that are not known are passed over, fields that are missing are empty;
 * another schema is an error.
 */
int result_read(const char *path, struct result *result, struct error *error);

/* The same from text of length bytes; name is told in errors. */
int result_parse(const char *text, size_t length, const char *name, struct result *result,
		 struct error *error);

/*
 * The text of a file of most bytes at most, as result_read() takes it; *length without the
 * null byte at its end. Owned by the caller; NULL and error (EXIT_USAGE, EXIT_CANNOT).
 */
char *result_text(const char *path, size_t most, size_t *length, struct error *error);

#endif
