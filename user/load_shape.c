// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>

#include "load_shape.h"
#include "statistics.h"

/* Longer than any queue of a scenario's defaults takes to drain. */
#define DRAIN_NS	2000000000ULL
/* Of what is normally distributed: 1.645 by 0.674 standard deviations. */
#define DISTANCE_TO_P95	2.44

static __u64 end_of_drain(const struct result *result, const struct phase *load)
{
	const struct phase *last = &result->phases[result->phase_count], *next;
	__u64 end_ns = load->load.end_ns + DRAIN_NS, begin_ns;

	for (next = load + 1; next < last; next++) {
		begin_ns = next->plan.kind == PHASE_LOAD ? next->load.begin_ns :
			   next->plan.kind == PHASE_RESTORED ? next->begin_ns : 0;
		if (begin_ns && begin_ns < end_ns)
			end_ns = begin_ns;
	}
	return end_ns;
}

static size_t take_points(const struct result *result, const struct phase *load,
			  struct shape_point *points)
{
	__u64 end_ns = end_of_drain(result, load);
	size_t count = 0, i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (!probe->sent || probe->lost || probe->sent_ns < load->load.begin_ns ||
		    probe->sent_ns >= end_ns)
			continue;
		points[count++] = (struct shape_point){ probe->sent_ns, (double)probe->rtt_ns };
	}
	return count;
}

/*
 * How far idle RTTs lie above their median, as the p95 of what scatters evenly around it would:
 * by the median of the distances. Before the first probe addresses are looked up, which may take
 * the way several times; those that wait for it would make up a good part of a short idle phase.
 * -1: out of memory.
 */
static double idle_spread(const struct result *result, const struct phase *idle)
{
	double *values = calloc(result->probe_count + 1, sizeof(*values)), spread = 0, median;
	size_t count = 0, i;

	if (!values)
		return -1;
	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], idle))
			values[count++] = (double)result->probes[i].rtt_ns;
	if (count) {
		median = statistics_percentile(values, count, 50);
		for (i = 0; i < count; i++)
			values[i] = fabs(values[i] - median);
		spread = DISTANCE_TO_P95 * statistics_percentile(values, count, 50);
	}
	free(values);
	return spread;
}

int load_shape_fill(struct result *result, struct error *error)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);
	struct shape_point *points = calloc(result->probe_count + 1, sizeof(*points));
	int failed = points ? 0 : -1;
	unsigned int i;

	for (i = 0; i < result->phase_count && !failed; i++) {
		struct phase *load = &result->phases[i];
		struct shape_timeline timeline = {
			.points = points,
			.begin_ns = load->load.begin_ns,
			.end_ns = load->load.end_ns,
		};

		if (load->plan.kind != PHASE_LOAD || !load->valid || !idle || !idle->received)
			continue;
		timeline.count = take_points(result, load, points);
		timeline.base_ns = (double)idle->rtt.p50;
		timeline.spread_ns = idle_spread(result, idle);
		failed = timeline.spread_ns < 0 || shape_find(&timeline, &load->load.shape, NULL);
	}
	free(points);
	if (failed)
		return error_set(error, EXIT_CANNOT, "out of memory for the shape of the RTT");
	return 0;
}
