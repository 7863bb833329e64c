/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a qdisc stands, from its device down, and what holds its packets back.
 * Nothing here reads anything: all is computed from dumps.
 */
#ifndef SOJOURN_QDISC_PATH_H
#define SOJOURN_QDISC_PATH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "qdisc_class.h"
#include "qdisc_tree.h"

/* What the kernel told at one time; classes may be NULL. Owned by the caller. */
struct qdisc_snapshot {
	const struct qdisc_tree *tree;
	const struct qdisc_classes *classes;
};

enum path_step_kind {
	STEP_QDISC,
	STEP_CLASS,
};

#define STEP_UNKNOWN	((size_t)-1)

struct path_step {
	enum path_step_kind kind;
	__u32 id;		/* handle or classid */
	size_t index;		/* in tree or classes; STEP_UNKNOWN: not there */
};

/* Eight qdiscs, each with as many levels of classes as htb allows (TC_HTB_MAXDEPTH), fit. */
#define PATH_STEPS_MAX	72

struct qdisc_path {
	struct path_step steps[PATH_STEPS_MAX];	/* the device's own qdisc first */
	unsigned int count;
	bool broken;		/* above the first step something is missing */
};

/*
 * The path to qdisc, one of snapshot's tree, itself the last step. Classes of
 * which a kind has one only (that of tbf) are no steps. A parent that is not in
 * the tree, and more steps than fit, leave the path broken.
 */
void qdisc_path_find(struct qdisc_path *path, const struct qdisc_snapshot *snapshot,
		     const struct qdisc_info *qdisc);

/*
 * "wan0 → htb 1: → class 1:11 rate 10.0 Mbit/s → fq_codel 110:"; behind the
 * device of a broken path stands "…". Cut to fit size; returns text.
 */
const char *qdisc_path_text(const struct qdisc_path *path, const struct qdisc_snapshot *snapshot,
			    char *text, size_t size);

enum holder_kind {
	HOLDER_DEVICE,		/* nothing above the driver and the link */
	HOLDER_QDISC,
	HOLDER_CLASS,
};

enum holder_how {
	HOLDS_BY_DEVICE,	/* as fast as it takes packets */
	HOLDS_BY_RATE,
	HOLDS_BY_DELAY,		/* netem */
	HOLDS_BY_GATES,		/* taprio */
	HOLDS_BY_PACING,	/* fq, etf: until the time that a packet carries */
};

#define HOLDER_TEXT	192

struct qdisc_holder {
	enum holder_kind kind;
	enum holder_how how;
	size_t index;		/* in end's tree or classes; device: the qdisc asked */
	__u64 rate_bit_per_s;	/* 0 where it has none that is known */
	bool seen;		/* the kernel's counters say that its limit was reached */
	char text[HOLDER_TEXT];	/* "tbf 10: (rate 10.0 Mbit/s; 70 overlimits)" */
};

/*
 * What held back the packets of qdisc, one of end's tree, between begin and end.
 * begin may be NULL: then only the settings decide and seen is false.
 *
 * Looked at are the qdisc, all that stands above it, and, because a packet that
 * waits in a child waits in its parent too, what stands between it and one of
 * the qdiscs below: the one with a limit that was reached that handed out the
 * most bytes, or just the most bytes where none was.
 *
 * A limit was reached where the kernel counted that:
 * - tbf, cake with a bandwidth, hfsc: overlimits of the qdisc grew. hfsc does
 *   not count by class (sch_hfsc.c, hfsc_dequeue).
 * - htb class: overlimits of the class grew. The kernel counts them when it
 *   finds no tokens of ceil (sch_htb.c, htb_class_mode, htb_change_class_mode),
 *   so lack of tokens of rate does not count; nor need it, since such a class
 *   borrows, and if it can not it is an ancestor that stands at its limit. Only
 *   a class without a parent has none to borrow from: its limit is its rate,
 *   and was reached where its tokens were below 0 at its last packet, or where
 *   it sent 9/10 of its rate.
 * - netem with a delay, rate or slots: always where it is the qdisc asked about,
 *   which keeps its packets whatever others do; as one below, where it sent 9/10
 *   of its rate. It holds nothing back in its child (sch_netem.c, netem_dequeue).
 * Several are often reached at once: bursts reach a limit that is higher than
 * another's. Of these the one counts that was used most (bytes in the time,
 * over the rate), and of those within 9/10 of that the one nearest to the
 * packets. Where none was reached, it is the nearest that there is: a rate or
 * taprio's gates (neither says when it holds), else fq's or etf's pacing,
 * else the device.
 */
void qdisc_holder_find(struct qdisc_holder *holder, const struct qdisc_snapshot *begin,
		       const struct qdisc_snapshot *end, const struct qdisc_info *qdisc);

#endif
