/* SPDX-License-Identifier: GPL-2.0 */
/* What of the live rows is shown, in which order, and a line of text for each. */
#ifndef SOJOURN_WATCH_VIEW_H
#define SOJOURN_WATCH_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "live.h"

enum watch_sort {
	SORT_TREE, SORT_P99, SORT_MAX, SORT_RATE, SORT_PACKETS, SORT_BACKLOG, SORT_DROPS, SORTS
};

extern const char *const watch_sort_names[SORTS + 1];	/* NULL at the end */

#define WATCH_FILTER_SIZE	64
#define WATCH_LINE_SIZE		1024	/* bytes of a line, with control sequences */

struct watch_view {
	enum watch_sort sort;
	char filter[WATCH_FILTER_SIZE];	/* in namespace, device, kind, handle or path; "": all */
	bool idle;			/* those that have seen no packet too */
	bool ascii;
	bool color;
	unsigned int width;		/* columns */
};

/*
 * The rows to show, in their order, into shown, which has room for count. Their number. Rows that
 * are gone are shown while they have something to say.
 */
size_t watch_choose(const struct watch_view *view, struct live_qdisc *const *rows, size_t count,
		    const struct live_qdisc **shown);

/* "backlog" of watch_sort_names. -1: there is none of that name. */
int watch_sort_named(const char *name);

/* The heading, and a row's line; seconds: the interval's length. Cut to the width; return line. */
const char *watch_heading(const struct watch_view *view, char line[WATCH_LINE_SIZE]);
const char *watch_line(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		       char line[WATCH_LINE_SIZE]);

/* What was lost so far: "ring_full 3, ..."; "" where nothing was. Returns text. */
const char *watch_losses_text(const struct live_losses *losses, char *text, size_t size);

#endif
