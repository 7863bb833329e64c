/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that waited long, told one by one, with what was queued when each came. */
#ifndef SOJOURN_WATCH_SLOW_H
#define SOJOURN_WATCH_SLOW_H

#include <stdbool.h>

#include "live.h"

struct watch_slow;

/* json: lines of JSON on standard output, else of text. NULL: out of memory. */
struct watch_slow *watch_slow_create(bool json);
void watch_slow_free(struct watch_slow *slow);

/*
 * Take note of the backlogs as they are now. Called every 40 ms: what was queued when a packet
 * came is told as of the last time before.
 */
void watch_slow_note(struct watch_slow *slow, const struct live *live);

/* Tell a packet. */
void watch_slow_tell(struct watch_slow *slow, struct live *live, const struct slow_event *event);

#endif
