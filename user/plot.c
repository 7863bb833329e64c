// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

#define DOTS_ACROSS	2	/* of a braille character */
#define DOTS_DOWN	4
#define LINES_MAX	40

/* A bar's label and its time leave it the rest of the line. */
#define BAR_LABEL	36
#define BAR_TEXT	10

/* ---- characters ---- */

static void put_braille(FILE *file, unsigned int dots)
{
	unsigned int code = 0x2800 + dots;

	fputc(0xe0 | code >> 12, file);
	fputc(0x80 | (code >> 6 & 0x3f), file);
	fputc(0x80 | (code & 0x3f), file);
}

/* Eighths of a block, from the bottom; 0: a space. */
static void put_eighths(FILE *file, const struct plot_style *style, unsigned int eighths)
{
	static const char ascii[] = " .:-=+*%#";

	if (!eighths || style->ascii)
		fputc(ascii[eighths], file);
	else
		fprintf(file, "\xe2\x96%c", 0x80 + eighths);
}

static void repeat_text(FILE *file, const char *text, unsigned int times)
{
	while (times--)
		fputs(text, file);
}

/* ---- curves ---- */

/* A dot is at [row * columns + column], rows from the bottom. */
struct canvas {
	unsigned int columns, rows;	/* of dots */
	bool *dots;
};

static void draw_column(struct canvas *canvas, unsigned int column, unsigned int from,
			unsigned int to)
{
	unsigned int low = from < to ? from : to, high = from < to ? to : from;

	for (; low <= high; low++)
		canvas->dots[low * canvas->columns + column] = true;
}

/* From one dot to another: each column between is filled as far as the line goes in it. */
static void draw_line(struct canvas *canvas, unsigned int x0, unsigned int y0, unsigned int x1,
		      unsigned int y1)
{
	double slope = x1 > x0 ? ((double)y1 - y0) / (x1 - x0) : 0, y = y0;
	unsigned int column, next;

	if (x1 == x0) {
		draw_column(canvas, x0, y0, y1);
		return;
	}
	for (column = x0; column < x1; column++, y += slope) {
		next = (unsigned int)lround(y + slope);
		draw_column(canvas, column, (unsigned int)lround(y), next);
	}
	draw_column(canvas, x1, y1, y1);
}

static unsigned int scaled(double value, double most, unsigned int steps)
{
	double at = most > 0 ? value / most * (steps - 1) : 0;

	return at <= 0 ? 0 : at >= steps - 1 ? steps - 1 : (unsigned int)lround(at);
}

static bool is_seen(const struct plot *plot, const struct plot_point *point)
{
	return isfinite(point->y) && point->x >= plot->begin && point->x <= plot->end;
}

static void draw_points(struct canvas *canvas, const struct plot *plot, double most)
{
	const struct plot_point *before = NULL, *point;
	unsigned int x, y, x_before = 0, y_before = 0;
	size_t i;

	for (i = 0; i < plot->count; i++) {
		point = &plot->points[i];
		if (!is_seen(plot, point)) {
			before = NULL;
			continue;
		}
		x = scaled(point->x - plot->begin, plot->end - plot->begin, canvas->columns);
		y = scaled(point->y, most, canvas->rows);
		if (before && point->x - before->x <= plot->gap)
			draw_line(canvas, x_before, y_before, x, y);
		else
			draw_column(canvas, x, y, y);
		before = point;
		x_before = x;
		y_before = y;
	}
}

/* Which dots of a character are set: in braille's own order. */
static unsigned int cell_dots(const struct canvas *canvas, unsigned int column, unsigned int line)
{
	static const unsigned char bits[DOTS_DOWN][DOTS_ACROSS] = {
		/* from the bottom */
		{ 0x40, 0x80 }, { 0x04, 0x20 }, { 0x02, 0x10 }, { 0x01, 0x08 },
	};
	unsigned int dots = 0, x, y;

	for (y = 0; y < DOTS_DOWN; y++)
		for (x = 0; x < DOTS_ACROSS; x++)
			if (canvas->dots[(line * DOTS_DOWN + y) * canvas->columns +
					 column * DOTS_ACROSS + x])
				dots |= bits[y][x];
	return dots;
}

static void put_cell(FILE *file, const struct plot_style *style, unsigned int dots)
{
	static const unsigned char upper = 0x01 | 0x08 | 0x02 | 0x10;

	if (!style->ascii && dots)
		put_braille(file, dots);
	else if (!dots)
		fputc(' ', file);
	else
		fputc(dots & upper ? (dots & ~upper ? '|' : '\'') : '.', file);
}

static void print_canvas(FILE *file, const struct plot_style *style, const struct canvas *canvas,
			 const struct plot *plot, double most)
{
	unsigned int lines = canvas->rows / DOTS_DOWN, line = lines, column;
	char text[UNITS_TEXT];

	while (line--) {
		const char *label = line == lines - 1 ? plot->text(most, text) :
				    line ? "" : plot->text(0, text);

		fprintf(file, "%*s%s", PLOT_MARGIN - 1, label, style->ascii ? "|" : "\xe2\x94\xa4");
		for (column = 0; column < canvas->columns / DOTS_ACROSS; column++)
			put_cell(file, style, cell_dots(canvas, column, line));
		fputc('\n', file);
	}
}

static unsigned int columns_of_style(const struct plot_style *style)
{
	return style->width - PLOT_MARGIN;
}

void plot_curve(FILE *file, const struct plot_style *style, const struct plot *plot,
		unsigned int lines)
{
	struct canvas canvas = {
		.columns = columns_of_style(style) * DOTS_ACROSS,
		.rows = (lines < LINES_MAX ? lines : LINES_MAX) * DOTS_DOWN,
	};
	double most = -1;
	size_t i;

	for (i = 0; i < plot->count; i++)
		if (is_seen(plot, &plot->points[i]) && plot->points[i].y > most)
			most = plot->points[i].y;
	fprintf(file, "%s%s\n", plot->title, most < 0 ? ": nothing" : "");
	if (most < 0)
		return;
	canvas.dots = calloc((size_t)canvas.columns * canvas.rows, sizeof(*canvas.dots));
	if (!canvas.dots) {
		fputs("(out of memory: not drawn)\n", file);
		return;
	}
	draw_points(&canvas, plot, most);
	print_canvas(file, style, &canvas, plot, most);
	free(canvas.dots);
}

/* ---- the axis below ---- */

/* Text into a line at a column, as far as there is room up to limit. */
static void place_text(char *line, unsigned int column, unsigned int limit, const char *text)
{
	for (; *text && column < limit; text++, column++)
		line[column] = *text;
}

/* The name of a span in its middle, between marks at its ends. */
static void place_span(char *line, unsigned int columns, unsigned int from, unsigned int to,
		       const char *name)
{
	unsigned int length = (unsigned int)strlen(name), room = to - from, column;

	for (column = from; column < to && column < columns; column++)
		line[column] = '-';
	line[from] = '|';
	line[to < columns ? to : columns - 1] = '|';
	if (length + 2 <= room)
		place_text(line, from + (room - length + 1) / 2, to, name);
}

void plot_axis(FILE *file, const struct plot_style *style, double begin, double end,
	       const struct plot_span *spans, size_t count)
{
	unsigned int columns = columns_of_style(style);
	char line[PLOT_WIDTH_MAX + 1], left[] = "0", right[UNITS_TEXT];
	size_t i;

	memset(line, ' ', columns);
	line[columns] = '\0';
	for (i = 0; i < count; i++)
		place_span(line, columns, scaled(spans[i].begin - begin, end - begin, columns),
			   scaled(spans[i].end - begin, end - begin, columns), spans[i].name);
	fprintf(file, "%*s%s\n", PLOT_MARGIN, "", line);
	units_time_text((end - begin) * 1e9, right);
	fprintf(file, "%*s%s%*s\n", PLOT_MARGIN, "", left, (int)columns - 1, right);
}

/* ---- strips ---- */

unsigned int plot_strip_columns(const struct plot_style *style)
{
	return columns_of_style(style);
}

unsigned int plot_strip_column(const struct plot_style *style, const struct plot_scale *scale,
			       double value)
{
	if (value <= scale->low)
		return 0;
	return scaled(log(value / scale->low), log(scale->high / scale->low),
		      plot_strip_columns(style));
}

void plot_strip(FILE *file, const struct plot_style *style, const char *label,
		const double *counts)
{
	unsigned int columns = plot_strip_columns(style), i, eighths;
	double most = 0;

	for (i = 0; i < columns; i++)
		if (counts[i] > most)
			most = counts[i];
	fprintf(file, "%*.*s ", PLOT_MARGIN - 1, PLOT_MARGIN - 1, label);
	while (columns && counts[columns - 1] <= 0)
		columns--;
	for (i = 0; i < columns; i++) {
		eighths = counts[i] > 0 ? (unsigned int)ceil(counts[i] / most * 8) : 0;
		put_eighths(file, style, eighths);
	}
	fputc('\n', file);
}

void plot_strip_axis(FILE *file, const struct plot_style *style, const struct plot_scale *scale,
		     plot_text *text)
{
	unsigned int columns = plot_strip_columns(style), free_from = 0, column, length;
	char line[PLOT_WIDTH_MAX + 1], label[UNITS_TEXT];
	double power;

	memset(line, ' ', columns);
	line[columns] = '\0';
	for (power = pow(10, ceil(log10(scale->low))); power <= scale->high; power *= 10) {
		text(power, label);
		length = (unsigned int)strlen(label);
		column = plot_strip_column(style, scale, power);
		if (column < free_from || column + length > columns)
			continue;
		memcpy(line + column, label, length);
		free_from = column + length + 2;
	}
	for (column = columns; column && line[column - 1] == ' '; column--)
		line[column - 1] = '\0';
	fprintf(file, "%*s%s\n", PLOT_MARGIN, "", line);
}

/* ---- bars ---- */

void plot_bar(FILE *file, const struct plot_style *style, const char *label, double begin,
	      double end, double total, plot_text *text)
{
	unsigned int room = style->width > BAR_LABEL + BAR_TEXT + 12 ?
			    style->width - BAR_LABEL - BAR_TEXT - 2 : 10;
	unsigned int from = scaled(begin, total, room), to = scaled(end, total, room);
	char value[UNITS_TEXT];

	fprintf(file, "%-*.*s %*s ", BAR_LABEL, BAR_LABEL, label, BAR_TEXT,
		text(end - begin, value));
	fprintf(file, "%*s", (int)from, "");
	repeat_text(file, style->ascii ? "#" : "\xe2\x96\x88", to > from ? to - from : 0);
	if (to <= from)
		fputs(style->ascii ? "|" : "\xe2\x96\x8f", file);
	fputc('\n', file);
}
