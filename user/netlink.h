/* SPDX-License-Identifier: GPL-2.0 */
/* rtnetlink over libmnl: one socket, one request at a time. */
#ifndef SOJOURN_NETLINK_H
#define SOJOURN_NETLINK_H

#include <libmnl/libmnl.h>
#include <linux/types.h>

#include "error.h"

struct netlink;

/*
 * Open a NETLINK_ROUTE socket in the namespace (-1: the one that this thread is
 * in); it stays bound to it wherever the thread goes. NULL and error.
 */
struct netlink *netlink_open(int netns_fd, struct error *error);
void netlink_close(struct netlink *netlink);

/*
 * Begin a request in the socket's own buffer (4096 bytes); the caller adds the
 * family header and attributes. Valid until the next netlink_message().
 */
struct nlmsghdr *netlink_message(struct netlink *netlink, __u16 type, __u16 flags);

/*
 * Send the request that was begun and take the kernel's answers until its
 * acknowledgement, or the end of the dump where NLM_F_DUMP is set. callback
 * (may be NULL) sees every message; MNL_CB_ERROR from it ends in failure.
 *
 * Returns 0; or -1 with errno the kernel's reason and error "cannot WHAT:
 * reason (the kernel's own words)". A dump that the kernel marks as
 * inconsistent (NLM_F_DUMP_INTR) fails with EINTR; the same request can be
 * sent again.
 */
int netlink_send(struct netlink *netlink, mnl_cb_t callback, void *data, const char *what,
		 struct error *error);

/*
 * The same for a dump, sent again while the kernel marks its answer as
 * inconsistent. begin(data) is called before each attempt: data must then be as
 * if no message had come yet.
 */
int netlink_dump(struct netlink *netlink, mnl_cb_t callback, void (*begin)(void *data), void *data,
		 const char *what, struct error *error);

/* Copy an attribute's text, cut to fit; size counts the '\0' that always ends it. */
void netlink_copy_text(char *to, size_t size, const struct nlattr *attribute);

#endif
