// SPDX-License-Identifier: GPL-2.0
/* What reading the clock costs: no more than that at each of a packet's events. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/net_dev_queue")
int clock_at_offer(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/qdisc_enqueue")
int clock_at_enqueue(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/qdisc_dequeue")
int clock_at_dequeue(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}
