// SPDX-License-Identifier: GPL-2.0
/*
 * What reading the clock costs: once when a packet is offered and once when it is handed out,
 * and nothing else wherever histograms of qdiscs have a program.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/net_dev_queue")
int clock_at_offer(void *ctx)
{
	bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/qdisc_enqueue")
int nothing_at_enqueue(void *ctx)
{
	return 0;
}

SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(clock_at_dequeue, struct Qdisc *qdisc, const struct netdev_queue *txq, int packets,
	     struct sk_buff *skb)
{
	if (skb)
		bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int nothing_at_transmit(void *ctx)
{
	return 0;
}

SEC("tp_btf/kfree_skb")
int nothing_at_kfree(void *ctx)
{
	return 0;
}

SEC("tp_btf/consume_skb")
int nothing_at_consume(void *ctx)
{
	return 0;
}
