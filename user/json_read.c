// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json_read.h"
#include "text.h"

#define PLACE_TEXT	160
#define DEPTH_MAX	16

/* ---- places and errors ---- */

static void add_place(struct text *text, const struct json *at)
{
	const struct json *way[DEPTH_MAX];
	unsigned int depth = 0;

	for (; at && at->above && depth < DEPTH_MAX; at = at->above)
		way[depth++] = at;
	while (depth--) {
		if (way[depth]->name)
			text_add(text, "%s%s", text->used ? "." : "", way[depth]->name);
		else
			text_add(text, "[%zu]", way[depth]->index);
	}
}

void json_fail(const struct json *at, const char *format, ...)
{
	char place[PLACE_TEXT], what[PLACE_TEXT];
	struct text text = text_begin(place, sizeof(place));
	va_list arguments;

	if (at->reader->failed)
		return;
	at->reader->failed = true;
	add_place(&text, at);
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	error_set(at->reader->error, EXIT_USAGE, "%s: %s%s%s", at->reader->name, place,
		  *place ? " " : "", what);
}

/* Where in text the parser stopped. */
static void fail_syntax(struct json_reader *reader, const char *text, size_t length,
			const char *end)
{
	size_t at = end && end >= text && end <= text + length ? (size_t)(end - text) : length;
	size_t line = 1, column = 1, i;

	for (i = 0; i < at; i++) {
		column++;
		if (text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	reader->failed = true;
	error_set(reader->error, EXIT_USAGE, "%s:%zu:%zu: no JSON%s", reader->name, line, column,
		  at >= length ? ": it ends here, cut short" : "");
}

struct cJSON *json_parse(struct json_reader *reader, struct json *root, const char *text,
			 size_t length)
{
	const char *end = NULL;
	cJSON *document = cJSON_ParseWithLengthOpts(text, length, &end, false);

	*root = (struct json){ .reader = reader, .item = document };
	if (!document) {
		fail_syntax(reader, text, length, end);
		return NULL;
	}
	if (!cJSON_IsObject(document)) {
		json_fail(root, "the document is no object");
		cJSON_Delete(document);
		return NULL;
	}
	return document;
}

/* ---- the way down ---- */

struct json json_member(const struct json *object, const char *name)
{
	struct json member = { .reader = object->reader, .above = object, .name = name };

	if (object->reader->failed || !object->item)
		return member;
	if (!cJSON_IsObject(object->item)) {
		json_fail(object, "is no object");
		return member;
	}
	member.item = cJSON_GetObjectItemCaseSensitive(object->item, name);
	if (cJSON_IsNull(member.item))
		member.item = NULL;
	return member;
}

struct json json_needed(const struct json *object, const char *name)
{
	struct json member = json_member(object, name);

	if (!member.item)
		json_fail(&member, "is missing");
	return member;
}

size_t json_count(const struct json *array, size_t most)
{
	size_t count = 0;
	const cJSON *item;

	if (array->reader->failed || !array->item)
		return 0;
	if (!cJSON_IsArray(array->item)) {
		json_fail(array, "is no array");
		return 0;
	}
	cJSON_ArrayForEach(item, array->item)
		count++;
	if (count > most) {
		json_fail(array, "has %zu elements: %zu are the most", count, most);
		return 0;
	}
	return count;
}

static struct json element(const struct json *array, const cJSON *item, size_t index)
{
	struct json element = { .reader = array->reader, .above = array, .index = index };

	if (!array->reader->failed)
		element.item = item;
	return element;
}

struct json json_first(const struct json *array)
{
	return element(array, cJSON_IsArray(array->item) ? array->item->child : NULL, 0);
}

struct json json_next(const struct json *before)
{
	return element(before->above, before->item ? before->item->next : NULL,
		       before->index + 1);
}

/* ---- values ---- */

static bool is_whole(const struct json *value, double low, double high)
{
	return cJSON_IsNumber(value->item) && isfinite(value->item->valuedouble) &&
	       value->item->valuedouble >= low && value->item->valuedouble <= high &&
	       floor(value->item->valuedouble) == value->item->valuedouble;
}

/* To be read, or left as it is? */
static bool is_there(const struct json *value)
{
	return !value->reader->failed && value->item;
}

__u64 json_whole(const struct json *value, __u64 most)
{
	if (!is_there(value))
		return 0;
	if (is_whole(value, 0, (double)most))
		return (__u64)value->item->valuedouble;
	json_fail(value, "is no whole number from 0 to %llu", most);
	return 0;
}

void json_u64(const struct json *object, const char *name, __u64 most, __u64 *value)
{
	struct json member = json_member(object, name);
	__u64 read = json_whole(&member, most);

	if (is_there(&member))
		*value = read;
}

void json_u32(const struct json *object, const char *name, __u64 most, __u32 *value)
{
	__u64 read = *value;

	json_u64(object, name, most, &read);
	*value = (__u32)read;
}

void json_s64(const struct json *object, const char *name, __s64 *value)
{
	struct json member = json_member(object, name);

	if (!is_there(&member))
		return;
	if (is_whole(&member, -(double)JSON_WHOLE_MAX, (double)JSON_WHOLE_MAX))
		*value = (__s64)member.item->valuedouble;
	else
		json_fail(&member, "is no whole number");
}

void json_double(const struct json *object, const char *name, double *value)
{
	struct json member = json_member(object, name);

	if (!is_there(&member))
		return;
	if (cJSON_IsNumber(member.item) && isfinite(member.item->valuedouble))
		*value = member.item->valuedouble;
	else
		json_fail(&member, "is no number");
}

void json_bool(const struct json *object, const char *name, bool *value)
{
	struct json member = json_member(object, name);

	if (!is_there(&member))
		return;
	if (cJSON_IsBool(member.item))
		*value = cJSON_IsTrue(member.item);
	else
		json_fail(&member, "is neither true nor false");
}

/* A terminal would do what they say. */
static bool has_control_characters(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

const char *json_string(const struct json *value)
{
	if (!is_there(value))
		return NULL;
	if (!cJSON_IsString(value->item))
		json_fail(value, "is no text");
	else if (has_control_characters(value->item->valuestring))
		json_fail(value, "has a control character");
	else
		return value->item->valuestring;
	return NULL;
}

void json_text(const struct json *object, const char *name, char *text, size_t size)
{
	struct json member = json_member(object, name);
	const char *read = json_string(&member);

	if (!read)
		return;
	if (strlen(read) >= size)
		json_fail(&member, "is too long: %zu bytes are the most", size - 1);
	else
		memcpy(text, read, strlen(read) + 1);
}

unsigned int json_word(const struct json *value, const char *const words[])
{
	const char *read = json_string(value);
	char known[PLACE_TEXT];
	struct text text = text_begin(known, sizeof(known));
	unsigned int i;

	if (!read)
		return 0;
	for (i = 0; words[i]; i++) {
		if (!strcmp(words[i], read))
			return i;
		text_add(&text, "%s%s", i ? ", " : "", words[i]);
	}
	json_fail(value, "is none of: %s", known);
	return 0;
}
