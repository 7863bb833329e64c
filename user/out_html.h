/* SPDX-License-Identifier: GPL-2.0 */
/* The report as one HTML page that needs nothing else (user/report has its parts). */
#ifndef SOJOURN_OUT_HTML_H
#define SOJOURN_OUT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A result as it was read: its name for a person, and its JSON. */
struct html_document {
	const char *name;
	const char *text;
	size_t length;
};

/* Was this program built with the page? It is not where npm could not fetch uPlot. */
bool out_html_there(void);

/*
 * Write the page with these documents, which must have been read as results before
 * (result_parse()): no text of theirs can become markup. Returns 0, or -1: see errno of file.
 */
int out_html(FILE *file, const struct html_document *documents, size_t count);

#endif
