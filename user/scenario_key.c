// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dscp.h"
#include "iperf3.h"
#include "json_read.h"
#include "scenario_key.h"
#include "units.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SECOND		1000000000ull

static bool is_time(const struct key *key)
{
	return key->type <= KEY_UNIT_TIME;
}

/* A bound as a person writes it. */
static const char *bound_text(const struct key *key, __u64 value, char text[UNITS_TEXT])
{
	if (is_time(key))
		return units_time_text(value, text);
	if (key->type == KEY_RATE)
		return units_rate_text(value, text);
	snprintf(text, UNITS_TEXT, "%llu%s", (unsigned long long)value,
		 key->type == KEY_SIZE ? " bytes" : "");
	return text;
}

static int out_of_bounds(const struct key *key, const char *value, struct error *error)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	return error_set(error, EXIT_USAGE, "%s=%s is out of bounds: it takes %s to %s", key->name,
			 value, bound_text(key, key->min, low), bound_text(key, key->max, high));
}

static int parse_number(const struct key *key, const char *value, __u64 *number,
			struct error *error)
{
	struct error inner = { 0 };
	int failed;

	if (is_time(key))
		failed = units_parse_time(value, number, &inner);
	else if (key->type == KEY_RATE)
		failed = units_parse_rate(value, number, &inner);
	else if (key->type == KEY_SIZE)
		failed = units_parse_size(value, number, &inner);
	else
		failed = units_parse_count(value, number, &inner);
	if (failed)
		return error_set(error, EXIT_USAGE, "%s: %s", key->name, inner.text);
	return 0;
}

static int set_number(void *at, const struct key *key, const char *value, struct error *error)
{
	__u64 number;

	if (parse_number(key, value, &number, error))
		return -1;
	if (key->type == KEY_UNIT_TIME && isdigit((unsigned char)value[strlen(value) - 1]))
		return error_set(error, EXIT_USAGE,
				 "%s=%s has no unit (tc would take microseconds): write it like 400ms",
				 key->name, value);
	if (number < key->min || number > key->max)
		return out_of_bounds(key, value, error);
	if (key->type == KEY_WHOLE_SECONDS && number % SECOND)
		return error_set(error, EXIT_USAGE,
				 "%s=%s is no whole number of seconds, and iperf3 takes no other: write it like 15",
				 key->name, value);
	if (key->type == KEY_COUNT)
		*(unsigned int *)at = number;
	else if (key->type == KEY_PORT)
		*(__u16 *)at = number;
	else
		*(__u64 *)at = number;
	return 0;
}

static int set_word(void *at, const struct key *key, const char *value, struct error *error)
{
	size_t length = strlen(value);

	if (!length || length >= key->max || strspn(value, key->letters) != length)
		return error_set(error, EXIT_USAGE,
				 "%s=%s cannot be: it takes 1 to %llu of the letters a-z, digits and \"%s\"",
				 key->name, value, (unsigned long long)key->max - 1,
				 key->letters + strlen(KEY_LOWER));
	memcpy(at, value, length + 1);
	return 0;
}

/* The position of value in "a|b|c", or -1. */
static int choice(const char *list, const char *value)
{
	size_t length = strlen(value);

	for (int i = 0; *list; i++) {
		size_t part = strcspn(list, "|");

		if (part == length && !memcmp(list, value, length))
			return i;
		list += part + (list[part] == '|');
	}
	return -1;
}

static int set_choice(void *at, const struct key *key, const char *value, struct error *error)
{
	static const char *const falses[] = { "false", "no", "off", "0" };
	static const char *const trues[] = { "true", "yes", "on", "1" };
	int position;

	if (key->type == KEY_BOOL) {
		for (size_t i = 0; i < COUNT(trues); i++) {
			bool yes = !strcmp(value, trues[i]);

			if (!yes && strcmp(value, falses[i]))
				continue;
			*(bool *)at = yes;
			return 0;
		}
		return error_set(error, EXIT_USAGE, "%s=%s cannot be: it takes true or false",
				 key->name, value);
	}
	position = choice(key->letters, value);
	if (position < 0)
		return error_set(error, EXIT_USAGE, "%s=%s cannot be: it takes one of %s",
				 key->name, value, key->letters);
	*(unsigned int *)at = position;
	return 0;
}

_Static_assert(sizeof(enum load_proto) == sizeof(unsigned int) &&
	       sizeof(enum load_direction) == sizeof(unsigned int),
	       "KEY_CHOICE writes an unsigned int");

static int set_path(void *at, const struct key *key, const char *value, struct error *error)
{
	size_t length = strlen(value);

	for (size_t i = 0; i < length; i++) {
		if (iscntrl((unsigned char)value[i]))
			return error_set(error, EXIT_USAGE, "%s has a control character", key->name);
	}
	if (length >= key->max)
		return error_set(error, EXIT_USAGE, "%s is longer than %llu bytes", key->name,
				 (unsigned long long)key->max - 1);
	memcpy(at, value, length + 1);
	return 0;
}

static int set_dscp(void *at, const struct key *key, const char *value, struct error *error)
{
	struct error inner;
	__u64 number;

	/* RFC 2474 */
	if (dscp_named(value, at))
		return 0;
	if (units_parse_count(value, &number, &inner) || number > key->max)
		return error_set(error, EXIT_USAGE,
				 "%s=%s cannot be: it takes 0 to 63, or a name as ef, cs1, af41",
				 key->name, value);
	*(unsigned int *)at = number;
	return 0;
}

int key_set(void *at, const struct key *key, const char *value, struct error *error)
{
	if (key->type == KEY_PATH)
		return set_path(at, key, value, error);
	if (key->type == KEY_DSCP)
		return set_dscp(at, key, value, error);
	if (key->type == KEY_WORD)
		return set_word(at, key, value, error);
	if (key->type == KEY_CHOICE || key->type == KEY_BOOL)
		return set_choice(at, key, value, error);
	return set_number(at, key, value, error);
}

static cJSON *choice_json(const struct key *key, unsigned int position)
{
	const char *list = key->letters;
	char word[32];

	while (position--)
		list += strcspn(list, "|") + 1;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(list, "|"), list);
	return cJSON_CreateString(word);
}

struct cJSON *key_json(const void *value, const struct key *key)
{
	switch (key->type) {
	case KEY_SECONDS:
	case KEY_WHOLE_SECONDS:
		return cJSON_CreateNumber(*(const __u64 *)value / (double)SECOND);
	case KEY_COUNT:
	case KEY_DSCP:
		return cJSON_CreateNumber(*(const unsigned int *)value);
	case KEY_PORT:
		return cJSON_CreateNumber(*(const __u16 *)value);
	case KEY_WORD:
	case KEY_PATH:
		return cJSON_CreateString(value);
	case KEY_CHOICE:
		return choice_json(key, *(const unsigned int *)value);
	case KEY_BOOL:
		return cJSON_CreateBool(*(const bool *)value);
	default:
		return cJSON_CreateNumber(*(const __u64 *)value);
	}
}

static void word_from_json(const struct json *object, const char *name, const struct key *key, char *value)
{
	json_text(object, name, value, key->max);
	if (strspn(value, key->letters) != strlen(value)) {
		struct json member = json_member(object, name);

		json_fail(&member, "has characters that it cannot have");
	}
}

static void choice_from_json(const struct json *object, const char *name, const struct key *key, unsigned int *value)
{
	struct json member = json_member(object, name);
	const char *text = json_string(&member);
	int position = text ? choice(key->letters, text) : (int)*value;

	if (position < 0)
		json_fail(&member, "is none of %s", key->letters);
	else
		*value = position;
}

static void seconds_from_json(const struct json *object, const char *name, const struct key *key, __u64 *value)
{
	double seconds = *value / (double)SECOND;

	json_double(object, name, &seconds);
	if (seconds >= 0 && seconds <= key->max / (double)SECOND) {
		*value = (__u64)(seconds * SECOND + 0.5);
	} else {
		struct json member = json_member(object, name);

		json_fail(&member, "is out of bounds");
	}
}

void key_from_json(void *value, const struct key *key, const struct json *object, const char *name)
{
	__u64 number = 0;

	switch (key->type) {
	case KEY_SECONDS:
	case KEY_WHOLE_SECONDS:
		seconds_from_json(object, name, key, value);
		break;
	case KEY_COUNT:
	case KEY_DSCP:
		json_u32(object, name, key->max, value);
		break;
	case KEY_PORT:
		number = *(__u16 *)value;
		json_u64(object, name, key->max, &number);
		*(__u16 *)value = number;
		break;
	case KEY_WORD:
		word_from_json(object, name, key, value);
		break;
	case KEY_PATH:
		json_text(object, name, value, key->max);
		break;
	case KEY_CHOICE:
		choice_from_json(object, name, key, value);
		break;
	case KEY_BOOL:
		json_bool(object, name, value);
		break;
	default:
		json_u64(object, name, key->max, value);
	}
}
