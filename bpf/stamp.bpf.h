/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where no functions can be hooked: some kinds of qdiscs note a time in skb->cb, which
 * is still there when the root hands the skb out. Of a root with one chain of qdiscs
 * below it, that tells how long the packet was in the leaf.
 */
#ifndef SOJOURN_STAMP_BPF_H
#define SOJOURN_STAMP_BPF_H

#include "histogram.bpf.h"
#include "probe.bpf.h"
#include "qdisc.bpf.h"
#include "waiting.bpf.h"

#define CODEL_SHIFT	10	/* include/net/codel.h */
#define PSCHED_SHIFT	6	/* include/net/pkt_sched.h */

/* A stamp is cut to units of its own: it may seem that much too late. */
#define STAMP_UNIT	(1 << CODEL_SHIFT)

static __always_inline __u32 stamp_of_kind(const char *kind)
{
	if (kind_is(kind, "codel", 6) || kind_is(kind, "fq_codel", 9))
		return STAMP_CODEL;
	if (kind_is(kind, "pie", 4) || kind_is(kind, "fq_pie", 7))
		return STAMP_PIE;
	if (kind_is(kind, "cake", 5))
		return STAMP_CAKE;
	if (kind_is(kind, "netem", 6))
		return STAMP_NETEM;
	return STAMP_NONE;
}

/* Time in the leaf of a packet that is handed out now, by its stamp; may be out of bounds. */
static __always_inline __s64 stamp_time(__u64 skb, __u32 stamp, __u64 offered, __u64 now)
{
	const void *at = (const void *)(skb + bpf_core_field_offset(struct sk_buff, cb) +
					bpf_core_field_offset(struct qdisc_skb_cb, data));
	__u32 codel = 0;
	__u64 time = 0;

	if (stamp == STAMP_CODEL) {
		bpf_probe_read_kernel(&codel, sizeof(codel), at);
		return (__s64)(__s32)((__u32)(now >> CODEL_SHIFT) - codel) << CODEL_SHIFT;
	}
	bpf_probe_read_kernel(&time, sizeof(time), at);
	if (stamp == STAMP_PIE)
		return now - (time << PSCHED_SHIFT);
	if (stamp == STAMP_CAKE)
		return now - time;
	return slot_elapsed(offered, time);
}

/*
 * A root hands out a packet that was offered at that (packed) time: add to its leaf's
 * record, and to the root's own part what is left. len: of the skb, 0 where it cannot be a
 * probe.
 */
static __always_inline void stamp_add(struct qdisc_record *root, struct qdisc_bank *bank,
				      __u64 skb, __u64 offered, __u64 sojourn, __u64 now,
				      __u32 packets, __u32 len)
{
	__u32 id = root->leaf_record - 1;
	struct qdisc_record *leaf = qdisc_record(id);
	struct qdisc_bank *leaf_bank = qdisc_bank(id);
	__s64 time = stamp_time(skb, root->leaf_stamp, offered, now);

	if (!leaf || !leaf_bank)
		return;
	if (time < 0 || time > (__s64)sojourn + STAMP_UNIT) {
		root->counters.exclusive_misses++;
		return;
	}
	if (time > (__s64)sojourn)
		time = sojourn;
	record_measured(id, leaf, leaf_bank, time, packets, len, now);
	histogram_want(root, HISTOGRAM_PART);
	histogram_add(root, bank, HISTOGRAM_PART, sojourn - time, packets);
	leaf->counters.offered_packets += packets;
	leaf->counters.offered_skbs++;
	if (len && probe_length(len))
		probe_seen(skb, PROBE_HANDED_UP, id, now, now - time);
}

#endif
