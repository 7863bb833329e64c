/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that is there whole or not at all: written under a temporary name next
 * to its place, synced, renamed. Opened before the work begins, so that a place
 * that cannot be written to is known then.
 */
#ifndef SOJOURN_OUTPUT_FILE_H
#define SOJOURN_OUTPUT_FILE_H

#include <stddef.h>

#include "error.h"

struct guard;
struct output_file;

/*
 * Open path for writing, "-" being standard output. guard (may be NULL) is told
 * of the temporary name before it exists. Refuses directories, devices and
 * symbolic links whose target does not exist; an existing regular file is
 * replaced at the end, never before, and keeps its mode and owner.
 * In a sticky directory, links and files of other users are refused.
 * NULL and error (EXIT_USAGE; EXIT_CANNOT where the disk is full) that names the path.
 */
struct output_file *output_file_open(const char *path, struct guard *guard, struct error *error);

/*
 * Write text, make it durable, put it in its place, free file. On failure (disk
 * full) the temporary is gone, what stood there stays, and error (EXIT_CANNOT)
 * names the path.
 */
int output_file_finish(struct output_file *file, const char *text, size_t length,
		       struct error *error);

/* Open it and finish it in one: the text is there already. */
int output_file_put(const char *path, struct guard *guard, const char *text, size_t length,
		    struct error *error);

/* Forget it: remove the temporary, free. file may be NULL. */
void output_file_cancel(struct output_file *file);

#endif
