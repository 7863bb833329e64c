/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets that wait: a table of slots, each with the key of a packet (the
 * address of its skb, or a key made from its headers where a GSO skb is cut
 * into segments), when it was offered, to which record, and how long it was.
 *
 * A key has four buckets of four slots (two cache lines each). A bucket that was full of
 * waiting packets when one more came is marked: only then is the next one looked at. A slot
 * stays behind when its packet is handed out, so that a requeue is known for one; such
 * slots are free for others.
 */
#ifndef SOJOURN_WAITING_BPF_H
#define SOJOURN_WAITING_BPF_H

#include "config.bpf.h"
#include "kernel.bpf.h"
#include "sojourn/tables.h"

/* No value of a map may be larger than 4 MiB before 5.11 (kernel/bpf/arraymap.c). */
#ifdef BEFORE_5_17
#define SLOT_BITS	16
#else
#define SLOT_BITS	18
#endif

#define SLOTS		(1u << SLOT_BITS)
#define SLOT_MASK	(SLOTS - 1)
#define SLOT_NONE	(~0u)

#define SLOTS_OF_BUCKET	4
#define BUCKETS_OF_KEY	4
#define SEGMENT_TURN_BITS	8

/* Which buckets were full once; of the same size in both objects. */
__u8 slot_overflowed[(1 << 18) / SLOTS_OF_BUCKET];

/* Last of the global data: its size differs between the objects. */
struct slot slots[SLOTS] __attribute__((aligned(128)));

/* The verifier of older kernels forgets what an OR of two small numbers is: the mask must stay. */
static __always_inline struct slot *slot_at(__u32 at)
{
	barrier_var(at);
	return &slots[at & SLOT_MASK];
}

static __always_inline __u64 slot_pack(__u64 ns, __u16 low)
{
	return ns << 16 | low;
}

/* Time that passed between a packed time and now; both modulo 2^48 ns. */
static __always_inline __s64 slot_elapsed(__u64 packed, __u64 now)
{
	return (__s64)((now << 16) - (packed & ~0xffffULL)) >> 16;
}

static __always_inline __u32 slot_record(const struct slot *slot)
{
	return slot->offered & 0xffff;
}

static __always_inline __u32 slot_packets(const struct slot *slot)
{
	return slot->handed_out & 0xffff;
}

/*
 * First slot of a key's first bucket. skbs that the slab hands out one after the other (256
 * bytes apart) have buckets side by side, and so do pages of them; the low bits tell levels
 * (levels.bpf.h). The highest ones are the same of all addresses. Keys of segments
 * (segments.bpf.h) have bit 63 clear, and some more bits that are not to count here.
 */
static __always_inline __u32 slot_bucket(__u64 key)
{
	__u64 not_counted = (~key >> 63) * SEGMENT_TURN_BITS;
	__u64 region = (key << 11 >> (29 + not_counted) ^ (key & 63) << 35) *
		       0x9e3779b97f4a7c15ULL;

	return (((region >> 40) + (key >> 12 & 63)) << 6 | (key >> 8 & 15) << 2) & SLOT_MASK;
}

/* First slot of the n-th bucket of a key. */
static __always_inline __u32 slot_bucket_of(__u64 key, __u32 n)
{
	if (!n)
		return slot_bucket(key);
	return ((key ^ key >> 21) * (0xd6e8feb86659fd93ULL + 2 * n) >> 40 << 2) & SLOT_MASK;
}

/* Look further than this bucket? */
static __always_inline __u8 *slot_overflow(__u32 bucket)
{
	bucket /= SLOTS_OF_BUCKET;
	barrier_var(bucket);
	return &slot_overflowed[bucket & (SLOTS / SLOTS_OF_BUCKET - 1)];
}

/* How long the packet of a slot waited until it was handed out. */
static __always_inline __u64 slot_waited(const struct slot *slot)
{
	__s64 waited = slot_elapsed(slot->offered, slot->handed_out >> 16);

	return waited < 0 ? 0 : waited;
}

static __always_inline bool slot_waits(const struct slot *slot)
{
	return slot->state == SLOT_OFFERED || slot->state == SLOT_QUEUED;
}

/*
 * What looks through one bucket is a function of its own to the verifier: checked once, not
 * for each bucket, and for each program that is loaded once more for each function of a qdisc.
 */
__noinline __u32 slot_in_bucket(__u64 key, __u32 bucket)
{
	struct slot *slot;
	__u32 i;

	for (i = 0; i < SLOTS_OF_BUCKET; i++) {
		slot = slot_at(bucket + i);
		if (slot->key == key && slot->state >= SLOT_OFFERED)
			return bucket + i;
	}
	return SLOT_NONE;
}

/* Slot of the key, waiting or handed out, or SLOT_NONE. */
__noinline __u32 slot_find(__u64 key)
{
	__u32 n, at, bucket;

	for (n = 0; n < BUCKETS_OF_KEY; n++) {
		bucket = slot_bucket_of(key, n);
		at = slot_in_bucket(key, bucket);
		if (at != SLOT_NONE || !*slot_overflow(bucket))
			return at;
	}
	return SLOT_NONE;
}

__noinline __u32 slot_waiting_in_bucket(__u64 key, __u32 bucket, __u64 offered)
{
	__u32 i, found = SLOT_NONE;
	__u64 oldest = 0;
	struct slot *slot;

	for (i = 0; i < SLOTS_OF_BUCKET; i++) {
		slot = slot_at(bucket + i);
		if (slot->key != key || !slot_waits(slot))
			continue;
		if (slot->offered == offered)
			return bucket + i;
		if (found == SLOT_NONE || (__s64)(slot->offered - oldest) < 0) {
			found = bucket + i;
			oldest = slot->offered;
		}
	}
	return found;
}

/*
 * Slot of the key whose packet still waits. Header keys may stand more than
 * once (a segment sent again while the first still waits): in the first bucket that has any,
 * the one offered at that very time, packed, where offered is not 0 and there is such a
 * one, else the oldest.
 */
__noinline __u32 slot_find_waiting(__u64 key, __u64 offered)
{
	__u32 n, at, bucket;

	for (n = 0; n < BUCKETS_OF_KEY; n++) {
		bucket = slot_bucket_of(key, n);
		at = slot_waiting_in_bucket(key, bucket, offered);
		if (at != SLOT_NONE || !*slot_overflow(bucket))
			return at;
	}
	return SLOT_NONE;
}

static __always_inline bool slot_take(__u32 at, __u32 from)
{
	return compare_and_swap(&slot_at(at)->state, from, SLOT_TAKEN);
}

__noinline __u32 slot_take_in(__u32 bucket, __u32 from)
{
	__u32 i;

	for (i = 0; i < SLOTS_OF_BUCKET; i++) {
		if (slot_is_others(i))
			continue;
		if (slot_at(bucket + i)->state == from && slot_take(bucket + i, from))
			return bucket + i;
	}
	return SLOT_NONE;
}

/*
 * A slot for a key that has none, to be filled by slot_fill(): a free one, else
 * one that remembers a packet handed out, else somebody's.
 */
__noinline __u32 slot_claim(__u64 key)
{
	__u32 n, at, bucket;

	for (n = 0; n < BUCKETS_OF_KEY; n++) {
		bucket = slot_bucket_of(key, n);
		at = slot_take_in(bucket, SLOT_FREE);
		if (at == SLOT_NONE)
			at = slot_take_in(bucket, SLOT_HANDED_OUT);
		if (at != SLOT_NONE)
			return at;
		*slot_overflow(bucket) = 1;
	}
	count(&losses.slot_overwrites, 1);
	at = slot_bucket(key) + (key >> 12 & (SLOTS_OF_BUCKET - 1));
	slot_at(at)->state = SLOT_TAKEN;
	return at;
}

/*
 * The slot for the address of an skb, of which slot_find() gave at: the one that it had
 * before, where that is left. One that still waits is of a packet that was lost sight of.
 */
static __always_inline __u32 slot_claim_found(__u32 at, __u64 skb)
{
	if (at == SLOT_NONE)
		return slot_claim(skb);
	if (slot_at(at)->state == SLOT_HANDED_OUT)
		return slot_take(at, SLOT_HANDED_OUT) ? at : slot_claim(skb);
	/* handed to a parent that was emptied before it handed it on */
	if (slot_at(at)->state == SLOT_HANDED_UP)
		return at;
	count(&losses.stale, 1);
	return at;
}

__noinline __u32 slot_claim_again(__u64 skb)
{
	return slot_claim_found(slot_find(skb), skb);
}

static __always_inline void slot_fill(__u32 at, __u64 key, __u64 offered_ns, __u32 record,
				      __u64 departure_ns, __u32 packets, __u32 len,
				      __u32 state)
{
	struct slot *slot = slot_at(at);

	slot->key = key;
	slot->offered = slot_pack(offered_ns, record);
	slot->handed_out = slot_pack(departure_ns, packets);
	slot->len = len;
	barrier();
	slot->state = state;
}

/* Forget a slot whose packet will not be heard of again. */
static __always_inline void slot_clear(__u32 at)
{
	slot_at(at)->state = SLOT_FREE;
}

#endif
