/* SPDX-License-Identifier: GPL-2.0 */
/* What the headers of a packet say: flow, TCP sequence, IPv4 id, ICMP echo. */
#ifndef SOJOURN_PACKET_BPF_H
#define SOJOURN_PACKET_BPF_H

#include "sojourn/tables.h"

#define AF_INET			2
#define AF_INET6		10
#define ETH_P_8021Q		0x8100
#define ETH_P_8021AD		0x88a8
#define PACKET_OUTGOING		4	/* include/uapi/linux/if_packet.h */
#define IPPROTO_HOPOPTS		0
#define IPPROTO_ICMP		1
#define IPPROTO_TCP		6
#define IPPROTO_UDP		17
#define IPPROTO_ROUTING		43
#define IPPROTO_ICMPV6		58
#define IPPROTO_DSTOPTS		60
#define ICMP_ECHOREPLY		0
#define ICMP_ECHO		8
#define ICMPV6_ECHO_REQUEST	128
#define ICMPV6_ECHO_REPLY	129

#define IPV4_HEADER		20	/* without options */
#define IPV6_HEADER		40
#define VLAN_HEADER		4

/* GSO of an skb, 0 segments where it is not one. */
struct gso {
	__u32 size;		/* payload bytes of a segment */
	__u32 segments;
};

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* It lies behind the linear data (include/linux/skbuff.h, skb_shinfo()). */
static __always_inline const struct skb_shared_info *shared_info(const struct sk_buff *skb)
{
	return (const void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
}

/*
 * Fragments of an skb, as many as find room in size bytes; what lies behind the
 * last one is 0. *linear: bytes before the first one.
 */
static __always_inline void fragments_read(__u64 skb_address, struct fragment *fragments,
					   __u32 size, __u32 *linear)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	const struct skb_shared_info *shared = shared_info(skb);
	__u32 count = BPF_CORE_READ(shared, nr_frags), i;

	*linear = BPF_CORE_READ(skb, len) - BPF_CORE_READ(skb, data_len);
	bpf_probe_read_kernel(fragments, size, shared->frags);
	for (i = 0; i < size / sizeof(*fragments); i++)
		if (i >= count)
			fragments[i].len = 0;
}

static __always_inline struct gso gso_read(__u64 skb_address)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	const struct skb_shared_info *shared = shared_info(skb);
	struct gso gso = {};

	gso.size = BPF_CORE_READ(shared, gso_size);
	if (gso.size)
		gso.segments = BPF_CORE_READ(shared, gso_segs);
	return gso;
}

/* The same where the skb is an argument of the hook: its fields take no call to be read. */
static __always_inline struct gso gso_of_skb(const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (const void *)(skb->head + skb->end);
	struct gso gso = {};

	gso.size = BPF_CORE_READ(shared, gso_size);
	if (gso.size)
		gso.segments = BPF_CORE_READ(shared, gso_segs);
	return gso;
}

/* As qdisc_bstats_update() counts (include/net/sch_generic.h, bstats_update()). */
static __always_inline __u32 gso_packets(struct gso gso)
{
	return gso.size ? gso.segments : 1;
}

/*
 * The fields of an skb that say where its headers lie, read with one call: from
 * inner_network_header to head (include/linux/skbuff.h, struct sk_buff: 38 bytes at most).
 */
#define SKB_OFFSETS	48

struct skb_offsets {
	__u64 words[SKB_OFFSETS / 8];
};

/* Where the reading begins: such that head, a pointer, lies aligned in words. */
static __always_inline __u32 skb_offsets_begin(void)
{
	return bpf_core_field_offset(struct sk_buff, inner_network_header) & ~7u;
}

static __always_inline int skb_offsets_read(__u64 skb, struct skb_offsets *offsets)
{
	const __u32 begin = skb_offsets_begin();
	const __u32 end = bpf_core_field_offset(struct sk_buff, head) + sizeof(__u64);

	if (end - begin > SKB_OFFSETS)
		return -1;
	return bpf_probe_read_kernel(offsets->words, end - begin, (void *)(skb + begin));
}

/* A field by where it lies in struct sk_buff: a number that the verifier knows. */
static __always_inline const void *skb_field(const struct skb_offsets *offsets, __u64 at)
{
	at -= skb_offsets_begin();
	barrier_var(at);
	return (const __u8 *)offsets->words + at;
}

static __always_inline __u16 skb_offset(const struct skb_offsets *offsets, __u64 at)
{
	return *(const __u16 *)skb_field(offsets, at);
}

/* Address of the network header; *link: where the frame starts; 0: it cannot be read. */
static __always_inline __u64 network_header(__u64 skb_address, bool received, __u64 *link)
{
	const struct sk_buff *skb = (const struct sk_buff *)skb_address;
	struct skb_offsets offsets;
	__u16 outer, inner, protocol;
	__u64 head;

	if (received) {
		/* netif_receive_skb: the link header is pulled, the network header not set yet */
		*link = (__u64)BPF_CORE_READ(skb, data);
		protocol = bpf_ntohs(BPF_CORE_READ(skb, protocol));
		if (protocol == ETH_P_8021Q || protocol == ETH_P_8021AD)
			return *link + VLAN_HEADER;
		return *link;
	}
	if (skb_offsets_read(skb_address, &offsets))
		return 0;
	head = *(const __u64 *)skb_field(&offsets, bpf_core_field_offset(struct sk_buff, head));
	*link = head + skb_offset(&offsets, bpf_core_field_offset(struct sk_buff, mac_header));
	outer = skb_offset(&offsets, bpf_core_field_offset(struct sk_buff, network_header));
	inner = skb_offset(&offsets, bpf_core_field_offset(struct sk_buff, inner_network_header));
	/*
	 * A tunnel's segments differ in the inner headers. Those whose checksums were
	 * made in software have lost the bit that says so. The inner header of others lies
	 * nowhere, or is left from a tunnel that the packet has gone through.
	 */
	if (inner > outer || (inner && BPF_CORE_READ_BITFIELD_PROBED(skb, encapsulation)))
		return head + inner;
	return head + outer;
}

/*
 * Skip IPv6 extension headers, three at most. The jumbo option that a big TCP
 * skb carries (net/ipv6/ip6_output.c) is not in its segments: *jumbo says how
 * many bytes fall away.
 */
static __always_inline __u64 skip_extensions(__u64 at, __u8 *protocol, bool no_length,
					     __u32 *jumbo)
{
	__u8 extension[2];
	int i;

	for (i = 0; i < 3; i++) {
		if (*protocol != IPPROTO_HOPOPTS && *protocol != IPPROTO_ROUTING &&
		    *protocol != IPPROTO_DSTOPTS)
			break;
		if (bpf_probe_read_kernel(extension, sizeof(extension), (void *)at))
			break;
		if (*protocol == IPPROTO_HOPOPTS && no_length)
			*jumbo = (extension[1] + 1) * 8;
		at += (extension[1] + 1) * 8;
		*protocol = extension[0];
	}
	return at;
}

/* The begin of a TCP, UDP or ICMP header, in words of four bytes. */
struct transport {
	union {
		__u32 words[4];
		__u8 bytes[16];
	};
};

static __always_inline __u32 network_u32(const __u8 *bytes)
{
	return (__u32)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/* Read the headers of an skb. 0, or -1 where it is not IPv4 or IPv6. */
static __noinline int packet_read(__u64 skb_address, bool received, struct packet *packet)
{
	__u64 words[(IPV6_HEADER + sizeof(struct transport)) / 8];
	__u8 *ip = (__u8 *)words;
	struct transport transport;
	__u64 link, at, end, ip_at;
	__u32 jumbo = 0;

	if (!packet)
		return -1;
	at = network_header(skb_address, received, &link);
	/* the buffer goes on behind the data: with struct skb_shared_info (skb_end_pointer()) */
	if (!at || bpf_probe_read_kernel(words, sizeof(words), (void *)at))
		return -1;
	ip_at = at;
	packet->id = 0;
	if (ip[0] >> 4 == 4) {
		packet->family = AF_INET;
		packet->protocol = ip[9];
		packet->id = ip[4] << 8 | ip[5];
		packet->flow = mix(packet->protocol, words[2] ^ (__u64)words[1] >> 32 << 48);
		packet->flow = mix(packet->flow, words[1] >> 32);
		/* a fragment that is not the first has no ports */
		if ((ip[6] << 8 | ip[7]) & 0x1fff)
			return -1;
		end = at + (ip[2] << 8 | ip[3]);
		at += (ip[0] & 15) * 4;
	} else if (ip[0] >> 4 == 6) {
		packet->family = AF_INET6;
		packet->protocol = ip[6];
		end = at + IPV6_HEADER + (ip[4] << 8 | ip[5]);
		at = skip_extensions(at + IPV6_HEADER, &packet->protocol, !ip[4] && !ip[5],
				     &jumbo);
		packet->flow = mix(mix(mix(mix(packet->protocol, words[1]), words[2]),
				       words[3]), words[4]);
	} else {
		return -1;
	}
	if (at == ip_at + IPV4_HEADER)
		transport = *(const struct transport *)(ip + IPV4_HEADER);
	else if (at == ip_at + IPV6_HEADER)
		transport = *(const struct transport *)(ip + IPV6_HEADER);
	else if (bpf_probe_read_kernel(&transport, sizeof(transport), (void *)at))
		return -1;
	switch (packet->protocol) {
	case IPPROTO_TCP:
		packet->sequence = network_u32(&transport.bytes[4]);
		at += (transport.bytes[12] >> 4) * 4;
		break;
	case IPPROTO_UDP:
		at += 8;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		packet->icmp_type = transport.bytes[0];
		packet->icmp_id = transport.bytes[4] << 8 | transport.bytes[5];
		packet->icmp_sequence = transport.bytes[6] << 8 | transport.bytes[7];
		packet->icmp_payload = end - at - 8;
		return 0;
	default:
		return 0;
	}
	packet->flow = mix(packet->flow, network_u32(transport.bytes));
	packet->header_len = at - link - jumbo;
	packet->jumbo = jumbo;
	return 0;
}

#endif
