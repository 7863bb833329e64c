/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A walk over every qdisc of every wanted network namespace, so that each has its
 * record, and its functions are known, before a packet comes to it. The loader runs
 * it. Each kind of list is walked by a function that the verifier checks by itself:
 * in the older object, which has no bpf_loop(), nested loops would be too much for it.
 */
#ifndef SOJOURN_WALK_BPF_H
#define SOJOURN_WALK_BPF_H

#include "kernel.bpf.h"
#include "qdisc.bpf.h"
#include "stamp.bpf.h"

/*
 * The most that are walked: devices of all namespaces, queues of one, qdiscs of one
 * chain. Calls may not lie deeper than 8 (MAX_CALL_FRAMES, include/linux/bpf_verifier.h).
 */
#define WALK_MOST	(1 << 16)
#define WALK_OLD	128
#define DEVICES_OLD	512
#define QDISC_HASH	16	/* chains: net_device.qdisc_hash (include/linux/netdevice.h) */

/* A list that is being walked. */
struct walk {
	__u64 at;		/* the next element; 0: the end was reached */
	__u64 end;		/* where it closes */
	__u64 net;		/* the namespace whose devices are walked */
	__u32 handle;		/* looked for */
};

static __always_inline __u64 list_next(__u64 node)
{
	return (__u64)BPF_CORE_READ((const struct list_head *)node, next);
}

static __always_inline __u64 chain_next(__u64 node)
{
	return (__u64)BPF_CORE_READ((const struct hlist_node *)node, next);
}

static __always_inline __u64 chain_first(__u64 dev_address, __u32 chain)
{
	return chain_next(dev_address + bpf_core_field_offset(struct net_device, qdisc_hash) +
			  chain * sizeof(struct hlist_head));
}

static __always_inline __u64 qdisc_in_chain(__u64 node)
{
	return node - bpf_core_field_offset(struct Qdisc, hash);
}

static __always_inline void walk_ended(const struct walk *walk)
{
	if (walk->at)
		count(&losses.walk_cut, 1);
}

static long find_step(__u64 index, void *context)
{
	struct walk *walk = context;
	const struct Qdisc *qdisc;

	if (!walk->at)
		return 1;
	qdisc = (const struct Qdisc *)qdisc_in_chain(walk->at);
	if (BPF_CORE_READ(qdisc, handle) == walk->handle)
		return 1;
	walk->at = chain_next(walk->at);
	return 0;
}

/* The qdisc of a chain with that handle, or 0. */
__noinline __u64 walk_find(__u64 dev_address, __u32 chain, __u32 handle)
{
	struct walk walk = { .at = chain_first(dev_address, chain), .handle = handle };

	repeat(WALK_MOST, find_step, &walk, WALK_OLD);
	return walk.at ? qdisc_in_chain(walk.at) : 0;
}

/*
 * The parent of a child qdisc, or 0. A root is in no chain (net/sched/sch_api.c,
 * qdisc_hash_add()).
 */
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

/* How far below its root a qdisc is; *root is that. */
static __always_inline __u32 walk_depth(__u64 qdisc_address, __u64 *root)
{
	__u32 depth;

	for (depth = 0; depth < QDISC_LEVELS - 1; depth++) {
		if (!qdisc_address || qdisc_is_root((const struct Qdisc *)qdisc_address))
			break;
		qdisc_address = walk_parent(qdisc_address);
	}
	*root = qdisc_address;
	return depth;
}

/*
 * Without functions, in two rounds: what is below each root is counted; then, where it
 * is one chain whose leaf writes a stamp, the leaf gets its record.
 */
static __always_inline void walk_below(__u64 qdisc_address)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;
	struct qdisc_record *record, *leaf;
	char kind[QDISC_KIND_LEN] = {};
	__u32 depth, id, stamp;
	__u64 root = 0;

	if (qdisc_is_root(qdisc))
		return;
	depth = walk_depth(qdisc_address, &root);
	if (!root)
		return;
	record = qdisc_record(qdisc_id_by_address(root));
	if (!record)
		return;
	if (walk_round == WALK_COUNTS) {
		record->below++;
		if (depth > record->below_depth) {
			record->below_depth = depth;
			record->below_deepest = qdisc_address;
		}
		return;
	}
	if (record->below != record->below_depth || record->below_deepest != qdisc_address)
		return;
	bpf_probe_read_kernel_str(kind, sizeof(kind), BPF_CORE_READ(qdisc, ops, id));
	stamp = stamp_of_kind(kind);
	if (stamp == STAMP_NONE)
		return;
	id = qdisc_id_by_address(qdisc_address);
	leaf = qdisc_record(id);
	if (!leaf)
		return;
	leaf->depth = depth;
	leaf->traits |= QDISC_BY_STAMP;
	record->leaf_stamp = stamp;
	record->leaf_record = id + 1;
}

__noinline int walk_qdisc(__u64 qdisc_address)
{
	struct qdisc_record *record;
	__u64 root = 0;
	__u32 depth;

	if (!functions) {
		walk_below(qdisc_address);
		return 0;
	}
	record = qdisc_record(qdisc_id_by_address(qdisc_address));
	if (!record || record->depth != DEPTH_UNKNOWN)
		return 0;
	depth = walk_depth(qdisc_address, &root);
	/* one that has no place yet is asked again by the next walk */
	if (root) {
		record->depth = depth;
		record->root = qdisc_id_by_address(root);
	}
	return 0;
}

static long chain_step(__u64 index, void *context)
{
	struct walk *walk = context;

	if (!walk->at)
		return 1;
	walk_qdisc(qdisc_in_chain(walk->at));
	walk->at = chain_next(walk->at);
	return 0;
}

static __always_inline void walk_chain(__u64 dev_address, __u32 chain)
{
	struct walk walk = { .at = chain_first(dev_address, chain) };

	repeat(WALK_MOST, chain_step, &walk, WALK_OLD);
	walk_ended(&walk);
}

static long queue_step(__u64 index, void *context)
{
	const struct netdev_queue *queue;
	struct walk *walk = context;
	__u64 qdisc;

	if (walk->at == walk->end) {
		walk->at = 0;
		return 1;
	}
	queue = (const void *)walk->at;
	qdisc = (__u64)BPF_CORE_READ(queue, qdisc_sleeping);
	if (qdisc)
		walk_qdisc(qdisc);
	walk->at += bpf_core_type_size(struct netdev_queue);
	return 0;
}

__noinline int walk_device(__u64 dev_address)
{
	const struct net_device *dev = (const struct net_device *)dev_address;
	struct walk walk = { .at = (__u64)BPF_CORE_READ(dev, _tx) };
	__u32 i;

	walk.end = walk.at + (__u64)BPF_CORE_READ(dev, num_tx_queues) *
			     bpf_core_type_size(struct netdev_queue);
	repeat(WALK_MOST, queue_step, &walk, WALK_OLD);
	walk_ended(&walk);
	for (i = 0; i < QDISC_HASH; i++)
		walk_chain(dev_address, i);
	return 0;
}

/* On to the next namespace; the ring of all closes at walk->end. */
static __always_inline void walk_next_namespace(struct walk *walk)
{
	__u64 node = list_next(walk->net + bpf_core_field_offset(struct net, list));

	walk->net = node - bpf_core_field_offset(struct net, list);
	walk->at = node == walk->end ? 0 : walk->net;
}

/*
 * One device, or the beginning of a namespace (at is the namespace itself). The head
 * of the ring of namespaces (net_namespace_list) is in none: what would be its first
 * device does not say that it is in there.
 */
static long device_step(__u64 index, void *context)
{
	struct walk *walk = context;
	__u64 head = walk->net + bpf_core_field_offset(struct net, dev_base_head);
	const struct net *net = (const struct net *)walk->net;
	const struct net_device *dev;

	if (walk->at == walk->net) {
		if (netns_wanted(BPF_CORE_READ(net, ns.inum), WANTED_QDISCS))
			walk->at = list_next(head);
		else
			walk_next_namespace(walk);
		return !walk->at;
	}
	dev = (const void *)(walk->at - bpf_core_field_offset(struct net_device, dev_list));
	if (walk->at == head || BPF_CORE_READ(dev, nd_net.net) != net) {
		walk_next_namespace(walk);
		return !walk->at;
	}
	walk_device((__u64)dev);
	walk->at = list_next(walk->at);
	return !walk->at;
}

static __always_inline void walk_all(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	struct walk walk = {};

	walk.net = (__u64)BPF_CORE_READ(task, nsproxy, net_ns);
	walk.at = walk.net;
	walk.end = walk.net + bpf_core_field_offset(struct net, list);
	repeat(WALK_MOST, device_step, &walk, DEVICES_OLD);
	walk_ended(&walk);
}

#endif
