// SPDX-License-Identifier: GPL-2.0
/*
 * Send TCP GSO frames through a packet socket with a virtio-net header, as a virtual
 * machine does through its tap device. The kernel has then not counted the
 * segments yet (gso_segs is 0) when the qdisc gets the skb.
 *
 *   vnet_gso DEVICE FRAMES SEGMENTS BYTES
 *
 * FRAMES frames from 10.9.0.1 to 10.9.0.2, each of SEGMENTS times BYTES payload bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAME_MAX	65500

struct headers {
	struct virtio_net_hdr vnet;
	struct ethhdr ethernet;
	struct iphdr ip;
	struct tcphdr tcp;
} __attribute__((packed));

static __u16 ip_checksum(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	__u32 sum = 0;
	size_t i;

	for (i = 0; i < length; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return htons(~(sum + (sum >> 16)));
}

static void fill(struct headers *headers, unsigned int payload, unsigned int bytes, __u32 sequence)
{
	static const unsigned char to[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
	static const unsigned char from[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

	memset(headers, 0, sizeof(*headers));
	headers->vnet = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.hdr_len = sizeof(struct headers) - sizeof(struct virtio_net_hdr),
		.gso_size = bytes,
		.csum_start = ETH_HLEN + sizeof(struct iphdr),
		.csum_offset = offsetof(struct tcphdr, check),
	};
	memcpy(headers->ethernet.h_dest, to, ETH_ALEN);
	memcpy(headers->ethernet.h_source, from, ETH_ALEN);
	headers->ethernet.h_proto = htons(ETH_P_IP);
	headers->ip = (struct iphdr){
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP,
		.tot_len = htons(sizeof(struct iphdr) + sizeof(struct tcphdr) + payload),
		.saddr = htonl(0x0a090001), .daddr = htonl(0x0a090002),
	};
	headers->ip.check = ip_checksum(&headers->ip, sizeof(headers->ip));
	headers->tcp.source = htons(4000);
	headers->tcp.dest = htons(9);
	headers->tcp.seq = htonl(sequence);
	headers->tcp.doff = sizeof(struct tcphdr) / 4;
	headers->tcp.ack = 1;
	headers->tcp.window = htons(1000);
}

int main(int argc, char *argv[])
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	static char frame[FRAME_MAX];
	unsigned int frames, segments, bytes, i;
	int fd, yes = 1;

	if (argc != 5)
		return 2;
	frames = strtoul(argv[2], NULL, 10);
	segments = strtoul(argv[3], NULL, 10);
	bytes = strtoul(argv[4], NULL, 10);
	if (sizeof(struct headers) + segments * bytes > FRAME_MAX)
		return 2;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	address.sll_ifindex = if_nametoindex(argv[1]);
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof(yes)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		goto fail;
	for (i = 0; i < frames; i++) {
		fill((struct headers *)frame, segments * bytes, bytes, i * segments * bytes);
		if (send(fd, frame, sizeof(struct headers) + segments * bytes, 0) < 0 &&
		    errno != ENOBUFS)
			goto fail;
	}
	close(fd);
	return 0;
fail:
	fprintf(stderr, "vnet_gso: %s: %s\n", argv[1], strerror(errno));
	return 1;
}
