// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "accept.h"

/* A part of a header; not ended by a null byte. */
struct span {
	const char *begin;
	size_t length;
};

#define PARAMETERS_MAX	8

struct parameter {
	struct span name, value;
};

/* "type/subtype;name=value;q=0.5", or a coding. */
struct element {
	struct span name;
	struct parameter parameters[PARAMETERS_MAX];
	unsigned int count;
	unsigned int q;		/* thousandths */
};

struct format_name {
	const char *type;		/* Content-Type */
	const char *range, *major;	/* what may name it */
	/* Parameters that must be so where they are. */
	struct { const char *name, *value; } needs[2];
};

static const struct format_name formats[EXPOSITION_FORMATS] = {
	[FORMAT_TEXT] = {
		"text/plain; version=0.0.4; charset=utf-8", "text/plain", "text/*",
		{ { "version", "0.0.4" } },
	},
	[FORMAT_OPENMETRICS] = {
		"application/openmetrics-text; version=1.0.0; charset=utf-8",
		"application/openmetrics-text", "application/*", { { "version", "1.0.0" } },
	},
	[FORMAT_PROTOBUF] = {
		"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited",
		"application/vnd.google.protobuf", "application/*",
		{ { "proto", "io.prometheus.client.MetricFamily" }, { "encoding", "delimited" } },
	},
};

const char *accept_type(enum exposition_format format)
{
	return formats[format].type;
}

static struct span trim(const char *begin, const char *end)
{
	while (begin < end && (*begin == ' ' || *begin == '\t'))
		begin++;
	while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct span){ begin, (size_t)(end - begin) };
}

static bool is(struct span span, const char *text)
{
	return span.length == strlen(text) && !strncasecmp(span.begin, text, span.length);
}

/* Up to one of the characters in ends that is in no quoted string. */
static const char *find_end(const char *text, const char *ends)
{
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && strchr(ends, *text))
			break;
	}
	return text;
}

/* "1", "0.5", "0.333": thousandths; what is none counts as 0, for it cannot be meant as a wish. */
static unsigned int parse_q(struct span value)
{
	unsigned int q, scale = 100;

	if (!value.length || (value.begin[0] != '0' && value.begin[0] != '1'))
		return 0;
	q = value.begin[0] == '1' ? 1000 : 0;
	if (value.length > 5 || (value.length > 1 && value.begin[1] != '.'))
		return 0;
	for (size_t i = 2; i < value.length; i++, scale /= 10) {
		if (!isdigit((unsigned char)value.begin[i]))
			return 0;
		q += (unsigned int)(value.begin[i] - '0') * scale;
	}
	return q > 1000 ? 0 : q;
}

static void add_parameter(struct element *element, struct span text)
{
	const char *end = text.begin + text.length;
	const char *equals = memchr(text.begin, '=', text.length);
	struct parameter parameter;

	if (!equals)
		return;
	parameter.name = trim(text.begin, equals);
	parameter.value = trim(equals + 1, end);
	if (parameter.value.length >= 2 && parameter.value.begin[0] == '"' &&
	    parameter.value.begin[parameter.value.length - 1] == '"') {
		parameter.value.begin++;
		parameter.value.length -= 2;
	}
	if (is(parameter.name, "q"))
		element->q = parse_q(parameter.value);
	else if (element->count < PARAMETERS_MAX)
		element->parameters[element->count++] = parameter;
}

/* The next element of a list; *text is behind it then. False: that was all. */
static bool next_element(const char **text, struct element *element)
{
	const char *begin = *text, *end;

	if (!*begin)
		return false;
	*element = (struct element){ .q = 1000 };
	end = find_end(begin, ",;");
	element->name = trim(begin, end);
	while (*end == ';') {
		begin = end + 1;
		end = find_end(begin, ",;");
		add_parameter(element, trim(begin, end));
	}
	*text = *end ? end + 1 : end;
	return true;
}

/* A parameter that we do not know (charset, escaping) is taken as if it were not there. */
static bool fits_parameters(const struct format_name *format, const struct element *element,
			    unsigned int *named)
{
	for (unsigned int i = 0; i < element->count; i++) {
		for (unsigned int k = 0; k < 2 && format->needs[k].name; k++) {
			if (!is(element->parameters[i].name, format->needs[k].name))
				continue;
			if (!is(element->parameters[i].value, format->needs[k].value))
				return false;
			(*named)++;
		}
	}
	return true;
}

/* How closely the element names the format; 0: not at all. */
static unsigned int closeness(const struct format_name *format, const struct element *element)
{
	unsigned int named = 0;

	if (is(element->name, "*/*"))
		return 1;
	if (is(element->name, format->major))
		return 2;
	if (!is(element->name, format->range) || !fits_parameters(format, element, &named))
		return 0;
	return 3 + named;
}

enum exposition_format accept_format(const char *header)
{
	unsigned int closest[EXPOSITION_FORMATS] = { 0 }, q[EXPOSITION_FORMATS] = { 0 };
	unsigned int place[EXPOSITION_FORMATS] = { 0 }, position = 0, close, i;
	enum exposition_format best = FORMAT_TEXT;
	struct element element;

	while (header && next_element(&header, &element)) {
		position++;
		for (i = 0; i < EXPOSITION_FORMATS; i++) {
			close = closeness(&formats[i], &element);
			if (close <= closest[i])
				continue;
			closest[i] = close;
			q[i] = element.q;
			place[i] = position;
		}
	}
	for (i = 1; i < EXPOSITION_FORMATS; i++)
		if (q[i] > q[best] || (q[i] && q[i] == q[best] && place[i] < place[best]))
			best = i;
	return best;
}

bool accept_gzip(const char *header)
{
	bool named = false, taken = false;
	struct element element;

	while (header && next_element(&header, &element)) {
		if (is(element.name, "gzip") || is(element.name, "x-gzip")) {
			named = true;
			taken = element.q > 0;
		} else if (!named && is(element.name, "*")) {
			taken = element.q > 0;
		}
	}
	return taken;
}
