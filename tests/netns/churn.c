// SPDX-License-Identifier: GPL-2.0
/*
 * "churn PER_SECOND SECONDS FRAMES": make so many network namespaces a second, each with a veth
 * pair, a bfifo on one end, and frames sent through it, and let each go again at once.
 * Prints how many there were and the frames sent as a line of JSON.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "link.h"
#include "netns.h"
#include "qdisc_set.h"

#define FRAME		200
/* For local experiments (IEEE 802): nobody answers. */
#define PROTOCOL	0x88b5

static unsigned long long frames_sent;
static unsigned int frames_wanted;

static int send_frames(const char *device)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(PROTOCOL),
		.sll_ifindex = (int)if_nametoindex(device), .sll_halen = 6,
	};
	unsigned char frame[FRAME] = { 0x02, 0, 0, 0, 0, 9, 0x02, 0, 0, 0, 0, 8, PROTOCOL >> 8,
				       PROTOCOL & 0xff };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	unsigned int i;

	if (fd < 0)
		return -1;
	for (i = 0; i < frames_wanted; i++)
		frames_sent += sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to,
				      sizeof(to)) == (ssize_t)sizeof(frame);
	close(fd);
	return 0;
}

/* In the new namespace. */
static int fill(void *argument, struct error *error)
{
	static const struct qdisc_settings bfifo = { .kind = "bfifo", .handle = 0x10 << 16 };
	struct netlink *netlink = netlink_open(-1, error);
	int failed = -1;

	if (!netlink)
		return -1;
	if (!link_add_veth(netlink, "c0", "c1", *(int *)argument, error) &&
	    !qdisc_add_root(netlink, "c0", &bfifo, error) && !link_set_up(netlink, "c1", error) &&
	    !link_set_up(netlink, "c0", error) && !link_wait_up(netlink, "c0", 1000, error))
		failed = send_frames("c0");
	netlink_close(netlink);
	return failed;
}

static int one(struct error *error)
{
	int fd = netns_create(error), failed;

	if (fd < 0)
		return -1;
	/* Nobody but us sends there: the frames are all that a tracer can count. */
	failed = netns_sysctl(fd, "net/ipv6/conf/default/disable_ipv6", "1", error) < 0 ||
		 netns_run(fd, fill, &fd, error);
	close(fd);
	return failed;
}

static void sleep_until(__u64 ns)
{
	struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

int main(int argc, char *argv[])
{
	__u64 begin = clock_ns(CLOCK_MONOTONIC), pace, end;
	struct error error = { .text = "" };
	unsigned long long count = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: churn PER_SECOND SECONDS FRAMES\n");
		return 2;
	}
	pace = 1000000000ULL / strtoull(argv[1], NULL, 10);
	end = begin + strtoull(argv[2], NULL, 10) * 1000000000ULL;
	frames_wanted = (unsigned int)strtoul(argv[3], NULL, 10);
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		if (one(&error)) {
			fprintf(stderr, "churn: %s\n", error.text);
			return 1;
		}
		count++;
		sleep_until(begin + count * pace);
	}
	printf("{\"namespaces\":%llu,\"frames\":%llu,\"seconds\":%.2f}\n", count, frames_sent,
	       (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9);
	return 0;
}
