// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "read_file.h"

#define READ_AT_ONCE	65536

char *read_file(int fd, size_t most, size_t *length)
{
	char *text = NULL, *grown;
	size_t size = 0;
	ssize_t got;

	*length = 0;
	for (;;) {
		if (size - *length < READ_AT_ONCE + 1) {
			size = size ? 2 * size : 4 * READ_AT_ONCE;
			grown = realloc(text, size);
			if (!grown)
				break;
			text = grown;
		}
		got = read(fd, text + *length, READ_AT_ONCE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		*length += (size_t)got;
		if (*length > most) {
			errno = EFBIG;
			break;
		}
		if (!got) {
			text[*length] = '\0';
			return text;
		}
	}
	free(text);
	return NULL;
}
