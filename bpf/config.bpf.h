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
const volatile bool functions;		/* functions of qdiscs are traced: calls.bpf.h */
const volatile bool enqueue_is_told;	/* by qdisc_enqueue (5.14), or by functions */
const volatile __s64 clock_tai_ahead_ns;	/* CLOCK_TAI less CLOCK_MONOTONIC */
const volatile __s64 clock_real_ahead_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC */

/* The slice of time that samples go to; the loader counts it up. */
volatile __u32 slice;

/* Set by the loader once every hook is attached, cleared before the first is taken off. */
volatile __u32 tracing;

/* Which round of the walk it is where functions are not traced: see walk_below(). */
volatile __u32 walk_round;

/*
 * Send every packet (packets.bpf.h); set before the first hook is attached. No constant: the kernel
 * would remove what it leaves unused, and of a program that has lost subprograms the types are
 * not known any more when it is loaded once more for another function
 * (user/function_hook.c): the verifier then follows each call from each caller, which
 * takes a hundred times as long.
 */
volatile __u32 tell_packets;

/* Always 0, which the verifier does not know: keeps what follows probes, for the same reason. */
volatile __u32 probes_unwanted;

/* Qdiscs made since loading; the loader looks for new ones where it moved. */
volatile __u32 qdiscs_created;

struct loss_counters losses;

static __always_inline void count(__u64 *counter, __u64 by)
{
	__sync_fetch_and_add(counter, by);
}

#endif
