/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rows of the live core have series of their own in the metrics, and what has to be kept
 * for them from scrape to scrape: nothing that was told as a counter may go back.
 *
 * The first so many rows have series of their own until live forgets them, or until they are gone
 * and another needs the place; what the others do is summed up in one, the overflow.
 */
#ifndef SOJOURN_LIVE_SERIES_H
#define SOJOURN_LIVE_SERIES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "live.h"

/* Whole intervals of which the greatest backlog is told. */
#define SERIES_WINDOW	60

struct series {
	const struct live_qdisc *row;	/* live's; of the overflow NULL */
	bool own;			/* has series of its own */
	bool known;			/* own is decided */
	bool evicted;			/* it was gone, and another needed the place */
	bool moved;			/* while rows are taken in: it is there still */
	__u64 backlog_bytes_max[SERIES_WINDOW];	/* of one interval each, in a ring */
	struct histogram *told[QDISC_HISTOGRAMS];	/* owned; NULL: none so far */
};

struct live_series {
	unsigned int max_series;
	struct series *series;		/* owned; by the address of their rows */
	size_t count;
	unsigned int own_count;
	unsigned int present_count;	/* qdiscs that are there */
	__u64 dropped;			/* qdiscs that found no series of their own, ever */
	unsigned int place;		/* in the rings */

	struct series overflow;
	struct live_sums overflow_sums;	/* since the start */
	__u64 overflow_backlog_bytes, overflow_backlog_packets;
};

/* An interval was closed: take in its rows. 0, or -1 where memory is short: nothing was. */
int live_series_take(struct live_series *series, struct live_qdisc *const *rows, size_t count);

/* The greatest backlog in bytes of the last SERIES_WINDOW intervals. */
__u64 series_backlog_max(const struct series *series);

/*
 * What is to be told of now (NULL: nothing came so far): each bucket as great as it ever was. A
 * requeued packet takes its first sample back and adds a longer one; what was told already stays,
 * until another packet comes into that bucket. Owned by series; NULL where there is nothing, or
 * no memory.
 */
const struct histogram *series_tell(struct series *series, enum qdisc_histogram which,
				    const struct histogram *now);

void live_series_free(struct live_series *series);

#endif
