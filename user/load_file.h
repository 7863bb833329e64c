/* SPDX-License-Identifier: GPL-2.0 */
/* The file of a load with load.file=temporary: on disk, without a name, gone with its descriptor. */
#ifndef SOJOURN_LOAD_FILE_H
#define SOJOURN_LOAD_FILE_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"
#include "iperf3.h"
#include "scenario.h"

#define LOAD_FILE_PATH	64

/*
 * Make what the load asks for: load.bytes of it where the client sends, out of the page cache so
 * that they are read from disk; empty where it receives. path is how another process of
 * ours opens it. Returns the descriptor, owned by the caller; -1 where none is wanted, path ""
 * then; -2 and error.
 */
int load_file_make(const struct scenario_load *load, enum load_direction direction,
		   char path[LOAD_FILE_PATH], struct error *error);

#endif
