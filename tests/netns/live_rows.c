// SPDX-License-Identifier: GPL-2.0
/*
 * What the live core has: "live_rows SECONDS INTERVAL_MS" prints every row after each interval
 * as a line of JSON, and "ready" on stderr when packets are counted.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
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

static void print_rows(const struct live *live, __u64 interval)
{
	struct live_losses losses;
	size_t count;
	struct live_qdisc *const *rows = live_qdiscs(live, &count);

	for (size_t i = 0; i < count; i++)
		print_row(rows[i], interval);
	live_losses(live, &losses);
	printf("{\"interval\":%llu,\"rows\":%zu,\"missing\":%llu,\"records_full\":%llu}\n", interval,
	       count, losses.rows_missing, losses.tracer.records_full);
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	struct live_options options = { .keep_ns = 2000000000ULL };
	struct error error = { .text = "" };
	__u64 end_ns, interval = 0;
	struct live *live;
	int closed = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: live_rows SECONDS INTERVAL_MS\n");
		return 2;
	}
	options.interval_ns = strtoull(argv[2], NULL, 10) * 1000000;
	live = live_open(&options, &error);
	if (!live || live_attach(live, &error)) {
		fprintf(stderr, "live_rows: %s\n", error.text);
		live_close(live);
		return 1;
	}
	fprintf(stderr, "ready\n");
	end_ns = clock_ns(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * 1000000000ULL;
	while (closed >= 0 && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		poll(NULL, 0, 20);
		closed = live_poll(live, &error);
		if (closed > 0)
			print_rows(live, ++interval);
	}
	if (closed < 0)
		fprintf(stderr, "live_rows: %s\n", error.text);
	live_close(live);
	return closed < 0;
}
