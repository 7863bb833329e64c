// SPDX-License-Identifier: GPL-2.0
/* The state file of a lab: what is taken gives the same text again. */
#include <stdlib.h>
#include <string.h>

#include "lab_state.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = strndup((const char *)data, size), again[LAB_STATE_TEXT];
	struct lab_state state;

	if (text && !lab_state_parse(&state, text) &&
	    (lab_state_format(&state, again) || strcmp(text, again)))
		abort();
	free(text);
	return 0;
}
