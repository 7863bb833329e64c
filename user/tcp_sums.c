// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "tcp_sums.h"

static struct tcp_device *add(struct tcp_sums *sums, const struct event_header *header)
{
	struct tcp_device **grown = NULL, *device = NULL;

	if (sums->count < TCP_DEVICES_MAX)
		grown = array_grow(sums->devices, sums->count, &sums->room, sizeof(*grown));
	if (grown) {
		sums->devices = grown;
		device = calloc(1, sizeof(*device));
	}
	if (!device) {
		sums->dropped++;
		return NULL;
	}
	device->netns = header->netns;
	device->ifindex = header->ifindex;
	histogram_init(&device->srtt);
	grown[sums->count++] = device;
	return device;
}

static struct tcp_device *find(struct tcp_sums *sums, const struct event_header *header)
{
	for (size_t i = 0; i < sums->count; i++)
		if (sums->devices[i]->netns == header->netns &&
		    sums->devices[i]->ifindex == header->ifindex)
			return sums->devices[i];
	return add(sums, header);
}

void tcp_sums_state(struct tcp_sums *sums, const struct tcp_event *event)
{
	struct tcp_device *device = find(sums, &event->header);

	if (!device)
		return;
	device->last_ns = event->header.time_ns;
	histogram_add_value(&device->srtt, event->srtt_us * 1000ULL, 1);
}

void tcp_sums_retransmit(struct tcp_sums *sums, const struct retransmit_event *event)
{
	struct tcp_device *device = find(sums, &event->header);

	if (!device)
		return;
	device->last_ns = event->header.time_ns;
	device->retransmits++;
}

/* Returns whether live has a qdisc of its namespace. */
static bool name_device(struct tcp_device *device, struct live *live)
{
	bool there = false;
	size_t count;
	struct live_qdisc *const *rows = live_qdiscs(live, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->netns != device->netns || rows[i]->gone_ns)
			continue;
		there = true;
		if (rows[i]->ifindex != device->ifindex)
			continue;
		snprintf(device->device, sizeof(device->device), "%s", rows[i]->device);
		break;
	}
	/* of one that is gone the last name stays */
	if (there || !device->netns_name[0])
		snprintf(device->netns_name, sizeof(device->netns_name), "%s",
			 live_netns_name(live, device->netns));
	return there;
}

void tcp_sums_renew(struct tcp_sums *sums, struct live *live, __u64 now, __u64 keep_ns)
{
	for (size_t i = sums->count; i > 0; i--) {
		struct tcp_device *device = sums->devices[i - 1];

		if (name_device(device, live) || now - device->last_ns < keep_ns)
			continue;
		free(device);
		sums->devices[i - 1] = sums->devices[--sums->count];
	}
}

void tcp_sums_free(struct tcp_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		free(sums->devices[i]);
	free(sums->devices);
	memset(sums, 0, sizeof(*sums));
}
