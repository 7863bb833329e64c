// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "judge.h"

/* The first reason is the one that is told. */
static void note(struct result *result, const char *text)
{
	if (!result->incomplete_why[0])
		snprintf(result->incomplete_why, sizeof(result->incomplete_why), "%s", text);
}

static void judge_ledgers(struct result *result)
{
	char text[256];
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		const struct result_qdisc *qdisc = &result->qdiscs[i];

		if (!qdisc->traced &&
		    (!qdisc->root || qdisc->ledger.agrees == LEDGER_UNKNOWN))
			continue;
		if (qdisc->ledger.agrees == LEDGER_AGREES && !qdisc->ledger.unaccounted)
			continue;
		snprintf(text, sizeof(text), "ledger of %.80s, %.150s", qdisc->id,
			 qdisc->ledger.why);
		note(result, text);
	}
}

static size_t count_broken(const struct probe *probes, size_t count)
{
	size_t i, broken = 0;

	for (i = 0; i < count; i++)
		broken += !probes[i].lost && !probes[i].complete;
	return broken;
}

static void judge_probes(struct result *result)
{
	size_t broken = count_broken(result->probes, result->probe_count);
	size_t all = result->probe_count;
	char text[128];

	for (unsigned int i = 0; i < SCENARIO_SIDE_PROBES; i++) {
		const struct side_probe_result *side = &result->side_probes[i];

		broken += count_broken(side->probes, side->probe_count);
		all += side->probe_count;
	}
	if (broken) {
		snprintf(text, sizeof(text),
			 "%zu of %zu probes were not seen at every point of their way", broken,
			 all);
		note(result, text);
	}
	if (result->ping_unmatched) {
		snprintf(text, sizeof(text), "%u replies differ between ping and the trace",
			 result->ping_unmatched);
		note(result, text);
	}
}

void judge_result(struct result *result, const char *trouble)
{
	const __u64 *losses = (const __u64 *)&result->losses;
	size_t i;

	result->incomplete_why[0] = '\0';
	note(result, trouble);
	judge_ledgers(result);
	judge_probes(result);
	for (i = 0; i < sizeof(result->losses) / sizeof(__u64); i++)
		if (losses[i])
			note(result, "the tracer lost something (see losses)");
	if (result->clock_steps)
		note(result, "the clock was set while ping ran");
	result->complete = !result->incomplete_why[0];
}
