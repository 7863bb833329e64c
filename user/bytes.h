/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes that grow at their end. */
#ifndef SOJOURN_BYTES_H
#define SOJOURN_BYTES_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
	char *data;		/* owned; NULL while there are none */
	size_t length, room;
	bool failed;		/* memory was short: what is there is not whole */
};

void bytes_add(struct bytes *bytes, const void *data, size_t length);
void bytes_add_text(struct bytes *bytes, const char *text);
/* At most 255 characters. */
void bytes_add_format(struct bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* None, their room kept. */
void bytes_empty(struct bytes *bytes);

/* Free what bytes holds; it is empty then. */
void bytes_free(struct bytes *bytes);

/* from as a gzip file behind into. 0, or -1 where memory is short: into is marked as failed. */
int bytes_add_gzip(struct bytes *into, const struct bytes *from);

#endif
