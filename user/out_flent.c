// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "array.h"
#include "out_flent.h"
#include "text.h"

#define VERSION		4
#define STEP_NS		200000000ULL	/* flent's own */
#define STEPS_MAX	200000		/* 11 hours of steps of flent's */
#define SECOND		1e9
#define GAP_S		0.001		/* between intervals that follow each other */
#define SECONDS_MAX	1e8		/* of an interval that can be true */
#define TIME_SIZE	40
#define NAME_SIZE	160
#define GZIP_WINDOW	(15 + 16)	/* zlib.h, deflateInit2: with gzip's header */
#define PING		"Ping (ms) ICMP"

/* A value at a moment. */
struct point {
	__u64 at_ns;
	double value;
	bool follows;			/* nothing is missing between it and the one before */
};

struct series {
	char name[NAME_SIZE];
	const char *units;
	struct point *points;		/* owned, by time */
	size_t count, room;
};

struct flent {
	const struct result *result;
	struct series *series;		/* owned */
	size_t count, room;
	cJSON *raw_values;
	__u64 begin_ns, step_ns;	/* of the grid */
	size_t steps;
	bool failed;			/* memory */
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

/* ---- parts ---- */

static void put(struct flent *flent, cJSON *object, const char *name, cJSON *item)
{
	if (!item || !cJSON_AddItemToObject(object, name, item)) {
		cJSON_Delete(item);
		flent->failed = true;
	}
}

static void put_number(struct flent *flent, cJSON *object, const char *name, double value)
{
	put(flent, object, name, cJSON_CreateNumber(value));
}

static void put_text(struct flent *flent, cJSON *object, const char *name, const char *text)
{
	put(flent, object, name, cJSON_CreateString(text));
}

static void append(struct flent *flent, cJSON *array, cJSON *item)
{
	if (!item || !cJSON_AddItemToArray(array, item)) {
		cJSON_Delete(item);
		flent->failed = true;
	}
}

static cJSON *child_of(struct flent *flent, cJSON *object, const char *name, cJSON *item)
{
	put(flent, object, name, item);
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* The series of that name, made where there is none; NULL: out of memory. */
static struct series *series_named(struct flent *flent, const char *name, const char *units)
{
	struct series *series;

	for (size_t i = 0; i < flent->count; i++)
		if (!strcmp(flent->series[i].name, name))
			return &flent->series[i];
	series = array_grow(flent->series, flent->count, &flent->room, sizeof(*series));
	if (!series) {
		flent->failed = true;
		return NULL;
	}
	flent->series = series;
	series += flent->count++;
	*series = (struct series) { .units = units };
	snprintf(series->name, sizeof(series->name), "%s", name);
	return series;
}

static void add_point(struct flent *flent, const char *name, const char *units,
		      struct point point)
{
	struct series *series = series_named(flent, name, units);
	struct point *points = series ? array_grow(series->points, series->count, &series->room,
						   sizeof(*points)) : NULL;

	if (!points) {
		flent->failed = true;
		return;
	}
	series->points = points;
	points[series->count++] = point;
}

/* An object in raw_values for what was measured at that moment; NULL: out of memory. */
static cJSON *add_raw(struct flent *flent, const char *name, __u64 at_ns)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(flent->raw_values, name);
	cJSON *raw = cJSON_CreateObject();

	if (!list)
		list = child_of(flent, flent->raw_values, name, cJSON_CreateArray());
	put_number(flent, raw, "t", wall(flent->result, at_ns));
	append(flent, list, raw);
	return flent->failed ? NULL : raw;
}

/* ---- series ---- */

/* seq counts all of them: ping is started twice, and begins anew. */
static void add_probe(struct flent *flent, const struct probe *probe, size_t seq, bool follows)
{
	struct point point = { probe->sent_ns, (double)probe->rtt_ns / 1e6, follows };
	cJSON *raw = add_raw(flent, PING, point.at_ns);

	put_number(flent, raw, "seq", (double)seq);
	if (probe->lost) {
		put(flent, raw, "lost", cJSON_CreateTrue());
		return;
	}
	put_number(flent, raw, "val", point.value);
	add_point(flent, PING, "ms", point);
}

static void add_probes(struct flent *flent)
{
	const struct probe *before = NULL;

	for (size_t i = 0; i < flent->result->probe_count; i++) {
		const struct probe *probe = &flent->result->probes[i];

		if (probe->sent)
			add_probe(flent, probe, i + 1, before && before->id == probe->id &&
				  (__u16)(before->sequence + 1) == probe->sequence);
		before = probe->sent && !probe->lost ? probe : NULL;
	}
}

/* What an interval has in that direction; NAN: nothing. */
static double rate_of(const struct iperf3_interval *interval, bool reverse)
{
	if (!reverse)
		return interval->bits_per_second;
	return interval->have_reverse ? interval->reverse_bits_per_second : NAN;
}

/* Each interval of iperf3 at its end, as flent does it for what netperf reports. */
static void add_intervals(struct flent *flent, const struct iperf3_result *iperf3,
			  __u64 begin_ns, const char *name, bool reverse)
{
	double end_s = NAN;

	for (size_t i = 0; begin_ns && i < iperf3->interval_count; i++) {
		const struct iperf3_interval *one = &iperf3->intervals[i];
		struct point point = { .follows = fabs(one->start_s - end_s) < GAP_S };
		cJSON *raw;

		end_s = NAN;
		if (!isfinite(rate_of(one, reverse)) || !(one->start_s >= 0) ||
		    !(one->end_s >= one->start_s) || one->end_s > SECONDS_MAX)
			continue;
		end_s = one->end_s;
		point.at_ns = begin_ns + (__u64)(end_s * SECOND);
		point.value = rate_of(one, reverse) / 1e6;
		raw = add_raw(flent, name, point.at_ns);
		put_number(flent, raw, "val", point.value);
		put_number(flent, raw, "dur", end_s - one->start_s);
		add_point(flent, name, "Mbits/s", point);
	}
}

/* "TCP upload"; of a load beside the main one "TCP upload::NAME". */
static void load_name(char name[NAME_SIZE], enum load_proto proto, enum load_direction direction,
		      const char *side)
{
	snprintf(name, NAME_SIZE, "%s %s%s%s", proto == LOAD_UDP ? "UDP" : "TCP",
		 direction == LOAD_DOWN ? "download" : "upload", side ? "::" : "",
		 side ? side : "");
}

/* Of a load both ways at once what goes the other way is a download. */
static void add_load(struct flent *flent, const struct iperf3_result *iperf3, __u64 begin_ns,
		     enum load_proto proto, enum load_direction direction, const char *side)
{
	char name[NAME_SIZE];

	load_name(name, proto, direction, side);
	add_intervals(flent, iperf3, begin_ns, name, false);
	if (direction != LOAD_BIDIR)
		return;
	load_name(name, proto, LOAD_DOWN, side);
	add_intervals(flent, iperf3, begin_ns, name, true);
}

static void add_side(struct flent *flent, const struct side_load_result *side)
{
	const struct scenario *scenario = &flent->result->scenario;

	for (unsigned int i = 0; i < scenario->side_load_count; i++) {
		const struct scenario_side_load *plan = &scenario->side_loads[i];

		if (strcmp(plan->name, side->name))
			continue;
		add_load(flent, &side->iperf3, side->begin_ns, plan->load.proto,
			 plan->load.direction, plan->name);
	}
}

static void add_loads(struct flent *flent)
{
	const struct result *result = flent->result;

	for (unsigned int i = 0; i < result->phase_count; i++) {
		const struct phase *phase = &result->phases[i];
		const struct phase_load *load = &phase->load;

		if (phase->plan.kind != PHASE_LOAD)
			continue;
		add_load(flent, &load->iperf3, load->begin_ns, result->scenario.load.proto,
			 phase->plan.direction, NULL);
		for (unsigned int j = 0; j < load->side_count; j++)
			add_side(flent, &load->sides[j]);
	}
}

/* ---- qdiscs, in the way of flent's own statistics of tc ---- */

static double median_ms(const struct sample_histogram *sample)
{
	struct histogram histogram;

	histogram_init(&histogram);
	sample_histogram_add(&histogram, sample);
	return (double)histogram_percentile(&histogram, 50) / 1e6;
}

static void put_figure(struct flent *flent, cJSON *raw, const char *series, const char *key,
		       const char *units, struct point point)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s::%s", series, key);
	put_number(flent, raw, key, point.value);
	add_point(flent, name, units, point);
}

/* tc tells the backlog at a moment; the end of a slice is one. No packet: no delay. */
static void add_sample(struct flent *flent, const struct qdisc_sample *sample,
		       const char *series, bool follows, bool delay_follows)
{
	struct point point = { .at_ns = sample->end_ns, .follows = follows };
	cJSON *raw = add_raw(flent, series, sample->end_ns);

	put_number(flent, raw, "dur", (double)(sample->end_ns - sample->begin_ns) / SECOND);
	point.value = (double)sample->backlog_bytes;
	put_figure(flent, raw, series, "backlog_bytes", "Bytes", point);
	point.value = (double)sample->backlog_packets;
	put_figure(flent, raw, series, "backlog_pkts", "packets", point);
	point.value = (double)sample->delta.rejected_packets +
		      (double)sample->delta.dropped_packets;
	put_figure(flent, raw, series, "dropped", "packets", point);
	if (sample->sojourn.count <= 0)
		return;
	point.follows = delay_follows;
	point.value = median_ms(&sample->sojourn);
	put_figure(flent, raw, series, "delay", "ms", point);
	point.value = (double)sample->sojourn.max / 1e6;
	put_figure(flent, raw, series, "delay_max", "ms", point);
}

/* The id without colons: where flent looks for series a "*" does not stand for any. */
static void qdisc_name(const struct result_qdisc *qdisc, char *name)
{
	size_t length = strlen(qdisc->id);

	memcpy(name, qdisc->id, length + 1);
	while (length && name[length - 1] == ':')
		name[--length] = '\0';
	for (; *name; name++)
		if (*name == ':')
			*name = '.';
}

static void add_qdisc(struct flent *flent, __u32 qdisc, const char *name)
{
	const struct result *result = flent->result;
	const struct qdisc_sample *before = NULL;
	char series[NAME_SIZE];

	snprintf(series, sizeof(series), "qdisc_stats_%s", name);
	for (size_t i = 0; i < result->sample_count; i++) {
		const struct qdisc_sample *sample = &result->samples[i];
		bool follows;

		if (sample->qdisc != qdisc || sample->end_ns < sample->begin_ns)
			continue;
		follows = before && before->end_ns == sample->begin_ns;
		add_sample(flent, sample, series, follows,
			   follows && before->sojourn.count > 0);
		before = sample;
	}
}

static bool has_samples(const struct result *result, __u32 qdisc)
{
	for (size_t i = 0; i < result->sample_count; i++)
		if (result->samples[i].qdisc == qdisc)
			return true;
	return false;
}

static __u32 cause_of(const struct phase *phase)
{
	const struct attribution *attribution = &phase->load.attribution;

	return phase->plan.kind == PHASE_LOAD && attribution->valid ? attribution->cause.qdisc :
								     RESULT_NO_QDISC;
}

/* Is a load's cause a qdisc that was not so of an earlier load? */
static bool is_new_cause(const struct result *result, unsigned int phase)
{
	__u32 qdisc = cause_of(&result->phases[phase]);

	for (unsigned int i = 0; i < phase; i++)
		if (cause_of(&result->phases[i]) == qdisc)
			return false;
	return qdisc < result->qdisc_count && has_samples(result, qdisc);
}

/* Flent takes lists apart as shlex of Python does: commas, quotation marks, backslashes. */
static void add_word(struct text *list, const char *word)
{
	text_add(list, "%s\"", list->used ? "," : "");
	for (; *word; word++)
		text_add(list, "%s%c", strchr("\"\\", *word) ? "\\" : "", *word);
	text_add(list, "\"");
}

/* hosts and interfaces: the parameters of the test by which flent's plots find the series. */
static void add_causes(struct flent *flent, struct text *hosts, struct text *interfaces)
{
	const struct result *result = flent->result;
	char name[sizeof(result->qdiscs->id)];

	for (unsigned int i = 0; i < result->phase_count; i++) {
		__u32 cause = cause_of(&result->phases[i]);

		if (!is_new_cause(result, i))
			continue;
		qdisc_name(&result->qdiscs[cause], name);
		add_qdisc(flent, cause, name);
		add_word(hosts, name);
		add_word(interfaces, result->qdiscs[cause].device);
	}
}

/* ---- the grid ---- */

static void lay_grid(struct flent *flent)
{
	__u64 interval = flent->result->scenario.probe_interval_ns, last = 0;

	flent->begin_ns = flent->count ? ~0ULL : flent->result->started_ns;
	for (size_t i = 0; i < flent->count; i++)
		for (size_t j = 0; j < flent->series[i].count; j++) {
			__u64 at = flent->series[i].points[j].at_ns;

			flent->begin_ns = at < flent->begin_ns ? at : flent->begin_ns;
			last = at > last ? at : last;
		}
	if (!flent->count)
		return;
	flent->step_ns = interval > STEP_NS ? interval : STEP_NS;
	while ((last - flent->begin_ns) / flent->step_ns >= STEPS_MAX)
		flent->step_ns *= 2;
	flent->steps = (last - flent->begin_ns) / flent->step_ns + 1;
}

/* The series at a moment; *next is the first point behind it. NAN where it has no value. */
static double value_at(const struct series *series, __u64 ns, size_t *next)
{
	const struct point *before, *after;

	while (*next < series->count && series->points[*next].at_ns <= ns)
		(*next)++;
	if (!*next)
		return NAN;
	before = &series->points[*next - 1];
	if (before->at_ns == ns)
		return before->value;
	if (*next == series->count || !before[1].follows)
		return NAN;
	after = before + 1;
	return before->value + (after->value - before->value) *
		((double)(ns - before->at_ns) / (double)(after->at_ns - before->at_ns));
}

static void put_series(struct flent *flent, cJSON *results, const struct series *series)
{
	cJSON *values = child_of(flent, results, series->name, cJSON_CreateArray());
	size_t next = 0;

	for (size_t i = 0; i < flent->steps; i++) {
		double value = value_at(series, flent->begin_ns + i * flent->step_ns, &next);

		append(flent, values, isnan(value) ? cJSON_CreateNull() :
						     cJSON_CreateNumber(value));
	}
}

/* ---- the document ---- */

static const char *test_name(const struct result *result)
{
	if (result->scenario.load.proto == LOAD_UDP)
		return "udp_flood";
	switch (result->scenario.load.direction) {
	case LOAD_UP:
		return "tcp_upload";
	case LOAD_DOWN:
		return "tcp_download";
	default:
		return "tcp_bidirectional";
	}
}

static void put_run(struct flent *flent, cJSON *meta, const char *file)
{
	const struct result *result = flent->result;
	char begin[TIME_SIZE];

	time_text(wall(result, flent->begin_ns), begin);
	put_text(flent, meta, "NAME", test_name(result));
	put_text(flent, meta, "TITLE", result->suite[0] ? result->suite_run :
							  result->scenario.name);
	if (file)
		put_text(flent, meta, "DATA_FILENAME", file);
	put_text(flent, meta, "TIME", begin);
	put_text(flent, meta, "T0", begin);
	put_text(flent, meta, "HOST", result->scenario.load.to);
	put_text(flent, meta, "LOCAL_HOST", result->scenario.load.from);
	put_number(flent, meta, "LENGTH", (double)result->scenario.load.ns / SECOND);
	put_number(flent, meta, "TOTAL_LENGTH", (double)flent->steps * flent->step_ns / SECOND);
	put_number(flent, meta, "STEP_SIZE", (double)flent->step_ns / SECOND);
	put_number(flent, meta, "IP_VERSION", result->scenario.lab_ipv6 ? 6 : 4);
	put_text(flent, meta, "FLENT_VERSION", "");
	put_text(flent, meta, "KERNEL_NAME", "Linux");
	put_text(flent, meta, "KERNEL_RELEASE", result->kernel);
	put_text(flent, meta, "NOTE", result->complete ? "measured by sojourn" :
							 result->incomplete_why);
}

static void put_metadata(struct flent *flent, cJSON *root, const char *file, const char *hosts,
			 const char *interfaces)
{
	cJSON *meta = child_of(flent, root, "metadata", cJSON_CreateObject()), *object;

	put_run(flent, meta, file);
	object = child_of(flent, meta, "TEST_PARAMETERS", cJSON_CreateObject());
	put_text(flent, object, "sojourn_version", flent->result->version);
	if (*hosts) {
		put_text(flent, object, "qdisc_stats_hosts", hosts);
		put_text(flent, object, "qdisc_stats_interfaces", interfaces);
	}
	object = child_of(flent, meta, "SERIES_META", cJSON_CreateObject());
	for (size_t i = 0; i < flent->count; i++)
		put_text(flent, child_of(flent, object, flent->series[i].name,
					 cJSON_CreateObject()),
			 "UNITS", flent->series[i].units);
}

static void put_document(struct flent *flent, cJSON *root, const char *file)
{
	char host_names[SCENARIO_LOADS_MAX * NAME_SIZE], interface_names[sizeof(host_names)];
	struct text hosts = text_begin(host_names, sizeof(host_names));
	struct text interfaces = text_begin(interface_names, sizeof(interface_names));
	cJSON *x, *results;

	put_number(flent, root, "version", VERSION);
	flent->raw_values = child_of(flent, root, "raw_values", cJSON_CreateObject());
	add_probes(flent);
	add_loads(flent);
	add_causes(flent, &hosts, &interfaces);
	lay_grid(flent);
	x = child_of(flent, root, "x_values", cJSON_CreateArray());
	for (size_t i = 0; i < flent->steps; i++)
		append(flent, x, cJSON_CreateNumber((double)i * flent->step_ns / SECOND));
	results = child_of(flent, root, "results", cJSON_CreateObject());
	for (size_t i = 0; i < flent->count; i++)
		put_series(flent, results, &flent->series[i]);
	put_metadata(flent, root, file, host_names, interface_names);
}

char *out_flent_json(const struct result *result, const char *file)
{
	struct flent flent = { .result = result };
	cJSON *root = cJSON_CreateObject();
	char *text = NULL;

	put_document(&flent, root, file);
	if (!flent.failed)
		text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	for (size_t i = 0; i < flent.count; i++)
		free(flent.series[i].points);
	free(flent.series);
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
