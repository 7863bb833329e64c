// SPDX-License-Identifier: GPL-2.0
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "qdisc_options.h"
#include "units.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* PSCHED_SHIFT of include/net/pkt_sched.h. */
#define NS_PER_TICK	64
#define NS_PER_SECOND	1000000000.0
#define NO_LIMIT	0xffffffffu

/*
 * dualpi2 and what fq has gained since, of include/uapi/linux/pkt_sched.h in
 * Linux 6.17: older headers do not have them.
 */
enum {
	DUALPI2_LIMIT = 1,
	DUALPI2_MEMORY_LIMIT,
	DUALPI2_TARGET,
	DUALPI2_TUPDATE,
	DUALPI2_ALPHA,
	DUALPI2_BETA,
	DUALPI2_STEP_THRESH_PKTS,
	DUALPI2_STEP_THRESH_US,
	DUALPI2_MIN_QLEN_STEP,
	DUALPI2_COUPLING,
	DUALPI2_DROP_OVERLOAD,
	DUALPI2_DROP_EARLY,
	DUALPI2_C_PROTECTION,
	DUALPI2_ECN_MASK,
	DUALPI2_SPLIT_GSO,
};
#define FQ_PRIOMAP	16	/* struct tc_prio_qopt */

/* What is being filled; handle is that of the qdisc. */
struct option_list {
	struct qdisc_option *options;
	unsigned int *count;
	__u32 handle;
};

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

static void add(struct option_list *list, const char *name, enum qdisc_option_unit unit,
		__u64 value)
{
	if (*list->count == QDISC_OPTIONS_MAX)
		return;
	list->options[(*list->count)++] = (struct qdisc_option){
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

static void add_simple(struct option_list *list, const struct attributes *attributes,
		       const struct simple_option *table, size_t count)
{
	__u64 value;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct nlattr *attribute = attributes->of[table[i].type];

		if (number(attribute, &value) &&
		    !(value == NO_LIMIT && mnl_attr_get_payload_len(attribute) == 4))
			add(list, table[i].name, table[i].unit, value * table[i].factor);
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

/* A number of exactly one byte. */
static void add_byte(struct option_list *list, const struct nlattr *attribute, const char *name,
		     enum qdisc_option_unit unit)
{
	if (attribute && mnl_attr_get_payload_len(attribute) == 1)
		add(list, name, unit, mnl_attr_get_u8(attribute));
}

static void add_nonzero(struct option_list *list, const char *name, enum qdisc_option_unit unit,
			__u64 value)
{
	if (value)
		add(list, name, unit, value);
}

/* A probability or correlation as the kernel keeps it: of 2^32. */
static void add_share(struct option_list *list, const char *name, __u32 value)
{
	add_nonzero(list, name, OPTION_PER_BILLION, whole(value / 4294967295.0 * 1e9 + 0.5));
}

static void add_priomap(struct option_list *list, const char *name, const __u8 bands[16])
{
	__u64 map = 0;
	int i;

	for (i = 15; i >= 0; i--)
		map = map << 4 | (bands[i] & 15);
	add(list, name, OPTION_PRIOMAP, map);
}

/* What tc takes beside a rate, and what counts as a packet's size then. */
static void add_size_table(struct option_list *list, const struct tc_ratespec *spec)
{
	add_nonzero(list, "mpu", OPTION_BYTES, spec->mpu);
	add_nonzero(list, "overhead", OPTION_BYTES, spec->overhead);
	if ((spec->linklayer & TC_LINKLAYER_MASK) == TC_LINKLAYER_ATM)
		add(list, "linklayer", OPTION_WORD, TC_LINKLAYER_ATM);
}

/* Bytes that a bucket holds which fills so many ticks long. */
static __u64 bucket_bytes(double rate, __u32 ticks)
{
	return whole(rate * ticks * NS_PER_TICK / NS_PER_SECOND + 0.5);
}

static void decode_tbf(struct option_list *list, const struct nlattr *options)
{
	struct tc_tbf_qopt parameters;
	struct attributes attributes;
	double rate, burst_ns, latency_ns;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_TBF_PARMS], &parameters, sizeof(parameters)))
		return;
	rate = rate_of(&parameters.rate, attributes.of[TCA_TBF_RATE64]);
	burst_ns = (double)parameters.buffer * NS_PER_TICK;
	add(list, "rate", OPTION_BIT_PER_S, whole(rate * 8));
	add(list, "burst", OPTION_BYTES, whole(rate * burst_ns / NS_PER_SECOND));
	add(list, "limit", OPTION_BYTES, parameters.limit);
	if (rate > 0) {
		latency_ns = parameters.limit / rate * NS_PER_SECOND - burst_ns;
		add(list, "latency", OPTION_NS, whole(latency_ns));
	}
	rate = rate_of(&parameters.peakrate, attributes.of[TCA_TBF_PRATE64]);
	if (rate > 0) {
		add(list, "peakrate", OPTION_BIT_PER_S, whole(rate * 8));
		add(list, "minburst", OPTION_BYTES, bucket_bytes(rate, parameters.mtu));
	}
	add_size_table(list, &parameters.rate);
}

static void decode_htb(struct option_list *list, const struct nlattr *options)
{
	struct attributes attributes;
	struct tc_htb_glob parameters;
	__u64 length;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_HTB_INIT], &parameters, sizeof(parameters)))
		return;
	add(list, "r2q", OPTION_NUMBER, parameters.rate2quantum);
	add(list, "default", OPTION_HANDLE, TC_H_MAKE(list->handle, parameters.defcls));
	add(list, "direct_packets_stat", OPTION_PACKETS, parameters.direct_pkts);
	if (number(attributes.of[TCA_HTB_DIRECT_QLEN], &length))
		add(list, "direct_qlen", OPTION_PACKETS, length);
	if (attributes.of[TCA_HTB_OFFLOAD])
		add(list, "offload", OPTION_NUMBER, 1);
}

/* Of skbprio and pfifo_head_drop too: all are one number of packets. */
static void decode_pfifo(struct option_list *list, const struct nlattr *options)
{
	struct tc_fifo_qopt parameters;

	if (copy(options, &parameters, sizeof(parameters)))
		add(list, "limit", OPTION_PACKETS, parameters.limit);
}

static void decode_bfifo(struct option_list *list, const struct nlattr *options)
{
	struct tc_fifo_qopt parameters;

	if (copy(options, &parameters, sizeof(parameters)))
		add(list, "limit", OPTION_BYTES, parameters.limit);
}

/* Times in the attributes of codel and fq_codel are microseconds. */
static void decode_codel(struct option_list *list, const struct nlattr *options)
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
	add_simple(list, &attributes, table, COUNT(table));
}

static void decode_fq_codel(struct option_list *list, const struct nlattr *options)
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
	add_simple(list, &attributes, table, COUNT(table));
}

static void decode_netem_rate(struct option_list *list, const struct attributes *attributes)
{
	struct tc_netem_rate rate = { 0 };
	__u64 rate64;

	copy(attributes->of[TCA_NETEM_RATE], &rate, sizeof(rate));
	if (!number(attributes->of[TCA_NETEM_RATE64], &rate64))
		rate64 = rate.rate;
	if (!rate64)
		return;
	add(list, "rate", OPTION_BIT_PER_S, rate64 * 8);
	if (rate.packet_overhead)
		add(list, "packetoverhead", OPTION_SIGNED, (__s64)rate.packet_overhead);
	add_nonzero(list, "cellsize", OPTION_BYTES, rate.cell_size);
	if (rate.cell_overhead)
		add(list, "celloverhead", OPTION_SIGNED, (__s64)rate.cell_overhead);
}

/* The shares of packets that netem loses, repeats, reorders and spoils. */
static void decode_netem_shares(struct option_list *list, const struct tc_netem_qopt *parameters,
				const struct attributes *attributes)
{
	struct tc_netem_reorder reorder = { 0 };
	struct tc_netem_corrupt corrupt = { 0 };
	struct tc_netem_corr correlation = { 0 };
	struct attributes models;

	copy(attributes->of[TCA_NETEM_CORR], &correlation, sizeof(correlation));
	copy(attributes->of[TCA_NETEM_REORDER], &reorder, sizeof(reorder));
	copy(attributes->of[TCA_NETEM_CORRUPT], &corrupt, sizeof(corrupt));
	add_share(list, "delay_correlation", correlation.delay_corr);
	add_share(list, "loss", parameters->loss);
	add_share(list, "loss_correlation", correlation.loss_corr);
	if (attributes->of[TCA_NETEM_LOSS]) {
		collect(attributes->of[TCA_NETEM_LOSS], &models, 0);
		add(list, "loss_model", OPTION_WORD,
		    models.of[NETEM_LOSS_GE] ? NETEM_LOSS_GE : NETEM_LOSS_GI);
	}
	add_share(list, "duplicate", parameters->duplicate);
	add_share(list, "duplicate_correlation", correlation.dup_corr);
	add_share(list, "reorder", reorder.probability);
	add_share(list, "reorder_correlation", reorder.correlation);
	add_nonzero(list, "gap", OPTION_PACKETS, parameters->gap);
	add_share(list, "corrupt", corrupt.probability);
	add_share(list, "corrupt_correlation", corrupt.correlation);
}

/*
 * TCA_OPTIONS is a struct tc_netem_qopt with attributes behind it. Its times
 * are ticks that end at 274 s; the 64-bit ones are nanoseconds.
 */
static void decode_netem(struct option_list *list, const struct nlattr *options)
{
	struct tc_netem_qopt parameters;
	struct attributes attributes;
	struct tc_netem_slot slot;
	__u64 delay, jitter, ecn;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	collect(options, &attributes, MNL_ALIGN(sizeof(parameters)));
	if (!number(attributes.of[TCA_NETEM_LATENCY64], &delay))
		delay = (__u64)parameters.latency * NS_PER_TICK;
	if (!number(attributes.of[TCA_NETEM_JITTER64], &jitter))
		jitter = (__u64)parameters.jitter * NS_PER_TICK;
	add(list, "limit", OPTION_PACKETS, parameters.limit);
	add(list, "delay", OPTION_NS, delay);
	add_nonzero(list, "jitter", OPTION_NS, jitter);
	decode_netem_rate(list, &attributes);
	decode_netem_shares(list, &parameters, &attributes);
	if (number(attributes.of[TCA_NETEM_ECN], &ecn))
		add_nonzero(list, "ecn", OPTION_NUMBER, ecn);
	if (copy(attributes.of[TCA_NETEM_SLOT], &slot, sizeof(slot))) {
		add(list, "slot_min", OPTION_NS, slot.min_delay);
		add(list, "slot_max", OPTION_NS, slot.max_delay);
	}
}

static void decode_cake(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_CAKE_AUTORATE, "autorate-ingress", OPTION_NUMBER, 1 },
		{ TCA_CAKE_DIFFSERV_MODE, "diffserv", OPTION_WORD, 1 },
		{ TCA_CAKE_FLOW_MODE, "flowmode", OPTION_WORD, 1 },
		{ TCA_CAKE_NAT, "nat", OPTION_NUMBER, 1 },
		{ TCA_CAKE_WASH, "wash", OPTION_NUMBER, 1 },
		{ TCA_CAKE_INGRESS, "ingress", OPTION_NUMBER, 1 },
		{ TCA_CAKE_ACK_FILTER, "ack-filter", OPTION_WORD, 1 },
		{ TCA_CAKE_SPLIT_GSO, "split-gso", OPTION_NUMBER, 1 },
		{ TCA_CAKE_RTT, "rtt", OPTION_NS, 1000 },
		{ TCA_CAKE_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_CAKE_ATM, "atm", OPTION_WORD, 1 },
		{ TCA_CAKE_MPU, "mpu", OPTION_BYTES, 1 },
		{ TCA_CAKE_MEMORY, "memlimit", OPTION_BYTES, 1 },
		{ TCA_CAKE_FWMARK, "fwmark", OPTION_NUMBER, 1 },
	};
	struct attributes attributes;
	__s32 overhead;
	__u64 rate, raw;

	collect(options, &attributes, 0);
	if (number(attributes.of[TCA_CAKE_BASE_RATE64], &rate) && rate)
		add(list, "bandwidth", OPTION_BIT_PER_S, rate * 8);
	add_simple(list, &attributes, table, COUNT(table));
	/* Sent where the kernel takes the lengths as they are (sch_cake.c, cake_dump). */
	if (number(attributes.of[TCA_CAKE_RAW], &raw))
		add(list, "raw", OPTION_NUMBER, 1);
	else if (copy(attributes.of[TCA_CAKE_OVERHEAD], &overhead, sizeof(overhead)))
		add(list, "overhead", OPTION_SIGNED, (__s64)overhead);
}

static void decode_fq(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_FQ_PLIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_FLOW_PLIMIT, "flow_limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_QUANTUM, "quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_INITIAL_QUANTUM, "initial_quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_FLOW_REFILL_DELAY, "refill_delay", OPTION_NS, 1000 },
		{ TCA_FQ_ORPHAN_MASK, "orphan_mask", OPTION_NUMBER, 1 },
		{ TCA_FQ_TIMER_SLACK, "timer_slack", OPTION_NS, 1 },
		{ TCA_FQ_RATE_ENABLE, "pacing", OPTION_NUMBER, 1 },
		{ TCA_FQ_FLOW_MAX_RATE, "maxrate", OPTION_BIT_PER_S, 8 },
		{ TCA_FQ_LOW_RATE_THRESHOLD, "low_rate_threshold", OPTION_BIT_PER_S, 8 },
		{ TCA_FQ_CE_THRESHOLD, "ce_threshold", OPTION_NS, 1000 },
		{ TCA_FQ_HORIZON, "horizon", OPTION_NS, 1000 },
	};
	struct attributes attributes;
	struct tc_prio_qopt bands;
	__u64 log;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
	if (number(attributes.of[TCA_FQ_BUCKETS_LOG], &log) && log < 64)
		add(list, "buckets", OPTION_NUMBER, 1ull << log);
	add_byte(list, attributes.of[TCA_FQ_HORIZON_DROP], "horizon_drop", OPTION_NUMBER);
	if (copy(attributes.of[FQ_PRIOMAP], &bands, sizeof(bands))) {
		add(list, "bands", OPTION_NUMBER, bands.bands);
		add_priomap(list, "priomap", bands.priomap);
	}
}

static void add_red_flags(struct option_list *list, __u32 flags)
{
	add_nonzero(list, "ecn", OPTION_NUMBER, !!(flags & TC_RED_ECN));
	add_nonzero(list, "harddrop", OPTION_NUMBER, !!(flags & TC_RED_HARDDROP));
	add_nonzero(list, "adaptive", OPTION_NUMBER, !!(flags & TC_RED_ADAPTATIVE));
	add_nonzero(list, "nodrop", OPTION_NUMBER, !!(flags & TC_RED_NODROP));
}

static void decode_red(struct option_list *list, const struct nlattr *options)
{
	struct nla_bitfield32 flags;
	struct tc_red_qopt parameters;
	struct attributes attributes;
	__u64 probability;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_RED_PARMS], &parameters, sizeof(parameters)))
		return;
	add(list, "limit", OPTION_BYTES, parameters.limit);
	add(list, "min", OPTION_BYTES, parameters.qth_min);
	add(list, "max", OPTION_BYTES, parameters.qth_max);
	if (number(attributes.of[TCA_RED_MAX_P], &probability))
		add_share(list, "probability", (__u32)probability);
	if (!copy(attributes.of[TCA_RED_FLAGS], &flags, sizeof(flags)))
		flags.value = parameters.flags;
	add_red_flags(list, flags.value);
}

/* choke counts packets where red counts bytes. */
static void decode_choke(struct option_list *list, const struct nlattr *options)
{
	struct tc_red_qopt parameters;
	struct attributes attributes;
	__u64 probability;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_CHOKE_PARMS], &parameters, sizeof(parameters)))
		return;
	add(list, "limit", OPTION_PACKETS, parameters.limit);
	add(list, "min", OPTION_PACKETS, parameters.qth_min);
	add(list, "max", OPTION_PACKETS, parameters.qth_max);
	if (number(attributes.of[TCA_CHOKE_MAX_P], &probability))
		add_share(list, "probability", (__u32)probability);
	add_nonzero(list, "ecn", OPTION_NUMBER, !!(parameters.flags & TC_RED_ECN));
}

/* Of the virtual queues only the default one's thresholds: there are up to 16 of them. */
static void decode_gred(struct option_list *list, const struct nlattr *options)
{
	struct tc_gred_qopt queues[MAX_DPs];
	struct attributes attributes;
	struct tc_gred_sopt setup;
	__u64 limit;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_GRED_DPS], &setup, sizeof(setup)))
		return;
	add(list, "vqs", OPTION_NUMBER, setup.DPs);
	add(list, "default", OPTION_NUMBER, setup.def_DP);
	add_nonzero(list, "grio", OPTION_NUMBER, setup.grio);
	add_red_flags(list, setup.flags);
	if (number(attributes.of[TCA_GRED_LIMIT], &limit))
		add(list, "limit", OPTION_BYTES, limit);
	if (!copy(attributes.of[TCA_GRED_PARMS], queues, sizeof(queues)) ||
	    setup.def_DP >= MAX_DPs || queues[setup.def_DP].DP != setup.def_DP)
		return;
	add(list, "default_limit", OPTION_BYTES, queues[setup.def_DP].limit);
	add(list, "default_min", OPTION_BYTES, queues[setup.def_DP].qth_min);
	add(list, "default_max", OPTION_BYTES, queues[setup.def_DP].qth_max);
}

static void decode_sfq(struct option_list *list, const struct nlattr *options)
{
	struct tc_sfq_qopt_v1 parameters;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	add(list, "limit", OPTION_PACKETS, parameters.v0.limit);
	add(list, "quantum", OPTION_BYTES, parameters.v0.quantum);
	add(list, "depth", OPTION_PACKETS, parameters.depth);
	add(list, "flows", OPTION_NUMBER, parameters.v0.flows);
	add(list, "divisor", OPTION_NUMBER, parameters.v0.divisor);
	if (parameters.v0.perturb_period > 0)
		add(list, "perturb", OPTION_NS, parameters.v0.perturb_period * 1000000000ull);
	add_nonzero(list, "headdrop", OPTION_NUMBER, parameters.headdrop);
	if (!parameters.qth_min)
		return;
	/* The kernel does not tell redflowlimit (sch_sfq.c, sfq_dump). */
	add(list, "min", OPTION_BYTES, parameters.qth_min);
	add(list, "max", OPTION_BYTES, parameters.qth_max);
	add_share(list, "probability", parameters.max_P);
	add_red_flags(list, parameters.flags);
}

static void decode_sfb(struct option_list *list, const struct nlattr *options)
{
	struct tc_sfb_qopt parameters;
	struct attributes attributes;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_SFB_PARMS], &parameters, sizeof(parameters)))
		return;
	add(list, "limit", OPTION_PACKETS, parameters.limit);
	add(list, "max", OPTION_PACKETS, parameters.max);
	add(list, "target", OPTION_PACKETS, parameters.bin_size);
	add(list, "increment", OPTION_PER_BILLION,
	    whole(parameters.increment * 1e9 / SFB_MAX_PROB + 0.5));
	add(list, "decrement", OPTION_PER_BILLION,
	    whole(parameters.decrement * 1e9 / SFB_MAX_PROB + 0.5));
	add(list, "rehash", OPTION_NS, parameters.rehash_interval * 1000000ull);
	add(list, "db", OPTION_NS, parameters.warmup_time * 1000000ull);
	add(list, "penalty_rate", OPTION_NUMBER, parameters.penalty_rate);
	add(list, "penalty_burst", OPTION_PACKETS, parameters.penalty_burst);
}

static void decode_hhf(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_HHF_BACKLOG_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_HHF_QUANTUM, "quantum", OPTION_BYTES, 1 },
		{ TCA_HHF_HH_FLOWS_LIMIT, "hh_limit", OPTION_NUMBER, 1 },
		{ TCA_HHF_RESET_TIMEOUT, "reset_timeout", OPTION_NS, 1000 },
		{ TCA_HHF_ADMIT_BYTES, "admit_bytes", OPTION_BYTES, 1 },
		{ TCA_HHF_EVICT_TIMEOUT, "evict_timeout", OPTION_NS, 1000 },
		{ TCA_HHF_NON_HH_WEIGHT, "non_hh_weight", OPTION_NUMBER, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

static void decode_pie(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_PIE_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_PIE_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_PIE_TUPDATE, "tupdate", OPTION_NS, 1000 },
		{ TCA_PIE_ALPHA, "alpha", OPTION_NUMBER, 1 },
		{ TCA_PIE_BETA, "beta", OPTION_NUMBER, 1 },
		{ TCA_PIE_ECN, "ecn", OPTION_NUMBER, 1 },
		{ TCA_PIE_BYTEMODE, "bytemode", OPTION_NUMBER, 1 },
		{ TCA_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator", OPTION_NUMBER, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

static void decode_fq_pie(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_FQ_PIE_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ TCA_FQ_PIE_FLOWS, "flows", OPTION_NUMBER, 1 },
		{ TCA_FQ_PIE_TARGET, "target", OPTION_NS, 1000 },
		{ TCA_FQ_PIE_TUPDATE, "tupdate", OPTION_NS, 1000 },
		{ TCA_FQ_PIE_ALPHA, "alpha", OPTION_NUMBER, 1 },
		{ TCA_FQ_PIE_BETA, "beta", OPTION_NUMBER, 1 },
		{ TCA_FQ_PIE_QUANTUM, "quantum", OPTION_BYTES, 1 },
		{ TCA_FQ_PIE_MEMORY_LIMIT, "memory_limit", OPTION_BYTES, 1 },
		/* In percent (sch_fq_pie.c, fq_pie_qdisc_enqueue). */
		{ TCA_FQ_PIE_ECN_PROB, "ecn_prob", OPTION_PER_BILLION, 10000000 },
		{ TCA_FQ_PIE_ECN, "ecn", OPTION_NUMBER, 1 },
		{ TCA_FQ_PIE_BYTEMODE, "bytemode", OPTION_NUMBER, 1 },
		{ TCA_FQ_PIE_DQ_RATE_ESTIMATOR, "dq_rate_estimator", OPTION_NUMBER, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

/* alpha and beta are in 1/256 Hz. */
static void decode_dualpi2(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ DUALPI2_LIMIT, "limit", OPTION_PACKETS, 1 },
		{ DUALPI2_MEMORY_LIMIT, "memlimit", OPTION_BYTES, 1 },
		{ DUALPI2_TARGET, "target", OPTION_NS, 1000 },
		{ DUALPI2_TUPDATE, "tupdate", OPTION_NS, 1000 },
		{ DUALPI2_ALPHA, "alpha", OPTION_NUMBER, 1 },
		{ DUALPI2_BETA, "beta", OPTION_NUMBER, 1 },
		{ DUALPI2_STEP_THRESH_PKTS, "step_thresh", OPTION_PACKETS, 1 },
		{ DUALPI2_STEP_THRESH_US, "step_thresh", OPTION_NS, 1000 },
		{ DUALPI2_MIN_QLEN_STEP, "min_qlen_step", OPTION_PACKETS, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
	add_byte(list, attributes.of[DUALPI2_COUPLING], "coupling_factor", OPTION_NUMBER);
	add_byte(list, attributes.of[DUALPI2_DROP_OVERLOAD], "overload", OPTION_WORD);
	add_byte(list, attributes.of[DUALPI2_DROP_EARLY], "drop", OPTION_WORD);
	add_byte(list, attributes.of[DUALPI2_C_PROTECTION], "classic_protection", OPTION_NUMBER);
	add_byte(list, attributes.of[DUALPI2_ECN_MASK], "ect", OPTION_WORD);
	add_byte(list, attributes.of[DUALPI2_SPLIT_GSO], "split_gso", OPTION_NUMBER);
}

static void decode_hfsc(struct option_list *list, const struct nlattr *options)
{
	struct tc_hfsc_qopt parameters;

	if (copy(options, &parameters, sizeof(parameters)) && parameters.defcls)
		add(list, "default", OPTION_HANDLE, TC_H_MAKE(list->handle, parameters.defcls));
}

static void decode_prio(struct option_list *list, const struct nlattr *options)
{
	struct tc_prio_qopt parameters;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	add(list, "bands", OPTION_NUMBER, parameters.bands);
	add_priomap(list, "priomap", parameters.priomap);
}

static void decode_multiq(struct option_list *list, const struct nlattr *options)
{
	struct tc_multiq_qopt parameters;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	add(list, "bands", OPTION_NUMBER, parameters.bands);
}

/* The quanta are those of its classes. */
static void decode_ets(struct option_list *list, const struct nlattr *options)
{
	__u8 bands[TC_PRIO_MAX + 1] = { 0 };
	const struct nlattr *attribute;
	struct attributes attributes;
	unsigned int count = 0;

	collect(options, &attributes, 0);
	add_byte(list, attributes.of[TCA_ETS_NBANDS], "bands", OPTION_NUMBER);
	add_byte(list, attributes.of[TCA_ETS_NSTRICT], "strict", OPTION_NUMBER);
	if (!attributes.of[TCA_ETS_PRIOMAP])
		return;
	mnl_attr_for_each_nested(attribute, attributes.of[TCA_ETS_PRIOMAP]) {
		if (count < COUNT(bands) && copy(attribute, &bands[count], 1))
			count++;
	}
	if (count == COUNT(bands))
		add_priomap(list, "priomap", bands);
}

static void add_traffic_classes(struct option_list *list, const struct tc_mqprio_qopt *parameters)
{
	static const char *const names[TC_QOPT_MAX_QUEUE] = {
		"queues_0", "queues_1", "queues_2", "queues_3", "queues_4", "queues_5",
		"queues_6", "queues_7", "queues_8", "queues_9", "queues_10", "queues_11",
		"queues_12", "queues_13", "queues_14", "queues_15",
	};
	unsigned int i;

	add(list, "num_tc", OPTION_NUMBER, parameters->num_tc);
	add_priomap(list, "map", parameters->prio_tc_map);
	for (i = 0; i < parameters->num_tc && i < COUNT(names); i++)
		add(list, names[i], OPTION_QUEUES,
		    (__u64)parameters->count[i] << 16 | parameters->offset[i]);
}

/* TCA_OPTIONS is a struct tc_mqprio_qopt with attributes behind it. */
static void decode_mqprio(struct option_list *list, const struct nlattr *options)
{
	struct tc_mqprio_qopt parameters;
	struct attributes attributes;
	__u16 word;

	if (!copy(options, &parameters, sizeof(parameters)))
		return;
	collect(options, &attributes, MNL_ALIGN(sizeof(parameters)));
	add_traffic_classes(list, &parameters);
	add(list, "hw", OPTION_NUMBER, parameters.hw);
	if (copy(attributes.of[TCA_MQPRIO_MODE], &word, sizeof(word)))
		add(list, "mode", OPTION_WORD, word);
	if (copy(attributes.of[TCA_MQPRIO_SHAPER], &word, sizeof(word)))
		add(list, "shaper", OPTION_WORD, word);
}

static void add_clock(struct option_list *list, __s32 clock)
{
	if (clock >= 0)
		add(list, "clockid", OPTION_WORD, (__u32)clock);
}

static void decode_taprio(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_TAPRIO_ATTR_FLAGS, "flags", OPTION_NUMBER, 1 },
		{ TCA_TAPRIO_ATTR_TXTIME_DELAY, "txtime-delay", OPTION_NS, 1 },
		{ TCA_TAPRIO_ATTR_SCHED_BASE_TIME, "base-time", OPTION_NS, 1 },
		{ TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, "cycle-time", OPTION_NS, 1 },
		{ TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION, "cycle-time-extension",
		  OPTION_NS, 1 },
	};
	struct tc_mqprio_qopt parameters;
	const struct nlattr *attribute;
	struct attributes attributes;
	unsigned int entries = 0;
	__s32 clock;

	collect(options, &attributes, 0);
	if (copy(attributes.of[TCA_TAPRIO_ATTR_PRIOMAP], &parameters, sizeof(parameters)))
		add_traffic_classes(list, &parameters);
	if (copy(attributes.of[TCA_TAPRIO_ATTR_SCHED_CLOCKID], &clock, sizeof(clock)))
		add_clock(list, clock);
	add_simple(list, &attributes, table, COUNT(table));
	if (!attributes.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST])
		return;
	mnl_attr_for_each_nested(attribute, attributes.of[TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST])
		entries++;
	add_nonzero(list, "sched-entries", OPTION_NUMBER, entries);
}

static void decode_etf(struct option_list *list, const struct nlattr *options)
{
	struct tc_etf_qopt parameters;
	struct attributes attributes;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_ETF_PARMS], &parameters, sizeof(parameters)))
		return;
	add_clock(list, parameters.clockid);
	add(list, "delta", OPTION_NS, parameters.delta);
	add(list, "offload", OPTION_NUMBER, !!(parameters.flags & TC_ETF_OFFLOAD_ON));
	add(list, "deadline_mode", OPTION_NUMBER, !!(parameters.flags & TC_ETF_DEADLINE_MODE_ON));
	add(list, "skip_sock_check", OPTION_NUMBER, !!(parameters.flags & TC_ETF_SKIP_SOCK_CHECK));
}

/* ---- classes ---- */

static void decode_htb_class(struct option_list *list, const struct nlattr *options)
{
	struct attributes attributes;
	struct tc_htb_opt parameters;
	double rate, ceil;

	collect(options, &attributes, 0);
	if (!copy(attributes.of[TCA_HTB_PARMS], &parameters, sizeof(parameters)))
		return;
	rate = rate_of(&parameters.rate, attributes.of[TCA_HTB_RATE64]);
	ceil = rate_of(&parameters.ceil, attributes.of[TCA_HTB_CEIL64]);
	add(list, "rate", OPTION_BIT_PER_S, whole(rate * 8));
	add(list, "ceil", OPTION_BIT_PER_S, whole(ceil * 8));
	add(list, "burst", OPTION_BYTES, bucket_bytes(rate, parameters.buffer));
	add(list, "cburst", OPTION_BYTES, bucket_bytes(ceil, parameters.cbuffer));
	/* Of a class without children only (sch_htb.c, htb_change_class). */
	if (!parameters.level) {
		add(list, "prio", OPTION_NUMBER, parameters.prio);
		add(list, "quantum", OPTION_BYTES, parameters.quantum);
	}
	add_size_table(list, &parameters.rate);
}

/* A service curve: m1 for the time d (in the message microseconds), m2 from then on. */
static void add_curve(struct option_list *list, const struct nlattr *attribute,
		      const char *const names[3])
{
	struct tc_service_curve curve;

	if (!copy(attribute, &curve, sizeof(curve)))
		return;
	if (curve.d) {
		add(list, names[0], OPTION_BIT_PER_S, curve.m1 * 8ull);
		add(list, names[1], OPTION_NS, curve.d * 1000ull);
	}
	add(list, names[2], OPTION_BIT_PER_S, curve.m2 * 8ull);
}

static void decode_hfsc_class(struct option_list *list, const struct nlattr *options)
{
	static const char *const rt[] = { "rt_m1", "rt_d", "rt_m2" };
	static const char *const ls[] = { "ls_m1", "ls_d", "ls_m2" };
	static const char *const ul[] = { "ul_m1", "ul_d", "ul_m2" };
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_curve(list, attributes.of[TCA_HFSC_RSC], rt);
	add_curve(list, attributes.of[TCA_HFSC_FSC], ls);
	add_curve(list, attributes.of[TCA_HFSC_USC], ul);
}

static void decode_drr_class(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_DRR_QUANTUM, "quantum", OPTION_BYTES, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

static void decode_qfq_class(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_QFQ_WEIGHT, "weight", OPTION_NUMBER, 1 },
		{ TCA_QFQ_LMAX, "maxpkt", OPTION_BYTES, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

/* A strict band has no quantum. */
static void decode_ets_class(struct option_list *list, const struct nlattr *options)
{
	static const struct simple_option table[] = {
		{ TCA_ETS_QUANTA_BAND, "quantum", OPTION_BYTES, 1 },
	};
	struct attributes attributes;

	collect(options, &attributes, 0);
	add_simple(list, &attributes, table, COUNT(table));
}

struct decoder {
	const char *kind;
	void (*decode)(struct option_list *list, const struct nlattr *options);
};

static const struct decoder qdisc_kinds[] = {
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
	{ "choke", decode_choke },
	{ "gred", decode_gred },
	{ "sfq", decode_sfq },
	{ "sfb", decode_sfb },
	{ "hhf", decode_hhf },
	{ "pie", decode_pie },
	{ "fq_pie", decode_fq_pie },
	{ "dualpi2", decode_dualpi2 },
	{ "hfsc", decode_hfsc },
	{ "prio", decode_prio },
	{ "multiq", decode_multiq },
	{ "ets", decode_ets },
	{ "skbprio", decode_pfifo },
	{ "pfifo_head_drop", decode_pfifo },
	{ "mqprio", decode_mqprio },
	{ "taprio", decode_taprio },
	{ "etf", decode_etf },
};

static const struct decoder class_kinds[] = {
	{ "htb", decode_htb_class },
	{ "hfsc", decode_hfsc_class },
	{ "drr", decode_drr_class },
	{ "qfq", decode_qfq_class },
	{ "ets", decode_ets_class },
};

static void decode(const struct decoder *kinds, size_t count, const char *kind,
		   struct option_list *list, const struct nlattr *options)
{
	size_t i;

	*list->count = 0;
	for (i = 0; i < count; i++) {
		if (!strcmp(kinds[i].kind, kind))
			kinds[i].decode(list, options);
	}
}

void qdisc_options_decode(struct qdisc_info *info, const struct nlattr *options)
{
	struct option_list list = { info->options, &info->option_count, info->handle };

	decode(qdisc_kinds, COUNT(qdisc_kinds), info->kind, &list, options);
}

void qdisc_options_decode_class(struct class_info *info, const struct nlattr *options)
{
	struct option_list list = { info->options, &info->option_count, info->classid };

	decode(class_kinds, COUNT(class_kinds), info->kind, &list, options);
}

/* ---- options as text ---- */

/* The words of OPTION_WORD, by the option's name, which means the same wherever it occurs. */
#define WORDS_MAX	12
static const struct {
	const char *name;
	const char *words[WORDS_MAX];
} word_lists[] = {
	{ "diffserv", { "diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence" } },
	{ "flowmode", { "flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost",
			"dual-dsthost", "triple-isolate" } },
	{ "ack-filter", { "no-ack-filter", "ack-filter", "ack-filter-aggressive" } },
	{ "atm", { "noatm", "atm", "ptm" } },
	{ "linklayer", { "unaware", "ethernet", "atm" } },
	{ "loss_model", { NULL, "state", "gemodel" } },
	{ "mode", { "dcb", "channel" } },
	{ "shaper", { "dcb", "bw_rlimit" } },
	{ "overload", { "overflow", "drop_on_overload" } },
	{ "drop", { "drop_dequeue", "drop_enqueue" } },
	{ "ect", { NULL, "l4s_ect", NULL, "any_ect" } },
	{ "clockid", { [CLOCK_REALTIME] = "REALTIME", [CLOCK_MONOTONIC] = "MONOTONIC",
		       [CLOCK_BOOTTIME] = "BOOTTIME", [CLOCK_TAI] = "TAI" } },
};

static const char *word_of(const struct qdisc_option *option)
{
	size_t i;

	for (i = 0; i < COUNT(word_lists); i++) {
		if (!strcmp(word_lists[i].name, option->name) && option->value < WORDS_MAX)
			return word_lists[i].words[option->value];
	}
	return NULL;
}

static void number_text(__u64 value, const char *unit, char text[QDISC_OPTION_TEXT])
{
	snprintf(text, QDISC_OPTION_TEXT, "%llu%s", (unsigned long long)value, unit);
}

static void priomap_text(__u64 map, char text[QDISC_OPTION_TEXT])
{
	size_t length = 0;
	int i;

	for (i = 0; i < 16; i++)
		length += snprintf(text + length, QDISC_OPTION_TEXT - length, "%s%u", i ? " " : "",
				   (unsigned int)(map >> (4 * i) & 15));
}

const char *qdisc_option_text(const struct qdisc_option *option, char text[QDISC_OPTION_TEXT])
{
	const char *word;

	switch (option->unit) {
	case OPTION_BIT_PER_S:
		return units_rate_text((double)option->value, text);
	case OPTION_BYTES:
		return units_size_text((double)option->value, text);
	case OPTION_NS:
		return units_time_text((double)option->value, text);
	case OPTION_HANDLE:
		return qdisc_handle_text((__u32)option->value, text);
	case OPTION_PACKETS:
		number_text(option->value, "p", text);
		break;
	case OPTION_SIGNED:
		snprintf(text, QDISC_OPTION_TEXT, "%lld", (long long)option->value);
		break;
	case OPTION_PER_BILLION:
		snprintf(text, QDISC_OPTION_TEXT, "%.4g %%", (double)option->value / 1e7);
		break;
	case OPTION_PRIOMAP:
		priomap_text(option->value, text);
		break;
	case OPTION_QUEUES:
		snprintf(text, QDISC_OPTION_TEXT, "%u@%u", (unsigned int)(option->value >> 16),
			 (unsigned int)(option->value & 0xffff));
		break;
	case OPTION_WORD:
		word = word_of(option);
		if (word)
			return word;
		/* fall through */
	case OPTION_NUMBER:
		number_text(option->value, "", text);
		break;
	}
	return text;
}

const struct qdisc_option *qdisc_option_find(const struct qdisc_option *options,
					     unsigned int count, const char *name)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(options[i].name, name))
			return &options[i];
	}
	return NULL;
}
