/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a person calls the network namespace with some inode number: its name in /run/netns, else
 * what runs in it. Namespaces may come and go by the hundred: who is in them is looked up
 * for all unknown ones together, and not more often than every second.
 */
#ifndef SOJOURN_NETNS_NAMES_H
#define SOJOURN_NETNS_NAMES_H

#include <linux/types.h>
#include <stdbool.h>

#include "error.h"

#define NETNS_NAME_SIZE	256	/* NAME_MAX and its NUL */

struct netns_names;

/* NULL and error. */
struct netns_names *netns_names_create(struct error *error);
void netns_names_free(struct netns_names *names);

/*
 * "" for the namespace that we are in, the name that `ip netns` has for it, "nginx@3f2a9c11d0aa" for
 * that of a container (the first 12 digits of its id), "nginx[1234]" for that of a process;
 * "net:[4026532739]" where nothing is known, or not yet. Valid until the next call that is
 * given the names.
 */
const char *netns_names_find(struct netns_names *names, __u32 inode);

/* Look unknown ones up where that is due; what runs in a namespace also where it is known. */
void netns_names_refresh(struct netns_names *names);

/* Open the namespace (O_CLOEXEC, the caller's); -1 and errno where there is no way to it. */
int netns_names_open(struct netns_names *names, __u32 inode);

/* It is gone: its number may be given to another one. */
void netns_names_forget(struct netns_names *names, __u32 inode);

/*
 * Of the text of /proc/PID/cgroup the container's id, as container engines put it into the name of
 * its cgroup: 64 hexadecimal digits. 12 of them into id; returns whether there is one.
 */
bool netns_names_container(const char *cgroup, char id[13]);

#endif
