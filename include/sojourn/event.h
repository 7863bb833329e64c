/* SPDX-License-Identifier: GPL-2.0 */
/* The records that the kernel side sends through the ring buffer. */
#ifndef SOJOURN_EVENT_H
#define SOJOURN_EVENT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum event_type {
	EVENT_PROBE = 1,
	EVENT_TCP = 2,
	EVENT_RETRANSMIT = 3,
	EVENT_PACKETS = 4,
	EVENT_SLOW = 5,
};

/* Where on its way through the host a probe was seen, in packet order. */
enum probe_point {
	PROBE_OFFERED = 1,	/* net_dev_queue: given to the device's qdisc layer */
	PROBE_DEQUEUED = 2,	/* qdisc_dequeue: handed out by the root qdisc */
	PROBE_TRANSMIT = 3,	/* net_dev_start_xmit: given to the driver */
	PROBE_RECEIVED = 4,	/* netif_receive_skb: came in on a device */
	PROBE_DROPPED = 5,	/* kfree_skb */
	PROBE_HANDED_UP = 6,	/* handed by a child qdisc to its parent; since_ns tells when it came */
};

struct event_header {
	__u32 type;		/* enum event_type */
	__u32 cpu;
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u32 netns;		/* inode number */
	__u32 ifindex;
};

#define PROBE_NO_QDISC		(~0u)

/* An ICMP or ICMPv6 echo at one point of its way. */
struct probe_event {
	struct event_header header;
	__u16 point;		/* enum probe_point */
	__u16 family;		/* AF_INET, AF_INET6 */
	__u16 id;		/* host order */
	__u16 sequence;		/* host order */
	__u8 reply;		/* 0 request, 1 reply */
	__u8 unused[3];
	__u32 qdisc;		/* record index, or PROBE_NO_QDISC */
	char device[16];
	__u64 since_ns;		/* PROBE_HANDED_UP: when it was offered to that qdisc */
};

/* Who a TCP connection is between, as seen from the socket here. */
struct tcp_endpoints {
	__u16 family;		/* AF_INET, AF_INET6 */
	__u16 local_port;	/* host order */
	__u16 remote_port;
	__u16 unused;
	__u8 local[16];		/* IPv4 in the first 4 bytes */
	__u8 remote[16];
};

/* State of a TCP connection at the moment that a segment came in for it. */
struct tcp_event {
	struct event_header header;	/* ifindex: the device that it leaves by, 0: not known */
	struct tcp_endpoints ends;
	__u32 srtt_us;
	__u32 cwnd;		/* packets */
	__u32 ssthresh;		/* packets; 0x7fffffff: not set yet */
	__u32 in_flight;	/* packets, as tcp_packets_in_flight() */
	__u64 pacing_rate;	/* byte/s; ~0: no limit */
	__u64 bytes_acked;
	__u32 total_retransmits;
	__u32 mss;
};

struct retransmit_event {
	struct event_header header;	/* ifindex: the device that it leaves by, 0: not known */
	struct tcp_endpoints ends;
	__u32 sequence;		/* TCP sequence number of the first byte sent again */
	__u32 length;		/* payload bytes */
};

/* What became of a packet in a qdisc. */
enum packet_outcome {
	PACKET_MEASURED = 1,	/* handed out, by a child to its parent */
	PACKET_REPEATED = 2,	/* a requeue handed out again: replaces what was told of it before */
	PACKET_BYPASSED = 3,	/* sojourn 0 */
	PACKET_DROPPED = 4,	/* freed after it waited: sojourn_ns is the wait before the drop */
	PACKET_REJECTED = 5,	/* refused at enqueue: sojourn 0 */
	PACKET_UNMATCHED = 6,	/* handed out, but when it came is not known: sojourn 0 */
};

/* One skb and one qdisc; at a moment when the qdisc had done with it. */
struct packet_event {
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 sojourn_ns;
	__u32 len;		/* skb->len, bytes; 0: not known */
	__u16 packets;		/* GSO segments count one each */
	__u8 outcome;		/* enum packet_outcome */
	__u8 cpu;		/* the lower 8 bits */
	__u32 qdisc;		/* record index */
	__u32 unused;
};

/* Whose packet it is. family 0: no IP. */
struct packet_flow {
	__u16 family;		/* AF_INET, AF_INET6 */
	__u16 source_port;	/* host order; 0: none */
	__u16 destination_port;
	__u8 protocol;
	__u8 unused;
	__u8 source[16];	/* IPv4 in the first 4 bytes */
	__u8 destination[16];
};

/* A packet that waited as long as was asked for, or longer. */
struct slow_event {
	struct event_header header;
	__u64 sojourn_ns;
	__u32 qdisc;		/* record index */
	__u32 len;		/* skb->len, bytes */
	__u32 packets;		/* GSO segments */
	__u32 unused;
	struct packet_flow flow;
};

/* What the packets of a flow did in one qdisc. */
struct flow_sums {
	__u64 packets, bytes;
	__u64 sojourn_ns;	/* packets times their sojourn */
	__u64 byte_us;		/* bytes times their sojourn, in 1024 ns: the flow's part of the backlog */
	__u64 max_ns;
};

#define PACKETS_OF_EVENT	32

/* Packets of one CPU in the order of their events; those of several CPUs come mixed. */
struct packets_event {
	struct event_header header;	/* netns and ifindex 0; time_ns of the last packet */
	__u32 count;
	__u32 unused;
	struct packet_event packets[PACKETS_OF_EVENT];
};

#endif
