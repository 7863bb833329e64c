// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "clock.h"
#include "netlink.h"
#include "netns.h"
#include "qdisc_options.h"
#include "qdisc_tree.h"

/* What a dump collects. */
struct dump {
	struct qdisc_tree tree;
	size_t before;		/* qdiscs from dumps that have ended */
	size_t room;
	__u32 netns;
	const char *netns_name;
};

static void take_basic(struct qdisc_kernel_counters *kernel, const struct nlattr *attribute)
{
	struct gnet_stats_basic basic;

	if (mnl_attr_get_payload_len(attribute) < offsetof(struct gnet_stats_basic, packets) +
						  sizeof(basic.packets))
		return;
	memset(&basic, 0, sizeof(basic));
	memcpy(&basic, mnl_attr_get_payload(attribute),
	       offsetof(struct gnet_stats_basic, packets) + sizeof(basic.packets));
	kernel->bytes = basic.bytes;
	kernel->packets = basic.packets;
}

static void take_queue(struct qdisc_kernel_counters *kernel, const struct nlattr *attribute)
{
	struct gnet_stats_queue queue;

	if (mnl_attr_get_payload_len(attribute) < sizeof(queue))
		return;
	memcpy(&queue, mnl_attr_get_payload(attribute), sizeof(queue));
	kernel->backlog_packets = queue.qlen;
	kernel->backlog_bytes = queue.backlog;
	kernel->drops = queue.drops;
	kernel->requeues = queue.requeues;
	kernel->overlimits = queue.overlimits;
}

/*
 * TCA_STATS_BASIC has the low 32 bits of the packet count; the kernel adds
 * TCA_STATS_PKT64 behind it where they are not all (net/core/gen_stats.c,
 * ___gnet_stats_copy_basic).
 */
static int take_statistic(const struct nlattr *attribute, void *data)
{
	struct qdisc_kernel_counters *kernel = data;

	switch (mnl_attr_get_type(attribute)) {
	case TCA_STATS_BASIC:
		take_basic(kernel, attribute);
		break;
	case TCA_STATS_PKT64:
		if (mnl_attr_get_payload_len(attribute) >= sizeof(__u64))
			kernel->packets = mnl_attr_get_u64(attribute);
		break;
	case TCA_STATS_QUEUE:
		take_queue(kernel, attribute);
		break;
	}
	return MNL_CB_OK;
}

void qdisc_counters_parse(struct qdisc_kernel_counters *kernel, const struct nlattr *statistics)
{
	mnl_attr_parse_nested(statistics, take_statistic, kernel);
}

int qdisc_info_parse(struct qdisc_info *info, const struct nlmsghdr *header)
{
	const struct nlattr *attribute, *options = NULL;
	const struct tcmsg *message;

	memset(info, 0, sizeof(*info));
	if (header->nlmsg_type != RTM_NEWQDISC ||
	    mnl_nlmsg_get_payload_len(header) < sizeof(*message)) {
		errno = EBADMSG;
		return -1;
	}
	message = mnl_nlmsg_get_payload(header);
	info->ifindex = message->tcm_ifindex;
	info->handle = message->tcm_handle;
	info->parent = message->tcm_parent;
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
		}
	}
	if (options)
		qdisc_options_decode(info, options);
	return 0;
}

static int take_qdisc(const struct nlmsghdr *header, void *data)
{
	struct dump *dump = data;
	struct qdisc_info *qdiscs, *info;

	if (header->nlmsg_type != RTM_NEWQDISC)
		return MNL_CB_OK;
	qdiscs = array_grow(dump->tree.qdiscs, dump->tree.count, &dump->room, sizeof(*qdiscs));
	if (!qdiscs)
		return MNL_CB_ERROR;
	dump->tree.qdiscs = qdiscs;
	info = &qdiscs[dump->tree.count];
	if (qdisc_info_parse(info, header))
		return MNL_CB_ERROR;
	info->netns = dump->netns;
	info->invisible = true;
	snprintf(info->netns_name, sizeof(info->netns_name), "%s", dump->netns_name);
	dump->tree.count++;
	return MNL_CB_OK;
}

/* A qdisc that is in a plain dump too is visible. */
static int take_visible(const struct nlmsghdr *header, void *data)
{
	const struct tcmsg *message = mnl_nlmsg_get_payload(header);
	struct dump *dump = data;
	size_t i;

	if (header->nlmsg_type != RTM_NEWQDISC)
		return MNL_CB_OK;
	for (i = 0; i < dump->tree.count; i++) {
		struct qdisc_info *info = &dump->tree.qdiscs[i];

		if (info->ifindex == (__u32)message->tcm_ifindex &&
		    info->parent == message->tcm_parent && info->handle == message->tcm_handle)
			info->invisible = false;
	}
	return MNL_CB_OK;
}

/* Give the device's name to its qdiscs. */
static int take_link(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *message = mnl_nlmsg_get_payload(header);
	const struct nlattr *attribute;
	struct dump *dump = data;
	size_t i;

	if (header->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	mnl_attr_for_each(attribute, header, sizeof(*message)) {
		if (mnl_attr_get_type(attribute) != IFLA_IFNAME)
			continue;
		for (i = 0; i < dump->tree.count; i++) {
			struct qdisc_info *info = &dump->tree.qdiscs[i];

			if (info->ifindex == (__u32)message->ifi_index)
				netlink_copy_text(info->device, sizeof(info->device), attribute);
		}
	}
	return MNL_CB_OK;
}

/* Leave out the qdiscs of devices that went away between the two dumps. */
static void drop_nameless(struct qdisc_tree *tree)
{
	size_t i, kept = 0;

	for (i = 0; i < tree->count; i++) {
		if (tree->qdiscs[i].device[0])
			tree->qdiscs[kept++] = tree->qdiscs[i];
	}
	tree->count = kept;
}

static void begin_dump(void *data)
{
	struct dump *dump = data;

	dump->tree.count = dump->before;
}

/*
 * The kernel leaves out qdiscs that another qdisc made unless it is asked for
 * them, and does not mark them in the answer (net/sched/sch_api.c,
 * tc_qdisc_dump_ignore, tc_fill_qdisc): two dumps tell which they are.
 */
static int dump_qdiscs(struct netlink *netlink, struct dump *dump, struct error *error)
{
	struct nlmsghdr *header = netlink_message(netlink, RTM_GETQDISC, NLM_F_DUMP);

	mnl_nlmsg_put_extra_header(header, sizeof(struct tcmsg));
	mnl_attr_put(header, TCA_DUMP_INVISIBLE, 0, NULL);
	if (netlink_dump(netlink, take_qdisc, begin_dump, dump, "read the qdiscs", error))
		return -1;
	dump->before = dump->tree.count;
	dump->tree.time_ns = clock_ns(CLOCK_MONOTONIC);
	header = netlink_message(netlink, RTM_GETQDISC, NLM_F_DUMP);
	mnl_nlmsg_put_extra_header(header, sizeof(struct tcmsg));
	return netlink_dump(netlink, take_visible, begin_dump, dump, "read the visible qdiscs",
			    error);
}

static int dump_links(struct netlink *netlink, struct dump *dump, struct error *error)
{
	struct nlmsghdr *header = netlink_message(netlink, RTM_GETLINK, NLM_F_DUMP);

	mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
	mnl_attr_put_u32(header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	return netlink_dump(netlink, take_link, begin_dump, dump, "read the devices", error);
}

static int append(struct qdisc_tree *tree, const struct dump *dump, struct error *error)
{
	struct qdisc_info *qdiscs;

	if (dump->tree.count) {
		qdiscs = realloc(tree->qdiscs, (tree->count + dump->tree.count) * sizeof(*qdiscs));
		if (!qdiscs)
			return error_set_errno(error, EXIT_CANNOT, "cannot keep the qdiscs");
		memcpy(qdiscs + tree->count, dump->tree.qdiscs,
		       dump->tree.count * sizeof(*qdiscs));
		tree->qdiscs = qdiscs;
		tree->count += dump->tree.count;
	}
	tree->time_ns = dump->tree.time_ns;
	return 0;
}

int qdisc_tree_read(struct qdisc_tree *tree, int netns_fd, const char *netns_name,
		    struct error *error)
{
	struct dump dump = { .netns_name = netns_name ? netns_name : "" };
	struct netlink *netlink;
	int status = -1;

	dump.netns = netns_identify(netns_fd, error);
	if (!dump.netns)
		return -1;
	netlink = netlink_open(netns_fd, error);
	if (!netlink)
		return -1;
	if (dump_qdiscs(netlink, &dump, error) || dump_links(netlink, &dump, error))
		goto out;
	drop_nameless(&dump.tree);
	status = append(tree, &dump, error);
out:
	netlink_close(netlink);
	free(dump.tree.qdiscs);
	return status;
}

const struct qdisc_info *qdisc_tree_find(const struct qdisc_tree *tree, __u32 netns,
					 __u32 ifindex, __u32 parent, __u32 handle)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct qdisc_info *info = &tree->qdiscs[i];

		if (info->netns == netns && info->ifindex == ifindex && info->parent == parent &&
		    info->handle == handle)
			return info;
	}
	return NULL;
}

void qdisc_tree_free(struct qdisc_tree *tree)
{
	free(tree->qdiscs);
	memset(tree, 0, sizeof(*tree));
}

const char *qdisc_handle_text(__u32 handle, char text[16])
{
	if (TC_H_MIN(handle))
		snprintf(text, 16, "%x:%x", TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
	else
		snprintf(text, 16, "%x:", TC_H_MAJ(handle) >> 16);
	return text;
}
