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
#include "waiting.bpf.h"

#define SEGMENT_KEY_TAG		(0x5e60ULL << 48)	/* no kernel address begins so */
#define SEGMENT_BY_ID		(1ULL << 32)		/* apart from page offsets */
#define SEGMENTS_MAX		65536
#define SEGMENTS_OLD		64	/* of 64 KiB at an MTU of 1500: 45 */

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
};

static __always_inline __u64 segment_flow(const struct packet *packet, __u32 record)
{
	return mix(packet->flow, record + 1);
}

static __always_inline __u64 segment_key(__u64 flow, __u64 of_flow)
{
	return SEGMENT_KEY_TAG | mix(flow, of_flow) >> 16;
}

static __always_inline __u64 fragment_key(__u64 flow, __u64 page, __u32 offset)
{
	return segment_key(mix(flow, page), offset);
}

__noinline int segment_waits(__u64 key, __u64 offered_ns, __u32 record, __u32 len)
{
	slot_fill(slot_claim(key), key, offered_ns, record, 0, 1, len, SLOT_QUEUED);
	return 0;
}

/* A segment of the walk waits under this key; 0: it cannot be told. Was it the last one? */
static __always_inline long segment_insert(struct segment_walk *walk, __u64 key)
{
	__u32 payload = walk->payload < walk->size ? walk->payload : walk->size;

	if (key)
		segment_waits(key, walk->offered_ns, walk->record, walk->header_len + payload);
	walk->sequence += payload;
	walk->position += payload;
	walk->payload -= payload;
	return !walk->payload;
}

static long tcp_segment_insert(__u64 index, void *context)
{
	struct segment_walk *walk = context;

	return segment_insert(walk, segment_key(walk->flow, walk->sequence));
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

static long udp_segment_insert(__u64 index, void *context)
{
	struct segment_walk *walk = context;
	__u64 key;

	if (walk->position < walk->linear)
		key = segment_key(walk->flow, SEGMENT_BY_ID | (__u16)(walk->id + index));
	else
		key = payload_key(walk->place, walk->flow, walk->position - walk->linear);
	return segment_insert(walk, key);
}

/* The GSO skb of this CPU's offer at place was cut by that qdisc: expect its segments. */
__noinline int segments_insert(__u32 place, __u32 record)
{
	struct offers *own = offers_of_this_cpu();
	struct segment_walk walk = {};
	const struct packet *packet;
	const struct offer *offer;

	if (!own)
		return 0;
	offer = &own->to[place % OFFERS];
	packet = &offer->packet;
	walk.flow = segment_flow(packet, record);
	walk.offered_ns = offer->offered_ns;
	walk.sequence = packet->sequence;
	walk.id = packet->id;
	walk.header_len = packet->header_len;
	walk.payload = offer->len - packet->header_len - packet->jumbo;
	walk.size = offer->gso_size;
	walk.record = record;
	walk.place = place;
	if (offer->linear > packet->header_len + packet->jumbo)
		walk.linear = offer->linear - packet->header_len - packet->jumbo;
	if (packet->protocol == IPPROTO_TCP)
		repeat(SEGMENTS_MAX, tcp_segment_insert, &walk, SEGMENTS_OLD);
	else if (packet->protocol == IPPROTO_UDP)
		repeat(SEGMENTS_MAX, udp_segment_insert, &walk, SEGMENTS_OLD);
	return 0;
}

static __always_inline __u64 udp_key_of_segment(__u64 skb, const struct packet *packet, __u64 flow)
{
	struct fragment fragment = {};
	__u32 linear;

	fragments_read(skb, &fragment, sizeof(fragment), &linear);
	if (linear <= packet->header_len && fragment.len)
		return fragment_key(flow, fragment.page, fragment.offset);
	return segment_key(flow, SEGMENT_BY_ID | packet->id);
}

/*
 * The packed offer of the GSO skb that this segment was cut from, or 0; its slot is
 * cleared. just_now: packed offer that a segment refused at enqueue belongs to, 0
 * otherwise.
 */
static __always_inline __u64 segment_take(__u64 skb, const struct packet *packet, __u32 record,
					  __u32 len, __u64 just_now)
{
	__u64 flow = segment_flow(packet, record), key, offered;
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

#endif
