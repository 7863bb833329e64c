/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices, addresses and routes of the namespace that a netlink socket is bound
 * to. Each function returns 0, or -1 with errno and error as netlink_send().
 */
#ifndef SOJOURN_LINK_H
#define SOJOURN_LINK_H

#include <linux/types.h>

#include "netlink.h"

/* Index of the device; 0 and error (errno ENODEV) where there is none. */
__u32 link_index(struct netlink *netlink, const char *device, struct error *error);

/* Make a veth pair: device here, peer in the namespace peer_netns_fd. Both are down. */
int link_add_veth(struct netlink *netlink, const char *device, const char *peer,
		  int peer_netns_fd, struct error *error);

/* Delete every veth of the namespace (their peers go with them); goes on where one fails. */
int link_delete_veths(struct netlink *netlink, struct error *error);

int link_set_up(struct netlink *netlink, const char *device, struct error *error);

/*
 * Wait until the device's operational state is up, that is until its carrier
 * has been seen and its queues are active (net/core/link_watch.c), at most
 * timeout_ms.
 */
int link_wait_up(struct netlink *netlink, const char *device, unsigned int timeout_ms,
		 struct error *error);

/*
 * Add an address (text, IPv4 or IPv6 by its form). IPv6 addresses skip the
 * duplicate address detection, so that they can be used at once.
 */
int link_add_address(struct netlink *netlink, const char *device, const char *address,
		     unsigned int prefix_length, struct error *error);

/*
 * Add a route to a network (text, length of its prefix; "": the default route)
 * by way of a gateway of the same family.
 */
int link_add_route(struct netlink *netlink, const char *network, unsigned int length,
		   const char *gateway, struct error *error);

/* Set the device's MTU, bytes. */
int link_set_mtu(struct netlink *netlink, const char *device, unsigned int mtu,
		 struct error *error);

#endif
