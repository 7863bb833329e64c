/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdiscs of a network namespace as the kernel tells them over netlink
 * (RTM_GETQDISC): who they are, how they are set, and their own counters. These
 * counters are the second witness of the ledger and never come from BPF.
 */
#ifndef SOJOURN_QDISC_TREE_H
#define SOJOURN_QDISC_TREE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct nlattr;
struct nlmsghdr;

#define QDISC_OPTIONS_MAX	28

enum qdisc_option_unit {
	OPTION_BIT_PER_S,
	OPTION_BYTES,
	OPTION_PACKETS,
	OPTION_NS,
	OPTION_NUMBER,
	OPTION_HANDLE,		/* major:minor, shown in hexadecimal */
	OPTION_SIGNED,		/* an __s64 */
	OPTION_PER_BILLION,	/* a share: 10000000 is 1 % */
	OPTION_WORD,		/* a number that tc writes as a word: qdisc_option_text() */
	OPTION_PRIOMAP,		/* 16 bands of 4 bits, that of priority 0 lowest */
	OPTION_QUEUES,		/* count << 16 | first, as tc's count@first */
};

struct qdisc_option {
	const char *name;	/* as tc names it: "rate", "burst", "limit" */
	enum qdisc_option_unit unit;
	__u64 value;
};

/* TCA_STATS2: TCA_STATS_BASIC, TCA_STATS_PKT64, TCA_STATS_QUEUE. */
struct qdisc_kernel_counters {
	__u64 packets;		/* 64 bit */
	__u64 bytes;
	__u64 drops;
	__u64 requeues;
	__u64 overlimits;
	__u64 backlog_bytes;
	__u64 backlog_packets;
};

struct qdisc_info {
	__u32 netns;		/* inode number of the namespace */
	char netns_name[64];	/* "pl-router", or "" for the namespace we started in */
	__u32 ifindex;
	char device[16];
	char kind[16];
	__u32 handle;
	__u32 parent;		/* TC_H_ROOT for a root */
	bool invisible;		/* made by its parent, as tbf's bfifo: only in a dump that asks for it */
	struct qdisc_option options[QDISC_OPTIONS_MAX];
	unsigned int option_count;
	struct qdisc_kernel_counters kernel;
};

struct qdisc_tree {
	struct qdisc_info *qdiscs;
	size_t count;
	__u64 time_ns;		/* CLOCK_MONOTONIC, when the dump ended */
};

/*
 * Add every qdisc of the network namespace behind netns_fd (-1: the one that we
 * are in), the invisible ones too, to tree. netns_name is copied. A dump that
 * the kernel marks as interrupted (NLM_F_DUMP_INTR) is taken again.
 * Returns 0, or -1 with error filled; tree is unchanged then.
 */
int qdisc_tree_read(struct qdisc_tree *tree, int netns_fd, const char *netns_name,
		    struct error *error);

/*
 * One RTM_NEWQDISC message: all but netns, netns_name, device and invisible,
 * which it does not tell. Returns 0, or -1 with errno EBADMSG where it is none.
 */
int qdisc_info_parse(struct qdisc_info *info, const struct nlmsghdr *header);

/* A TCA_STATS2 attribute, of a qdisc or of a class. What it lacks stays as it was. */
void qdisc_counters_parse(struct qdisc_kernel_counters *kernel, const struct nlattr *statistics);

/* The qdisc with that identity, or NULL. Owned by tree. */
const struct qdisc_info *qdisc_tree_find(const struct qdisc_tree *tree, __u32 netns,
					 __u32 ifindex, __u32 parent, __u32 handle);

/* Free what tree holds; the structure itself is the caller's. */
void qdisc_tree_free(struct qdisc_tree *tree);

/* "10:" or "10:1" (tc writes handles in hexadecimal); returns text. */
const char *qdisc_handle_text(__u32 handle, char text[16]);

#endif
