/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The qdiscs of a host while traffic goes through them that we did not make: who they are, what
 * each did in the last interval and since the start. `watch` shows it, `export` tells it.
 */
#ifndef SOJOURN_LIVE_H
#define SOJOURN_LIVE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "histogram.h"
#include "netns_names.h"
#include "tracer.h"

struct live;

struct live_options {
	enum tracer_tier tier;
	const char *const *netns;	/* names; none: every namespace */
	size_t netns_count;
	const char *const *devices;	/* names; none: every device */
	size_t device_count;
	__u64 interval_ns;
	unsigned int max_qdiscs;	/* at one time; 0: 4096 */
	/* how long one that is gone is still told of; 0: 60 s. Less above max_qdiscs */
	__u64 keep_ns;
	bool packets;			/* for the sink */
	bool tcp;
	__u64 slow_ns;			/* packets that waited so long; 0: none */
	struct tracer_sink sink;	/* tcp, retransmit, packets, slow; slices are live's own */
};

/* Sums over some time. A histogram that has no sample is NULL. */
struct live_sums {
	struct qdisc_counters counters;
	struct histogram *sojourn;	/* bypassed packets are in it, as 0 */
	struct histogram *part;		/* exclusive time of a parent, paced time of fq and etf */
	struct histogram *wait_before_drop;
	__u64 backlog_bytes_max, backlog_packets_max;
	double backlog_bytes_mean, backlog_packets_mean;	/* of an interval only */
};

#define LIVE_PATH_SIZE	160
#define LIVE_TREND	60

/*
 * A place in a tree. A qdisc that is replaced by another of the same kind, handle and parent on a
 * device of the same name goes on in its row: the sums since the start never go back.
 */
struct live_qdisc {
	__u32 netns;			/* inode number */
	char netns_name[NETNS_NAME_SIZE];	/* netns_names_find() */
	__u32 ifindex;
	char device[16];		/* as it is called now */
	__u32 queue;			/* tx queue; 0 for a root that serves all */
	char kind[16];
	__u32 handle, parent;
	unsigned int depth;		/* 0: of a tx queue or of the device */
	unsigned int level;		/* how far below the first one of its tree as it is shown */
	__u32 traits;			/* QDISC_IS_PARENT ... */
	char path[LIVE_PATH_SIZE];	/* "htb 1:/1:11/fq_codel 110:"; "?": not known (yet) */
	struct live_sums last;		/* the last whole interval */
	struct live_sums all;		/* since the start */
	__u64 backlog_bytes, backlog_packets;	/* at the end of the last interval */
	__u64 gone_ns;			/* CLOCK_MONOTONIC; 0: it is there */
	__u64 trend[LIVE_TREND];	/* p99 of the last intervals, ns, the newest last; 0: no packet */

	/* live's own */
	struct live_sums next;		/* the interval that runs */
	unsigned int record;		/* the tracer's; of one that is gone the last one */
	bool renewed;			/* its path is to be looked up */
};

/* What is lost beside the tracer's losses. */
struct live_losses {
	struct tracer_losses tracer;
	/*
	 * Packets of the first interval of which it is not known when they came: they waited when
	 * tracing began. Not among those of tracer.
	 */
	__u64 queued_before;
	__u64 rows_missing;		/* qdiscs that found no memory for a row */
};

/* NULL and error: EXIT_CANNOT, EXIT_USAGE where a namespace has no such name. */
struct live *live_open(const struct live_options *options, struct error *error);

/* From then on packets are counted. 0, or -1 and error. */
int live_attach(struct live *live, struct error *error);

/*
 * Take in what there is, and close the interval where it is over. Call it every 50 ms at least.
 * Returns 1 where an interval was closed, 0 where not, -1 and error.
 */
int live_poll(struct live *live, struct error *error);

/* When the last whole interval began and ended, CLOCK_MONOTONIC; 0 before the first. */
void live_interval(const struct live *live, __u64 *begin_ns, __u64 *end_ns);

/*
 * All rows, in the order of the trees: by namespace, device and queue, a parent before its
 * children. They, not the order, are valid until live_close() or, of those that are gone, until
 * live_poll() closes an interval; owned by live.
 */
struct live_qdisc *const *live_qdiscs(const struct live *live, size_t *count);

/* The row of a tracer's record, as packet events name it; NULL: there is none yet. */
const struct live_qdisc *live_qdisc_of(const struct live *live, unsigned int record);

/* tracer_follow_flows(), tracer_take_flows(); row NULL: of none. */
int live_follow_flows(struct live *live, const struct live_qdisc *row, struct error *error);
size_t live_take_flows(struct live *live, struct tracer_flow *flows, size_t most);

/* What a person calls a namespace; valid until the next call of live_poll(). */
const char *live_netns_name(struct live *live, __u32 inode);

void live_losses(const struct live *live, struct live_losses *losses);

/* For the tier, the hooks and the like. */
const struct tracer *live_tracer(const struct live *live);

void live_close(struct live *live);

#endif
