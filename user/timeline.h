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

/*
 * Move all into result; result.qdiscs must be there (record indices of the
 * events become indices into it). client_netns: where probes start and end.
 * 0, or -1 and error (out of memory).
 */
int timeline_finish(struct timeline *timeline, __u32 client_netns, struct result *result,
		    struct error *error);

/*
 * Put the RTT that ping printed beside each probe of that phase's ping (pings
 * run one after the other; begin_ns and end_ns bound the sending times of this
 * one). Returns the number of replies that found no probe plus that of answered
 * probes without a reply.
 */
unsigned int timeline_match_ping(struct result *result, const struct ping_result *ping,
				 __u64 begin_ns, __u64 end_ns);

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
void timeline_hide_client(struct result *result, __u32 client_netns);

#endif
