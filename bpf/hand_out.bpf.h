/* SPDX-License-Identifier: GPL-2.0 */
/* skbs that a qdisc hands out, a root to the device, a child to its parent. */
#ifndef SOJOURN_HAND_OUT_BPF_H
#define SOJOURN_HAND_OUT_BPF_H

#include "flow.bpf.h"
#include "histogram.bpf.h"
#include "levels.bpf.h"
#include "packet.bpf.h"
#include "probe.bpf.h"
#include "qdisc.bpf.h"
#include "segments.bpf.h"
#include "waiting.bpf.h"

/* One skb that a qdisc handed out. */
struct hand_out {
	__u64 skb;
	__u64 now;
	__u32 record;
	__u32 len;
};

/* The slot is this skb's: its first hand-out, or a repeat. True where it was either. */
static __always_inline bool hand_out_slot(const struct hand_out *out, struct slot *slot,
					  struct qdisc_record *record, struct qdisc_bank *bank)
{
	__u64 sojourn = sojourn_of(record, slot->offered, out->now), before;
	bool nolock = qdisc_is_nolock(record);
	__u32 packets = slot_packets(slot);
	__u32 state = slot->state;

	if (state == SLOT_HANDED_OUT) {
		if (!nolock && requeues_outstanding_now(record) <= 0)
			return false;
		count(&record->counters.requeued, 1);
		before = slot_waited(slot);
		histogram_move(record, bank, HISTOGRAM_SOJOURN, before, sojourn, packets);
		part_move(record, bank, out->skb, slot->offered, before, sojourn, out->now,
			  packets);
		packet_tell(out->record, PACKET_REPEATED, sojourn, packets, out->len, out->now);
	} else {
		/* passed straight to a stopped driver queue, refused there, requeued */
		if (state == SLOT_OFFERED && !nolock && record->flags & TCQ_F_CAN_BYPASS &&
		    requeues_outstanding_now(record) > 0)
			count(&record->counters.requeued, 1);
		record_measured(out->record, record, bank, sojourn, packets, out->len, out->now);
		flow_look(out->skb, out->record, sojourn, packets, out->len, out->now);
		part_add(record, bank, out->skb, slot->offered, slot->handed_out, sojourn,
			 out->now, packets, out->len);
		if (probe_length(out->len))
			probe_settled(record, out->skb, out->now);
		slot->state = SLOT_HANDED_OUT;
		if (qdisc_counts_per_cpu(record))
			backlog_change(record, bank, -(__s64)out->len, -1, out->now);
	}
	slot->handed_out = slot_pack(out->now, packets);
	return true;
}

/*
 * An skb that this qdisc was never offered: a segment of one that was, at that (packed)
 * time. A function of its own to the verifier, for the sake of the stack.
 */
__noinline int hand_out_segment(__u64 skb, __u64 now, __u32 id, __u32 len, __u64 offered)
{
	struct qdisc_record *record = qdisc_record(id);
	struct qdisc_bank *bank = qdisc_bank(id);
	__u64 sojourn;

	if (!record || !bank)
		return 0;
	sojourn = sojourn_of(record, offered, now);
	record_measured(id, record, bank, sojourn, 1, len, now);
	flow_look(skb, id, sojourn, 1, len, now);
	part_add(record, bank, skb, offered, 0, sojourn, now, 1, 0);
	record->counters.segments++;
	return 0;
}

/*
 * Its slot, made now, tells a requeue, or its parent how long it was here. at: what slot_find()
 * gave of the key.
 */
static __always_inline void segment_remember(const struct hand_out *out, __u64 key, __u32 at,
					     __u64 offered, __u32 state)
{
	struct slot *slot;

	at = slot_claim_found(at, key);
	slot_fill(at, key, 0, 0, 0, 1, out->len, SLOT_TAKEN);
	slot = slot_at(at);
	slot->offered = offered;
	slot->handed_out = slot_pack(out->now, 1);
	slot->state = state;
}

static __always_inline void hand_out_unmatched(const struct hand_out *out,
					       struct qdisc_record *record)
{
	struct gso gso;

	/*
	 * Cut up after its hand-out (validate_xmit_skb()), and a part of it refused.
	 * A nolock qdisc keeps its count of requeues per CPU; but it never cuts, so
	 * that what it hands out was either offered or comes back.
	 */
	if (!record->depth && (qdisc_is_nolock(record) ||
			       requeues_outstanding_now(record) > 0)) {
		count(&record->counters.requeued, 1);
		return;
	}
	gso = gso_read(out->skb);
	record->counters.unmatched_packets += gso_packets(gso);
	record->counters.unmatched_skbs++;
	packet_tell(out->record, PACKET_UNMATCHED, 0, gso_packets(gso), out->len, out->now);
	if (record->counters.segments) {
		record->counters.segments++;
		record->counters.flow_misses++;
	}
}

/* A function of its own to the verifier: checked once, not for each skb of a list. */
__noinline int hand_out_one(__u64 skb, __u64 now, __u32 id, __u32 len)
{
	struct hand_out out = { .skb = skb, .now = now, .record = id, .len = len };
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	__u64 offered;
	__u32 at;

	record = qdisc_record(id);
	bank = qdisc_bank(id);
	if (!record || !bank)
		return 0;
	if (probe_length(len))
		probe_seen(skb, PROBE_DEQUEUED, id, now, 0);
	at = slot_find(skb);
	if (at != SLOT_NONE) {
		slot = slot_at(at);
		if (slot->len == len && slot_record(slot) == id &&
		    hand_out_slot(&out, slot, record, bank))
			return 0;
	}
	offered = segment_match(skb, record->root, record->depth, len);
	if (!offered) {
		hand_out_unmatched(&out, record);
		return 0;
	}
	hand_out_segment(skb, now, id, len, offered);
	segment_remember(&out, skb, at, offered, SLOT_HANDED_OUT);
	return 0;
}

#endif
