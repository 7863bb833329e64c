/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel side keeps for each qdisc. A record belongs to one Qdisc object from its
 * first packet to qdisc_destroy. It is given to another only where the tracer was told to
 * forget those that are gone (tracer_options.forget), seconds later.
 */
#ifndef SOJOURN_QDISC_RECORD_H
#define SOJOURN_QDISC_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "sojourn/histogram.h"

#define QDISC_KIND_LEN		16	/* IFNAMSIZ, struct Qdisc_ops.id */
#define QDISC_DEVICE_LEN	16

/* Bytes of a cache line: what many CPUs write at once has lines of its own. */
#define CACHE_LINE		64

/* Levels of a tree; deeper ones cannot be made (net/sched/sch_api.c, check_loop_fn()). */
#define QDISC_LEVELS		8

/* What a kind of qdisc does; bits of traits. */
#define QDISC_IS_PARENT		1	/* can have child qdiscs */
#define QDISC_PACES		2	/* holds packets until a departure time: fq, etf */
#define QDISC_BY_STAMP		4	/* a leaf below a root, told by the time that its packets carry */

/* What a kind of qdisc writes into skb->cb, from which the time in it can be told. */
enum qdisc_stamp {
	STAMP_NONE,
	STAMP_CODEL,		/* when it came, 32 bits of 1024 ns (include/net/codel_qdisc.h) */
	STAMP_PIE,		/* when it came, 64 ns (include/net/pie.h, PSCHED_SHIFT) */
	STAMP_CAKE,		/* when it came, ns (net/sched/sch_cake.c, cobalt_skb_cb) */
	STAMP_NETEM,		/* when it may go, ns (net/sched/sch_netem.c, netem_skb_cb) */
};

/* The histograms that a qdisc may have. */
enum qdisc_histogram {
	HISTOGRAM_SOJOURN,
	/*
	 * Of the sojourn, the part spent in the qdisc itself and in none of its
	 * children (QDISC_IS_PARENT), or up to the departure time that the packet
	 * came with (QDISC_PACES).
	 */
	HISTOGRAM_PART,
	HISTOGRAM_WAIT_BEFORE_DROP,
	QDISC_HISTOGRAMS,
};

/*
 * Time is cut into slices. Counts and histograms only grow: the user side takes the
 * difference from one end of a slice to the other. Extremes have a bank for each slice: the
 * user side reads bank n at its end, once more a slice later for what was on its way, and
 * clears it before n + 4.
 */
#define QDISC_BANKS		4

/* All counters only grow. Packets count GSO segments, skbs do not. */
struct qdisc_counters {
	__u64 offered_packets;
	__u64 offered_skbs;		/* these two by every CPU that sends, all others by one at a time */
	__u64 unused[CACHE_LINE / 8 - 2];
	__u64 measured_packets;
	__u64 measured_skbs;
	__u64 bypassed_packets;
	__u64 bypassed_skbs;
	__u64 bytes;			/* skb->len of what was handed out and bypassed */
	__u64 rejected_packets;
	__u64 rejected_skbs;
	__u64 dropped_packets;		/* dropped inside, after a wait */
	__u64 dropped_skbs;
	__u64 requeued;			/* hand-outs that were repeats, skbs */
	__u64 unmatched_packets;	/* handed out, but when it came is not known */
	__u64 unmatched_skbs;
	__u64 flow_misses;		/* of these: segments of a GSO skb */
	__u64 segments;			/* handed out as segments of a GSO skb, matched or not */
	__u64 negative;			/* time ran backwards between CPUs; taken as 0 */
	__u64 rejected_inactive;	/* of rejected: device going down, the kernel counts no drop */
	__u64 purged_skbs;		/* of dropped: freed when the qdisc was reset, the kernel counts no drop */
	__u64 stolen_skbs;		/* of rejected: taken away by a filter action, the kernel counts no drop */
	__u64 parts_refused;		/* of rejected: parts of an skb that a child cut, the kernel counts no drop here */
	__u64 drops_here;		/* skbs that this very qdisc dropped, not one below it; functions tier only */
	__u64 exclusive_misses;		/* skbs of a parent whose time below it is not known */
};

struct qdisc_record {
	/*
	 * Who it is; written once, before the record can be found. What each packet needs is
	 * in the first cache line.
	 */
	__u64 qdisc;			/* address of struct Qdisc */
	__u32 histograms[QDISC_HISTOGRAMS];	/* 1 + their places in the table; 0: none (yet) */
	__u32 netns;			/* inode number of the network namespace */
	__u32 ifindex;
	__u32 handle;
	__u32 parent;
	__u32 queue;			/* tx queue */
	__u32 flags;			/* TCQ_F_* */
	__u32 traits;			/* QDISC_IS_PARENT ... */
	__u32 depth;			/* 0: root of a tx queue, 1: below a root, ... */
	__u32 root;			/* record of the root that it is below, or its own */
	__u64 first_seen_ns;		/* CLOCK_MONOTONIC */
	__u64 destroyed_ns;		/* 0 while it lives */
	__u64 enqueue;			/* addresses of its functions (struct Qdisc, struct Qdisc_ops) */
	__u64 dequeue;
	__u64 peek;
	char kind[QDISC_KIND_LEN];
	char device[QDISC_DEVICE_LEN];	/* its name when first seen */

	struct qdisc_counters counters __attribute__((aligned(CACHE_LINE)));

	/*
	 * Backlog as of the last event, and its integral over time, which may
	 * wrap: only differences count. sequence is odd while they change.
	 */
	__u32 sequence __attribute__((aligned(CACHE_LINE)));
	__u32 backlog_packets;
	__s64 backlog_bytes;
	__u64 backlog_at_ns;
	__u64 backlog_byte_ns;
	__u64 backlog_packet_ns;

	/*
	 * Of a root in the tracepoints tier: what the walk found below it. Where that is
	 * one chain, and its leaf writes a stamp, leaf_record is 1 + the leaf's record.
	 */
	__u32 below;			/* qdiscs below */
	__u32 below_depth;		/* how deep the deepest lies */
	__u64 below_deepest;		/* its address */
	__u32 leaf_record;
	__u32 leaf_stamp;		/* enum qdisc_stamp */

	__u64 reset_ns;			/* when it was emptied last; 0: never */
	__u32 kernel_requeues_base;	/* qstats.requeues when first seen */
	__u32 kernel_requeues;		/* the same at its last hand-out; only of a root */

	/*
	 * The kernel's own counters of a qdisc that keeps them in one place,
	 * as they were when it was destroyed (netlink cannot tell any more).
	 */
	__u64 last_packets;
	__u64 last_drops;
	__u64 last_requeues;
	__u32 last_valid;

	/*
	 * The same counters of a child as they were when the first packet was seen coming:
	 * it appeared, or its functions were hooked, in the middle of a window.
	 */
	__u32 base_valid;
	__u64 base_packets;
	__u64 base_drops;
	__u64 base_requeues;
	__u64 base_backlog_packets;
};

struct extremes {
	__u64 min;		/* ns; ~0 when empty */
	__u64 max;		/* ns */
};

/* Of one qdisc in one slice. */
struct qdisc_bank {
	struct extremes extremes[QDISC_HISTOGRAMS];
	__u64 backlog_bytes_max;
	__u64 backlog_packets_max;
};

#endif
