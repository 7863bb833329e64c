// SPDX-License-Identifier: GPL-2.0
/*
 * A packet socket, as a capture opens it, that nobody reads: once its small buffer is
 * full the kernel frees every further copy of a packet as dropped.
 *
 *   deaf_tap DEVICE
 *
 * Says "ready" and stays until its standard input ends; prints {"dropped":N}.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct tpacket_stats statistics = { 0 };
	socklen_t length = sizeof(statistics);
	char nothing[16];
	int small = 1, fd;

	if (argc != 2)
		return 2;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	address.sll_ifindex = if_nametoindex(argv[1]);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		fprintf(stderr, "deaf_tap: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, nothing, sizeof(nothing)) > 0)
		;
	if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &length))
		return 1;
	printf("{\"dropped\":%u}\n", statistics.tp_drops);
	close(fd);
	return 0;
}
