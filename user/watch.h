/* SPDX-License-Identifier: GPL-2.0 */
/* The course of `sojourn watch`: every qdisc of a host, interval by interval. */
#ifndef SOJOURN_WATCH_H
#define SOJOURN_WATCH_H

#include <linux/types.h>
#include <stdbool.h>

#include "error.h"
#include "live.h"
#include "watch_view.h"

struct watch_options {
	struct live_options live;
	struct watch_view view;
	bool json;			/* lines of JSON; else of text, or a screen */
	bool screen;			/* on a terminal */
	__u64 slow_ns;			/* tell packets that waited so long, instead of tables; 0: none */
	const char *flows;		/* the flows of the first qdisc with that in its name; NULL: none */
	__u64 count;			/* intervals; 0: until a signal or a key */
};

/*
 * Watch until the count is over or SIGINT, SIGTERM or SIGHUP comes, or q is pressed. losses: in all
 * of that time. 0, or -1 and error.
 */
int watch(const struct watch_options *options, struct live_losses *losses, struct error *error);

#endif
