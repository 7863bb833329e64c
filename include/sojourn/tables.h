/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel side's own tables, in the form in which the loader walks them when
 * it asks what still waits.
 */
#ifndef SOJOURN_TABLES_H
#define SOJOURN_TABLES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

enum slot_state {
	SLOT_FREE = 0,		/* key means nothing */
	SLOT_TAKEN = 1,		/* some CPU is about to fill it */
	SLOT_OFFERED = 2,	/* came to the qdisc layer */
	SLOT_QUEUED = 3,	/* its enqueue event was seen */
	SLOT_HANDED_OUT = 4,	/* free for others; tells a requeue until then */
	SLOT_HANDED_UP = 5,	/* by a child to its parent, which has not handed it on yet */
};

struct slot {
	__u64 key;
	__u64 offered;		/* 48 bits of ns, 16 bits of record index */
	__u64 handed_out;	/* 48 bits of ns, 16 bits of packets (GSO segments); while it waits the
				   ns are the departure time that it came with, 0: none */
	__u32 len;		/* skb->len, bytes */
	__u32 state;		/* enum slot_state */
};

struct packet {
	__u64 flow;		/* hash of addresses, ports and protocol */
	__u32 sequence;		/* TCP */
	__u32 header_len;	/* link header to the end of the TCP or UDP header, bytes */
	__u16 family;
	__u16 id;		/* IPv4; host order */
	__u16 icmp_id;		/* host order */
	__u16 icmp_sequence;
	__u16 icmp_payload;	/* bytes */
	__u16 jumbo;		/* bytes of the jumbo option, which no segment has */
	__u8 protocol;
	__u8 icmp_type;
};

#define FRAGMENTS	17	/* MAX_SKB_FRAGS as Debian and most others have it */

/* As skb_frag_t: a part of a page. */
struct fragment {
	__u64 page;
	__u32 len;
	__u32 offset;
};

/*
 * The packet that a CPU offered last. net_dev_queue opens an offer; what becomes
 * of it shows on the same CPU within the same __dev_queue_xmit()
 * (net/core/dev.c): the enqueue event, the driver (bypass), or a free (reject).
 */
struct offer {
	__u64 skb;
	__u64 dev;
	__u64 offered_ns;
	__u32 record;
	__u32 slot;
	__u32 len;		/* skb->len */
	__u32 packets;
	__u32 gso_size;
	__u8 open;		/* nothing was heard of it yet */
	__u8 may_bypass;	/* no hand-out of this CPU since */
	__u8 consumed;		/* the skb is freed: it was cut into segments */
	__u8 parsed;		/* packet is valid */
	__u8 cut;		/* its parts were seen going on to a child qdisc */
	__u8 refused;		/* its qdisc's function said so */
	struct packet packet;	/* of a GSO skb */
	__u32 linear;		/* UDP: bytes before the first fragment, headers included */
	__u32 unused;
	struct fragment fragments[FRAGMENTS];	/* UDP */
};

/*
 * The last offer to each of some devices: one on top of another transmits from
 * within its own qdisc's run, and the lower one's offers come while the upper
 * one's is still open.
 */
#define OFFERS	4

struct offers {
	__u32 open;		/* how many of them */
	__u32 unused;
	struct offer to[OFFERS];
};

struct loss_counters {
	__u64 ring_full;	/* events that found the ring buffer full */
	__u64 slot_overwrites;	/* waiting packets whose slot another one took */
	__u64 records_full;	/* packets of qdiscs that found no record */
	__u64 stale;		/* slots found of packets whose end was not seen */
	__u64 tcp_flows_full;	/* TCP states not thinned out for want of an entry */
	__u64 calls_lost;	/* calls of enqueue functions whose return was not seen, or too many at once */
	__u64 walk_cut;		/* devices or qdiscs too many to be listed */
};

/* Rounds of the walk over all qdiscs where functions are not traced. */
#define WALK_COUNTS	0
#define WALK_LEAVES	1

/* What is wanted of a network namespace: bits. */
#define WANTED_QDISCS	1
#define WANTED_PROBES	2	/* and TCP states */

#endif
