// SPDX-License-Identifier: GPL-2.0
/*
 * What the usual tool does: the time of each packet in a hash map by the address of its
 * skb, and a histogram of powers of two for each CPU.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bench_counters.h"

char LICENSE[] SEC("license") = "GPL";

#define BUCKETS	64

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} waiting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} histogram SEC(".maps");

struct bench_counters counters;

static __always_inline __u32 log2_bucket(__u64 value)
{
	__u32 bucket = 0, step;

	for (step = 32; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			bucket += step;
		}
	}
	return bucket;
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(hash_enqueue, struct Qdisc *qdisc, const struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	__u64 now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&waiting, &skb, &now, BPF_ANY))
		__sync_fetch_and_add(&counters.no_room, 1);
	return 0;
}

SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(hash_dequeue, struct Qdisc *qdisc, const struct netdev_queue *txq, int packets,
	     struct sk_buff *skb)
{
	__u64 *since, *count;
	__u32 bucket;

	if (!skb)
		return 0;
	since = bpf_map_lookup_elem(&waiting, &skb);
	if (!since) {
		__sync_fetch_and_add(&counters.unmatched, 1);
		return 0;
	}
	bucket = log2_bucket(bpf_ktime_get_ns() - *since);
	bpf_map_delete_elem(&waiting, &skb);
	count = bpf_map_lookup_elem(&histogram, &bucket);
	if (count)
		(*count)++;
	return 0;
}
