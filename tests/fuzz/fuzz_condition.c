// SPDX-License-Identifier: GPL-2.0
/* The conditions of --fail-if, of a run and of a comparison. */
#include <stdlib.h>
#include <string.h>

#include "expression.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = strndup((const char *)data, size), found[256];
	struct expression *expression;
	struct error error = { 0 };
	bool holds;

	if (!text)
		return 0;
	expression = expression_parse(text, &error);
	if (!expression && !error.text[0])
		abort();
	expression_free(expression);
	expression = expression_parse_change(text, &error);
	if (expression)
		expression_change_holds(expression, 1.5, 1e12, &holds, found, sizeof(found), &error);
	expression_free(expression);
	free(text);
	return 0;
}
