// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

void result_plan(struct result *result)
{
	const struct scenario_phase *plan;
	unsigned int i;

	result->phase_count = scenario_phases(&result->scenario, &plan);
	memset(result->phases, 0, sizeof(result->phases));
	for (i = 0; i < result->phase_count; i++) {
		result->phases[i].plan = plan[i];
		result->phases[i].load.attribution.cause.qdisc = RESULT_NO_QDISC;
		result->phases[i].load.attribution.cause.share = NAN;
	}
}

void result_init(struct result *result)
{
	memset(result, 0, sizeof(*result));
	result_plan(result);
}

const struct phase *result_phase(const struct result *result, enum phase_kind kind)
{
	unsigned int i;

	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].plan.kind == kind)
			return &result->phases[i];
	return NULL;
}

const struct phase *result_load_of(const struct result *result, const struct phase *phase)
{
	long i;

	for (i = phase - result->phases; i >= 0; i--)
		if (result->phases[i].plan.kind == PHASE_LOAD)
			return &result->phases[i];
	return result_phase(result, PHASE_LOAD);
}

void sample_histogram_add(struct histogram *histogram, const struct sample_histogram *sample)
{
	unsigned int i;

	histogram->count += (__u64)sample->count;
	histogram->sum += sample->sum;
	for (i = 0; i < sample->part_count; i++)
		if (sample->parts[i].bucket < HISTOGRAM_BUCKETS)
			histogram->counts[sample->parts[i].bucket] += sample->parts[i].count;
	/* Where nothing was in it, min and max say nothing. */
	if (sample->part_count && sample->min < histogram->min)
		histogram->min = sample->min;
	if (sample->part_count && sample->max > histogram->max)
		histogram->max = sample->max;
}

const struct phase *result_phase_named(const struct result *result, const char *name)
{
	unsigned int i;

	for (i = 0; i < result->phase_count; i++)
		if (!strcmp(result->phases[i].plan.name, name))
			return &result->phases[i];
	return NULL;
}

bool probe_is_of(const struct result *result, const struct probe *probe,
		 const struct phase *phase)
{
	return probe->phase == (int)(phase - result->phases) && !probe->lost;
}

const struct phase_qdisc *phase_qdisc_find(const struct phase *phase, __u32 qdisc)
{
	unsigned int i;

	for (i = 0; i < phase->qdisc_count; i++)
		if (phase->qdiscs[i].qdisc == qdisc)
			return &phase->qdiscs[i];
	return NULL;
}

static void free_probes(struct probe *probes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		free(probes[i].legs);
		free(probes[i].events);
	}
	free(probes);
}

static void free_samples(struct result *result)
{
	size_t i;

	for (i = 0; i < result->sample_count; i++) {
		free(result->samples[i].sojourn.parts);
		free(result->samples[i].before_drop.parts);
		free(result->samples[i].part.parts);
	}
	free(result->samples);
}

static void free_command(char **command)
{
	size_t i;

	for (i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

static void free_snapshot(struct load_snapshot *snapshot)
{
	qdisc_tree_free(&snapshot->tree);
	qdisc_classes_free(&snapshot->classes);
}

static void free_phase(struct phase *phase)
{
	free(phase->qdiscs);
	free_command(phase->load.command);
	iperf3_result_free(&phase->load.iperf3);
	for (unsigned int i = 0; i < phase->load.side_count; i++)
		iperf3_result_free(&phase->load.sides[i].iperf3);
	free(phase->load.sides);
	free_snapshot(&phase->load.begin);
	free_snapshot(&phase->load.end);
}

void result_free(struct result *result)
{
	unsigned int i;

	free_probes(result->probes, result->probe_count);
	for (i = 0; i < SCENARIO_SIDE_PROBES; i++)
		free_probes(result->side_probes[i].probes,
			    result->side_probes[i].probe_count);
	free_samples(result);
	for (i = 0; i < result->phase_count; i++)
		free_phase(&result->phases[i]);
	free(result->hooks);
	free(result->qdiscs);
	free(result->tcp);
	free(result->retransmits);
	result_init(result);
}

bool result_sees_children(const struct result *result)
{
	return !strcmp(result->tier, "functions");
}

__u32 result_by_handle(const struct result *result, __u32 netns, __u32 ifindex, __u32 handle)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (result->qdiscs[i].netns == netns && result->qdiscs[i].ifindex == ifindex &&
		    result->qdiscs[i].handle == handle)
			return (__u32)i;
	return RESULT_NO_QDISC;
}

/* Its parent; RESULT_NO_QDISC above the root of a tx queue: mq and its like hold no packets. */
static __u32 parent_of(const struct result *result, __u32 qdisc)
{
	if (qdisc >= result->qdisc_count || result->qdiscs[qdisc].root)
		return RESULT_NO_QDISC;
	return result->qdiscs[qdisc].parent_qdisc;
}

bool result_is_below(const struct result *result, __u32 qdisc, __u32 above)
{
	unsigned int level;

	for (level = 0; level < QDISC_LEVELS; level++) {
		qdisc = parent_of(result, qdisc);
		if (qdisc == RESULT_NO_QDISC)
			return false;
		if (qdisc == above)
			return true;
	}
	return false;
}

__u32 result_known_as(const struct result *result, __u32 qdisc)
{
	unsigned int level;
	__u32 parent;

	for (level = 0; level < QDISC_LEVELS; level++) {
		parent = parent_of(result, qdisc);
		if (parent >= result->qdisc_count || TC_H_MAJ(result->qdiscs[qdisc].handle))
			break;
		qdisc = parent;
	}
	return qdisc;
}

__u64 probe_time_in(const struct result *result, const struct probe *probe, __u32 qdisc)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++) {
		const struct leg *leg = &probe->legs[i];

		if (leg->kind == LEG_QDISC &&
		    (leg->qdisc == qdisc || leg->root == qdisc ||
		     result_is_below(result, leg->qdisc, qdisc)))
			sum += leg->ns;
	}
	return sum;
}

__u64 probe_exclusive_time_in(const struct result *result, const struct probe *probe, __u32 qdisc)
{
	__u64 sum = 0;
	unsigned int i;

	(void)result;
	for (i = 0; i < probe->leg_count; i++)
		if (probe->legs[i].kind == LEG_QDISC && probe->legs[i].qdisc == qdisc)
			sum += probe->legs[i].ns;
	return sum;
}

const char *result_netns_name(const struct result *result, __u32 netns)
{
	size_t i;

	for (i = 0; i < result->host_count; i++)
		if (result->hosts[i].netns == netns)
			return result->hosts[i].netns_name;
	for (i = 0; i < result->qdisc_count; i++)
		if (result->qdiscs[i].netns == netns)
			return result->qdiscs[i].netns_name;
	return NULL;
}
