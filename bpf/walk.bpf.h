/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A walk over every qdisc of every wanted network namespace, so that each has its
 * record, and its functions are known, before a packet comes to it. The loader runs
 * it; each step is a function of its own that the verifier checks once.
 */
#ifndef SOJOURN_WALK_BPF_H
#define SOJOURN_WALK_BPF_H

#include "qdisc.bpf.h"

#define WALK_NAMESPACES	4096
#define WALK_DEVICES	2048
#define WALK_QUEUES	1024
#define WALK_CHAIN	256	/* qdiscs in one chain of a device's hash table */
#define QDISC_HASH	16	/* chains: net_device.qdisc_hash (include/linux/netdevice.h) */

static __always_inline __u64 chain_first(__u64 dev_address, __u32 chain)
{
	__u64 first = 0;

	bpf_probe_read_kernel(&first, sizeof(first),
			      (void *)(dev_address +
				       bpf_core_field_offset(struct net_device, qdisc_hash) +
				       chain * sizeof(first)));
	return first;
}

static __always_inline __u64 qdisc_in_chain(__u64 node)
{
	return node - bpf_core_field_offset(struct Qdisc, hash);
}

/* The qdisc of a chain with that handle, or 0. */
__noinline __u64 walk_find(__u64 dev_address, __u32 chain, __u32 handle)
{
	__u64 node = chain_first(dev_address, chain);
	const struct Qdisc *qdisc;
	__u32 i;

	for (i = 0; i < WALK_CHAIN && node; i++) {
		qdisc = (const struct Qdisc *)qdisc_in_chain(node);
		if (BPF_CORE_READ(qdisc, handle) == handle)
			return (__u64)qdisc;
		node = (__u64)BPF_CORE_READ((const struct hlist_node *)node, next);
	}
	return 0;
}

/* The parent of a child qdisc, or 0. A root is in no chain (net/sched/sch_api.c, qdisc_hash_add()). */
__noinline __u64 walk_parent(__u64 qdisc_address)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;
	const struct net_device *dev = BPF_CORE_READ(qdisc, dev_queue, dev);
	const struct Qdisc *root = BPF_CORE_READ(dev, qdisc);
	__u32 handle = BPF_CORE_READ(qdisc, parent) & 0xffff0000, chain;
	__u64 parent;

	if (BPF_CORE_READ(root, handle) == handle)
		return (__u64)root;
	for (chain = 0; chain < QDISC_HASH; chain++) {
		parent = walk_find((__u64)dev, chain, handle);
		if (parent)
			return parent;
	}
	return 0;
}

/* How far below its root a qdisc is. */
static __always_inline __u32 walk_depth(__u64 qdisc_address)
{
	__u32 depth;

	for (depth = 0; depth < 7; depth++) {
		if (!qdisc_address || qdisc_is_root((const struct Qdisc *)qdisc_address))
			break;
		qdisc_address = walk_parent(qdisc_address);
	}
	return depth;
}

__noinline int walk_qdisc(__u64 qdisc_address)
{
	__u32 *known = bpf_map_lookup_elem(&qdisc_ids, &qdisc_address);
	__u32 id = known ? *known : qdisc_first_sight_by_address(qdisc_address);
	struct qdisc_record *record = qdisc_record(id);

	if (record && record->depth == DEPTH_UNKNOWN)
		record->depth = walk_depth(qdisc_address);
	return 0;
}

__noinline int walk_chain(__u64 dev_address, __u32 chain)
{
	__u64 node = chain_first(dev_address, chain);
	__u32 i;

	for (i = 0; i < WALK_CHAIN && node; i++) {
		walk_qdisc(qdisc_in_chain(node));
		node = (__u64)BPF_CORE_READ((const struct hlist_node *)node, next);
	}
	if (node)
		count(&losses.walk_cut, 1);
	return 0;
}

__noinline int walk_device(__u64 dev_address)
{
	const struct net_device *dev = (const struct net_device *)dev_address;
	__u32 queues = BPF_CORE_READ(dev, num_tx_queues), i;
	const struct netdev_queue *queue;
	__u64 qdisc;

	for (i = 0; i < WALK_QUEUES && i < queues; i++) {
		queue = (const void *)((__u64)BPF_CORE_READ(dev, _tx) +
				       i * bpf_core_type_size(struct netdev_queue));
		qdisc = (__u64)BPF_CORE_READ(queue, qdisc_sleeping);
		if (qdisc)
			walk_qdisc(qdisc);
	}
	if (i < queues)
		count(&losses.walk_cut, 1);
	for (i = 0; i < QDISC_HASH; i++)
		walk_chain(dev_address, i);
	return 0;
}

__noinline int walk_namespace(__u64 net_address)
{
	const struct net *net = (const struct net *)net_address;
	__u64 head = net_address + bpf_core_field_offset(struct net, dev_base_head);
	__u64 at = (__u64)BPF_CORE_READ(net, dev_base_head.next);
	const struct net_device *dev;
	__u32 i;

	if (!netns_wanted(BPF_CORE_READ(net, ns.inum), WANTED_QDISCS))
		return 0;
	for (i = 0; i < WALK_DEVICES && at && at != head; i++) {
		dev = (const void *)(at - bpf_core_field_offset(struct net_device, dev_list));
		if (BPF_CORE_READ(dev, nd_net.net) != net)
			return 0;
		walk_device((__u64)dev);
		at = (__u64)BPF_CORE_READ((const struct list_head *)at, next);
	}
	if (i == WALK_DEVICES)
		count(&losses.walk_cut, 1);
	return 0;
}

/*
 * All namespaces are in one ring (net_namespace_list), ours among them. Its head is
 * in no namespace: what would be its first device does not say that it is in there.
 */
static __always_inline void walk_all(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct net *own = BPF_CORE_READ(task, nsproxy, net_ns);
	__u64 begin = (__u64)own + bpf_core_field_offset(struct net, list), at = begin;
	__u32 i;

	for (i = 0; i < WALK_NAMESPACES && at; i++) {
		walk_namespace(at - bpf_core_field_offset(struct net, list));
		at = (__u64)BPF_CORE_READ((const struct list_head *)at, next);
		if (at == begin)
			return;
	}
	count(&losses.walk_cut, 1);
}

#endif
