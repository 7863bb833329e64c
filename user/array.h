/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow element by element. */
#ifndef SOJOURN_ARRAY_H
#define SOJOURN_ARRAY_H

#include <stddef.h>

/*
 * Room for one more element behind the count ones of size bytes that array holds.
 * *room is how many it has room for; array NULL and *room 0 at first. Returns the array,
 * which may have moved, or NULL (errno is ENOMEM) where memory is short: array then stays
 * as it is. What is new is not cleared. The caller frees it. Doubles, so that n elements
 * cost O(n).
 */
void *array_grow(void *array, size_t count, size_t *room, size_t size);

#endif
