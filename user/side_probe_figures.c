// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "side_probe_figures.h"

static void add_legs(const struct result *result, const struct probe *probe, double *in)
{
	for (unsigned int i = 0; i < probe->leg_count; i++)
		if (probe->legs[i].kind == LEG_QDISC && probe->legs[i].qdisc < result->qdisc_count)
			in[result_known_as(result, probe->legs[i].qdisc)] +=
				(double)probe->legs[i].ns;
}

static void find_longest(const struct result *result, const double *in,
			 struct side_probe_figures *figures)
{
	for (size_t i = 0; i < result->qdisc_count; i++) {
		if (in[i] / (double)figures->rtt.count <= figures->qdisc_ns)
			continue;
		figures->qdisc = (__u32)i;
		figures->qdisc_ns = in[i] / (double)figures->rtt.count;
	}
}

int side_probe_figures(const struct result *result, unsigned int side, const struct phase *phase,
		       struct side_probe_figures *figures, struct error *error)
{
	const struct side_probe_result *probes = &result->side_probes[side];
	__u64 *values = calloc(probes->probe_count + 1, sizeof(*values)), count = 0;
	double *in = calloc(result->qdisc_count + 1, sizeof(*in));
	int index = (int)(phase - result->phases), failed = -1;

	memset(figures, 0, sizeof(*figures));
	figures->qdisc = RESULT_NO_QDISC;
	if (!values || !in) {
		error_set(error, EXIT_CANNOT, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < probes->probe_count; i++) {
		const struct probe *probe = &probes->probes[i];

		if (probe->phase != index)
			continue;
		figures->sent++;
		figures->lost += probe->lost;
		if (probe->lost)
			continue;
		values[count++] = probe->rtt_ns;
		add_legs(result, probe, in);
	}
	summary_of_values(values, count, &figures->rtt);
	if (count)
		find_longest(result, in, figures);
	failed = 0;
out:
	free(values);
	free(in);
	return failed;
}
