/* SPDX-License-Identifier: GPL-2.0 */
/* Probe events of a made-up host: client -- router -- server, a traced qdisc on the router's wan0. */
#ifndef SOJOURN_TESTS_SYNTHETIC_H
#define SOJOURN_TESTS_SYNTHETIC_H

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "result.h"
#include "timeline.h"

#define CLIENT		1001u	/* inode numbers of the namespaces */
#define ROUTER		1002u
#define SERVER		1003u
#define RECORD		5u	/* the tracer's record of the qdisc */

static const struct probe_sender synthetic_client = { CLIENT, 0 };

struct hop {
	__u16 point;
	__u8 reply;
	__u32 netns, ifindex;
	const char *device;
	__u32 qdisc;
	__u64 ns;		/* since the point before */
};

#define WAY_POINTS	15

/* The way there and back; times are odd numbers, so that a sum that is wrong is seen. */
static inline const struct hop *synthetic_way(void)
{
	static const struct hop way[WAY_POINTS] = {
		{ PROBE_OFFERED, 0, CLIENT, 2, "eth0", PROBE_NO_QDISC, 0 },
		{ PROBE_TRANSMIT, 0, CLIENT, 2, "eth0", PROBE_NO_QDISC, 701 },
		{ PROBE_RECEIVED, 0, ROUTER, 2, "lan0", PROBE_NO_QDISC, 2003 },
		{ PROBE_OFFERED, 0, ROUTER, 3, "wan0", RECORD, 3011 },
		{ PROBE_DEQUEUED, 0, ROUTER, 3, "wan0", RECORD, 5003 },
		{ PROBE_TRANSMIT, 0, ROUTER, 3, "wan0", PROBE_NO_QDISC, 401 },
		{ PROBE_RECEIVED, 0, SERVER, 2, "eth0", PROBE_NO_QDISC, 2111 },
		{ PROBE_OFFERED, 1, SERVER, 2, "eth0", PROBE_NO_QDISC, 7001 },
		{ PROBE_TRANSMIT, 1, SERVER, 2, "eth0", PROBE_NO_QDISC, 601 },
		{ PROBE_RECEIVED, 1, ROUTER, 3, "wan0", PROBE_NO_QDISC, 2203 },
		{ PROBE_OFFERED, 1, ROUTER, 2, "lan0", PROBE_NO_QDISC, 3307 },
		{ PROBE_TRANSMIT, 1, ROUTER, 2, "lan0", PROBE_NO_QDISC, 503 },
		{ PROBE_RECEIVED, 1, CLIENT, 2, "eth0", PROBE_NO_QDISC, 2411 },
		/* ping's raw socket took the reply; icmp_rcv() frees it as unhandled. */
		{ PROBE_DROPPED, 1, CLIENT, 2, "eth0", PROBE_NO_QDISC, 907 },
		{ PROBE_DROPPED, 1, CLIENT, 2, "eth0", PROBE_NO_QDISC, 911 },
	};

	return way;
}

#define WAY_ARRIVAL	12	/* index of the point that ends the RTT */
#define WAY_QDISC	4	/* index of the hand-out: its ns is the sojourn */

static inline struct probe_event synthetic_event(const struct hop *hop, __u16 id, __u16 sequence,
						 __u64 time_ns)
{
	struct probe_event event = {
		.header = { .type = EVENT_PROBE, .time_ns = time_ns, .netns = hop->netns,
			    .ifindex = hop->ifindex },
		.point = hop->point, .family = AF_INET, .id = id, .sequence = sequence,
		.reply = hop->reply, .qdisc = hop->qdisc,
	};

	snprintf(event.device, sizeof(event.device), "%s", hop->device);
	return event;
}

/* All events of one echo; wait_ns is its sojourn in the qdisc. Returns the RTT. */
static inline __u64 synthetic_probe(struct probe_event events[WAY_POINTS], __u16 id,
				    __u16 sequence, __u64 sent_ns, __u64 wait_ns)
{
	const struct hop *way = synthetic_way();
	__u64 now = sent_ns, rtt = 0;
	unsigned int i;

	for (i = 0; i < WAY_POINTS; i++) {
		now += i == WAY_QDISC ? wait_ns : way[i].ns;
		events[i] = synthetic_event(&way[i], id, sequence, now);
		if (i == WAY_ARRIVAL)
			rtt = now - sent_ns;
	}
	return rtt;
}

/* The RTT of a probe that does not wait at all. */
static inline __u64 synthetic_base_rtt(void)
{
	struct probe_event events[WAY_POINTS];

	return synthetic_probe(events, 1, 1, 1000, 0);
}

static inline void synthetic_feed(struct timeline *timeline, const struct probe_event *events,
				  unsigned int count)
{
	struct tracer_sink sink = timeline_sink(timeline);
	unsigned int i;

	for (i = 0; i < count; i++)
		sink.probe(sink.context, &events[i]);
}

/* A result with the one traced qdisc: tbf 10: on wan0, 10 Mbit/s, as index 0. */
static inline int synthetic_result(struct result *result)
{
	struct result_qdisc *qdisc;

	result_init(result);
	result->qdiscs = calloc(1, sizeof(*result->qdiscs));
	if (!result->qdiscs)
		return -1;
	result->qdisc_count = 1;
	qdisc = result->qdiscs;
	snprintf(qdisc->id, sizeof(qdisc->id), "pl-router/wan0/0/tbf/10:");
	snprintf(qdisc->path, sizeof(qdisc->path), "wan0 root tbf 10:");
	snprintf(qdisc->netns_name, sizeof(qdisc->netns_name), "pl-router");
	snprintf(qdisc->device, sizeof(qdisc->device), "wan0");
	snprintf(qdisc->kind, sizeof(qdisc->kind), "tbf");
	qdisc->netns = ROUTER;
	qdisc->ifindex = 3;
	qdisc->handle = 0x100000;
	qdisc->parent = 0xffffffff;
	qdisc->traced = qdisc->root = true;
	qdisc->record = RECORD;
	qdisc->have_info = true;
	qdisc->info.option_count = 1;
	qdisc->info.options[0] = (struct qdisc_option) { "rate", OPTION_BIT_PER_S, 10000000 };
	return 0;
}

/* One qdisc of the tree that follows. */
static inline void synthetic_qdisc(struct result *result, unsigned int index, const char *kind,
				   __u32 handle, __u32 parent, __u32 parent_qdisc)
{
	struct result_qdisc *qdisc = &result->qdiscs[index];
	char handle_text[16], parent_text[16];

	*qdisc = (struct result_qdisc) {
		.netns = ROUTER, .netns_name = "pl-router", .device = "wan0", .ifindex = 3,
		.handle = handle, .parent = parent, .parent_qdisc = parent_qdisc,
		.traced = true, .record = RECORD + index,
		.root = parent_qdisc == RESULT_NO_QDISC,
		.depth = parent_qdisc == RESULT_NO_QDISC ? 0 :
			 result->qdiscs[parent_qdisc].depth + 1,
	};
	snprintf(qdisc->kind, sizeof(qdisc->kind), "%s", kind);
	snprintf(qdisc->id, sizeof(qdisc->id), "pl-router/wan0/0/%s/%s%s%s", kind,
		 qdisc_handle_text(handle, handle_text), qdisc->root ? "" : "@",
		 qdisc->root ? "" : qdisc_handle_text(parent, parent_text));
}

/* htb 1: with fq_codel 110: in class 1:11 and 120: in 1:12, in the functions tier. */
#define TREE_HTB	0
#define TREE_LOADED	1
#define TREE_IDLE	2

static inline int synthetic_tree(struct result *result)
{
	result_init(result);
	snprintf(result->tier, sizeof(result->tier), "functions");
	result->qdiscs = calloc(3, sizeof(*result->qdiscs));
	if (!result->qdiscs)
		return -1;
	result->qdisc_count = 3;
	synthetic_qdisc(result, TREE_HTB, "htb", 0x10000, 0xffffffff, RESULT_NO_QDISC);
	result->qdiscs[TREE_HTB].is_parent = true;
	synthetic_qdisc(result, TREE_LOADED, "fq_codel", 0x1100000, 0x10011, TREE_HTB);
	synthetic_qdisc(result, TREE_IDLE, "fq_codel", 0x1200000, 0x10012, TREE_HTB);
	return 0;
}

/* A child hands up to its parent on the way of the probe whose offer to the root that is. */
static inline struct probe_event synthetic_hand_up(const struct probe_event *offer, __u32 record,
						   __u64 since_ns, __u64 time_ns)
{
	struct probe_event event = *offer;

	event.point = PROBE_HANDED_UP;
	event.qdisc = record;
	event.since_ns = since_ns;
	event.header.time_ns = time_ns;
	return event;
}

#endif
