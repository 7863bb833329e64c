/* SPDX-License-Identifier: GPL-2.0 */
/* What the loader sets before loading, the present slice, and the counted losses. */
#ifndef SOJOURN_CONFIG_BPF_H
#define SOJOURN_CONFIG_BPF_H

#include "sojourn/tables.h"

/* Set once, before loading. */
const volatile __u32 filter_netns;	/* not 0: only namespaces in wanted_netns */
const volatile __u32 filter_devices;	/* not 0: only devices in wanted_devices */
const volatile __u32 probe_len_min;	/* skb->len of a probe, with and without link header; */
const volatile __u32 probe_len_max;	/* max 0: probes are not followed */
const volatile __u32 probe_payload;	/* payload bytes of an echo that is ours */
const volatile __u64 tcp_interval_ns;	/* at most one TCP state per flow in that time */

/* The slice of time that samples go to; the loader counts it up. */
volatile __u32 slice;

struct loss_counters losses;

static __always_inline void count(__u64 *counter, __u64 by)
{
	__sync_fetch_and_add(counter, by);
}

#endif
