/* SPDX-License-Identifier: GPL-2.0 */
/* The state of TCP connections, and what they send again. */
#ifndef SOJOURN_TCP_BPF_H
#define SOJOURN_TCP_BPF_H

#include "config.bpf.h"
#include "packet.bpf.h"
#include "qdisc.bpf.h"
#include "ring.bpf.h"
#include "sojourn/event.h"

/* When the state of a socket was last told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} tcp_last_told SEC(".maps");

static __always_inline __u32 sock_netns(const struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
}

static void tcp_endpoints_read(const struct sock *sk, struct tcp_endpoints *ends)
{
	__builtin_memset(ends, 0, sizeof(*ends));
	ends->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	ends->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	ends->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (ends->family == AF_INET) {
		BPF_CORE_READ_INTO((__be32 *)ends->local, sk, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO((__be32 *)ends->remote, sk, __sk_common.skc_daddr);
		return;
	}
	BPF_CORE_READ_INTO(&ends->local, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	BPF_CORE_READ_INTO(&ends->remote, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
}

/* The device that its packets leave by, as far as the socket knows its route; 0: not known. */
static __always_inline __u32 sock_device(const struct sock *sk)
{
	if (!bpf_core_field_exists(struct dst_entry, dev))
		return 0;
	return BPF_CORE_READ(sk, sk_dst_cache, dev, ifindex);
}

static __always_inline void tcp_header(const struct sock *sk, struct event_header *header,
				       __u32 type, __u32 netns, __u64 now)
{
	header->type = type;
	header->cpu = bpf_get_smp_processor_id();
	header->time_ns = now;
	header->netns = netns;
	header->ifindex = sock_device(sk);
}

/* Is it time to tell the state of this socket again? */
static __always_inline bool tcp_due(__u64 sk, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&tcp_last_told, &sk);

	if (last) {
		if (now - *last < tcp_interval_ns)
			return false;
		*last = now;
		return true;
	}
	if (bpf_map_update_elem(&tcp_last_told, &sk, &now, BPF_ANY))
		count(&losses.tcp_flows_full, 1);
	return true;
}

static __noinline void tcp_state_tell(const struct sock *sk, __u32 netns, __u64 now)
{
	const struct tcp_sock *tcp = (const struct tcp_sock *)sk;
	struct tcp_event *event;

	event = ring_reserve(sizeof(*event));
	if (!event)
		return;
	tcp_header(sk, &event->header, EVENT_TCP, netns, now);
	tcp_endpoints_read(sk, &event->ends);
	/* srtt_us holds eight times the value (net/ipv4/tcp_input.c, tcp_rtt_estimator()) */
	event->srtt_us = BPF_CORE_READ(tcp, srtt_us) >> 3;
	event->cwnd = BPF_CORE_READ(tcp, snd_cwnd);
	event->ssthresh = BPF_CORE_READ(tcp, snd_ssthresh);
	event->in_flight = BPF_CORE_READ(tcp, packets_out) + BPF_CORE_READ(tcp, retrans_out) -
			   BPF_CORE_READ(tcp, sacked_out) - BPF_CORE_READ(tcp, lost_out);
	event->pacing_rate = BPF_CORE_READ(sk, sk_pacing_rate);
	event->bytes_acked = BPF_CORE_READ(tcp, bytes_acked);
	event->total_retransmits = BPF_CORE_READ(tcp, total_retrans);
	event->mss = BPF_CORE_READ(tcp, mss_cache);
	ring_submit(event);
}

static __noinline void tcp_retransmit_tell(const struct sock *sk, const struct sk_buff *skb,
					   __u32 netns, __u64 now)
{
	struct retransmit_event *event;
	struct tcp_skb_cb cb = {};

	/* TCP_SKB_CB() is the whole of skb->cb (include/net/tcp.h) */
	bpf_probe_read_kernel(&cb, sizeof(cb), skb->cb);
	event = ring_reserve(sizeof(*event));
	if (!event)
		return;
	tcp_header(sk, &event->header, EVENT_RETRANSMIT, netns, now);
	tcp_endpoints_read(sk, &event->ends);
	event->sequence = cb.seq;
	event->length = cb.end_seq - cb.seq;
	ring_submit(event);
}

#endif
