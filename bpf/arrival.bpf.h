/* SPDX-License-Identifier: GPL-2.0 */
/* A packet comes to a device's qdisc layer: its offer, and how that ends. */
#ifndef SOJOURN_ARRIVAL_BPF_H
#define SOJOURN_ARRIVAL_BPF_H

#include "address.bpf.h"
#include "offer.bpf.h"
#include "packet.bpf.h"
#include "qdisc.bpf.h"
#include "segments.bpf.h"
#include "waiting.bpf.h"

/* Does the slot still hold this very offer, and not another of the same address? */
static __always_inline bool offer_has_slot(const struct offer *offer)
{
	const struct slot *slot = slot_at(offer->slot);

	return slot->key == offer->skb && slot_waits(slot) &&
	       slot->offered == slot_pack(offer->offered_ns, offer->record);
}

/*
 * The GSO skb of this offer is gone and its segments wait instead. One from a
 * guest may come without a count of them: the kernel counts 0 for the whole and
 * each of its segments. Segments that were seen going to a child have their slots.
 */
static __always_inline void offer_to_segments(struct offers *own, struct offer *offer)
{
	struct qdisc_record *record = qdisc_record(offer->record);
	const struct packet *packet = &offer->packet;
	__u32 headers = packet->header_len + packet->jumbo;

	if (offer->cut)
		return;
	if (offer_has_slot(offer))
		slot_clear(offer->slot);
	if (!offer->parsed || !record || offer->len <= headers)
		return;
	if (!offer->packets)
		count(&record->counters.offered_packets,
		      (offer->len - headers + offer->gso_size - 1) / offer->gso_size);
	segments_insert(offer_number(own, offer), offer->record);
	offer->parsed = 0;
}

/*
 * The skb is freed as one that has done its duty, and was not queued yet: it was cut. Its
 * segments are expected from now on, while the qdisc is still locked.
 */
static __always_inline void offer_consumed(struct offers *own, struct offer *offer)
{
	offer->consumed = 1;
	/* where functions are traced the call that cut it tells, at each level */
	if (!functions)
		offer_to_segments(own, offer);
}

/*
 * The next packet comes, and of the last one neither enqueue nor driver nor
 * free was seen. A locked qdisc has queued it and dropped another one
 * (NET_XMIT_CN fires no event: net/core/dev.c, dev_qdisc_enqueue()); or, as a nolock
 * qdisc, has passed it to a driver queue that was stopped: the kernel then counts a
 * requeue (net/sched/sch_generic.c, sch_direct_xmit()).
 */
static __always_inline void offer_close_silent(struct offers *offers, struct offer *offer)
{
	struct qdisc_record *record = qdisc_record(offer->record);
	struct qdisc_bank *bank = qdisc_bank(offer->record);

	offer_close(offers, offer);
	if (!record || !bank)
		return;
	if (qdisc_is_nolock(record) && enqueue_is_told) {
		count(&record->counters.requeued, 1);
		backlog_change(record, bank, offer->len, 1, bpf_ktime_get_ns());
		return;
	}
	if (enqueue_is_told && record->flags & TCQ_F_CAN_BYPASS && offer_has_slot(offer) &&
	    requeues_outstanding(record) > 0)
		count(&record->counters.requeued, 1);
	if (offer->consumed)
		offer_to_segments(offers, offer);
	else if (offer_has_slot(offer))
		compare_and_swap(&slot_at(offer->slot)->state, SLOT_OFFERED,
				 SLOT_QUEUED);
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

/*
 * The record of the qdisc that an skb is offered to, or QDISC_IGNORED. Most devices of a
 * host have no queue at all: that takes no look-up (net/core/dev.c, __dev_queue_xmit()).
 */
static __always_inline __u32 qdisc_of_offer(struct net_device *dev, __u32 queue)
{
	const struct Qdisc *first;

	if (queue)
		return qdisc_id(qdisc_in_queues(address_number(dev->_tx, CELL_QUEUE), queue),
				(__u64)dev, queue);
	first = dev->_tx->qdisc;
	if (!first->enqueue)
		return QDISC_IGNORED;
	return qdisc_id(address_number(first, CELL_FIRST_QDISC), (__u64)dev, 0);
}

/* Tx queue of an skb, as netdev_cap_txqueue() limits it (include/linux/netdevice.h). */
static __always_inline __u32 queue_of_skb(const struct sk_buff *skb, const struct net_device *dev)
{
	__u32 queue = skb->queue_mapping;

	return queue < dev->real_num_tx_queues ? queue : 0;
}

/* Times further apart are not of the same clock. */
#define CLOCK_NEAR_NS	(1LL << HISTOGRAM_TOP_BIT)

static __always_inline bool clock_is_near(__s64 stamp, __u64 now)
{
	return (__u64)(stamp - now + CLOCK_NEAR_NS) < 2 * CLOCK_NEAR_NS;
}

/*
 * When the sender wants the packet to leave, on CLOCK_MONOTONIC; 0: it does not say.
 * TCP stamps its skbs so (net/ipv4/tcp_output.c, __tcp_transmit_skb()), others by SO_TXTIME on
 * a clock of their choice.
 */
static __always_inline __u64 departure_time(__u64 skb_address, __u64 now)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	__s64 stamp = BPF_CORE_READ(skb, tstamp);

	if (clock_is_near(stamp, now))
		return stamp;
	if (clock_is_near(stamp - clock_tai_ahead_ns, now))
		return stamp - clock_tai_ahead_ns;
	if (clock_is_near(stamp - clock_real_ahead_ns, now))
		return stamp - clock_real_ahead_ns;
	return 0;
}

static __always_inline void offer_open(struct offers *offers, struct offer *offer, __u64 skb,
				       __u32 id, __u32 len, struct gso gso, __u64 now)
{
	struct qdisc_record *record = qdisc_record(id);
	__u64 departure = 0;

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
	offer->cut = 0;
	offer->refused = 0;
	/* Who can be bypassed does not cut: headers are read where it may. */
	if (gso.size && !(record->flags & TCQ_F_CAN_BYPASS))
		offer->parsed = !packet_read(skb, false, &offer->packet);
	if (offer->parsed && offer->packet.protocol == IPPROTO_UDP)
		fragments_read(skb, offer->fragments, sizeof(offer->fragments), &offer->linear);
	if (record->traits & QDISC_PACES)
		departure = departure_time(skb, now);
	offer->slot = slot_claim_again(skb);
	slot_fill(offer->slot, skb, now, id, departure, offer->packets, len, SLOT_OFFERED);
	count(&record->counters.offered_packets, offer->packets);
	count(&record->counters.offered_skbs, 1);
	offer->open = 1;
	offers->open++;
}

/* This CPU enqueues what another one offered; the slot at tells when. */
static __always_inline void offer_adopt(struct offers *offers, __u64 skb_address, __u32 at)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	const struct slot *slot = slot_at(at);
	__u64 dev = (__u64)BPF_CORE_READ(skb, dev);
	struct gso gso = gso_read(skb_address);
	struct offer *offer = offer_place(offers, dev);

	if (offer->open)
		offer_close_silent(offers, offer);
	offer->dev = dev;
	offer->skb = skb_address;
	offer->offered_ns = slot->offered >> 16;
	offer->record = slot_record(slot);
	offer->slot = at;
	offer->len = slot->len;
	offer->packets = slot_packets(slot);
	offer->gso_size = gso.size;
	offer->may_bypass = 0;
	offer->consumed = 0;
	offer->cut = 0;
	offer->refused = 0;
	offer->parsed = gso.size && !packet_read(skb_address, false, &offer->packet);
	if (offer->parsed && offer->packet.protocol == IPPROTO_UDP)
		fragments_read(skb_address, offer->fragments, sizeof(offer->fragments),
			       &offer->linear);
	offer->open = 1;
	offers->open++;
}

/*
 * A GSO skb that was a list of packets (fraglist) gives itself as the first
 * segment (net/core/skbuff.c, skb_segment_list()): not consumed, but shorter and no
 * GSO any more.
 */
static __always_inline bool was_unfolded(__u32 gso_size, __u32 len, __u32 len_now, __u64 skb)
{
	return gso_size && len_now != len && !gso_read(skb).size;
}

/*
 * The qdisc took it. len_now: of the skb, which may be freed or another one by now. locked:
 * whoever hands it out, or frees it, has to wait until this event is over.
 */
static __always_inline void offer_queued(struct offers *offers, struct offer *offer,
					 __u32 len_now, bool locked)
{
	offer_close(offers, offer);
	if (offer->consumed || was_unfolded(offer->gso_size, offer->len, len_now, offer->skb))
		offer_to_segments(offers, offer);
	else if (!offer_has_slot(offer))
		return;
	else if (locked)
		slot_at(offer->slot)->state = SLOT_QUEUED;
	else
		compare_and_swap(&slot_at(offer->slot)->state, SLOT_OFFERED, SLOT_QUEUED);
}

#endif
