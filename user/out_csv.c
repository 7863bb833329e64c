// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out_csv.h"
#include "result_terms.h"

/* ---- cells ---- */

struct csv {
	FILE *file;
	bool begun;		/* a cell stands in this line */
};

static void begin_cell(struct csv *csv)
{
	if (csv->begun)
		fputc(',', csv->file);
	csv->begun = true;
}

static void put_u64(struct csv *csv, __u64 value)
{
	begin_cell(csv);
	fprintf(csv->file, "%llu", value);
}

static void put_s64(struct csv *csv, __s64 value)
{
	begin_cell(csv);
	fprintf(csv->file, "%lld", value);
}

/* All digits; an empty cell where there is no value. */
static void put_double(struct csv *csv, double value)
{
	begin_cell(csv);
	if (isfinite(value))
		fprintf(csv->file, "%.17g", value);
}

static void put_text(struct csv *csv, const char *text)
{
	begin_cell(csv);
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, csv->file);
		return;
	}
	fputc('"', csv->file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', csv->file);
		fputc(*text, csv->file);
	}
	fputc('"', csv->file);
}

static void put_nothing(struct csv *csv, unsigned int cells)
{
	while (cells--)
		begin_cell(csv);
}

static void put_known(struct csv *csv, double value)
{
	put_double(csv, value < 0 ? NAN : value);
}

static void end_line(struct csv *csv)
{
	fputs("\r\n", csv->file);
	csv->begun = false;
}

/* A document of an older version has none: it is 0. */
static void put_quartile(struct csv *csv, const struct summary *summary, __u64 quartile)
{
	if (quartile < summary->min)
		put_nothing(csv, 1);
	else
		put_u64(csv, quartile);
}

static void put_summary(struct csv *csv, const struct summary *summary)
{
	if (!summary->count) {
		put_nothing(csv, 9);
		return;
	}
	put_u64(csv, summary->min);
	put_quartile(csv, summary, summary->p25);
	put_u64(csv, summary->p50);
	put_quartile(csv, summary, summary->p75);
	put_u64(csv, summary->p90);
	put_u64(csv, summary->p95);
	put_u64(csv, summary->p99);
	put_u64(csv, summary->max);
	put_double(csv, summary->mean);
}

static const char *id_of(const struct result *result, __u32 qdisc)
{
	return qdisc < result->qdisc_count ? result->qdiscs[qdisc].id : "";
}

static const char *phase_of(const struct result *result, int phase)
{
	return phase >= 0 && phase < (int)result->phase_count ? result->phases[phase].plan.name : "";
}

static void put_netns(struct csv *csv, const struct result *result, __u32 netns)
{
	const char *name = result_netns_name(result, netns);

	put_text(csv, name ? name : "");
	put_u64(csv, netns);
}

/* ---- tables ---- */

static void write_probes_of(const struct result *result, const char *name,
			    const struct probe *probes, size_t count, struct csv *csv)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct probe *probe = &probes[i];

		put_u64(csv, probe->sequence);
		put_u64(csv, probe->id);
		put_text(csv, phase_of(result, probe->phase));
		put_u64(csv, probe->sent_ns);
		if (probe->lost)
			put_nothing(csv, 1);
		else
			put_u64(csv, probe->rtt_ns);
		if (probe->ping_rtt_ns)
			put_u64(csv, probe->ping_rtt_ns);
		else
			put_nothing(csv, 1);
		put_u64(csv, probe->lost);
		put_u64(csv, probe->complete);
		put_text(csv, name);
		end_line(csv);
	}
}

/* The main ones have no name. */
static void write_probes(const struct result *result, struct csv *csv)
{
	unsigned int i;

	write_probes_of(result, "", result->probes, result->probe_count, csv);
	for (i = 0; i < result->scenario.side_probe_count; i++)
		write_probes_of(result, result->scenario.side_probes[i].name,
				result->side_probes[i].probes, result->side_probes[i].probe_count,
				csv);
}

static void write_legs_of(const struct result *result, const struct probe *probe, struct csv *csv)
{
	unsigned int i;

	for (i = 0; i < probe->leg_count; i++) {
		const struct leg *leg = &probe->legs[i];

		put_u64(csv, probe->sequence);
		put_u64(csv, probe->id);
		put_u64(csv, i);
		put_text(csv, leg_kind_names[leg->kind]);
		put_netns(csv, result, leg->netns);
		put_text(csv, leg->device);
		put_text(csv, id_of(result, leg->qdisc));
		put_text(csv, id_of(result, leg->root));
		put_u64(csv, leg->reply);
		put_u64(csv, leg->ns);
		end_line(csv);
	}
}

static void write_legs(const struct result *result, struct csv *csv)
{
	size_t i;

	for (i = 0; i < result->probe_count; i++)
		write_legs_of(result, &result->probes[i], csv);
	for (unsigned int side = 0; side < result->scenario.side_probe_count; side++)
		for (i = 0; i < result->side_probes[side].probe_count; i++)
			write_legs_of(result, &result->side_probes[side].probes[i], csv);
}

static void put_handle(struct csv *csv, __u32 handle)
{
	char text[16];

	put_text(csv, handle == TC_H_ROOT ? "root" : qdisc_handle_text(handle, text));
}

static void put_ledger(struct csv *csv, const struct ledger *ledger)
{
	put_u64(csv, ledger->offered);
	put_u64(csv, ledger->measured);
	put_u64(csv, ledger->bypassed);
	put_u64(csv, ledger->rejected);
	put_u64(csv, ledger->dropped_inside);
	put_u64(csv, ledger->requeued);
	put_u64(csv, ledger->queued);
	put_s64(csv, ledger->unaccounted);
}

static void put_kernel(struct csv *csv, const struct ledger *ledger)
{
	if (ledger->have_kernel) {
		put_u64(csv, ledger->kernel.packets);
		put_u64(csv, ledger->kernel.bytes);
		put_u64(csv, ledger->kernel.drops);
		put_u64(csv, ledger->kernel.requeues);
		put_u64(csv, ledger->kernel.overlimits);
	} else {
		put_nothing(csv, 5);
	}
	put_text(csv, ledger->agrees == LEDGER_AGREES ? "yes" :
		      ledger->agrees == LEDGER_DISAGREES ? "no" : "");
	put_text(csv, ledger->why);
}

static void write_qdiscs(const struct result *result, struct csv *csv)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		const struct result_qdisc *qdisc = &result->qdiscs[i];

		put_text(csv, qdisc->id);
		put_text(csv, qdisc->netns_name);
		put_u64(csv, qdisc->netns);
		put_text(csv, qdisc->device);
		put_u64(csv, qdisc->queue);
		put_text(csv, qdisc->kind);
		put_handle(csv, qdisc->handle);
		put_handle(csv, qdisc->parent);
		put_text(csv, id_of(result, qdisc->parent_qdisc));
		put_u64(csv, qdisc->root);
		put_u64(csv, qdisc->traced);
		put_ledger(csv, &qdisc->ledger);
		put_kernel(csv, &qdisc->ledger);
		end_line(csv);
	}
}

static void write_phases(const struct result *result, struct csv *csv)
{
	unsigned int i;

	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];
		const struct iperf3_sum *received = &phase->load.iperf3.received;

		if (!phase->valid)
			continue;
		put_text(csv, phase->plan.name);
		put_u64(csv, phase->begin_ns);
		put_u64(csv, phase->end_ns);
		put_u64(csv, phase->sent);
		put_u64(csv, phase->received);
		put_u64(csv, phase->lost);
		put_summary(csv, &phase->rtt);
		put_double(csv, phase->rtt.count ? phase->rtt.stdev : NAN);
		put_double(csv, phase->load.have_iperf3 && received->present ?
				received->bits_per_second : NAN);
		end_line(csv);
	}
}

static void write_phase_qdiscs(const struct result *result, struct csv *csv)
{
	unsigned int i, j;

	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];

		for (j = 0; phase->valid && j < phase->qdisc_count; j++) {
			const struct phase_qdisc *qdisc = &phase->qdiscs[j];

			put_text(csv, phase->plan.name);
			put_text(csv, id_of(result, qdisc->qdisc));
			put_u64(csv, qdisc->packets);
			put_summary(csv, &qdisc->summary);
			put_u64(csv, qdisc->backlog_bytes_max);
			put_u64(csv, qdisc->backlog_packets_max);
			put_double(csv, qdisc->backlog_bytes_mean);
			put_u64(csv, qdisc->drops);
			put_double(csv, qdisc->share);
			put_double(csv, qdisc->exclusive_share);
			end_line(csv);
		}
	}
}

static void write_buckets(const struct result *result, const struct phase *phase,
			  const struct phase_qdisc *qdisc, struct csv *csv)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (qdisc->sojourn.counts[i] <= 0)
			continue;
		put_text(csv, phase->plan.name);
		put_text(csv, id_of(result, qdisc->qdisc));
		put_u64(csv, histogram_bucket_low(i));
		if (i < HISTOGRAM_BUCKETS - 1)
			put_u64(csv, histogram_bucket_high(i));
		else
			put_nothing(csv, 1);
		put_s64(csv, qdisc->sojourn.counts[i]);
		end_line(csv);
	}
}

static void write_histograms(const struct result *result, struct csv *csv)
{
	unsigned int i, j;

	for (i = 0; i < result->phase_count; i++)
		for (j = 0; result->phases[i].valid && j < result->phases[i].qdisc_count; j++)
			write_buckets(result, &result->phases[i],
				      &result->phases[i].qdiscs[j], csv);
}

/* The median of a slice, as the JSON document has it. */
static double median_of(const struct sample_histogram *sample)
{
	struct histogram histogram;

	if (sample->count <= 0)
		return NAN;
	histogram_init(&histogram);
	sample_histogram_add(&histogram, sample);
	return (double)histogram_percentile(&histogram, 50);
}

static void write_samples(const struct result *result, struct csv *csv)
{
	size_t i;

	for (i = 0; i < result->sample_count; i++) {
		const struct qdisc_sample *sample = &result->samples[i];

		put_text(csv, id_of(result, sample->qdisc));
		put_u64(csv, sample->begin_ns);
		put_u64(csv, sample->end_ns);
		put_s64(csv, sample->sojourn.count);
		put_double(csv, median_of(&sample->sojourn));
		put_double(csv, sample->sojourn.count > 0 ? (double)sample->sojourn.max : NAN);
		put_u64(csv, sample->backlog_bytes_max);
		put_u64(csv, sample->backlog_packets_max);
		put_double(csv, sample->backlog_bytes_mean);
		put_double(csv, sample->backlog_packets_mean);
		put_u64(csv, sample->delta.rejected_packets + sample->delta.dropped_packets);
		put_u64(csv, sample->delta.requeued);
		end_line(csv);
	}
}

static void put_end(struct csv *csv, int family, const __u8 *address, __u16 port)
{
	char text[INET6_ADDRSTRLEN];

	put_text(csv, inet_ntop(family, address, text, sizeof(text)) ? text : "");
	put_u64(csv, port);
}

static void put_event(struct csv *csv, const struct result *result,
		      const struct event_header *header, const struct tcp_endpoints *ends)
{
	put_u64(csv, header->time_ns);
	put_netns(csv, result, header->netns);
	put_end(csv, ends->family, ends->local, ends->local_port);
	put_end(csv, ends->family, ends->remote, ends->remote_port);
}

static void write_tcp(const struct result *result, struct csv *csv)
{
	size_t i;

	for (i = 0; i < result->tcp_count; i++) {
		const struct tcp_event *event = &result->tcp[i];

		put_event(csv, result, &event->header, &event->ends);
		put_u64(csv, (__u64)event->srtt_us * 1000);
		put_u64(csv, event->cwnd);
		put_u64(csv, event->in_flight);
		put_u64(csv, event->bytes_acked);
		put_u64(csv, event->total_retransmits);
		put_u64(csv, event->mss);
		end_line(csv);
	}
}

static void write_retransmits(const struct result *result, struct csv *csv)
{
	size_t i;

	for (i = 0; i < result->retransmit_count; i++) {
		const struct retransmit_event *event = &result->retransmits[i];

		put_event(csv, result, &event->header, &event->ends);
		put_u64(csv, event->sequence);
		put_u64(csv, event->length);
		end_line(csv);
	}
}

static void write_intervals(const struct result *result, struct csv *csv)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];

		for (j = 0; j < phase->load.iperf3.interval_count; j++) {
			const struct iperf3_interval *one = &phase->load.iperf3.intervals[j];

			put_text(csv, phase->plan.name);
			put_double(csv, one->start_s);
			put_double(csv, one->end_s);
			put_double(csv, one->bits_per_second);
			put_known(csv, one->retransmits);
			put_known(csv, one->rtt_us);
			put_known(csv, one->cwnd_bytes);
			put_double(csv, one->have_reverse ? one->reverse_bits_per_second : NAN);
			end_line(csv);
		}
	}
}

#define TIMES(prefix) \
	prefix "_min_ns," prefix "_p25_ns," prefix "_p50_ns," prefix "_p75_ns," \
	prefix "_p90_ns," prefix "_p95_ns," prefix "_p99_ns," prefix "_max_ns," prefix "_mean_ns"
#define ENDS	"time_ns,netns,netns_inode,local,local_port,remote,remote_port"

static const struct {
	const char *name;
	const char *heading;
	void (*write)(const struct result *result, struct csv *csv);
} tables[] = {
	{ "probes.csv", "seq,id,phase,sent_ns,rtt_ns,ping_rtt_ns,lost,complete,name", write_probes },
	{ "legs.csv", "seq,id,leg,kind,netns,netns_inode,device,qdisc,root,reply,ns", write_legs },
	{ "qdiscs.csv",
	  "id,netns,netns_inode,ifname,queue,kind,handle,parent,parent_qdisc,root,traced,"
	  "offered_packets,measured_packets,bypassed_packets,rejected_packets,"
	  "dropped_inside_packets,requeued_skbs,queued_packets,unaccounted_packets,"
	  "kernel_packets,kernel_bytes,kernel_drops,kernel_requeues,kernel_overlimits,agrees,why",
	  write_qdiscs },
	{ "phases.csv",
	  "phase,begin_ns,end_ns,sent,received,lost," TIMES("rtt") ",rtt_stdev_ns,"
	  "received_bits_per_second", write_phases },
	{ "phase_qdiscs.csv",
	  "phase,qdisc,packets," TIMES("sojourn") ",backlog_max_bytes,backlog_max_packets,"
	  "backlog_mean_bytes,drops_packets,share,exclusive_share", write_phase_qdiscs },
	{ "histograms.csv", "phase,qdisc,low_ns,high_ns,packets", write_histograms },
	{ "qdisc_samples.csv",
	  "qdisc,begin_ns,end_ns,packets,sojourn_p50_ns,sojourn_max_ns,backlog_max_bytes,"
	  "backlog_max_packets,backlog_mean_bytes,backlog_mean_packets,drops_packets,requeued_skbs",
	  write_samples },
	{ "tcp.csv",
	  ENDS ",srtt_ns,cwnd_packets,in_flight_packets,acked_bytes,retransmits,mss_bytes",
	  write_tcp },
	{ "retransmits.csv", ENDS ",sequence,length_bytes", write_retransmits },
	{ "iperf3_intervals.csv",
	  "phase,start_s,end_s,bits_per_second,retransmits,rtt_us,cwnd_bytes,reverse_bits_per_second",
	  write_intervals },
};

#define TABLES	(sizeof(tables) / sizeof(tables[0]))

/* ---- files ---- */

static int write_table(const struct result *result, int directory, size_t table,
		       struct error *error)
{
	int fd = openat(directory, tables[table].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0666);
	struct csv csv = { .file = fd < 0 ? NULL : fdopen(fd, "w") };
	bool failed;

	if (!csv.file) {
		error_set_errno(error, EXIT_CANNOT, "cannot make %s", tables[table].name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fprintf(csv.file, "%s\r\n", tables[table].heading);
	tables[table].write(result, &csv);
	failed = fflush(csv.file) || ferror(csv.file);
	if (failed)
		error_set_errno(error, EXIT_CANNOT, "cannot write %s", tables[table].name);
	if (fclose(csv.file) && !failed) {
		error_set_errno(error, EXIT_CANNOT, "cannot write %s", tables[table].name);
		failed = true;
	}
	return failed ? -1 : 0;
}

static int write_tables(const struct result *result, const char *directory, struct error *error)
{
	int fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC), failed = 0;
	size_t i;

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "%s", directory);
	for (i = 0; i < TABLES && !failed; i++)
		failed = write_table(result, fd, i, error);
	close(fd);
	return failed;
}

static void remove_tables(const char *directory)
{
	int fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	size_t i;

	for (i = 0; fd >= 0 && i < TABLES; i++)
		unlinkat(fd, tables[i].name, 0);
	if (fd >= 0)
		close(fd);
	rmdir(directory);
}

/* Under a name of its own first; rename() takes the place of an empty directory, and of no other. */
static int write_directory(const struct result *result, const char *directory,
			   struct error *error)
{
	size_t length = strlen(directory);
	char *temporary = NULL;
	mode_t mask = umask(0);
	int failed;

	umask(mask);
	while (length > 1 && directory[length - 1] == '/')
		length--;
	if (!length || asprintf(&temporary, "%.*s.XXXXXX", (int)length, directory) < 0)
		return error_set(error, EXIT_USAGE, "--csv: no directory is named");
	if (!mkdtemp(temporary)) {
		error_set_errno(error, EXIT_USAGE, "--csv %s: cannot make a directory there",
				directory);
		free(temporary);
		return -1;
	}
	failed = write_tables(result, temporary, error);
	if (!failed && (chmod(temporary, 0777 & ~mask) || rename(temporary, directory)))
		failed = error_set_errno(error, EXIT_USAGE,
					 "--csv %s: it has to be new, or an empty directory",
					 directory);
	if (failed)
		remove_tables(temporary);
	free(temporary);
	return failed;
}

int out_csv(const struct result *result, const char *directory, struct error *error)
{
	sigset_t ending, before;
	int failed;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &before);
	failed = write_directory(result, directory, error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return failed;
}
