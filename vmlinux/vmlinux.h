/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel types that the programs read, cut down to the fields that they
 * read. Offsets come from the running kernel's BTF (CO-RE), so that neither
 * order nor the fields left out matter; only names and types do.
 */
#ifndef SOJOURN_VMLINUX_H
#define SOJOURN_VMLINUX_H

/* bpf_tracing.h asks for this to take the kernel's names of registers. */
#define __VMLINUX_H__

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u16 __sum16;
typedef _Bool bool;

enum {
	false = 0,
	true = 1,
};

/* bpf_helper_defs.h speaks of map types by these names. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_F_MMAPABLE = 1 << 10,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
};

/* include/net/sch_generic.h */
enum qdisc_state_t {
	__QDISC_STATE_SCHED,
	__QDISC_STATE_DEACTIVATED,
};

/* include/net/dropreason-core.h; the values differ between kernels */
enum skb_drop_reason {
	SKB_DROP_REASON_NOT_SPECIFIED = 2,
	SKB_DROP_REASON_QDISC_DROP = 3,
	SKB_DROP_REASON_QDISC_OVERLIMIT = 4,
	SKB_DROP_REASON_QDISC_CONGESTED = 5,
};

/* arch/x86/include/asm/ptrace.h: what a kprobe is given. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

/* include/net/dropreason-qdisc.h, since 7.0: reasons of their own, from the first to the last */
enum qdisc_drop_reason {
	__QDISC_DROP_REASON = 1 << 16,
	QDISC_DROP_MAX = (1 << 16) + 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct list_head list;		/* all namespaces */
	struct list_head dev_base_head;
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct netdev_queue;

struct net_device {
	struct netdev_queue *_tx;
	unsigned int num_tx_queues;
	unsigned int real_num_tx_queues;
	struct list_head dev_list;
	struct Qdisc *qdisc;
	struct hlist_head qdisc_hash[16];
	int ifindex;
	char name[16];
	possible_net_t nd_net;
};

struct Qdisc;

struct netdev_queue {
	struct net_device *dev;
	struct Qdisc *qdisc;
	struct Qdisc *qdisc_sleeping;	/* also while the device is down */
};

struct gnet_stats_queue {
	__u32 qlen;
	__u32 backlog;
	__u32 drops;
	__u32 requeues;
};

/* A 64-bit counter, read as a whole. */
typedef struct {
	u64 v;
} u64_stats_t;

struct gnet_stats_basic_sync {
	u64_stats_t bytes;
	u64_stats_t packets;
};

struct qdisc_skb_head {
	__u32 qlen;
};

struct sk_buff;

struct sk_buff_head {
	struct sk_buff *next;
};

struct Qdisc_class_ops {
	int (*graft)(struct Qdisc *, unsigned long, struct Qdisc *, struct Qdisc **, void *);
};

struct Qdisc_ops {
	const struct Qdisc_class_ops *cl_ops;
	char id[16];
	struct sk_buff *(*peek)(struct Qdisc *);
};

struct Qdisc {
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	unsigned int flags;
	const struct Qdisc_ops *ops;
	u32 handle;
	u32 parent;
	struct hlist_node hash;
	struct netdev_queue *dev_queue;
	struct sk_buff_head gso_skb;
	struct qdisc_skb_head q;
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_queue qstats;
	unsigned long state;
};

struct sk_buff {
	struct sk_buff *next;
	s64 tstamp;
	struct net_device *dev;
	char cb[48];
	unsigned int len;
	unsigned int data_len;
	__u16 queue_mapping;
	__u8 encapsulation: 1;
	__u8 pkt_type: 3;
	__be16 protocol;
	__u16 inner_network_header;
	__u16 network_header;
	__u16 mac_header;
	unsigned int end;
	unsigned char *head;
	unsigned char *data;
};

/* skb_frag_t, whose fields have had several names: of the same layout since 5.4. */
struct skb_fragment {
	unsigned long page;
	unsigned int len;
	unsigned int offset;
};

/* include/net/sch_generic.h: how a qdisc uses skb->cb. */
struct qdisc_skb_cb {
	unsigned char data[20];
};

struct skb_shared_info {
	__u8 nr_frags;
	unsigned short gso_size;
	unsigned short gso_segs;
	struct skb_fragment frags[17];
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct dst_entry {
	struct net_device *dev;
};

struct sock {
	struct sock_common __sk_common;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 srtt_us;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 total_retrans;
	u32 mss_cache;
	u64 bytes_acked;
};

struct tcp_skb_cb {
	__u32 seq;
	__u32 end_seq;
};

/* Since 6.19: skbs that other CPUs left for the one that owns the qdisc (net/core/dev.c, __dev_xmit_skb()). */
struct llist_head {
	void *first;
};

struct Qdisc___since_6_19 {
	struct llist_head defer_list;
};

/* Before 5.16 the counters were plain numbers. */
struct gnet_stats_basic_packed___before_5_16 {
	__u64 packets;
};

struct Qdisc___before_5_16 {
	struct gnet_stats_basic_packed___before_5_16 bstats;
};

#pragma clang attribute pop

#endif
