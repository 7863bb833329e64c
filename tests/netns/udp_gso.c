// SPDX-License-Identifier: GPL-2.0
/*
 * Send UDP datagrams that the kernel keeps together as one GSO skb (UDP_SEGMENT).
 *
 *   udp_gso ADDRESS CALLS SEGMENTS BYTES PAUSE_US
 *
 * CALLS times SEGMENTS datagrams of BYTES bytes each, in one send() a call, with
 * a pause of PAUSE_US microseconds between calls. ADDRESS is IPv4 or IPv6.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int open_socket(const char *address, int segment_bytes)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found;
	int fd;

	if (getaddrinfo(address, "9", &hints, &found))
		return -1;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && (connect(fd, found->ai_addr, found->ai_addrlen) ||
			setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment_bytes,
				   sizeof(segment_bytes)))) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

int main(int argc, char *argv[])
{
	static char payload[65000];
	unsigned long calls, segments, bytes, sent = 0;
	struct timespec pause = { 0 };
	int fd;

	if (argc != 6) {
		fprintf(stderr, "udp_gso ADDRESS CALLS SEGMENTS BYTES PAUSE_US\n");
		return 2;
	}
	calls = strtoul(argv[2], NULL, 10);
	segments = strtoul(argv[3], NULL, 10);
	bytes = strtoul(argv[4], NULL, 10);
	pause.tv_nsec = strtol(argv[5], NULL, 10) * 1000;
	if (!bytes || bytes > sizeof(payload) || segments > sizeof(payload) / bytes)
		return 2;
	fd = open_socket(argv[1], bytes);
	if (fd < 0) {
		fprintf(stderr, "udp_gso: %s\n", strerror(errno));
		return 1;
	}
	while (sent < calls) {
		/* An ICMP error for an earlier datagram, or a drop in the qdisc, is no failure. */
		if (send(fd, payload, segments * bytes, 0) < 0 && errno != ECONNREFUSED &&
		    errno != ENOBUFS) {
			fprintf(stderr, "udp_gso: send: %s\n", strerror(errno));
			return 1;
		}
		sent++;
		nanosleep(&pause, NULL);
	}
	printf("{\"calls\":%lu,\"packets\":%lu}\n", sent, sent * segments);
	return 0;
}
