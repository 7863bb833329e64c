/* SPDX-License-Identifier: GPL-2.0 */
/* Text that grows in a buffer of fixed size. */
#ifndef SOJOURN_TEXT_H
#define SOJOURN_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
	char *buffer;		/* the caller's; always ended by a null byte */
	size_t size;		/* of it, bytes */
	size_t used;		/* below size; the null byte is not in it */
};

/* An empty text in buffer; one of size 0 is not written to, and takes nothing. */
struct text text_begin(char *buffer, size_t size);

/* Add formatted text behind what is there; what finds no room is cut off. */
void text_add(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void text_add_list(struct text *text, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

/* Take off the last character (UTF-8) where only a part of its bytes was not cut off. */
void text_end_at_character(char *text);

#endif
