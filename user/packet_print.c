// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "histogram.h"
#include "packet_print.h"
#include "qdisc_tree.h"
#include "text.h"
#include "units.h"

#define OUTCOMES	(PACKET_UNMATCHED + 1)
#define ID_SIZE		176

/* Of one outcome in one qdisc. */
struct figures {
	__u64 records;
	__u64 packets;
	struct histogram *sojourn;	/* of outcomes that have one; NULL: no packet so far */
};

struct printed_qdisc {
	char id[ID_SIZE];
	struct figures figures[OUTCOMES];
};

struct packet_printer {
	struct packet_print_options options;
	__u64 started_ns;
	struct printed_qdisc *qdiscs[PACKET_QDISCS_MAX];
	unsigned int qdisc_count;	/* the highest id, and one */
	bool summed_up;
	char trouble[512];
};

const char *packet_outcome_name(unsigned int outcome)
{
	static const char *const names[OUTCOMES] = {
		[PACKET_MEASURED] = "measured",
		[PACKET_REPEATED] = "repeated",
		[PACKET_BYPASSED] = "bypassed",
		[PACKET_DROPPED] = "dropped",
		[PACKET_REJECTED] = "rejected",
		[PACKET_UNMATCHED] = "unmatched",
	};

	return names[outcome];
}

/* Has sojourn_ns a meaning? */
static bool has_sojourn(unsigned int outcome)
{
	return outcome != PACKET_REJECTED && outcome != PACKET_UNMATCHED;
}

/*
 * A copy of text that can stand in a JSON string, and does nothing to a terminal: names in
 * a file are anybody's.
 */
static const char *clean(const char *text, char *copy, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i]; i++)
		copy[i] = text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\' ?
			  '?' : text[i];
	copy[i] = '\0';
	return copy;
}

static int check_file(const struct packet_printer *printer, struct error *error)
{
	if (!ferror(printer->options.file))
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot write what was read");
}

/* ---- header ---- */

static int print_header(void *context, const struct packet_file_header *header,
			struct error *error)
{
	struct packet_printer *printer = context;
	time_t seconds = header->started_realtime_ns / 1000000000;
	const char *mark = printer->options.summary ? "" : "# ";
	FILE *file = printer->options.file;
	char version[32], kernel[128], tier[32], when[64] = "?";
	struct tm time;

	printer->started_ns = header->started_ns;
	clean(header->version, version, sizeof(version));
	clean(header->kernel, kernel, sizeof(kernel));
	clean(header->tier, tier, sizeof(tier));
	if (printer->options.json) {
		fprintf(file, "{\"type\":\"start\",\"schema\":\"sojourn-packets/1\","
			"\"version\":\"%s\",\"kernel\":\"%s\",\"tier\":\"%s\","
			"\"started_ns\":%llu,\"started_realtime_ns\":%llu}\n",
			version, kernel, tier, header->started_ns, header->started_realtime_ns);
		return check_file(printer, error);
	}
	if (gmtime_r(&seconds, &time))
		strftime(when, sizeof(when), "%F %T UTC", &time);
	fprintf(file, "%ssojourn %s, kernel %s, tier %s, started %s\n", mark, version, kernel, tier,
		when);
	if (!printer->options.summary)
		fprintf(file, "%-14s %-36s %-9s %9s %7s %7s\n", "# seconds", "qdisc", "outcome",
			"sojourn", "length", "packets");
	return check_file(printer, error);
}

/* ---- qdiscs ---- */

static bool id_taken(const struct packet_printer *printer, const char *id)
{
	unsigned int i;

	for (i = 0; i < printer->qdisc_count; i++)
		if (printer->qdiscs[i] && !strcmp(printer->qdiscs[i]->id, id))
			return true;
	return false;
}

/* As in the document of a run (docs/json.md): "pl-router/wan0/0/tbf/10:". */
static void set_id(const struct packet_printer *printer, const struct packet_qdisc *qdisc,
		   char id[ID_SIZE])
{
	char netns[64], device[16], kind[16], handle[16], parent[16];
	struct text text = text_begin(id, ID_SIZE);
	unsigned int number = 1;
	size_t length;

	text_add(&text, "%s/%s/%u/%s/%s",
		 qdisc->netns_name[0] ? clean(qdisc->netns_name, netns, sizeof(netns)) : "-",
		 clean(qdisc->device, device, sizeof(device)), qdisc->queue,
		 clean(qdisc->kind, kind, sizeof(kind)),
		 qdisc_handle_text(qdisc->handle, handle));
	if (qdisc->depth)
		text_add(&text, "@%s", qdisc_handle_text(qdisc->parent, parent));
	length = text.used;
	while (id_taken(printer, id)) {
		text.used = length;
		text_add(&text, "#%u", ++number);
	}
}

static void print_qdisc_json(FILE *file, const struct packet_qdisc *qdisc, const char *id)
{
	char netns[64], device[16], kind[16], handle[16], parent[16];

	fprintf(file, "{\"type\":\"qdisc\",\"qdisc\":\"%s\",\"netns\":\"%s\","
		"\"netns_inode\":%u,\"ifname\":\"%s\",\"ifindex\":%u,\"queue\":%u,\"kind\":\"%s\","
		"\"handle\":\"%s\",\"parent\":\"%s\",\"depth\":%u}\n", id,
		clean(qdisc->netns_name, netns, sizeof(netns)), qdisc->netns,
		clean(qdisc->device, device, sizeof(device)), qdisc->ifindex, qdisc->queue,
		clean(qdisc->kind, kind, sizeof(kind)), qdisc_handle_text(qdisc->handle, handle),
		qdisc->parent == TC_H_ROOT ? "root" : qdisc_handle_text(qdisc->parent, parent),
		qdisc->depth);
}

static int print_qdisc(void *context, const struct packet_qdisc *qdisc, struct error *error)
{
	struct packet_printer *printer = context;
	struct printed_qdisc *printed = calloc(1, sizeof(*printed));

	if (!printed)
		return error_set(error, EXIT_CANNOT, "out of memory");
	set_id(printer, qdisc, printed->id);
	printer->qdiscs[qdisc->qdisc] = printed;
	if (qdisc->qdisc >= printer->qdisc_count)
		printer->qdisc_count = qdisc->qdisc + 1;
	if (printer->options.json)
		print_qdisc_json(printer->options.file, qdisc, printed->id);
	return check_file(printer, error);
}

/* ---- packets ---- */

static void print_packet_json(const struct packet_printer *printer,
			      const struct packet_event *packet)
{
	FILE *file = printer->options.file;

	fprintf(file, "{\"type\":\"packet\",\"time_ns\":%llu,\"qdisc\":\"%s\","
		"\"outcome\":\"%s\",\"sojourn_ns\":", packet->time_ns,
		printer->qdiscs[packet->qdisc]->id, packet_outcome_name(packet->outcome));
	if (has_sojourn(packet->outcome))
		fprintf(file, "%llu", packet->sojourn_ns);
	else
		fputs("null", file);
	if (packet->len)
		fprintf(file, ",\"length\":%u", packet->len);
	else
		fputs(",\"length\":null", file);
	fprintf(file, ",\"packets\":%u,\"cpu\":%u}\n", packet->packets, packet->cpu);
}

static void print_packet_text(const struct packet_printer *printer,
			      const struct packet_event *packet)
{
	/* clocks of several CPUs: the first packets may be a little before the start */
	__s64 since = packet->time_ns - printer->started_ns;
	char sojourn[UNITS_TEXT] = "-", length[16] = "-";

	if (has_sojourn(packet->outcome))
		units_time_text((double)packet->sojourn_ns, sojourn);
	if (packet->len)
		snprintf(length, sizeof(length), "%u", packet->len);
	fprintf(printer->options.file, "%14.9f %-36s %-9s %9s %7s %7u\n", (double)since / 1e9,
		printer->qdiscs[packet->qdisc]->id, packet_outcome_name(packet->outcome), sojourn,
		length, packet->packets);
}

/* No sum of sojourns in a histogram may overflow. */
static bool fits(const struct histogram *histogram, const struct packet_event *packet)
{
	__s64 sum;

	return !__builtin_mul_overflow(packet->sojourn_ns, packet->packets, &sum) &&
	       !__builtin_add_overflow(histogram->sum, sum, &sum);
}

static int add_packet(struct packet_printer *printer, const struct packet_event *packet,
		      struct error *error)
{
	struct figures *figures =
		&printer->qdiscs[packet->qdisc]->figures[packet->outcome];

	figures->records++;
	figures->packets += packet->packets;
	if (!has_sojourn(packet->outcome))
		return 0;
	if (!figures->sojourn) {
		figures->sojourn = malloc(sizeof(*figures->sojourn));
		if (!figures->sojourn)
			return error_set(error, EXIT_CANNOT, "out of memory");
		histogram_init(figures->sojourn);
	}
	if (!fits(figures->sojourn, packet))
		return error_set(error, EXIT_USAGE, "sojourns of %s add up to more than 292 years",
				 printer->qdiscs[packet->qdisc]->id);
	histogram_add_value(figures->sojourn, packet->sojourn_ns, packet->packets);
	return 0;
}

static int print_packets(void *context, const struct packet_event *packets, unsigned int count,
			 struct error *error)
{
	struct packet_printer *printer = context;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (printer->options.summary) {
			if (add_packet(printer, &packets[i], error))
				return -1;
		} else if (printer->options.json) {
			print_packet_json(printer, &packets[i]);
		} else {
			print_packet_text(printer, &packets[i]);
		}
	}
	return check_file(printer, error);
}

/* ---- the sums ---- */

static void print_figures_json(FILE *file, const char *id, unsigned int outcome,
			       const struct figures *figures)
{
	struct summary summary;

	fprintf(file, "{\"type\":\"summary\",\"qdisc\":\"%s\",\"outcome\":\"%s\","
		"\"records\":%llu,\"packets\":%llu,\"sojourn_ns\":", id,
		packet_outcome_name(outcome), figures->records, figures->packets);
	if (!figures->sojourn) {
		fputs("null}\n", file);
		return;
	}
	histogram_summary(figures->sojourn, &summary);
	fprintf(file, "{\"p50\":%llu,\"p99\":%llu,\"max\":%llu}}\n", summary.p50, summary.p99,
		summary.max);
}

static void print_figures_text(FILE *file, const char *id, unsigned int outcome,
			       const struct figures *figures)
{
	char p50[UNITS_TEXT] = "-", p99[UNITS_TEXT] = "-", max[UNITS_TEXT] = "-";
	struct summary summary;

	if (figures->sojourn) {
		histogram_summary(figures->sojourn, &summary);
		units_time_text((double)summary.p50, p50);
		units_time_text((double)summary.p99, p99);
		units_time_text((double)summary.max, max);
	}
	fprintf(file, "%-36s %-9s %10llu %10llu %9s %9s %9s\n", id, packet_outcome_name(outcome),
		figures->records, figures->packets, p50, p99, max);
}

/* Once, behind the last packet. */
static void print_sums(struct packet_printer *printer)
{
	FILE *file = printer->options.file;
	unsigned int i, outcome;

	if (!printer->options.summary || printer->summed_up)
		return;
	printer->summed_up = true;
	if (!printer->options.json)
		fprintf(file, "\n%-36s %-9s %10s %10s %9s %9s %9s\n", "qdisc", "outcome",
			"records", "packets", "p50", "p99", "max");
	for (i = 0; i < printer->qdisc_count; i++) {
		const struct printed_qdisc *qdisc = printer->qdiscs[i];

		for (outcome = PACKET_MEASURED; qdisc && outcome < OUTCOMES; outcome++) {
			if (!qdisc->figures[outcome].records)
				continue;
			(printer->options.json ? print_figures_json : print_figures_text)(
				file, qdisc->id, outcome, &qdisc->figures[outcome]);
		}
	}
	if (!printer->options.json)
		fputc('\n', file);
}

/* ---- ledgers and the end ---- */

static void print_ledger_json(FILE *file, const struct packet_ledger *ledger, const char *id)
{
	static const char *const agrees[] = {
		[AGREES_UNKNOWN] = "null", [AGREES_YES] = "true", [AGREES_NO] = "false",
	};

	fprintf(file, "{\"type\":\"ledger\",\"qdisc\":\"%s\",\"offered\":%llu,\"measured\":%llu,"
		"\"bypassed\":%llu,\"rejected\":%llu,\"dropped_inside\":%llu,\"queued\":%llu,"
		"\"unaccounted\":%lld,\"unmatched\":%llu,\"requeued\":%llu,\"agrees\":%s,",
		id, ledger->offered, ledger->measured, ledger->bypassed, ledger->rejected,
		ledger->dropped_inside, ledger->queued, ledger->unaccounted, ledger->unmatched,
		ledger->requeued, agrees[ledger->agrees]);
	if (ledger->agrees == AGREES_UNKNOWN)
		fputs("\"kernel\":null}\n", file);
	else
		fprintf(file, "\"kernel\":{\"packets\":%llu,\"drops\":%llu,\"requeues\":%llu}}\n",
			ledger->kernel_packets, ledger->kernel_drops, ledger->kernel_requeues);
}

static int print_ledger(void *context, const struct packet_ledger *ledger, struct error *error)
{
	struct packet_printer *printer = context;
	const char *id = printer->qdiscs[ledger->qdisc]->id;
	const char *mark = printer->options.summary ? "" : "# ";
	FILE *file = printer->options.file;

	print_sums(printer);
	if (printer->options.json) {
		print_ledger_json(file, ledger, id);
		return check_file(printer, error);
	}
	fprintf(file, "%sledger %s offered %llu = measured %llu + bypassed %llu + rejected %llu"
		" + dropped inside %llu + queued %llu + unaccounted %lld", mark, id,
		ledger->offered, ledger->measured, ledger->bypassed, ledger->rejected,
		ledger->dropped_inside, ledger->queued, ledger->unaccounted);
	if (ledger->agrees == AGREES_UNKNOWN)
		fputc('\n', file);
	else
		fprintf(file, "; kernel: packets %llu, drops %llu, requeues %llu; %s\n",
			ledger->kernel_packets, ledger->kernel_drops, ledger->kernel_requeues,
			ledger->agrees == AGREES_YES ? "agrees" : "DISAGREES");
	return check_file(printer, error);
}

static void note_trouble(struct packet_printer *printer, const struct packet_trailer *trailer,
			 const struct packet_loss *losses)
{
	struct text text = text_begin(printer->trouble, sizeof(printer->trouble));
	char name[sizeof(losses->name)];
	__u32 i;

	for (i = 0; i < trailer->loss_count; i++)
		if (losses[i].value)
			text_add(&text, "%s%s %llu", text.used ? ", " : "",
				 clean(losses[i].name, name, sizeof(name)), losses[i].value);
}

static void print_end_json(const struct packet_printer *printer,
			   const struct packet_trailer *trailer, const struct packet_loss *losses)
{
	char why[sizeof(trailer->not_compared_why)], name[sizeof(losses->name)];
	FILE *file = printer->options.file;
	__u32 i;

	fprintf(file, "{\"type\":\"end\",\"ended_ns\":%llu,\"records\":%llu,\"packets\":%llu,"
		"\"kernel_compared\":%s,\"not_compared_why\":", trailer->ended_ns,
		trailer->records, trailer->packets, trailer->kernel_compared ? "true" : "false");
	if (trailer->kernel_compared)
		fputs("null", file);
	else
		fprintf(file, "\"%s\"", clean(trailer->not_compared_why, why, sizeof(why)));
	fprintf(file, ",\"complete\":%s,\"losses\":{", printer->trouble[0] ? "false" : "true");
	for (i = 0; i < trailer->loss_count; i++)
		fprintf(file, "%s\"%s\":%llu", i ? "," : "",
			clean(losses[i].name, name, sizeof(name)), losses[i].value);
	fputs("}}\n", file);
}

static int print_trailer(void *context, const struct packet_trailer *trailer,
			 const struct packet_loss *losses, struct error *error)
{
	struct packet_printer *printer = context;
	const char *mark = printer->options.summary ? "" : "# ";
	char why[sizeof(trailer->not_compared_why)];
	FILE *file = printer->options.file;
	__s64 lasted = trailer->ended_ns - printer->started_ns;

	note_trouble(printer, trailer, losses);
	print_sums(printer);
	if (printer->options.json) {
		print_end_json(printer, trailer, losses);
		return check_file(printer, error);
	}
	fprintf(file, "%s%llu records of %llu packets in %.3f s; %s%s\n", mark, trailer->records,
		trailer->packets, (double)lasted / 1e9, printer->trouble[0] ? "INCOMPLETE: " :
		"no losses", printer->trouble);
	if (trailer->kernel_compared)
		fprintf(file, "%sthe kernel's own counters were compared\n", mark);
	else
		fprintf(file, "%sthe kernel's own counters were not compared: %s\n", mark,
			clean(trailer->not_compared_why, why, sizeof(why)));
	return check_file(printer, error);
}

/* ---- the printer ---- */

struct packet_printer *packet_printer_open(const struct packet_print_options *options)
{
	struct packet_printer *printer = calloc(1, sizeof(*printer));

	if (printer)
		printer->options = *options;
	return printer;
}

void packet_printer_close(struct packet_printer *printer)
{
	unsigned int i, outcome;

	if (!printer)
		return;
	for (i = 0; i < printer->qdisc_count; i++) {
		if (!printer->qdiscs[i])
			continue;
		for (outcome = 0; outcome < OUTCOMES; outcome++)
			free(printer->qdiscs[i]->figures[outcome].sojourn);
		free(printer->qdiscs[i]);
	}
	free(printer);
}

struct packet_sink packet_printer_sink(struct packet_printer *printer)
{
	return (struct packet_sink){
		.context = printer,
		.header = print_header,
		.qdisc = print_qdisc,
		.packets = print_packets,
		.ledger = print_ledger,
		.trailer = print_trailer,
	};
}

int packet_printer_finish(struct packet_printer *printer, struct error *error)
{
	print_sums(printer);
	fflush(printer->options.file);
	return check_file(printer, error);
}

const char *packet_printer_trouble(const struct packet_printer *printer)
{
	return printer->trouble;
}
