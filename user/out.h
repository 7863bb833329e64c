/* SPDX-License-Identifier: GPL-2.0 */
/* What a person or a program reads: the summary (out_text.c) and the JSON document (out_json.c). */
#ifndef SOJOURN_OUT_H
#define SOJOURN_OUT_H

#include <stdio.h>

#include "error.h"
#include "result.h"

/* The summary: tables and the verdict. Plain text, 100 columns at most; colour only where color is true. */
void out_text(const struct result *result, FILE *file, bool color);

/* The same in memory, without colour. The text is the caller's to free; NULL: out of memory. */
char *out_text_copy(const struct result *result);

/* The whole result as one JSON document ("sojourn/1"). The text is the caller's to free; NULL: out of memory. */
char *out_json(const struct result *result);

#endif
