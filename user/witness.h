/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both ends of a traced window: a moment at which the tracer's counters and the
 * kernel's own, read over netlink, speak of the same packets.
 */
#ifndef SOJOURN_WITNESS_H
#define SOJOURN_WITNESS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "qdisc_tree.h"
#include "tracer.h"

/* The namespaces whose qdiscs are read. */
struct witness_netns {
	int fd;			/* the caller's */
	const char *name;
};

/* Read the trees of all of them into tree, which was empty. 0, or -1 and error. */
int witness_read(struct qdisc_tree *tree, const struct witness_netns *netns, size_t count,
		 struct error *error);

/*
 * Open and attach a tracer and read the trees, such that no packet that the
 * kernel had counted by then is in the tracer's counters, and none waits: for
 * 50 ms nothing may move. Where packets come it starts anew, ten times. Where the
 * namespaces do not fall quiet for long enough *quiet is false; with quiet NULL that is an
 * error (EXIT_CANNOT). NULL and error.
 */
struct tracer *witness_begin(const struct tracer_options *options,
			     const struct witness_netns *netns, size_t count,
			     struct qdisc_tree *before, bool *quiet, struct error *error);

/*
 * Read the trees at a moment without packets, one at which the tracer counts the same
 * before and after. *quiet is false where there was none within timeout_ms; after is
 * then as it was last. 0, or -1 and error.
 */
int witness_end(struct tracer *tracer, const struct witness_netns *netns, size_t count,
		unsigned int timeout_ms, struct qdisc_tree *after, bool *quiet,
		struct error *error);

#endif
