// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

void result_init(struct result *result)
{
	unsigned int i;

	memset(result, 0, sizeof(*result));
	for (i = 0; i < PHASES; i++)
		result->phases[i].name = i;
	result->attribution.cause_qdisc = RESULT_NO_QDISC;
	result->attribution.cause_share = NAN;
}

static void free_probes(struct result *result)
{
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		free(result->probes[i].legs);
		free(result->probes[i].events);
	}
	free(result->probes);
}

static void free_samples(struct result *result)
{
	size_t i;

	for (i = 0; i < result->sample_count; i++) {
		free(result->samples[i].parts);
		free(result->samples[i].drop_parts);
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

void result_free(struct result *result)
{
	unsigned int i;

	free_probes(result);
	free_samples(result);
	free_command(result->iperf3_command);
	iperf3_result_free(&result->iperf3);
	for (i = 0; i < PHASES; i++)
		free(result->phases[i].qdiscs);
	free(result->hooks);
	free(result->qdiscs);
	free(result->tcp);
	free(result->retransmits);
	result_init(result);
}

__u64 probe_time_in(const struct probe *probe, __u32 qdisc)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++)
		if (probe->legs[i].kind == LEG_QDISC && probe->legs[i].qdisc == qdisc)
			sum += probe->legs[i].ns;
	return sum;
}
