/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a JSON document that nobody vouches for: each value is checked for its type and
 * bounds, and what is wrong is told by its place ("phases[2].probes.sent"). The first
 * thing that is wrong ends the reading: whatever is asked afterwards leaves its value as
 * it is.
 */
#ifndef SOJOURN_JSON_READ_H
#define SOJOURN_JSON_READ_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct cJSON;

/* Integers of a document are exact up to here: cJSON keeps numbers as doubles. */
#define JSON_WHOLE_MAX	(1ULL << 53)

struct json_reader {
	const char *name;	/* of the document, for messages */
	struct error *error;
	bool failed;
};

/* A value and its place. Lives on the stack of who reads it; above outlives it. */
struct json {
	struct json_reader *reader;
	const struct json *above;	/* NULL: the document */
	const char *name;		/* as a member; NULL: an element */
	size_t index;			/* as an element */
	const struct cJSON *item;	/* NULL: absent, or null */
};

/*
 * Parse text of length bytes, which need not end with a null byte, and begin to read it. The
 * document is the caller's to free with cJSON_Delete(). NULL and reader's error (EXIT_USAGE)
 * with line and column where it is no JSON, or no object.
 */
struct cJSON *json_parse(struct json_reader *reader, struct json *root, const char *text,
			 size_t length);

/* "NAME: PLACE TEXT" as reader's error (EXIT_USAGE), unless something failed before. */
void json_fail(const struct json *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A member of an object; item NULL where it is absent or null. */
struct json json_member(const struct json *object, const char *name);

/* The same; it is an error where it is absent or null. */
struct json json_needed(const struct json *object, const char *name);

/* How many elements an array has; 0 where it is absent; an error beyond most. */
size_t json_count(const struct json *array, size_t most);

/* First element of an array, and the one behind another; item NULL: there is none (more). */
struct json json_first(const struct json *array);
struct json json_next(const struct json *element);

/* Whole numbers from 0 to most; absent or null: *value stays. */
void json_u64(const struct json *object, const char *name, __u64 most, __u64 *value);
void json_u32(const struct json *object, const char *name, __u64 most, __u32 *value);
void json_s64(const struct json *object, const char *name, __s64 *value);

/* Any number that is finite. */
void json_double(const struct json *object, const char *name, double *value);
void json_bool(const struct json *object, const char *name, bool *value);

/* Text of fewer than size bytes, without control characters. */
void json_text(const struct json *object, const char *name, char *text, size_t size);

/* The text itself, as json_text() checks it, owned by the document; NULL: absent, or wrong. */
const char *json_string(const struct json *value);

/* The value itself as a whole number; 0 where it is none, which is an error. */
__u64 json_whole(const struct json *value, __u64 most);

/* Position of the value, a text, in words (NULL at the end); an error that names them. */
unsigned int json_word(const struct json *value, const char *const words[]);

#endif
