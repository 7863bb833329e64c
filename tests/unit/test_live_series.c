// SPDX-License-Identifier: GPL-2.0
/* Which rows have series of their own, what the others come to, and that nothing goes back. */
#include <linux/pkt_sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exposition.h"
#include "exposition_text.h"

#define ROWS	5

struct host {
	struct live_qdisc rows[ROWS];
	struct live_qdisc *order[ROWS];
	struct histogram last[ROWS], all[ROWS];
	struct live_series series;
};

static void begin(struct host *host, unsigned int max_series)
{
	memset(host, 0, sizeof(*host));
	host->series.max_series = max_series;
	for (unsigned int i = 0; i < ROWS; i++) {
		struct live_qdisc *row = &host->rows[i];

		host->order[i] = row;
		snprintf(row->device, sizeof(row->device), "d%u", i);
		snprintf(row->kind, sizeof(row->kind), "tbf");
		snprintf(row->path, sizeof(row->path), "tbf 10:");
		row->handle = 0x100000;
		row->parent = TC_H_ROOT;
		histogram_init(&host->last[i]);
		histogram_init(&host->all[i]);
		row->last.sojourn = &host->last[i];
		row->all.sojourn = &host->all[i];
	}
}

/* In the interval that ends, each row hands out packets of that sojourn. */
static void interval(struct host *host, unsigned int count, __u64 packets, __u64 sojourn_ns,
		     __u64 backlog)
{
	for (unsigned int i = 0; i < count; i++) {
		struct live_qdisc *row = host->order[i];

		memset(&row->last.counters, 0, sizeof(row->last.counters));
		histogram_init(row->last.sojourn);
		histogram_add_value(row->last.sojourn, sojourn_ns, packets);
		histogram_add_value(row->all.sojourn, sojourn_ns, packets);
		row->last.counters.measured_packets = packets;
		row->all.counters.measured_packets += packets;
		row->last.backlog_bytes_max = row->backlog_bytes = backlog;
	}
	assert_int_equal(live_series_take(&host->series, host->order, count), 0);
}

static char *tell(struct host *host)
{
	static const struct tcp_sums tcp;
	static const struct live_losses losses;
	struct exposition_source source = {
		.series = &host->series, .tcp = &tcp, .losses = &losses,
		.version = "1", .kernel = "2", .tier = "functions",
	};
	struct metrics metrics = { 0 };
	struct bytes text = { 0 };

	exposition_make(&source, &metrics);
	exposition_text(&metrics, false, &text);
	bytes_add(&text, "", 1);
	assert_false(text.failed);
	metrics_free(&metrics);
	return text.data;
}

/* The value of the line that begins with that. */
static double value_of(const char *text, const char *begins)
{
	const char *line = strstr(text, begins);

	if (!line)
		fail_msg("no line %s in\n%s", begins, text);
	line = strchr(line + strlen(begins), '\n');
	while (line[-1] != ' ')
		line--;
	return strtod(line, NULL);
}

#define OTHER "netns=\"\",device=\"\",queue=\"\",kind=\"other\",handle=\"\",parent=\"\",path=\"\""
#define ROW(device) "netns=\"\",device=\"" device "\",queue=\"0\",kind=\"tbf\",handle=\"10:\",parent=\"root\",path=\"tbf 10:\""

static void test_overflow(void **state)
{
	struct host host;
	char *text;

	(void)state;
	begin(&host, 3);
	interval(&host, ROWS, 10, 5000, 100);
	interval(&host, ROWS, 1, 3000000, 50);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_series_dropped_total"), 2);
	assert_int_equal(value_of(text, "\nsojourn_qdiscs"), 5);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d0") "}"), 11);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d2") "}"), 11);
	assert_null(strstr(text, "device=\"d3\""));
	assert_null(strstr(text, "device=\"d4\""));
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" OTHER "}"), 22);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_packets_total{" OTHER
				  ",outcome=\"measured\"}"), 22);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_backlog_bytes{" OTHER "}"), 100);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_backlog_max_bytes{" OTHER "}"), 200);
	free(text);

	/* of two of the first, and one of the others, live has forgotten; nothing goes back */
	host.order[0] = &host.rows[2];
	host.order[1] = &host.rows[4];
	interval(&host, 2, 100, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" OTHER "}"), 122);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d2") "}"),
			 111);
	free(text);

	/* their places are for those that come: the one that is there stays among the others */
	host.order[2] = &host.rows[1];
	interval(&host, 3, 1, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d1") "}"), 12);
	assert_null(strstr(text, "device=\"d4\""));
	assert_int_equal(value_of(text, "\nsojourn_qdisc_series_dropped_total"), 2);
	free(text);
	live_series_free(&host.series);
}

/* Those that are gone make room, that which went first before others. */
static void test_gone_make_room(void **state)
{
	struct host host;
	char *text;

	(void)state;
	begin(&host, 2);
	interval(&host, 2, 10, 5000, 0);
	host.rows[0].gone_ns = 8;
	host.rows[1].gone_ns = 7;
	interval(&host, 3, 1, 5000, 0);
	text = tell(&host);
	assert_non_null(strstr(text, "device=\"d0\""));
	assert_null(strstr(text, "device=\"d1\""));
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d2") "}"), 1);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_series_dropped_total"), 0);
	free(text);

	/* it comes again, and what went first then gives way to it */
	host.rows[1].gone_ns = 0;
	interval(&host, 3, 1, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d1") "}"), 12);
	assert_null(strstr(text, "device=\"d0\""));
	free(text);
	live_series_free(&host.series);
}

static void test_backlog_of_a_minute(void **state)
{
	struct host host;
	char *text;

	(void)state;
	begin(&host, 10);
	interval(&host, 1, 1, 1000, 7000);
	for (int i = 0; i < SERIES_WINDOW - 1; i++)
		interval(&host, 1, 1, 1000, 10);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_backlog_max_bytes{" ROW("d0") "}"), 7000);
	free(text);
	interval(&host, 1, 1, 1000, 11);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_backlog_max_bytes{" ROW("d0") "}"), 11);
	free(text);
	live_series_free(&host.series);
}

/* A requeue takes a sample of 5 us back and adds one of 3 ms. */
static void test_requeue_takes_nothing_back(void **state)
{
	static const char short_ones[] = "\nsojourn_qdisc_sojourn_seconds_bucket{" ROW("d0")
					 ",le=\"8.191e-06\"}";
	struct host host;
	char *text;

	(void)state;
	begin(&host, 10);
	interval(&host, 1, 10, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, short_ones), 10);
	free(text);
	host.all[0].counts[histogram_bucket(5000)]--;
	host.all[0].counts[histogram_bucket(3000000)]++;
	host.all[0].sum += 3000000 - 5000;
	interval(&host, 1, 0, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, short_ones), 10);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d0") "}"), 11);
	free(text);
	interval(&host, 1, 1, 5000, 0);
	text = tell(&host);
	assert_int_equal(value_of(text, short_ones), 10);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d0") "}"), 11);
	assert_int_equal(host.all[0].count, 11);
	free(text);
	live_series_free(&host.series);
}

/* Names that were another's: only the one that is there is told. */
static void test_same_names(void **state)
{
	struct host host;
	const char *first;
	char *text;

	(void)state;
	begin(&host, 10);
	strcpy(host.rows[1].device, "d0");
	strcpy(host.rows[2].device, "d0");
	host.rows[0].gone_ns = 5;
	host.rows[2].gone_ns = 6;
	interval(&host, 3, 1, 5000, 0);
	histogram_add_value(&host.all[1], 5000, 41);
	text = tell(&host);
	assert_int_equal(value_of(text, "\nsojourn_qdisc_sojourn_seconds_count{" ROW("d0") "}"), 42);
	first = strstr(text, "\nsojourn_qdisc_sojourn_seconds_count{");
	assert_null(strstr(first + 1, "\nsojourn_qdisc_sojourn_seconds_count{"));
	assert_int_equal(value_of(text, "\nsojourn_qdiscs"), 1);
	free(text);
	live_series_free(&host.series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_gone_make_room),
		cmocka_unit_test(test_backlog_of_a_minute),
		cmocka_unit_test(test_requeue_takes_nothing_back),
		cmocka_unit_test(test_same_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
