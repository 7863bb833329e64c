// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exposition.h"
#include "qdisc_tree.h"
#include "result_terms.h"

/* A row and its labels, or the overflow. */
struct told {
	struct series *series;
	struct metric_labels *labels;
	const struct live_sums *all;
	__u64 backlog_bytes, backlog_packets;
	__u32 traits;
};

struct maker {
	const struct exposition_source *source;
	struct metrics *metrics;
	struct told *told;
	size_t count;
};

/* ---- which rows, and their labels ---- */

static int compare_numbers(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_labels(const struct live_qdisc *a, const struct live_qdisc *b)
{
	int order = strcmp(a->netns_name, b->netns_name);

	if (!order)
		order = strcmp(a->device, b->device);
	if (!order)
		order = compare_numbers(a->queue, b->queue);
	if (!order)
		order = strcmp(a->kind, b->kind);
	if (!order)
		order = compare_numbers(a->handle, b->handle);
	if (!order)
		order = compare_numbers(a->parent, b->parent);
	return order ? order : strcmp(a->path, b->path);
}

/* Of the same labels the one that is there comes first, then the one that went last. */
static int compare_told(const void *a, const void *b)
{
	const struct live_qdisc *left = ((const struct told *)a)->series->row;
	const struct live_qdisc *right = ((const struct told *)b)->series->row;
	int order = compare_labels(left, right);

	return order ? order : -compare_numbers(left->gone_ns - 1, right->gone_ns - 1);
}

static const char *parent_text(__u32 parent, char text[16])
{
	return parent == TC_H_ROOT ? "root" : qdisc_handle_text(parent, text);
}

static struct metric_labels *row_labels(struct metrics *metrics, const struct live_qdisc *row)
{
	struct metric_labels *labels = metrics_labels(metrics);
	char queue[16], handle[16], parent[16];

	snprintf(queue, sizeof(queue), "%u", row->queue);
	metrics_label(metrics, labels, "netns", row->netns_name);
	metrics_label(metrics, labels, "device", row->device);
	metrics_label(metrics, labels, "queue", queue);
	metrics_label(metrics, labels, "kind", row->kind);
	metrics_label(metrics, labels, "handle", qdisc_handle_text(row->handle, handle));
	metrics_label(metrics, labels, "parent", parent_text(row->parent, parent));
	metrics_label(metrics, labels, "path", row->path);
	return labels;
}

static struct metric_labels *overflow_labels(struct metrics *metrics)
{
	static const char *const names[] = {
		"netns", "device", "queue", "kind", "handle", "parent", "path",
	};
	struct metric_labels *labels = metrics_labels(metrics);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		metrics_label(metrics, labels, names[i], strcmp(names[i], "kind") ? "" : "other");
	return labels;
}

/* Two with the same labels: a namespace that is gone, and another that has its name now. */
static void leave_out_doubles(struct maker *maker)
{
	size_t kept = 0;

	qsort(maker->told, maker->count, sizeof(*maker->told), compare_told);
	for (size_t i = 0; i < maker->count; i++)
		if (!kept || compare_labels(maker->told[kept - 1].series->row,
					    maker->told[i].series->row))
			maker->told[kept++] = maker->told[i];
	maker->count = kept;
}

static void take_overflow(struct maker *maker)
{
	struct live_series *series = maker->source->series;

	if (!series->dropped)
		return;
	maker->told[maker->count++] = (struct told){
		.series = &series->overflow,
		.labels = overflow_labels(maker->metrics),
		.all = &series->overflow_sums,
		.backlog_bytes = series->overflow_backlog_bytes,
		.backlog_packets = series->overflow_backlog_packets,
	};
}

static void take_rows(struct maker *maker)
{
	struct live_series *series = maker->source->series;

	maker->told = calloc(series->count + 1, sizeof(*maker->told));
	if (!maker->told) {
		maker->metrics->failed = true;
		return;
	}
	for (size_t i = 0; i < series->count; i++)
		if (series->series[i].own)
			maker->told[maker->count++].series = &series->series[i];
	leave_out_doubles(maker);
	for (size_t i = 0; i < maker->count; i++) {
		struct told *told = &maker->told[i];
		const struct live_qdisc *row = told->series->row;

		told->labels = row_labels(maker->metrics, row);
		told->all = &row->all;
		told->backlog_bytes = row->backlog_bytes;
		told->backlog_packets = row->backlog_packets;
		told->traits = row->traits;
	}
	take_overflow(maker);
}

/* ---- qdiscs ---- */

/* traits 0: of every qdisc, else of those that have one of them. */
static void add_histograms(struct maker *maker, enum qdisc_histogram which, __u32 traits)
{
	for (size_t i = 0; i < maker->count; i++) {
		const struct told *told = &maker->told[i];
		const struct histogram *histograms[QDISC_HISTOGRAMS] = {
			[HISTOGRAM_SOJOURN] = told->all->sojourn,
			[HISTOGRAM_PART] = told->all->part,
			[HISTOGRAM_WAIT_BEFORE_DROP] = told->all->wait_before_drop,
		}, *histogram;

		if (traits && !(told->traits & traits))
			continue;
		histogram = series_tell(told->series, which, histograms[which]);
		if (histogram)
			metrics_add_histogram(maker->metrics, told->labels, histogram);
		else if (histograms[which])
			maker->metrics->failed = true;
	}
}

static void add_times(struct maker *maker)
{
	struct metrics *metrics = maker->metrics;

	metrics_family(metrics, METRIC_HISTOGRAM, "sojourn_qdisc_sojourn_seconds", "seconds",
		       "Time from the offer of a packet to the qdisc until it was handed out; 0 where it bypassed the queue.");
	add_histograms(maker, HISTOGRAM_SOJOURN, 0);
	metrics_family(metrics, METRIC_HISTOGRAM, "sojourn_qdisc_exclusive_seconds", "seconds",
		       "The part of the sojourn in the qdisc itself and in none of its children.");
	add_histograms(maker, HISTOGRAM_PART, QDISC_IS_PARENT);
	metrics_family(metrics, METRIC_HISTOGRAM, "sojourn_qdisc_paced_seconds", "seconds",
		       "The part of the sojourn up to the departure time that the packet came with.");
	add_histograms(maker, HISTOGRAM_PART, QDISC_PACES);
	metrics_family(metrics, METRIC_HISTOGRAM, "sojourn_qdisc_drop_wait_seconds", "seconds",
		       "How long packets that were dropped inside the qdisc had waited.");
	add_histograms(maker, HISTOGRAM_WAIT_BEFORE_DROP, 0);
}

static void add_backlogs(struct maker *maker)
{
	struct metrics *metrics = maker->metrics;
	size_t i;

	metrics_family(metrics, METRIC_GAUGE, "sojourn_qdisc_backlog_bytes", "bytes",
		       "What waits in the qdisc, at the end of the last whole second.");
	for (i = 0; i < maker->count; i++)
		metrics_add(metrics, maker->told[i].labels, (double)maker->told[i].backlog_bytes);
	metrics_family(metrics, METRIC_GAUGE, "sojourn_qdisc_backlog_packets", "packets",
		       "Packets that wait in the qdisc, at the end of the last whole second.");
	for (i = 0; i < maker->count; i++)
		metrics_add(metrics, maker->told[i].labels,
			    (double)maker->told[i].backlog_packets);
	metrics_family(metrics, METRIC_GAUGE, "sojourn_qdisc_backlog_max_bytes", "bytes",
		       "The most that waited in the qdisc in the last 60 whole seconds.");
	for (i = 0; i < maker->count; i++)
		metrics_add(metrics, maker->told[i].labels,
			    (double)series_backlog_max(maker->told[i].series));
}

static const struct result_term outcomes[] = {
	{ "measured", offsetof(struct qdisc_counters, measured_packets) },
	{ "bypassed", offsetof(struct qdisc_counters, bypassed_packets) },
	{ "rejected", offsetof(struct qdisc_counters, rejected_packets) },
	{ "dropped", offsetof(struct qdisc_counters, dropped_packets) },
	{ "requeued", offsetof(struct qdisc_counters, requeued) },
	{ "unmatched", offsetof(struct qdisc_counters, unmatched_packets) },
	{ NULL, 0 }
};


static void add_packets(struct maker *maker)
{
	struct metrics *metrics = maker->metrics;
	const struct result_term *term;
	size_t i;

	metrics_family(metrics, METRIC_COUNTER, "sojourn_qdisc_packets", "packets",
		       "Packets by what became of them in the qdisc; requeued ones are skbs and counted as measured too.");
	for (i = 0; i < maker->count; i++)
		for (term = outcomes; term->name; term++)
			metrics_add_also(metrics, maker->told[i].labels, "outcome", term->name,
				(double)result_term_value(term, &maker->told[i].all->counters));
	metrics_family(metrics, METRIC_COUNTER, "sojourn_qdisc_offered_packets", "packets",
		       "Packets that were offered to the qdisc.");
	for (i = 0; i < maker->count; i++)
		metrics_add(metrics, maker->told[i].labels,
			    (double)maker->told[i].all->counters.offered_packets);
	metrics_family(metrics, METRIC_COUNTER, "sojourn_qdisc_bytes", "bytes",
		       "Bytes of the packets that were handed out or bypassed the queue, skb->len.");
	for (i = 0; i < maker->count; i++)
		metrics_add(metrics, maker->told[i].labels,
			    (double)maker->told[i].all->counters.bytes);
}

static void add_series(const struct maker *maker)
{
	const struct live_series *series = maker->source->series;

	metrics_family(maker->metrics, METRIC_GAUGE, "sojourn_qdiscs", "",
		       "Qdiscs that are there and known to the tracer.");
	metrics_add(maker->metrics, NULL, series->present_count);
	metrics_family(maker->metrics, METRIC_COUNTER, "sojourn_qdisc_series_dropped", "",
		       "Qdiscs that found no series of their own, because --max-series was reached, and are summed up as kind other.");
	metrics_add(maker->metrics, NULL, (double)series->dropped);
}

/* ---- TCP ---- */

/* Of the same names: a device that was made again, or a namespace. */
struct tcp_told {
	const struct tcp_device *first;
	struct metric_labels *labels;
	__u64 retransmits;
	struct histogram srtt;
};

static bool is_same_device(const struct tcp_device *a, const struct tcp_device *b)
{
	return !strcmp(a->netns_name, b->netns_name) && !strcmp(a->device, b->device);
}

static void take_tcp(struct tcp_told *told, size_t *count, const struct tcp_device *device,
		     struct metrics *metrics)
{
	size_t i = 0;

	while (i < *count && !is_same_device(told[i].first, device))
		i++;
	if (i == *count) {
		told[i].first = device;
		told[i].labels = metrics_labels(metrics);
		metrics_label(metrics, told[i].labels, "netns", device->netns_name);
		metrics_label(metrics, told[i].labels, "device", device->device);
		histogram_init(&told[i].srtt);
		(*count)++;
	}
	told[i].retransmits += device->retransmits;
	histogram_merge(&told[i].srtt, &device->srtt);
}

static void add_tcp(const struct maker *maker)
{
	const struct tcp_sums *tcp = maker->source->tcp;
	struct metrics *metrics = maker->metrics;
	struct tcp_told *told = calloc(tcp->count + 1, sizeof(*told));
	size_t count = 0, i;

	if (!told) {
		metrics->failed = true;
		return;
	}
	for (i = 0; i < tcp->count; i++)
		take_tcp(told, &count, tcp->devices[i], metrics);
	metrics_family(metrics, METRIC_COUNTER, "sojourn_tcp_retransmits", "",
		       "TCP segments sent again, by the device of the connection's route.");
	for (i = 0; i < count; i++)
		metrics_add(metrics, told[i].labels, (double)told[i].retransmits);
	metrics_family(metrics, METRIC_HISTOGRAM, "sojourn_tcp_srtt_seconds", "seconds",
		       "Smoothed RTT of TCP connections, one sample for each connection and 10 ms in which a segment came in.");
	for (i = 0; i < count; i++)
		metrics_add_histogram(metrics, told[i].labels, &told[i].srtt);
	metrics_family(metrics, METRIC_COUNTER, "sojourn_tcp_events_dropped", "",
		       "TCP events of devices that found no series.");
	metrics_add(metrics, NULL, (double)tcp->dropped);
	free(told);
}

/* ---- the tracer, and the process ---- */

static void add_losses(const struct maker *maker)
{
	const struct live_losses *losses = maker->source->losses;
	struct metrics *metrics = maker->metrics;

	metrics_family(metrics, METRIC_COUNTER, "sojourn_losses", "",
		       "What the tracer could not measure, by the reason; all 0 where nothing was lost.");
	for (const struct result_term *term = loss_terms; term->name; term++)
		metrics_add_also(metrics, NULL, "loss", term->name,
				 (double)result_term_value(term, &losses->tracer));
	metrics_add_also(metrics, NULL, "loss", "rows_missing", (double)losses->rows_missing);
}

static void add_cost(const struct maker *maker)
{
	const struct bpf_cost_sums *cost = maker->source->cost;
	struct metrics *metrics = maker->metrics;

	if (!cost)
		return;
	metrics_family(metrics, METRIC_COUNTER, "sojourn_bpf_run_seconds", "seconds",
		       "Time that the BPF programs ran, as the kernel counts it.");
	metrics_add(metrics, NULL, (double)cost->run_ns / 1e9);
	metrics_family(metrics, METRIC_COUNTER, "sojourn_bpf_runs", "",
		       "Runs of the BPF programs, as the kernel counts them.");
	metrics_add(metrics, NULL, (double)cost->runs);
}

static void add_build(const struct maker *maker)
{
	struct metrics *metrics = maker->metrics;
	struct metric_labels *labels = metrics_labels(metrics);

	metrics_label(metrics, labels, "version", maker->source->version);
	metrics_label(metrics, labels, "kernel", maker->source->kernel);
	metrics_label(metrics, labels, "tier", maker->source->tier);
	metrics_family(metrics, METRIC_INFO, "sojourn_build", "",
		       "Version of sojourn, release of the kernel, and the tier in use.");
	metrics_add(metrics, labels, 1);
}

static void add_process(const struct maker *maker)
{
	const struct process_figures *process = maker->source->process;
	struct metrics *metrics = maker->metrics;

	if (!process)
		return;
	metrics_family(metrics, METRIC_COUNTER, "process_cpu_seconds", "seconds",
		       "User and system CPU time of the exporter.");
	metrics_add(metrics, NULL, process->cpu_seconds);
	metrics_family(metrics, METRIC_GAUGE, "process_resident_memory_bytes", "bytes",
		       "Resident memory of the exporter.");
	metrics_add(metrics, NULL, process->resident_bytes);
	metrics_family(metrics, METRIC_GAUGE, "process_open_fds", "",
		       "Open file descriptors of the exporter.");
	metrics_add(metrics, NULL, process->open_fds);
	metrics_family(metrics, METRIC_GAUGE, "process_start_time_seconds", "seconds",
		       "When the exporter was started, since the epoch.");
	metrics_add(metrics, NULL, process->start_time_seconds);
}

void exposition_make(const struct exposition_source *source, struct metrics *metrics)
{
	struct maker maker = { .source = source, .metrics = metrics };

	take_rows(&maker);
	add_times(&maker);
	add_backlogs(&maker);
	add_packets(&maker);
	add_series(&maker);
	add_tcp(&maker);
	add_losses(&maker);
	add_cost(&maker);
	add_build(&maker);
	add_process(&maker);
	free(maker.told);
}
