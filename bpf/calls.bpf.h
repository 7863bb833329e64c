/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions tier: calls of the enqueue and dequeue functions of every qdisc. A
 * parent calls its child's inside its own, so that the calls of a CPU that are
 * open, innermost last, tell whose child a qdisc is and whose part an skb is.
 */
#ifndef SOJOURN_CALLS_BPF_H
#define SOJOURN_CALLS_BPF_H

#include "arrival.bpf.h"
#include "call_stack.bpf.h"
#include "drop.bpf.h"
#include "hand_out.bpf.h"
#include "levels.bpf.h"

/* include/linux/netdevice.h, include/net/sch_generic.h */
#define NET_XMIT_SUCCESS	0
#define NET_XMIT_CN		2
#define __NET_XMIT_STOLEN	0x00010000

/* The kernel's counters as they are before the first packet that is seen coming. */
static __always_inline void take_base(struct qdisc_record *record)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)record->qdisc;

	if (record->base_valid || qdisc_counts_per_cpu(record))
		return;
	record->base_packets = qdisc_kernel_packets(record->qdisc);
	record->base_drops = BPF_CORE_READ(qdisc, qstats.drops);
	record->base_requeues = BPF_CORE_READ(qdisc, qstats.requeues);
	record->base_backlog_packets = BPF_CORE_READ(qdisc, q.qlen);
	record->base_valid = 1;
}

/* Every open call for that skb learns that its parts go on instead. */
static __always_inline void mark_cut(struct calls *own, __u64 skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;
	__u32 i;

	for (i = 0; i < CALLS; i++)
		if (i < own->enqueues && own->enqueue[i].skb == skb)
			own->enqueue[i].cut = 1;
	if (!offers)
		return;
	offer = offer_of_skb(offers, skb);
	if (offer)
		offer->cut = 1;
}

/* The qdisc is offered a packet, and no slot of it says so yet. */
static __always_inline void call_offer(struct enqueue_call *call, struct qdisc_record *record,
				       __u64 now)
{
	__u64 key = level_key(call->skb, call->depth), departure = 0;

	if (record->traits & QDISC_PACES)
		departure = departure_time(call->skb, now);
	slot_fill(slot_claim_again(key), key, now, call->record, departure, call->packets,
		  call->len, SLOT_OFFERED);
	count(&record->counters.offered_packets, call->packets);
	count(&record->counters.offered_skbs, 1);
	call->offered = 1;
}

/*
 * A root's enqueue function is called for an skb that is not on offer here. Where the
 * offer was another CPU's (6.19 and later, __dev_xmit_skb()) this CPU makes it its
 * own. Else nobody offered it: netem enqueues a copy at the root (net/sched/sch_netem.c,
 * netem_enqueue()).
 */
static __always_inline bool root_is_offered(const struct enqueue_call *call)
{
	struct offers *offers = offers_of_this_cpu();
	const struct slot *slot;
	__u32 at;

	if (!offers || offer_of_skb(offers, call->skb))
		return true;
	at = slot_find(call->skb);
	slot = slot_at(at);
	if (at == SLOT_NONE || !slot_waits(slot) || slot_record(slot) != call->record)
		return false;
	offer_adopt(offers, call->skb, at);
	return true;
}

static __always_inline void call_begin(struct calls *own, struct enqueue_call *call,
				       struct enqueue_call *parent)
{
	struct qdisc_record *record = qdisc_record(call->record);
	__u64 now = bpf_ktime_get_ns();

	if (!record)
		return;
	/* a root is counted from its first packet on, whenever its functions are hooked */
	if (call->depth)
		take_base(record);
	if (parent && parent->qdisc == call->qdisc && parent->skb != call->skb &&
	    parent->gso_size && !call->gso_size) {
		/* netem enqueues the segments that it cut at itself */
		levels_copy(parent->skb, call->skb, call->depth, call->len);
		return;
	}
	if (!call->depth) {
		if (!root_is_offered(call))
			call_offer(call, record, now);
		return;
	}
	if (parent && parent->depth < call->depth &&
	    (parent->skb != call->skb ||
	     was_unfolded(parent->gso_size, parent->len, call->len, call->skb))) {
		levels_copy(parent->skb, call->skb, parent->depth, call->len);
		mark_cut(own, parent->skb);
	}
	call_offer(call, record, now);
}

static __always_inline __u32 root_of(__u32 id)
{
	const struct qdisc_record *record = qdisc_record(id);

	return record ? record->root : id;
}

/*
 * Forget calls that a kprobe saw begin and whose return it missed: they lie no further up
 * the same stack.
 */
static __always_inline void forget_stale(struct calls *own, __u64 stack)
{
	const struct enqueue_call *call;
	__u32 i;

	if (!stack)
		return;
	for (i = 0; i < CALLS && own->enqueues; i++) {
		call = call_at(own, (own->enqueues - 1));
		if (call->stack - stack - 1 < KERNEL_STACK)
			break;
		own->enqueues--;
		count(&losses.calls_lost, 1);
	}
}

__noinline int enqueue_entered(__u64 skb_address, __u64 qdisc_address, __u64 stack)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	struct calls *own = calls_of_this_cpu();
	__u32 id = qdisc_id_by_address(qdisc_address), at;
	struct enqueue_call *call, *parent = NULL;
	struct qdisc_record *record;
	struct gso gso;

	record = qdisc_record(id);
	if (!tracing || !own || !record)
		return 0;
	forget_stale(own, stack);
	at = own->enqueues;
	if (at >= CALLS) {
		count(&losses.calls_lost, at);
		at = 0;
	}
	if (at)
		parent = call_at(own, (at - 1));
	call = call_at(own, at);
	if (record->depth == DEPTH_UNKNOWN)
		record->depth = parent ? (parent->depth + 1) & (QDISC_LEVELS - 1) : 1;
	if (parent && record->depth && record->root == id)
		record->root = root_of(parent->record);
	gso = gso_read(skb_address);
	__builtin_memset(call, 0, sizeof(*call));
	call->skb = skb_address;
	call->qdisc = qdisc_address;
	call->stack = stack;
	call->record = id;
	call->depth = record->depth & (QDISC_LEVELS - 1);
	call->len = BPF_CORE_READ(skb, len);
	call->packets = gso_packets(gso);
	call->gso_size = gso.size;
	call_begin(own, call, parent);
	own->enqueues = at + 1;
	return 0;
}

/*
 * Which of the open calls returns: that of skb and qdisc, or where they are not known (0) the
 * one at the stack.
 */
static __always_inline __u32 call_returning(struct calls *own, __u64 skb, __u64 qdisc,
					    __u64 stack)
{
	const struct enqueue_call *call;
	__u32 i, at;

	for (i = 0; i < CALLS; i++) {
		at = own->enqueues - 1 - i;
		if (at >= CALLS)
			break;
		call = call_at(own, at);
		if (stack ? stack_is_of_return(call->stack, stack) :
			    call->skb == skb && call->qdisc == qdisc)
			return at;
	}
	return CALLS;
}

/* A part of a packet that was cut found no room below: nor did it at the levels above. */
static __always_inline void reject_part(__u64 part, __u32 last)
{
	struct qdisc_record *record;
	__u32 level, at, id, len;

	for (level = 0; level < QDISC_LEVELS && level <= last; level++) {
		at = slot_find(level_key(part, level));
		if (at == SLOT_NONE || !slot_waits(slot_at(at)))
			continue;
		id = slot_record(slot_at(at));
		record = qdisc_record(id);
		len = slot_at(at)->len;
		slot_clear(at);
		if (!record)
			continue;
		reject(record, id, 1, len);
		/* tbf_segment() counts its own only (net/sched/sch_tbf.c) */
		if (level < last)
			count(&record->counters.parts_refused, 1);
	}
}

static __always_inline void call_refused(struct calls *own, const struct enqueue_call *call,
					 struct enqueue_call *parent,
					 struct qdisc_record *record, int status)
{
	bool stolen = status & __NET_XMIT_STOLEN;
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer = NULL;
	__u32 at;

	if (!stolen && !call->dropped_below)
		count(&record->counters.drops_here, 1);
	if (!stolen && parent)
		parent->dropped_below = 1;
	if (!stolen)
		own->refused = call->skb;
	if (!call->depth && !call->offered) {
		/* the free that follows ends the offer, unless somebody keeps the skb */
		if (offers)
			offer = offer_of_skb(offers, call->skb);
		if (offer)
			offer->refused = 1;
		if (!stolen || !offer)
			return;
		offer_close(offers, offer);
	}
	at = slot_find(level_key(call->skb, call->depth));
	if (at != SLOT_NONE && slot_waits(slot_at(at)))
		slot_clear(at);
	if (stolen)
		count(&record->counters.stolen_skbs, 1);
	reject(record, call->record, call->packets, call->len);
	if (parent && parent->depth < call->depth && parent->skb != call->skb)
		reject_part(call->skb, parent->depth);
}

/* None of its parts found room: the levels above count one drop, for the whole. */
static __always_inline void parts_counted_once(__u64 whole, __u32 depth)
{
	struct qdisc_record *record;
	__u32 level, at;

	for (level = 0; level < QDISC_LEVELS && level < depth; level++) {
		at = slot_find(level_key(whole, level));
		if (at == SLOT_NONE || !slot_waits(slot_at(at)))
			continue;
		record = qdisc_record(slot_record(slot_at(at)));
		if (record)
			count(&record->counters.parts_refused, -1);
	}
}

/*
 * Its parts went on: at this level, and where no call of them is open at those above, the
 * whole is gone.
 */
static __always_inline void call_was_cut(const struct enqueue_call *call, bool outermost,
					 bool refused)
{
	__u32 level, at;

	if (refused)
		parts_counted_once(call->skb, call->depth);
	level = outermost ? 0 : call->depth;
	for (; level < QDISC_LEVELS && level <= call->depth; level++) {
		at = slot_find(level_key(call->skb, level));
		/* the first part may be the same skb, shorter */
		if (at != SLOT_NONE && slot_waits(slot_at(at)) &&
		    slot_at(at)->len == call->len)
			slot_clear(at);
	}
}

/* A child took the packet, and nothing of it went on to a child of its own. */
static __always_inline void call_queued(const struct enqueue_call *call, __u32 len_now)
{
	__u32 at = slot_find(level_key(call->skb, call->depth));
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;

	if (!call->consumed &&
	    !was_unfolded(call->gso_size, call->len, len_now, call->skb)) {
		if (at != SLOT_NONE)
			compare_and_swap(&slot_at(at)->state, SLOT_OFFERED, SLOT_QUEUED);
		return;
	}
	/* cut inside, as cake does: the root's offer knows the headers */
	if (at != SLOT_NONE && slot_waits(slot_at(at)))
		slot_clear(at);
	if (!offers)
		return;
	offer = offer_of_skb(offers, call->skb);
	if (!offer || !offer->parsed)
		return;
	segments_insert(offer_number(offers, offer), call->record);
}

static __always_inline void call_backlog(const struct enqueue_call *call,
					 struct qdisc_record *record)
{
	struct qdisc_bank *bank = qdisc_bank(call->record);
	__u64 now = bpf_ktime_get_ns();

	if (!bank)
		return;
	if (qdisc_counts_per_cpu(record))
		backlog_change(record, bank, call->len, 1, now);
	else
		backlog_read(record, bank, call->qdisc, now);
}

static __always_inline void call_end(struct calls *own, const struct enqueue_call *call,
				     struct enqueue_call *parent,
				     struct qdisc_record *record, int status)
{
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;
	const struct sk_buff *skb = (const struct sk_buff *)call->skb;
	__u32 len_now = BPF_CORE_READ(skb, len);

	if (call->cut) {
		call_was_cut(call, !parent,
			     status != NET_XMIT_SUCCESS && status != NET_XMIT_CN);
	} else if (status != NET_XMIT_SUCCESS && status != NET_XMIT_CN) {
		call_refused(own, call, parent, record, status);
		return;
	}
	offer = offers && !call->depth ? offer_of_skb(offers, call->skb) : NULL;
	if (offer) {
		/* after NET_XMIT_CN it may be this very packet that is freed next */
		if (status == NET_XMIT_SUCCESS || offer->consumed)
			offer_queued(offers, offer, len_now, false);
	} else if (!call->cut) {
		call_queued(call, len_now);
	}
	call_backlog(call, record);
}

__noinline int enqueue_left(__u64 skb, __u64 qdisc, __u64 stack, int status)
{
	struct calls *own = calls_of_this_cpu();
	struct enqueue_call *call, *parent = NULL;
	struct qdisc_record *record;
	__u32 at;

	if (!tracing || !own)
		return 0;
	at = call_returning(own, skb, qdisc, stack);
	if (at >= CALLS)
		return 0;
	call = call_at(own, at);
	own->enqueues = at;
	if (at)
		parent = call_at(own, (at - 1));
	record = qdisc_record(call->record);
	if (record)
		call_end(own, call, parent, record, status);
	return 0;
}

/* The skb that a call of this CPU is about was freed as one that has done its duty: cut up. */
static __always_inline void calls_consumed(__u64 skb)
{
	struct calls *own = calls_of_this_cpu();
	__u32 i;

	if (!own || !own->enqueues)
		return;
	for (i = 0; i < CALLS; i++)
		if (i < own->enqueues && own->enqueue[i].skb == skb)
			own->enqueue[i].consumed = 1;
}

/* The slot of a child's packet that it hands to its parent. */
static __always_inline void hand_up_slot(const struct hand_out *out, struct slot *slot,
					 struct qdisc_record *record, struct qdisc_bank *bank)
{
	__u64 sojourn = sojourn_of(record, slot->offered, out->now);
	__u32 packets = slot_packets(slot);

	record_measured(out->record, record, bank, sojourn, packets, out->len, out->now);
	flow_look(out->skb, out->record, sojourn, packets, out->len, out->now);
	part_add(record, bank, out->skb, slot->offered, slot->handed_out, sojourn, out->now,
		 packets, out->len);
	if (probe_length(out->len))
		probe_settled(record, out->skb, out->now);
	if (qdisc_counts_per_cpu(record))
		backlog_change(record, bank, -(__s64)slot->len, -1, out->now);
	slot->handed_out = slot_pack(out->now, packets);
	slot->state = SLOT_HANDED_UP;
}

/* A child hands a packet to its parent. */
__noinline int handed_up(__u64 qdisc_address, __u64 skb_address)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	struct hand_out out = {};
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	__u64 offered = 0, key;
	__u32 at;

	out.record = qdisc_known_id(qdisc_address);
	record = qdisc_record(out.record);
	bank = qdisc_bank(out.record);
	/* a root's hand-outs are told by an event of their own */
	if (!tracing || !record || !bank || !record->depth || record->depth >= QDISC_LEVELS)
		return 0;
	out.skb = skb_address;
	out.len = BPF_CORE_READ(skb, len);
	out.now = bpf_ktime_get_ns();
	key = level_key(skb_address, record->depth);
	at = slot_find(key);
	slot = slot_at(at);
	if (at != SLOT_NONE && slot_record(slot) == out.record &&
	    slot->state == SLOT_HANDED_UP)
		return 0;	/* peeked at before */
	if (at != SLOT_NONE && slot_record(slot) == out.record && slot_waits(slot)) {
		offered = slot->offered;
		hand_up_slot(&out, slot, record, bank);
	} else {
		offered = segment_match(out.skb, record->root, record->depth, out.len);
		if (offered) {
			hand_out_segment(out.skb, out.now, out.record, out.len, offered);
			segment_remember(&out, key, at, offered, SLOT_HANDED_UP);
		} else {
			hand_out_unmatched(&out, record);
		}
	}
	if (offered && probe_length(out.len))
		probe_seen(skb_address, PROBE_HANDED_UP, out.record, out.now,
			   out.now - slot_elapsed(offered, out.now));
	if (!qdisc_counts_per_cpu(record))
		backlog_read(record, bank, qdisc_address, out.now);
	return 0;
}

/*
 * peek() of most qdiscs takes the packet out and keeps it aside (include/net/sch_generic.h,
 * qdisc_peek_dequeued()); of others it leaves it where it is.
 */
static __always_inline void peeked(__u64 qdisc_address, __u64 skb)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;

	if (skb && (__u64)BPF_CORE_READ(qdisc, gso_skb.next) == skb)
		handed_up(qdisc_address, skb);
}

static __always_inline void dequeue_entered(__u64 qdisc, __u64 stack)
{
	struct calls *own = calls_of_this_cpu();
	struct dequeue_call *call;
	__u32 i;

	if (!tracing || !own || qdisc_known_id(qdisc) == QDISC_IGNORED)
		return;
	for (i = 0; i < CALLS && own->dequeues; i++) {
		call = dequeue_call_at(own, (own->dequeues - 1));
		if (call->stack - stack - 1 < KERNEL_STACK)
			break;
		own->dequeues--;
	}
	if (own->dequeues >= CALLS)
		own->dequeues = 0;
	call = dequeue_call_at(own, own->dequeues);
	call->qdisc = qdisc;
	call->stack = stack;
	own->dequeues++;
}

/* Whose dequeue or peek returns at that stack; 0: none that was seen to begin. */
static __always_inline __u64 dequeue_left(__u64 stack)
{
	struct calls *own = calls_of_this_cpu();
	const struct dequeue_call *call;
	__u32 i;

	if (!own)
		return 0;
	for (i = 0; i < CALLS && own->dequeues; i++) {
		own->dequeues--;
		call = dequeue_call_at(own, own->dequeues);
		if (stack_is_of_return(call->stack, stack))
			return call->qdisc;
	}
	return 0;
}

#endif
