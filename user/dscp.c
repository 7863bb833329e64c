// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>

#include "dscp.h"

static bool is_digit(char c, char least, char most)
{
	return c >= least && c <= most;
}

bool dscp_named(const char *name, unsigned int *dscp)
{
	static const struct {
		const char *name;
		unsigned int dscp;
	} names[] = { { "ef", 46 }, { "va", 44 }, { "le", 1 } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i].name, name)) {
			*dscp = names[i].dscp;
			return true;
		}
	}
	if (!strncmp(name, "cs", 2) && is_digit(name[2], '0', '7') && !name[3]) {
		*dscp = (name[2] - '0') * 8;
		return true;
	}
	if (!strncmp(name, "af", 2) && is_digit(name[2], '1', '4') &&
	    is_digit(name[3], '1', '3') && !name[4]) {
		*dscp = (name[2] - '0') * 8 + (name[3] - '0') * 2;
		return true;
	}
	return false;
}
