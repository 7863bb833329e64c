// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plot.h"
#include "qdisc_tree.h"
#include "terminal.h"
#include "units.h"
#include "watch_screen.h"

#define LINES_AROUND	4		/* title, losses, heading, keys */
#define STRIP_LOW_NS	100
#define STRIP_HIGH_NS	10000000000.0

#define TO_THE_END	"\033[K"	/* of the line: cleared */
#define BOLD		"\033[1m"
#define INVERSE		"\033[7m"
#define PLAIN		"\033[0m"

static bool is_there(struct live_qdisc *const *rows, size_t count, const struct live_qdisc *row)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i] == row)
			return true;
	return false;
}

/* The cursor stays at its qdisc, not at its line. */
static void keep_selected(struct watch_screen *screen, const struct live_qdisc *row)
{
	for (size_t i = 0; row && i < screen->shown_count; i++)
		if (screen->shown[i] == row)
			screen->selected = i;
	if (screen->selected >= screen->shown_count)
		screen->selected = screen->shown_count ? screen->shown_count - 1 : 0;
}

static bool choose(struct watch_screen *screen, struct live_qdisc *const *rows, size_t count)
{
	const struct live_qdisc *at = screen->selected < screen->shown_count ?
				      screen->shown[screen->selected] : NULL;
	const struct live_qdisc **shown;

	if (count > screen->room) {
		shown = realloc(screen->shown, count * sizeof(*shown));
		if (!shown)
			return false;
		screen->shown = shown;
		screen->room = count;
	}
	screen->shown_count = watch_choose(&screen->view, rows, count, screen->shown);
	keep_selected(screen, is_there(rows, count, at) ? at : NULL);
	if (screen->open && !is_there(rows, count, screen->open))
		screen->open = NULL;
	if (screen->flows_of && !is_there(rows, count, screen->flows_of))
		screen->flows_of = NULL;
	return true;
}

bool watch_screen_take(struct watch_screen *screen, const struct live *live)
{
	__u64 begin_ns, end_ns;
	size_t count;
	struct live_qdisc *const *rows = live_qdiscs(live, &count);

	live_interval(live, &begin_ns, &end_ns);
	screen->seconds = (double)(end_ns - begin_ns) / 1e9;
	return choose(screen, rows, count);
}

/* ---- drawing ---- */

static void draw_title(const struct watch_screen *screen, const struct live *live, FILE *out)
{
	char clock[16] = "", interval[UNITS_TEXT];
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	fprintf(out, BOLD "sojourn watch" PLAIN "  %s  %sby %s%s%s, %zu qdisc%s, every %s, %s tier" TO_THE_END "\r\n",
		clock, screen->paused ? BOLD "paused" PLAIN "  " : "",
		watch_sort_names[screen->view.sort], screen->view.filter[0] ? ", with " : "",
		screen->view.filter, screen->shown_count, screen->shown_count == 1 ? "" : "s",
		units_time_text(screen->seconds * 1e9, interval), tracer_tier(live_tracer(live)));
}

static void draw_losses(const struct live *live, FILE *out)
{
	struct live_losses losses;
	char text[512];

	live_losses(live, &losses);
	watch_losses_text(&losses, text, sizeof(text));
	if (*text)
		fprintf(out, "lost: %s", text);
	fputs(TO_THE_END "\r\n", out);
}

static void draw_help(FILE *out)
{
	static const char *const lines[] = {
		"q, Ctrl-C     end", "?             this text, and back",
		"p, space      pause, and go on", "s             sort by the next column; S: as a tree",
		"/             show only what has some text in its name; Enter takes it, Escape drops it",
		"i             idle qdiscs too, and back",
		"up, down      choose a qdisc (k, j; Page Up, Page Down, Home, End)",
		"Enter         its histogram, and back", "f             its flows, and back", "",
		"rate: of what was handed out or went straight to the device. p50, p99, max: the time in",
		"the qdisc and those below it. p99 before: of the last ten intervals. most: the longest",
		"backlog of the interval. bypassed: straight to the device. paced: up to departure times.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		fprintf(out, "%s" TO_THE_END "\r\n", lines[i]);
}

/* What plot.h draws ends its lines with a newline alone, which on our screen does not go back. */
static void put_lines(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs(TO_THE_END "\r", out);
		fputc(*text, out);
	}
}

static void draw_strip(const struct plot_style *style, const struct plot_scale *scale,
		       const char *label, const struct histogram *histogram, FILE *out)
{
	unsigned int columns = plot_strip_columns(style);
	double *counts = calloc(columns, sizeof(*counts));

	for (unsigned int i = 0; counts && histogram && i < HISTOGRAM_BUCKETS; i++)
		if (histogram->counts[i] > 0)
			counts[plot_strip_column(style, scale, (double)histogram_bucket_low(i) + 1)] +=
				(double)histogram->counts[i];
	if (counts && histogram)
		plot_strip(out, style, label, counts);
	free(counts);
}

static void describe(const struct live_sums *sums, const char *what, FILE *out)
{
	char p50[UNITS_TEXT], p90[UNITS_TEXT], p99[UNITS_TEXT], max[UNITS_TEXT];
	struct summary summary;

	if (!sums->sojourn)
		return;
	histogram_summary(sums->sojourn, &summary);
	fprintf(out, "%s: %llu packets, p50 %s, p90 %s, p99 %s, max %s; offered %llu, rejected %llu, dropped inside %llu, requeued %llu\n",
		what, summary.count, units_time_text((double)summary.p50, p50),
		units_time_text((double)summary.p90, p90), units_time_text((double)summary.p99, p99),
		units_time_text((double)summary.max, max), sums->counters.offered_packets,
		sums->counters.rejected_packets, sums->counters.dropped_packets,
		sums->counters.requeued);
}

static void draw_open(const struct watch_screen *screen, FILE *out)
{
	struct plot_style style = { .width = screen->columns, .ascii = screen->view.ascii };
	const struct plot_scale scale = { STRIP_LOW_NS, STRIP_HIGH_NS };
	const struct live_qdisc *row = screen->open;
	char handle[16], *text = NULL;
	size_t size;
	FILE *lines;

	if (style.width < PLOT_WIDTH_MIN)
		style.width = PLOT_WIDTH_MIN;
	if (style.width > PLOT_WIDTH_MAX)
		style.width = PLOT_WIDTH_MAX;
	lines = open_memstream(&text, &size);
	if (!lines)
		return;
	fprintf(lines, "%s%s%s queue %u, %s %s, path %s\n\n", row->netns_name,
		row->netns_name[0] ? "/" : "", row->device, row->queue, row->kind,
		qdisc_handle_text(row->handle, handle), row->path);
	draw_strip(&style, &scale, "last", row->last.sojourn, lines);
	draw_strip(&style, &scale, "in all", row->all.sojourn, lines);
	draw_strip(&style, &scale, row->traits & QDISC_PACES ? "paced" : "in itself", row->all.part,
		   lines);
	draw_strip(&style, &scale, "dropped", row->all.wait_before_drop, lines);
	plot_strip_axis(lines, &style, &scale, units_time_text);
	fputc('\n', lines);
	describe(&row->last, "last interval", lines);
	describe(&row->all, "since the start", lines);
	if (!fclose(lines))
		put_lines(text, out);
	free(text);
}

static void draw_flows(const struct watch_screen *screen, FILE *out)
{
	size_t lines = screen->rows > LINES_AROUND + 1 ? screen->rows - LINES_AROUND - 1 : 1, i;
	const struct live_qdisc *row = screen->flows_of;
	char line[WATCH_LINE_SIZE], handle[16];

	fprintf(out, "%s%s%s %s %s: %zu flow%s in the last interval" TO_THE_END "\r\n",
		row->netns_name, row->netns_name[0] ? "/" : "", row->device, row->kind,
		qdisc_handle_text(row->handle, handle), screen->flows.count,
		screen->flows.count == 1 ? "" : "s");
	fprintf(out, BOLD "%s" PLAIN TO_THE_END "\r\n",
		watch_flows_heading(line, sizeof(line)));
	for (i = 0; i < screen->flows.count && i < lines; i++)
		fprintf(out, "%s" TO_THE_END "\r\n",
			watch_flows_line(&screen->flows, i, screen->seconds, line, sizeof(line)));
}

static void draw_table(struct watch_screen *screen, FILE *out)
{
	size_t lines = screen->rows > LINES_AROUND ? screen->rows - LINES_AROUND : 1, i;
	char line[WATCH_LINE_SIZE];

	if (screen->selected < screen->first)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + lines)
		screen->first = screen->selected + 1 - lines;
	fprintf(out, BOLD "%s" PLAIN TO_THE_END "\r\n", watch_heading(&screen->view, line));
	for (i = screen->first; i < screen->shown_count && i < screen->first + lines; i++)
		fprintf(out, "%s%s" PLAIN TO_THE_END "\r\n", i == screen->selected ? INVERSE : "",
			watch_line(&screen->view, screen->shown[i], screen->seconds, line));
	if (!screen->shown_count)
		fputs("no packet has come to any qdisc yet" TO_THE_END "\r\n", out);
}

bool watch_screen_draw(struct watch_screen *screen, const struct live *live)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool written;

	if (!out)
		return true;
	terminal_size(&screen->columns, &screen->rows);
	/* clearing to the end of a full line takes its last character */
	screen->view.width = screen->columns > 1 ? screen->columns - 1 : 1;
	fputs("\033[H", out);
	draw_title(screen, live, out);
	draw_losses(live, out);
	if (screen->help)
		draw_help(out);
	else if (screen->flows_of)
		draw_flows(screen, out);
	else if (screen->open)
		draw_open(screen, out);
	else
		draw_table(screen, out);
	if (screen->typing)
		fprintf(out, "show only: %s_" TO_THE_END, screen->view.filter);
	else
		fputs("q end  ? keys  p pause  s sort  / filter  Enter histogram  f flows" TO_THE_END, out);
	fputs("\033[J", out);
	if (fclose(out))
		return true;
	written = terminal_write(text, size);
	free(text);
	return written;
}

/* ---- keys ---- */

static void type(struct watch_screen *screen, int key)
{
	char *filter = screen->view.filter;
	size_t length = strlen(filter);

	if (key == KEY_ENTER) {
		screen->typing = false;
	} else if (key == KEY_ESCAPE) {
		screen->typing = false;
		filter[0] = '\0';
	} else if (key == KEY_BACKSPACE) {
		if (length)
			filter[length - 1] = '\0';
	} else if (key >= ' ' && key < 127 && length + 1 < WATCH_FILTER_SIZE) {
		filter[length] = (char)key;
		filter[length + 1] = '\0';
	}
}

static void move(struct watch_screen *screen, long by)
{
	long to = (long)screen->selected + by;

	if (to >= (long)screen->shown_count)
		to = (long)screen->shown_count - 1;
	screen->selected = to > 0 ? (size_t)to : 0;
}

static void command(struct watch_screen *screen, int key)
{
	switch (key) {
	case '?':
		screen->help = !screen->help;
		break;
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 's':
		screen->view.sort = (screen->view.sort + 1) % SORTS;
		break;
	case 'S':
		screen->view.sort = SORT_TREE;
		break;
	case 'i':
		screen->view.idle = !screen->view.idle;
		break;
	case '/':
		screen->typing = true;
		break;
	case KEY_ESCAPE:
		screen->open = screen->flows_of = NULL;
		screen->help = false;
		break;
	case 'f':
		screen->flows.count = 0;
		if (screen->flows_of || screen->selected >= screen->shown_count)
			screen->flows_of = NULL;
		else
			screen->flows_of = screen->shown[screen->selected];
		break;
	case KEY_ENTER:
		if (screen->open || screen->selected >= screen->shown_count)
			screen->open = NULL;
		else
			screen->open = screen->shown[screen->selected];
		break;
	}
}

bool watch_screen_key(struct watch_screen *screen, int key)
{
	long page = screen->rows > LINES_AROUND ? (long)screen->rows - LINES_AROUND : 1;

	if (screen->typing) {
		type(screen, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case 'k':
	case KEY_UP:
		move(screen, -1);
		break;
	case 'j':
	case KEY_DOWN:
		move(screen, 1);
		break;
	case KEY_PAGE_UP:
		move(screen, -page);
		break;
	case KEY_PAGE_DOWN:
		move(screen, page);
		break;
	case KEY_HOME:
		screen->selected = 0;
		break;
	case KEY_END:
		move(screen, (long)screen->shown_count);
		break;
	default:
		command(screen, key);
	}
	return true;
}

void watch_screen_free(struct watch_screen *screen)
{
	free(screen->shown);
	watch_flows_free(&screen->flows);
}
