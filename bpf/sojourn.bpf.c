// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks. A packet's way: net_dev_queue gives it a slot; qdisc_enqueue says that
 * it waits; qdisc_dequeue, the driver (bypass) or a free ends it and adds to its
 * qdisc's record. In the functions tier calls of the qdiscs' own functions do the
 * same for every child.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "address.bpf.h"
#include "arrival.bpf.h"
#include "calls.bpf.h"
#include "config.bpf.h"
#include "drop.bpf.h"
#include "hand_out.bpf.h"
#include "histogram.bpf.h"
#include "offer.bpf.h"
#include "packet.bpf.h"
#include "packets.bpf.h"
#include "probe.bpf.h"
#include "qdisc.bpf.h"
#include "segments.bpf.h"
#include "tcp.bpf.h"
#include "waiting.bpf.h"
#include "walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * skbs of one hand-out that are walked with plain loads. The rest, as many as
 * there are, go through repeat() and its slower reads.
 */
#define DEQUEUE_DIRECT	8
#define DEQUEUE_MOST	(1 << 20)
#define DEQUEUE_OLD	16

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_net_dev_queue, struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct net_device *dev = skb->dev;
	__u32 queue, id, len = skb->len;
	struct offer *offer;
	__u64 now;

	if (!tracing || !offers)
		return 0;
	queue = queue_of_skb(skb, dev);
	id = qdisc_of_offer(dev, queue);
	if (id == QDISC_IGNORED && !probe_length(len))
		return 0;
	now = bpf_ktime_get_ns();
	if (id != QDISC_IGNORED) {
		offer = offer_place(offers, (__u64)dev);
		if (offer->open)
			offer_close_silent(offers, offer);
		offer->dev = (__u64)dev;
		offer_open(offers, offer, address_number(skb, CELL_QDISC), id, len,
			   gso_of_skb(skb), now);
	}
	if (probe_length(len))
		probe_seen(address_number(skb, CELL_QDISC), PROBE_OFFERED,
			   id == QDISC_IGNORED ? PROBE_NO_QDISC : id, now, 0);
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

/* The same of an skb that another CPU was given. */
static __always_inline void enqueued_deferred(__u64 skb, const struct Qdisc *qdisc)
{
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct slot *slot;
	__u32 at, id;

	at = slot_find(skb);
	if (at == SLOT_NONE)
		return;
	slot = slot_at(at);
	id = slot_record(slot);
	record = qdisc_record(id);
	bank = qdisc_bank(id);
	if (!record || !bank || !compare_and_swap(&slot->state, SLOT_OFFERED, SLOT_QUEUED))
		return;
	enqueue_backlog(record, bank, qdisc, slot->len, bpf_ktime_get_ns());
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(on_qdisc_enqueue, struct Qdisc *qdisc, const struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct qdisc_record *record;
	struct qdisc_bank *bank;
	struct offer *offer;
	__u64 address;

	if (!tracing || !offers)
		return 0;
	address = address_number(skb, CELL_ENQUEUE);
	offer = offer_of_skb(offers, address);
	if (!offer) {
		if (enqueue_is_deferred())
			enqueued_deferred(address, qdisc);
		return 0;
	}
	record = qdisc_record(offer->record);
	bank = qdisc_bank(offer->record);
	if (!record || !bank) {
		offer_close(offers, offer);
		return 0;
	}
	offer_queued(offers, offer, skb->len, !qdisc_is_nolock(record));
	enqueue_backlog(record, bank, qdisc, offer->len,
			qdisc_counts_per_cpu(record) ? bpf_ktime_get_ns() : offer->offered_ns);
	return 0;
}

static long hand_out_next(__u64 index, void *context)
{
	struct hand_out *out = context;
	const struct sk_buff *skb = (const struct sk_buff *)out->skb;

	out->len = BPF_CORE_READ(skb, len);
	hand_out_one(out->skb, out->now, out->record, out->len);
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

	/* two of three events tell that there was none */
	if (!skb)
		return 0;
	if (offers && offers->open)
		offers_not_bypassed(offers, (__u64)txq->dev);
	if (!tracing)
		return 0;
	out.record = qdisc_known_id(address_number(qdisc, CELL_DEQUEUE));
	if (out.record == QDISC_IGNORED)
		return 0;
	record = qdisc_record(out.record);
	bank = qdisc_bank(out.record);
	if (!record || !bank)
		return 0;
	out.now = bpf_ktime_get_ns();
	record->kernel_requeues = qdisc->qstats.requeues;
	if (!qdisc_counts_per_cpu(record))
		backlog_set(record, bank, qdisc->qstats.backlog, qdisc->q.qlen, out.now);
	for (i = 0; i < DEQUEUE_DIRECT && skb; i++) {
		out.skb = address_number(skb, CELL_DEQUEUE);
		out.len = skb->len;
		hand_out_one(out.skb, out.now, out.record, out.len);
		skb = skb->next;
	}
	if (!skb)
		return 0;
	out.skb = address_number(skb, CELL_DEQUEUE);
	repeat(DEQUEUE_MOST, hand_out_next, &out, DEQUEUE_OLD);
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

	if (tracing && probe_length(skb->len))
		probe_seen(address_number(skb, CELL_TRANSMIT), PROBE_TRANSMIT, PROBE_NO_QDISC,
			   bpf_ktime_get_ns(), 0);
	if (!tracing || !offers)
		return 0;
	offer = offer_of_device(offers, (__u64)dev);
	if (!offer || !offer->may_bypass)
		return 0;
	address = address_number(skb, CELL_TRANSMIT);
	if (address != offer->skb && !offer->consumed)
		return 0;
	offer_close(offers, offer);
	record = qdisc_record(offer->record);
	bank = qdisc_bank(offer->record);
	if (!record || !bank)
		return 0;
	histogram_add(record, bank, HISTOGRAM_SOJOURN, 0, offer->packets);
	if (record->traits & QDISC_PACES || (functions && record->traits & QDISC_IS_PARENT))
		histogram_add(record, bank, HISTOGRAM_PART, 0, offer->packets);
	record->counters.bypassed_packets += offer->packets;
	record->counters.bypassed_skbs++;
	record->counters.bytes += offer->len;
	if (tell_packets)
		packet_tell(offer->record, PACKET_BYPASSED, 0, offer->packets, offer->len,
			    bpf_ktime_get_ns());
	slot = slot_at(offer->slot);
	if (!offer_has_slot(offer))
		return 0;
	/* what the driver refuses comes again as a requeue, having waited from now on */
	slot->handed_out = slot_pack(offer->offered_ns, offer->packets);
	slot->state = SLOT_HANDED_OUT;
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_kfree_skb, struct sk_buff *skb, void *location)
{
	struct offers *offers = offers_of_this_cpu();
	__u64 address = address_number(skb, CELL_KFREE);
	__u32 at = slot_find(address);

	int reason;

	if (!tracing || !offers)
		return 0;
	reason = drop_reasons_exist() ? (int)ctx[2] : 0;
	if (at != SLOT_NONE && slot_waits(slot_at(at))) {
		free_slot(offers, at, address, reason);
		return 0;
	}
	/* What a slot remembers of the address may be of another skb long since gone. */
	if (at != SLOT_NONE)
		slot_clear(at);
	if (at == SLOT_NONE || dropped_by_qdisc(reason) || freed_without_reason(reason))
		free_segment(offers, address);
	return 0;
}

/* Between offer and enqueue event only a qdisc that cuts a GSO skb consumes it. */
SEC("tp_btf/consume_skb")
int BPF_PROG(on_consume_skb, struct sk_buff *skb)
{
	struct offers *offers = offers_of_this_cpu();
	struct offer *offer;

	__u64 address;

	if (!tracing || !offers)
		return 0;
	address = (__u64)skb;
	if (functions)
		calls_consumed(address);
	offer = offer_of_skb(offers, address);
	if (!offer) {
		if (enqueue_is_deferred())
			consume_deferred(address_number(skb, CELL_CONSUME));
		else if (offers->open)
			consume_waiting(address_number(skb, CELL_CONSUME));
		return 0;
	}
	if (offer_has_slot(offer) && slot_at(offer->slot)->state == SLOT_OFFERED)
		offer_consumed(offers, offer);
	else
		offer_close(offers, offer);	/* queued without a word, and gone since */
	return 0;
}

/* Where slots cannot be walked (BEFORE_5_17) each packet is told by its own free. */
#define PURGE_OLD	0

struct purge {
	__u64 now;
	__u32 record;
};

static long purge_slot(__u64 index, void *context)
{
	const struct purge *purge = context;
	struct slot *slot = slot_at(index);
	struct qdisc_record *record;

	if (slot_record(slot) != purge->record)
		return 0;
	if (slot->state == SLOT_HANDED_UP)
		slot->state = SLOT_FREE;
	if (!slot_waits(slot))
		return 0;
	record = qdisc_record(purge->record);
	if (!record)
		return 1;
	slot->state = SLOT_FREE;
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

	purge.record = qdisc_known_id(address_number(qdisc, CELL_RESET));
	if (purge.record == QDISC_IGNORED)
		return 0;
	record = qdisc_record(purge.record);
	if (!record || (!qdisc_counts_per_cpu(record) && !qdisc->q.qlen))
		return 0;
	purge.now = bpf_ktime_get_ns();
	record->reset_ns = purge.now;
	repeat(SLOTS, purge_slot, &purge, PURGE_OLD);
	return 0;
}

SEC("tp_btf/qdisc_destroy")
int BPF_PROG(on_qdisc_destroy, struct Qdisc *qdisc)
{
	__u64 address = address_number(qdisc, CELL_DESTROY);
	struct qdisc_record *record;
	__u32 id = qdisc_known_id(address);

	bpf_map_delete_elem(&qdisc_ids, &address);
	if (id == QDISC_IGNORED)
		return 0;
	record = qdisc_record(id);
	if (!record)
		return 0;
	if (!qdisc_counts_per_cpu(record)) {
		record->last_packets = qdisc_kernel_packets(address);
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
	if (tracing && probe_length(skb->len))
		probe_seen(address_number(skb, CELL_RECEIVE), PROBE_RECEIVED, PROBE_NO_QDISC,
			   bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_tcp_probe, struct sock *sk)
{
	__u32 netns = sock_netns(sk);
	__u64 now = bpf_ktime_get_ns();

	if (tracing && netns_wanted(netns, WANTED_PROBES) && tcp_due((__u64)sk, now))
		tcp_state_tell(sk, netns, now);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_tcp_retransmit_skb, const struct sock *sk, const struct sk_buff *skb)
{
	__u32 netns = sock_netns(sk);

	if (tracing && netns_wanted(netns, WANTED_PROBES))
		tcp_retransmit_tell(sk, skb, netns, bpf_ktime_get_ns());
	return 0;
}

/* A qdisc was made; it has its place in the tree a moment later. */
SEC("tp_btf/qdisc_create")
int BPF_PROG(on_qdisc_create)
{
	__sync_fetch_and_add(&qdiscs_created, 1);
	return 0;
}

/* Run by the loader, never attached. */
SEC("raw_tp/qdisc_create")
int walk_qdiscs(void *ctx)
{
	walk_all();
	return 0;
}

/* Run by the loader on each CPU, never attached. */
SEC("raw_tp/qdisc_create")
int flush_packets(void *ctx)
{
	packets_flush();
	return 0;
}

/*
 * The functions of qdiscs. A program for fentry or fexit has one target: the loader
 * makes a copy for each function; the target named here only has to exist.
 */
SEC("fentry/noop_enqueue")
int BPF_PROG(on_enqueue_entry, struct sk_buff *skb, struct Qdisc *qdisc)
{
	enqueue_entered(address_number(skb, CELL_CALL), address_number(qdisc, CELL_CALL), 0);
	return 0;
}

SEC("fexit/noop_enqueue")
int BPF_PROG(on_enqueue_exit, struct sk_buff *skb, struct Qdisc *qdisc, struct sk_buff **to_free,
	     int status)
{
	enqueue_left(address_number(skb, CELL_RETURN), address_number(qdisc, CELL_RETURN), 0,
		     status);
	return 0;
}

SEC("fexit/noop_dequeue")
int BPF_PROG(on_dequeue_exit, struct Qdisc *qdisc, struct sk_buff *skb)
{
	if (skb)
		handed_up(address_number(qdisc, CELL_HAND_UP), address_number(skb, CELL_HAND_UP));
	return 0;
}

SEC("fexit/noop_dequeue")
int BPF_PROG(on_peek_exit, struct Qdisc *qdisc, struct sk_buff *skb)
{
	peeked(address_number(qdisc, CELL_PEEK), address_number(skb, CELL_PEEK));
	return 0;
}

SEC("kprobe")
int BPF_KPROBE(on_enqueue_call, struct sk_buff *skb, struct Qdisc *qdisc)
{
	enqueue_entered((__u64)skb, (__u64)qdisc, PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe")
int BPF_KRETPROBE(on_enqueue_return, int status)
{
	enqueue_left(0, 0, PT_REGS_SP(ctx), status);
	return 0;
}

SEC("kprobe")
int BPF_KPROBE(on_dequeue_call, struct Qdisc *qdisc)
{
	dequeue_entered((__u64)qdisc, PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe")
int BPF_KRETPROBE(on_dequeue_return, struct sk_buff *skb)
{
	__u64 qdisc = dequeue_left(PT_REGS_SP(ctx));

	if (qdisc && skb)
		handed_up(qdisc, (__u64)skb);
	return 0;
}

SEC("kretprobe")
int BPF_KRETPROBE(on_peek_return, struct sk_buff *skb)
{
	__u64 qdisc = dequeue_left(PT_REGS_SP(ctx));

	if (qdisc)
		peeked(qdisc, (__u64)skb);
	return 0;
}
