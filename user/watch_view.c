// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qdisc_tree.h"
#include "result_terms.h"
#include "text.h"
#include "units.h"
#include "watch_view.h"

#define NAME_WIDTH_MIN	20
#define NAME_WIDTH_MAX	60
#define TREND_WIDTH	10
#define CELL_SIZE	64

const char *const watch_sort_names[SORTS + 1] = {
	[SORT_TREE] = "tree", [SORT_P99] = "p99", [SORT_MAX] = "max", [SORT_RATE] = "rate",
	[SORT_PACKETS] = "packets", [SORT_BACKLOG] = "backlog", [SORT_DROPS] = "drops",
};

int watch_sort_named(const char *name)
{
	for (int i = 0; i < SORTS; i++)
		if (!strcmp(name, watch_sort_names[i]))
			return i;
	return -1;
}

/* ---- which rows ---- */

static bool has_traffic(const struct qdisc_counters *counters)
{
	return counters->offered_packets || counters->measured_packets ||
	       counters->bypassed_packets || counters->rejected_packets ||
	       counters->dropped_packets;
}

static bool is_shown(const struct watch_view *view, const struct live_qdisc *row)
{
	char text[512], handle[16];

	if (row->gone_ns && !has_traffic(&row->last.counters))
		return false;
	if (!view->idle && !has_traffic(&row->all.counters) && !row->backlog_packets)
		return false;
	if (!view->filter[0])
		return true;
	snprintf(text, sizeof(text), "%s/%s %s %s %s", row->netns_name, row->device, row->kind,
		 qdisc_handle_text(row->handle, handle), row->path);
	return strstr(text, view->filter);
}

static __u64 drops_of(const struct live_sums *sums)
{
	return sums->counters.rejected_packets + sums->counters.dropped_packets;
}

static __u64 packets_of(const struct live_sums *sums)
{
	return sums->counters.measured_packets + sums->counters.bypassed_packets;
}

static __u64 key_of(enum watch_sort sort, const struct live_qdisc *row)
{
	switch (sort) {
	case SORT_P99:
		return row->trend[LIVE_TREND - 1];
	case SORT_MAX:
		return row->last.sojourn ? row->last.sojourn->max : 0;
	case SORT_RATE:
		return row->last.counters.bytes;
	case SORT_PACKETS:
		return packets_of(&row->last);
	case SORT_BACKLOG:
		return row->last.backlog_bytes_max;
	case SORT_DROPS:
		return drops_of(&row->last);
	case SORT_TREE:
	case SORTS:
		break;
	}
	return 0;
}

struct sorted {
	const struct live_qdisc *row;
	__u64 key;
	size_t place;		/* in the tree: what has the same key stays in its order */
};

static int compare(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

size_t watch_choose(const struct watch_view *view, struct live_qdisc *const *rows, size_t count,
		    const struct live_qdisc **shown)
{
	struct sorted *sorted = calloc(count + 1, sizeof(*sorted));
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++)
		if (is_shown(view, rows[i]))
			shown[chosen++] = rows[i];
	if (view->sort == SORT_TREE || !sorted)
		goto out;
	for (size_t i = 0; i < chosen; i++)
		sorted[i] = (struct sorted){ shown[i], key_of(view->sort, shown[i]), i };
	if (chosen)
		qsort(sorted, chosen, sizeof(*sorted), compare);
	for (size_t i = 0; i < chosen; i++)
		shown[i] = sorted[i].row;
out:
	free(sorted);
	return chosen;
}

/* ---- cells ---- */

static void time_cell(char *cell, const struct histogram *histogram, __u64 ns)
{
	char text[UNITS_TEXT];

	snprintf(cell, CELL_SIZE, "%s", histogram ? units_time_text((double)ns, text) : "-");
}

static void percentile_cell(char *cell, const struct live_qdisc *row, double percent)
{
	const struct histogram *sojourn = row->last.sojourn;

	time_cell(cell, sojourn, sojourn ? histogram_percentile(sojourn, percent) : 0);
}

static void rate_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		      char *cell)
{
	char text[UNITS_TEXT];

	(void)view;
	snprintf(cell, CELL_SIZE, "%s",
		 units_rate_text((double)row->last.counters.bytes * 8 / seconds, text));
}

static void packets_cell(const struct watch_view *view, const struct live_qdisc *row,
			 double seconds, char *cell)
{
	(void)view;
	snprintf(cell, CELL_SIZE, "%.0f", (double)packets_of(&row->last) / seconds);
}

static void p50_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		     char *cell)
{
	(void)view;
	(void)seconds;
	percentile_cell(cell, row, 50);
}

static void p99_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		     char *cell)
{
	(void)view;
	(void)seconds;
	percentile_cell(cell, row, 99);
}

static void max_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		     char *cell)
{
	const struct histogram *sojourn = row->last.sojourn;

	(void)view;
	(void)seconds;
	time_cell(cell, sojourn, sojourn ? sojourn->max : 0);
}

/* p99 of the last intervals, as high as the highest of them; each block is three bytes. */
static void trend_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		       char *cell)
{
	static const char *const blocks[] = {
		" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"
	};
	static const char plain[] = " .:-=+*%#";
	const __u64 *trend = row->trend + LIVE_TREND - TREND_WIDTH;
	struct text text = text_begin(cell, CELL_SIZE);
	__u64 most = 1;

	(void)seconds;
	for (unsigned int i = 0; i < TREND_WIDTH; i++)
		most = trend[i] > most ? trend[i] : most;
	for (unsigned int i = 0; i < TREND_WIDTH; i++) {
		unsigned int eighths = (unsigned int)((double)trend[i] / (double)most * 8 + 0.5);

		if (trend[i] && !eighths)
			eighths = 1;
		if (view->ascii)
			text_add(&text, "%c", plain[eighths]);
		else
			text_add(&text, "%s", blocks[eighths]);
	}
}

static void backlog_cell(const struct watch_view *view, const struct live_qdisc *row,
			 double seconds, char *cell)
{
	char text[UNITS_TEXT];

	(void)view;
	(void)seconds;
	snprintf(cell, CELL_SIZE, "%s", units_size_text((double)row->backlog_bytes, text));
}

static void backlog_max_cell(const struct watch_view *view, const struct live_qdisc *row,
			     double seconds, char *cell)
{
	char text[UNITS_TEXT];

	(void)view;
	(void)seconds;
	snprintf(cell, CELL_SIZE, "%s", units_size_text((double)row->last.backlog_bytes_max, text));
}

static void drops_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		       char *cell)
{
	(void)view;
	(void)seconds;
	snprintf(cell, CELL_SIZE, "%llu", drops_of(&row->last));
}

static void bypassed_cell(const struct watch_view *view, const struct live_qdisc *row,
			  double seconds, char *cell)
{
	__u64 packets = packets_of(&row->last);

	(void)view;
	(void)seconds;
	if (packets)
		snprintf(cell, CELL_SIZE, "%.0f %%",
			 100 * (double)row->last.counters.bypassed_packets / (double)packets);
	else
		snprintf(cell, CELL_SIZE, "-");
}

/* The part of all waiting that was up to the packets' departure times. */
static void paced_cell(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		       char *cell)
{
	const struct live_sums *last = &row->last;

	(void)view;
	(void)seconds;
	if (row->traits & QDISC_PACES && last->part && last->sojourn && last->sojourn->sum > 0)
		snprintf(cell, CELL_SIZE, "%.0f %%",
			 100 * (double)last->part->sum / (double)last->sojourn->sum);
	else
		snprintf(cell, CELL_SIZE, "-");
}

/* Where columns do not fit, those with the highest rank go first. */
static const struct column {
	const char *title;
	unsigned int width, rank;
	void (*cell)(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		     char *cell);
} columns[] = {
	{ "rate", 11, 3, rate_cell },
	{ "packets/s", 9, 6, packets_cell },
	{ "p50", 8, 2, p50_cell },
	{ "p99", 8, 0, p99_cell },
	{ "max", 8, 1, max_cell },
	{ "p99 before", TREND_WIDTH, 5, trend_cell },
	{ "backlog", 8, 4, backlog_cell },
	{ "most", 8, 7, backlog_max_cell },
	{ "drops", 6, 2, drops_cell },
	{ "bypassed", 8, 8, bypassed_cell },
	{ "paced", 5, 9, paced_cell },
};

#define COLUMNS	(sizeof(columns) / sizeof(columns[0]))

/* Which columns fit beside the name, as bits; *name_width is what is left for that. */
static unsigned int fitting(const struct watch_view *view, unsigned int *name_width)
{
	unsigned int bits = 0, used = 0, rank, i;

	for (rank = 0; rank < COLUMNS; rank++)
		for (i = 0; i < COLUMNS; i++)
			if (columns[i].rank == rank &&
			    NAME_WIDTH_MIN + used + columns[i].width + 1 <= view->width) {
				bits |= 1u << i;
				used += columns[i].width + 1;
			}
	*name_width = view->width > used ? view->width - used : 1;
	if (*name_width > NAME_WIDTH_MAX)
		*name_width = NAME_WIDTH_MAX;
	return bits;
}

/* Bytes of the character that begins there. */
static size_t character(const char *text)
{
	size_t length = 1;

	while ((text[length] & 0xc0) == 0x80)
		length++;
	return length;
}

/* Filled up with blanks, or cut: by characters. */
static void add_left(struct text *text, const char *cell, unsigned int width)
{
	while (*cell && width) {
		size_t length = character(cell);

		text_add(text, "%.*s", (int)length, cell);
		cell += length;
		width--;
	}
	text_add(text, "%*s", (int)width, "");
}

static void add_right(struct text *text, const char *cell, unsigned int width)
{
	unsigned int characters = 0;

	for (const char *at = cell; *at; at += character(at))
		characters++;
	text_add(text, "%*s", characters < width ? (int)(width - characters) : 0, "");
	add_left(text, cell, characters < width ? characters : width);
}

const char *watch_heading(const struct watch_view *view, char line[WATCH_LINE_SIZE])
{
	struct text text = text_begin(line, WATCH_LINE_SIZE);
	unsigned int name_width, bits = fitting(view, &name_width);

	add_left(&text, "qdisc", name_width);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		if (!(bits & 1u << i))
			continue;
		text_add(&text, " ");
		add_right(&text, columns[i].title, columns[i].width);
	}
	return line;
}

/* Its namespace and device where it is the first of a tree, below that only kind and handle. */
static void name_of(const struct watch_view *view, const struct live_qdisc *row, char *name,
		    size_t size)
{
	struct text text = text_begin(name, size);
	bool tree = view->sort == SORT_TREE;
	char handle[16];

	if (tree)
		text_add(&text, "%*s", (int)(2 * row->level), "");
	if (!tree || !row->level) {
		if (row->netns_name[0])
			text_add(&text, "%s/", row->netns_name);
		text_add(&text, "%s ", row->device);
	}
	if (row->queue)
		text_add(&text, "q%u ", row->queue);
	text_add(&text, "%s %s", row->kind, qdisc_handle_text(row->handle, handle));
	if (row->gone_ns)
		text_add(&text, " (gone)");
}

const char *watch_line(const struct watch_view *view, const struct live_qdisc *row, double seconds,
		       char line[WATCH_LINE_SIZE])
{
	struct text text = text_begin(line, WATCH_LINE_SIZE);
	unsigned int name_width, bits = fitting(view, &name_width);
	char name[512], cell[CELL_SIZE];

	name_of(view, row, name, sizeof(name));
	add_left(&text, name, name_width);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		bool alarming = view->color && columns[i].cell == drops_cell &&
				drops_of(&row->last);

		if (!(bits & 1u << i))
			continue;
		columns[i].cell(view, row, seconds, cell);
		text_add(&text, alarming ? " \033[31m" : " ");
		add_right(&text, cell, columns[i].width);
		if (alarming)
			text_add(&text, "\033[39m");
	}
	return line;
}

const char *watch_losses_text(const struct live_losses *losses, char *buffer, size_t size)
{
	struct text text = text_begin(buffer, size);

	for (const struct result_term *term = loss_terms; term->name; term++)
		if (result_term_value(term, &losses->tracer))
			text_add(&text, "%s%s %llu", text.used ? ", " : "", term->name,
				 result_term_value(term, &losses->tracer));
	if (losses->rows_missing)
		text_add(&text, "%srows_missing %llu", text.used ? ", " : "",
			 losses->rows_missing);
	return buffer;
}
