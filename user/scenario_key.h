/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of a scenario: what a value may be, from text and to and from documents. */
#ifndef SOJOURN_SCENARIO_KEY_H
#define SOJOURN_SCENARIO_KEY_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"

struct cJSON;
struct json;

#define KEY_LOWER	"abcdefghijklmnopqrstuvwxyz0123456789"	/* what every KEY_WORD takes */

enum key_type {
	KEY_SECONDS,		/* __u64 ns, shown in seconds */
	KEY_WHOLE_SECONDS,	/* the same, without a fraction */
	KEY_TIME,		/* __u64 ns */
	KEY_UNIT_TIME,		/* the same, a plain number refused */
	KEY_RATE,		/* __u64 bit/s */
	KEY_SIZE,		/* __u64 bytes */
	KEY_COUNT,		/* unsigned int */
	KEY_PORT,		/* __u16 */
	KEY_WORD,		/* char array: max bytes with its NUL, of the letters */
	KEY_CHOICE,		/* an enum: the position in letters, "a|b|c" */
	KEY_BOOL,
	KEY_PATH,		/* char array of max bytes */
	KEY_DSCP,		/* unsigned int: a number or a name of RFC 2474, 2597, 3246 */
};

struct key {
	const char *name;
	const char *value;	/* default, as scenario_set() takes it */
	enum key_type type;
	size_t offset;		/* of the value in the structure that holds it */
	__u64 min;
	__u64 max;
	const char *letters;
	const char *help;
};

/* Set the value at that place from text. 0, or -1 and error (EXIT_USAGE) that says what it takes. */
int key_set(void *at, const struct key *key, const char *value, struct error *error);

/* The value as a document has it; the caller's. NULL: out of memory. */
struct cJSON *key_json(const void *value, const struct key *key);

/* Read it from a member of that name; absent: it stays. What is wrong is told by the reader. */
void key_from_json(void *value, const struct key *key, const struct json *object,
		   const char *name);

#endif
