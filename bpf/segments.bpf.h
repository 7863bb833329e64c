/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GSO skbs that a qdisc cuts into segments (tbf_segment() in net/sched/sch_tbf.c
 * and its like): each segment is a new skb that was never offered. It gets a slot
 * under a key of what survives the cut:
 *
 * TCP: flow and sequence number.
 * UDP has no sequence number, and an IPv4 id that is not different for each packet.
 * But a segment's payload is not copied: it is a part of the same page that the GSO
 * skb held (net/core/skbuff.c, skb_segment()), and nobody else's while it waits.
 * Page and offset are the key. Payload in the linear part is copied: flow and IPv4 id
 * must do then, the oldest first. IPv6 has no id: such segments are misses.
 */
#ifndef SOJOURN_SEGMENTS_BPF_H
#define SOJOURN_SEGMENTS_BPF_H

#include "config.bpf.h"
#include "kernel.bpf.h"
#include "offer.bpf.h"
#include "packet.bpf.h"
#include "qdisc.bpf.h"
#include "waiting.bpf.h"

#define SEGMENT_BY_ID		(1ULL << 32)		/* apart from page offsets */
#define SEGMENT_ID_SHIFT	10
#define SEGMENTS_MAX		65536
#define SEGMENTS_OLD		64	/* of 64 KiB at an MTU of 1500: 45 */

/* The GSO skb that this CPU cuts at present. */
struct segment_walk {
	__u64 flow;
	__u64 offered_ns;
	__u32 sequence;
	__u32 header_len;
	__u32 payload;		/* bytes not yet cut */
	__u32 size;
	__u32 record;
	__u32 position;		/* UDP: bytes cut */
	__u32 place;		/* UDP: which of this CPU's offers has the fragments */
	__u32 linear;		/* UDP: payload bytes before the first fragment */
	__u16 id;
	__u8 protocol;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct segment_walk);
} segment_walks SEC(".maps");

static __always_inline struct segment_walk *segment_walk_of_this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&segment_walks, &zero);
}

/* Of a flow in one of the qdiscs below a root: that at a level, the root itself at 0. */
static __always_inline __u64 segment_flow(const struct packet *packet, __u32 root, __u32 level)
{
	return mix(packet->flow, (__u64)level << 32 | (root + 1));
}

/*
 * Keys of segments that follow each other have buckets side by side (slot_bucket()), as they
 * are made, and taken, in that order: memory that is read in order is there in time. Each
 * MiB of a flow takes its turn at the same 128 KiB, which stay in the cache; what waits beyond
 * that goes to the keys' other buckets. Bit 63 is 0, of the address of an skb it is 1; 28
 * bits are of the place in the flow as it is, the others of a hash.
 */
static __always_inline __u64 segment_key(__u64 flow, __u64 of_flow)
{
	__u64 hash = mix(flow, of_flow >> 28) >> 37;

	return (of_flow & 1023) << 53 | (hash << SEGMENT_TURN_BITS | (of_flow >> 20 & 255)) << 18 |
	       (of_flow >> 10 & 1023) << 8;
}

static __always_inline __u64 segment_by_id(__u16 id)
{
	return SEGMENT_BY_ID | (__u64)id << SEGMENT_ID_SHIFT;
}

static __always_inline __u64 fragment_key(__u64 flow, __u64 page, __u32 offset)
{
	return segment_key(mix(flow, page), offset);
}

/*
 * Key of the payload byte at a position behind the linear part of this CPU's offer at
 * place; 0: in a fragment beyond those kept.
 */
__noinline __u64 payload_key(__u32 place, __u64 flow, __u32 position)
{
	struct offers *own = offers_of_this_cpu();
	const struct fragment *fragment;
	__u32 i, begin = 0;

	if (!own)
		return 0;
	for (i = 0; i < FRAGMENTS; i++) {
		fragment = &own->to[place % OFFERS].fragments[i];
		if (position - begin < fragment->len)
			return fragment_key(flow, fragment->page,
					    fragment->offset + position - begin);
		begin += fragment->len;
	}
	return 0;
}

static __always_inline __u64 segment_walk_key(const struct segment_walk *walk, __u32 index)
{
	if (walk->protocol == IPPROTO_TCP)
		return segment_key(walk->flow, walk->sequence);
	if (walk->position < walk->linear)
		return segment_key(walk->flow, segment_by_id(walk->id + index));
	return payload_key(walk->place, walk->flow, walk->position - walk->linear);
}

/* The next segment of the walk waits, if it can be told. Was it the last one? */
__noinline int segment_insert(__u32 index)
{
	struct segment_walk *walk = segment_walk_of_this_cpu();
	__u32 payload;
	__u64 key;

	if (!walk)
		return 1;
	payload = walk->payload < walk->size ? walk->payload : walk->size;
	key = segment_walk_key(walk, index);
	if (key)
		slot_fill(slot_claim(key), key, walk->offered_ns, walk->record, 0, 1,
			  walk->header_len + payload, SLOT_QUEUED);
	walk->sequence += payload;
	walk->position += payload;
	walk->payload -= payload;
	return !walk->payload;
}

static long segment_step(__u64 index, void *context)
{
	return segment_insert(index) != 0;
}

/* The GSO skb of this CPU's offer at place was cut by that qdisc: expect its segments. */
__noinline int segments_insert(__u32 place, __u32 record)
{
	struct segment_walk *walk = segment_walk_of_this_cpu();
	const struct qdisc_record *cutter = qdisc_record(record);
	struct offers *own = offers_of_this_cpu();
	const struct packet *packet;
	const struct offer *offer;

	if (!own || !walk || !cutter)
		return 0;
	offer = &own->to[place % OFFERS];
	packet = &offer->packet;
	if (packet->protocol != IPPROTO_TCP && packet->protocol != IPPROTO_UDP)
		return 0;
	walk->flow = segment_flow(packet, cutter->root, cutter->depth);
	walk->offered_ns = offer->offered_ns;
	walk->sequence = packet->sequence;
	walk->position = 0;
	walk->id = packet->id;
	walk->protocol = packet->protocol;
	walk->header_len = packet->header_len;
	walk->payload = offer->len - packet->header_len - packet->jumbo;
	walk->size = offer->gso_size;
	walk->record = record;
	walk->place = place;
	walk->linear = 0;
	if (offer->linear > packet->header_len + packet->jumbo)
		walk->linear = offer->linear - packet->header_len - packet->jumbo;
	repeat(SEGMENTS_MAX, segment_step, NULL, SEGMENTS_OLD);
	return 0;
}

static __always_inline __u64 udp_key_of_segment(__u64 skb, const struct packet *packet, __u64 flow)
{
	struct fragment fragment = {};
	__u32 linear;

	fragments_read(skb, &fragment, sizeof(fragment), &linear);
	if (linear <= packet->header_len && fragment.len)
		return fragment_key(flow, fragment.page, fragment.offset);
	return segment_key(flow, segment_by_id(packet->id));
}

/*
 * The packed offer of the GSO skb that this segment was cut from, or 0; its slot is
 * cleared. It waits at that level below the root. just_now: packed offer that a segment
 * refused at enqueue belongs to, 0 otherwise.
 */
static __always_inline __u64 segment_take(__u64 skb, const struct packet *packet, __u32 root,
					  __u32 level, __u32 len, __u64 just_now)
{
	__u64 flow = segment_flow(packet, root, level), key, offered;
	__u32 at;

	if (packet->protocol == IPPROTO_TCP)
		key = segment_key(flow, packet->sequence);
	else if (packet->protocol == IPPROTO_UDP)
		key = udp_key_of_segment(skb, packet, flow);
	else
		return 0;
	at = slot_find_waiting(key, just_now);
	if (at == SLOT_NONE || slot_at(at)->len != len)
		return 0;
	offered = slot_at(at)->offered;
	slot_clear(at);
	return offered;
}

/* The same of an skb whose headers were not read yet; apart, for the sake of the stack. */
__noinline __u64 segment_match(__u64 skb, __u32 root, __u32 level, __u32 len)
{
	struct packet packet = {};

	if (packet_read(skb, false, &packet))
		return 0;
	return segment_take(skb, &packet, root, level, len, 0);
}

#endif
