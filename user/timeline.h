/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collects what the tracer gives during a run: probe events, slices, TCP states,
 * on one clock. At the end it turns them into result.probes (events grouped by
 * id and sequence, cut into legs), result.samples, result.tcp.
 */
#ifndef SOJOURN_TIMELINE_H
#define SOJOURN_TIMELINE_H

#include "error.h"
#include "ping.h"
#include "result.h"
#include "tracer.h"

struct timeline;

struct timeline *timeline_create(void);
void timeline_free(struct timeline *timeline);

/* Callbacks for tracer_sink; context is the timeline. Out of memory is kept and told by timeline_finish. */
struct tracer_sink timeline_sink(struct timeline *timeline);

/* Who sends probes. */
struct probe_sender {
	__u32 netns;		/* where they start and end */
	__u16 id;		/* their ICMP identifier; 0: not known, all that start there are meant */
};

/*
 * Move all into result; result.qdiscs must be there (record indices of the
 * events become indices into it). The probes of the first sender are the main ones, those
 * of the others go to result.side_probes in their order. 0, or -1 and error (out of memory).
 */
int timeline_finish(struct timeline *timeline, const struct probe_sender *senders,
		    size_t sender_count, struct result *result, struct error *error);

/*
 * Put the RTT that ping printed beside each of the probes, by sending time, of one ping,
 * whose sending times begin_ns and end_ns bound. Returns the number of replies that found no probe plus that of answered
 * probes without a reply.
 */
unsigned int timeline_match_ping(struct probe *probes, size_t probe_count,
				 const struct ping_result *ping, __u64 begin_ns, __u64 end_ns);

/*
 * Cut the events of one probe, in time order, into legs; those of hand-ups go behind
 * the others. Sets rtt_ns, lost, complete and legs. A device that is missing or appears
 * twice in a direction, and a hand-up within no root's leg, leave complete false.
 * result: the qdiscs that the events name. 0, or -1 where memory runs out.
 */
int probe_cut_legs(const struct result *result, struct probe *probe, __u32 client_netns);

/*
 * Take what the client's own devices tell out of the legs, where that host is not
 * to be traced: of its namespace only sending and arrival of a probe stay, which
 * are the ends of its RTT. The legs still add up to it.
 */
void timeline_hide_client(struct probe *probes, size_t count, __u32 client_netns);

#endif
