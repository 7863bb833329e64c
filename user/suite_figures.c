// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "responsiveness.h"
#include "suite_figures.h"
#include "text.h"
#include "units.h"

#define TIMES_MOST	1000	/* more is a small number's fault */
#define ALIKE		1.1	/* rates whose highest is so many times the lowest are alike */

static bool has_figures(const struct suite_row *row)
{
	return row->status <= SUITE_INCOMPLETE && row->rtt.count;
}

static int fill_rtt(struct suite_row *row, const struct result *result, const struct phase *load)
{
	double *values = calloc(result->probe_count + 1, sizeof(*values));
	size_t count = 0;

	if (!values)
		return -1;
	for (size_t i = 0; i < result->probe_count; i++)
		if (probe_is_of(result, &result->probes[i], load))
			values[count++] = (double)result->probes[i].rtt_ns;
	statistics_box(values, count, &row->rtt);
	free(values);
	return 0;
}

/* What was sent, in segments of the largest MSS that was seen. */
static double retransmit_percent(const struct result *result, double retransmits, double bytes)
{
	__u32 mss = 0;

	for (size_t i = 0; i < result->tcp_count; i++)
		if (result->tcp[i].mss > mss)
			mss = result->tcp[i].mss;
	return bytes > 0 && mss ? 100 * retransmits * mss / bytes : NAN;
}

static void fill_traffic(struct suite_row *row, const struct result *result,
			 const struct phase *load)
{
	const struct iperf3_result *iperf3 = &load->load.iperf3;
	const struct iperf3_sum *received = &iperf3->received, *sent = &iperf3->sent;

	row->delivered = row->delivered_reverse = row->retransmits = NAN;
	row->retransmit_percent = row->lost_percent = row->jitter_ms = NAN;
	if (!load->load.have_iperf3)
		return;
	row->delivered = received->bits_per_second;
	row->transferred = received->bytes;
	if (row->bidir && iperf3->received_reverse.present) {
		row->delivered_reverse = iperf3->received_reverse.bits_per_second;
		row->transferred += iperf3->received_reverse.bytes;
	}
	if (row->udp) {
		if (received->packets > 0)
			row->lost_percent = 100 * received->lost_packets / received->packets;
		row->jitter_ms = received->jitter_ms >= 0 ? received->jitter_ms : NAN;
	} else if (sent->retransmits >= 0) {
		row->retransmits = sent->retransmits;
		row->retransmit_percent = retransmit_percent(result, sent->retransmits, sent->bytes);
	}
}

/* The qdisc with the largest share of the increase, else with the most sojourn in the mean. */
static const struct phase_qdisc *find_queue(const struct result *result, const struct phase *load)
{
	__u32 cause = load->load.attribution.cause.qdisc;
	const struct phase_qdisc *most = NULL;

	for (unsigned int i = 0; i < load->qdisc_count; i++) {
		const struct phase_qdisc *qdisc = &load->qdiscs[i];

		if (load->load.attribution.valid && qdisc->qdisc == cause)
			return qdisc;
		if (result->qdiscs[qdisc->qdisc].root && qdisc->summary.count &&
		    (!most || qdisc->summary.mean > most->summary.mean))
			most = qdisc;
	}
	return most;
}

static void fill_qdiscs(struct suite_row *row, const struct result *result,
			const struct phase *load)
{
	const struct attribution *attribution = &load->load.attribution;
	const struct phase_qdisc *queue = find_queue(result, load);

	if (attribution->valid && attribution->cause.qdisc != RESULT_NO_QDISC) {
		snprintf(row->cause, sizeof(row->cause), "%s",
			 result->qdiscs[attribution->cause.qdisc].id);
		row->share = attribution->cause.share;
	}
	if (queue) {
		snprintf(row->queue, sizeof(row->queue), "%s", result->qdiscs[queue->qdisc].id);
		row->sojourn = queue->summary;
		row->drops = queue->drops;
		row->backlog_bytes_max = queue->backlog_bytes_max;
	}
	for (unsigned int i = 0; i < load->qdisc_count; i++) {
		if (!result->qdiscs[load->qdiscs[i].qdisc].root ||
		    load->qdiscs[i].drops <= row->dropped)
			continue;
		row->dropped = load->qdiscs[i].drops;
		snprintf(row->dropping, sizeof(row->dropping), "%s",
			 result->qdiscs[load->qdiscs[i].qdisc].id);
	}
}

int suite_row_fill(struct suite_row *row, const struct result *result, const struct phase *load)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);
	const char *grade = responsiveness_grade_of(result, load);

	row->status = result->complete ? SUITE_DONE : SUITE_INCOMPLETE;
	snprintf(row->why, sizeof(row->why), "%s", result->incomplete_why);
	snprintf(row->note, sizeof(row->note), "%s", result->note);
	snprintf(row->phase, sizeof(row->phase), "%s", load->plan.name);
	row->prefix = strlen(result->scenario.lab_prefix);
	row->udp = result->scenario.load.proto == LOAD_UDP;
	row->bidir = load->plan.direction == LOAD_BIDIR;
	row->sent = load->sent;
	row->lost = load->lost;
	row->idle_ns = idle ? (double)idle->rtt.p50 : 0;
	row->srtt = load->srtt;
	row->cwnd_median = (double)load->cwnd.p50;
	row->cwnd_max = (double)load->cwnd.max;
	snprintf(row->grade, sizeof(row->grade), "%s", grade ? grade : "");
	row->rpm = responsiveness_rpm(result, load);
	row->shape = load->load.shape;
	if (fill_rtt(row, result, load))
		return -1;
	row->increase_ns = row->rtt.count ? row->rtt.mean - row->idle_ns : 0;
	fill_traffic(row, result, load);
	row->bdp_bytes = row->delivered * row->rtt.mean / 8e9;
	fill_qdiscs(row, result, load);
	return 0;
}

/* ---- classes ---- */

static double delivered(const struct suite_row *row)
{
	return row->delivered + (isfinite(row->delivered_reverse) ? row->delivered_reverse : 0);
}

static double rtt_of(const struct suite_row *row)
{
	return row->rtt.mean;
}

static double increase_of(const struct suite_row *row)
{
	return row->increase_ns;
}

static void fill_box(const struct suite_row *rows, size_t count, const char *class,
		     double (*figure)(const struct suite_row *row), double *values,
		     struct statistics_box *box)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!has_figures(&rows[i]) || strcmp(rows[i].class, class) ||
		    !isfinite(figure(&rows[i])))
			continue;
		values[found++] = figure(&rows[i]);
	}
	statistics_box(values, found, box);
}

static void fill_class(const struct suite_row *rows, size_t count, struct suite_class *class,
		       double *values)
{
	const struct suite_row *lowest = NULL, *highest = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!has_figures(&rows[i]) || strcmp(rows[i].class, class->name))
			continue;
		class->runs++;
		if (!lowest || rows[i].rtt.mean < lowest->rtt.mean)
			lowest = &rows[i];
		if (!highest || rows[i].rtt.mean > highest->rtt.mean)
			highest = &rows[i];
	}
	snprintf(class->lowest, sizeof(class->lowest), "%s", lowest ? lowest->label : "");
	snprintf(class->highest, sizeof(class->highest), "%s", highest ? highest->label : "");
	fill_box(rows, count, class->name, rtt_of, values, &class->rtt);
	fill_box(rows, count, class->name, increase_of, values, &class->increase);
	fill_box(rows, count, class->name, delivered, values, &class->delivered);
}

unsigned int suite_classes(const struct suite_row *rows, size_t count,
			   struct suite_class *classes, unsigned int most)
{
	double *values = calloc(count + 1, sizeof(*values));
	unsigned int found = 0, j;

	for (size_t i = 0; values && i < count && found < most; i++) {
		for (j = 0; j < found && strcmp(classes[j].name, rows[i].class); j++)
			;
		if (j < found || !rows[i].class[0] || !has_figures(&rows[i]))
			continue;
		memset(&classes[found], 0, sizeof(*classes));
		snprintf(classes[found].name, sizeof(classes[found].name), "%s", rows[i].class);
		fill_class(rows, count, &classes[found++], values);
	}
	free(values);
	return found;
}

/* ---- ranking ---- */

size_t suite_rank(const struct suite_row *rows, size_t count, size_t *order)
{
	size_t ranked = 0, at;

	for (size_t i = 0; i < count; i++) {
		if (!has_figures(&rows[i]))
			continue;
		for (at = ranked; at && rows[order[at - 1]].increase_ns > rows[i].increase_ns; at--)
			order[at] = order[at - 1];
		order[at] = i;
		ranked++;
	}
	return ranked;
}

/* Does what was delivered tell them apart? */
static void add_rates(struct text *text, const struct suite_row *rows, const size_t *order,
		      size_t ranked)
{
	const struct suite_row *low = NULL, *high = NULL;
	char a[UNITS_TEXT], b[UNITS_TEXT];

	for (size_t i = 0; i < ranked; i++) {
		const struct suite_row *row = &rows[order[i]];

		if (!isfinite(delivered(row)))
			continue;
		if (!low || delivered(row) < delivered(low))
			low = row;
		if (!high || delivered(row) > delivered(high))
			high = row;
	}
	if (!low || low == high)
		return;
	units_rate_text(delivered(low), a);
	units_rate_text(delivered(high), b);
	if (delivered(high) <= ALIKE * delivered(low))
		text_add(text, " What was delivered does not tell them apart: %s to %s.", a, b);
	else
		text_add(text, " Delivered were %s (%s) to %s (%s).", a, low->label, b, high->label);
}

void suite_conclude(const struct suite_row *rows, size_t count, char *text, size_t size)
{
	size_t *order = calloc(count + 1, sizeof(*order)), ranked;
	struct text words = text_begin(text, size);
	char a[UNITS_TEXT], b[UNITS_TEXT];
	const struct suite_row *best, *worst;

	ranked = order ? suite_rank(rows, count, order) : 0;
	if (ranked > 1) {
		best = &rows[order[0]];
		worst = &rows[order[ranked - 1]];
		text_add(&words, "The RTT rises least under %s (%s in the mean) and most under %s (%s",
			 best->label, units_time_text(fmax(best->increase_ns, 0), a), worst->label,
			 units_time_text(fmax(worst->increase_ns, 0), b));
		if (best->increase_ns * TIMES_MOST > worst->increase_ns)
			text_add(&words, ", %.3g times as much", worst->increase_ns / best->increase_ns);
		text_add(&words, "%s%s).", worst->cause[0] ? ", in " : "", worst->cause);
		add_rates(&words, rows, order, ranked);
	}
	free(order);
}
