// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "table.h"

/* Characters of a text; the continuation bytes of UTF-8 are none. */
static size_t columns_of(const char *text, size_t length)
{
	size_t i, columns = 0;

	for (i = 0; i < length; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* Words up to the width; ends the line. */
static void table_wrapped(FILE *file, unsigned int indent, const char *text)
{
	size_t column = strspn(text, " "), length, width;
	bool first = true;

	fprintf(file, "%*s", (int)column, "");
	for (text += column; *text; text += strspn(text, " \n")) {
		length = strcspn(text, " \n");
		width = columns_of(text, length);
		if (!first && column + 1 + width > TABLE_WIDTH) {
			fprintf(file, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', file);
			column++;
		}
		fwrite(text, 1, length, file);
		column += width;
		text += length;
		first = false;
	}
	fputc('\n', file);
}

void table_line(FILE *file, unsigned int indent, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		table_wrapped(file, indent, text);
	free(text);
}

struct table_row *table_add(struct table *table)
{
	struct table_row *rows = array_grow(table->rows, table->count, &table->capacity, sizeof(*rows));

	if (!rows) {
		table->failed = true;
		return NULL;
	}
	table->rows = rows;
	memset(&table->rows[table->count], 0, sizeof(*table->rows));
	return &table->rows[table->count++];
}

void table_heading(struct table *table, const char *const titles[], unsigned int columns)
{
	struct table_row *row;
	unsigned int i;

	memset(table, 0, sizeof(*table));
	table->columns = columns;
	row = table_add(table);
	for (i = 0; row && i < columns; i++)
		snprintf(row->cells[i], TABLE_CELL_SIZE, "%s", titles[i]);
}

void table_cell(struct table_row *row, unsigned int column, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(row->cells[column], TABLE_CELL_SIZE, format, arguments);
	va_end(arguments);
}

static unsigned int column_width(const struct table *table, unsigned int column)
{
	unsigned int width = 0;
	size_t i, length;

	for (i = 0; i < table->count; i++) {
		length = strlen(table->rows[i].cells[column]);
		if (length > width)
			width = (unsigned int)length;
	}
	return width;
}

/* A first cell that leaves the others no room gets a line of its own. */
static void print_row(FILE *file, const struct table *table, const struct table_row *row,
		      const unsigned int *widths)
{
	unsigned int i;

	if (strlen(row->cells[0]) > widths[0])
		fprintf(file, "%s\n%*s", row->cells[0], (int)widths[0], "");
	else
		fprintf(file, "%-*s", (int)widths[0], row->cells[0]);
	for (i = 1; i < table->columns; i++)
		fprintf(file, "  %*s", (int)widths[i], row->cells[i]);
	fputc('\n', file);
	if (row->note)
		table_line(file, 4, "    %s", row->note);
}

void table_print(FILE *file, struct table *table)
{
	unsigned int widths[TABLE_COLUMNS_MAX], i, rest = 0;
	size_t row;

	for (i = 0; i < table->columns; i++) {
		widths[i] = column_width(table, i);
		if (i)
			rest += widths[i] + 2;
	}
	if (rest < TABLE_WIDTH && widths[0] > TABLE_WIDTH - rest)
		widths[0] = TABLE_WIDTH - rest;
	for (row = 0; row < table->count; row++) {
		print_row(file, table, &table->rows[row], widths);
		free(table->rows[row].note);
	}
	if (table->failed)
		fputs("(out of memory: rows are missing)\n", file);
	free(table->rows);
}
