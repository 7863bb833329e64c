// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static void shorten(struct error *error, int length)
{
	if (length >= (int)sizeof(error->text))
		memcpy(error->text + sizeof(error->text) - 4, "...", 4);
}

int error_set(struct error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return -1;
	error->code = code;
	va_start(arguments, format);
	shorten(error, vsnprintf(error->text, sizeof(error->text), format, arguments));
	va_end(arguments);
	return -1;
}

int error_set_errno(struct error *error, int code, const char *format, ...)
{
	const char *reason = strerror(errno);
	va_list arguments;
	int length;

	if (!error)
		return -1;
	error->code = code;
	va_start(arguments, format);
	length = vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	if (length < 0)
		length = 0;
	if (length < (int)sizeof(error->text))
		length += snprintf(error->text + length, sizeof(error->text) - length,
				   ": %s", reason);
	shorten(error, length);
	return -1;
}
