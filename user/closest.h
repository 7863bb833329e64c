/* SPDX-License-Identifier: GPL-2.0 */
/* The name that somebody may have meant. */
#ifndef SOJOURN_CLOSEST_H
#define SOJOURN_CLOSEST_H

#include <stddef.h>

/*
 * Edit distance: the fewest insertions, deletions, replacements and swaps of
 * two neighbours that turn a into b. Texts longer than 63 bytes are cut there.
 */
unsigned int closest_distance(const char *a, const char *b);

/* Whether b is near enough to a to be offered: a third of the longer text, and 2 edits at least. */
int closest_near(const char *a, const char *b);

/* Index of the nearest of count names that closest_near() accepts, or -1. */
int closest_name(const char *text, const char *const names[], size_t count);

#endif
