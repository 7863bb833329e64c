// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "closest.h"

#define LONGEST 63

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int closest_distance(const char *a, const char *b)
{
	unsigned int rows[3][LONGEST + 1];
	unsigned int *above = rows[0], *row = rows[1], *two_above = rows[2];
	size_t a_length = strnlen(a, LONGEST), b_length = strnlen(b, LONGEST);

	for (size_t j = 0; j <= b_length; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int *spare = two_above;

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(above[j], row[j - 1]) + 1;
			row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
		two_above = above;
		above = row;
		row = spare;
	}
	return above[b_length];
}

int closest_near(const char *a, const char *b)
{
	size_t a_length = strnlen(a, LONGEST), b_length = strnlen(b, LONGEST);
	unsigned int longer = a_length > b_length ? a_length : b_length;
	unsigned int limit = longer / 3 > 2 ? longer / 3 : 2;

	return closest_distance(a, b) <= limit;
}

int closest_name(const char *text, const char *const names[], size_t count)
{
	unsigned int best = ~0u;
	int found = -1;

	for (size_t i = 0; i < count; i++) {
		unsigned int distance = closest_distance(text, names[i]);

		if (distance < best && closest_near(text, names[i])) {
			best = distance;
			found = i;
		}
	}
	return found;
}
