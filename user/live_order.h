/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a host's qdiscs in the order of their trees. */
#ifndef SOJOURN_LIVE_ORDER_H
#define SOJOURN_LIVE_ORDER_H

#include "live.h"

/*
 * Sort: the namespace that we are in first, others by name; devices by index, queues, a parent
 * before its children. Sets each row's level.
 */
void live_order(struct live_qdisc **rows, size_t count);

#endif
