/* SPDX-License-Identifier: GPL-2.0 */
/* ICMP and ICMPv6 echoes on their way through the host. */
#ifndef SOJOURN_PROBE_BPF_H
#define SOJOURN_PROBE_BPF_H

#include "packet.bpf.h"
#include "qdisc.bpf.h"
#include "ring.bpf.h"
#include "sojourn/event.h"

static __always_inline bool probe_length(__u32 len)
{
	if (functions && !probe_len_max)
		return probes_unwanted;
	return len - probe_len_min <= probe_len_max - probe_len_min && probe_len_max;
}

static __always_inline bool probe_is_echo(const struct packet *packet, __u8 *reply)
{
	if (packet->protocol == IPPROTO_ICMP && packet->family == AF_INET) {
		*reply = packet->icmp_type == ICMP_ECHOREPLY;
		return *reply || packet->icmp_type == ICMP_ECHO;
	}
	if (packet->protocol == IPPROTO_ICMPV6 && packet->family == AF_INET6) {
		*reply = packet->icmp_type == ICMPV6_ECHO_REPLY;
		return *reply || packet->icmp_type == ICMPV6_ECHO_REQUEST;
	}
	return false;
}

/*
 * Send an event where the packet is an echo of ours. now: when the point was
 * passed; record: of the qdisc, or PROBE_NO_QDISC; since: when it came to a child.
 */
__noinline int probe_seen(__u64 skb_address, __u32 point, __u32 record, __u64 now,
				  __u64 since)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	const struct net_device *dev;
	struct probe_event *event;
	struct packet packet = {};
	__u32 netns;
	__u8 reply;

	if (packet_read(skb_address, point == PROBE_RECEIVED, &packet) ||
	    !probe_is_echo(&packet, &reply) || packet.icmp_payload != probe_payload)
		return 0;
	dev = BPF_CORE_READ(skb, dev);
	netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	if (!netns_wanted(netns, WANTED_PROBES))
		return 0;
	event = ring_reserve(sizeof(*event));
	if (!event)
		return 0;
	event->header.type = EVENT_PROBE;
	event->header.cpu = bpf_get_smp_processor_id();
	event->header.time_ns = now;
	event->header.netns = netns;
	event->header.ifindex = BPF_CORE_READ(dev, ifindex);
	event->point = point;
	event->family = packet.family;
	event->id = packet.icmp_id;
	event->sequence = packet.icmp_sequence;
	event->reply = reply;
	__builtin_memset(event->unused, 0, sizeof(event->unused));
	event->qdisc = record;
	event->since_ns = since;
	bpf_probe_read_kernel_str(event->device, sizeof(event->device), dev->name);
	ring_submit(event);
	return 0;
}

#endif
