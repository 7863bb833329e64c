// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "clock.h"
#include "netlink.h"
#include "netns.h"
#include "qdisc_class.h"
#include "qdisc_options.h"

/* PSCHED_SHIFT of include/net/pkt_sched.h. */
#define NS_PER_TICK	64

/* What the dumps collect. */
struct dump {
	struct qdisc_classes found;
	size_t before;		/* classes from dumps that have ended */
	size_t room;
	__u32 netns;
};

bool qdisc_kind_has_classes(const char *kind)
{
	static const char *const kinds[] = {
		"htb", "hfsc", "drr", "qfq", "ets", "prio", "multiq", "mq", "mqprio", "taprio",
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i], kind))
			return true;
	}
	return false;
}

static void take_htb(struct class_info *info, const struct nlattr *attribute)
{
	struct tc_htb_xstats xstats;

	if (mnl_attr_get_payload_len(attribute) < sizeof(xstats))
		return;
	memcpy(&xstats, mnl_attr_get_payload(attribute), sizeof(xstats));
	info->have_htb = true;
	info->htb = (struct htb_counters){
		.lends = xstats.lends,
		.borrows = xstats.borrows,
		.giants = xstats.giants,
		.tokens_ns = (__s64)xstats.tokens * NS_PER_TICK,
		.ctokens_ns = (__s64)xstats.ctokens * NS_PER_TICK,
	};
}

static void take_hfsc(struct class_info *info, const struct nlattr *attribute)
{
	struct tc_hfsc_stats xstats;

	if (mnl_attr_get_payload_len(attribute) < sizeof(xstats))
		return;
	memcpy(&xstats, mnl_attr_get_payload(attribute), sizeof(xstats));
	info->have_hfsc = true;
	info->hfsc = (struct hfsc_counters){
		.work = xstats.work,
		.rtwork = xstats.rtwork,
		.period = xstats.period,
		.level = xstats.level,
	};
}

static void take_own_statistics(struct class_info *info, const struct nlattr *attribute)
{
	if (!strcmp(info->kind, "htb"))
		take_htb(info, attribute);
	else if (!strcmp(info->kind, "hfsc"))
		take_hfsc(info, attribute);
}

int class_info_parse(struct class_info *info, const struct nlmsghdr *header)
{
	const struct nlattr *attribute, *options = NULL, *xstats = NULL;
	const struct tcmsg *message;

	memset(info, 0, sizeof(*info));
	if (header->nlmsg_type != RTM_NEWTCLASS ||
	    mnl_nlmsg_get_payload_len(header) < sizeof(*message)) {
		errno = EBADMSG;
		return -1;
	}
	message = mnl_nlmsg_get_payload(header);
	info->ifindex = message->tcm_ifindex;
	info->classid = message->tcm_handle;
	info->parent = message->tcm_parent;
	info->leaf = message->tcm_info;
	mnl_attr_for_each(attribute, header, sizeof(*message)) {
		switch (mnl_attr_get_type(attribute)) {
		case TCA_KIND:
			netlink_copy_text(info->kind, sizeof(info->kind), attribute);
			break;
		case TCA_OPTIONS:
			options = attribute;
			break;
		case TCA_STATS2:
			qdisc_counters_parse(&info->kernel, attribute);
			break;
		case TCA_XSTATS:
			xstats = attribute;
			break;
		}
	}
	if (options)
		qdisc_options_decode_class(info, options);
	if (xstats)
		take_own_statistics(info, xstats);
	return 0;
}

/* The qdisc that hangs in a class, or NULL. */
static const struct qdisc_info *leaf_of(const struct qdisc_tree *tree,
					const struct class_info *class)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct qdisc_info *qdisc = &tree->qdiscs[i];

		if (qdisc->netns == class->netns && qdisc->ifindex == class->ifindex &&
		    qdisc->parent == class->classid)
			return qdisc;
	}
	return NULL;
}

void qdisc_classes_join(struct qdisc_classes *classes, const struct qdisc_tree *tree)
{
	size_t i, kept = 0;

	for (i = 0; i < classes->count; i++) {
		struct class_info *class = &classes->classes[i];
		const struct qdisc_info *leaf = leaf_of(tree, class);

		if (!leaf && !qdisc_kind_has_classes(class->kind))
			continue;
		class->has_leaf = leaf;
		/* Not every kind tells it: an hfsc class that has children does not, red always. */
		if (leaf)
			class->leaf = leaf->handle;
		classes->classes[kept++] = *class;
	}
	classes->count = kept;
}

static int take_class(const struct nlmsghdr *header, void *data)
{
	struct dump *dump = data;
	struct class_info *classes, *info;

	if (header->nlmsg_type != RTM_NEWTCLASS)
		return MNL_CB_OK;
	classes = array_grow(dump->found.classes, dump->found.count, &dump->room,
			     sizeof(*classes));
	if (!classes)
		return MNL_CB_ERROR;
	dump->found.classes = classes;
	info = &classes[dump->found.count];
	if (class_info_parse(info, header))
		return MNL_CB_ERROR;
	info->netns = dump->netns;
	dump->found.count++;
	return MNL_CB_OK;
}

static void begin_dump(void *data)
{
	struct dump *dump = data;

	dump->found.count = dump->before;
}

/* A device that is gone gives no class and no error (net/sched/sch_api.c, tc_dump_tclass). */
static int dump_device(struct netlink *netlink, struct dump *dump, __u32 ifindex,
		       struct error *error)
{
	struct nlmsghdr *header = netlink_message(netlink, RTM_GETTCLASS, NLM_F_DUMP);
	struct tcmsg *message = mnl_nlmsg_put_extra_header(header, sizeof(*message));

	message->tcm_ifindex = ifindex;
	if (netlink_dump(netlink, take_class, begin_dump, dump, "read the classes", error))
		return -1;
	dump->found.time_ns = clock_ns(CLOCK_MONOTONIC);
	dump->before = dump->found.count;
	return 0;
}

/* Whether the i-th qdisc is the first one of its device in this namespace. */
static bool opens_device(const struct qdisc_tree *tree, size_t i, __u32 netns)
{
	size_t j;

	if (tree->qdiscs[i].netns != netns)
		return false;
	for (j = 0; j < i; j++) {
		if (tree->qdiscs[j].netns == netns &&
		    tree->qdiscs[j].ifindex == tree->qdiscs[i].ifindex)
			return false;
	}
	return true;
}

static int append(struct qdisc_classes *classes, const struct qdisc_classes *found,
		  struct error *error)
{
	struct class_info *all;

	if (found->count) {
		all = realloc(classes->classes, (classes->count + found->count) * sizeof(*all));
		if (!all)
			return error_set_errno(error, EXIT_CANNOT, "cannot keep the classes");
		memcpy(all + classes->count, found->classes, found->count * sizeof(*all));
		classes->classes = all;
		classes->count += found->count;
	}
	classes->time_ns = found->time_ns;
	return 0;
}

int qdisc_classes_read(struct qdisc_classes *classes, const struct qdisc_tree *tree, int netns_fd,
		       struct error *error)
{
	struct dump dump = { .netns = netns_identify(netns_fd, error) };
	struct netlink *netlink;
	int status = -1;
	size_t i;

	if (!dump.netns)
		return -1;
	netlink = netlink_open(netns_fd, error);
	if (!netlink)
		return -1;
	dump.found.time_ns = clock_ns(CLOCK_MONOTONIC);
	for (i = 0; i < tree->count; i++) {
		if (opens_device(tree, i, dump.netns) &&
		    dump_device(netlink, &dump, tree->qdiscs[i].ifindex, error))
			goto out;
	}
	qdisc_classes_join(&dump.found, tree);
	status = append(classes, &dump.found, error);
out:
	netlink_close(netlink);
	free(dump.found.classes);
	return status;
}

const struct class_info *qdisc_class_find(const struct qdisc_classes *classes, __u32 netns,
					  __u32 ifindex, __u32 classid)
{
	size_t i;

	for (i = 0; classes && i < classes->count; i++) {
		const struct class_info *class = &classes->classes[i];

		if (class->netns == netns && class->ifindex == ifindex &&
		    class->classid == classid)
			return class;
	}
	return NULL;
}

const struct class_info *qdisc_class_parent(const struct qdisc_classes *classes,
					    const struct class_info *class)
{
	if (class->parent == TC_H_ROOT || class->parent == class->classid ||
	    TC_H_MAJ(class->parent) != TC_H_MAJ(class->classid))
		return NULL;
	return qdisc_class_find(classes, class->netns, class->ifindex, class->parent);
}

void qdisc_classes_free(struct qdisc_classes *classes)
{
	free(classes->classes);
	memset(classes, 0, sizeof(*classes));
}
