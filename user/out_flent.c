// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "out_flent.h"

#define VERSION		4
#define STEP_NS		200000000ULL	/* flent's own */
#define SECOND		1e9
#define TIME_SIZE	40
#define GZIP_WINDOW	(15 + 16)	/* zlib.h, deflateInit2: with gzip's header */
#define PING		"Ping (ms) ICMP"

/* What goes into a series: values at moments, all of them and their means in each step. */
struct grid {
	const struct result *result;
	__u64 begin_ns, step_ns;
	size_t steps;
	double *sums;
	unsigned int *counts;
	cJSON *raw;			/* of the series that is being made */
	cJSON *results, *raw_values, *meta;
};

/* CLOCK_MONOTONIC of the run to seconds since 1970. */
static double wall(const struct result *result, __u64 ns)
{
	return ((double)result->started_realtime_ns +
		((double)ns - (double)result->started_ns)) / SECOND;
}

static void time_text(double seconds, char text[TIME_SIZE])
{
	time_t whole = (time_t)seconds;
	struct tm tm;
	size_t length;

	gmtime_r(&whole, &tm);
	length = strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, TIME_SIZE - length, ".%06dZ",
		 (int)((seconds - (double)whole) * 1e6));
}

static void begin_series(struct grid *grid)
{
	memset(grid->sums, 0, grid->steps * sizeof(*grid->sums));
	memset(grid->counts, 0, grid->steps * sizeof(*grid->counts));
	grid->raw = cJSON_CreateArray();
}

static void add_value(struct grid *grid, __u64 at_ns, double value)
{
	size_t step = at_ns < grid->begin_ns ? grid->steps : (at_ns - grid->begin_ns) / grid->step_ns;
	cJSON *point = cJSON_CreateObject();

	cJSON_AddNumberToObject(point, "t", wall(grid->result, at_ns));
	cJSON_AddNumberToObject(point, "val", value);
	cJSON_AddItemToArray(grid->raw, point);
	if (step < grid->steps) {
		grid->sums[step] += value;
		grid->counts[step]++;
	}
}

/* A series without any value is left out. */
static void end_series(struct grid *grid, const char *name, const char *units)
{
	cJSON *values, *meta;

	if (!cJSON_GetArraySize(grid->raw)) {
		cJSON_Delete(grid->raw);
		return;
	}
	values = cJSON_AddArrayToObject(grid->results, name);
	for (size_t i = 0; i < grid->steps; i++)
		cJSON_AddItemToArray(values, grid->counts[i] ?
				     cJSON_CreateNumber(grid->sums[i] / grid->counts[i]) :
				     cJSON_CreateNull());
	cJSON_AddItemToObject(grid->raw_values, name, grid->raw);
	meta = cJSON_AddObjectToObject(grid->meta, name);
	cJSON_AddStringToObject(meta, "UNITS", units);
}

/* ---- series ---- */

static void add_probes(struct grid *grid)
{
	begin_series(grid);
	for (size_t i = 0; i < grid->result->probe_count; i++) {
		const struct probe *probe = &grid->result->probes[i];

		if (!probe->lost)
			add_value(grid, probe->sent_ns, (double)probe->rtt_ns / 1e6);
	}
	end_series(grid, PING, "ms");
}

static bool is_down(const struct phase *phase)
{
	return phase->plan.direction == LOAD_DOWN;
}

/* What iperf3 reports of each interval, at its middle, of the loads in one direction. */
static void add_throughput(struct grid *grid, bool down, const char *name)
{
	begin_series(grid);
	for (unsigned int i = 0; i < grid->result->phase_count; i++) {
		const struct phase *phase = &grid->result->phases[i];
		const struct iperf3_result *iperf3 = &phase->load.iperf3;

		if (phase->plan.kind != PHASE_LOAD || is_down(phase) != down)
			continue;
		for (size_t j = 0; j < iperf3->interval_count; j++) {
			const struct iperf3_interval *one = &iperf3->intervals[j];
			double middle = (one->start_s + one->end_s) / 2 * SECOND;

			add_value(grid, phase->load.begin_ns + (__u64)middle,
				  one->bits_per_second / 1e6);
		}
	}
	end_series(grid, name, "Mbits/s");
}

/* Of the qdisc that is the cause: not in flent's plots, but in its tables and its GUI. */
static void add_qdisc(struct grid *grid, const struct result_qdisc *qdisc, bool backlog)
{
	const struct result *result = grid->result;
	char name[128];

	begin_series(grid);
	for (size_t i = 0; i < result->sample_count; i++) {
		const struct qdisc_sample *sample = &result->samples[i];
		__u64 middle = sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;

		if (sample->qdisc != qdisc - result->qdiscs)
			continue;
		if (backlog)
			add_value(grid, middle, (double)sample->backlog_bytes_max / 1024);
		else if (sample->sojourn.count)
			add_value(grid, middle, (double)sample->sojourn.max / 1e6);
	}
	snprintf(name, sizeof(name), "%s %s", backlog ? "Backlog (KiB)" : "Sojourn max (ms)",
		 qdisc->id);
	end_series(grid, name, backlog ? "KiB" : "ms");
}

static const struct result_qdisc *find_cause(const struct result *result)
{
	const struct phase *load = result_phase(result, PHASE_LOAD);
	__u32 cause;

	if (!load || !load->load.attribution.valid)
		return NULL;
	cause = load->load.attribution.cause.qdisc;
	return cause < result->qdisc_count ? &result->qdiscs[cause] : NULL;
}

static const char *test_name(const struct result *result)
{
	if (result->scenario.load_proto == LOAD_UDP)
		return "udp_flood";
	switch (result->scenario.load_direction) {
	case LOAD_UP:
		return "tcp_upload";
	case LOAD_DOWN:
		return "tcp_download";
	default:
		return "tcp_bidirectional";
	}
}

static void add_series(struct grid *grid)
{
	const struct result_qdisc *cause = find_cause(grid->result);
	bool udp = grid->result->scenario.load_proto == LOAD_UDP;

	add_probes(grid);
	add_throughput(grid, false, udp ? "UDP upload" : "TCP upload");
	add_throughput(grid, true, udp ? "UDP download" : "TCP download");
	if (cause) {
		add_qdisc(grid, cause, false);
		add_qdisc(grid, cause, true);
	}
}

/* ---- the document ---- */

static void add_metadata(cJSON *root, struct grid *grid, const char *file)
{
	const struct result *result = grid->result;
	cJSON *meta = cJSON_AddObjectToObject(root, "metadata"), *parameters;
	double begin = wall(result, grid->begin_ns);
	char text[TIME_SIZE];

	cJSON_AddStringToObject(meta, "NAME", test_name(result));
	cJSON_AddStringToObject(meta, "TITLE", result->suite[0] ? result->suite_run :
				result->scenario.name);
	cJSON_AddStringToObject(meta, "DATA_FILENAME", file);
	time_text(begin, text);
	cJSON_AddStringToObject(meta, "TIME", text);
	cJSON_AddStringToObject(meta, "T0", text);
	cJSON_AddStringToObject(meta, "HOST", result->scenario.load_to);
	cJSON_AddStringToObject(meta, "LOCAL_HOST", result->scenario.load_from);
	cJSON_AddNumberToObject(meta, "LENGTH", (double)result->scenario.load_ns / SECOND);
	cJSON_AddNumberToObject(meta, "TOTAL_LENGTH", (double)grid->steps * grid->step_ns / SECOND);
	cJSON_AddNumberToObject(meta, "STEP_SIZE", (double)grid->step_ns / SECOND);
	cJSON_AddNumberToObject(meta, "IP_VERSION", result->scenario.lab_ipv6 ? 6 : 4);
	cJSON_AddStringToObject(meta, "FLENT_VERSION", "");
	cJSON_AddStringToObject(meta, "KERNEL_RELEASE", result->kernel);
	cJSON_AddStringToObject(meta, "NOTE", result->complete ?
				"measured by sojourn" : result->incomplete_why);
	parameters = cJSON_AddObjectToObject(meta, "TEST_PARAMETERS");
	cJSON_AddStringToObject(parameters, "sojourn_version", result->version);
	cJSON_AddItemToObject(meta, "SERIES_META", grid->meta);
}

static __u64 first_moment(const struct result *result)
{
	return result->probe_count ? result->probes[0].sent_ns : result->started_ns;
}

static cJSON *make_document(struct grid *grid, const char *file)
{
	cJSON *root = cJSON_CreateObject(), *x;

	grid->meta = cJSON_CreateObject();
	cJSON_AddNumberToObject(root, "version", VERSION);
	x = cJSON_AddArrayToObject(root, "x_values");
	for (size_t i = 0; i < grid->steps; i++)
		cJSON_AddItemToArray(x, cJSON_CreateNumber((double)i * grid->step_ns / SECOND));
	grid->results = cJSON_AddObjectToObject(root, "results");
	grid->raw_values = cJSON_AddObjectToObject(root, "raw_values");
	add_series(grid);
	add_metadata(root, grid, file);
	return root;
}

char *out_flent_json(const struct result *result, const char *file)
{
	__u64 interval = result->scenario.probe_interval_ns;
	struct grid grid = {
		.result = result,
		.begin_ns = first_moment(result),
		.step_ns = interval > STEP_NS ? interval : STEP_NS,
	};
	char *text = NULL;
	cJSON *root;

	if (result->ended_ns > grid.begin_ns)
		grid.steps = (result->ended_ns - grid.begin_ns) / grid.step_ns + 1;
	grid.sums = calloc(grid.steps + 1, sizeof(*grid.sums));
	grid.counts = calloc(grid.steps + 1, sizeof(*grid.counts));
	if (grid.sums && grid.counts) {
		root = make_document(&grid, file);
		text = cJSON_PrintUnformatted(root);
		cJSON_Delete(root);
	}
	free(grid.sums);
	free(grid.counts);
	return text;
}

static char *compress_text(const char *text, size_t size, size_t *length)
{
	z_stream stream = { 0 };
	char *out = NULL;
	uLong most;

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&stream, size);
	out = malloc(most);
	if (out) {
		stream.next_in = (Bytef *)text;
		stream.avail_in = size;
		stream.next_out = (Bytef *)out;
		stream.avail_out = most;
		if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
			free(out);
			out = NULL;
		}
		*length = stream.total_out;
	}
	deflateEnd(&stream);
	return out;
}

char *out_flent(const struct result *result, const char *file, size_t *length)
{
	char *text = out_flent_json(result, file), *out;

	if (!text)
		return NULL;
	out = compress_text(text, strlen(text), length);
	cJSON_free(text);
	return out;
}
