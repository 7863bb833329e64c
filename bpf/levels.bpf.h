/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet in a tree of qdiscs waits in several at once: it has a slot for each
 * level, 0 for the root. The address of an skb is a multiple of 8, also of
 * the second one in a struct sk_buff_fclones (include/linux/skbuff.h): its low three bits
 * tell the level.
 */
#ifndef SOJOURN_LEVELS_BPF_H
#define SOJOURN_LEVELS_BPF_H

#include "histogram.bpf.h"
#include "probe.bpf.h"
#include "qdisc.bpf.h"
#include "stamp.bpf.h"
#include "waiting.bpf.h"

static __always_inline __u64 level_key(__u64 skb, __u32 level)
{
	return skb | level;
}

/*
 * A packet was cut, or replaced, on its way down: give the new skb a slot at each
 * level down to the last, with what the whole one's slot says. A whole one whose
 * number of packets the kernel does not know is counted by its parts.
 */
__noinline int levels_copy(__u64 whole, __u64 part, __u32 last, __u32 len)
{
	struct qdisc_record *record;
	const struct slot *slot;
	__u32 level, from, to;

	for (level = 0; level < QDISC_LEVELS && level <= last; level++) {
		from = slot_find(level_key(whole, level));
		if (from == SLOT_NONE)
			continue;
		slot = slot_at(from);
		if (!slot_waits(slot))
			continue;
		to = whole == part ? from : slot_claim_again(level_key(part, level));
		record = qdisc_record(slot_record(slot));
		if (record && !slot_packets(slot))
			count(&record->counters.offered_packets, 1);
		slot_fill(to, level_key(part, level), slot->offered >> 16, slot_record(slot),
			  slot->handed_out >> 16, 1, len, SLOT_QUEUED);
	}
	return 0;
}

/* How long a packet that was offered at that (packed) time has waited. */
static __always_inline __u64 sojourn_of(struct qdisc_record *record, __u64 offered, __u64 now)
{
	__s64 sojourn = slot_elapsed(offered, now);

	if (sojourn >= 0)
		return sojourn;
	count(&record->counters.negative, 1);
	return 0;
}

/*
 * A packet that one qdisc below handed up without being heard: its dequeue function
 * takes no hook (qdisc_dequeue_head of pfifo and bfifo, net/sched/sch_fifo.c, is
 * notrace or built in several times). That was within the parent's own call.
 */
static __always_inline void settle(struct slot *slot, __u64 now)
{
	__u32 id = slot_record(slot), packets = slot_packets(slot);
	struct qdisc_record *record = qdisc_record(id);
	struct qdisc_bank *bank = qdisc_bank(id);
	__u64 sojourn;

	if (!record || !bank)
		return;
	sojourn = sojourn_of(record, slot->offered, now);
	record_measured(id, record, bank, sojourn, packets, slot->len, now);
	if (record->traits & QDISC_IS_PARENT)
		histogram_add(record, bank, HISTOGRAM_PART, sojourn, packets);
	if (qdisc_counts_per_cpu(record))
		backlog_change(record, bank, -(__s64)slot->len, -1, now);
	else
		backlog_read(record, bank, record->qdisc, now);
	slot->handed_out = slot_pack(now, packets);
	slot->state = SLOT_HANDED_UP;
}

/*
 * Time that the skb spent one level below, of a packet that came to this level at
 * offered (packed): the child that handed it up last tells. NONE_BELOW: in no child. A
 * function of its own to the verifier: its ways are not followed from each caller.
 */
#define NONE_BELOW	(~0ULL)

__noinline __u64 time_below(__u64 skb, __u32 level, __u64 offered, __u64 now)
{
	struct slot *slot;
	__u64 time;
	__u32 at;

	at = slot_find(level_key(skb, level + 1));
	if (at == SLOT_NONE)
		return NONE_BELOW;
	slot = slot_at(at);
	if (slot_waits(slot) && slot_elapsed(offered, slot->offered >> 16) >= 0)
		settle(slot, now);
	if ((slot->state != SLOT_HANDED_UP && slot->state != SLOT_HANDED_OUT) ||
	    slot_elapsed(offered, slot->offered >> 16) < 0)
		return NONE_BELOW;
	time = slot_waited(slot);
	slot->state = SLOT_HANDED_OUT;
	return time;
}

/*
 * Of a sojourn in a qdisc that can have children, the part in itself; of one that
 * paces, the part up to the departure time (packed as slot->handed_out; 0: none). probe_len:
 * length of the skb, 0 where it cannot be a probe.
 */
static __always_inline void part_add(struct qdisc_record *record, struct qdisc_bank *bank,
				     __u64 skb, __u64 offered, __u64 departure, __u64 sojourn,
				     __u64 now, __u32 packets, __u32 probe_len)
{
	__u64 part = sojourn, below;
	__s64 paced;

	if (record->traits & QDISC_IS_PARENT) {
		if (!functions) {
			if (record->leaf_record)
				stamp_add(record, bank, skb, offered, sojourn, now, packets,
					  probe_len);
			return;
		}
		below = time_below(skb, record->depth, offered, now);
		if (below != NONE_BELOW)
			part = below < sojourn ? sojourn - below : 0;
	} else if (record->traits & QDISC_PACES) {
		paced = departure >> 16 ? slot_elapsed(offered, departure >> 16) : 0;
		part = paced < 0 ? 0 : (__u64)paced < sojourn ? paced : sojourn;
	} else {
		return;
	}
	histogram_add(record, bank, HISTOGRAM_PART, part, packets);
}

/* A probe that settle() has just ended the wait of, one level below: tell that point of its way. */
static __always_inline void probe_settled(const struct qdisc_record *record, __u64 skb,
					  __u64 now)
{
	const struct slot *slot;
	__u32 at;

	if (!functions || !(record->traits & QDISC_IS_PARENT))
		return;
	at = slot_find(level_key(skb, record->depth + 1));
	slot = slot_at(at);
	if (at != SLOT_NONE && slot->handed_out >> 16 == (now << 16) >> 16)
		probe_seen(skb, PROBE_HANDED_UP, slot_record(slot), now,
			   now - slot_elapsed(slot->offered, now));
}

/* The same for one that is handed out again: before is what its sojourn was taken for. */
static __always_inline void part_move(struct qdisc_record *record, struct qdisc_bank *bank,
				      __u64 skb, __u64 offered, __u64 before, __u64 sojourn,
				      __u64 now, __u32 packets)
{
	__u64 below;

	if (!functions || !(record->traits & QDISC_IS_PARENT))
		return;
	below = time_below(skb, record->depth, offered, now);
	if (below == NONE_BELOW) {
		record->counters.exclusive_misses++;
		return;
	}
	histogram_move(record, bank, HISTOGRAM_PART, before - below, sojourn - below, packets);
}

#endif
