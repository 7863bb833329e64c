// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "live_series.h"

static int compare_rows(const void *a, const void *b)
{
	const struct series *left = a, *right = b;

	return left->row < right->row ? -1 : left->row > right->row;
}

static void free_told(struct series *series)
{
	for (unsigned int i = 0; i < QDISC_HISTOGRAMS; i++)
		free(series->told[i]);
}

static struct series *find(const struct live_series *series, const struct live_qdisc *row)
{
	struct series key = { .row = row };

	return series->count ? bsearch(&key, series->series, series->count, sizeof(key),
				       compare_rows) : NULL;
}

/* Where memory is short, the histograms lack what came; the counters do not. */
static void add_to_overflow(struct live_series *series, const struct live_qdisc *row)
{
	struct live_sums *sums = &series->overflow_sums;
	__u64 *to = (__u64 *)&sums->counters;
	const __u64 *by = (const __u64 *)&row->last.counters;

	for (size_t i = 0; i < sizeof(sums->counters) / sizeof(*to); i++)
		to[i] += by[i];
	histogram_gather(&sums->sojourn, row->last.sojourn);
	histogram_gather(&sums->wait_before_drop, row->last.wait_before_drop);
	series->overflow_backlog_bytes += row->backlog_bytes;
	series->overflow_backlog_packets += row->backlog_packets;
	series->overflow.backlog_bytes_max[series->place] += row->last.backlog_bytes_max;
}

/* The rows as they are now, with what is known of those that were there. */
static void move_over(struct live_series *series, struct series *now,
		      struct live_qdisc *const *rows, size_t count)
{
	struct series *before;

	for (size_t i = 0; i < count; i++) {
		before = find(series, rows[i]);
		now[i] = before ? *before : (struct series){ .row = rows[i] };
		if (before)
			before->moved = true;
	}
	for (size_t i = 0; i < series->count; i++) {
		if (series->series[i].moved)
			continue;
		series->own_count -= series->series[i].own;
		free_told(&series->series[i]);
	}
	free(series->series);
	series->series = now;
	series->count = count;
}

/* One that is gone gives its place up where another needs it: that which is gone longest. */
static void evict(struct live_series *series)
{
	struct series *longest = NULL;

	for (size_t i = 0; i < series->count; i++) {
		struct series *one = &series->series[i];

		if (one->own && one->row->gone_ns &&
		    (!longest || one->row->gone_ns < longest->row->gone_ns))
			longest = one;
	}
	if (!longest)
		return;
	longest->own = longest->known = false;
	longest->evicted = true;
	series->own_count--;
}

/* In the order of the trees, so that of a tree that comes whole its root has a place first. */
static void admit(struct live_series *series, struct series *one)
{
	if (one->known || (one->evicted && one->row->gone_ns))
		return;
	one->known = true;
	if (series->own_count == series->max_series)
		evict(series);
	one->own = series->own_count < series->max_series;
	series->own_count += one->own;
	series->dropped += !one->own;
}

int live_series_take(struct live_series *series, struct live_qdisc *const *rows, size_t count)
{
	struct series *now = calloc(count + 1, sizeof(*now));

	if (!now)
		return -1;
	move_over(series, now, rows, count);
	series->place = (series->place + 1) % SERIES_WINDOW;
	series->overflow.backlog_bytes_max[series->place] = 0;
	series->overflow_backlog_bytes = series->overflow_backlog_packets = 0;
	series->present_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct series *one = &series->series[i];

		admit(series, one);
		one->backlog_bytes_max[series->place] = one->row->last.backlog_bytes_max;
		series->present_count += !one->row->gone_ns;
		if (!one->own)
			add_to_overflow(series, one->row);
	}
	qsort(series->series, count, sizeof(*now), compare_rows);
	return 0;
}

__u64 series_backlog_max(const struct series *series)
{
	__u64 most = 0;

	for (unsigned int i = 0; i < SERIES_WINDOW; i++)
		if (series->backlog_bytes_max[i] > most)
			most = series->backlog_bytes_max[i];
	return most;
}

const struct histogram *series_tell(struct series *series, enum qdisc_histogram which,
				    const struct histogram *now)
{
	struct histogram *told = series->told[which];

	if (!now)
		return told;
	if (!told) {
		told = malloc(sizeof(*told));
		if (!told)
			return NULL;
		histogram_init(told);
		series->told[which] = told;
	}
	told->count = 0;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (now->counts[i] > told->counts[i])
			told->counts[i] = now->counts[i];
		told->count += (__u64)told->counts[i];
	}
	if (now->sum > told->sum)
		told->sum = now->sum;
	return told;
}

void live_series_free(struct live_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		free_told(&series->series[i]);
	free(series->series);
	free_told(&series->overflow);
	free(series->overflow_sums.sojourn);
	free(series->overflow_sums.part);
	free(series->overflow_sums.wait_before_drop);
	memset(series, 0, sizeof(*series));
}
