/* SPDX-License-Identifier: GPL-2.0 */
/* From the address of a struct Qdisc to its record. */
#ifndef SOJOURN_QDISC_BPF_H
#define SOJOURN_QDISC_BPF_H

#include "address.bpf.h"
#include "config.bpf.h"
#include "histogram.bpf.h"
#include "kernel.bpf.h"
#include "packets.bpf.h"
#include "sojourn/qdisc_record.h"

/* include/net/sch_generic.h */
#define TCQ_F_BUILTIN		1
#define TCQ_F_CAN_BYPASS	4
#define TCQ_F_CPUSTATS		0x20
#define TCQ_F_NOLOCK		0x100

#define QDISC_IGNORED		(~0u)	/* not wanted, or no queue at all */
#define DEPTH_UNKNOWN		0xff	/* a child whose parent was not seen yet */

/* Sizes are set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct qdisc_record);
} qdisc_records SEC(".maps");

/* Bank b of record r is entry r * QDISC_BANKS + b. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct qdisc_bank);
} qdisc_banks SEC(".maps");

/* Indices of records that no qdisc has had yet. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} free_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u32);
} qdisc_ids SEC(".maps");

/*
 * Where a qdisc's record was found last, 1 + its index: asked before qdisc_ids, as that
 * costs a call. It may be wrong: the record itself tells (qdisc_hint()).
 */
#define QDISC_HINT_BITS	14
__u32 qdisc_hints[1 << QDISC_HINT_BITS];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} wanted_netns SEC(".maps");

struct device_name {
	char text[QDISC_DEVICE_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct device_name);
	__type(value, __u8);
} wanted_devices SEC(".maps");

static __always_inline struct qdisc_record *qdisc_record(__u32 id)
{
	return bpf_map_lookup_elem(&qdisc_records, &id);
}

static __always_inline struct qdisc_bank *qdisc_bank(__u32 id)
{
	__u32 entry = id * QDISC_BANKS + (slice % QDISC_BANKS);

	return bpf_map_lookup_elem(&qdisc_banks, &entry);
}

static __always_inline bool qdisc_is_nolock(const struct qdisc_record *record)
{
	return record->flags & TCQ_F_NOLOCK;
}

/* The backlog of a qdisc with per-CPU statistics is counted here: the sum over CPUs costs too much. */
static __always_inline bool qdisc_counts_per_cpu(const struct qdisc_record *record)
{
	return record->flags & (TCQ_F_NOLOCK | TCQ_F_CPUSTATS);
}

/* Does this kernel let one CPU enqueue what another one was given? */
static __always_inline bool enqueue_is_deferred(void)
{
	return bpf_core_field_exists(struct Qdisc___since_6_19, defer_list);
}

static __always_inline bool netns_wanted(__u32 netns, __u8 what)
{
	__u8 *wanted;

	if (!filter_netns)
		return true;
	wanted = bpf_map_lookup_elem(&wanted_netns, &netns);
	return wanted && *wanted & what;
}

static bool qdisc_wanted(const struct Qdisc *qdisc, const struct net_device *dev)
{
	struct device_name name = {};

	/* noqueue has no enqueue; noop and noqueue are built in and shared (sch_generic.c) */
	if (!BPF_CORE_READ(qdisc, enqueue) || BPF_CORE_READ(qdisc, flags) & TCQ_F_BUILTIN)
		return false;
	if (!netns_wanted(BPF_CORE_READ(dev, nd_net.net, ns.inum), WANTED_QDISCS))
		return false;
	if (!filter_devices)
		return true;
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), dev->name);
	return bpf_map_lookup_elem(&wanted_devices, &name);
}

/* Is it a root: of one tx queue, or of all? Also while the device is down. */
static __always_inline bool qdisc_is_root(const struct Qdisc *qdisc)
{
	return BPF_CORE_READ(qdisc, dev_queue, qdisc_sleeping) == qdisc;
}

/* bstats.packets, whatever the kernel makes of it. */
static __always_inline __u64 qdisc_kernel_packets(__u64 qdisc_address)
{
	__u64 at = qdisc_address, packets = 0;

	if (bpf_core_type_exists(struct gnet_stats_basic_sync))
		at += bpf_core_field_offset(struct Qdisc, bstats.packets);
	else
		at += bpf_core_field_offset(struct Qdisc___before_5_16, bstats.packets);
	bpf_probe_read_kernel(&packets, sizeof(packets), (void *)at);
	return packets;
}

/* size: of name, its end included */
static __always_inline bool kind_is(const char *kind, const char *name, const __u32 size)
{
	__u32 i;

	for (i = 0; i < size; i++)
		if (kind[i] != name[i])
			return false;
	return true;
}

/* They hold a packet until the time that it came with (net/sched/sch_fq.c, sch_etf.c). */
static __always_inline bool kind_paces(const char *kind)
{
	return kind_is(kind, "fq", 3) || kind_is(kind, "etf", 4);
}

static void qdisc_describe(struct qdisc_record *record, const struct Qdisc *qdisc,
			   const struct net_device *dev, __u32 queue)
{
	record->qdisc = (__u64)qdisc;
	record->first_seen_ns = bpf_ktime_get_ns();
	record->netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	record->ifindex = BPF_CORE_READ(dev, ifindex);
	record->handle = BPF_CORE_READ(qdisc, handle);
	record->parent = BPF_CORE_READ(qdisc, parent);
	record->queue = queue;
	record->flags = BPF_CORE_READ(qdisc, flags);
	record->depth = qdisc_is_root(qdisc) ? 0 : DEPTH_UNKNOWN;
	record->enqueue = (__u64)BPF_CORE_READ(qdisc, enqueue);
	record->dequeue = (__u64)BPF_CORE_READ(qdisc, dequeue);
	record->peek = (__u64)BPF_CORE_READ(qdisc, ops, peek);
	bpf_probe_read_kernel_str(record->kind, sizeof(record->kind),
				  BPF_CORE_READ(qdisc, ops, id));
	/* the record may have lost a race for another qdisc before */
	record->traits = 0;
	if (BPF_CORE_READ(qdisc, ops, cl_ops) && BPF_CORE_READ(qdisc, ops, cl_ops, graft))
		record->traits |= QDISC_IS_PARENT;
	else if (kind_paces(record->kind))
		record->traits |= QDISC_PACES;
	bpf_probe_read_kernel_str(record->device, sizeof(record->device), dev->name);
	record->kernel_requeues_base = BPF_CORE_READ(qdisc, qstats.requeues);
	record->backlog_at_ns = record->first_seen_ns;
	if (qdisc_counts_per_cpu(record))
		return;
	record->backlog_packets = BPF_CORE_READ(qdisc, q.qlen);
	record->backlog_bytes = BPF_CORE_READ(qdisc, qstats.backlog);
}

/* A qdisc that was not seen before: give it a record, or note that it is not wanted. */
__noinline __u32 qdisc_first_sight(__u64 qdisc_address, __u64 dev_address, __u32 queue)
{
	const struct net_device *dev = (const struct net_device *)dev_address;
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;
	struct qdisc_record *record;
	__u32 id = QDISC_IGNORED;
	__u32 *winner;

	if (qdisc_wanted(qdisc, dev)) {
		if (bpf_map_pop_elem(&free_records, &id)) {
			count(&losses.records_full, 1);
			return QDISC_IGNORED;
		}
		record = qdisc_record(id);
		if (!record)
			return QDISC_IGNORED;
		qdisc_describe(record, qdisc, dev, queue);
		histogram_want(record, HISTOGRAM_SOJOURN);
		if (record->traits & QDISC_PACES || (functions && record->traits & QDISC_IS_PARENT))
			histogram_want(record, HISTOGRAM_PART);
		record->root = id;
	}
	if (!bpf_map_update_elem(&qdisc_ids, &qdisc_address, &id, BPF_NOEXIST))
		return id;
	/* Another CPU was first, or the map is full. */
	if (id != QDISC_IGNORED) {
		record = qdisc_record(id);
		if (record) {
			record->qdisc = 0;
			histograms_return(record);
		}
		bpf_map_push_elem(&free_records, &id, BPF_ANY);
	}
	winner = bpf_map_lookup_elem(&qdisc_ids, &qdisc_address);
	if (winner)
		return *winner;
	count(&losses.records_full, 1);
	return QDISC_IGNORED;
}

static __always_inline __u32 *qdisc_hint(__u64 qdisc)
{
	__u32 at = qdisc * 0x9e3779b97f4a7c15ULL >> (64 - QDISC_HINT_BITS);

	barrier_var(at);
	return &qdisc_hints[at & ((1 << QDISC_HINT_BITS) - 1)];
}

/* Record index of a qdisc that was seen before, QDISC_IGNORED where it is not wanted. */
static __always_inline bool qdisc_find(__u64 qdisc, __u32 *id)
{
	__u32 *hint = qdisc_hint(qdisc), *known;
	const struct qdisc_record *record;

	*id = *(volatile __u32 *)hint - 1;
	record = qdisc_record(*id);
	if (record && record->qdisc == qdisc && !record->destroyed_ns)
		return true;
	known = bpf_map_lookup_elem(&qdisc_ids, &qdisc);
	if (!known)
		return false;
	*id = *known;
	if (*id != QDISC_IGNORED)
		*hint = *id + 1;
	return true;
}

/* Record index of a qdisc, or QDISC_IGNORED. */
static __always_inline __u32 qdisc_id(__u64 qdisc, __u64 dev, __u32 queue)
{
	__u32 id;

	if (qdisc_find(qdisc, &id))
		return id;
	return qdisc_first_sight(qdisc, address_number((void *)dev, CELL_FIRST_DEVICE), queue);
}

/* The same where only the qdisc is known. */
__noinline __u32 qdisc_first_sight_by_address(__u64 qdisc_address)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;
	__u64 queue = (__u64)BPF_CORE_READ(qdisc, dev_queue), queues;
	const struct net_device *dev = BPF_CORE_READ(qdisc, dev_queue, dev);

	queues = (__u64)BPF_CORE_READ(dev, _tx);
	return qdisc_first_sight(qdisc_address, (__u64)dev,
				 (queue - queues) / bpf_core_type_size(struct netdev_queue));
}

/* Record of a qdisc that may not have been seen before. */
static __always_inline __u32 qdisc_id_by_address(__u64 qdisc_address)
{
	__u32 id;

	return qdisc_find(qdisc_address, &id) ? id : qdisc_first_sight_by_address(qdisc_address);
}

/* The same for one that must have been seen when its first packet was offered. */
static __always_inline __u32 qdisc_known_id(__u64 qdisc)
{
	__u32 id;

	return qdisc_find(qdisc, &id) ? id : QDISC_IGNORED;
}

/* Of so many requeues that the kernel counted: those that were not handed out again yet. */
static __always_inline __s32 requeues_outstanding_of(const struct qdisc_record *record,
						     __u32 kernel_requeues)
{
	return kernel_requeues - record->kernel_requeues_base - (__u32)record->counters.requeued;
}

static __always_inline __s32 requeues_outstanding(const struct qdisc_record *record)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)record->qdisc;

	return requeues_outstanding_of(record, BPF_CORE_READ(qdisc, qstats.requeues));
}

/* The same within a hand-out of a root. */
static __always_inline __s32 requeues_outstanding_now(const struct qdisc_record *record)
{
	return requeues_outstanding_of(record, record->kernel_requeues);
}

static __always_inline void backlog_max(struct qdisc_bank *bank, __s64 bytes, __s64 packets)
{
	if (bytes > 0 && (__u64)bytes > bank->backlog_bytes_max)
		bank->backlog_bytes_max = bytes;
	if (packets > 0 && (__u64)packets > bank->backlog_packets_max)
		bank->backlog_packets_max = packets;
}

/* Take note of the backlog as it is from now on, under the root lock. */
static __always_inline void backlog_set(struct qdisc_record *record, struct qdisc_bank *bank,
					__s64 bytes, __s64 packets, __u64 now)
{
	__s64 elapsed = now - record->backlog_at_ns;

	record->sequence++;
	barrier();
	if (elapsed > 0) {
		if (record->backlog_bytes > 0)
			record->backlog_byte_ns += record->backlog_bytes * elapsed;
		if ((__s32)record->backlog_packets > 0)
			record->backlog_packet_ns += record->backlog_packets * elapsed;
		record->backlog_at_ns = now;
	}
	record->backlog_bytes = bytes;
	record->backlog_packets = packets;
	barrier();
	record->sequence++;
	backlog_max(bank, bytes, packets);
}

/* The same, where only the address of the qdisc is known. */
static __always_inline void backlog_read(struct qdisc_record *record, struct qdisc_bank *bank,
					 __u64 qdisc_address, __u64 now)
{
	const struct Qdisc *qdisc = (const struct Qdisc *)qdisc_address;

	backlog_set(record, bank, BPF_CORE_READ(qdisc, qstats.backlog),
		    BPF_CORE_READ(qdisc, q.qlen), now);
}

/*
 * The same for a change that comes without a lock, in a qdisc whose own counters
 * are per CPU: where two CPUs meet, the integral is off by the time between them.
 */
static __always_inline void backlog_change(struct qdisc_record *record, struct qdisc_bank *bank,
					   __s64 bytes, __s32 packets, __u64 now)
{
	__s64 elapsed = now - exchange_u64(&record->backlog_at_ns, now);
	__s64 old_bytes = fetch_and_add_s64(&record->backlog_bytes, bytes);
	__s32 old_packets = fetch_and_add_s32(&record->backlog_packets, packets);

	if (elapsed > 0 && old_bytes > 0)
		__sync_fetch_and_add(&record->backlog_byte_ns, old_bytes * elapsed);
	if (elapsed > 0 && old_packets > 0)
		__sync_fetch_and_add(&record->backlog_packet_ns, old_packets * elapsed);
	backlog_max(bank, old_bytes + bytes, old_packets + packets);
}

/* A packet was handed on now, after so long; bank is of the present slice. */
static __always_inline void record_measured(__u32 id, struct qdisc_record *record,
					    struct qdisc_bank *bank, __u64 sojourn,
					    __u32 packets, __u32 len, __u64 now)
{
	histogram_add(record, bank, HISTOGRAM_SOJOURN, sojourn, packets);
	record->counters.measured_packets += packets;
	record->counters.measured_skbs++;
	record->counters.bytes += len;
	packet_tell(id, PACKET_MEASURED, sojourn, packets, len, now);
}

#endif
