// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>

#include "responsiveness.h"
#include "statistics.h"

#define MS		1e6
#define MINUTE_NS	60e9
#define KEPT_PERCENT	95

const char *responsiveness_grade(double increase_ns)
{
	static const struct {
		double below_ns;
		const char *grade;
	} grades[] = {
		{ 5 * MS, "A+" }, { 30 * MS, "A" }, { 60 * MS, "B" }, { 200 * MS, "C" },
		{ 400 * MS, "D" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(grades) / sizeof(grades[0]); i++)
		if (increase_ns < grades[i].below_ns)
			return grades[i].grade;
	return "F";
}

const char *responsiveness_grade_of(const struct result *result, const struct phase *load)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);

	if (load->plan.kind != PHASE_LOAD || !idle || !idle->received || !load->received)
		return NULL;
	return responsiveness_grade(load->load.attribution.rtt_increase_ns);
}

double responsiveness_rpm(const struct result *result, const struct phase *phase)
{
	double *rtts = calloc(result->probe_count + 1, sizeof(*rtts)), mean = NAN;
	size_t count = 0, kept, i;

	if (!rtts)
		return NAN;
	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], phase))
			rtts[count++] = (double)result->probes[i].rtt_ns;
	if (count) {
		/* sorts them */
		statistics_percentile(rtts, count, KEPT_PERCENT);
		kept = (size_t)ceil((double)count * KEPT_PERCENT / 100);
		mean = statistics_mean(rtts, kept);
	}
	free(rtts);
	return mean > 0 ? MINUTE_NS / mean : NAN;
}
