// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks of the tracepoints tier. A packet's way: net_dev_queue gives it a
 * slot; qdisc_enqueue says that it waits; qdisc_dequeue, the driver (bypass) or
 * a free ends it and adds to its qdisc's record.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "config.bpf.h"
#include "histogram.bpf.h"
#include "offer.bpf.h"
#include "packet.bpf.h"
#include "probe.bpf.h"
#include "qdisc.bpf.h"
#include "segments.bpf.h"
#include "tcp.bpf.h"
#include "waiting.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * skbs of one hand-out that are walked with plain loads. The rest, as many as
 * there are, go through bpf_loop() and its slower reads.
 */
#define DEQUEUE_DIRECT	8
#define DEQUEUE_MOST	(1 << 20)

/* One skb that a root qdisc handed out. */
struct hand_out {
	__u64 skb;
	__u64 qdisc;
	__u64 now;
	__u32 record;
	__u32 len;
};

/* Does the slot still hold this very offer, and not another of the same address? */
static __always_inline bool offer_has_slot(const struct offer *offer)
{
	const struct slot *slot = &slots[offer->slot & SLOT_MASK];

	return slot->key == offer->skb && slot_waits(slot) &&
	       slot->offered == slot_pack(offer->offered_ns, offer->record);
}

/*
 * The GSO skb of this offer is gone and its segments wait instead. One from a
 * guest may come without a count of them: the kernel counts 0 for the whole and
 * each of its segments.
 */
static __always_inline void offer_to_segments(struct offers *own, struct offer *offer)
{
	struct qdisc_record *record = qdisc_record(offer->record);
	const struct packet *packet = &offer->packet;
	__u32 headers = packet->header_len + packet->jumbo;

	if (offer_has_slot(offer))
		slot_clear(offer->slot);
	if (!offer->parsed || !record || offer->len <= headers)
		return;
	if (!offer->packets)
		count(&record->counters.offered_packets,
		      (offer->len - headers + offer->gso_size - 1) / offer->gso_size);
	segments_insert(offer, offer_number(own, offer));
	offer->parsed = 0;
}

/*
 * The next packet comes, and of the last one neither enqueue nor driver nor
 * free was seen. A locked qdisc has queued it and dropped another one
 * (NET_XMIT_CN fires no event: net/core/dev.c, dev_qdisc_enqueue()). A nolock
 * qdisc passed it to a driver queue that was stopped: the kernel counts a
 * requeue (net/sched/sch_generic.c, sch_direct_xmit()).
 */
static __always_inline void offer_close_silent(struct offers *offers, struct offer *offer)
{
	struct qdisc_record *record = qdisc_record(offer->record);
	struct qdisc_bank *bank = qdisc_bank(offer->record);
	struct slot *slot = &slots[offer->slot & SLOT_MASK];

	offer->open = 0;
	if (!record || !bank)
		return;
	if (qdisc_is_nolock(record)) {
		count(&record->counters.requeued, 1);
		backlog_change(record, bank, offer->len, 1, bpf_ktime_get_ns());
		return;
	}
	if (offer->consumed)
		offer_to_segments(offers, offer);
	else if (offer_has_slot(offer))
		__sync_val_compare_and_swap(&slot->state, SLOT_OFFERED, SLOT_QUEUED);
}

/* dev->_tx[queue].qdisc; queues is the address of the array, as a number. */
static __always_inline __u64 qdisc_in_queues(__u64 queues, __u32 queue)
{
	__u64 qdisc = 0;

	bpf_probe_read_kernel(&qdisc, sizeof(qdisc),
			      (void *)(queues + queue * bpf_core_type_size(struct netdev_queue) +
				       bpf_core_field_offset(struct netdev_queue, qdisc)));
	return qdisc;
}

static __always_inline __u64 qdisc_of_queue(const struct net_device *dev, __u32 queue)
{
	if (!queue)
		return (__u64)dev->_tx->qdisc;
	return qdisc_in_queues(address_number(dev->_tx, CELL_QUEUE), queue);
}

/* Tx queue of an skb, as netdev_cap_txqueue() limits it (include/linux/netdevice.h). */
static __always_inline __u32 queue_of_skb(const struct sk_buff *skb, const struct net_device *dev)
{
	__u32 queue = skb->queue_mapping;

	return queue < dev->real_num_tx_queues ? queue : 0;
}

static __always_inline void offer_open(struct offer *offer, __u64 skb, __u32 id, __u32 len,
				       __u64 now)
{
	struct qdisc_record *record = qdisc_record(id);
	struct gso gso = gso_read(skb);

	if (!record)
		return;
	offer->skb = skb;
	offer->offered_ns = now;
	offer->record = id;
	offer->len = len;
	offer->packets = gso_packets(gso);
	offer->gso_size = gso.size;
	offer->may_bypass = 1;
	offer->consumed = 0;
	offer->parsed = 0;
	/* Who can be bypassed does not cut: headers are read where it may. */
	if (gso.size && !(record->flags & TCQ_F_CAN_BYPASS))
		offer->parsed = !packet_read(skb, false, &offer->packet);
	if (offer->parsed && offer->packet.protocol == IPPROTO_UDP)
		fragments_read(skb, offer->fragments, sizeof(offer->fragments), &offer->linear);
	offer->slot = slot_claim_again(skb);
	slot_fill(offer->slot, skb, now, id, offer->packets, len, SLOT_OFFERED);
	count(&record->counters.offered_packets, offer->packets);
	count(&record->counters.offered_skbs, 1);
	offer->open = 1;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_net_dev_queue, struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct net_device *dev = skb->dev;
	__u32 queue = queue_of_skb(skb, dev);
	__u64 qdisc = qdisc_of_queue(dev, queue);
	__u32 id = qdisc_id(qdisc, (__u64)dev, queue);
	__u64 now = bpf_ktime_get_ns();
	__u32 len = skb->len;
	struct offer *offer;

	if (!offers)
		return 0;
	if (id != QDISC_IGNORED) {
		offer = offer_place(offers, (__u64)dev);
		if (offer->open)
			offer_close_silent(offers, offer);
		offer->dev = (__u64)dev;
		offer_open(offer, address_number(skb, CELL_QDISC), id, len, now);
	}
	if (probe_length(len))
		probe_seen(address_number(skb, CELL_QDISC), PROBE_OFFERED,
			   id == QDISC_IGNORED ? PROBE_NO_QDISC : id, now);
	return 0;
}

static __always_inline void enqueue_backlog(struct qdisc_record *record,
					    struct qdisc_bank *bank, const struct Qdisc *qdisc,
					    __u32 len, __u64 now)
{
	if (!qdisc_counts_per_cpu(record)) {
		backlog_set(record, bank, qdisc->qstats.backlog, qdisc->q.qlen, now);
		return;
	}
	backlog_change(record, bank, len, 1, now);
}

/*
 * A GSO skb that was a list of packets (fraglist) gives itself as the first
 * segment (net/core/skbuff.c, skb_segment_list()): not consumed, but shorter and no
 * GSO any more.
 */
static __always_inline bool offer_was_unfolded(const struct offer *offer,
					       const struct sk_buff *skb, __u64 address)
{
	return offer->gso_size && skb->len != offer->len && !gso_read(address).size;
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(on_qdisc_enqueue, struct Qdisc *qdisc, const struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	struct offer *offer;
	__u64 address;

	if (!offers)
		return 0;
	address = address_number(skb, CELL_ENQUEUE);
	offer = offer_of_skb(offers, address);
	if (!offer)
		return 0;
	offer->open = 0;
	record = qdisc_record(offer->record);
	bank = qdisc_bank(offer->record);
	if (!record || !bank)
		return 0;
	slot = &slots[offer->slot & SLOT_MASK];
	if (offer->consumed || offer_was_unfolded(offer, skb, address))
		offer_to_segments(offers, offer);
	else if (offer_has_slot(offer))
		__sync_val_compare_and_swap(&slot->state, SLOT_OFFERED, SLOT_QUEUED);
	enqueue_backlog(record, bank, qdisc, offer->len, bpf_ktime_get_ns());
	return 0;
}

static __always_inline __u64 sojourn_of(struct qdisc_record *record, __u64 offered, __u64 now)
{
	__s64 sojourn = slot_elapsed(offered, now);

	if (sojourn >= 0)
		return sojourn;
	count(&record->counters.negative, 1);
	return 0;
}

/* Requeues that the kernel counted and that were not handed out again yet. */
static __always_inline __s32 requeues_outstanding(const struct qdisc_record *record,
						  __u64 qdisc_address)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;

	return BPF_CORE_READ(qdisc, qstats.requeues) - record->kernel_requeues_base -
	       (__u32)record->counters.requeued;
}

static __always_inline void hand_out_measured(struct qdisc_record *record,
					      struct qdisc_bank *bank, __u64 sojourn,
					      __u32 packets)
{
	histogram_add(&bank->sojourn, sojourn, packets);
	record->counters.measured_packets += packets;
	record->counters.measured_skbs++;
}

/* The slot is this skb's: its first hand-out, or a repeat. True where it was either. */
static __always_inline bool hand_out_slot(const struct hand_out *out, struct slot *slot,
					  struct qdisc_record *record, struct qdisc_bank *bank)
{
	__u64 sojourn = sojourn_of(record, slot->offered, out->now), before;
	bool nolock = qdisc_is_nolock(record);
	__u32 packets = slot_packets(slot);
	__u32 state = slot->state;

	if (state == SLOT_HANDED_OUT) {
		if (!nolock && requeues_outstanding(record, out->qdisc) <= 0)
			return false;
		count(&record->counters.requeued, 1);
		before = ((slot->handed_out >> 16) - (slot->offered >> 16)) & ~0ULL >> 16;
		histogram_move(&bank->sojourn, before, sojourn, packets);
	} else {
		/* passed straight to a stopped driver queue, refused there, requeued */
		if (state == SLOT_OFFERED && !nolock && record->flags & TCQ_F_CAN_BYPASS &&
		    requeues_outstanding(record, out->qdisc) > 0)
			count(&record->counters.requeued, 1);
		hand_out_measured(record, bank, sojourn, packets);
		slot->state = SLOT_HANDED_OUT;
		if (qdisc_counts_per_cpu(record))
			backlog_change(record, bank, -(__s64)out->len, -1, out->now);
	}
	slot->handed_out = slot_pack(out->now, packets);
	return true;
}

/* An skb that was never offered: a segment of one that was. Its slot, made now, tells a requeue. */
static __always_inline bool hand_out_segment(const struct hand_out *out,
					     struct qdisc_record *record,
					     struct qdisc_bank *bank)
{
	struct packet packet = {};
	__u64 offered, sojourn;
	__u32 at;

	if (packet_read(out->skb, false, &packet))
		return false;
	offered = segment_take(out->skb, &packet, out->record, out->len, 0);
	if (!offered)
		return false;
	sojourn = sojourn_of(record, offered, out->now);
	hand_out_measured(record, bank, sojourn, 1);
	record->counters.segments++;
	at = slot_claim_again(out->skb);
	slot_fill(at, out->skb, 0, 0, 1, out->len, SLOT_TAKEN);
	slots[at & SLOT_MASK].offered = offered;
	slots[at & SLOT_MASK].handed_out = slot_pack(out->now, 1);
	slots[at & SLOT_MASK].state = SLOT_HANDED_OUT;
	return true;
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
	if (qdisc_is_nolock(record) || requeues_outstanding(record, out->qdisc) > 0) {
		count(&record->counters.requeued, 1);
		return;
	}
	gso = gso_read(out->skb);
	record->counters.unmatched_packets += gso_packets(gso);
	record->counters.unmatched_skbs++;
	if (record->counters.segments) {
		record->counters.segments++;
		record->counters.flow_misses++;
	}
}

static __noinline int hand_out_one(const struct hand_out *out)
{
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	__u32 at;

	if (!out)
		return 0;
	record = qdisc_record(out->record);
	bank = qdisc_bank(out->record);
	if (!record || !bank)
		return 0;
	if (probe_length(out->len))
		probe_seen(out->skb, PROBE_DEQUEUED, out->record, out->now);
	at = slot_find(out->skb);
	if (at != SLOT_NONE) {
		slot = &slots[at & SLOT_MASK];
		if (slot->len == out->len && slot_record(slot) == out->record &&
		    hand_out_slot(out, slot, record, bank))
			return 0;
	}
	if (!hand_out_segment(out, record, bank))
		hand_out_unmatched(out, record);
	return 0;
}

static long hand_out_next(__u64 index, struct hand_out *out)
{
	const struct sk_buff *skb = (const struct sk_buff *)out->skb;

	out->len = BPF_CORE_READ(skb, len);
	hand_out_one(out);
	out->skb = (__u64)BPF_CORE_READ(skb, next);
	return !out->skb;
}

/* What was offered to this device and is still open goes no more straight to its driver. */
static __always_inline void offers_not_bypassed(struct offers *own, __u64 dev)
{
	__u32 i;

	for (i = 0; i < OFFERS; i++)
		if (own->to[i].dev == dev)
			own->to[i].may_bypass = 0;
}

SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(on_qdisc_dequeue, struct Qdisc *qdisc, const struct netdev_queue *txq, int packets,
	     struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct hand_out out = {};
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	int i;

	if (offers)
		offers_not_bypassed(offers, (__u64)txq->dev);
	if (!skb)
		return 0;
	out.record = qdisc_known_id((__u64)qdisc);
	if (out.record == QDISC_IGNORED)
		return 0;
	record = qdisc_record(out.record);
	bank = qdisc_bank(out.record);
	if (!record || !bank)
		return 0;
	out.now = bpf_ktime_get_ns();
	out.qdisc = address_number(qdisc, CELL_DEQUEUE);
	if (!qdisc_counts_per_cpu(record))
		backlog_set(record, bank, qdisc->qstats.backlog, qdisc->q.qlen, out.now);
	for (i = 0; i < DEQUEUE_DIRECT && skb; i++) {
		out.skb = address_number(skb, CELL_DEQUEUE_NEXT);
		out.len = skb->len;
		hand_out_one(&out);
		skb = skb->next;
	}
	if (!skb)
		return 0;
	out.skb = address_number(skb, CELL_DEQUEUE_NEXT);
	bpf_loop(DEQUEUE_MOST, hand_out_next, &out, 0);
	return 0;
}

/*
 * The driver gets a packet. Where this CPU's offer is still open and nothing
 * was dequeued since, the qdisc was bypassed: by this skb, or by the pieces that
 * it was cut into for a driver that takes no GSO (validate_xmit_skb()).
 */
SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_net_dev_start_xmit, const struct sk_buff *skb, const struct net_device *dev)
{
	struct offers *offers = offers_of_this_cpu();
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	struct offer *offer;
	__u64 address;

	if (probe_length(skb->len))
		probe_seen(address_number(skb, CELL_TRANSMIT), PROBE_TRANSMIT, PROBE_NO_QDISC,
			   bpf_ktime_get_ns());
	if (!offers)
		return 0;
	offer = offer_of_device(offers, (__u64)dev);
	if (!offer || !offer->may_bypass)
		return 0;
	address = address_number(skb, CELL_TRANSMIT);
	if (address != offer->skb && !offer->consumed)
		return 0;
	offer->open = 0;
	record = qdisc_record(offer->record);
	bank = qdisc_bank(offer->record);
	if (!record || !bank)
		return 0;
	histogram_add(&bank->sojourn, 0, offer->packets);
	record->counters.bypassed_packets += offer->packets;
	record->counters.bypassed_skbs++;
	slot = &slots[offer->slot & SLOT_MASK];
	if (!offer_has_slot(offer))
		return 0;
	/* what the driver refuses comes again as a requeue, having waited from now on */
	slot->handed_out = slot_pack(offer->offered_ns, offer->packets);
	slot->state = SLOT_HANDED_OUT;
	return 0;
}

static __always_inline void reject(struct qdisc_record *record, __u32 packets, __u64 qdisc_address)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;

	count(&record->counters.rejected_packets, packets);
	count(&record->counters.rejected_skbs, 1);
	/* __dev_xmit_skb() frees it then without a word to the qdisc's counters */
	if (BPF_CORE_READ(qdisc, state) &
	    1 << bpf_core_enum_value(enum qdisc_state_t, __QDISC_STATE_DEACTIVATED))
		count(&record->counters.rejected_inactive, 1);
}

static __always_inline void drop_inside(struct qdisc_record *record, __u32 id, __u64 offered,
					__u32 packets, __u32 len, __u64 now)
{
	struct qdisc_bank *bank = qdisc_bank(id);

	count(&record->counters.dropped_packets, packets);
	count(&record->counters.dropped_skbs, 1);
	if (!bank)
		return;
	histogram_add_unlocked(&bank->wait_before_drop, sojourn_of(record, offered, now),
			       packets);
	if (qdisc_counts_per_cpu(record))
		backlog_change(record, bank, -(__s64)len, -1, now);
}

/* The skb of a slot is freed. */
static __always_inline void free_slot(struct offers *offers, __u32 at, __u64 skb, __u32 reason)
{
	struct slot *slot = &slots[at & SLOT_MASK];
	__u32 id = slot_record(slot), packets = slot_packets(slot);
	__u64 offered = slot->offered, now = bpf_ktime_get_ns();
	struct qdisc_record *record = qdisc_record(id);
	struct offer *offer = offer_of_skb(offers, skb);
	bool just_now = offer && offer_has_slot(offer);
	bool waited = slot->state == SLOT_QUEUED;
	__u32 len = slot->len;

	if (just_now)
		offer->open = 0;
	/*
	 * Cut up, and none of the pieces found room: tbf_segment() frees the whole
	 * one without a reason, and each piece is freed, and counted by the kernel,
	 * on its own.
	 */
	if (just_now && offer->parsed &&
	    reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_NOT_SPECIFIED)) {
		offer_to_segments(offers, offer);
		return;
	}
	slot_clear(at);
	if (!record)
		return;
	if (probe_length(len))
		probe_seen(skb, PROBE_DROPPED, id, now);
	if (!just_now && (waited || qdisc_is_nolock(record)))
		drop_inside(record, id, offered, packets, len, now);
	else
		reject(record, packets, record->qdisc);
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
	offered = segment_take(skb_address, &packet, id, len, just_now);
	if (!offered)
		return;
	now = bpf_ktime_get_ns();
	if (offered == just_now)
		reject(record, 1, qdisc);
	else
		drop_inside(record, id, offered, 1, len, now);
}

/* Was it a qdisc that dropped it? */
static __always_inline bool dropped_by_qdisc(__u32 reason)
{
	return reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_QDISC_DROP) ||
	       (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_OVERLIMIT) &&
		reason == bpf_core_enum_value(enum skb_drop_reason,
					      SKB_DROP_REASON_QDISC_OVERLIMIT)) ||
	       (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_CONGESTED) &&
		reason == bpf_core_enum_value(enum skb_drop_reason,
					      SKB_DROP_REASON_QDISC_CONGESTED));
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_kfree_skb, struct sk_buff *skb, void *location, int reason)
{
	struct offers *offers = offers_of_this_cpu();
	__u64 address = address_number(skb, CELL_KFREE);
	__u32 at = slot_find(address);

	if (!offers)
		return 0;
	if (at != SLOT_NONE && slot_waits(&slots[at & SLOT_MASK])) {
		free_slot(offers, at, address, reason);
		return 0;
	}
	/* What a slot remembers of the address may be of another skb long since gone. */
	if (at != SLOT_NONE)
		slot_clear(at);
	if (at == SLOT_NONE || dropped_by_qdisc(reason))
		free_segment(offers, address);
	return 0;
}

/* Between offer and enqueue event only a qdisc that cuts a GSO skb consumes it. */
SEC("tp_btf/consume_skb")
int BPF_PROG(on_consume_skb, struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;

	if (!offers)
		return 0;
	offer = offer_of_skb(offers, (__u64)skb);
	if (!offer)
		return 0;
	if (offer_has_slot(offer) && slots[offer->slot & SLOT_MASK].state == SLOT_OFFERED)
		offer->consumed = 1;
	else
		offer->open = 0;	/* queued without a word, and gone since */
	return 0;
}

struct purge {
	__u64 now;
	__u32 record;
};

static long purge_slot(__u64 index, struct purge *purge)
{
	struct slot *slot = &slots[index & SLOT_MASK];
	struct qdisc_record *record;

	if (!slot_waits(slot) || slot_record(slot) != purge->record)
		return 0;
	record = qdisc_record(purge->record);
	if (!record)
		return 1;
	slot->state = SLOT_FREE;
	count(&record->counters.purged_skbs, 1);
	drop_inside(record, purge->record, slot->offered, slot_packets(slot), slot->len,
		    purge->now);
	return 0;
}

/*
 * A qdisc is emptied: with its device down, or before it is destroyed. Its packets
 * are freed one by one, some of them only after another qdisc has its place
 * (rtnl_kfree_skbs()), and the kernel counts no drop.
 */
SEC("tp_btf/qdisc_reset")
int BPF_PROG(on_qdisc_reset, struct Qdisc *qdisc)
{
	struct purge purge = {};
	struct qdisc_record *record;

	purge.record = qdisc_known_id((__u64)qdisc);
	if (purge.record == QDISC_IGNORED)
		return 0;
	record = qdisc_record(purge.record);
	if (!record || (!qdisc_counts_per_cpu(record) && !qdisc->q.qlen))
		return 0;
	purge.now = bpf_ktime_get_ns();
	bpf_loop(SLOTS, purge_slot, &purge, 0);
	return 0;
}

SEC("tp_btf/qdisc_destroy")
int BPF_PROG(on_qdisc_destroy, struct Qdisc *qdisc)
{
	__u64 address = (__u64)qdisc;
	struct qdisc_record *record;
	__u32 id = qdisc_known_id(address);

	bpf_map_delete_elem(&qdisc_ids, &address);
	if (id == QDISC_IGNORED)
		return 0;
	record = qdisc_record(id);
	if (!record)
		return 0;
	if (!qdisc_counts_per_cpu(record)) {
		bpf_probe_read_kernel(&record->last_packets, sizeof(record->last_packets),
				      &qdisc->bstats.packets);
		record->last_drops = qdisc->qstats.drops;
		record->last_requeues = qdisc->qstats.requeues;
		record->last_valid = 1;
	}
	record->destroyed_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_netif_receive_skb, struct sk_buff *skb)
{
	if (probe_length(skb->len))
		probe_seen(address_number(skb, CELL_RECEIVE), PROBE_RECEIVED, PROBE_NO_QDISC,
			   bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_tcp_probe, struct sock *sk)
{
	__u32 netns = sock_netns(sk);
	__u64 now = bpf_ktime_get_ns();

	if (netns_wanted(netns, WANTED_PROBES) && tcp_due((__u64)sk, now))
		tcp_state_tell(sk, netns, now);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_tcp_retransmit_skb, const struct sock *sk, const struct sk_buff *skb)
{
	__u32 netns = sock_netns(sk);

	if (netns_wanted(netns, WANTED_PROBES))
		tcp_retransmit_tell(sk, skb, netns, bpf_ktime_get_ns());
	return 0;
}
