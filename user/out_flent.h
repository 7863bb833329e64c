/* SPDX-License-Identifier: GPL-2.0 */
/* A result as flent's data file (version 4, https://flent.org), which flent opens and plots. */
#ifndef SOJOURN_OUT_FLENT_H
#define SOJOURN_OUT_FLENT_H

#include <stddef.h>

#include "error.h"
#include "result.h"

/*
 * The document: a test of flent's own that fits the loads (tcp_upload, tcp_download,
 * tcp_bidirectional, udp_flood). raw_values has every probe and every interval as it was,
 * and the slices of the qdiscs that are a load's cause as flent's statistics of tc have
 * them. results has the same on a grid of steps from the first of all values on, each
 * interpolated between its neighbours as flent does it, but null where something is
 * missing between these. file is the name that flent keeps; NULL: none. The text is the
 * caller's to free; NULL: out of memory.
 */
char *out_flent_json(const struct result *result, const char *file);

/* The same, compressed as gzip does. *length bytes, the caller's to free; NULL: out of memory. */
char *out_flent(const struct result *result, const char *file, size_t *length);

#endif
