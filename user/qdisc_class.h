/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The classes of the qdiscs of a network namespace as the kernel tells them
 * over netlink (RTM_GETTCLASS): how they are set, what hangs in them, and the
 * kernel's own counters.
 */
#ifndef SOJOURN_QDISC_CLASS_H
#define SOJOURN_QDISC_CLASS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "qdisc_tree.h"

/*
 * TCA_XSTATS of an htb class (sch_htb.c, htb_charge_class). A packet that a
 * class sends counts once: as lent by the class whose rate paid for it, and as
 * borrowed by every class below that one. All count skbs and wrap at 2^32.
 */
struct htb_counters {
	__u32 lends;
	__u32 borrows;
	__u32 giants;
	__s64 tokens_ns;	/* of rate, as they were at its last packet; below 0: used up */
	__s64 ctokens_ns;	/* the same of ceil */
};

/* TCA_XSTATS of an hfsc class. */
struct hfsc_counters {
	__u64 work;		/* bytes */
	__u64 rtwork;		/* of them those that the rt curve let out */
	__u32 period;
	__u32 level;
};

struct class_info {
	__u32 netns;		/* inode number of the namespace */
	__u32 ifindex;
	char kind[16];		/* of its qdisc */
	__u32 classid;		/* of hfsc's root class: its qdisc's handle */
	__u32 parent;		/* a class, its qdisc's handle, or TC_H_ROOT */
	bool has_leaf;		/* a qdisc hangs in it */
	__u32 leaf;		/* that qdisc's handle, 0 where the kernel made it (0:) */
	struct qdisc_option options[QDISC_OPTIONS_MAX];
	unsigned int option_count;
	struct qdisc_kernel_counters kernel;
	bool have_htb, have_hfsc;
	struct htb_counters htb;
	struct hfsc_counters hfsc;
};

struct qdisc_classes {
	struct class_info *classes;
	size_t count;
	__u64 time_ns;		/* CLOCK_MONOTONIC, when the last dump ended */
};

/*
 * Add the classes of the network namespace behind netns_fd (-1: the one that we
 * are in) to classes, of every device that has a qdisc in tree, which must have
 * been read for that namespace before. What fq_codel, sfq, cake and others show
 * as classes are their flows; they are left out, as every class of a kind whose
 * classes nobody sets up, unless a qdisc of tree hangs in it.
 * Returns 0, or -1 with error filled; classes is unchanged then.
 */
int qdisc_classes_read(struct qdisc_classes *classes, const struct qdisc_tree *tree, int netns_fd,
		       struct error *error);

/*
 * One RTM_NEWTCLASS message: all but netns and has_leaf, which it does not
 * tell. Returns 0, or -1 with errno EBADMSG where it is none.
 */
int class_info_parse(struct class_info *info, const struct nlmsghdr *header);

/*
 * Leave out the classes that are flows, and give the others their leaf: the
 * qdisc of tree whose parent is the class.
 */
void qdisc_classes_join(struct qdisc_classes *classes, const struct qdisc_tree *tree);

/* Whether the kind has classes of which each can hold another qdisc: not tbf, netem, fq_codel. */
bool qdisc_kind_has_classes(const char *kind);

/* The class with that identity, or NULL. Owned by classes, which may be NULL. */
const struct class_info *qdisc_class_find(const struct qdisc_classes *classes, __u32 netns,
					  __u32 ifindex, __u32 classid);

/* The class above, NULL where it hangs in its qdisc. Owned by classes. */
const struct class_info *qdisc_class_parent(const struct qdisc_classes *classes,
					    const struct class_info *class);

/* Free what classes holds; the structure itself is the caller's. */
void qdisc_classes_free(struct qdisc_classes *classes);

#endif
