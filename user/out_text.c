// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "ledger.h"
#include "out.h"
#include "responsiveness.h"
#include "result_terms.h"
#include "side_probe_figures.h"
#include "table.h"
#include "units.h"


/* A median that the load left behind: so much more than idle is still the load's. */
#define RECOVERED_FACTOR	2
#define RECOVERED_SLACK_NS	1000000

/* ---- lines and tables ---- */

static void print_bold(FILE *file, bool color, const char *text)
{
	fprintf(file, color ? "\033[1m%s\033[0m" : "%s", text);
}

static void set_time(struct table_row *row, unsigned int column, const struct summary *summary, __u64 ns)
{
	char text[UNITS_TEXT];

	if (summary->count)
		table_cell(row, column, "%s", units_time_text((double)ns, text));
	else
		table_cell(row, column, "-");
}

/* ---- names ---- */

/* "pl-router/wan0 tbf 10:", with the parent where it is not the device itself. */
static void name_qdisc(const struct result_qdisc *qdisc, char *text, size_t size)
{
	char handle[16], parent[16];

	snprintf(text, size, "%s%s%s %s %s%s%s", qdisc->netns_name,
		 qdisc->netns_name[0] ? "/" : "", qdisc->device, qdisc->kind,
		 qdisc_handle_text(qdisc->handle, handle),
		 qdisc->parent == TC_H_ROOT ? "" : " parent ",
		 qdisc->parent == TC_H_ROOT ? "" : qdisc_handle_text(qdisc->parent, parent));
}

/* The same, of a child by "fq_codel 110: parent 1:11" below its parent, indented by its level. */
static void name_in_tree(const struct result_qdisc *qdisc, unsigned int level, char *text,
			 size_t size)
{
	char handle[16], parent[16];

	if (!level)
		name_qdisc(qdisc, text, size);
	else
		snprintf(text, size, "%*s%s %s parent %s", (int)(2 * level), "", qdisc->kind,
			 qdisc_handle_text(qdisc->handle, handle),
			 qdisc_handle_text(qdisc->parent, parent));
}

/* ---- trees ---- */

/* Called for every qdisc, the children of each right behind it and a level deeper. */
typedef void visit_qdisc(const struct result *result, __u32 qdisc, unsigned int level,
			 void *context);

static bool is_child_of(const struct result *result, size_t child, __u32 parent)
{
	return result->qdiscs[child].traced && !result->qdiscs[child].root &&
	       result->qdiscs[child].parent_qdisc == parent;
}

static bool has_traced_children(const struct result *result, __u32 qdisc)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (is_child_of(result, i, qdisc))
			return true;
	return false;
}

static void visit_tree(const struct result *result, __u32 qdisc, unsigned int level,
		       visit_qdisc *visit, void *context)
{
	size_t i;

	visit(result, qdisc, level, context);
	for (i = 0; i < result->qdisc_count; i++)
		if (is_child_of(result, i, qdisc))
			visit_tree(result, (__u32)i, level + 1, visit, context);
}

/* A root, or one whose parent is not known. */
static bool begins_tree(const struct result *result, const struct result_qdisc *qdisc)
{
	if (qdisc->root)
		return true;
	return qdisc->traced && (qdisc->parent_qdisc >= result->qdisc_count ||
				 !result->qdiscs[qdisc->parent_qdisc].traced);
}

static void visit_trees(const struct result *result, visit_qdisc *visit, void *context)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (begins_tree(result, &result->qdiscs[i]))
			visit_tree(result, (__u32)i, 0, visit, context);
}

/* ---- the parts of the summary, from top to bottom ---- */

/* How a qdisc of the scenario is set. */
static void print_setting(FILE *stream, const char *kind, __u64 rate, __u64 burst, __u64 latency_ns)
{
	char text[UNITS_TEXT];

	if (!strcmp(kind, "tbf") || !strcmp(kind, "htb"))
		fprintf(stream, ", rate %s", units_rate_text((double)rate, text));
	if (strcmp(kind, "tbf"))
		return;
	fprintf(stream, ", burst %s", units_size_text((double)burst, text));
	fprintf(stream, ", latency %s", units_time_text((double)latency_ns, text));
}

static void print_modem_words(FILE *stream, const char *words, const struct scenario *scenario,
			      const struct scenario_qdisc *qdisc)
{
	fprintf(stream, "%s %s in %smodem", qdisc->kind, words, scenario->lab_prefix);
	print_setting(stream, qdisc->kind, qdisc->rate, qdisc->burst, qdisc->latency_ns);
	fputs("; ", stream);
}

static void print_trees(FILE *stream, const struct scenario *scenario)
{
	const struct lab_plan *plan = &scenario->plan;

	for (unsigned int i = 0; i < plan->tree_count; i++)
		fprintf(stream, "%s%s on %s in %s%s", i ? "; " : "", plan->trees[i].commands,
			plan->trees[i].device, scenario->lab_prefix, plan->trees[i].host);
}

static void print_qdisc_words(FILE *stream, const struct scenario *scenario)
{
	bool office = scenario->topology == LAB_OFFICE;

	if (office) {
		print_modem_words(stream, "20: on wan0", scenario, &scenario->up);
		print_modem_words(stream, "30: on lan0", scenario, &scenario->down);
	}
	if (scenario->topology == LAB_NONE)
		fprintf(stream, "no lab, to %s", scenario->load.to);
	print_trees(stream, scenario);
	if (scenario_has_own_trees(scenario))
		return;
	if (scenario->plan.tree_count)
		fputs("; ", stream);
	fprintf(stream, "%s 10: on wan0 in %s%s", scenario->qdisc_kind, scenario->lab_prefix,
		office ? "gw" : "router");
	print_setting(stream, scenario->qdisc_kind, scenario->qdisc_rate, scenario->qdisc_burst,
		      scenario->qdisc_latency_ns);
}

static void print_load_words(FILE *stream, const struct scenario *scenario)
{
	static const char *const directions[] = {
		[LOAD_UP] = "client to server",
		[LOAD_DOWN] = "server to client",
		[LOAD_BIDIR] = "both ways at once",
		[LOAD_EACH] = "client to server, then server to client",
	};
	bool udp = scenario->load.proto == LOAD_UDP;
	char text[UNITS_TEXT];

	fprintf(stream, "%u %s stream%s", scenario->load.streams, udp ? "UDP" : "TCP",
		scenario->load.streams == 1 ? "" : "s");
	if (!udp && scenario->load.congestion[0])
		fprintf(stream, " (%s)", scenario->load.congestion);
	if (scenario->load.rate)
		fprintf(stream, " of at most %s", units_rate_text((double)scenario->load.rate, text));
	fprintf(stream, ", %s%s, %llu s%s", directions[scenario->load.direction],
		scenario->lab_ipv6 ? " over IPv6" : "", scenario->load.ns / 1000000000ULL,
		scenario->load.direction == LOAD_EACH ? " each" : "");
	if (scenario->side_load_count)
		fprintf(stream, "; %u more load%s beside it", scenario->side_load_count,
			scenario->side_load_count == 1 ? "" : "s");
}

static void print_header(const struct result *result, FILE *file, bool color)
{
	char *words = NULL;
	size_t size;
	FILE *stream;

	print_bold(file, color, "sojourn");
	fprintf(file, " %s, kernel %s, tier %s\n", result->version, result->kernel, result->tier);
	stream = open_memstream(&words, &size);
	if (!stream)
		return;
	fprintf(stream, "scenario %s: ", result->scenario.name);
	print_qdisc_words(stream, &result->scenario);
	fputs("; ", stream);
	print_load_words(stream, &result->scenario);
	if (!fclose(stream))
		table_line(file, 4, "%s", words);
	free(words);
	if (result->note[0])
		table_line(file, 4, "note: %s", result->note);
}

static void set_throughput(const struct phase *phase, struct table_row *row)
{
	const struct phase_load *load = &phase->load;
	char text[UNITS_TEXT];

	if (load->have_iperf3 && load->iperf3.received.present)
		table_cell(row, 7, "%s",
			 units_rate_text(load->iperf3.received.bits_per_second, text));
	else
		table_cell(row, 7, "-");
}

static void print_phases(const struct result *result, FILE *file)
{
	static const char *const titles[] = {
		"phase", "sent", "lost", "RTT median", "p95", "p99", "max", "delivered"
	};
	struct table table;
	unsigned int i;

	table_heading(&table, titles, 8);
	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];
		struct table_row *row = phase->valid ? table_add(&table) : NULL;

		if (!row)
			continue;
		table_cell(row, 0, "%s", phase->plan.name);
		table_cell(row, 1, "%u", phase->sent);
		table_cell(row, 2, "%u", phase->lost);
		set_time(row, 3, &phase->rtt, phase->rtt.p50);
		set_time(row, 4, &phase->rtt, phase->rtt.p95);
		set_time(row, 5, &phase->rtt, phase->rtt.p99);
		set_time(row, 6, &phase->rtt, phase->rtt.max);
		set_throughput(phase, row);
	}
	fputc('\n', file);
	table_print(file, &table);
}

/* No packet in any phase and none in the ledger: not worth a row. */
static bool saw_packets(const struct result *result, size_t qdisc)
{
	const struct ledger *ledger = &result->qdiscs[qdisc].ledger;

	return ledger->offered || ledger->measured || ledger->bypassed || ledger->unmatched ||
	       (ledger->have_kernel && (ledger->kernel.packets || ledger->kernel.drops));
}

static void set_times(struct table_row *row, const struct summary *summary)
{
	set_time(row, 2, summary, summary->p50);
	set_time(row, 3, summary, summary->p95);
	set_time(row, 4, summary, summary->p99);
	set_time(row, 5, summary, summary->max);
}

/* The backlog as tc writes it: bytes, then packets. */
static void add_qdisc_row(const struct result *result, const struct phase_qdisc *qdisc,
			  unsigned int level, struct table_row *row)
{
	char text[UNITS_TEXT], share[SHARE_TEXT];

	name_in_tree(&result->qdiscs[qdisc->qdisc], level, row->cells[0], TABLE_CELL_SIZE);
	table_cell(row, 1, "%llu", qdisc->packets);
	set_times(row, &qdisc->summary);
	table_cell(row, 6, "%s %llup", units_size_text((double)qdisc->backlog_bytes_max, text),
		 qdisc->backlog_packets_max);
	table_cell(row, 7, "%llu", qdisc->drops);
	table_cell(row, 8, "%s", share_text(qdisc->share, share));
}

/* Of a parent what it had for itself: time in none of its children, and its own drops. */
static void add_exclusive_row(const struct result *result, const struct phase_qdisc *qdisc,
			      unsigned int level, struct table_row *row)
{
	char share[SHARE_TEXT];

	table_cell(row, 0, "%*sin itself", (int)(2 * level + 2), "");
	set_times(row, &qdisc->exclusive);
	if (result_sees_children(result))
		table_cell(row, 7, "%llu", qdisc->drops_here);
	else
		table_cell(row, 7, "-");
	table_cell(row, 8, "%s", share_text(qdisc->exclusive_share, share));
}

static void add_paced_row(const struct phase_qdisc *qdisc, unsigned int level, struct table_row *row)
{
	table_cell(row, 0, "%*spaced", (int)(2 * level + 2), "");
	set_times(row, &qdisc->paced);
	table_cell(row, 8, "-");
}

/* The table of a phase, while it is filled. */
struct phase_table {
	const struct phase *phase;
	struct table table;
};

static void add_qdisc_rows(const struct result *result, __u32 index, unsigned int level,
			   void *context)
{
	struct phase_table *out = context;
	const struct phase_qdisc *qdisc = phase_qdisc_find(out->phase, index);
	struct table_row *row;

	if (!qdisc || (!qdisc->packets && !qdisc->drops && !qdisc->backlog_bytes_max))
		return;
	row = table_add(&out->table);
	if (row)
		add_qdisc_row(result, qdisc, level, row);
	if (has_traced_children(result, index) && qdisc->have_exclusive) {
		row = table_add(&out->table);
		if (row)
			add_exclusive_row(result, qdisc, level, row);
	}
	if (qdisc->have_paced && qdisc->paced.max) {
		row = table_add(&out->table);
		if (row)
			add_paced_row(qdisc, level, row);
	}
}

static void print_phase_qdiscs(const struct result *result, const struct phase *phase, FILE *file)
{
	char title[TABLE_CELL_SIZE];
	const char *titles[] = {
		title, "packets", "median", "p95", "p99", "max", "backlog max", "drops", "share"
	};
	struct phase_table out = { .phase = phase };

	snprintf(title, sizeof(title), "%s: sojourn in", phase->plan.name);
	table_heading(&out.table, titles, 9);
	visit_trees(result, add_qdisc_rows, &out);
	if (out.table.count > 1)
		fputc('\n', file);
	else
		out.table.count = 0;
	table_print(file, &out.table);
}

static void print_sum(FILE *stream, const char *who, const struct iperf3_sum *sum)
{
	char text[UNITS_TEXT];

	if (!sum->present)
		return;
	fprintf(stream, "; %s %s", who, units_rate_text(sum->bits_per_second, text));
	if (sum->retransmits >= 0)
		fprintf(stream, ", %.0f retransmit%s", sum->retransmits,
			sum->retransmits == 1 ? "" : "s");
	if (sum->lost_packets >= 0 && sum->packets > 0)
		fprintf(stream, ", %.0f of %.0f datagrams lost", sum->lost_packets, sum->packets);
	if (sum->jitter_ms >= 0)
		fprintf(stream, ", jitter %.3g ms", sum->jitter_ms);
}

/* "upload: " where there are several loads to tell apart. */
static void print_load_name(const struct result *result, const struct phase *load, FILE *stream)
{
	if (result->scenario.load.direction == LOAD_EACH)
		fprintf(stream, "%s: ", load->plan.name);
}

static void print_iperf3(const struct result *result, const struct phase *load, FILE *file)
{
	const struct iperf3_result *iperf3 = &load->load.iperf3;
	char *words = NULL;
	size_t size;
	FILE *stream;

	if (!load->load.have_iperf3)
		return;
	stream = open_memstream(&words, &size);
	if (!stream)
		return;
	print_load_name(result, load, stream);
	fputs(iperf3->version[0] ? iperf3->version : "iperf3", stream);
	print_sum(stream, "sender", &iperf3->sent);
	print_sum(stream, "receiver (delivered)", &iperf3->received);
	print_sum(stream, "reverse sender", &iperf3->sent_reverse);
	print_sum(stream, "reverse receiver (delivered)", &iperf3->received_reverse);
	if (!fclose(stream)) {
		fputc('\n', file);
		table_line(file, 4, "%s", words);
	}
	free(words);
}

static void print_sides(const struct phase *load, FILE *file)
{
	for (unsigned int i = 0; i < load->load.side_count; i++) {
		const struct side_load_result *side = &load->load.sides[i];
		char *words = NULL;
		size_t size;
		FILE *stream = open_memstream(&words, &size);

		if (!stream)
			return;
		fprintf(stream, "load %s, %+.1f s", side->name,
			((double)side->begin_ns - (double)load->load.begin_ns) / 1e9);
		print_sum(stream, "sender", &side->iperf3.sent);
		print_sum(stream, "receiver (delivered)", &side->iperf3.received);
		print_sum(stream, "reverse receiver (delivered)", &side->iperf3.received_reverse);
		if (!fclose(stream))
			table_line(file, 4, "%s", words);
		free(words);
	}
}

static void print_tcp(const struct phase *load, FILE *file)
{
	char median[UNITS_TEXT], max[UNITS_TEXT];

	if (!load->valid || !load->srtt.count)
		return;
	table_line(file, 4,
		   "TCP under %s: srtt median %s, max %s; cwnd median %llu, max %llu packets; %u retransmit%s seen",
		   load->plan.name, units_time_text((double)load->srtt.p50, median),
		   units_time_text((double)load->srtt.max, max), load->cwnd.p50, load->cwnd.max,
		   load->retransmits, load->retransmits == 1 ? "" : "s");
}

static void print_responsiveness(const struct result *result, const struct phase *load, FILE *file)
{
	const char *grade = responsiveness_grade_of(result, load);
	double rpm = responsiveness_rpm(result, load);
	char increase[UNITS_TEXT];

	if (!load->valid || !grade || !isfinite(rpm))
		return;
	table_line(file, 4,
		   "responsiveness under %s: grade %s (RTT increase %s in the mean), %.0f round trips per minute",
		   load->plan.name, grade,
		   units_time_text(fmax(0, load->load.attribution.rtt_increase_ns), increase), rpm);
}

static void print_shape(const struct phase *load, FILE *file)
{
	const struct shape *shape = &load->load.shape;

	if (shape->name != SHAPE_NONE)
		table_line(file, 4, "RTT under %s: %s (%s)", load->plan.name, shape_names[shape->name],
			   shape->why);
}

static void add_side_row(const struct result *result, unsigned int side,
			 const struct phase *phase, struct table *table)
{
	struct side_probe_figures figures;
	struct table_row *row;

	if (!phase->valid || phase->plan.kind == PHASE_RESTORED ||
	    side_probe_figures(result, side, phase, &figures, NULL) || !figures.sent)
		return;
	row = table_add(table);
	if (!row)
		return;
	table_cell(row, 0, "%s, %s", result->scenario.side_probes[side].name, phase->plan.name);
	table_cell(row, 1, "%u", figures.sent);
	table_cell(row, 2, "%u", figures.lost);
	if (figures.rtt.count) {
		char text[UNITS_TEXT];

		table_cell(row, 3, "%s", units_time_text((double)figures.rtt.p50, text));
		table_cell(row, 4, "%s", units_time_text((double)figures.rtt.p99, text));
		table_cell(row, 5, "%s", units_time_text((double)figures.rtt.max, text));
	}
	if (figures.qdisc != RESULT_NO_QDISC) {
		char text[UNITS_TEXT], name[TABLE_CELL_SIZE];

		name_in_tree(&result->qdiscs[figures.qdisc], 0, name, sizeof(name));
		table_cell(row, 6, "%s in %.80s", units_time_text(figures.qdisc_ns, text), name);
	}
}

/* Probes beside the main ones: where they waited longest, in the mean. */
static void print_side_probes(const struct result *result, FILE *file)
{
	const char *titles[] = { "RTT of probes", "sent", "lost", "median", "p99", "max", "longest wait" };
	struct table table;
	unsigned int side, i;

	if (!result->scenario.side_probe_count)
		return;
	table_heading(&table, titles, 7);
	for (side = 0; side < result->scenario.side_probe_count; side++)
		for (i = 0; i < result->phase_count; i++)
			add_side_row(result, side, &result->phases[i], &table);
	fputc('\n', file);
	table_print(file, &table);
}

static void print_loads(const struct result *result, FILE *file)
{
	unsigned int i;

	for (i = 0; i < result->phase_count; i++) {
		if (result->phases[i].plan.kind != PHASE_LOAD)
			continue;
		print_iperf3(result, &result->phases[i], file);
		print_sides(&result->phases[i], file);
		print_tcp(&result->phases[i], file);
		print_responsiveness(result, &result->phases[i], file);
		print_shape(&result->phases[i], file);
	}
}

static const char *agrees_text(enum ledger_verdict agrees)
{
	return agrees == LEDGER_AGREES ? "agrees" :
	       agrees == LEDGER_DISAGREES ? "DISAGREES" : "unknown";
}

static char *ledger_note(const struct ledger *ledger)
{
	const char *separator = ledger->why[0] ? ": " : "";
	char *note = NULL;
	int length;

	if (ledger->have_kernel)
		length = asprintf(&note,
				  "kernel: packets %llu, drops %llu, requeues %llu, backlog %llu; traced: packets %llu, drops %llu skbs, requeues %llu; %s%s%s",
				  ledger->kernel.packets, ledger->kernel.drops,
				  ledger->kernel.requeues, ledger->kernel.backlog_packets,
				  ledger->measured + ledger->bypassed + ledger->unmatched,
				  ledger_drops(ledger), ledger->requeued,
				  agrees_text(ledger->agrees), separator, ledger->why);
	else
		length = asprintf(&note, "kernel: %s%s%s", agrees_text(ledger->agrees), separator,
				  ledger->why);
	return length < 0 ? NULL : note;
}

static void add_ledger_row(const struct result_qdisc *qdisc, unsigned int level, struct table_row *row)
{
	const struct ledger *ledger = &qdisc->ledger;

	name_in_tree(qdisc, level, row->cells[0], TABLE_CELL_SIZE);
	table_cell(row, 1, "%llu", ledger->offered);
	table_cell(row, 2, "%llu", ledger->measured);
	table_cell(row, 3, "%llu", ledger->bypassed);
	table_cell(row, 4, "%llu", ledger->rejected);
	table_cell(row, 5, "%llu", ledger->dropped_inside);
	table_cell(row, 6, "%llu", ledger->queued);
	table_cell(row, 7, "%lld", ledger->unaccounted);
	row->note = ledger_note(ledger);
}

struct ledger_table {
	struct table table;
	unsigned int idle;	/* roots without a packet */
};

static void add_ledger(const struct result *result, __u32 qdisc, unsigned int level, void *context)
{
	struct ledger_table *out = context;
	struct table_row *row;

	if (!saw_packets(result, qdisc)) {
		out->idle += result->qdiscs[qdisc].root;
		return;
	}
	row = table_add(&out->table);
	if (row)
		add_ledger_row(&result->qdiscs[qdisc], level, row);
}

static void print_ledger(const struct result *result, FILE *file)
{
	static const char *const titles[] = {
		"ledger", "offered", "measured", "bypassed", "rejected", "dropped", "queued",
		"unaccounted"
	};
	struct ledger_table out = { .idle = 0 };

	table_heading(&out.table, titles, 8);
	visit_trees(result, add_ledger, &out);
	fputc('\n', file);
	table_line(file, 4,
		   "packets: offered = measured + bypassed + rejected + dropped inside + queued + unaccounted");
	table_print(file, &out.table);
	if (out.idle)
		table_line(file, 4, "%u more root qdisc%s without a packet", out.idle,
			   out.idle == 1 ? "" : "s");
}

static void print_check(const struct result *result, const struct phase *phase, const char *good,
			const char *bad, FILE *file)
{
	const struct phase *idle_phase = result_phase(result, PHASE_IDLE);
	__u64 idle = idle_phase ? idle_phase->rtt.p50 : 0, now = phase->rtt.p50;
	char now_text[UNITS_TEXT], idle_text[UNITS_TEXT];
	bool back = now <= idle * RECOVERED_FACTOR || now <= idle + RECOVERED_SLACK_NS;

	if (!phase->valid || !idle_phase || !idle_phase->received)
		return;
	if (!phase->received) {
		table_line(file, 4, "%s: none of its %u probes came back", bad, phase->sent);
		return;
	}
	table_line(file, 4, "%s: median %s, idle was %s", back ? good : bad,
		   units_time_text((double)now, now_text),
		   units_time_text((double)idle, idle_text));
}

/* What a phase after the loads should show; empty for the others. */
static void name_check(const struct result *result, const struct phase *phase, char *text,
		       size_t size)
{
	bool office = result->scenario.topology == LAB_OFFICE;

	text[0] = '\0';
	if (phase->plan.kind == PHASE_RESTORED)
		snprintf(text, size, "restored (qdisc%s under test removed)", office ? "s" : "");
	else if (phase->plan.kind != PHASE_RECOVERY)
		return;
	else if (result->scenario.load.direction == LOAD_EACH)
		snprintf(text, size, "recovered from the %s",
			 result_load_of(result, phase)->plan.name);
	else
		snprintf(text, size, "recovered");
}

static void print_checks(const struct result *result, FILE *file)
{
	char good[TABLE_CELL_SIZE], bad[TABLE_CELL_SIZE + sizeof("NOT ")];
	unsigned int i;

	fputc('\n', file);
	for (i = 0; i < result->phase_count; i++) {
		name_check(result, &result->phases[i], good, sizeof(good));
		if (!good[0])
			continue;
		snprintf(bad, sizeof(bad), "NOT %s", good);
		print_check(result, &result->phases[i], good, bad, file);
	}
}

static void add_loss(FILE *stream, unsigned int *count, const char *name, __u64 value)
{
	if (!value)
		return;
	fprintf(stream, "%s%s %llu", (*count)++ ? ", " : "losses: ", name, value);
}

static void add_losses(const struct result *result, FILE *stream)
{
	const struct tracer_losses *losses = &result->losses;
	unsigned int count = 0;

	add_loss(stream, &count, "events that found the ring buffer full", losses->ring_full);
	add_loss(stream, &count, "waiting packets forgotten for want of a slot",
		 losses->slot_overwrites);
	add_loss(stream, &count, "GSO segments not matched", losses->flow_misses);
	add_loss(stream, &count, "other packets not matched", losses->unmatched);
	add_loss(stream, &count, "packets of qdiscs without a record", losses->records_full);
	add_loss(stream, &count, "packets in no histogram", losses->samples_missing);
	add_loss(stream, &count, "runs skipped by the kernel", losses->recursion_misses);
	add_loss(stream, &count, "negative sojourns taken as 0", losses->negative);
	add_loss(stream, &count, "packets whose end was not seen", losses->stale);
	add_loss(stream, &count, "TCP states not rate-limited", losses->tcp_flows_full);
	add_loss(stream, &count, "calls not followed to their return", losses->calls_lost);
	add_loss(stream, &count, "walks over all qdiscs cut short", losses->qdiscs_unlisted);
	add_loss(stream, &count, "functions of qdiscs not hooked", losses->functions_unhooked);
	add_loss(stream, &count, "packets whose time in a child is not known",
		 losses->exclusive_misses);
	add_loss(stream, &count, "packets of new qdiscs before they were hooked",
		 losses->before_hooked);
	add_loss(stream, &count, "probes that ping and the trace do not share",
		 result->ping_unmatched);
	add_loss(stream, &count, "steps of the clock", result->clock_steps);
	if (!count)
		fputs("no losses", stream);
}

/* No loss by itself (tracer_losses()), and told all the same. */
static void print_skipped(const struct result *result, FILE *file)
{
	__u64 skipped = 0;
	size_t i;

	for (i = 0; i < result->hook_count; i++)
		skipped += result->hooks[i].skipped;
	if (skipped > result->losses.recursion_misses)
		table_line(file, 4, "the kernel left out %llu runs at frees of skbs and TCP states; a traced packet's would show above",
			   skipped - result->losses.recursion_misses);
}

static void print_losses(const struct result *result, FILE *file)
{
	char *words = NULL;
	size_t size;
	FILE *stream = open_memstream(&words, &size);

	if (!stream)
		return;
	add_losses(result, stream);
	if (!fclose(stream))
		table_line(file, 4, "%s", words);
	free(words);
	print_skipped(result, file);
	if (!result->complete)
		table_line(file, 4, "INCOMPLETE: %s",
			   result->incomplete_why[0] ? result->incomplete_why :
						       "the reason is not known");
}

/* Below a root, and not measured. (A multi-queue qdisc's own children are roots themselves.) */
static bool is_unseen_child(const struct result_qdisc *qdisc)
{
	return !qdisc->traced && !qdisc->root && qdisc->parent != TC_H_ROOT &&
	       qdisc->parent != TC_H_INGRESS;
}

static void print_unseen(const struct result *result, FILE *file)
{
	char name[TABLE_CELL_SIZE] = "";
	unsigned int children = 0;
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		if (!is_unseen_child(&result->qdiscs[i]))
			continue;
		if (!children++)
			name_qdisc(&result->qdiscs[i], name, sizeof(name));
	}
	if (!children)
		return;
	table_line(file, 4,
		   "not seen by the %s tier: the time inside %u child qdisc%s (%s%s) is part of %s root's",
		   result->tier, children, children == 1 ? "" : "s", name,
		   children == 1 ? "" : " and others", children == 1 ? "its" : "their");
}

/* Which tier it is, and why no other. */
static void print_tier(const struct result *result, FILE *file)
{
	if (result_sees_children(result))
		table_line(file, 4, "tier functions: every qdisc of a tree is measured by itself");
	else if (result->tier_why[0])
		table_line(file, 4, "tier %s, not functions: %s", result->tier, result->tier_why);
	else
		table_line(file, 4, "tier %s, as it was asked for: roots are measured",
			   result->tier);
}

static void print_verdict(const struct attribution *attribution, FILE *file, bool color)
{
	if (!attribution->verdict[0])
		return;
	fputc('\n', file);
	if (attribution->cause.text[0])
		table_line(file, 4, "cause: %s", attribution->cause.text);
	fputs(color ? "\033[1m" : "", file);
	table_line(file, 4, "%s", attribution->verdict);
	fputs(color ? "\033[0m" : "", file);
}

void out_text(const struct result *result, FILE *file, bool color)
{
	unsigned int i;

	print_header(result, file, color);
	print_phases(result, file);
	for (i = 0; i < result->phase_count; i++)
		if (result->phases[i].valid)
			print_phase_qdiscs(result, &result->phases[i], file);
	print_loads(result, file);
	print_side_probes(result, file);
	print_ledger(result, file);
	print_checks(result, file);
	print_losses(result, file);
	print_tier(result, file);
	print_unseen(result, file);
	for (i = 0; i < result->phase_count; i++)
		print_verdict(&result->phases[i].load.attribution, file, color);
}

char *out_text_copy(const struct result *result)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return NULL;
	out_text(result, memory, false);
	if (fclose(memory)) {
		free(text);
		return NULL;
	}
	return text;
}
