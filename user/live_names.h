/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rows of a host's qdiscs are called: their namespaces, their devices, which may be
 * renamed, and their paths, which netlink tells. Asked for little by little: a host with many
 * namespaces that come and go is not dumped all the time.
 */
#ifndef SOJOURN_LIVE_NAMES_H
#define SOJOURN_LIVE_NAMES_H

#include "error.h"
#include "live.h"

struct live_names;

/* NULL and error. */
struct live_names *live_names_create(struct error *error);
void live_names_free(struct live_names *names);

/* Once an interval. Returns whether a name has changed by which rows are sorted. */
bool live_names_renew(struct live_names *names, struct live_qdisc **rows, size_t count);

/* What a person calls a namespace; valid until the next renewal. */
const char *live_names_netns(struct live_names *names, __u32 inode);

#endif
