/* SPDX-License-Identifier: GPL-2.0 */
/* The screen of watch: what it shows, and what keys change. */
#ifndef SOJOURN_WATCH_SCREEN_H
#define SOJOURN_WATCH_SCREEN_H

#include <stdbool.h>

#include "live.h"
#include "watch_flows.h"
#include "watch_view.h"

struct watch_screen {
	struct watch_view view;
	const struct live_qdisc **shown;	/* owned */
	size_t shown_count, room;
	size_t selected, first;		/* of shown: at the cursor, and in the first line */
	const struct live_qdisc *open;	/* whose histogram is shown; NULL: none */
	const struct live_qdisc *flows_of;	/* whose flows are shown instead; NULL: no */
	struct watch_flows flows;	/* of the last interval */
	bool help, paused, typing;	/* typing: the filter */
	double seconds;			/* of the last interval */
	unsigned int columns, rows;	/* as drawn */
};

/* Take in the rows of a new interval; nothing changes while it is paused. False: out of memory. */
bool watch_screen_take(struct watch_screen *screen, const struct live *live);

/* Draw all of it. False: the terminal is gone. */
bool watch_screen_draw(struct watch_screen *screen, const struct live *live);

/* A key was pressed. False: it ends the program. */
bool watch_screen_key(struct watch_screen *screen, int key);

void watch_screen_free(struct watch_screen *screen);

#endif
