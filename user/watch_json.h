/* SPDX-License-Identifier: GPL-2.0 */
/* What watch tells as JSON Lines. */
#ifndef SOJOURN_WATCH_JSON_H
#define SOJOURN_WATCH_JSON_H

#include <stdio.h>

#include "live.h"

/*
 * One line for each row that is shown, and one for the interval with what was lost so far. 0, or
 * -1: memory is short, or the file cannot be written.
 */
int watch_json(FILE *file, const struct live *live, const struct live_qdisc *const *shown,
	       size_t count);

#endif
