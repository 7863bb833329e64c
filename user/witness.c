// SPDX-License-Identifier: GPL-2.0
#include <time.h>

#include "witness.h"

#define BEGIN_TRIES	10
#define BEGIN_PAUSE_MS	100
#define BEGIN_QUIET_MS	50
#define END_PAUSE_MS	20

static void sleep_ms(unsigned int ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&pause, NULL);
}

/* A number that changes with every packet that the tracer hears of. */
static __u64 moved(const struct tracer *tracer)
{
	unsigned int i, count = tracer_qdisc_count(tracer);
	__u64 sum = 0;

	for (i = 0; i < count; i++) {
		const struct qdisc_counters *counters = &tracer_qdisc(tracer, i)->counters;

		sum += counters->offered_skbs + counters->measured_skbs +
		       counters->bypassed_skbs + counters->rejected_skbs +
		       counters->dropped_skbs + counters->requeued + counters->unmatched_skbs;
	}
	return sum;
}

static __u64 backlog(const struct qdisc_tree *tree)
{
	__u64 packets = 0;
	size_t i;

	for (i = 0; i < tree->count; i++)
		packets += tree->qdiscs[i].kernel.backlog_packets;
	return packets;
}

int witness_read(struct qdisc_tree *tree, const struct witness_netns *netns, size_t count,
		 struct error *error)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (qdisc_tree_read(tree, netns[i].fd, netns[i].name, error)) {
			qdisc_tree_free(tree);
			return -1;
		}
	}
	return 0;
}

struct tracer *witness_begin(const struct tracer_options *options,
			     const struct witness_netns *netns, size_t count,
			     struct qdisc_tree *before, bool *quiet, struct error *error)
{
	struct tracer *tracer;
	unsigned int tries;
	bool still;

	for (tries = 1; tries <= BEGIN_TRIES; tries++) {
		tracer = tracer_open(options, error);
		if (!tracer)
			return NULL;
		if (tracer_attach(tracer, error) || witness_read(before, netns, count, error)) {
			tracer_close(tracer);
			return NULL;
		}
		sleep_ms(BEGIN_QUIET_MS);
		still = !moved(tracer) && !backlog(before);
		if (quiet)
			*quiet = still;
		if (still || (quiet && tries == BEGIN_TRIES))
			return tracer;
		qdisc_tree_free(before);
		tracer_close(tracer);
		sleep_ms(BEGIN_PAUSE_MS);
	}
	error_set(error, EXIT_CANNOT,
		  "the network namespaces do not fall quiet: packets came each of %d times that tracing began",
		  BEGIN_TRIES);
	return NULL;
}

int witness_end(struct tracer *tracer, const struct witness_netns *netns, size_t count,
		unsigned int timeout_ms, struct qdisc_tree *after, bool *quiet,
		struct error *error)
{
	unsigned int waited = 0;
	__u64 sum;

	for (;;) {
		sum = moved(tracer);
		if (witness_read(after, netns, count, error))
			return -1;
		sleep_ms(END_PAUSE_MS);
		waited += END_PAUSE_MS;
		if (tracer_poll(tracer, error)) {
			qdisc_tree_free(after);
			return -1;
		}
		*quiet = moved(tracer) == sum;
		if (*quiet || waited >= timeout_ms)
			return 0;
		qdisc_tree_free(after);
	}
}
