/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces: named ones (/run/netns, as iproute2 keeps them), entering, ids. */
#ifndef SOJOURN_NETNS_H
#define SOJOURN_NETNS_H

#include <linux/types.h>
#include <stdbool.h>

#include "error.h"

#define NETNS_DIRECTORY "/run/netns"

/* Open the named namespace (O_CLOEXEC). Returns the descriptor, owned by the caller, or -1 and error. */
int netns_open(const char *name, struct error *error);

/* Open the namespace that this thread is in. */
int netns_open_own(struct error *error);

/* Inode number of a namespace, as /proc/PID/ns/net shows it; 0 and errno on failure. */
__u32 netns_inode(int netns_fd);

/* True where something of that name exists in NETNS_DIRECTORY. */
bool netns_name_taken(const char *name);

/* Move the calling thread into the namespace. 0, or -1 and error. */
int netns_enter(int netns_fd, struct error *error);

#endif
