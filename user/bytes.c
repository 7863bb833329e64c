// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"

#define FORMAT_SIZE	256
#define GZIP_WINDOW	(15 + 16)	/* deflateInit2(): 16 more than the window's bits is gzip */

static bool make_room(struct bytes *bytes, size_t length)
{
	size_t room = bytes->room ? bytes->room : 256;
	char *data;

	if (bytes->failed)
		return false;
	if (bytes->room - bytes->length >= length)
		return true;
	while (room - bytes->length < length)
		room *= 2;
	data = realloc(bytes->data, room);
	if (!data) {
		bytes->failed = true;
		return false;
	}
	bytes->data = data;
	bytes->room = room;
	return true;
}

void bytes_add(struct bytes *bytes, const void *data, size_t length)
{
	if (!length || !make_room(bytes, length))
		return;
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

void bytes_add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

void bytes_add_format(struct bytes *bytes, const char *format, ...)
{
	char text[FORMAT_SIZE];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(text))
		bytes->failed = true;
	else
		bytes_add(bytes, text, (size_t)length);
}

void bytes_empty(struct bytes *bytes)
{
	bytes->length = 0;
	bytes->failed = false;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}

int bytes_add_gzip(struct bytes *into, const struct bytes *from)
{
	z_stream stream = { 0 };
	int status;

	if (from->failed || deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
					 Z_DEFAULT_STRATEGY) != Z_OK) {
		into->failed = true;
		return -1;
	}
	if (make_room(into, deflateBound(&stream, from->length))) {
		stream.next_in = (Bytef *)from->data;
		stream.avail_in = (uInt)from->length;
		stream.next_out = (Bytef *)into->data + into->length;
		stream.avail_out = (uInt)(into->room - into->length);
		status = deflate(&stream, Z_FINISH);
		if (status == Z_STREAM_END)
			into->length += stream.total_out;
		else
			into->failed = true;
	}
	deflateEnd(&stream);
	return into->failed ? -1 : 0;
}
