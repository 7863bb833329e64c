/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel side as the tracer sees it: its programs loaded and attached as the
 * kernel at hand allows, and what they keep, mapped. The tracer knows no program
 * and no map by name.
 *
 * Two tiers: tracepoints sees the root qdiscs; functions sees what is below them
 * too, by hooks at the functions of every qdisc (qdisc_hooks.h).
 */
#ifndef SOJOURN_TIER_H
#define SOJOURN_TIER_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"
#include "sojourn/qdisc_record.h"
#include "tracer.h"

struct tier;

/* What the programs keep, mapped into this process; valid until close. */
struct tier_view {
	volatile __u32 *slice;		/* the slice that samples go to */
	const struct qdisc_record *records;
	struct qdisc_bank *banks;	/* record * QDISC_BANKS + slice % QDISC_BANKS */
	const struct histogram_counts *histograms;	/* at qdisc_record.histograms[] - 1 */
	unsigned int max_qdiscs, max_histograms;
	int events_fd;			/* ring buffer */
};

/*
 * Load without attaching: the tier that options ask for, or the best that works.
 * Owned by the caller; NULL and error (EXIT_CANNOT: what is missing).
 */
struct tier *tier_open(const struct tracer_options *options, struct tier_view *view,
		       struct error *error);

/* Attach the hooks, all that are needed or none. 0, or -1 and error. */
int tier_attach(struct tier *tier, struct error *error);

/*
 * Look for qdiscs that appeared since: hook their functions, or find the leaves that stamp
 * their packets.
 * Cheap where none was made; to be called often.
 */
void tier_follow(struct tier *tier);

/* Send the packets that the CPUs have collected and not sent yet (tracer_options.packets). */
void tier_flush_packets(struct tier *tier);

/* No program runs any more when it returns. */
void tier_detach(struct tier *tier);

/* "functions" or "tracepoints". */
const char *tier_name(const struct tier *tier);

/* Why it is not the functions tier, "" where it is or was not wanted; owned by tier. */
const char *tier_why(const struct tier *tier);

/* With their skipped runs up to now; owned by tier. */
const struct tracer_hook *tier_hooks(struct tier *tier, size_t *count);

/*
 * Clear the record of a qdisc that is gone and give it, and its histograms, back to the kernel side.
 * Nothing may refer to it any more: no packet of it, no record below it. 0, or -1: the kernel
 * took it not, and it is lost.
 */
int tier_forget(struct tier *tier, unsigned int record);

/* See tracer.h; record is 1 + its index, 0: none. */
int tier_follow_flows(struct tier *tier, __u32 record, struct error *error);
size_t tier_take_flows(struct tier *tier, struct tracer_flow *flows, size_t most);

/* Packets of a record that wait, from the table of waiting packets. */
__u64 tier_queued(const struct tier *tier, unsigned int record);

/* Losses that the programs count themselves; adds to losses. */
void tier_losses(const struct tier *tier, struct tracer_losses *losses);

void tier_close(struct tier *tier);

#endif
