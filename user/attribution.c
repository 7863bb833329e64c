// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
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

/* A qdisc with less than this of it is not to blame. */
#define SHARE_INNOCENT		0.01

/* Bytes of an Ethernet frame with an MTU of 1500: a queue that holds less in the mean is empty. */
#define FULL_PACKET		1514

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
	double tenths = trunc(share * 1000 + copysign(1e-9, share));

	if (isnan(share))
		snprintf(text, SHARE_TEXT, "-");
	else if (tenths == 0)	/* also -0 */
		snprintf(text, SHARE_TEXT, "0 %%");
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

/* " in pl-gw", where the namespace has a name. */
static void add_host(struct text *text, const struct result *result, __u32 netns)
{
	const char *name = result_netns_name(result, netns);

	if (name && name[0])
		add_text(text, " in %s", name);
}

/* "the gateway's ", or "NETNS's " where its part is not known. */
static void add_owner(struct text *text, const struct result *result,
		      const struct result_qdisc *qdisc)
{
	unsigned int i;

	for (i = 0; i < result->host_count; i++) {
		if (result->hosts[i].netns != qdisc->netns)
			continue;
		add_text(text, "the %s's ", result->hosts[i].role);
		return;
	}
	if (qdisc->netns_name[0])
		add_text(text, "%s's ", qdisc->netns_name);
	else
		add_text(text, "this host's ");
}

/* ---- arithmetic ---- */

/* What one load phase is judged by. */
struct judged {
	const struct result *result;
	const struct phase *idle;
	struct phase *load;
	struct attribution *attribution;
};

static bool is_of(const struct result *result, const struct probe *probe,
		  const struct phase *phase)
{
	return probe->phase == (int)(phase - result->phases) && !probe->lost;
}

static double sum_of_increases(const struct judged *judged)
{
	const struct result *result = judged->result;
	double idle = (double)judged->idle->rtt.p50, sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (is_of(result, &result->probes[i], judged->load))
			sum += (double)result->probes[i].rtt_ns - idle;
	return sum;
}

static const struct phase_qdisc *find_qdisc(const struct phase *phase, __u32 qdisc)
{
	unsigned int i;

	for (i = 0; i < phase->qdisc_count; i++)
		if (phase->qdiscs[i].qdisc == qdisc)
			return &phase->qdiscs[i];
	return NULL;
}

/* The idle median of the same; a qdisc that the idle phase does not list held none. */
static double sum_of_own_increases(const struct judged *judged, __u32 qdisc)
{
	const struct phase_qdisc *idle = find_qdisc(judged->idle, qdisc);
	const struct result *result = judged->result;
	double median = idle ? (double)idle->own_median_ns : 0, sum = 0;
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (is_of(result, &result->probes[i], judged->load))
			sum += (double)probe_time_in(&result->probes[i], qdisc) - median;
	return sum;
}

/* Roots only: a root's sojourn holds its children's, so shares of roots may be added. */
static double fill_shares(const struct judged *judged, double increases)
{
	struct attribution *attribution = judged->attribution;
	struct phase *load = judged->load;
	double explained = 0;
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++) {
		struct phase_qdisc *qdisc = &load->qdiscs[i];

		if (!judged->result->qdiscs[qdisc->qdisc].root)
			continue;
		qdisc->share = sum_of_own_increases(judged, qdisc->qdisc) / increases;
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

/* ---- where the probes left what is traced ---- */

/* A traced device beyond which probes were for a time out of sight. */
struct edge {
	__u32 netns;
	char device[sizeof(((struct leg *)0)->device)];
	double load_ns, idle_ns;	/* sums over the probes of the phase */
};

#define EDGES_MAX	16

/*
 * The leg whose device a probe left for where nothing is traced, or came back by,
 * with leg i: a link of which only one end is seen. NULL where leg i is none. A
 * probe that begins with a link comes from a host that is not traced, and its
 * reply goes back there.
 */
static const struct leg *edge_of(const struct probe *probe, unsigned int i)
{
	const struct leg *leg = &probe->legs[i];

	if (leg->kind != LEG_LINK)
		return NULL;
	if (!i)
		return leg;
	if (i + 1 == probe->leg_count && probe->legs[0].kind == LEG_LINK)
		return &probe->legs[i - 1];
	return leg->reply && !probe->legs[i - 1].reply ? &probe->legs[i - 1] : NULL;
}

static struct edge *find_edge(struct edge *edges, unsigned int *count, const struct leg *leg)
{
	unsigned int i;

	for (i = 0; i < *count; i++)
		if (edges[i].netns == leg->netns && !strcmp(edges[i].device, leg->device))
			return &edges[i];
	if (*count == EDGES_MAX)
		return NULL;
	edges[*count] = (struct edge){ .netns = leg->netns };
	memcpy(edges[*count].device, leg->device, sizeof(leg->device));
	return &edges[(*count)++];
}

static void add_edges(const struct judged *judged, const struct probe *probe, struct edge *edges,
		      unsigned int *count)
{
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++) {
		const struct leg *leg = edge_of(probe, i);
		struct edge *edge = leg ? find_edge(edges, count, leg) : NULL;

		if (!edge)
			continue;
		if (is_of(judged->result, probe, judged->load))
			edge->load_ns += (double)probe->legs[i].ns / judged->load->received;
		else
			edge->idle_ns += (double)probe->legs[i].ns / judged->idle->received;
	}
}

/* The edge beyond which most of what no traced qdisc explains has grown. */
static void fill_beyond(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	const struct result *result = judged->result;
	struct edge edges[EDGES_MAX];
	unsigned int count = 0, i;
	double most = 0;
	size_t probe;

	for (probe = 0; probe < result->probe_count; probe++)
		if (is_of(result, &result->probes[probe], judged->load) ||
		    is_of(result, &result->probes[probe], judged->idle))
			add_edges(judged, &result->probes[probe], edges, &count);
	for (i = 0; i < count; i++) {
		if (edges[i].load_ns - edges[i].idle_ns <= most)
			continue;
		most = edges[i].load_ns - edges[i].idle_ns;
		memcpy(attribution->beyond_device, edges[i].device, sizeof(edges[i].device));
		attribution->beyond_netns = edges[i].netns;
		attribution->beyond_ns = most;
	}
}

/* ---- those that it was not ---- */

static bool any_probe_passed(const struct judged *judged, __u32 qdisc)
{
	const struct result *result = judged->result;
	unsigned int leg;
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (!is_of(result, probe, judged->load))
			continue;
		for (leg = 0; leg < probe->leg_count; leg++)
			if (probe->legs[leg].kind == LEG_QDISC && probe->legs[leg].qdisc == qdisc)
				return true;
	}
	return false;
}

/* On the way of the probes, on another host than the cause, and it held next to nothing. */
static bool is_innocent(const struct judged *judged, const struct phase_qdisc *qdisc)
{
	const struct attribution *attribution = judged->attribution;
	const struct result_qdisc *suspect = &judged->result->qdiscs[qdisc->qdisc];

	if (!suspect->root || fabs(qdisc->share) >= SHARE_INNOCENT)
		return false;
	if (attribution->cause_qdisc != RESULT_NO_QDISC &&
	    attribution->cause_share >= SHARE_INNOCENT &&
	    judged->result->qdiscs[attribution->cause_qdisc].netns == suspect->netns)
		return false;
	return any_probe_passed(judged, qdisc->qdisc);
}

static void fill_exonerated(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	const struct phase *load = judged->load;
	unsigned int i;

	for (i = 0; i < load->qdisc_count; i++) {
		const struct phase_qdisc *qdisc = &load->qdiscs[i];

		if (attribution->exonerated_count == EXONERATIONS_MAX)
			return;
		if (!is_innocent(judged, qdisc))
			continue;
		attribution->exonerated[attribution->exonerated_count++] = (struct exoneration){
			.qdisc = qdisc->qdisc,
			.share = qdisc->share,
			.empty = qdisc->backlog_bytes_mean < FULL_PACKET,
		};
	}
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

static void describe_cause(const struct judged *judged, struct text *text)
{
	__u32 cause = judged->attribution->cause_qdisc;
	const struct phase_qdisc *loaded = find_qdisc(judged->load, cause);
	const struct qdisc_option *rate = find_option(&judged->result->qdiscs[cause], "rate");
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

static void add_fraction(const struct judged *judged, struct text *text, double share)
{
	double increase = judged->attribution->rtt_increase_ns;

	add_percent(text, share);
	add_text(text, " of the RTT increase under %s (", judged->load->plan.name);
	add_time(text, share * increase);
	add_text(text, " of ");
	add_time(text, increase);
	add_text(text, ")");
}

static void say_main(const struct judged *judged, struct text *text)
{
	const struct attribution *attribution = judged->attribution;

	add_fraction(judged, text, attribution->cause_share);
	add_text(text, " was spent waiting in ");
	add_qdisc(text, &judged->result->qdiscs[attribution->cause_qdisc]);
}

static int compare_shares(const void *a, const void *b)
{
	const struct phase_qdisc *const *left = a, *const *right = b;

	return ((*left)->share < (*right)->share) - ((*left)->share > (*right)->share);
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
		if (load->qdiscs[i].share >= SHARE_NAMED)
			sorted[count++] = &load->qdiscs[i];
	qsort(sorted, count, sizeof(*sorted), compare_shares);
	add_fraction(judged, text, judged->attribution->explained);
	add_text(text, " was spent waiting in several qdiscs: ");
	for (i = 0; i < count; i++) {
		add_text(text, "%s", i ? ", " : "");
		add_qdisc(text, &judged->result->qdiscs[sorted[i]->qdisc]);
		add_text(text, " ");
		add_percent(text, sorted[i]->share);
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

		if (!is_of(result, probe, phase))
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
	add_text(text, ", ");
	add_time(text, most);
	add_text(text, " of it %s", places[place]);
}

static void say_elsewhere(const struct judged *judged, struct text *text)
{
	const struct attribution *attribution = judged->attribution;

	add_text(text, "not on the devices traced: ");
	add_time(text, attribution->unexplained_ns);
	add_text(text, " of ");
	add_time(text, attribution->rtt_increase_ns);
	if (attribution->beyond_device[0]) {
		add_text(text, " are beyond %s", attribution->beyond_device);
		add_host(text, judged->result, attribution->beyond_netns);
		add_text(text, " (RTT increase under %s)", judged->load->plan.name);
	} else {
		add_text(text, " of the RTT increase under %s passed outside of their qdiscs",
			 judged->load->plan.name);
		say_place(judged, text);
	}
	if (attribution->cause_qdisc != RESULT_NO_QDISC &&
	    attribution->cause_share >= SHARE_INNOCENT) {
		add_text(text, "; the largest share, ");
		add_percent(text, attribution->cause_share);
		add_text(text, ", was in ");
		add_qdisc(text, &judged->result->qdiscs[attribution->cause_qdisc]);
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

	add_text(text, "; not ");
	add_owner(text, judged->result, qdisc);
	add_text(text, "%s", qdisc->kind);
	if (has_namesake(judged->result, qdisc))
		add_text(text, " on %s", qdisc->device);
	add_text(text, ": %s (share < 1 %%)", innocent->empty ? "its queue was empty" :
		 "what waited in it did not hold up the probes");
}

static void say_no_increase(const struct judged *judged, struct text *text)
{
	add_text(text, "the load did not raise the RTT: median ");
	add_time(text, (double)judged->load->rtt.p50);
	add_text(text, " under %s, ", judged->load->plan.name);
	add_time(text, (double)judged->idle->rtt.p50);
	add_text(text, " when idle.");
}

static void say_no_answer(const struct judged *judged, struct text *text)
{
	const struct phase *missing = judged->idle->received ? judged->load : judged->idle;

	if (missing->sent)
		add_text(text, "no verdict: all %u probes of the %s phase were lost.",
			 missing->sent, missing->plan.name);
	else
		add_text(text, "no verdict: the %s phase has no probes.", missing->plan.name);
}

static bool is_worth_explaining(double increase, double idle)
{
	return increase >= INCREASE_FELT_NS ||
	       (increase >= INCREASE_LEAST_NS && increase >= INCREASE_FACTOR * idle);
}

static int fill_verdict(const struct judged *judged, struct text *verdict)
{
	struct attribution *attribution = judged->attribution;
	struct text cause = { attribution->cause_text, sizeof(attribution->cause_text), 0 };
	bool known = attribution->cause_qdisc != RESULT_NO_QDISC;
	unsigned int i;

	if (known && attribution->explained >= SHARE_MAIN)
		describe_cause(judged, &cause);
	if (known && attribution->cause_share >= SHARE_MAIN)
		say_main(judged, verdict);
	else if (!known || attribution->explained < SHARE_MAIN)
		say_elsewhere(judged, verdict);
	else if (say_several(judged, verdict))
		return -1;
	for (i = 0; i < attribution->exonerated_count; i++)
		say_innocent(judged, &attribution->exonerated[i], verdict);
	add_text(verdict, ".");
	return 0;
}

/* What no qdisc explains was beyond one device, or else the device is not named. */
static void fill_outside(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;

	if (attribution->explained >= SHARE_MAIN)
		return;
	fill_beyond(judged);
	if (attribution->beyond_ns > attribution->unexplained_ns / 2)
		return;
	attribution->beyond_device[0] = '\0';
	attribution->beyond_netns = 0;
	attribution->beyond_ns = 0;
}

static int fill_one(const struct judged *judged)
{
	struct attribution *attribution = judged->attribution;
	struct text verdict = { attribution->verdict, sizeof(attribution->verdict), 0 };
	double increases;

	memset(attribution, 0, sizeof(*attribution));
	attribution->cause_qdisc = RESULT_NO_QDISC;
	attribution->cause_share = NAN;
	if (!judged->idle->received || !judged->load->received) {
		say_no_answer(judged, &verdict);
		return 0;
	}
	increases = sum_of_increases(judged);
	attribution->rtt_increase_ns = increases / judged->load->received;
	attribution->rtt_increase_median_ns = (double)judged->load->rtt.p50 -
					      (double)judged->idle->rtt.p50;
	attribution->valid = is_worth_explaining(attribution->rtt_increase_ns,
						 (double)judged->idle->rtt.p50);
	if (!attribution->valid) {
		say_no_increase(judged, &verdict);
		return 0;
	}
	attribution->explained = clamp_share(fill_shares(judged, increases));
	attribution->unexplained_ns = (1 - attribution->explained) * attribution->rtt_increase_ns;
	fill_outside(judged);
	fill_exonerated(judged);
	return fill_verdict(judged, &verdict);
}

int attribution_fill(struct result *result, struct error *error)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);
	unsigned int i;

	for (i = 0; idle && i < result->phase_count; i++) {
		struct phase *load = &result->phases[i];
		const struct judged judged = { result, idle, load, &load->load.attribution };

		if (load->plan.kind == PHASE_LOAD && fill_one(&judged))
			return error_set(error, EXIT_CANNOT, "out of memory for the verdict");
	}
	return 0;
}

char *attribution_verdicts(const struct result *result)
{
	char *text = NULL;
	bool any = false;
	unsigned int i;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return NULL;
	for (i = 0; i < result->phase_count; i++) {
		const char *verdict = result->phases[i].load.attribution.verdict;

		if (!*verdict)
			continue;
		fprintf(stream, "%s%s", any ? " " : "", verdict);
		any = true;
	}
	if (!fclose(stream))
		return text;
	free(text);
	return NULL;
}
