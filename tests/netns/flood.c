// SPDX-License-Identifier: GPL-2.0
/*
 * Send as many small packets as the machine can, for a time, and say how many.
 *
 *   flood --device DEV --seconds N [--frame BYTES] [--port P] [--waiting N]
 *       Ethernet frames through an AF_PACKET TX_RING, through the qdisc of DEV; with
 *       --waiting as many as N stand in a queue that is slower (default: what the
 *       socket's send buffer allows)
 *   flood --udp ADDRESS --seconds N [--size BYTES] [--port P]
 *       UDP datagrams with sendmmsg(); ADDRESS is IPv4 or IPv6
 *
 * Prints {"sent":…,"refused":…,"seconds":…,"pps":…,"cpu_ns":…}: packets that the qdisc was
 * offered at least once, calls that it answered with a drop, CPU time of this process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_SLOT	256
#define FRAMES		4096
#define FRAMES_MAX	(1 << 20)
#define FRAMES_OF_BLOCK	(BLOCK_SIZE / FRAME_SLOT)
#define BLOCK_SIZE	(64 * 1024)
#define BATCH		256
#define PORTS		64	/* source ports in turn: several flows, so several queues */

struct flood {
	const char *device;
	const char *address;
	double seconds;
	unsigned int size;
	unsigned int port;
	unsigned int waiting;		/* 0: by the send buffer */
	unsigned int frames;		/* of the ring */
	unsigned long long sent;
	unsigned long long refused;
};

static double clock_seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static double now(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

static __u16 ip_checksum(const void *data, size_t length)
{
	const __u16 *words = data;
	__u32 sum = 0;
	size_t i;

	for (i = 0; i < length / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static void fill_frame(unsigned char *frame, const struct flood *flood, unsigned int number)
{
	static const unsigned char to[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
	static const unsigned char from[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
	struct ethhdr ethernet = { .h_proto = htons(ETH_P_IP) };
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.tot_len = htons(flood->size - sizeof(ethernet)),
		.saddr = htonl(0x0a090001), .daddr = htonl(0x0a090002),
	};
	struct udphdr udp = {
		.source = htons(flood->port + number % PORTS), .dest = htons(9),
		.len = htons(flood->size - sizeof(ethernet) - sizeof(ip)),
	};

	memcpy(ethernet.h_dest, to, ETH_ALEN);
	memcpy(ethernet.h_source, from, ETH_ALEN);
	ip.check = ip_checksum(&ip, sizeof(ip));
	memset(frame, 0, flood->size);
	memcpy(frame, &ethernet, sizeof(ethernet));
	memcpy(frame + sizeof(ethernet), &ip, sizeof(ip));
	memcpy(frame + sizeof(ethernet) + sizeof(ip), &udp, sizeof(udp));
}

/* A frame is given back when its packet is freed: the ring bounds how many wait. */
static void size_ring(struct flood *flood)
{
	flood->frames = flood->waiting ? flood->waiting : FRAMES;
	flood->frames = (flood->frames + FRAMES_OF_BLOCK - 1) / FRAMES_OF_BLOCK * FRAMES_OF_BLOCK;
}

static unsigned char *open_ring(const struct flood *flood, int *fd)
{
	struct tpacket_req request = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = flood->frames / FRAMES_OF_BLOCK,
		.tp_frame_size = FRAME_SLOT,
		.tp_frame_nr = flood->frames,
	};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_ifindex = if_nametoindex(flood->device),
	};
	int version = TPACKET_V2, most = INT_MAX / 2;
	unsigned char *ring;
	unsigned int i;

	*fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (*fd < 0 || setsockopt(*fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(*fd, SOL_PACKET, PACKET_TX_RING, &request, sizeof(request)) ||
	    bind(*fd, (struct sockaddr *)&address, sizeof(address)))
		return NULL;
	if (flood->waiting &&
	    setsockopt(*fd, SOL_SOCKET, SO_SNDBUFFORCE, &most, sizeof(most)))
		return NULL;
	ring = mmap(NULL, (size_t)flood->frames * FRAME_SLOT, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (ring == MAP_FAILED)
		return NULL;
	for (i = 0; i < flood->frames; i++)
		fill_frame(ring + (size_t)i * FRAME_SLOT + TPACKET_ALIGN(sizeof(struct tpacket2_hdr)),
			   flood, i);
	return ring;
}

/* Hand free frames over, from *next on, at most a batch. */
static unsigned int give_frames(const struct flood *flood, unsigned char *ring,
				unsigned int *next)
{
	unsigned int given;

	for (given = 0; given < BATCH; given++) {
		struct tpacket2_hdr *header = (void *)(ring + (size_t)*next * FRAME_SLOT);

		if (__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) != TP_STATUS_AVAILABLE)
			break;
		header->tp_len = flood->size;
		__atomic_store_n(&header->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
		*next = (*next + 1) % flood->frames;
	}
	return given;
}

/* Let the frames that are still in the ring go. Returns how many would not. */
static unsigned int drain(const struct flood *flood, int fd, unsigned char *ring, double until)
{
	unsigned int i, left;

	do {
		send(fd, NULL, 0, MSG_DONTWAIT);
		for (left = i = 0; i < flood->frames; i++) {
			struct tpacket2_hdr *header = (void *)(ring + (size_t)i * FRAME_SLOT);

			left += __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) !=
				TP_STATUS_AVAILABLE;
		}
	} while (left && now() < until);
	return left;
}

static int flood_packets(struct flood *flood)
{
	unsigned int next = 0, given;
	double until = now() + flood->seconds;
	unsigned char *ring;
	int fd = -1, err = -1;

	size_ring(flood);
	ring = open_ring(flood, &fd);
	if (!ring)
		goto out;
	while (now() < until) {
		given = give_frames(flood, ring, &next);
		flood->sent += given;
		if (send(fd, NULL, 0, MSG_DONTWAIT) < 0) {
			if (errno != ENOBUFS && errno != EAGAIN)
				goto out;
			flood->refused += errno == ENOBUFS;
		}
		if (!given) {
			struct pollfd writable = { .fd = fd, .events = POLLOUT };

			poll(&writable, 1, 1);
		}
	}
	flood->sent -= drain(flood, fd, ring, until + 2);
	err = 0;
out:
	if (fd >= 0)
		close(fd);
	return err;
}

static int open_udp(const struct flood *flood, unsigned int port)
{
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct sockaddr_in6 from6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(port) };
	int large = 16 << 20;
	bool six = inet_pton(AF_INET6, flood->address, &to6.sin6_addr) == 1;
	int fd, err;

	if (!six && inet_pton(AF_INET, flood->address, &to.sin_addr) != 1) {
		errno = EINVAL;
		return -1;
	}
	fd = socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* A full qdisc is what is wanted, not a sender that waits for its socket. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &large, sizeof(large));
	if (six)
		err = bind(fd, (struct sockaddr *)&from6, sizeof(from6)) ||
		      connect(fd, (struct sockaddr *)&to6, sizeof(to6));
	else
		err = bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
		      connect(fd, (struct sockaddr *)&to, sizeof(to));
	if (err) {
		close(fd);
		return -1;
	}
	return fd;
}

static int flood_udp(struct flood *flood)
{
	static char payload[2048];
	struct iovec vector = { .iov_base = payload, .iov_len = flood->size };
	struct mmsghdr messages[BATCH] = { 0 };
	double until = now() + flood->seconds;
	int sockets[8], count = 0, i, sent, err = -1;

	for (i = 0; i < BATCH; i++) {
		messages[i].msg_hdr.msg_iov = &vector;
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	for (; count < 8; count++) {
		sockets[count] = open_udp(flood, flood->port + count);
		if (sockets[count] < 0)
			goto out;
	}
	for (i = 0; now() < until; i = (i + 1) % count) {
		sent = sendmmsg(sockets[i], messages, BATCH, 0);
		/* Nobody listens: an ICMP error may come back, and a drop may be told. */
		if (sent < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
			goto out;
		if (sent > 0)
			flood->sent += sent;
		else
			flood->refused++;
	}
	err = 0;
out:
	while (count > 0)
		close(sockets[--count]);
	return err;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "udp", required_argument, NULL, 'u' },
		{ "seconds", required_argument, NULL, 's' },
		{ "frame", required_argument, NULL, 'f' },
		{ "size", required_argument, NULL, 'f' },
		{ "port", required_argument, NULL, 'p' },
		{ "waiting", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct flood flood = { .seconds = 1, .size = 64, .port = 20000 };
	double begin;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'd': flood.device = optarg; break;
		case 'u': flood.address = optarg; break;
		case 's': flood.seconds = strtod(optarg, NULL); break;
		case 'f': flood.size = strtoul(optarg, NULL, 10); break;
		case 'p': flood.port = strtoul(optarg, NULL, 10); break;
		case 'w': flood.waiting = strtoul(optarg, NULL, 10); break;
		default: return 2;
		}
	}
	if (!flood.device == !flood.address || flood.size > 1400 || flood.waiting > FRAMES_MAX ||
	    (flood.device && (flood.size < 60 || flood.size > FRAME_SLOT / 2))) {
		fprintf(stderr, "flood: see the head of flood.c\n");
		return 2;
	}
	begin = now();
	if (flood.device ? flood_packets(&flood) : flood_udp(&flood)) {
		fprintf(stderr, "flood: %s\n", strerror(errno));
		return 1;
	}
	printf("{\"sent\":%llu,\"refused\":%llu,\"seconds\":%.3f,\"pps\":%.0f,\"cpu_ns\":%.0f}\n",
	       flood.sent, flood.refused, now() - begin, flood.sent / (now() - begin),
	       clock_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9);
	return 0;
}
