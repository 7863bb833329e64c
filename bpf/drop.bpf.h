/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are refused, or freed while they wait. */
#ifndef SOJOURN_DROP_BPF_H
#define SOJOURN_DROP_BPF_H

#include "arrival.bpf.h"
#include "call_stack.bpf.h"
#include "hand_out.bpf.h"
#include "levels.bpf.h"
#include "probe.bpf.h"
#include "segments.bpf.h"

#define FORGOTTEN_NS	1000000000LL

static __always_inline void reject(struct qdisc_record *record, __u32 id, __u32 packets,
				   __u32 len)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)record->qdisc;

	count(&record->counters.rejected_packets, packets);
	count(&record->counters.rejected_skbs, 1);
	if (tell_packets)
		packet_tell(id, PACKET_REJECTED, 0, packets, len, bpf_ktime_get_ns());
	/* __dev_xmit_skb() frees it then without a word to the qdisc's counters */
	if (BPF_CORE_READ(qdisc, state) &
	    1 << bpf_core_enum_value(enum qdisc_state_t, __QDISC_STATE_DEACTIVATED))
		count(&record->counters.rejected_inactive, 1);
}

/* kfree_skb tells a reason since 5.17. */
static __always_inline bool drop_reasons_exist(void)
{
	return bpf_core_type_exists(enum skb_drop_reason);
}

static __always_inline bool freed_without_reason(__u32 reason)
{
	return !drop_reasons_exist() ||
	       reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_NOT_SPECIFIED);
}

static __always_inline bool is_reason_of_qdiscs(__u32 reason)
{
	return bpf_core_type_exists(enum qdisc_drop_reason) &&
	       reason >= bpf_core_enum_value(enum qdisc_drop_reason, __QDISC_DROP_REASON) &&
	       reason <= bpf_core_enum_value(enum qdisc_drop_reason, QDISC_DROP_MAX);
}

/* Was it a qdisc that dropped it, and says so? Where there are no reasons: it may have been. */
static __always_inline bool dropped_by_qdisc(__u32 reason)
{
	if (!drop_reasons_exist() ||
	    !bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_DROP))
		return true;
	if (is_reason_of_qdiscs(reason))
		return true;
	return reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_QDISC_DROP) ||
	       (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_OVERLIMIT) &&
		reason == bpf_core_enum_value(enum skb_drop_reason,
					      SKB_DROP_REASON_QDISC_OVERLIMIT)) ||
	       (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_CONGESTED) &&
		reason == bpf_core_enum_value(enum skb_drop_reason,
					      SKB_DROP_REASON_QDISC_CONGESTED));
}

/* Was the qdisc emptied since the packet came? The kernel counts no drop then. */
static __always_inline bool emptied_since(const struct qdisc_record *record, __u64 offered)
{
	return record->reset_ns && slot_elapsed(offered, record->reset_ns) >= 0;
}

/*
 * The record is another qdisc's by now (user/tier.h, tier_forget()): the packet was lost sight of
 * when it was that of one that is gone. Its first packet is offered just before it is made.
 */
static __always_inline bool is_of_forgotten(const struct qdisc_record *record, __u64 offered)
{
	return slot_elapsed(offered, record->first_seen_ns) > FORGOTTEN_NS;
}

static __always_inline void drop_inside(struct qdisc_record *record, __u32 id, __u64 offered,
					__u32 packets, __u32 len, __u64 now)
{
	struct qdisc_bank *bank = qdisc_bank(id);
	__u64 waited = sojourn_of(record, offered, now);

	if (is_of_forgotten(record, offered)) {
		count(&losses.stale, 1);
		return;
	}
	count(&record->counters.dropped_packets, packets);
	count(&record->counters.dropped_skbs, 1);
	if (emptied_since(record, offered))
		count(&record->counters.purged_skbs, 1);
	packet_tell(id, PACKET_DROPPED, waited, packets, len, now);
	if (!bank)
		return;
	histogram_add_unlocked(record, bank, HISTOGRAM_WAIT_BEFORE_DROP, waited, packets);
	if (qdisc_counts_per_cpu(record))
		backlog_change(record, bank, -(__s64)len, -1, now);
}

/*
 * The skb is freed: end its wait at every level below the root. The lowest one
 * that it waited at dropped it: its record, or QDISC_IGNORED. just_now: before it had
 * waited at all.
 */
__noinline __u32 free_levels(__u64 skb, __u64 now, bool just_now)
{
	__u32 level, at, id, lowest = QDISC_IGNORED;
	struct qdisc_record *record;
	struct slot *slot;

	for (level = 1; level < QDISC_LEVELS; level++) {
		at = slot_find(level_key(skb, level));
		if (at == SLOT_NONE)
			break;
		slot = slot_at(at);
		id = slot_record(slot);
		record = qdisc_record(id);
		if (slot_waits(slot) && record) {
			if (just_now)
				reject(record, id, slot_packets(slot), slot->len);
			else
				drop_inside(record, id, slot->offered, slot_packets(slot),
					    slot->len, now);
			lowest = id;
		}
		if (slot->state != SLOT_HANDED_OUT)
			slot_clear(at);
	}
	return lowest;
}

static __always_inline void count_drop_here(__u32 id)
{
	struct qdisc_record *record = qdisc_record(id);

	if (record)
		count(&record->counters.drops_here, 1);
}

/*
 * Did a child refuse it? Then its wait above was no reason: netem enqueues while it
 * dequeues. Asked once for each skb that is freed, whose address may be another's next.
 */
static __always_inline bool child_refused(__u64 skb)
{
	struct calls *own = calls_of_this_cpu();

	if (!own || own->refused != skb)
		return false;
	own->refused = 0;
	return true;
}

/*
 * tbf_segment() frees the whole without a reason, a qdisc that drops it gives one. Where
 * there are no reasons: tbf takes in no GSO skb as a whole but a short one.
 */
static __always_inline bool freed_after_cut(const struct qdisc_record *record, __u32 reason)
{
	if (drop_reasons_exist())
		return freed_without_reason(reason);
	return record && kind_is(record->kind, "tbf", 4);
}

/* The skb of a slot is freed. */
static __always_inline void free_slot(struct offers *offers, __u32 at, __u64 skb, __u32 reason)
{
	struct slot *slot = slot_at(at);
	__u32 id = slot_record(slot), packets = slot_packets(slot);
	__u64 offered = slot->offered, now = bpf_ktime_get_ns();
	struct qdisc_record *record = qdisc_record(id);
	struct offer *offer = offer_of_skb(offers, skb);
	bool just_now = offer && offer_has_slot(offer);
	bool waited = slot->state == SLOT_QUEUED;
	bool by_child = functions && child_refused(skb);
	__u32 len = slot->len, lowest;

	if (just_now)
		offer_close(offers, offer);
	/*
	 * Cut up, and none of the pieces found room: tbf_segment() frees the whole
	 * one without a reason, and each piece is freed, and counted by the kernel,
	 * on its own.
	 */
	if (!functions && just_now && offer->parsed && !offer->cut &&
	    freed_after_cut(record, reason)) {
		offer_to_segments(offers, offer);
		return;
	}
	/* its parts were told one by one; the call that cut it clears up */
	if ((just_now && offer->cut) || (functions && call_is_cut(skb)))
		return;
	slot_clear(at);
	if (!record)
		return;
	if (probe_length(len))
		probe_seen(skb, PROBE_DROPPED, id, now, 0);
	if (!just_now && (waited || qdisc_is_nolock(record))) {
		drop_inside(record, id, offered, packets, len, now);
		if (functions) {
			lowest = free_levels(skb, now, false);
			if (lowest != QDISC_IGNORED)
				count_drop_here(lowest);
			else if (!by_child)
				count_drop_here(id);
		}
		return;
	}
	reject(record, id, packets, len);
	if (!functions || (just_now && offer->refused))
		return;
	/* red and others drop a packet at enqueue and say that another one was (NET_XMIT_CN) */
	lowest = free_levels(skb, now, true);
	count_drop_here(lowest == QDISC_IGNORED ? id : lowest);
}

/* A segment that was cut by a qdisc below the root is freed: end its wait at those levels too. */
static __always_inline void free_segment_below(__u64 skb, const struct packet *packet,
					       __u32 root, __u32 len, __u64 now)
{
	__u32 level, id, lowest = root;
	struct qdisc_record *record;
	__u64 offered;

	for (level = 1; level < QDISC_LEVELS; level++) {
		offered = segment_take(skb, packet, root, level, len, 0);
		if (!offered)
			break;
		id = offered & 0xffff;
		record = qdisc_record(id);
		if (!record)
			break;
		drop_inside(record, id, offered, 1, len, now);
		lowest = id;
	}
	count_drop_here(lowest);
}

/* No slot: perhaps a segment that found no room, or that was dropped after a wait. */
static __always_inline void free_segment(struct offers *offers, __u64 skb_address)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	const struct net_device *dev = BPF_CORE_READ(skb, dev);
	__u64 queues, qdisc, offered, just_now = 0, now;
	struct qdisc_record *record;
	struct packet packet = {};
	struct offer *offer;
	__u32 id, len, queue;

	/* a clone for a packet socket has all of the segment but its place in the queue */
	if (BPF_CORE_READ_BITFIELD_PROBED(skb, pkt_type) == PACKET_OUTGOING)
		return;
	queues = (__u64)BPF_CORE_READ(dev, _tx);
	if (!queues)
		return;
	queue = BPF_CORE_READ(skb, queue_mapping);
	if (queue >= BPF_CORE_READ(dev, real_num_tx_queues))
		queue = 0;
	qdisc = qdisc_in_queues(queues, queue);
	id = qdisc_known_id(qdisc);
	if (id == QDISC_IGNORED)
		return;
	record = qdisc_record(id);
	if (!record || packet_read(skb_address, false, &packet))
		return;
	offer = offer_of_record(offers, id);
	if (offer)
		just_now = slot_pack(offer->offered_ns, id);
	len = BPF_CORE_READ(skb, len);
	offered = segment_take(skb_address, &packet, id, 0, len, just_now);
	if (!offered)
		return;
	now = bpf_ktime_get_ns();
	if (offered == just_now)
		reject(record, id, 1, len);
	else
		drop_inside(record, id, offered, 1, len, now);
	if (functions)
		free_segment_below(skb_address, &packet, id, len, now);
}

/*
 * An skb that waits is freed as one that has done its duty: cake filters superfluous
 * ACKs out of a queue that way while it enqueues another one (net/sched/sch_cake.c,
 * cake_enqueue()). The kernel counts a drop.
 */
__noinline int consume_waiting(__u64 skb)
{
	__u64 now = bpf_ktime_get_ns();
	struct qdisc_record *record;
	__u32 at, id, lowest;
	struct slot *slot;

	at = slot_find(skb);
	if (at == SLOT_NONE)
		return 0;
	slot = slot_at(at);
	id = slot_record(slot);
	record = qdisc_record(id);
	if (slot->state != SLOT_QUEUED || !record)
		return 0;
	drop_inside(record, id, slot->offered, slot_packets(slot), slot->len, now);
	slot_clear(at);
	if (functions) {
		lowest = free_levels(skb, now, false);
		count_drop_here(lowest == QDISC_IGNORED ? id : lowest);
	}
	return 0;
}

/*
 * Kernels that defer (6.19 and later): the skb was offered on another CPU, and this one
 * enqueues it. One that is cut there is freed as one that has done its duty.
 */
__noinline int consume_deferred(__u64 skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;
	__u32 at = slot_find(skb);

	if (!offers || at == SLOT_NONE || !slot_waits(slot_at(at)))
		return 0;
	if (!gso_read(skb).size)
		return offers->open ? consume_waiting(skb) : 0;
	offer_adopt(offers, skb, at);
	offer = offer_of_skb(offers, skb);
	if (!offer)
		return 0;
	offer->consumed = 1;
	offer_to_segments(offers, offer);
	return 0;
}

#endif
