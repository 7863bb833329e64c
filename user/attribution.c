// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "phase.h"
#include "units.h"

/*
 * An increase is worth explaining where its mean is at least 5 ms, which an
 * application can feel, or else at least twice the idle median and half a
 * millisecond: less than that is what a busy CPU does to any RTT.
 */
#define INCREASE_FELT_NS	5e6
#define INCREASE_LEAST_NS	0.5e6
#define INCREASE_FACTOR		2

/* From this share on a single qdisc is named as the place. */
#define SHARE_MAIN		0.5

/* Of qdiscs that only together explain the increase, those are named that hold this much. */
#define SHARE_NAMED		0.05

#define LEG_KINDS	(LEG_STACK + 1)

/* Text that grows in a buffer of fixed size; what finds no room is cut off. */
struct text {
	char *buffer;
	size_t size, used;
};

static void add_text(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_text(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->buffer + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		text->used += (size_t)length;
	if (text->used >= text->size)
		text->used = text->size - 1;
}

const char *share_text(double share, char text[SHARE_TEXT])
{
	/* Half a billionth makes up for 0.998 * 1000 being 997.999... */
	double tenths = floor(share * 1000 + 1e-9);

	if (isnan(share))
		snprintf(text, SHARE_TEXT, "-");
	else if (fmod(tenths, 10) == 0)
		snprintf(text, SHARE_TEXT, "%.0f %%", tenths / 10);
	else
		snprintf(text, SHARE_TEXT, "%.1f %%", tenths / 10);
	return text;
}

static void add_percent(struct text *text, double share)
{
	char buffer[SHARE_TEXT];

	add_text(text, "%s", share_text(share, buffer));
}

static void add_time(struct text *text, double ns)
{
	char buffer[UNITS_TEXT];

	add_text(text, "%s", units_time_text(ns < 0 ? 0 : ns, buffer));
}

static void add_qdisc(struct text *text, const struct result_qdisc *qdisc)
{
	char handle[16];

	add_text(text, "%s %s on %s", qdisc->kind, qdisc_handle_text(qdisc->handle, handle),
		 qdisc->device);
	if (qdisc->netns_name[0])
		add_text(text, " in %s", qdisc->netns_name);
}

/* ---- arithmetic ---- */

static bool is_loaded(const struct probe *probe)
{
	return probe->phase == PHASE_LOAD && !probe->lost;
}

static double sum_of_increases(const struct result *result)
{
	double idle = (double)result->phases[PHASE_IDLE].rtt.p50, sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (is_loaded(&result->probes[i]))
			sum += (double)result->probes[i].rtt_ns - idle;
	return sum;
}

/* Median of the probes' own sojourn while idle; a qdisc that the idle phase does not list had none. */
static double idle_own_median(const struct result *result, __u32 qdisc)
{
	const struct phase *idle = &result->phases[PHASE_IDLE];
	unsigned int i;

	for (i = 0; i < idle->qdisc_count; i++)
		if (idle->qdiscs[i].qdisc == qdisc)
			return (double)idle->qdiscs[i].own_median_ns;
	return 0;
}

static double sum_of_own_increases(const struct result *result, __u32 qdisc)
{
	double idle = idle_own_median(result, qdisc), sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (is_loaded(&result->probes[i]))
			sum += (double)probe_time_in(&result->probes[i], qdisc) - idle;
	return sum;
}

/* Roots only: a root's sojourn holds its children's, so shares of roots may be added. */
static double fill_shares(struct result *result, double increases)
{
	struct attribution *attribution = &result->attribution;
	struct phase *load = &result->phases[PHASE_LOAD];
	double explained = 0;
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++) {
		struct phase_qdisc *qdisc = &load->qdiscs[i];

		if (!result->qdiscs[qdisc->qdisc].root)
			continue;
		qdisc->share = sum_of_own_increases(result, qdisc->qdisc) / increases;
		explained += qdisc->share;
		if (attribution->cause_qdisc == RESULT_NO_QDISC ||
		    qdisc->share > attribution->cause_share) {
			attribution->cause_qdisc = qdisc->qdisc;
			attribution->cause_share = qdisc->share;
		}
	}
	return explained;
}

static double clamp_share(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* ---- the cause: why a qdisc held packets ---- */

static const struct qdisc_option *find_option(const struct result_qdisc *qdisc, const char *name)
{
	unsigned int i;

	if (!qdisc->have_info)
		return NULL;
	for (i = 0; i < qdisc->info.option_count; i++)
		if (!strcmp(qdisc->info.options[i].name, name))
			return &qdisc->info.options[i];
	return NULL;
}

static const struct phase_qdisc *find_loaded(const struct result *result, __u32 qdisc)
{
	const struct phase *load = &result->phases[PHASE_LOAD];
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++)
		if (load->qdiscs[i].qdisc == qdisc)
			return &load->qdiscs[i];
	return NULL;
}

static void describe_cause(const struct result *result, struct text *text)
{
	const struct result_qdisc *qdisc = &result->qdiscs[result->attribution.cause_qdisc];
	const struct phase_qdisc *loaded = find_loaded(result, result->attribution.cause_qdisc);
	const struct qdisc_option *rate = find_option(qdisc, "rate");
	char buffer[UNITS_TEXT];

	if (!loaded)
		return;
	if (rate && rate->value)
		add_text(text, "rate %s, ", units_rate_text((double)rate->value, buffer));
	add_text(text, "standing backlog up to %s",
		 units_size_text((double)loaded->backlog_bytes_max, buffer));
	if (rate && rate->value)
		add_text(text, " = %s at that rate",
			 units_time_text((double)loaded->backlog_bytes_max * 8e9 /
					 (double)rate->value, buffer));
	else
		add_text(text, " (%llu packets)", loaded->backlog_packets_max);
	add_text(text, ", %llu drop%s", loaded->drops, loaded->drops == 1 ? "" : "s");
}

/* ---- the verdict ---- */

static void add_fraction(struct text *text, double share, double increase)
{
	add_percent(text, share);
	add_text(text, " of the RTT increase under load (");
	add_time(text, share * increase);
	add_text(text, " of ");
	add_time(text, increase);
	add_text(text, ")");
}

static void say_main(const struct result *result, struct text *text)
{
	add_fraction(text, result->attribution.cause_share, result->attribution.rtt_increase_ns);
	add_text(text, " was spent waiting in ");
	add_qdisc(text, &result->qdiscs[result->attribution.cause_qdisc]);
	add_text(text, ".");
}

static int compare_shares(const void *a, const void *b)
{
	const struct phase_qdisc *const *left = a, *const *right = b;

	return ((*left)->share < (*right)->share) - ((*left)->share > (*right)->share);
}

/* No qdisc holds half of it alone; together they do. */
static int say_several(const struct result *result, struct text *text)
{
	const struct phase *load = &result->phases[PHASE_LOAD];
	const struct phase_qdisc **sorted = calloc(load->qdisc_count + 1, sizeof(*sorted));
	unsigned int i, count = 0;

	if (!sorted)
		return -1;
	for (i = 0; i < load->qdisc_count; i++)
		if (load->qdiscs[i].share >= SHARE_NAMED)
			sorted[count++] = &load->qdiscs[i];
	qsort(sorted, count, sizeof(*sorted), compare_shares);
	add_fraction(text, result->attribution.explained, result->attribution.rtt_increase_ns);
	add_text(text, " was spent waiting in several qdiscs: ");
	for (i = 0; i < count; i++) {
		add_text(text, "%s", i ? ", " : "");
		add_qdisc(text, &result->qdiscs[sorted[i]->qdisc]);
		add_text(text, " ");
		add_percent(text, sorted[i]->share);
	}
	add_text(text, ".");
	free(sorted);
	return 0;
}

/* Mean of a kind of leg per received probe of a phase. */
static double mean_of_legs(const struct result *result, enum phase_name phase, enum leg_kind kind)
{
	double sum = 0;
	__u64 count = 0;
	unsigned int leg;
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (probe->phase != (int)phase || probe->lost)
			continue;
		count++;
		for (leg = 0; leg < probe->leg_count; leg++)
			if (probe->legs[leg].kind == kind)
				sum += (double)probe->legs[leg].ns;
	}
	return count ? sum / (double)count : 0;
}

static void say_elsewhere(const struct result *result, struct text *text)
{
	static const char *const places[LEG_KINDS] = {
		[LEG_DRIVER] = "in the drivers of this host's devices",
		[LEG_LINK] = "between the devices (the link, or what lies beyond it)",
		[LEG_STACK] = "in the network stack of this host",
	};
	const struct attribution *attribution = &result->attribution;
	double grown, most = 0;
	unsigned int kind, place = LEG_QDISC;

	add_text(text, "not on the devices traced: ");
	add_time(text, attribution->unexplained_ns);
	add_text(text, " of ");
	add_time(text, attribution->rtt_increase_ns);
	add_text(text, " of the RTT increase under load passed outside of their qdiscs");
	for (kind = LEG_DRIVER; kind < LEG_KINDS; kind++) {
		grown = mean_of_legs(result, PHASE_LOAD, kind) -
			mean_of_legs(result, PHASE_IDLE, kind);
		if (grown > most) {
			most = grown;
			place = kind;
		}
	}
	if (places[place] && most > attribution->unexplained_ns / 2) {
		add_text(text, ", ");
		add_time(text, most);
		add_text(text, " of it %s", places[place]);
	}
	if (attribution->cause_qdisc != RESULT_NO_QDISC && attribution->cause_share >= 0.001) {
		add_text(text, "; the largest share, ");
		add_percent(text, attribution->cause_share);
		add_text(text, ", was in ");
		add_qdisc(text, &result->qdiscs[attribution->cause_qdisc]);
	}
	add_text(text, ".");
}

static void say_no_increase(const struct result *result, struct text *text)
{
	add_text(text, "the load did not raise the RTT: median ");
	add_time(text, (double)result->phases[PHASE_LOAD].rtt.p50);
	add_text(text, " under load, ");
	add_time(text, (double)result->phases[PHASE_IDLE].rtt.p50);
	add_text(text, " when idle.");
}

static void say_no_answer(const struct result *result, struct text *text)
{
	enum phase_name missing = result->phases[PHASE_IDLE].received ? PHASE_LOAD : PHASE_IDLE;

	if (result->phases[missing].sent)
		add_text(text, "no verdict: all %u probes of the %s phase were lost.",
			 result->phases[missing].sent, phase_name_text(missing));
	else
		add_text(text, "no verdict: the %s phase has no probes.",
			 phase_name_text(missing));
}

static bool is_worth_explaining(double increase, double idle)
{
	return increase >= INCREASE_FELT_NS ||
	       (increase >= INCREASE_LEAST_NS && increase >= INCREASE_FACTOR * idle);
}

static int fill_verdict(struct result *result, struct text *verdict)
{
	struct attribution *attribution = &result->attribution;
	struct text cause = { attribution->cause_text, sizeof(attribution->cause_text), 0 };
	bool known = attribution->cause_qdisc != RESULT_NO_QDISC;

	if (known && attribution->cause_share >= SHARE_MAIN) {
		describe_cause(result, &cause);
		say_main(result, verdict);
		return 0;
	}
	if (known && attribution->explained >= SHARE_MAIN) {
		describe_cause(result, &cause);
		return say_several(result, verdict);
	}
	say_elsewhere(result, verdict);
	return 0;
}

int attribution_fill(struct result *result, struct error *error)
{
	struct attribution *attribution = &result->attribution;
	const struct phase *idle = &result->phases[PHASE_IDLE], *load = &result->phases[PHASE_LOAD];
	struct text verdict = { attribution->verdict, sizeof(attribution->verdict), 0 };
	double increases, explained;

	memset(attribution, 0, sizeof(*attribution));
	attribution->cause_qdisc = RESULT_NO_QDISC;
	attribution->cause_share = NAN;
	if (!idle->received || !load->received) {
		say_no_answer(result, &verdict);
		return 0;
	}
	increases = sum_of_increases(result);
	attribution->rtt_increase_ns = increases / load->received;
	attribution->rtt_increase_median_ns = (double)load->rtt.p50 - (double)idle->rtt.p50;
	attribution->valid = is_worth_explaining(attribution->rtt_increase_ns,
						 (double)idle->rtt.p50);
	if (!attribution->valid) {
		say_no_increase(result, &verdict);
		return 0;
	}
	explained = clamp_share(fill_shares(result, increases));
	attribution->explained = explained;
	attribution->unexplained_ns = (1 - explained) * attribution->rtt_increase_ns;
	if (fill_verdict(result, &verdict))
		return error_set(error, EXIT_CANNOT, "out of memory for the verdict");
	return 0;
}
