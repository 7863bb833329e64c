/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every packet and what became of it, where the loader asks for that. A CPU collects what it
 * sees and sends a batch at a time: the ring buffer's lock is taken once for many packets.
 */
#ifndef SOJOURN_PACKETS_BPF_H
#define SOJOURN_PACKETS_BPF_H

#include "config.bpf.h"
#include "ring.bpf.h"
#include "sojourn/event.h"

struct packet_batch {
	__u32 busy;		/* a program on this CPU adds to it; another one interrupts */
	__u32 unused;
	struct packets_event event;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct packet_batch);
} packet_batches SEC(".maps");

/* One packet by itself: the batch is in use further down this CPU's stack. */
struct single_packet {
	struct event_header header;
	__u32 count;
	__u32 unused;
	struct packet_event packet;
};

static __always_inline struct packet_batch *batch_of_this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&packet_batches, &zero);
}

static __always_inline void packets_header(struct event_header *header, __u64 now)
{
	header->type = EVENT_PACKETS;
	header->cpu = bpf_get_smp_processor_id();
	header->time_ns = now;
	header->netns = 0;
	header->ifindex = 0;
}

static __always_inline void packet_fill(struct packet_event *packet, __u32 id, __u32 what,
					__u64 sojourn, __u64 now, __u32 len)
{
	packet->time_ns = now;
	packet->sojourn_ns = sojourn;
	packet->len = len;
	packet->packets = what;
	packet->outcome = what >> 16;
	packet->cpu = bpf_get_smp_processor_id();
	packet->qdisc = id;
	packet->unused = 0;
}

static __always_inline void batch_send(struct packet_batch *batch, __u64 now)
{
	packets_header(&batch->event.header, now);
	if (bpf_ringbuf_output(&events, &batch->event, sizeof(batch->event),
			       BPF_RB_NO_WAKEUP))
		count(&losses.ring_full, batch->event.count);
	batch->event.count = 0;
}

/* what: the outcome in bits 16 and up, packets below. */
__noinline int packet_add(__u32 id, __u32 what, __u64 sojourn, __u64 now, __u32 len)
{
	struct packet_batch *batch = batch_of_this_cpu();
	struct single_packet *single;

	if (!batch)
		return 0;
	if (batch->busy) {
		single = ring_reserve(sizeof(*single));
		if (!single)
			return 0;
		packets_header(&single->header, now);
		single->count = 1;
		single->unused = 0;
		packet_fill(&single->packet, id, what, sojourn, now, len);
		ring_submit(single);
		return 0;
	}
	batch->busy = 1;
	barrier();
	packet_fill(&batch->event.packets[batch->event.count & (PACKETS_OF_EVENT - 1)], id,
		    what, sojourn, now, len);
	batch->event.count++;
	if (batch->event.count >= PACKETS_OF_EVENT)
		batch_send(batch, now);
	barrier();
	batch->busy = 0;
	return 0;
}

/* now: CLOCK_MONOTONIC, when the qdisc had done with it. */
static __always_inline void packet_tell(__u32 id, enum packet_outcome outcome, __u64 sojourn,
					__u32 packets, __u32 len, __u64 now)
{
	if (tell_packets)
		packet_add(id, outcome << 16 | (packets & 0xffff), sojourn, now, len);
}

/* Send what this CPU has collected. */
static __always_inline void packets_flush(void)
{
	struct packet_batch *batch = batch_of_this_cpu();

	if (!batch || batch->busy || !batch->event.count)
		return;
	batch->busy = 1;
	barrier();
	batch_send(batch, bpf_ktime_get_ns());
	barrier();
	batch->busy = 0;
}

#endif
