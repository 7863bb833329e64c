/* SPDX-License-Identifier: GPL-2.0 */
/* The ring buffer: nobody is woken, the user side drains it in time; what finds it full is counted. */
#ifndef SOJOURN_RING_BPF_H
#define SOJOURN_RING_BPF_H

#include "config.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

static __always_inline void *ring_reserve(__u64 size)
{
	void *event = bpf_ringbuf_reserve(&events, size, 0);

	if (!event)
		count(&losses.ring_full, 1);
	return event;
}

static __always_inline void ring_submit(void *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

#endif
