// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "accept.h"
#include "bpf_cost.h"
#include "clock.h"
#include "commands.h"
#include "export.h"
#include "exposition.h"
#include "exposition_protobuf.h"
#include "exposition_text.h"
#include "http_server.h"
#include "live.h"
#include "live_series.h"
#include "privileges.h"
#include "process_figures.h"
#include "signals.h"
#include "tcp_sums.h"

#define SECOND_NS	1000000000ULL
#define INTERVAL_NS	SECOND_NS
#define KEEP_NS		(300 * SECOND_NS)	/* series of a qdisc that is gone */
#define LATE_NS		(5 * SECOND_NS)
#define STUCK_NS	(10 * SECOND_NS)
#define POLL_MS		40			/* live_poll() is to be called every 50 ms */
#define QDISCS_MIN	4096
#define BODIES_MAX	16			/* that slow clients hold */

/* What was last told in one form. The server's thread alone has to do with it. */
struct told_body {
	struct http_body *body;		/* a reference; NULL: none so far */
	__u64 interval_ns;		/* the end of the interval that it tells of */
};

/*
 * Two threads: this one traces, the server's answers. A scrape takes the lock for as long as it
 * takes to copy the figures, at most once in an interval for each form; writing them as text and
 * sending that is nobody else's concern.
 */
struct exporter {
	const struct export_options *options;
	pthread_mutex_t lock;		/* for live, series, tcp */
	struct live *live;
	struct live_series series;
	struct tcp_sums tcp;
	struct live_losses losses;	/* as told: none goes back */
	struct bpf_cost *cost;		/* NULL: not known */
	struct utsname system;

	atomic_bool traces;
	atomic_ullong interval_ns;	/* the end of the last whole interval, CLOCK_MONOTONIC */
	atomic_ullong turned_ns;	/* when live_poll() last returned */

	struct told_body told[EXPOSITION_FORMATS][2];	/* by format; 1: gzip */
	struct http_body *page;		/* the last one of the others; NULL: none so far */
	struct http_server *server;
	int signals;			/* signalfd */
};

/* ---- metrics ---- */

/* Hooks that are taken off take their counts with them. */
static void keep_losses(struct exporter *exporter)
{
	struct live_losses now;
	__u64 *told = (__u64 *)&exporter->losses;
	const __u64 *of = (const __u64 *)&now;

	live_losses(exporter->live, &now);
	for (size_t i = 0; i < sizeof(now) / sizeof(*of); i++)
		if (of[i] > told[i])
			told[i] = of[i];
}

static void make_metrics(struct exporter *exporter, struct metrics *metrics)
{
	struct process_figures process;
	struct bpf_cost_sums cost;
	struct exposition_source source = {
		.series = &exporter->series,
		.tcp = &exporter->tcp,
		.losses = &exporter->losses,
		.version = SOJOURN_VERSION,
		.kernel = exporter->system.release,
	};

	if (exporter->cost && !bpf_cost_read(exporter->cost, &cost))
		source.cost = &cost;
	if (!process_figures_read(&process))
		source.process = &process;
	pthread_mutex_lock(&exporter->lock);
	source.tier = tracer_tier(live_tracer(exporter->live));
	keep_losses(exporter);
	exposition_make(&source, metrics);
	pthread_mutex_unlock(&exporter->lock);
}

static struct http_body *make_body(struct exporter *exporter, enum exposition_format format,
				   bool gzip)
{
	struct bytes plain = { 0 }, packed = { 0 };
	struct metrics metrics = { 0 };

	make_metrics(exporter, &metrics);
	if (format == FORMAT_PROTOBUF)
		exposition_protobuf(&metrics, &plain);
	else
		exposition_text(&metrics, format == FORMAT_OPENMETRICS, &plain);
	metrics_free(&metrics);
	if (!gzip)
		return http_body_create(&plain, accept_type(format), false);
	bytes_add_gzip(&packed, &plain);
	bytes_free(&plain);
	return http_body_create(&packed, accept_type(format), true);
}

/*
 * All who ask in the same second are given the same. Where slow clients hold too many answers
 * already, what was told before is told again.
 */
static struct http_reply answer_metrics(struct exporter *exporter,
					const struct http_request *request)
{
	enum exposition_format format = accept_format(request->accept);
	bool gzip = accept_gzip(request->accept_encoding);
	struct told_body *told = &exporter->told[format][gzip];
	__u64 interval_ns = atomic_load(&exporter->interval_ns);
	struct http_body *body;

	if (told->body && (told->interval_ns == interval_ns || http_bodies() >= BODIES_MAX))
		return (struct http_reply){ 200, told->body };
	body = make_body(exporter, format, gzip);
	if (!body)
		return (struct http_reply){ 503, NULL };
	http_body_release(told->body);
	*told = (struct told_body){ body, interval_ns };
	return (struct http_reply){ 200, body };
}

/* ---- the other pages ---- */

struct page {
	unsigned int status;
	const char *type, *text;
};

static struct page health(const struct exporter *exporter)
{
	__u64 turned_ns = atomic_load(&exporter->turned_ns);

	/* Hooks by the hundred take their time. */
	if (turned_ns && clock_ns(CLOCK_MONOTONIC) - turned_ns > STUCK_NS)
		return (struct page){ 503, "text/plain", "the tracer does not move\n" };
	return (struct page){ 200, "text/plain", "alive\n" };
}

static struct page readiness(const struct exporter *exporter)
{
	__u64 interval_ns = atomic_load(&exporter->interval_ns);

	if (!atomic_load(&exporter->traces) || !interval_ns)
		return (struct page){ 503, "text/plain", "not tracing yet\n" };
	if (clock_ns(CLOCK_MONOTONIC) - interval_ns > LATE_NS)
		return (struct page){ 503, "text/plain", "the last interval is too old\n" };
	return (struct page){ 200, "text/plain", "ready\n" };
}

static const struct page index_page = {
	200, "text/html; charset=utf-8",
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>sojourn export</title></head>\n"
	"<body><h1>sojourn export</h1>\n"
	"<p>How long packets wait in each qdisc of this host.</p>\n"
	"<ul><li><a href=\"/metrics\">/metrics</a> for Prometheus</li>\n"
	"<li><a href=\"/healthz\">/healthz</a>: is it alive?</li>\n"
	"<li><a href=\"/readyz\">/readyz</a>: does it trace?</li></ul></body></html>\n"
};

/* Whoever releases it here leaves it to those that it is being sent to: kept one answer long. */
static struct http_reply answer_page(struct exporter *exporter, const struct page *page)
{
	struct bytes bytes = { 0 };

	bytes_add_text(&bytes, page->text);
	http_body_release(exporter->page);
	exporter->page = http_body_create(&bytes, page->type, false);
	return (struct http_reply){ page->status, exporter->page };
}

static struct http_reply answer(void *context, const struct http_request *request)
{
	static const struct page nothing = {
		404, "text/plain", "not here: /metrics, /healthz, /readyz\n"
	}, early = { 503, "text/plain", "not tracing yet\n" };
	struct exporter *exporter = context;
	struct page page = nothing;

	if (!strcmp(request->path, "/metrics")) {
		if (atomic_load(&exporter->traces))
			return answer_metrics(exporter, request);
		page = early;
	} else if (!strcmp(request->path, "/healthz")) {
		page = health(exporter);
	} else if (!strcmp(request->path, "/readyz")) {
		page = readiness(exporter);
	} else if (!strcmp(request->path, "/")) {
		page = index_page;
	}
	return answer_page(exporter, &page);
}

/* ---- tracing ---- */

static void take_tcp(void *context, const struct tcp_event *event)
{
	tcp_sums_state(&((struct exporter *)context)->tcp, event);
}

static void take_retransmit(void *context, const struct retransmit_event *event)
{
	tcp_sums_retransmit(&((struct exporter *)context)->tcp, event);
}

static int open_live(struct exporter *exporter, struct error *error)
{
	const struct export_options *options = exporter->options;
	unsigned int most = options->max_series + options->max_series / 2;
	struct live_options live = {
		.tier = options->tier,
		.netns = options->netns,
		.netns_count = options->netns_count,
		.devices = options->devices,
		.device_count = options->device_count,
		.interval_ns = INTERVAL_NS,
		.max_qdiscs = most > QDISCS_MIN ? most : QDISCS_MIN,
		.keep_ns = KEEP_NS,
		.tcp = true,
		.sink = {
			.context = exporter,
			.tcp = take_tcp,
			.retransmit = take_retransmit,
		},
	};

	exporter->live = live_open(&live, error);
	return exporter->live ? 0 : -1;
}

static int close_interval(struct exporter *exporter, struct error *error)
{
	__u64 begin_ns, end_ns;
	size_t count;
	struct live_qdisc *const *rows = live_qdiscs(exporter->live, &count);

	if (live_series_take(&exporter->series, rows, count))
		return error_set(error, EXIT_CANNOT, "out of memory");
	live_interval(exporter->live, &begin_ns, &end_ns);
	tcp_sums_renew(&exporter->tcp, exporter->live, end_ns, KEEP_NS);
	atomic_store(&exporter->interval_ns, end_ns);
	return 0;
}

static int turn(struct exporter *exporter, struct error *error)
{
	int closed;

	pthread_mutex_lock(&exporter->lock);
	closed = live_poll(exporter->live, error);
	if (closed > 0 && close_interval(exporter, error))
		closed = -1;
	pthread_mutex_unlock(&exporter->lock);
	atomic_store(&exporter->turned_ns, clock_ns(CLOCK_MONOTONIC));
	if (closed > 0)
		http_server_sweep(exporter->server);
	return closed < 0 ? -1 : 0;
}

static int follow(struct exporter *exporter, struct error *error)
{
	struct pollfd ending = { .fd = exporter->signals, .events = POLLIN };

	while (poll(&ending, 1, POLL_MS) <= 0)
		if (turn(exporter, error))
			return -1;
	return 0;
}

static enum privileges_use use_of(const struct live *live)
{
	return strcmp(tracer_tier(live_tracer(live)), "functions") ? PRIVILEGES_FOLLOW :
								     PRIVILEGES_FUNCTIONS;
}

/* The port is taken first: whoever started it twice is told at once. */
static int run(struct exporter *exporter, struct error *error)
{
	int fd = listen_address_open(&exporter->options->listen, error);

	if (fd < 0)
		return -1;
	if (open_live(exporter, error)) {
		close(fd);
		return -1;
	}
	/* which its thread has as well, until somebody connects */
	if (privileges_drop(PRIVILEGES_FUNCTIONS, error))
		return -1;
	exporter->server = http_server_start(fd, answer, exporter, error);
	if (!exporter->server)
		return -1;
	exporter->cost = bpf_cost_open();
	if (live_attach(exporter->live, error) || privileges_drop(use_of(exporter->live), error))
		return -1;
	atomic_store(&exporter->traces, true);
	if (exporter->options->begun)
		exporter->options->begun(exporter->options,
					 tracer_tier(live_tracer(exporter->live)));
	return follow(exporter, error);
}

static void free_exporter(struct exporter *exporter)
{
	http_server_stop(exporter->server);
	for (unsigned int i = 0; i < EXPOSITION_FORMATS; i++) {
		http_body_release(exporter->told[i][0].body);
		http_body_release(exporter->told[i][1].body);
	}
	http_body_release(exporter->page);
	bpf_cost_close(exporter->cost);
	live_series_free(&exporter->series);
	live_close(exporter->live);
	tcp_sums_free(&exporter->tcp);
	pthread_mutex_destroy(&exporter->lock);
	free(exporter);
}

int export_run(const struct export_options *options, struct error *error)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	sigset_t blocked, previous;
	int failed = -1;

	if (!exporter)
		return error_set(error, EXIT_CANNOT, "out of memory");
	exporter->options = options;
	exporter->series.max_series = options->max_series;
	pthread_mutex_init(&exporter->lock, NULL);
	uname(&exporter->system);
	/* before there is another thread, which inherits what is blocked */
	exporter->signals = signals_take(&blocked, &previous, error);
	if (exporter->signals >= 0) {
		failed = run(exporter, error);
		close(exporter->signals);
	}
	free_exporter(exporter);
	return failed;
}
