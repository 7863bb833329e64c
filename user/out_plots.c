// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out_plots.h"

#define CURVE_LINES	8
#define LOW_LINES	4	/* of the curves below the first */
#define TITLE_SIZE	160
#define LABEL_SIZE	128

/* Samples and intervals farther apart than so many of their own lengths are not joined. */
#define GAP_LENGTHS	2.5

/* ---- the time axis ---- */

struct axis {
	__u64 begin_ns, end_ns;
	double end;			/* seconds since begin_ns */
	struct plot_span spans[SCENARIO_PHASES_MAX];
	size_t count;
};

static double seconds_of(const struct axis *axis, __u64 time_ns)
{
	return (double)(__s64)(time_ns - axis->begin_ns) / 1e9;
}

static void find_axis(const struct result *result, struct axis *axis)
{
	const struct phase *phase;
	unsigned int i;

	memset(axis, 0, sizeof(*axis));
	for (i = 0; i < result->phase_count; i++) {
		phase = &result->phases[i];
		if (!phase->valid || phase->end_ns <= phase->begin_ns)
			continue;
		if (!axis->count)
			axis->begin_ns = phase->begin_ns;
		if (phase->end_ns > axis->end_ns)
			axis->end_ns = phase->end_ns;
		axis->spans[axis->count++].name = phase->plan.name;
		axis->spans[axis->count - 1].begin = seconds_of(axis, phase->begin_ns);
		axis->spans[axis->count - 1].end = seconds_of(axis, phase->end_ns);
	}
	axis->end = seconds_of(axis, axis->end_ns);
}

/* ---- curves ---- */

struct curve {
	struct plot_point *points;
	size_t count;
	double length;			/* of the longest interval that a point stands for, s */
};

static void curve_add(struct curve *curve, double x, double y, double length)
{
	curve->points[curve->count++] = (struct plot_point){ x, y };
	if (length > curve->length)
		curve->length = length;
}

static void draw(FILE *file, const struct plot_style *style, const struct axis *axis,
		 const char *title, struct curve *curve, plot_text *text, unsigned int lines)
{
	struct plot plot = {
		.title = title,
		.end = axis->end,
		.points = curve->points,
		.count = curve->count,
		.gap = curve->length * GAP_LENGTHS,
		.text = text,
	};

	fputc('\n', file);
	plot_curve(file, style, &plot, lines);
}

static void draw_rtt(const struct result *result, FILE *file, const struct plot_style *style,
		     const struct axis *axis)
{
	double interval = (double)result->scenario.probe_interval_ns / 1e9;
	struct curve curve = { 0 };
	char title[TITLE_SIZE];
	unsigned int lost = 0;
	size_t i;

	curve.points = calloc(result->probe_count + 1, sizeof(*curve.points));
	if (!curve.points)
		return;
	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		lost += probe->lost;
		curve_add(&curve, seconds_of(axis, probe->sent_ns),
			  probe->lost ? NAN : (double)probe->rtt_ns, interval);
	}
	snprintf(title, sizeof(title), "RTT of %zu probes, %u lost", result->probe_count, lost);
	draw(file, style, axis, title, &curve, units_time_text, CURVE_LINES);
	free(curve.points);
}

/* What is plotted of a qdisc in one slice; NAN: nothing. */
typedef double sample_value(const struct qdisc_sample *sample);

static double sample_max(const struct qdisc_sample *sample)
{
	return sample->sojourn.count > 0 ? (double)sample->sojourn.max : NAN;
}

static double sample_backlog(const struct qdisc_sample *sample)
{
	return (double)sample->backlog_bytes_max;
}

static void draw_samples(const struct result *result, __u32 qdisc, FILE *file,
			 const struct plot_style *style, const struct axis *axis,
			 const char *what, sample_value *value, plot_text *text)
{
	struct curve curve = { 0 };
	char title[TITLE_SIZE];
	size_t i;

	curve.points = calloc(result->sample_count + 1, sizeof(*curve.points));
	if (!curve.points)
		return;
	for (i = 0; i < result->sample_count; i++) {
		const struct qdisc_sample *sample = &result->samples[i];

		if (sample->qdisc != qdisc)
			continue;
		curve_add(&curve, seconds_of(axis, sample->begin_ns / 2 + sample->end_ns / 2),
			  value(sample), (double)(sample->end_ns - sample->begin_ns) / 1e9);
	}
	snprintf(title, sizeof(title), "%s %s", what, result->qdiscs[qdisc].id);
	draw(file, style, axis, title, &curve, text, LOW_LINES);
	free(curve.points);
}

static size_t count_intervals(const struct result *result)
{
	size_t count = 0;
	unsigned int i;

	for (i = 0; i < result->phase_count; i++)
		count += result->phases[i].load.iperf3.interval_count;
	return count;
}

/* What iperf3 counts, as its client sees it: what it sends, or what goes the other way meanwhile. */
static void draw_direction(const struct result *result, FILE *file,
			   const struct plot_style *style, const struct axis *axis, bool reverse,
			   const char *title)
{
	struct curve curve = { 0 };
	unsigned int i;
	size_t j;

	curve.points = calloc(count_intervals(result) + 1, sizeof(*curve.points));
	if (!curve.points)
		return;
	for (i = 0; i < result->phase_count; i++) {
		const struct phase_load *load = &result->phases[i].load;

		for (j = 0; j < load->iperf3.interval_count; j++) {
			const struct iperf3_interval *one = &load->iperf3.intervals[j];

			if (reverse && !one->have_reverse)
				continue;
			curve_add(&curve, seconds_of(axis, load->begin_ns) +
				  (one->start_s + one->end_s) / 2,
				  reverse ? one->reverse_bits_per_second : one->bits_per_second,
				  one->end_s - one->start_s);
		}
	}
	if (curve.count)
		draw(file, style, axis, title, &curve, units_rate_text, LOW_LINES);
	free(curve.points);
}

static void draw_throughput(const struct result *result, FILE *file,
			    const struct plot_style *style, const struct axis *axis)
{
	draw_direction(result, file, style, axis, false,
		       "throughput of the load, as iperf3 counts it");
	draw_direction(result, file, style, axis, true,
		       "throughput the other way, as iperf3 counts it");
}

/* The qdisc whose queue is shown: the cause, else the root that had the largest backlog. */
static __u32 qdisc_to_show(const struct result *result)
{
	__u32 shown = RESULT_NO_QDISC;
	__u64 most = 0;
	unsigned int i;
	size_t j;

	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].load.attribution.cause.qdisc < result->qdisc_count)
			return result->phases[i].load.attribution.cause.qdisc;
	for (j = 0; j < result->sample_count; j++) {
		const struct qdisc_sample *sample = &result->samples[j];

		if (sample->qdisc < result->qdisc_count && result->qdiscs[sample->qdisc].root &&
		    sample->backlog_bytes_max > most) {
			most = sample->backlog_bytes_max;
			shown = sample->qdisc;
		}
	}
	return shown;
}

/* ---- distributions ---- */

static void scale_add(struct plot_scale *scale, const struct summary *summary)
{
	if (!summary->count || !summary->max)
		return;
	if (summary->min && (!scale->low || (double)summary->min < scale->low))
		scale->low = (double)summary->min;
	if ((double)summary->max > scale->high)
		scale->high = (double)summary->max;
}

/* A scale that has a length, also of a single value. */
static bool scale_settle(struct plot_scale *scale)
{
	if (scale->high <= 0)
		return false;
	if (scale->low < 1000)
		scale->low = 1000;
	if (scale->high < scale->low * 10)
		scale->high = scale->low * 10;
	return true;
}

static void strip_of_rtt(const struct result *result, const struct phase *phase,
			 const struct plot_style *style, const struct plot_scale *scale,
			 double *counts)
{
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], phase))
			counts[plot_strip_column(style, scale, (double)result->probes[i].rtt_ns)]++;
}

static void strip_of_histogram(const struct histogram *histogram, const struct plot_style *style,
			       const struct plot_scale *scale, double *counts)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (histogram->counts[i] > 0)
			counts[plot_strip_column(style, scale, (double)histogram_bucket_low(i))] +=
				(double)histogram->counts[i];
}

/* Of RTT where qdisc is RESULT_NO_QDISC, else of the sojourn in it. */
static void draw_strips(const struct result *result, __u32 qdisc, FILE *file,
			const struct plot_style *style, const struct plot_scale *scale)
{
	const struct phase_qdisc *found;
	double *counts;
	unsigned int i;

	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];

		if (!phase->valid)
			continue;
		counts = calloc(plot_strip_columns(style), sizeof(*counts));
		if (!counts)
			return;
		found = phase_qdisc_find(phase, qdisc);
		if (qdisc == RESULT_NO_QDISC)
			strip_of_rtt(result, phase, style, scale, counts);
		else if (found)
			strip_of_histogram(&found->sojourn, style, scale, counts);
		plot_strip(file, style, phase->plan.name, counts);
		free(counts);
	}
	plot_strip_axis(file, style, scale, units_time_text);
}

static void draw_distributions(const struct result *result, __u32 qdisc, FILE *file,
			       const struct plot_style *style)
{
	struct plot_scale rtt = { 0 }, sojourn = { 0 };
	const struct phase_qdisc *found;
	unsigned int i;

	for (i = 0; i < result->phase_count; i++) {
		scale_add(&rtt, &result->phases[i].rtt);
		found = phase_qdisc_find(&result->phases[i], qdisc);
		if (found)
			scale_add(&sojourn, &found->summary);
	}
	if (scale_settle(&rtt)) {
		fputs("\nhow often which RTT\n", file);
		draw_strips(result, RESULT_NO_QDISC, file, style, &rtt);
	}
	if (scale_settle(&sojourn)) {
		fprintf(file, "\nhow often which sojourn in %s\n", result->qdiscs[qdisc].id);
		draw_strips(result, qdisc, file, style, &sojourn);
	}
}

/* ---- the way of a probe ---- */

static const struct probe *slowest_probe(const struct result *result)
{
	const struct probe *slowest = NULL;
	size_t i;

	for (i = 0; i < result->probe_count; i++) {
		const struct probe *probe = &result->probes[i];

		if (!probe->lost && probe->complete && probe->leg_count &&
		    (!slowest || probe->rtt_ns > slowest->rtt_ns))
			slowest = probe;
	}
	return slowest;
}

static void name_leg(const struct result *result, const struct leg *leg, char *text, size_t size)
{
	const char *netns = result_netns_name(result, leg->netns);
	const char *way = leg->reply ? "reply: " : "";
	const char *slash = netns && *netns ? "/" : "";

	if (!netns)
		netns = "";
	if (leg->kind == LEG_QDISC && leg->qdisc < result->qdisc_count)
		snprintf(text, size, "%sin %s", way, result->qdiscs[leg->qdisc].id);
	else if (leg->kind == LEG_DRIVER)
		snprintf(text, size, "%sdriver of %s%s%s", way, netns, slash, leg->device);
	else if (leg->kind == LEG_LINK)
		snprintf(text, size, "%slink to %s%s%s", way, netns, slash, leg->device);
	else
		snprintf(text, size, "%sstack of %s", way, *netns ? netns : "this host");
}

static void draw_way(const struct result *result, FILE *file, const struct plot_style *style)
{
	const struct probe *probe = slowest_probe(result);
	char label[LABEL_SIZE], rtt[UNITS_TEXT];
	double at = 0;
	unsigned int i;

	if (!probe)
		return;
	fprintf(file, "\nthe slowest probe, number %u, phase %s: %s\n", probe->sequence,
		probe->phase >= 0 ? result->phases[probe->phase].plan.name : "none",
		units_time_text((double)probe->rtt_ns, rtt));
	for (i = 0; i < probe->leg_count; i++) {
		name_leg(result, &probe->legs[i], label, sizeof(label));
		plot_bar(file, style, label, at, at + (double)probe->legs[i].ns,
			 (double)probe->rtt_ns, units_time_text);
		at += (double)probe->legs[i].ns;
	}
}

void out_plots(const struct result *result, FILE *file, const struct plot_style *style)
{
	__u32 qdisc = qdisc_to_show(result);
	struct axis axis;

	find_axis(result, &axis);
	if (axis.count) {
		draw_rtt(result, file, style, &axis);
		if (qdisc != RESULT_NO_QDISC) {
			draw_samples(result, qdisc, file, style, &axis, "longest sojourn in",
				     sample_max, units_time_text);
			draw_samples(result, qdisc, file, style, &axis, "backlog of",
				     sample_backlog, units_size_text);
		}
		draw_throughput(result, file, style, &axis);
		plot_axis(file, style, 0, axis.end, axis.spans, axis.count);
	}
	draw_distributions(result, qdisc, file, style);
	draw_way(result, file, style);
}
