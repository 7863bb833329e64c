/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer: loads the kernel side, attaches it through a tier (a set of hooks
 * behind one interface, tier.h), and hands on what it measures as plain
 * structures. It knows nothing of labs and phases.
 */
#ifndef SOJOURN_TRACER_H
#define SOJOURN_TRACER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "histogram.h"
#include "sojourn/event.h"
#include "sojourn/qdisc_record.h"

struct tracer;

/* What one qdisc did in one slice of time. Valid during the call that gives it. */
struct tracer_slice {
	__u32 qdisc;			/* record index, as in probe_event.qdisc */
	__u64 begin_ns;			/* CLOCK_MONOTONIC */
	__u64 end_ns;
	const struct histogram_slice *sojourn;	/* bypassed packets are in it, as 0 */
	const struct histogram_slice *wait_before_drop;
	const struct histogram_slice *part;	/* exclusive or paced time, see HISTOGRAM_PART */
	__u64 backlog_bytes_max;
	__u64 backlog_packets_max;
	double backlog_bytes_mean;	/* time-weighted */
	double backlog_packets_mean;
	__u64 backlog_bytes;		/* at the end of the slice */
	__u64 backlog_packets;
	struct qdisc_counters delta;	/* of this slice */
};

/* Callbacks run inside tracer_poll(), in this thread. Any may be NULL. */
struct tracer_sink {
	void *context;
	void (*slice)(void *context, const struct tracer_slice *slice);
	void (*probe)(void *context, const struct probe_event *event);
	void (*tcp)(void *context, const struct tcp_event *event);
	void (*retransmit)(void *context, const struct retransmit_event *event);
	void (*packets)(void *context, const struct packet_event *packets, unsigned int count);
	void (*slow)(void *context, const struct slow_event *event);
	/* The record is forgotten: its index may soon be that of another qdisc. */
	void (*forget)(void *context, unsigned int qdisc);
};

enum tracer_tier {
	TIER_BEST,			/* functions where the kernel allows it, else tracepoints */
	TIER_FUNCTIONS,
	TIER_TRACEPOINTS,
};

struct tracer_options {
	enum tracer_tier tier;
	bool only_kprobes;		/* functions tier: no fentry and fexit, for comparison */
	const __u32 *netns;		/* whose qdiscs: inode numbers; NULL: every namespace */
	size_t netns_count;
	const __u32 *probe_netns;	/* whose probes and TCP states; NULL: as netns */
	size_t probe_netns_count;
	const char *const *devices;	/* names; NULL: every device */
	size_t device_count;
	unsigned int max_qdiscs;	/* 0: 256 */
	__u64 slice_ns;			/* 0: 100 ms */
	bool probes;			/* follow ICMP and ICMPv6 echoes */
	unsigned int probe_payload;	/* only echoes with that many payload bytes */
	bool packets;			/* tell every packet and what became of it */
	__u64 slow_ns;			/* tell each packet that waited so long; 0: none */
	bool tcp;			/* tcp_probe and retransmits */
	__u64 tcp_interval_ns;		/* at most one state per flow and interval; 0: 10 ms */
	/*
	 * Give the records of qdiscs that are gone to new ones, some slices and seconds later:
	 * for who runs for weeks. Else each stays, for who looks at all of them at the end.
	 */
	bool forget;
	struct tracer_sink sink;
};

struct tracer_hook {
	char name[64];			/* "qdisc_enqueue", "htb_dequeue [sch_htb]" */
	char how[16];			/* "tp_btf", "fentry", "fexit", "kprobe", "kretprobe" */
	bool attached;
	char why[400];			/* why not, "" where attached */
	__u64 skipped;			/* runs that the kernel left out: the program was running on that CPU */
};

/* Every loss that the tracer can have; all 0 in a complete run. */
struct tracer_losses {
	__u64 ring_full;		/* events that found the ring buffer full */
	__u64 slot_overwrites;		/* waiting packets forgotten for want of a slot */
	__u64 flow_misses;		/* GSO segments handed out and not matched */
	__u64 unmatched;		/* other packets handed out and not matched */
	__u64 records_full;		/* packets of qdiscs that found no record */
	__u64 samples_missing;		/* measured packets in no histogram: the table was full */
	__u64 recursion_misses;		/* skipped runs of hooks, but for those that tracer_losses() names */
	__u64 negative;			/* sojourns that came out negative, taken as 0 */
	__u64 stale;			/* entries found of packets whose end was not seen */
	__u64 tcp_flows_full;		/* TCP states not rate-limited for want of a flow entry */
	__u64 calls_lost;		/* calls of qdiscs' functions that were not followed to their return */
	__u64 qdiscs_unlisted;		/* times that the walk over all qdiscs did not come to its end */
	__u64 functions_unhooked;	/* functions of qdiscs that could not be hooked: not measured */
	__u64 exclusive_misses;		/* skbs whose time in a child is not known */
	__u64 before_hooked;		/* packets of a new qdisc that passed before its functions were hooked */
};

/*
 * Load the kernel side without attaching it. NULL and error: EXIT_CANNOT names
 * the privilege or kernel feature that is missing.
 */
struct tracer *tracer_open(const struct tracer_options *options, struct error *error);

/* Attach the hooks. After it returns packets are counted. */
int tracer_attach(struct tracer *tracer, struct error *error);

/*
 * Drain the ring buffer and close slices that are due; calls the sink. Call it
 * at least every half slice. tracer_cut() ends the present slice at once, so
 * that a phase can begin with a new one, and returns the time of the cut.
 */
int tracer_poll(struct tracer *tracer, struct error *error);
__u64 tracer_cut(struct tracer *tracer);

/* Detach; after it returns nothing counts any more. Then drain all slices and events. */
int tracer_detach(struct tracer *tracer, struct error *error);

/* The tier in use: "functions" or "tracepoints". */
const char *tracer_tier(const struct tracer *tracer);

/* Why it is not the functions tier; "" where it is, or was not wanted. Owned by tracer. */
const char *tracer_tier_why(const struct tracer *tracer);

const struct tracer_hook *tracer_hooks(const struct tracer *tracer, size_t *count);

/* Records seen so far: 0 ... count - 1 are valid indices. The record is a copy-safe view, owned by tracer. */
unsigned int tracer_qdisc_count(const struct tracer *tracer);
const struct qdisc_record *tracer_qdisc(const struct tracer *tracer, unsigned int index);

/*
 * Sum up the flows whose packets that qdisc hands out from now on; of none where record is
 * TRACER_NO_QDISC. What was summed up before is forgotten. 0, or -1 and error.
 */
#define TRACER_NO_QDISC	(~0u)
int tracer_follow_flows(struct tracer *tracer, unsigned int record, struct error *error);

/*
 * The flows since then, or since they were taken last, in no order: up to most of them, which
 * begin anew. Their number. Packets that are handed out meanwhile may be missed.
 */
struct tracer_flow {
	struct packet_flow flow;
	struct flow_sums sums;
};

size_t tracer_take_flows(struct tracer *tracer, struct tracer_flow *flows, size_t most);

/* Packets of the qdisc that are waiting right now by the tracer's own table (walks it: slow). */
__u64 tracer_queued(const struct tracer *tracer, unsigned int index);

/*
 * Skipped runs at kfree_skb, consume_skb and tcp_probe are no loss of their own.
 * There they are usual, since a softirq may interrupt a process that does the
 * same, and mostly of skbs and connections that are no concern of ours. A skipped
 * free of a traced packet shows: a packet unaccounted for, a segment not matched. A
 * skipped TCP state is one of a series that is thinned out anyhow.
 */
void tracer_losses(const struct tracer *tracer, struct tracer_losses *losses);

void tracer_close(struct tracer *tracer);

#endif
