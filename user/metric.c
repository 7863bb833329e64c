// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "metric.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

void metrics_family(struct metrics *metrics, enum metric_type type, const char *name,
		    const char *unit, const char *help)
{
	if (metrics->family_count == METRIC_FAMILIES_MAX) {
		metrics->failed = true;
		return;
	}
	metrics->families[metrics->family_count++] = (struct metric_family){
		.name = name, .unit = unit, .help = help, .type = type,
	};
}

struct metric_labels *metrics_labels(struct metrics *metrics)
{
	struct metric_labels **grown = array_grow(metrics->labels, metrics->label_count,
						  &metrics->label_room, sizeof(*grown));
	struct metric_labels *labels = calloc(1, sizeof(*labels));

	if (grown)
		metrics->labels = grown;
	if (!grown || !labels) {
		free(labels);
		metrics->failed = true;
		return NULL;
	}
	grown[metrics->label_count++] = labels;
	return labels;
}

/* Bytes of the UTF-8 character that text begins with; 0: it is none (RFC 3629, section 4). */
static unsigned int character_length(const unsigned char *text)
{
	unsigned int length, i;
	__u32 code;

	if (text[0] < 0x80)
		return 1;
	length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	code = text[0] & (0xff >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000))
		return 0;
	return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : length;
}

static char *copy_utf8(const char *value)
{
	char *copy = malloc(strlen(value) * strlen(REPLACEMENT) + 1), *end = copy;
	unsigned int length;

	while (copy && *value) {
		length = character_length((const unsigned char *)value);
		memcpy(end, length ? value : REPLACEMENT, length ? length : strlen(REPLACEMENT));
		end += length ? length : strlen(REPLACEMENT);
		value += length ? length : 1;
	}
	if (copy)
		*end = '\0';
	return copy;
}

void metrics_label(struct metrics *metrics, struct metric_labels *labels, const char *name,
		   const char *value)
{
	char *copy;

	if (!labels)
		return;
	copy = labels->count < METRIC_LABELS_MAX ? copy_utf8(value) : NULL;
	if (!copy) {
		metrics->failed = true;
		return;
	}
	labels->labels[labels->count++] = (struct metric_label){ name, copy };
}

static struct metric *add(struct metrics *metrics, const struct metric_labels *labels)
{
	struct metric_family *family = &metrics->families[metrics->family_count - 1];
	struct metric *grown = array_grow(family->metrics, family->count, &family->room,
					  sizeof(*grown));

	if (!grown) {
		metrics->failed = true;
		return NULL;
	}
	family->metrics = grown;
	grown += family->count++;
	*grown = (struct metric){ .labels = labels };
	return grown;
}

void metrics_add(struct metrics *metrics, const struct metric_labels *labels, double value)
{
	metrics_add_also(metrics, labels, NULL, NULL, value);
}

void metrics_add_also(struct metrics *metrics, const struct metric_labels *labels,
		      const char *also_name, const char *also_value, double value)
{
	struct metric *metric = add(metrics, labels);

	if (!metric)
		return;
	metric->also_name = also_name;
	metric->also_value = also_value;
	metric->value = value;
}

void metrics_add_histogram(struct metrics *metrics, const struct metric_labels *labels,
			   const struct histogram *histogram)
{
	struct metric_histogram *copy = metric_histogram_make(histogram);
	struct metric *metric = copy ? add(metrics, labels) : NULL;

	if (!metric) {
		free(copy);
		metrics->failed = true;
		return;
	}
	metric->histogram = copy;
}

void metrics_free(struct metrics *metrics)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < metrics->family_count; i++) {
		for (k = 0; k < metrics->families[i].count; k++)
			free(metrics->families[i].metrics[k].histogram);
		free(metrics->families[i].metrics);
	}
	for (k = 0; k < metrics->label_count; k++) {
		for (i = 0; i < metrics->labels[k]->count; i++)
			free(metrics->labels[k]->labels[i].value);
		free(metrics->labels[k]);
	}
	free(metrics->labels);
	memset(metrics, 0, sizeof(*metrics));
}
