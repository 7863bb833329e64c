// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "array.h"

void *array_grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *larger;

	if (count < *room)
		return array;
	larger = reallocarray(array, more, size);
	if (larger)
		*room = more;
	return larger;
}
