/* SPDX-License-Identifier: GPL-2.0 */
/* What an HTTP client takes: the headers Accept and Accept-Encoding (RFC 9110, section 12.5). */
#ifndef SOJOURN_ACCEPT_H
#define SOJOURN_ACCEPT_H

#include <stdbool.h>

enum exposition_format {
	FORMAT_TEXT,		/* Prometheus's text, version 0.0.4 */
	FORMAT_OPENMETRICS,	/* 1.0.0 */
	FORMAT_PROTOBUF,	/* io.prometheus.client.MetricFamily, delimited */
	EXPOSITION_FORMATS,
};

/* The Content-Type of a format. */
const char *accept_type(enum exposition_format format);

/*
 * The format that the header likes best: by the q of the most specific range that names it, of
 * equal ones the first in the header, else text. Text where none is taken, the header cannot be
 * read, or there is none (NULL).
 */
enum exposition_format accept_format(const char *header);

/* Does Accept-Encoding (NULL: there is none) take gzip? */
bool accept_gzip(const char *header);

#endif
