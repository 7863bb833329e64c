/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The result of a run as plain structures: what out_text, out_json and later
 * outputs read, and what phase, ledger and attribution fill in. Times are ns
 * on CLOCK_MONOTONIC, sizes bytes, rates bit/s.
 */
#ifndef SOJOURN_RESULT_H
#define SOJOURN_RESULT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "histogram.h"
#include "iperf3.h"
#include "qdisc_path.h"
#include "qdisc_tree.h"
#include "scenario.h"
#include "shape.h"
#include "sojourn/event.h"
#include "sojourn/qdisc_record.h"
#include "tracer.h"

#define RESULT_NO_QDISC	(~0u)

/* A part of a histogram: only the buckets that are not empty. */
struct histogram_part {
	__u16 bucket;
	__s32 count;
};

/* A histogram of one slice. count 0 and no parts: nothing was in it. */
struct sample_histogram {
	__s64 count, sum;		/* packets; packets times ns */
	__u64 min, max;			/* ns */
	struct histogram_part *parts;	/* owned */
	unsigned int part_count;
};

/* One qdisc in one slice (struct tracer_slice, kept). */
struct qdisc_sample {
	__u32 qdisc;			/* index into result.qdiscs */
	__u64 begin_ns, end_ns;
	struct sample_histogram sojourn;
	struct sample_histogram before_drop;	/* wait of those dropped inside */
	struct sample_histogram part;	/* exclusive or paced time, see HISTOGRAM_PART */
	__u64 backlog_bytes_max, backlog_packets_max;
	double backlog_bytes_mean, backlog_packets_mean;
	__u64 backlog_bytes, backlog_packets;
	struct qdisc_counters delta;
};

enum ledger_verdict {
	LEDGER_AGREES,
	LEDGER_DISAGREES,
	LEDGER_UNKNOWN,		/* the kernel's counters could not be had at both ends; why says so */
};

/* Design: offered = measured + bypassed + rejected + dropped_inside + queued + unaccounted (packets). */
struct ledger {
	__u64 offered, measured, bypassed, rejected, dropped_inside, requeued, queued;
	__s64 unaccounted;
	__u64 queued_at_start;		/* by the kernel's counter, in packets */
	__u64 unmatched;		/* handed out without a known arrival */
	__u64 flow_misses;
	__u64 dropped_skbs, rejected_skbs;	/* what the kernel counts as drops */
	/* of these: what it does not count, see struct qdisc_counters */
	__u64 rejected_inactive, purged_skbs, stolen_skbs, parts_refused;
	__u64 before_hooked;		/* packets that passed before its functions were hooked; not in offered */
	bool have_kernel;
	struct qdisc_kernel_counters kernel;	/* differences over the window; backlog at its end */
	enum ledger_verdict agrees;
	char why[200];			/* where it does not agree or is not known: which figure, by how much */
};

struct result_qdisc {
	char id[96];			/* "pl-router/wan0/0/tbf/10:", stable within a file */
	char path[96];			/* "wan0 root tbf 10:" */
	__u32 netns;
	char netns_name[64];
	__u32 ifindex;
	char device[16];
	__u32 queue;
	char kind[16];
	__u32 handle, parent;
	bool traced;			/* the tracer has a record of it: record is valid */
	bool root;			/* a root of a tx queue */
	unsigned int depth;		/* 0: root; valid where traced */
	bool is_parent, paces;		/* QDISC_IS_PARENT, QDISC_PACES; valid where traced */
	__u32 parent_qdisc;		/* index into result.qdiscs, RESULT_NO_QDISC where there is none */
	__u64 drops_here;		/* skbs that it dropped itself; only where the tier hooks functions */
	unsigned int record;		/* tracer's index */
	struct qdisc_info info;		/* options; valid where have_info */
	bool have_info;
	struct ledger ledger;
};

/*
 * Legs of a probe, in time order; they add up to its RTT. The time in a root and its
 * children is cut into the parts that each of them had for itself.
 */
enum leg_kind { LEG_QDISC, LEG_DRIVER, LEG_LINK, LEG_STACK };

struct leg {
	enum leg_kind kind;
	__u32 qdisc;			/* LEG_QDISC: index into result.qdiscs, else RESULT_NO_QDISC */
	char device[16];		/* QDISC, DRIVER: its device; LINK: the receiving device */
	__u32 netns;			/* where the leg ends */
	bool reply;			/* on the way back */
	__u64 ns;
	__u32 root;			/* LEG_QDISC: the root that qdisc is, or is below */
};

struct probe {
	__u16 sequence, id;
	bool ipv6;
	bool sent;			/* its first offer was seen */
	bool lost;			/* no reply */
	bool complete;			/* every point of the way was seen: legs add up to rtt_ns */
	__u64 sent_ns;
	__u64 rtt_ns;			/* 0 where lost */
	__u64 ping_rtt_ns;		/* 0 where ping printed none */
	int phase;			/* index into result.phases, -1 outside of all */
	struct leg *legs;		/* owned */
	unsigned int leg_count;
	struct probe_event *events;	/* points in time order, behind them hand-ups; owned */
	unsigned int event_count;	/* points */
	unsigned int hand_up_count;	/* PROBE_HANDED_UP */
};

struct phase_qdisc {
	__u32 qdisc;			/* index into result.qdiscs */
	struct histogram sojourn;
	struct summary summary;
	struct summary wait_before_drop;
	bool have_exclusive;		/* not of a parent whose children are not seen */
	struct summary exclusive;	/* time in it and in none of its children */
	bool have_paced;		/* it paces */
	struct summary paced;		/* time up to the departure time that a packet came with */
	__u64 packets;
	__u64 drops;			/* rejected and dropped inside, also below it; packets */
	__u64 drops_here;		/* that it dropped itself, skbs; if the tier sees children */
	__u64 backlog_bytes_max, backlog_packets_max;
	double backlog_bytes_mean;
	/* Of the RTT increase; NAN where it has no meaning. */
	double share;			/* inclusive: of roots only may be added */
	double exclusive_share;		/* of all qdiscs may be added; NAN: not known */
	double held_share;		/* exclusive of it and the children that it made by itself */
	__u64 own_median_ns;		/* median of the probes' own sojourn, both ways */
	__u64 own_exclusive_median_ns;	/* the same, exclusive */
};

/* A qdisc that held none of it, though a user would suspect it. */
struct exoneration {
	__u32 qdisc;			/* index into result.qdiscs */
	double share;
	bool empty;			/* less than one full packet waited in it, in the mean */
};

#define EXONERATIONS_MAX	4

#define CAUSE_PATH		1024

/*
 * What held the packets, and what held them back there. A child that a qdisc made by
 * itself (handle 0:) counts as that qdisc.
 */
struct cause {
	__u32 qdisc;			/* index into result.qdiscs, or RESULT_NO_QDISC */
	double share;			/* inclusive */
	double held_share;		/* exclusive, as struct phase_qdisc has it */
	bool held_is_known;		/* no children unseen are in held_share */
	__u32 waits_in;			/* where the packets were: itself, or such a child */
	bool have_path;			/* path and holder: the kernel was asked during the load */
	char path[CAUSE_PATH];		/* qdisc_path_text() of waits_in */
	struct qdisc_holder holder;
	__u32 holder_qdisc;		/* holder, or whose class it is; RESULT_NO_QDISC: neither */
	__u32 holder_class;		/* classid; 0: it is none */
	bool is_pacing;			/* most of the sojourn was before departure times */
	double paced_ns, queued_ns;	/* mean under load; of one that paces, else NAN */
	char text[320];
};

struct attribution {
	bool valid;			/* there was an RTT increase to explain */
	double rtt_increase_ns;		/* mean over the load phase's received probes */
	double rtt_increase_median_ns;
	double explained;		/* 0 ... 1 */
	double unexplained_ns;		/* mean */
	struct cause cause;
	/* Where the probes left what is traced, and how much of the increase was there. */
	char beyond_device[16];		/* "": nowhere, or it explains too little */
	__u32 beyond_netns;
	double beyond_ns;		/* mean */
	struct exoneration exonerated[EXONERATIONS_MAX];
	unsigned int exonerated_count;
	char verdict[2048];		/* one sentence */
};

/* What the kernel said of its qdiscs and classes at one moment. */
struct load_snapshot {
	bool taken;
	struct qdisc_tree tree;		/* owned */
	struct qdisc_classes classes;	/* owned */
};

/* What a load phase has beside the others. */
/* A load beside the main one. */
struct side_load_result {
	char name[LAB_WORD_SIZE];
	__u64 begin_ns, end_ns;		/* iperf3's client started, ended */
	struct iperf3_result iperf3;
};

struct phase_load {
	__u64 begin_ns, end_ns;		/* iperf3 client started, ended; 0: not so far */
	bool have_iperf3;
	char **command;			/* NULL at the end; owned */
	struct iperf3_result iperf3;
	struct side_load_result *sides;	/* owned */
	unsigned int side_count;
	struct load_snapshot begin, end;	/* of the window */
	struct attribution attribution;
	struct shape shape;		/* of the RTT, from the begin of the load to its drain */
};

struct phase {
	struct scenario_phase plan;	/* name, kind, direction */
	__u64 begin_ns, end_ns;		/* the window that is summed up, margins left out */
	bool valid;			/* it took place */
	unsigned int sent, received, lost;
	struct summary rtt;
	struct phase_qdisc *qdiscs;	/* owned */
	unsigned int qdisc_count;
	/* TCP as tcp_probe saw it inside the window, all senders of the load. */
	struct summary srtt;		/* ns */
	struct summary cwnd;		/* packets */
	unsigned int retransmits;
	struct phase_load load;		/* of a load phase */
};

/* Probes beside the main ones: scenario.side_probes, in that order. */
struct side_probe_result {
	struct probe *probes;		/* by sending time; owned */
	size_t probe_count;
};

/* A host whose part in the scenario is known. */
struct result_host {
	__u32 netns;
	char netns_name[64];
	char role[16];			/* "gateway" */
};

#define RESULT_HOSTS_MAX	LAB_HOSTS

struct result {
	char version[32];
	char kernel[128];		/* uname release */
	char tier[32];
	char tier_why[640];		/* why it is not the functions tier; "": it is, or need not be */
	struct tracer_hook *hooks;
	size_t hook_count;
	__u64 started_realtime_ns;	/* CLOCK_REALTIME */
	__u64 started_ns, ended_ns;	/* CLOCK_MONOTONIC: the traced window */
	struct scenario scenario;
	char suite[32], suite_run[48], suite_class[32];	/* that it is a run of; "": of none */
	char note[256];			/* where the lab is not what was asked for; "" where it is */
	struct result_host hosts[RESULT_HOSTS_MAX];
	unsigned int host_count;

	struct result_qdisc *qdiscs;
	size_t qdisc_count;
	struct phase phases[SCENARIO_PHASES_MAX];	/* in the order of the run */
	unsigned int phase_count;
	struct probe *probes;		/* by sending time */
	size_t probe_count;
	struct side_probe_result side_probes[SCENARIO_SIDE_PROBES];

	struct qdisc_sample *samples;
	size_t sample_count;
	struct tcp_event *tcp;
	size_t tcp_count;
	struct retransmit_event *retransmits;
	size_t retransmit_count;

	struct tracer_losses losses;
	unsigned int ping_unmatched;	/* replies that ping printed and the trace has not, or the other way round */
	unsigned int clock_steps;	/* CLOCK_REALTIME against CLOCK_MONOTONIC moved by more than 1 ms */
	bool complete;
	char incomplete_why[256];	/* the first reason; "" where complete */
};

/* The first phase of that kind, or NULL. */
const struct phase *result_phase(const struct result *result, enum phase_kind kind);

/*
 * The load phase that a phase belongs to: itself, else the last one before it,
 * else the first one. NULL where the run has none.
 */
const struct phase *result_load_of(const struct result *result, const struct phase *phase);

/*
 * Name of a namespace by its inode number: "" is the one that we started in,
 * NULL where neither a host nor a qdisc of it is known.
 */
const char *result_netns_name(const struct result *result, __u32 netns);

/* The phase of that name, whether it took place or not; NULL: the run has none. */
const struct phase *result_phase_named(const struct result *result, const char *name);

/* Add what came in one slice. */
void sample_histogram_add(struct histogram *histogram, const struct sample_histogram *sample);

/* Was the probe sent in that phase, and answered? */
bool probe_is_of(const struct result *result, const struct probe *probe,
		 const struct phase *phase);

/* What phase says of that qdisc (index into result.qdiscs), or NULL. */
const struct phase_qdisc *phase_qdisc_find(const struct phase *phase, __u32 qdisc);

/* Index of the first qdisc with that handle on that device, or RESULT_NO_QDISC. */
__u32 result_by_handle(const struct result *result, __u32 netns, __u32 ifindex, __u32 handle);

/* Does the tier measure what is below a root? */
bool result_sees_children(const struct result *result);

/* Is a qdisc below another one (both indices into result.qdiscs)? Itself is not. */
bool result_is_below(const struct result *result, __u32 qdisc, __u32 above);

/*
 * The qdisc that a user knows it by: itself, or of one that its parent made by itself
 * (handle 0:, net/sched/sch_generic.c, qdisc_create_dflt()) the nearest that has a handle.
 */
__u32 result_known_as(const struct result *result, __u32 qdisc);

/*
 * Time that the probe and its reply spent in that qdisc (index into result.qdiscs), ns:
 * inclusive, or only in the qdisc itself. In a tier that does not see children the
 * latter has theirs too.
 */
typedef __u64 probe_time(const struct result *result, const struct probe *probe, __u32 qdisc);
probe_time probe_time_in, probe_exclusive_time_in;

/* Empty, with the phases of a single load. */
void result_init(struct result *result);

/*
 * The phases of result.scenario, none of which has taken place; right after
 * result_init(), when they hold nothing yet.
 */
void result_plan(struct result *result);

/* Free what result holds; it is initialized then. */
void result_free(struct result *result);

#endif
