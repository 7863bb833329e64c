// SPDX-License-Identifier: GPL-2.0
/*
 * What the live core has: "live_rows INTERVAL_MS" prints every row after each interval as a line
 * of JSON, and "ready" on stderr when packets are counted, until its standard input ends.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live.h"
#include "qdisc_tree.h"

static void print_row(const struct live_qdisc *row, __u64 interval)
{
	char handle[16], parent[16];

	printf("{\"interval\":%llu,\"netns\":\"%s\",\"device\":\"%s\",\"queue\":%u,\"kind\":\"%s\","
	       "\"handle\":\"%s\",\"parent\":\"%s\",\"path\":\"%s\",\"level\":%u,\"gone\":%s,"
	       "\"last\":%llu,\"all\":%llu,\"histogram\":%lld,\"backlog\":%llu}\n",
	       interval, row->netns_name, row->device, row->queue, row->kind,
	       qdisc_handle_text(row->handle, handle), qdisc_handle_text(row->parent, parent),
	       row->path, row->level, row->gone_ns ? "true" : "false",
	       row->last.counters.measured_packets + row->last.counters.bypassed_packets,
	       row->all.counters.measured_packets + row->all.counters.bypassed_packets,
	       row->all.sojourn ? (long long)row->all.sojourn->count : 0, row->backlog_packets);
}

static unsigned int records_in_use(const struct live *live)
{
	unsigned int count = tracer_qdisc_count(live_tracer(live)), used = 0;

	for (unsigned int i = 0; i < count; i++)
		used += tracer_qdisc(live_tracer(live), i)->qdisc != 0;
	return used;
}

static unsigned long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

static void print_rows(const struct live *live, __u64 interval)
{
	struct live_losses losses;
	size_t count;
	struct live_qdisc *const *rows = live_qdiscs(live, &count);

	for (size_t i = 0; i < count; i++)
		print_row(rows[i], interval);
	live_losses(live, &losses);
	printf("{\"interval\":%llu,\"rows\":%zu,\"missing\":%llu,\"records_full\":%llu,"
	       "\"records\":%u,\"unmatched\":%llu,\"rss_kb\":%lu}\n", interval, count,
	       losses.rows_missing, losses.tracer.records_full, records_in_use(live),
	       losses.tracer.unmatched, resident_kb());
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	struct live_options options = { .keep_ns = 2000000000ULL };
	struct error error = { .text = "" };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	__u64 interval = 0;
	struct live *live;
	int closed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: live_rows INTERVAL_MS\n");
		return 2;
	}
	options.interval_ns = strtoull(argv[1], NULL, 10) * 1000000;
	live = live_open(&options, &error);
	if (!live || live_attach(live, &error)) {
		fprintf(stderr, "live_rows: %s\n", error.text);
		live_close(live);
		return 1;
	}
	fprintf(stderr, "ready\n");
	while (closed >= 0 && !poll(&input, 1, 20)) {
		closed = live_poll(live, &error);
		if (closed > 0)
			print_rows(live, ++interval);
	}
	if (closed < 0)
		fprintf(stderr, "live_rows: %s\n", error.text);
	live_close(live);
	return closed < 0;
}
