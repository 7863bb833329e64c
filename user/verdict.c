// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "qdisc_options.h"
#include "text.h"
#include "units.h"
#include "verdict.h"

#define LEG_KINDS	(LEG_STACK + 1)

static void add_percent(struct text *text, double share)
{
	char buffer[SHARE_TEXT];

	text_add(text, "%s", share_text(share, buffer));
}

static void add_time(struct text *text, double ns)
{
	char buffer[UNITS_TEXT];

	text_add(text, "%s", units_time_text(ns < 0 ? 0 : ns, buffer));
}

static void add_qdisc(struct text *text, const struct result_qdisc *qdisc)
{
	char handle[16];

	text_add(text, "%s %s on %s", qdisc->kind, qdisc_handle_text(qdisc->handle, handle),
		 qdisc->device);
	if (qdisc->netns_name[0])
		text_add(text, " in %s", qdisc->netns_name);
}

/* " in pl-gw", where the namespace has a name. */
static void add_host(struct text *text, const struct result *result, __u32 netns)
{
	const char *name = result_netns_name(result, netns);

	if (name && name[0])
		text_add(text, " in %s", name);
}

/* "the gateway's ", or "NETNS's " where its part is not known. */
static void add_owner(struct text *text, const struct result *result,
		      const struct result_qdisc *qdisc)
{
	unsigned int i;

	for (i = 0; i < result->host_count; i++) {
		if (result->hosts[i].netns != qdisc->netns)
			continue;
		text_add(text, "the %s's ", result->hosts[i].role);
		return;
	}
	if (qdisc->netns_name[0])
		text_add(text, "%s's ", qdisc->netns_name);
	else
		text_add(text, "this host's ");
}

/* ---- the cause: why a qdisc held packets ---- */

static __u64 rate_option(const struct result_qdisc *qdisc, const char *name)
{
	const struct qdisc_option *option;

	if (!qdisc->have_info)
		return 0;
	option = qdisc_option_find(qdisc->info.options, qdisc->info.option_count, name);
	return option ? option->value : 0;
}

/* At which its backlog drains, bit/s: its own, or that of what holds it back; 0: not known. */
static __u64 drain_rate(const struct result *result, const struct cause *cause)
{
	__u64 rate = rate_option(&result->qdiscs[cause->qdisc], "rate");

	if (!rate)
		rate = rate_option(&result->qdiscs[cause->qdisc], "bandwidth");
	if (!rate && cause->have_path && cause->holder.how == HOLDS_BY_RATE)
		rate = cause->holder.rate_bit_per_s;
	return rate;
}

static void describe_cause(const struct judged *judged, struct text *text)
{
	const struct result *result = judged->result;
	const struct cause *cause = &judged->attribution->cause;
	const struct phase_qdisc *loaded = phase_qdisc_find(judged->load, cause->qdisc);
	__u64 rate = drain_rate(result, cause);
	char buffer[UNITS_TEXT];

	if (!loaded)
		return;
	if (rate)
		text_add(text, "rate %s, ", units_rate_text((double)rate, buffer));
	text_add(text, "standing backlog up to %s",
		 units_size_text((double)loaded->backlog_bytes_max, buffer));
	if (rate)
		text_add(text, " = %s at that rate",
			 units_time_text((double)loaded->backlog_bytes_max * 8e9 / (double)rate,
					 buffer));
	else
		text_add(text, " (%llu packets)", loaded->backlog_packets_max);
	text_add(text, ", %llu drop%s", loaded->drops, loaded->drops == 1 ? "" : "s");
	if (cause->waits_in != cause->qdisc)
		text_add(text, "; %s keeps its packets in a %s of its own",
			 result->qdiscs[cause->qdisc].kind, result->qdiscs[cause->waits_in].kind);
}

/* ---- the verdict ---- */

static void add_fraction(const struct judged *judged, struct text *text, double share)
{
	double increase = judged->attribution->rtt_increase_ns;

	add_percent(text, share);
	text_add(text, " of the RTT increase under %s (", judged->load->plan.name);
	add_time(text, share * increase);
	text_add(text, " of ");
	add_time(text, increase);
	text_add(text, ")");
}

/* Does the qdisc hold its packets back by itself, as tbf does? Then it needs no second name. */
static bool holds_itself(const struct result *result, const struct cause *cause)
{
	return cause->holder.kind == HOLDER_QDISC && cause->holder_qdisc != RESULT_NO_QDISC &&
	       result_known_as(result, cause->holder_qdisc) == cause->qdisc;
}

/* What holds the packets back where that is another, and the way there where it is not the root. */
static void say_holder(const struct result *result, const struct cause *cause, struct text *text)
{
	const struct qdisc_holder *holder = &cause->holder;
	bool other = !holds_itself(result, cause);

	if (!cause->have_path)
		return;
	/* What no counter tells is read from the settings. */
	if (other)
		text_add(text, ", held back%s by %s",
			 holder->seen || holder->kind == HOLDER_DEVICE ? "" :
			 ", by its settings,", holder->text);
	if (holder->kind == HOLDER_CLASS || !result->qdiscs[cause->qdisc].root)
		text_add(text, ": %s", cause->path);
}

static void say_pacing(const struct judged *judged, struct text *text)
{
	const struct cause *cause = &judged->attribution->cause;
	const struct result_qdisc *qdisc = &judged->result->qdiscs[cause->qdisc];

	add_fraction(judged, text, cause->held_share);
	text_add(text, " was spent in ");
	add_qdisc(text, qdisc);
	text_add(text, ", sent by its own schedule: %s, which is pacing, not queueing (of its packets' time ",
		 strcmp(qdisc->kind, "fq") ? "it keeps packets until the time that they carry" :
					     "fq paces flows");
	add_time(text, cause->paced_ns);
	text_add(text, " were paced and ");
	add_time(text, cause->queued_ns);
	text_add(text, " queued, in the mean)");
}

static void say_main(const struct judged *judged, struct text *text)
{
	const struct cause *cause = &judged->attribution->cause;

	if (cause->is_pacing) {
		say_pacing(judged, text);
		return;
	}
	add_fraction(judged, text, cause->held_share);
	text_add(text, " was spent waiting in ");
	add_qdisc(text, &judged->result->qdiscs[cause->qdisc]);
	say_holder(judged->result, cause, text);
}

static int compare_shares(const void *a, const void *b)
{
	const struct phase_qdisc *const *left = a, *const *right = b;

	return ((*left)->held_share < (*right)->held_share) -
	       ((*left)->held_share > (*right)->held_share);
}

/* No qdisc holds half of it alone; together they do. */
static int say_several(const struct judged *judged, struct text *text)
{
	const struct phase *load = judged->load;
	const struct phase_qdisc **sorted = calloc(load->qdisc_count + 1, sizeof(*sorted));
	unsigned int i, count = 0;

	if (!sorted)
		return -1;
	for (i = 0; i < load->qdisc_count; i++)
		if (load->qdiscs[i].held_share >= SHARE_NAMED)
			sorted[count++] = &load->qdiscs[i];
	qsort(sorted, count, sizeof(*sorted), compare_shares);
	add_fraction(judged, text, judged->attribution->explained);
	text_add(text, " was spent waiting in several qdiscs: ");
	for (i = 0; i < count; i++) {
		text_add(text, "%s", i ? ", " : "");
		add_qdisc(text, &judged->result->qdiscs[sorted[i]->qdisc]);
		text_add(text, " ");
		add_percent(text, sorted[i]->held_share);
	}
	free(sorted);
	return 0;
}

/* Mean of a kind of leg per received probe of a phase. */
static double mean_of_legs(const struct result *result, const struct phase *phase,
			   enum leg_kind kind)
{
	double sum = 0;
	__u64 count = 0;
	unsigned int leg;
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (!probe_is_of(result, probe, phase))
			continue;
		count++;
		for (leg = 0; leg < probe->leg_count; leg++)
			if (probe->legs[leg].kind == kind)
				sum += (double)probe->legs[leg].ns;
	}
	return count ? sum / (double)count : 0;
}

static void say_place(const struct judged *judged, struct text *text)
{
	static const char *const places[LEG_KINDS] = {
		[LEG_DRIVER] = "in the drivers of this host's devices",
		[LEG_LINK] = "between the devices (the link, or what lies beyond it)",
		[LEG_STACK] = "in the network stack of this host",
	};
	unsigned int kind, place = LEG_QDISC;
	double grown, most = 0;

	for (kind = LEG_DRIVER; kind < LEG_KINDS; kind++) {
		grown = mean_of_legs(judged->result, judged->load, kind) -
			mean_of_legs(judged->result, judged->idle, kind);
		if (grown > most) {
			most = grown;
			place = kind;
		}
	}
	if (!places[place] || most <= judged->attribution->unexplained_ns / 2)
		return;
	text_add(text, ", ");
	add_time(text, most);
	text_add(text, " of it %s", places[place]);
}

static void say_elsewhere(const struct judged *judged, struct text *text)
{
	const struct attribution *attribution = judged->attribution;

	text_add(text, "not on the devices traced: ");
	add_time(text, attribution->unexplained_ns);
	text_add(text, " of ");
	add_time(text, attribution->rtt_increase_ns);
	if (attribution->beyond_device[0]) {
		text_add(text, " are beyond %s", attribution->beyond_device);
		add_host(text, judged->result, attribution->beyond_netns);
		text_add(text, " (RTT increase under %s)", judged->load->plan.name);
	} else {
		text_add(text, " of the RTT increase under %s passed outside of their qdiscs",
			 judged->load->plan.name);
		say_place(judged, text);
	}
	if (attribution->cause.qdisc != RESULT_NO_QDISC &&
	    attribution->cause.held_share >= SHARE_INNOCENT) {
		text_add(text, "; the largest share, ");
		add_percent(text, attribution->cause.held_share);
		text_add(text, ", was in ");
		add_qdisc(text, &judged->result->qdiscs[attribution->cause.qdisc]);
	}
}

/* Is there another qdisc of that kind on that host, so that the kind alone is no name? */
static bool has_namesake(const struct result *result, const struct result_qdisc *qdisc)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		const struct result_qdisc *other = &result->qdiscs[i];

		if (other != qdisc && other->root && other->netns == qdisc->netns &&
		    !strcmp(other->kind, qdisc->kind))
			return true;
	}
	return false;
}

static void say_innocent(const struct judged *judged, const struct exoneration *innocent,
			 struct text *text)
{
	const struct result_qdisc *qdisc = &judged->result->qdiscs[innocent->qdisc];

	text_add(text, "; not ");
	add_owner(text, judged->result, qdisc);
	text_add(text, "%s", qdisc->kind);
	if (has_namesake(judged->result, qdisc))
		text_add(text, " on %s", qdisc->device);
	text_add(text, ": %s (share < 1 %%)", innocent->empty ? "its queue was empty" :
		 "what waited in it did not hold up the probes");
}

static struct text verdict_text(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;

	return text_begin(attribution->verdict, sizeof(attribution->verdict));
}

void verdict_fill_no_increase(const struct judged *judged)
{
	struct text text = verdict_text(judged);

	text_add(&text, "the load did not raise the RTT: median ");
	add_time(&text, (double)judged->load->rtt.p50);
	text_add(&text, " under %s, ", judged->load->plan.name);
	add_time(&text, (double)judged->idle->rtt.p50);
	text_add(&text, " when idle.");
}

void verdict_fill_no_answer(const struct judged *judged)
{
	const struct phase *missing = judged->idle->received ? judged->load : judged->idle;
	struct text text = verdict_text(judged);

	if (missing->sent)
		text_add(&text, "no verdict: all %u probes of the %s phase were lost.",
			 missing->sent, missing->plan.name);
	else
		text_add(&text, "no verdict: the %s phase has no probes.", missing->plan.name);
}

int verdict_fill(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	struct cause *cause = &attribution->cause;
	struct text verdict = verdict_text(judged);
	struct text why = text_begin(cause->text, sizeof(cause->text));
	bool known = cause->qdisc != RESULT_NO_QDISC;
	unsigned int i;

	if (known && attribution->explained >= SHARE_MAIN)
		describe_cause(judged, &why);
	if (known && cause->held_share >= SHARE_MAIN)
		say_main(judged, &verdict);
	else if (!known || attribution->explained < SHARE_MAIN)
		say_elsewhere(judged, &verdict);
	else if (say_several(judged, &verdict))
		return -1;
	for (i = 0; i < attribution->exonerated_count; i++)
		say_innocent(judged, &attribution->exonerated[i], &verdict);
	text_add(&verdict, ".");
	return 0;
}
