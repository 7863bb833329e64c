// SPDX-License-Identifier: GPL-2.0
/*
 * The document is put together from its members, each printed as soon as it is
 * built and, in the long arrays, element by element: a tree of all of it would
 * take ten times the memory of its text.
 */
#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "attribution.h"
#include "out.h"
#include "phase.h"
#include "qdisc_options.h"
#include "responsiveness.h"
#include "result_terms.h"
#include "side_probe_figures.h"

#define SCHEMA		"sojourn/1"

/* What tcp_sock.snd_ssthresh is until it is set: TCP_INFINITE_SSTHRESH, include/net/tcp.h. */
#define TCP_SSTHRESH_UNSET	0x7fffffffu

struct writer {
	FILE *stream;
	bool failed;
	bool separate;		/* the next member or element needs a comma before it */
};

/* ---- values ---- */

/* cJSON keeps numbers as doubles, which hold 53 bits: integers go in as text. */
static void add_u64(cJSON *object, const char *name, __u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	cJSON_AddRawToObject(object, name, text);
}

static void add_s64(cJSON *object, const char *name, __s64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", value);
	cJSON_AddRawToObject(object, name, text);
}

/* JSON has neither NaN nor infinity. */
static void add_double(cJSON *object, const char *name, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(object, name, value);
	else
		cJSON_AddNullToObject(object, name);
}

/* Values of which iperf3 gave none are negative. */
static void add_known(cJSON *object, const char *name, double value)
{
	add_double(object, name, value < 0 ? NAN : value);
}

/* Times and counts where 0 says that there is none. */
static void add_nonzero(cJSON *object, const char *name, __u64 value)
{
	if (value)
		add_u64(object, name, value);
	else
		cJSON_AddNullToObject(object, name);
}

/* Text of which the empty one says that there is none. */
static void add_text(cJSON *object, const char *name, const char *text)
{
	if (*text)
		cJSON_AddStringToObject(object, name, text);
	else
		cJSON_AddNullToObject(object, name);
}

static void add_element(cJSON *array, __u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	cJSON_AddItemToArray(array, cJSON_CreateRaw(text));
}

static void add_terms(cJSON *object, const struct result_term *terms, const void *structure)
{
	for (; terms->name; terms++)
		add_u64(object, terms->name, result_term_value(terms, structure));
}

static const char *qdisc_id(const struct result *result, __u32 qdisc)
{
	return qdisc < result->qdisc_count ? result->qdiscs[qdisc].id : NULL;
}

static void add_qdisc(cJSON *object, const char *name, const struct result *result, __u32 qdisc)
{
	const char *id = qdisc_id(result, qdisc);

	if (id)
		cJSON_AddStringToObject(object, name, id);
	else
		cJSON_AddNullToObject(object, name);
}

/* By name where a host or a qdisc of that namespace is listed; "" is the namespace that we started in. */
static void add_netns(cJSON *object, const struct result *result, __u32 netns)
{
	char text[24];
	const char *name = result_netns_name(result, netns);

	if (name) {
		cJSON_AddStringToObject(object, "netns", name);
		return;
	}
	snprintf(text, sizeof(text), "net:[%u]", netns);
	cJSON_AddStringToObject(object, "netns", text);
}

/* ---- writing ---- */

static void write_separator(struct writer *writer)
{
	fputs(writer->separate ? ",\n" : "\n", writer->stream);
	writer->separate = true;
}

/* Print and delete item; NULL: it could not be built. */
static void write_item(struct writer *writer, cJSON *item)
{
	char *text = item ? cJSON_PrintUnformatted(item) : NULL;

	if (text)
		fputs(text, writer->stream);
	else
		writer->failed = true;
	cJSON_free(text);
	cJSON_Delete(item);
}

static void write_member(struct writer *writer, const char *name, cJSON *item)
{
	write_separator(writer);
	fprintf(writer->stream, "\"%s\":", name);
	write_item(writer, item);
}

static void open_member(struct writer *writer, const char *name, const char *bracket)
{
	write_separator(writer);
	fprintf(writer->stream, "\"%s\":%s", name, bracket);
	writer->separate = false;
}

static void close_member(struct writer *writer, const char *bracket)
{
	fputs(bracket, writer->stream);
	writer->separate = true;
}

static void write_element(struct writer *writer, cJSON *item)
{
	write_separator(writer);
	write_item(writer, item);
}

/* ---- tool, scenario, window ---- */

static cJSON *tool_json(const struct result *result)
{
	cJSON *tool = cJSON_CreateObject(), *hooks, *hook;
	size_t i;

	cJSON_AddStringToObject(tool, "name", "sojourn");
	cJSON_AddStringToObject(tool, "version", result->version);
	cJSON_AddStringToObject(tool, "kernel", result->kernel);
	cJSON_AddStringToObject(tool, "tier", result->tier);
	add_text(tool, "tier_why", result->tier_why);
	hooks = cJSON_AddArrayToObject(tool, "hooks");
	for (i = 0; i < result->hook_count; i++) {
		hook = cJSON_CreateObject();
		cJSON_AddStringToObject(hook, "name", result->hooks[i].name);
		cJSON_AddStringToObject(hook, "how", result->hooks[i].how);
		cJSON_AddBoolToObject(hook, "attached", result->hooks[i].attached);
		add_u64(hook, "skipped", result->hooks[i].skipped);
		if (!result->hooks[i].attached)
			cJSON_AddStringToObject(hook, "why", result->hooks[i].why);
		cJSON_AddItemToArray(hooks, hook);
	}
	add_u64(tool, "started_realtime_ns", result->started_realtime_ns);
	return tool;
}

static cJSON *window_json(const struct result *result)
{
	const struct phase *load = result_phase(result, PHASE_LOAD);
	cJSON *window = cJSON_CreateObject();

	add_u64(window, "begin_ns", result->started_ns);
	add_u64(window, "end_ns", result->ended_ns);
	add_nonzero(window, "load_begin_ns", load ? load->load.begin_ns : 0);
	add_nonzero(window, "load_end_ns", load ? load->load.end_ns : 0);
	return window;
}

static void write_hosts(struct writer *writer, const struct result *result)
{
	unsigned int i;

	open_member(writer, "hosts", "[");
	for (i = 0; i < result->host_count; i++) {
		cJSON *host = cJSON_CreateObject();

		cJSON_AddStringToObject(host, "netns", result->hosts[i].netns_name);
		add_u64(host, "netns_inode", result->hosts[i].netns);
		cJSON_AddStringToObject(host, "role", result->hosts[i].role);
		write_element(writer, host);
	}
	close_member(writer, "]");
}

/* ---- qdiscs ---- */

static void add_option(cJSON *config, const struct qdisc_option *option)
{
	char text[QDISC_OPTION_TEXT];

	switch (option->unit) {
	case OPTION_BIT_PER_S:
	case OPTION_BYTES:
	case OPTION_PACKETS:
	case OPTION_NS:
	case OPTION_NUMBER:
		add_u64(config, option->name, option->value);
		break;
	case OPTION_PER_BILLION:
		add_double(config, option->name, (double)option->value / 1e9);
		break;
	case OPTION_HANDLE:
	case OPTION_SIGNED:
	case OPTION_WORD:
	case OPTION_PRIOMAP:
	case OPTION_QUEUES:
		cJSON_AddStringToObject(config, option->name, qdisc_option_text(option, text));
		break;
	}
}

static cJSON *config_json(const struct result_qdisc *qdisc)
{
	cJSON *config = cJSON_CreateObject();
	unsigned int i;

	for (i = 0; qdisc->have_info && i < qdisc->info.option_count; i++)
		add_option(config, &qdisc->info.options[i]);
	return config;
}

static cJSON *ledger_json(const struct ledger *ledger)
{
	cJSON *object = cJSON_CreateObject();

	add_s64(object, "unaccounted", ledger->unaccounted);
	add_terms(object, ledger_terms, ledger);
	return object;
}

/* A record of a qdisc that is gone keeps no bytes and overlimits: packets without a byte are none. */
static cJSON *kernel_json(const struct ledger *ledger)
{
	const struct qdisc_kernel_counters *kernel = &ledger->kernel;
	bool partial = kernel->packets && !kernel->bytes;
	cJSON *object;

	if (!ledger->have_kernel)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	add_u64(object, "packets", kernel->packets);
	if (partial)
		cJSON_AddNullToObject(object, "bytes");
	else
		add_u64(object, "bytes", kernel->bytes);
	add_u64(object, "drops", kernel->drops);
	add_u64(object, "requeues", kernel->requeues);
	if (partial)
		cJSON_AddNullToObject(object, "overlimits");
	else
		add_u64(object, "overlimits", kernel->overlimits);
	add_u64(object, "backlog_bytes", kernel->backlog_bytes);
	add_u64(object, "backlog_packets", kernel->backlog_packets);
	return object;
}

static void add_agrees(cJSON *object, const struct ledger *ledger)
{
	if (ledger->agrees == LEDGER_UNKNOWN)
		cJSON_AddNullToObject(object, "agrees");
	else
		cJSON_AddBoolToObject(object, "agrees", ledger->agrees == LEDGER_AGREES);
	cJSON_AddStringToObject(object, "why", ledger->why);
}

static const char *parent_text(__u32 parent, char text[16])
{
	if (parent == TC_H_ROOT)
		return "root";
	if (parent == TC_H_INGRESS)
		return "ingress";
	return qdisc_handle_text(parent, text);
}

/* Skbs that it dropped itself: only where its functions are hooked. */
static void add_drops_here(cJSON *object, const struct result *result,
			   const struct result_qdisc *qdisc, __u64 drops)
{
	if (qdisc->traced && result_sees_children(result))
		add_u64(object, "drops_here", drops);
	else
		cJSON_AddNullToObject(object, "drops_here");
}

static cJSON *qdisc_json(const struct result *result, const struct result_qdisc *qdisc)
{
	cJSON *object = cJSON_CreateObject();
	char text[16];

	cJSON_AddStringToObject(object, "id", qdisc->id);
	cJSON_AddStringToObject(object, "netns", qdisc->netns_name);
	add_u64(object, "netns_inode", qdisc->netns);
	cJSON_AddStringToObject(object, "ifname", qdisc->device);
	add_u64(object, "ifindex", qdisc->ifindex);
	add_u64(object, "queue", qdisc->queue);
	cJSON_AddStringToObject(object, "kind", qdisc->kind);
	cJSON_AddStringToObject(object, "handle", qdisc_handle_text(qdisc->handle, text));
	cJSON_AddStringToObject(object, "parent", parent_text(qdisc->parent, text));
	cJSON_AddStringToObject(object, "path", qdisc->path);
	cJSON_AddBoolToObject(object, "root", qdisc->root);
	cJSON_AddBoolToObject(object, "traced", qdisc->traced);
	add_qdisc(object, "parent_qdisc", result, qdisc->parent_qdisc);
	if (qdisc->traced)
		add_u64(object, "depth", qdisc->depth);
	else
		cJSON_AddNullToObject(object, "depth");
	cJSON_AddItemToObject(object, "config", config_json(qdisc));
	cJSON_AddItemToObject(object, "ledger", ledger_json(&qdisc->ledger));
	add_drops_here(object, result, qdisc, qdisc->drops_here);
	cJSON_AddItemToObject(object, "kernel", kernel_json(&qdisc->ledger));
	add_agrees(object, &qdisc->ledger);
	return object;
}

static void write_qdiscs(struct writer *writer, const struct result *result)
{
	size_t i;

	open_member(writer, "qdiscs", "[");
	for (i = 0; i < result->qdisc_count; i++)
		write_element(writer, qdisc_json(result, &result->qdiscs[i]));
	close_member(writer, "]");
}

/* ---- phases ---- */

static cJSON *summary_json(const struct summary *summary, bool stdev)
{
	static const char *const names[] = {
		"min", "p25", "p50", "p75", "p90", "p95", "p99", "max"
	};
	const __u64 values[] = { summary->min, summary->p25, summary->p50, summary->p75,
				 summary->p90, summary->p95, summary->p99, summary->max };
	cJSON *object = cJSON_CreateObject();
	unsigned int i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (summary->count && values[i] >= summary->min)
			add_u64(object, names[i], values[i]);
		else
			cJSON_AddNullToObject(object, names[i]);
	}
	add_double(object, "mean", summary->count ? summary->mean : NAN);
	if (stdev)
		add_double(object, "stdev", summary->count ? summary->stdev : NAN);
	return object;
}

static cJSON *probes_json(const struct phase *phase)
{
	cJSON *probes = cJSON_CreateObject();

	add_u64(probes, "sent", phase->sent);
	add_u64(probes, "received", phase->received);
	add_u64(probes, "lost", phase->lost);
	cJSON_AddItemToObject(probes, "rtt_ns", summary_json(&phase->rtt, true));
	return probes;
}

/*
 * counts[i] packets had a sojourn from bounds_ns[i] up to and without
 * bounds_ns[i + 1]. Empty buckets in a row become one; the last bucket, which
 * has no upper end, ends behind the maximum.
 */
static cJSON *histogram_json(const struct histogram *histogram)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *bounds = cJSON_AddArrayToObject(object, "bounds_ns");
	cJSON *counts = cJSON_AddArrayToObject(object, "counts");
	__u64 end = 0, low;
	bool any = false;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (histogram->counts[i] <= 0)
			continue;
		low = histogram_bucket_low(i);
		if (any && low != end)
			add_element(counts, 0);
		if (!any || low != end)
			add_element(bounds, low);
		add_element(counts, (__u64)histogram->counts[i]);
		end = (i == HISTOGRAM_BUCKETS - 1 ? histogram->max : histogram_bucket_high(i)) + 1;
		add_element(bounds, end);
		any = true;
	}
	return object;
}

static void add_summary_if(cJSON *object, const char *name, bool known,
			   const struct summary *summary)
{
	cJSON_AddItemToObject(object, name,
			      known ? summary_json(summary, false) : cJSON_CreateNull());
}

static cJSON *phase_qdisc_json(const struct result *result, const struct phase_qdisc *qdisc)
{
	cJSON *object = cJSON_CreateObject();

	add_qdisc(object, "id", result, qdisc->qdisc);
	add_u64(object, "packets", qdisc->packets);
	cJSON_AddItemToObject(object, "sojourn_ns", summary_json(&qdisc->summary, false));
	add_summary_if(object, "exclusive_ns", qdisc->have_exclusive, &qdisc->exclusive);
	add_summary_if(object, "paced_ns", qdisc->have_paced, &qdisc->paced);
	cJSON_AddItemToObject(object, "wait_before_drop_ns",
			      summary_json(&qdisc->wait_before_drop, false));
	add_u64(object, "backlog_bytes_max", qdisc->backlog_bytes_max);
	add_u64(object, "backlog_packets_max", qdisc->backlog_packets_max);
	add_double(object, "backlog_bytes_mean", qdisc->backlog_bytes_mean);
	add_u64(object, "drops", qdisc->drops);
	add_drops_here(object, result, &result->qdiscs[qdisc->qdisc], qdisc->drops_here);
	add_u64(object, "own_median_ns", qdisc->own_median_ns);
	if (qdisc->have_exclusive)
		add_u64(object, "own_exclusive_median_ns", qdisc->own_exclusive_median_ns);
	else
		cJSON_AddNullToObject(object, "own_exclusive_median_ns");
	add_u64(object, "histogram_negative", histogram_negative(&qdisc->sojourn));
	cJSON_AddItemToObject(object, "histogram", histogram_json(&qdisc->sojourn));
	add_double(object, "share", qdisc->share);
	add_double(object, "exclusive_share", qdisc->exclusive_share);
	return object;
}

static cJSON *phase_tcp_json(const struct phase *phase)
{
	cJSON *tcp = cJSON_CreateObject();

	add_u64(tcp, "samples", phase->srtt.count);
	cJSON_AddItemToObject(tcp, "srtt_ns", summary_json(&phase->srtt, true));
	cJSON_AddItemToObject(tcp, "cwnd", summary_json(&phase->cwnd, false));
	add_u64(tcp, "retransmits", phase->retransmits);
	return tcp;
}

static cJSON *sum_json(const struct iperf3_sum *sum)
{
	cJSON *object;

	if (!sum->present)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	add_double(object, "bits_per_second", sum->bits_per_second);
	add_double(object, "bytes", sum->bytes);
	add_double(object, "seconds", sum->seconds);
	add_known(object, "retransmits", sum->retransmits);
	add_known(object, "lost_packets", sum->lost_packets);
	add_known(object, "packets", sum->packets);
	add_known(object, "jitter_ms", sum->jitter_ms);
	return object;
}

static void add_sums(cJSON *object, const struct iperf3_result *iperf3)
{
	cJSON_AddItemToObject(object, "sum_sent", sum_json(&iperf3->sent));
	cJSON_AddItemToObject(object, "sum_received", sum_json(&iperf3->received));
	if (iperf3->sent_reverse.present)
		cJSON_AddItemToObject(object, "sum_sent_reverse",
				      sum_json(&iperf3->sent_reverse));
	if (iperf3->received_reverse.present)
		cJSON_AddItemToObject(object, "sum_received_reverse",
				      sum_json(&iperf3->received_reverse));
}

static cJSON *phase_iperf3_json(const struct phase *phase)
{
	cJSON *object;

	if (!phase->load.have_iperf3)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	add_sums(object, &phase->load.iperf3);
	return object;
}

static cJSON *holder_json(const struct result *result, const struct cause *cause)
{
	char class[16] = "";
	cJSON *object;

	if (!cause->have_path)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "kind", holder_kind_names[cause->holder.kind]);
	add_qdisc(object, "qdisc", result, cause->holder_qdisc);
	if (cause->holder_class)
		qdisc_handle_text(cause->holder_class, class);
	add_text(object, "class", class);
	cJSON_AddStringToObject(object, "text", cause->holder.text);
	add_nonzero(object, "rate", cause->holder.rate_bit_per_s);
	cJSON_AddBoolToObject(object, "seen", cause->holder.seen);
	return object;
}

static cJSON *cause_json(const struct result *result, const struct cause *cause)
{
	cJSON *object;

	if (!qdisc_id(result, cause->qdisc))
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	add_qdisc(object, "qdisc", result, cause->qdisc);
	add_double(object, "share", cause->share);
	add_double(object, "exclusive_share", cause->held_is_known ? cause->held_share : NAN);
	add_qdisc(object, "waits_in", result, cause->waits_in);
	cJSON_AddStringToObject(object, "text", cause->text);
	add_text(object, "path", cause->path);
	cJSON_AddItemToObject(object, "held_by", holder_json(result, cause));
	cJSON_AddBoolToObject(object, "pacing", cause->is_pacing);
	add_double(object, "paced_ns", cause->paced_ns);
	add_double(object, "queued_ns", cause->queued_ns);
	return object;
}

static cJSON *beyond_json(const struct result *result, const struct attribution *attribution)
{
	cJSON *beyond;

	if (!attribution->beyond_device[0])
		return cJSON_CreateNull();
	beyond = cJSON_CreateObject();
	add_netns(beyond, result, attribution->beyond_netns);
	cJSON_AddStringToObject(beyond, "device", attribution->beyond_device);
	add_double(beyond, "ns", attribution->beyond_ns);
	return beyond;
}

static cJSON *exonerated_json(const struct result *result, const struct attribution *attribution)
{
	cJSON *array = cJSON_CreateArray(), *object;
	unsigned int i;

	for (i = 0; i < attribution->exonerated_count; i++) {
		object = cJSON_CreateObject();
		add_qdisc(object, "qdisc", result, attribution->exonerated[i].qdisc);
		add_double(object, "share", attribution->exonerated[i].share);
		cJSON_AddBoolToObject(object, "empty", attribution->exonerated[i].empty);
		cJSON_AddItemToArray(array, object);
	}
	return array;
}

/* Without an increase worth the name there is nothing to explain: null, not 0. */
static cJSON *attribution_json(const struct result *result, const struct phase *load,
			       const char *verdict)
{
	const struct phase *idle = result_phase(result, PHASE_IDLE);
	const struct attribution *attribution = &load->load.attribution;
	bool both = idle && idle->received && load->received;
	cJSON *object = cJSON_CreateObject();

	cJSON_AddBoolToObject(object, "valid", attribution->valid);
	add_double(object, "rtt_increase_ns", both ? attribution->rtt_increase_ns : NAN);
	add_double(object, "rtt_increase_median_ns",
		   both ? attribution->rtt_increase_median_ns : NAN);
	add_double(object, "explained", attribution->valid ? attribution->explained : NAN);
	add_double(object, "unexplained_ns",
		   attribution->valid ? attribution->unexplained_ns : NAN);
	cJSON_AddItemToObject(object, "cause", cause_json(result, &attribution->cause));
	cJSON_AddItemToObject(object, "beyond", beyond_json(result, attribution));
	cJSON_AddItemToObject(object, "exonerated", exonerated_json(result, attribution));
	cJSON_AddStringToObject(object, "verdict", verdict);
	return object;
}

static cJSON *phase_attribution_json(const struct result *result, const struct phase *phase)
{
	if (phase->plan.kind != PHASE_LOAD)
		return cJSON_CreateNull();
	return attribution_json(result, phase, phase->load.attribution.verdict);
}

/* That of the first load, with the verdicts of all. */
static cJSON *whole_attribution_json(const struct result *result)
{
	char *verdicts = attribution_verdicts(result);
	cJSON *object = NULL;

	if (verdicts)
		object = attribution_json(result, result_phase(result, PHASE_LOAD), verdicts);
	free(verdicts);
	return object;
}

static cJSON *responsiveness_json(const struct result *result, const struct phase *phase)
{
	const char *grade = responsiveness_grade_of(result, phase);
	cJSON *object;

	if (!grade)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "grade", grade);
	add_double(object, "rpm", responsiveness_rpm(result, phase));
	return object;
}

static cJSON *shape_json(const struct phase *phase)
{
	const struct shape *shape = &phase->load.shape;
	cJSON *object;

	if (shape->name == SHAPE_NONE)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "name", shape_names[shape->name]);
	cJSON_AddStringToObject(object, "why", shape->why);
	return object;
}

static cJSON *phase_json(const struct result *result, const struct phase *phase)
{
	cJSON *object = cJSON_CreateObject(), *qdiscs;
	unsigned int i;

	cJSON_AddStringToObject(object, "name", phase->plan.name);
	cJSON_AddStringToObject(object, "kind", phase_kind_names[phase->plan.kind]);
	add_u64(object, "begin_ns", phase->begin_ns);
	add_u64(object, "end_ns", phase->end_ns);
	cJSON_AddItemToObject(object, "probes", probes_json(phase));
	qdiscs = cJSON_AddArrayToObject(object, "qdiscs");
	for (i = 0; i < phase->qdisc_count; i++)
		cJSON_AddItemToArray(qdiscs, phase_qdisc_json(result, &phase->qdiscs[i]));
	cJSON_AddItemToObject(object, "tcp", phase_tcp_json(phase));
	cJSON_AddItemToObject(object, "iperf3", phase_iperf3_json(phase));
	cJSON_AddItemToObject(object, "attribution", phase_attribution_json(result, phase));
	cJSON_AddItemToObject(object, "responsiveness", responsiveness_json(result, phase));
	cJSON_AddItemToObject(object, "shape", shape_json(phase));
	return object;
}

static void write_phases(struct writer *writer, const struct result *result)
{
	unsigned int i;

	open_member(writer, "phases", "[");
	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].valid)
			write_element(writer, phase_json(result, &result->phases[i]));
	close_member(writer, "]");
}

/* ---- probes ---- */

static cJSON *leg_json(const struct result *result, const struct leg *leg)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "kind", leg_kind_names[leg->kind]);
	if (leg->kind == LEG_QDISC) {
		add_qdisc(object, "qdisc", result, leg->qdisc);
		add_qdisc(object, "root", result, leg->root);
	}
	if (leg->kind != LEG_STACK)
		cJSON_AddStringToObject(object, "device", leg->device);
	add_netns(object, result, leg->netns);
	cJSON_AddBoolToObject(object, "reply", leg->reply);
	add_u64(object, "ns", leg->ns);
	return object;
}

static cJSON *probe_json(const struct result *result, const struct probe *probe)
{
	cJSON *object = cJSON_CreateObject(), *legs;
	unsigned int i;

	add_u64(object, "seq", probe->sequence);
	add_u64(object, "id", probe->id);
	cJSON_AddBoolToObject(object, "ipv6", probe->ipv6);
	if (probe->phase >= 0 && probe->phase < (int)result->phase_count)
		cJSON_AddStringToObject(object, "phase", result->phases[probe->phase].plan.name);
	else
		cJSON_AddNullToObject(object, "phase");
	add_u64(object, "sent_ns", probe->sent_ns);
	if (probe->lost)
		cJSON_AddNullToObject(object, "rtt_ns");
	else
		add_u64(object, "rtt_ns", probe->rtt_ns);
	add_nonzero(object, "ping_rtt_ns", probe->ping_rtt_ns);
	cJSON_AddBoolToObject(object, "lost", probe->lost);
	cJSON_AddBoolToObject(object, "complete", probe->complete);
	legs = cJSON_AddArrayToObject(object, "legs");
	for (i = 0; i < probe->leg_count; i++)
		cJSON_AddItemToArray(legs, leg_json(result, &probe->legs[i]));
	return object;
}

static void write_probes(struct writer *writer, const struct result *result)
{
	size_t i;

	open_member(writer, "probes", "[");
	for (i = 0; i < result->probe_count; i++)
		write_element(writer, probe_json(result, &result->probes[i]));
	close_member(writer, "]");
}

static cJSON *side_phases_json(const struct result *result, unsigned int side)
{
	cJSON *array = cJSON_CreateArray();
	unsigned int i;

	for (i = 0; i < result->phase_count; i++) {
		struct side_probe_figures figures;
		cJSON *object;

		if (!result->phases[i].valid || result->phases[i].plan.kind == PHASE_RESTORED ||
		    side_probe_figures(result, side, &result->phases[i], &figures, NULL))
			continue;
		object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "phase", result->phases[i].plan.name);
		add_u64(object, "sent", figures.sent);
		add_u64(object, "lost", figures.lost);
		cJSON_AddItemToObject(object, "rtt_ns", summary_json(&figures.rtt, true));
		add_qdisc(object, "longest_in", result, figures.qdisc);
		add_double(object, "longest_in_mean_ns", figures.qdisc_ns);
		cJSON_AddItemToArray(array, object);
	}
	return array;
}

static cJSON *side_probe_json(const struct result *result, unsigned int side)
{
	const struct side_probe_result *probes = &result->side_probes[side];
	cJSON *object = cJSON_CreateObject(), *array;

	cJSON_AddStringToObject(object, "name", result->scenario.side_probes[side].name);
	cJSON_AddItemToObject(object, "phases", side_phases_json(result, side));
	array = cJSON_AddArrayToObject(object, "probes");
	for (size_t i = 0; i < probes->probe_count; i++)
		cJSON_AddItemToArray(array, probe_json(result, &probes->probes[i]));
	return object;
}

static void write_side_probes(struct writer *writer, const struct result *result)
{
	unsigned int i;

	if (!result->scenario.side_probe_count)
		return;
	open_member(writer, "side_probes", "[");
	for (i = 0; i < result->scenario.side_probe_count; i++)
		write_element(writer, side_probe_json(result, i));
	close_member(writer, "]");
}

/* ---- iperf3 ---- */

static cJSON *interval_json(const struct iperf3_interval *interval)
{
	cJSON *object = cJSON_CreateObject();

	add_double(object, "start_s", interval->start_s);
	add_double(object, "end_s", interval->end_s);
	add_double(object, "bits_per_second", interval->bits_per_second);
	add_known(object, "retransmits", interval->retransmits);
	add_known(object, "rtt_us", interval->rtt_us);
	add_known(object, "cwnd_bytes", interval->cwnd_bytes);
	if (interval->have_reverse)
		add_double(object, "reverse_bits_per_second", interval->reverse_bits_per_second);
	return object;
}

static cJSON *iperf3_json(const struct phase *phase)
{
	const struct phase_load *load = &phase->load;
	cJSON *object, *command, *intervals;
	size_t i;

	if (!load->have_iperf3)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "version", load->iperf3.version);
	command = cJSON_AddArrayToObject(object, "command");
	for (i = 0; load->command && load->command[i]; i++)
		cJSON_AddItemToArray(command, cJSON_CreateString(load->command[i]));
	cJSON_AddStringToObject(object, "congestion", load->iperf3.congestion);
	add_sums(object, &load->iperf3);
	intervals = cJSON_AddArrayToObject(object, "intervals");
	for (i = 0; i < load->iperf3.interval_count; i++)
		cJSON_AddItemToArray(intervals, interval_json(&load->iperf3.intervals[i]));
	return object;
}

/* The loads beside the main one. */
static cJSON *sides_json(const struct phase_load *load)
{
	cJSON *array = cJSON_CreateArray();

	for (unsigned int i = 0; i < load->side_count; i++) {
		const struct side_load_result *side = &load->sides[i];
		cJSON *object = cJSON_CreateObject(), *intervals;

		cJSON_AddStringToObject(object, "name", side->name);
		add_nonzero(object, "begin_ns", side->begin_ns);
		add_nonzero(object, "end_ns", side->end_ns);
		add_sums(object, &side->iperf3);
		intervals = cJSON_AddArrayToObject(object, "intervals");
		for (size_t j = 0; j < side->iperf3.interval_count; j++)
			cJSON_AddItemToArray(intervals, interval_json(&side->iperf3.intervals[j]));
		cJSON_AddItemToArray(array, object);
	}
	return array;
}

/* Every load in the order of the run; "iperf3" is the first one of them. */
static void write_loads(struct writer *writer, const struct result *result)
{
	unsigned int i;

	open_member(writer, "loads", "[");
	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];
		cJSON *object;

		if (phase->plan.kind != PHASE_LOAD || !phase->load.begin_ns)
			continue;
		object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "phase", phase->plan.name);
		add_nonzero(object, "begin_ns", phase->load.begin_ns);
		add_nonzero(object, "end_ns", phase->load.end_ns);
		cJSON_AddItemToObject(object, "iperf3", iperf3_json(phase));
		cJSON_AddItemToObject(object, "beside", sides_json(&phase->load));
		write_element(writer, object);
	}
	close_member(writer, "]");
}

/* ---- losses ---- */

static cJSON *losses_json(const struct result *result)
{
	cJSON *object = cJSON_CreateObject();

	add_terms(object, loss_terms, &result->losses);
	add_u64(object, "ping_unmatched", result->ping_unmatched);
	add_u64(object, "clock_steps", result->clock_steps);
	return object;
}

/* ---- timeline ---- */

/* The figures of a slice that can be plotted; room: for the buckets. */
static cJSON *sampled_json(const struct sample_histogram *sample, struct histogram *room)
{
	cJSON *object = cJSON_CreateObject();
	struct summary summary;

	histogram_init(room);
	sample_histogram_add(room, sample);
	histogram_summary(room, &summary);
	if (summary.count) {
		add_u64(object, "p50", summary.p50);
		add_u64(object, "max", summary.max);
	} else {
		cJSON_AddNullToObject(object, "p50");
		cJSON_AddNullToObject(object, "max");
	}
	return object;
}

/* Exclusive or paced time, by what the qdisc is; of others there is none. */
static void add_part(cJSON *object, const struct result *result,
		     const struct qdisc_sample *sample, struct histogram *room)
{
	const struct result_qdisc *qdisc;

	if (sample->qdisc >= result->qdisc_count)
		return;
	qdisc = &result->qdiscs[sample->qdisc];
	if (phase_part_is_exclusive(result, sample->qdisc))
		cJSON_AddItemToObject(object, "exclusive_ns", sampled_json(&sample->part, room));
	else if (qdisc->paces)
		cJSON_AddItemToObject(object, "paced_ns", sampled_json(&sample->part, room));
}

static cJSON *sample_json(const struct result *result, const struct qdisc_sample *sample,
			  struct histogram *room)
{
	cJSON *object = cJSON_CreateObject();

	add_qdisc(object, "qdisc", result, sample->qdisc);
	add_u64(object, "begin_ns", sample->begin_ns);
	add_u64(object, "end_ns", sample->end_ns);
	/* A slice that only takes requeued packets back has less than none: a sum of slices is right. */
	add_s64(object, "packets", sample->sojourn.count);
	cJSON_AddItemToObject(object, "sojourn_ns", sampled_json(&sample->sojourn, room));
	add_part(object, result, sample, room);
	add_u64(object, "backlog_bytes_max", sample->backlog_bytes_max);
	add_u64(object, "backlog_packets_max", sample->backlog_packets_max);
	add_double(object, "backlog_bytes_mean", sample->backlog_bytes_mean);
	add_double(object, "backlog_packets_mean", sample->backlog_packets_mean);
	add_u64(object, "backlog_bytes", sample->backlog_bytes);
	add_u64(object, "backlog_packets", sample->backlog_packets);
	add_u64(object, "drops", sample->delta.rejected_packets + sample->delta.dropped_packets);
	add_u64(object, "requeued", sample->delta.requeued);
	return object;
}

static void write_samples(struct writer *writer, const struct result *result)
{
	struct histogram *room = malloc(sizeof(*room));
	size_t i;

	if (!room)
		writer->failed = true;
	open_member(writer, "qdisc_samples", "[");
	for (i = 0; room && i < result->sample_count; i++)
		write_element(writer, sample_json(result, &result->samples[i], room));
	close_member(writer, "]");
	free(room);
}

static void add_address(cJSON *object, const char *name, int family, const __u8 *address)
{
	char text[INET6_ADDRSTRLEN];

	/* An IPv4 connection of an IPv6 socket. */
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address)) {
		family = AF_INET;
		address += 12;
	}
	if (inet_ntop(family == AF_INET6 ? AF_INET6 : AF_INET, address, text, sizeof(text)))
		cJSON_AddStringToObject(object, name, text);
	else
		cJSON_AddNullToObject(object, name);
}

static void add_endpoints(cJSON *object, const struct tcp_endpoints *ends)
{
	add_address(object, "local", ends->family, ends->local);
	add_u64(object, "local_port", ends->local_port);
	add_address(object, "remote", ends->family, ends->remote);
	add_u64(object, "remote_port", ends->remote_port);
}

static cJSON *tcp_json(const struct result *result, const struct tcp_event *event)
{
	cJSON *object = cJSON_CreateObject();

	add_u64(object, "time_ns", event->header.time_ns);
	add_netns(object, result, event->header.netns);
	add_endpoints(object, &event->ends);
	add_u64(object, "srtt_ns", (__u64)event->srtt_us * 1000);
	add_u64(object, "cwnd", event->cwnd);
	if (event->ssthresh >= TCP_SSTHRESH_UNSET)
		cJSON_AddNullToObject(object, "ssthresh");
	else
		add_u64(object, "ssthresh", event->ssthresh);
	add_u64(object, "in_flight", event->in_flight);
	/* The contract has rates in bit/s; the kernel has bytes, and ~0 for no limit. */
	if (event->pacing_rate > ~0ULL / 8)
		cJSON_AddNullToObject(object, "pacing_rate");
	else
		add_u64(object, "pacing_rate", event->pacing_rate * 8);
	add_u64(object, "bytes_acked", event->bytes_acked);
	add_u64(object, "total_retransmits", event->total_retransmits);
	add_u64(object, "mss", event->mss);
	return object;
}

static cJSON *retransmit_json(const struct result *result, const struct retransmit_event *event)
{
	cJSON *object = cJSON_CreateObject();

	add_u64(object, "time_ns", event->header.time_ns);
	add_netns(object, result, event->header.netns);
	add_endpoints(object, &event->ends);
	add_u64(object, "sequence", event->sequence);
	add_u64(object, "length", event->length);
	return object;
}

static void write_timeline(struct writer *writer, const struct result *result)
{
	size_t i;

	open_member(writer, "timeline", "{");
	write_samples(writer, result);
	open_member(writer, "tcp_samples", "[");
	for (i = 0; i < result->tcp_count; i++)
		write_element(writer, tcp_json(result, &result->tcp[i]));
	close_member(writer, "]");
	open_member(writer, "retransmits", "[");
	for (i = 0; i < result->retransmit_count; i++)
		write_element(writer, retransmit_json(result, &result->retransmits[i]));
	close_member(writer, "]");
	close_member(writer, "}");
}

/* ---- the document ---- */

static cJSON *suite_json(const struct result *result)
{
	cJSON *object;

	if (!result->suite[0])
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "name", result->suite);
	cJSON_AddStringToObject(object, "run", result->suite_run);
	cJSON_AddStringToObject(object, "class", result->suite_class);
	return object;
}

static void write_document(struct writer *writer, const struct result *result)
{
	fputc('{', writer->stream);
	write_member(writer, "schema", cJSON_CreateString(SCHEMA));
	write_member(writer, "complete", cJSON_CreateBool(result->complete));
	write_member(writer, "incomplete_why", result->incomplete_why[0] ?
		     cJSON_CreateString(result->incomplete_why) : cJSON_CreateNull());
	write_member(writer, "tool", tool_json(result));
	write_member(writer, "scenario", scenario_json(&result->scenario));
	write_member(writer, "note", result->note[0] ? cJSON_CreateString(result->note) :
		     cJSON_CreateNull());
	write_member(writer, "suite", suite_json(result));
	write_member(writer, "window", window_json(result));
	write_hosts(writer, result);
	write_member(writer, "attribution", whole_attribution_json(result));
	write_phases(writer, result);
	write_qdiscs(writer, result);
	write_member(writer, "iperf3", iperf3_json(result_phase(result, PHASE_LOAD)));
	write_loads(writer, result);
	write_member(writer, "losses", losses_json(result));
	write_probes(writer, result);
	write_side_probes(writer, result);
	write_timeline(writer, result);
	fputs("\n}\n", writer->stream);
}

/* An allocation of cJSON's that fails leaves a member out; these hooks tell. */
static bool allocation_failed;

static void *watching_malloc(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		allocation_failed = true;
	return memory;
}

char *out_json(const struct result *result)
{
	cJSON_Hooks hooks = { .malloc_fn = watching_malloc, .free_fn = free };
	struct writer writer = { 0 };
	char *text = NULL;
	size_t size;

	writer.stream = open_memstream(&text, &size);
	if (!writer.stream)
		return NULL;
	allocation_failed = false;
	cJSON_InitHooks(&hooks);
	write_document(&writer, result);
	cJSON_InitHooks(NULL);
	if (ferror(writer.stream))
		writer.failed = true;
	if (fclose(writer.stream) || writer.failed || allocation_failed) {
		free(text);
		return NULL;
	}
	return text;
}
