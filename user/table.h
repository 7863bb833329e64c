/* SPDX-License-Identifier: GPL-2.0 */
/* Lines and tables for a terminal of 100 columns. */
#ifndef SOJOURN_TABLE_H
#define SOJOURN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_WIDTH		100
#define TABLE_COLUMNS_MAX	12
#define TABLE_CELL_SIZE		128

struct table_row {
	char cells[TABLE_COLUMNS_MAX][TABLE_CELL_SIZE];
	char *note;		/* a line below the row, or NULL; owned */
};

/* Cells are kept until all widths are known. The first column is left-aligned. */
struct table {
	struct table_row *rows;	/* the first one is the heading */
	size_t count, capacity;
	unsigned int columns;
	bool failed;		/* out of memory: rows are missing */
};

/*
 * Print words up to the width; further lines are indented, the first one by the spaces that
 * the text begins with. Ends the line.
 */
void table_line(FILE *file, unsigned int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Begin a table (what was in it is not freed) with its heading. */
void table_heading(struct table *table, const char *const titles[], unsigned int columns);

/* One row more, its cells empty; NULL where memory is short, which table_print() tells. */
struct table_row *table_add(struct table *table);

void table_cell(struct table_row *row, unsigned int column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print all rows and free them. */
void table_print(FILE *file, struct table *table);

#endif
