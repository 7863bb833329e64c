// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "link.h"
#include "qdisc_set.h"

/* The unit of times in struct tc_ratespec's company: PSCHED_SHIFT of include/net/pkt_sched.h. */
#define NS_PER_TICK	64
#define NS_PER_SECOND	1000000000.0
#define WHAT_SIZE	160
/* As tc: the class's default burst is what a timer tick sends, and this. */
#define HTB_MTU		1600
#define TIMER_HZ	1000000000.0
#define DEFAULT_CLASS	0x10
#define R2Q		10
#define HTB_VERSION	3
/* As tc: a rate table would have cells of 8 bytes, so that 2047 bytes fit into 256 of them. */
#define CELL_LOG	3

/* Adds the kind's TCA_OPTIONS to the request. */
typedef void (*put_options_fn)(struct nlmsghdr *header, const struct qdisc_settings *settings);

struct qdisc_kind {
	const char *name;
	put_options_fn put_options;	/* NULL: none */
	bool needs_rate;
	bool needs_burst;
	bool needs_latency;
};

static double bytes_per_s(const struct qdisc_settings *settings)
{
	return settings->rate_bit_per_s / 8;
}

/* Time that size bytes take at the rate, in ticks. */
static double transmit_ticks(const struct qdisc_settings *settings, double size)
{
	return size / bytes_per_s(settings) * NS_PER_SECOND / NS_PER_TICK;
}

static double limit_bytes(const struct qdisc_settings *settings)
{
	return bytes_per_s(settings) * settings->latency_ns / NS_PER_SECOND +
	       settings->burst_bytes;
}

static double htb_burst(const struct qdisc_settings *settings)
{
	return settings->burst_bytes ? (double)settings->burst_bytes :
				       bytes_per_s(settings) / TIMER_HZ + HTB_MTU;
}

static void fill_rate(struct tc_ratespec *spec, const struct qdisc_settings *settings)
{
	__u64 rate = settings->rate_bit_per_s / 8;

	spec->rate = rate > 0xffffffffull ? 0xffffffffu : (__u32)rate;
	spec->linklayer = TC_LINKLAYER_ETHERNET;
	spec->cell_log = CELL_LOG;
	spec->cell_align = -1;
}

/* The kernel takes the 64-bit rate where the 32-bit one does not hold it. */
static void put_rate64(struct nlmsghdr *header, __u16 type, const struct qdisc_settings *settings)
{
	__u64 rate = settings->rate_bit_per_s / 8;

	if (rate > 0xffffffffull)
		mnl_attr_put_u64(header, type, rate);
}

static void put_tbf(struct nlmsghdr *header, const struct qdisc_settings *settings)
{
	struct tc_tbf_qopt parameters = { 0 };
	struct nlattr *options;

	fill_rate(&parameters.rate, settings);
	parameters.limit = limit_bytes(settings);
	parameters.buffer = transmit_ticks(settings, settings->burst_bytes);
	options = mnl_attr_nest_start(header, TCA_OPTIONS);
	mnl_attr_put(header, TCA_TBF_PARMS, sizeof(parameters), &parameters);
	mnl_attr_put_u32(header, TCA_TBF_BURST, settings->burst_bytes);
	put_rate64(header, TCA_TBF_RATE64, settings);
	mnl_attr_nest_end(header, options);
}

static void put_htb(struct nlmsghdr *header, const struct qdisc_settings *settings)
{
	const struct tc_htb_glob parameters = {
		.version = HTB_VERSION,
		.rate2quantum = R2Q,
		.defcls = DEFAULT_CLASS,
	};
	struct nlattr *options = mnl_attr_nest_start(header, TCA_OPTIONS);

	(void)settings;
	mnl_attr_put(header, TCA_HTB_INIT, sizeof(parameters), &parameters);
	mnl_attr_nest_end(header, options);
}

static void put_bfifo(struct nlmsghdr *header, const struct qdisc_settings *settings)
{
	const struct tc_fifo_qopt parameters = { .limit = limit_bytes(settings) };

	if (settings->rate_bit_per_s && settings->latency_ns)
		mnl_attr_put(header, TCA_OPTIONS, sizeof(parameters), &parameters);
}

static const struct qdisc_kind kinds[] = {
	{ "tbf", put_tbf, true, true, true },
	{ "htb", put_htb, true, false, false },
	{ "pfifo", NULL, false, false, false },
	{ "bfifo", put_bfifo, false, false, false },
	{ "pfifo_fast", NULL, false, false, false },
	{ "fq_codel", NULL, false, false, false },
};

const char *qdisc_kinds_text(void)
{
	return "tbf, htb, pfifo, bfifo, pfifo_fast, fq_codel";
}

static const struct qdisc_kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

static bool fits_32_bit(double value)
{
	return value < 4294967296.0;
}

static int check_values(const struct qdisc_settings *settings, struct error *error)
{
	const char *kind = settings->kind;

	if (settings->rate_bit_per_s && settings->rate_bit_per_s < 8)
		return error_set(error, EXIT_USAGE,
				 "%s needs a rate of 8 bit/s or more, such as 10mbit", kind);
	if (!fits_32_bit(settings->burst_bytes) || !fits_32_bit(limit_bytes(settings)))
		return error_set(error, EXIT_USAGE,
				 "%s: rate, latency and burst make a limit of 4 GB or more; take a lower latency",
				 kind);
	if (settings->rate_bit_per_s &&
	    !fits_32_bit(transmit_ticks(settings, htb_burst(settings))))
		return error_set(error, EXIT_USAGE,
				 "%s: a burst of %llu bytes takes more than 274 s at that rate; take a smaller one",
				 kind, settings->burst_bytes);
	return 0;
}

int qdisc_check(const struct qdisc_settings *settings, struct error *error)
{
	const struct qdisc_kind *kind = find_kind(settings->kind);

	if (!kind)
		return error_set(error, EXIT_USAGE, "unknown qdisc kind '%s'; there are %s",
				 settings->kind, qdisc_kinds_text());
	if (kind->needs_rate && !settings->rate_bit_per_s)
		return error_set(error, EXIT_USAGE, "%s needs a rate, such as 10mbit", kind->name);
	if (kind->needs_burst && !settings->burst_bytes)
		return error_set(error, EXIT_USAGE, "%s needs a burst, such as 32kb", kind->name);
	if (kind->needs_latency && !settings->latency_ns)
		return error_set(error, EXIT_USAGE, "%s needs a latency, such as 400ms",
				 kind->name);
	return check_values(settings, error);
}

static struct nlmsghdr *traffic_message(struct netlink *netlink, __u16 type, __u16 flags,
					__u32 index, __u32 parent, __u32 handle)
{
	struct nlmsghdr *header = netlink_message(netlink, type, flags);
	struct tcmsg *message = mnl_nlmsg_put_extra_header(header, sizeof(*message));

	message->tcm_family = AF_UNSPEC;
	message->tcm_ifindex = index;
	message->tcm_parent = parent;
	message->tcm_handle = handle;
	return header;
}

static int add_qdisc(struct netlink *netlink, __u32 index, const char *device, __u32 parent,
		     const struct qdisc_settings *settings, struct error *error)
{
	const struct qdisc_kind *kind = find_kind(settings->kind);
	struct nlmsghdr *header;
	char what[WHAT_SIZE];

	header = traffic_message(netlink, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, index, parent,
				 settings->handle);
	mnl_attr_put_strz(header, TCA_KIND, kind->name);
	if (kind->put_options)
		kind->put_options(header, settings);
	snprintf(what, sizeof(what), "make the qdisc %s on %s", kind->name, device);
	if (!netlink_send(netlink, NULL, NULL, what, error))
		return 0;
	/* qdisc_create() of net/sched/sch_api.c, after it tried to load the module. */
	if (errno == ENOENT)
		return error_set(error, EXIT_CANNOT,
				 "this kernel has no qdisc %s (module sch_%s): install it or choose another with --set qdisc.kind=",
				 kind->name, kind->name);
	return -1;
}

static int add_class(struct netlink *netlink, __u32 index, const char *device,
		     const struct qdisc_settings *settings, struct error *error)
{
	struct tc_htb_opt parameters = { 0 };
	struct nlmsghdr *header;
	struct nlattr *options;
	char what[WHAT_SIZE];

	fill_rate(&parameters.rate, settings);
	parameters.ceil = parameters.rate;
	parameters.buffer = transmit_ticks(settings, htb_burst(settings));
	parameters.cbuffer = parameters.buffer;
	header = traffic_message(netlink, RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, index,
				 settings->handle,
				 TC_H_MAKE(settings->handle, DEFAULT_CLASS));
	mnl_attr_put_strz(header, TCA_KIND, "htb");
	options = mnl_attr_nest_start(header, TCA_OPTIONS);
	put_rate64(header, TCA_HTB_RATE64, settings);
	put_rate64(header, TCA_HTB_CEIL64, settings);
	mnl_attr_put(header, TCA_HTB_PARMS, sizeof(parameters), &parameters);
	mnl_attr_nest_end(header, options);
	snprintf(what, sizeof(what), "make the default class of htb on %s", device);
	return netlink_send(netlink, NULL, NULL, what, error);
}

static int add_htb_leaf(struct netlink *netlink, __u32 index, const char *device,
			const struct qdisc_settings *settings, struct error *error)
{
	struct qdisc_settings leaf = *settings;

	leaf.kind = "bfifo";
	leaf.handle = settings->handle + TC_H_MAKE(1 << 16, 0);
	return add_qdisc(netlink, index, device, TC_H_MAKE(settings->handle, DEFAULT_CLASS), &leaf,
			 error);
}

int qdisc_add_root(struct netlink *netlink, const char *device,
		   const struct qdisc_settings *settings, struct error *error)
{
	__u32 index;

	if (qdisc_check(settings, error))
		return -1;
	index = link_index(netlink, device, error);
	if (!index || add_qdisc(netlink, index, device, TC_H_ROOT, settings, error))
		return -1;
	if (strcmp(settings->kind, "htb"))
		return 0;
	if (add_class(netlink, index, device, settings, error))
		return -1;
	return settings->latency_ns ? add_htb_leaf(netlink, index, device, settings, error) : 0;
}

int qdisc_delete_root(struct netlink *netlink, const char *device, struct error *error)
{
	__u32 index = link_index(netlink, device, error);
	char what[WHAT_SIZE];

	if (!index)
		return -1;
	traffic_message(netlink, RTM_DELQDISC, 0, index, TC_H_ROOT, 0);
	snprintf(what, sizeof(what), "delete the root qdisc of %s", device);
	return netlink_send(netlink, NULL, NULL, what, error);
}
