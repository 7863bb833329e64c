/* SPDX-License-Identifier: GPL-2.0 */
/* A result as tables of comma-separated values (RFC 4180), one file each; docs/report.md lists them. */
#ifndef SOJOURN_OUT_CSV_H
#define SOJOURN_OUT_CSV_H

#include "error.h"
#include "result.h"

/*
 * Write the tables into directory, which must not exist, or be empty: all of them or
 * none. Signals that end a process wait until it is done. 0, or -1 and error (EXIT_USAGE: the place;
 * EXIT_CANNOT: writing).
 */
int out_csv(const struct result *result, const char *directory, struct error *error);

#endif
