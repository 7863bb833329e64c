/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose packets they are: each that waited long is told with its flow, and the flows of one
 * qdisc are summed up. Both only where somebody asks for it: else it is one look at two numbers
 * for each packet.
 */
#ifndef SOJOURN_FLOW_BPF_H
#define SOJOURN_FLOW_BPF_H

#include "config.bpf.h"
#include "packet.bpf.h"
#include "qdisc.bpf.h"
#include "ring.bpf.h"
#include "sojourn/event.h"

/* Set by the loader at any time: tell what waited so long (0: nothing), sum up this record (1 + index). */
volatile __u64 slow_ns;
volatile __u32 flows_of;

/* The busiest stay where there are more than find room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct packet_flow);
	__type(value, struct flow_sums);
} flows SEC(".maps");

/* The IP header and the ports behind it, as far as they are linear: there they are at a hand-out. */
static __always_inline void flow_read(__u64 skb_address, struct packet_flow *flow)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	__u64 at = (__u64)BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, network_header);
	__u8 ip[IPV6_HEADER] = {}, ports[4] = {};

	if (bpf_probe_read_kernel(ip, sizeof(ip), (void *)at))
		return;
	if (ip[0] >> 4 == 4) {
		flow->family = AF_INET;
		flow->protocol = ip[9];
		__builtin_memcpy(flow->source, ip + 12, 4);
		__builtin_memcpy(flow->destination, ip + 16, 4);
		/* a fragment that is not the first has no ports */
		if ((ip[6] & 0x1f) | ip[7])
			return;
		at += (ip[0] & 15) * 4;
	} else if (ip[0] >> 4 == 6) {
		flow->family = AF_INET6;
		flow->protocol = ip[6];
		__builtin_memcpy(flow->source, ip + 8, 16);
		__builtin_memcpy(flow->destination, ip + 24, 16);
		at += IPV6_HEADER;
	} else {
		return;
	}
	if (flow->protocol != IPPROTO_TCP && flow->protocol != IPPROTO_UDP)
		return;
	if (bpf_probe_read_kernel(ports, sizeof(ports), (void *)at))
		return;
	flow->source_port = ports[0] << 8 | ports[1];
	flow->destination_port = ports[2] << 8 | ports[3];
}

static __always_inline void flow_add(const struct packet_flow *flow, __u64 sojourn, __u32 len,
				     __u32 packets)
{
	struct flow_sums *sums = bpf_map_lookup_elem(&flows, flow), first = {};

	if (!sums) {
		if (bpf_map_update_elem(&flows, flow, &first, BPF_NOEXIST))
			return;
		sums = bpf_map_lookup_elem(&flows, flow);
		if (!sums)
			return;
	}
	__sync_fetch_and_add(&sums->packets, packets);
	__sync_fetch_and_add(&sums->bytes, len);
	__sync_fetch_and_add(&sums->sojourn_ns, sojourn * packets);
	/* in units of 1024 ns, that 2^64 last for years */
	__sync_fetch_and_add(&sums->byte_us, len * (sojourn >> 10));
	if (sojourn > sums->max_ns)
		sums->max_ns = sojourn;
}

/* packets in the upper half of len_packets */
__noinline int flow_seen(__u64 skb, __u32 id, __u64 sojourn, __u64 now, __u64 len_packets)
{
	const struct qdisc_record *record = qdisc_record(id);
	struct packet_flow flow = {};
	struct slow_event *event;

	if (!record)
		return 0;
	flow_read(skb, &flow);
	if (flows_of == id + 1)
		flow_add(&flow, sojourn, len_packets & 0xffffffff, len_packets >> 32);
	if (!slow_ns || sojourn < slow_ns)
		return 0;
	event = ring_reserve(sizeof(*event));
	if (!event)
		return 0;
	event->header.type = EVENT_SLOW;
	event->header.cpu = bpf_get_smp_processor_id();
	event->header.time_ns = now;
	event->header.netns = record->netns;
	event->header.ifindex = record->ifindex;
	event->sojourn_ns = sojourn;
	event->qdisc = id;
	event->len = len_packets & 0xffffffff;
	event->packets = len_packets >> 32;
	event->unused = 0;
	event->flow = flow;
	ring_submit(event);
	return 0;
}

/* A packet was handed out now, after so long. */
static __always_inline void flow_look(__u64 skb, __u32 id, __u64 sojourn, __u32 packets, __u32 len,
				      __u64 now)
{
	__u64 limit = slow_ns;

	if (flows_of == id + 1 || (limit && sojourn >= limit))
		flow_seen(skb, id, sojourn, now, (__u64)packets << 32 | len);
}

#endif
