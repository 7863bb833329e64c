// SPDX-License-Identifier: GPL-2.0
/*
 * One packet to each of many devices in turn, for a time: what a packet costs where the one
 * before it was another qdisc's.
 *
 *   spread PREFIX SECONDS [first]
 *
 * Devices are all but lo in every named network namespace whose name begins with PREFIX. With
 * first, each of them has one packet, and then only one of them has all others: what a
 * packet costs where many qdiscs are known. Prints {"sent":…,"devices":…,"seconds":…,"pps":…},
 * the packets before the time not counted.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "error.h"
#include "netns.h"

#define FRAME_SIZE	64

struct target {
	int socket;
	int ifindex;
};

struct spread {
	struct target *targets;
	size_t count, room;
	unsigned long long sent;
};

static int add_target(struct spread *spread, int socket, int ifindex, struct error *error)
{
	struct target *grown;

	grown = array_grow(spread->targets, spread->count, &spread->room, sizeof(*grown));
	if (!grown)
		return error_set_errno(error, EXIT_CANNOT, "memory");
	spread->targets = grown;
	grown[spread->count++] = (struct target){ socket, ifindex };
	return 0;
}

/* In the namespace: one socket, which lives as long as the process, for all its devices. */
static int add_devices(void *argument, struct error *error)
{
	struct if_nameindex *devices = if_nameindex(), *device;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0 || !devices)
		err = error_set_errno(error, EXIT_CANNOT, "cannot send on devices");
	for (device = devices; !err && device->if_index; device++)
		if (strcmp(device->if_name, "lo"))
			err = add_target(argument, fd, device->if_index, error);
	if (devices)
		if_freenameindex(devices);
	return err;
}

static int add_netns(struct spread *spread, const char *name, struct error *error)
{
	int fd = netns_open(name, error), err;

	if (fd < 0)
		return -1;
	err = netns_run(fd, add_devices, spread, error);
	close(fd);
	return err;
}

static int add_all(struct spread *spread, const char *prefix, struct error *error)
{
	DIR *directory = opendir(NETNS_DIRECTORY);
	struct dirent *entry;
	int err = 0;

	if (!directory)
		return error_set_errno(error, EXIT_CANNOT, "%s", NETNS_DIRECTORY);
	while (!err && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			err = add_netns(spread, entry->d_name, error);
	closedir(directory);
	if (!err && !spread->count)
		err = error_set(error, EXIT_USAGE, "no device in a namespace named %s...", prefix);
	return err;
}

/* To count of the devices in turn; once at least. */
static int send_to(struct spread *spread, size_t count, __u64 until, struct error *error)
{
	static const unsigned char frame[FRAME_SIZE] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, ETH_P_IP >> 8, ETH_P_IP & 0xff, 0x45,
	};
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = ETH_ALEN };
	size_t i;

	do {
		for (i = 0; i < count; i++) {
			to.sll_ifindex = spread->targets[i].ifindex;
			if (sendto(spread->targets[i].socket, frame, sizeof(frame), 0,
				   (struct sockaddr *)&to, sizeof(to)) < 0)
				return error_set_errno(error, EXIT_CANNOT, "cannot send");
			spread->sent++;
		}
	} while (clock_ns(CLOCK_MONOTONIC) < until);
	return 0;
}

int main(int argc, char *argv[])
{
	struct spread spread = { 0 };
	struct error error = { 0 };
	bool first = argc == 4 && !strcmp(argv[3], "first");
	double seconds;
	__u64 begin;
	int err;

	if (argc != 3 && !first) {
		fprintf(stderr, "spread: see the head of spread.c\n");
		return EXIT_USAGE;
	}
	err = add_all(&spread, argv[1], &error);
	if (!err && first)
		err = send_to(&spread, spread.count, 0, &error);
	spread.sent = 0;
	begin = clock_ns(CLOCK_MONOTONIC);
	if (!err)
		err = send_to(&spread, first ? 1 : spread.count,
			      begin + (__u64)(strtod(argv[2], NULL) * 1e9), &error);
	seconds = (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
	if (err)
		fprintf(stderr, "spread: %s\n", error.text);
	else
		printf("{\"sent\":%llu,\"devices\":%zu,\"seconds\":%.3f,\"pps\":%.0f}\n",
		       spread.sent, spread.count, seconds, spread.sent / seconds);
	free(spread.targets);
	return err ? error.code : EXIT_OK;
}
