// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <string.h>

#include "qdisc_options.h"

/* PSCHED_SHIFT of include/net/pkt_sched.h. */
#define NS_PER_TICK	64
#define NS_PER_SECOND	1000000000.0
#define NO_LIMIT	0xffffffffu

/* Attributes by type; NULL where the kernel sent none. */
#define ATTRIBUTES_MAX	64
struct attributes {
	const struct nlattr *of[ATTRIBUTES_MAX];
};

/* An attribute that is a plain number, and the factor that makes it the unit. */
struct simple_option {
	__u16 type;
	const char *name;
	enum qdisc_option_unit unit;
	unsigned int factor;
};

static void add(struct qdisc_info *info, const char *name, enum qdisc_option_unit unit,
		__u64 value)
{
	if (info->option_count == QDISC_OPTIONS_MAX)
		return;
	info->options[info->option_count++] = (struct qdisc_option){
		.name = name, .unit = unit, .value = value,
	};
}

static void collect(const struct nlattr *options, struct attributes *attributes, size_t skip)
{
	const char *begin = mnl_attr_get_payload(options);
	const struct nlattr *attribute;
	int left = mnl_attr_get_payload_len(options) - (int)skip;

	memset(attributes, 0, sizeof(*attributes));
	attribute = (const void *)(begin + skip);
	while (left > 0 && mnl_attr_ok(attribute, left)) {
		if (mnl_attr_get_type(attribute) < ATTRIBUTES_MAX)
			attributes->of[mnl_attr_get_type(attribute)] = attribute;
		left -= MNL_ALIGN(attribute->nla_len);
		attribute = mnl_attr_next(attribute);
	}
}

/* Copy a structure out of an attribute; false where it is missing or short. */
static bool copy(const struct nlattr *attribute, void *to, size_t size)
{
	if (!attribute || mnl_attr_get_payload_len(attribute) < size)
		return false;
	memcpy(to, mnl_attr_get_payload(attribute), size);
	return true;
}

/* A number of 4 or 8 bytes. */
static bool number(const struct nlattr *attribute, __u64 *value)
{
	__u32 small;

	if (copy(attribute, value, sizeof(*value)))
		return true;
	if (!copy(attribute, &small, sizeof(small)))
		return false;
	*value = small;
	return true;
}

static void add_simple(struct qdisc_info *info, const struct attributes *attributes,
		       const struct simple_option *table, size_t count)
{
	__u64 value;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct nlattr *attribute = attributes->of[table[i].type];

		if (number(attribute, &value) &&
		    !(value == NO_LIMIT && mnl_attr_get_payload_len(attribute) == 4))
			add(info, table[i].name, table[i].unit, value * table[i].factor);
	}
}

/* Bytes per second: the 64-bit attribute where the kernel sent it. */
static double rate_of(const struct tc_ratespec *spec, const struct nlattr *rate64)
{
	__u64 rate;

	return number(rate64, &rate) ? (double)rate : spec->rate;
}

/* A calculated value as an option's: within what it can hold, whatever the message said. */
static __u64 whole(double value)
{
	if (value < 0)
		return 0;
	return value < 9.2e18 ? (__u64)value : ~0ull;
}

static void decode_tbf(struct qdisc_info *info, const struct nlattr *options)
{
	struct tc_tbf_qopt parameters;
	struct attributes attributes;
	double rate, burst_ns, latency_ns;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_TBF_PARMS], &parameters, sizeof(parameters)))
		return;
	rate = rate_of(&parameters.rate, attributes.of[TCA_TBF_RATE64]);
	burst_ns = (double)parameters.buffer * NS_PER_TICK;
	add(info, "rate", OPTION_BIT_PER_S, whole(rate * 8));
	add(info, "burst", OPTION_BYTES, whole(rate * burst_ns / NS_PER_SECOND));
	add(info, "limit", OPTION_BYTES, parameters.limit);
	if (rate > 0) {
		latency_ns = parameters.limit / rate * NS_PER_SECOND - burst_ns;
		add(info, "latency", OPTION_NS, whole(latency_ns));
	}
	rate = rate_of(&parameters.peakrate, attributes.of[TCA_TBF_PRATE64]);
	if (rate > 0)
		add(info, "peakrate", OPTION_BIT_PER_S, whole(rate * 8));
}

static void decode_htb(struct qdisc_info *info, const struct nlattr *options)
{
	struct attributes attributes;
	struct tc_htb_glob parameters;
	__u64 length;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_HTB_INIT], &parameters, sizeof(parameters)))
		return;
	add(info, "r2q", OPTION_NUMBER, parameters.rate2quantum);
	add(info, "default", OPTION_HANDLE, TC_H_MAKE(info->handle, parameters.defcls));
	add(info, "direct_packets_stat", OPTION_PACKETS, parameters.direct_pkts);
	if (number(attributes.of[TCA_HTB_DIRECT_QLEN], &length))
		add(info, "direct_qlen", OPTION_PACKETS, length);
}

static void decode_pfifo(struct qdisc_info *info, const struct nlattr *options)
{
	struct tc_fifo_qopt parameters;

	if (copy(options, &parameters, sizeof(parameters)))
		add(info, "limit", OPTION_PACKETS, parameters.limit);
}

static void decode_bfifo(struct qdisc_info *info, const struct nlattr *options)
{
	struct tc_fifo_qopt parameters;

	if (copy(options, &parameters, sizeof(parameters)))
		add(info, "limit", OPTION_BYTES, parameters.limit);
}

/* Times in the attributes of codel and fq_codel are microseconds. */
static void decode_codel(struct qdisc_info *info, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_CODEL_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_CODEL_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_CODEL_INTERVAL, "interval", OPTION_NS, 1000 },
		{ TCA_CODEL_CE_THRESHOLD, "ce_threshold", OPTION_NS, 1000 },
		{ TCA_CODEL_ECN, "ecn", OPTION_NUMBER, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(info, &attributes, table, sizeof(table) / sizeof(table[0]));
}

static void decode_fq_codel(struct qdisc_info *info, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_FQ_CODEL_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_CODEL_FLOWS, "flows", OPTION_NUMBER, 1 },
		{ TCA_FQ_CODEL_QUANTUM, "quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_CODEL_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_FQ_CODEL_INTERVAL, "interval", OPTION_NS, 1000 },
		{ TCA_FQ_CODEL_CE_THRESHOLD, "ce_threshold", OPTION_NS, 1000 },
		{ TCA_FQ_CODEL_MEMORY_LIMIT, "memory_limit", OPTION_BYTES, 1 },
		{ TCA_FQ_CODEL_ECN, "ecn", OPTION_NUMBER, 1 },
		{ TCA_FQ_CODEL_DROP_BATCH_SIZE, "drop_batch", OPTION_PACKETS, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(info, &attributes, table, sizeof(table) / sizeof(table[0]));
}

/*
 * TCA_OPTIONS is a struct tc_netem_qopt with attributes behind it. Its times
 * are ticks that end at 274 s; the 64-bit ones are nanoseconds.
 */
static void decode_netem(struct qdisc_info *info, const struct nlattr *options)
{
	struct tc_netem_rate rate = { 0 };
	struct tc_netem_qopt parameters;
	struct attributes attributes;
	__u64 delay, jitter, rate64;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	collect(options, &attributes, MNL_ALIGN(sizeof(parameters)));
	if (!number(attributes.of[TCA_NETEM_LATENCY64], &delay))
		delay = (__u64)parameters.latency * NS_PER_TICK;
	if (!number(attributes.of[TCA_NETEM_JITTER64], &jitter))
		jitter = (__u64)parameters.jitter * NS_PER_TICK;
	add(info, "limit", OPTION_PACKETS, parameters.limit);
	add(info, "delay", OPTION_NS, delay);
	if (jitter)
		add(info, "jitter", OPTION_NS, jitter);
	copy(attributes.of[TCA_NETEM_RATE], &rate, sizeof(rate));
	if (!number(attributes.of[TCA_NETEM_RATE64], &rate64))
		rate64 = rate.rate;
	if (rate64)
		add(info, "rate", OPTION_BIT_PER_S, rate64 * 8);
}

static void decode_cake(struct qdisc_info *info, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_CAKE_RTT, "rtt", OPTION_NS, 1000 },
		{ TCA_CAKE_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_CAKE_MEMORY, "memlimit", OPTION_BYTES, 1 },
	};
	struct attributes attributes;
	__u64 rate;

	collect(options, &attributes, 0);
	if (number(attributes.of[TCA_CAKE_BASE_RATE64], &rate) && rate)
		add(info, "bandwidth", OPTION_BIT_PER_S, rate * 8);
	add_simple(info, &attributes, table, sizeof(table) / sizeof(table[0]));
}

static void decode_fq(struct qdisc_info *info, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_FQ_PLIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_FLOW_PLIMIT, "flow_limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_QUANTUM, "quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_INITIAL_QUANTUM, "initial_quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_RATE_ENABLE, "pacing", OPTION_NUMBER, 1 },
		{ TCA_FQ_FLOW_MAX_RATE, "maxrate", OPTION_BIT_PER_S, 8 },
		{ TCA_FQ_LOW_RATE_THRESHOLD, "low_rate_threshold", OPTION_BIT_PER_S, 8 },
		{ TCA_FQ_CE_THRESHOLD, "ce_threshold", OPTION_NS, 1000 },
		{ TCA_FQ_HORIZON, "horizon", OPTION_NS, 1000 },
	};
	struct attributes attributes;
	__u64 log;

	collect(options, &attributes, 0);
	add_simple(info, &attributes, table, sizeof(table) / sizeof(table[0]));
	if (number(attributes.of[TCA_FQ_BUCKETS_LOG], &log) && log < 64)
		add(info, "buckets", OPTION_NUMBER, 1ull << log);
}

static void decode_red(struct qdisc_info *info, const struct nlattr *options)
{
	struct tc_red_qopt parameters;
	struct attributes attributes;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_RED_PARMS], &parameters, sizeof(parameters)))
		return;
	add(info, "limit", OPTION_BYTES, parameters.limit);
	add(info, "min", OPTION_BYTES, parameters.qth_min);
	add(info, "max", OPTION_BYTES, parameters.qth_max);
}

static const struct {
	const char *kind;
	void (*decode)(struct qdisc_info *info, const struct nlattr *options);
} kinds[] = {
	{ "tbf", decode_tbf },
	{ "htb", decode_htb },
	{ "pfifo", decode_pfifo },
	{ "bfifo", decode_bfifo },
	{ "codel", decode_codel },
	{ "fq_codel", decode_fq_codel },
	{ "netem", decode_netem },
	{ "cake", decode_cake },
	{ "fq", decode_fq },
	{ "red", decode_red },
};

void qdisc_options_decode(struct qdisc_info *info, const struct nlattr *options)
{
	size_t i;

	info->option_count = 0;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].kind, info->kind))
			kinds[i].decode(info, options);
	}
}
