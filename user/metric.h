/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metric families as plain structures: what exposition.c fills, and what the formats
 * (exposition_text.h, exposition_protobuf.h) write.
 */
#ifndef SOJOURN_METRIC_H
#define SOJOURN_METRIC_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "metric_histogram.h"

enum metric_type {
	METRIC_COUNTER,		/* "_total" is behind its name */
	METRIC_GAUGE,
	METRIC_HISTOGRAM,
	METRIC_INFO,		/* "_info" is behind its name; its value is 1 */
};

struct metric_label {
	const char *name;	/* a constant */
	char *value;		/* owned; valid UTF-8 */
};

#define METRIC_LABELS_MAX	8

struct metric_labels {
	struct metric_label labels[METRIC_LABELS_MAX];
	unsigned int count;
};

struct metric {
	const struct metric_labels *labels;	/* of the exposition; NULL: none */
	const char *also_name, *also_value;	/* one label more; constants; NULL: none */
	double value;
	struct metric_histogram *histogram;	/* owned; of a histogram */
};

struct metric_family {
	const char *name;	/* without the end that its type gives it */
	const char *unit;	/* the last word of name; "": none */
	const char *help;	/* a sentence without backslash, quote and line end */
	enum metric_type type;
	struct metric *metrics;	/* owned */
	size_t count, room;
};

#define METRIC_FAMILIES_MAX	32

struct metrics {
	struct metric_family families[METRIC_FAMILIES_MAX];
	unsigned int family_count;
	struct metric_labels **labels;		/* owned */
	size_t label_count, label_room;
	bool failed;		/* memory was short: not whole, not to be told */
};

/* Begin a family; the strings are constants. What is added then goes into it. */
void metrics_family(struct metrics *metrics, enum metric_type type, const char *name,
		    const char *unit, const char *help);

/* An empty set of labels; NULL where memory is short. Owned by metrics. */
struct metric_labels *metrics_labels(struct metrics *metrics);

/*
 * One label more; labels may be NULL. value is copied; bytes that are not UTF-8, as a
 * device's name may have them, become U+FFFD.
 */
void metrics_label(struct metrics *metrics, struct metric_labels *labels, const char *name,
		   const char *value);

/* A sample of the last family. */
void metrics_add(struct metrics *metrics, const struct metric_labels *labels, double value);

/* The same with one label more, both constants. */
void metrics_add_also(struct metrics *metrics, const struct metric_labels *labels,
		      const char *also_name, const char *also_value, double value);

/* A histogram (of ns; told in seconds) as a sample of the last family. */
void metrics_add_histogram(struct metrics *metrics, const struct metric_labels *labels,
			   const struct histogram *histogram);

/* Free all that metrics holds; it is empty then. */
void metrics_free(struct metrics *metrics);

#endif
