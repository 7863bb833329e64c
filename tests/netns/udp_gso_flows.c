// SPDX-License-Identifier: GPL-2.0
/*
 * Send UDP GSO skbs (UDP_SEGMENT) of many flows, or of one flow from several
 * threads at once.
 *
 *   udp_gso_flows ADDRESS FLOWS THREADS CALLS SEGMENTS BYTES
 *
 * Each of THREADS threads makes CALLS calls, taking the FLOWS sockets in turn; the
 * threads share the sockets, so that the same addresses and ports are offered on
 * several CPUs at a time. Prints {"calls":…,"packets":…}: what the kernel took.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS_MAX	16

struct sender {
	pthread_t thread;
	const int *sockets;
	unsigned int flows;
	unsigned int calls;
	unsigned int segments;
	unsigned int bytes;
	unsigned long long taken;
	bool failed;
};

static int open_socket(const char *address, int segment_bytes)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM };
	int large = 64 << 20, fd;
	struct addrinfo *found;

	if (getaddrinfo(address, "9", &hints, &found))
		return -1;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* The qdisc is to be full, not the socket's buffer. */
	if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &large, sizeof(large)) ||
			connect(fd, found->ai_addr, found->ai_addrlen) ||
			setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment_bytes,
				   sizeof(segment_bytes)))) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

static void *send_all(void *argument)
{
	struct sender *sender = argument;
	char *payload = calloc(sender->segments, sender->bytes);
	unsigned int i;
	ssize_t sent;

	for (i = 0; payload && i < sender->calls; i++) {
		sent = send(sender->sockets[i % sender->flows], payload,
			    (size_t)sender->segments * sender->bytes, 0);
		if (sent > 0)
			sender->taken++;
		else if (errno != ENOBUFS && errno != ECONNREFUSED && errno != EAGAIN)
			break;
	}
	sender->failed = !payload || i < sender->calls;
	free(payload);
	return NULL;
}

int main(int argc, char *argv[])
{
	unsigned int flows, threads, calls, segments, bytes, opened = 0, started = 0, i;
	struct sender senders[THREADS_MAX] = { 0 };
	unsigned long long taken = 0;
	int *sockets, err = 1;

	if (argc != 7) {
		fprintf(stderr, "udp_gso_flows: see the head of udp_gso_flows.c\n");
		return 2;
	}
	flows = strtoul(argv[2], NULL, 10);
	threads = strtoul(argv[3], NULL, 10);
	calls = strtoul(argv[4], NULL, 10);
	segments = strtoul(argv[5], NULL, 10);
	bytes = strtoul(argv[6], NULL, 10);
	if (!flows || !threads || threads > THREADS_MAX)
		return 2;
	sockets = calloc(flows, sizeof(*sockets));
	for (; sockets && opened < flows; opened++) {
		sockets[opened] = open_socket(argv[1], bytes);
		if (sockets[opened] < 0)
			goto out;
	}
	for (; sockets && started < threads; started++) {
		senders[started] = (struct sender){ .sockets = sockets, .flows = flows,
						    .calls = calls, .segments = segments,
						    .bytes = bytes };
		if (pthread_create(&senders[started].thread, NULL, send_all, &senders[started]))
			break;
	}
	err = started < threads;
	for (i = 0; i < started; i++) {
		pthread_join(senders[i].thread, NULL);
		taken += senders[i].taken;
		err |= senders[i].failed;
	}
out:
	if (err)
		fprintf(stderr, "udp_gso_flows: %s\n", strerror(errno));
	else
		printf("{\"calls\":%llu,\"packets\":%llu}\n", taken, taken * segments);
	while (opened > 0)
		close(sockets[--opened]);
	free(sockets);
	return err;
}
