/* SPDX-License-Identifier: GPL-2.0 */
/* What TCP did, summed up for each device that it sends by. */
#ifndef SOJOURN_TCP_SUMS_H
#define SOJOURN_TCP_SUMS_H

#include <linux/types.h>
#include <stddef.h>

#include "histogram.h"
#include "live.h"
#include "sojourn/event.h"

#define TCP_DEVICES_MAX	1024

struct tcp_device {
	__u32 netns, ifindex;		/* inode number; ifindex 0: the device is not known */
	char netns_name[NETNS_NAME_SIZE];
	char device[16];		/* "": not known */
	__u64 last_ns;			/* CLOCK_MONOTONIC, of the last event */
	__u64 retransmits;		/* segments */
	struct histogram srtt;		/* ns */
};

struct tcp_sums {
	struct tcp_device **devices;	/* owned, TCP_DEVICES_MAX at most */
	size_t count, room;
	__u64 dropped;			/* events of devices that found no place */
};

void tcp_sums_state(struct tcp_sums *sums, const struct tcp_event *event);
void tcp_sums_retransmit(struct tcp_sums *sums, const struct retransmit_event *event);

/*
 * An interval was closed: the names of namespaces and devices are looked up again, and those of
 * which live has no qdisc any more and nothing came for keep_ns are forgotten.
 */
void tcp_sums_renew(struct tcp_sums *sums, struct live *live, __u64 now, __u64 keep_ns);

void tcp_sums_free(struct tcp_sums *sums);

#endif
