// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "text.h"

struct text text_begin(char *buffer, size_t size)
{
	if (size)
		buffer[0] = '\0';
	return (struct text){ buffer, size, 0 };
}

void text_add_list(struct text *text, const char *format, va_list arguments)
{
	int length;

	if (text->used + 1 >= text->size)
		return;
	length = vsnprintf(text->buffer + text->used, text->size - text->used, format, arguments);
	if (length > 0)
		text->used += (size_t)length;
	if (text->used >= text->size)
		text->used = text->size - 1;
}

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_add_list(text, format, arguments);
	va_end(arguments);
}

/* Bytes of the character that begins with this one; 1 where none does. */
static size_t character_length(unsigned char first)
{
	return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

void text_end_at_character(char *text)
{
	size_t length = strlen(text), begin = length;

	while (begin && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
		begin--;
	if (begin && character_length((unsigned char)text[begin - 1]) > length - begin + 1)
		text[begin - 1] = '\0';
}
