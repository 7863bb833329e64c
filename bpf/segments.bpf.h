/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GSO skbs that a qdisc cuts into segments (tbf_segment() in net/sched/sch_tbf.c
 * and its like): each segment is a new skb that was never offered. It is told
 * by its headers:
 *
 * TCP by flow and sequence number: one slot per segment.
 * UDP has no sequence number, and an IPv4 id that not every sender counts up:
 * a queue of batches per flow, matched in order; length and, where it moves,
 * the id reject what does not fit. All segments of a batch have the time of
 * their GSO skb, so that only the batch must be right.
 */
#ifndef SOJOURN_SEGMENTS_BPF_H
#define SOJOURN_SEGMENTS_BPF_H

#include "config.bpf.h"
#include "packet.bpf.h"
#include "waiting.bpf.h"

#define SEGMENT_KEY_TAG		(0x5e60ULL << 48)	/* no kernel address begins so */
#define SEGMENTS_MAX		65536

#define UDP_FLOWS		128
#define UDP_SEARCH		16

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, UDP_FLOWS);
	__type(key, __u64);
	__type(value, struct udp_flow);
} udp_flows SEC(".maps");

/* A flow without batches, to begin one with (too large for the stack). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct udp_flow);
} udp_flow_empty SEC(".maps");

struct segment_walk {
	__u64 flow;
	__u64 offered_ns;
	__u32 sequence;
	__u32 header_len;
	__u32 payload;		/* bytes not yet cut */
	__u32 size;
	__u32 record;
};

static __always_inline __u64 segment_flow(const struct packet *packet, __u32 record)
{
	return mix(packet->flow, record + 1);
}

static __always_inline __u64 segment_key(__u64 flow, __u32 sequence)
{
	return SEGMENT_KEY_TAG | mix(flow, sequence) >> 16;
}

static long tcp_segment_insert(__u64 index, struct segment_walk *walk)
{
	__u32 payload = walk->payload < walk->size ? walk->payload : walk->size;
	__u64 key = segment_key(walk->flow, walk->sequence);
	__u32 at = slot_claim(key);

	slot_fill(at, key, walk->offered_ns, walk->record, 1, walk->header_len + payload,
		  SLOT_QUEUED);
	walk->sequence += payload;
	walk->payload -= payload;
	return !walk->payload;
}

static void udp_batch_insert(const struct segment_walk *walk, __u16 id, __u32 segments)
{
	struct udp_flow *flow = bpf_map_lookup_elem(&udp_flows, &walk->flow);
	struct udp_batch *batch;
	__u32 zero = 0;

	if (!flow) {
		flow = bpf_map_lookup_elem(&udp_flow_empty, &zero);
		if (!flow || bpf_map_update_elem(&udp_flows, &walk->flow, flow, BPF_ANY))
			return;
		flow = bpf_map_lookup_elem(&udp_flows, &walk->flow);
		if (!flow)
			return;
		flow->record = walk->record;
	}
	if (flow->head - flow->tail >= UDP_BATCHES)
		return;		/* its segments will be counted as misses */
	batch = &flow->batches[flow->head % UDP_BATCHES];
	batch->offered = slot_pack(walk->offered_ns, walk->record);
	batch->len = walk->header_len + walk->size;
	batch->last_len = walk->header_len + walk->payload - (segments - 1) * walk->size;
	batch->id = id;
	batch->segments = segments;
	batch->left = segments;
	flow->head++;
}

/* The GSO skb was cut: expect its segments. len: its own skb->len. */
static __noinline void segments_insert(const struct packet *packet, __u64 offered_ns,
				       __u32 record, __u32 len, __u32 gso_size)
{
	struct segment_walk walk = {};

	if (!packet || !gso_size || len <= packet->header_len + packet->jumbo)
		return;
	walk.flow = segment_flow(packet, record);
	walk.offered_ns = offered_ns;
	walk.sequence = packet->sequence;
	walk.header_len = packet->header_len;
	walk.payload = len - packet->header_len - packet->jumbo;
	walk.size = gso_size;
	walk.record = record;
	if (packet->protocol == IPPROTO_TCP)
		bpf_loop(SEGMENTS_MAX, tcp_segment_insert, &walk, 0);
	else if (packet->protocol == IPPROTO_UDP)
		udp_batch_insert(&walk, packet->id, (walk.payload + gso_size - 1) / gso_size);
}

static __always_inline bool udp_fits(const struct udp_batch *batch, const struct packet *packet,
				     __u32 len)
{
	if (batch->left <= 0 || (len != batch->len && len != batch->last_len))
		return false;
	return packet->family == AF_INET6 || (__u16)(packet->id - batch->id) < batch->segments;
}

/* Take one segment out of the oldest batch that it fits. Its packed time, or 0. */
static __noinline __u64 udp_segment_take(const struct packet *packet, __u64 flow_key, __u32 len)
{
	struct udp_flow *flow = bpf_map_lookup_elem(&udp_flows, &flow_key);
	struct udp_batch *batch;
	__u32 i, at, start;

	if (!flow || !packet)
		return 0;
	start = flow->tail;
	for (i = 0; i < UDP_SEARCH; i++) {
		at = start + i;
		if (at == flow->head)
			return 0;
		batch = &flow->batches[at % UDP_BATCHES];
		if (udp_fits(batch, packet, len)) {
			__sync_fetch_and_add(&batch->left, -1);
			return batch->offered;
		}
		if (at == flow->tail && batch->left <= 0)
			flow->tail++;
	}
	return 0;
}

/* Take one segment out of the newest batch, where that is the one of that time. */
static __always_inline __u64 udp_segment_reject(__u64 flow_key, __u64 offered)
{
	struct udp_flow *flow = bpf_map_lookup_elem(&udp_flows, &flow_key);
	struct udp_batch *batch;

	if (!flow || flow->head == flow->tail)
		return 0;
	batch = &flow->batches[(flow->head - 1) % UDP_BATCHES];
	if (batch->offered != offered || batch->left <= 0)
		return 0;
	__sync_fetch_and_add(&batch->left, -1);
	return offered;
}

static __always_inline __u64 tcp_segment_take(__u64 flow, __u32 sequence, __u32 len,
						__u64 just_now)
{
	__u64 key = segment_key(flow, sequence), offered;
	__u32 at = slot_find_waiting(key, just_now);
	struct slot *slot;

	if (at == SLOT_NONE)
		return 0;
	slot = &slots[at & SLOT_MASK];
	if (slot->len != len)
		return 0;
	offered = slot->offered;
	slot_clear(at);
	return offered;
}

/*
 * The packed offer of the GSO skb that this segment was cut from, or 0. just_now:
 * packed offer that a segment refused at enqueue belongs to, 0 otherwise.
 */
static __always_inline __u64 segment_take(const struct packet *packet, __u32 record, __u32 len,
					  __u64 just_now)
{
	__u64 flow = segment_flow(packet, record);
	__u64 offered = 0;

	if (packet->protocol == IPPROTO_TCP)
		return tcp_segment_take(flow, packet->sequence, len, just_now);
	if (packet->protocol != IPPROTO_UDP)
		return 0;
	if (just_now)
		offered = udp_segment_reject(flow, just_now);
	return offered ? offered : udp_segment_take(packet, flow, len);
}

#endif
