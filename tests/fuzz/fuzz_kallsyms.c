// SPDX-License-Identifier: GPL-2.0
/* Texts in the format of /proc/kallsyms: what is found stands in the text. */
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

#define LOOK_UPS	64	/* each walks over all names */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void find(const struct kallsyms *symbols, __u64 address, const char *text, size_t size)
{
	struct kallsyms_symbol symbol;

	if (!kallsyms_find(symbols, address, &symbol))
		return;
	if (!memmem(text, size, symbol.name, strlen(symbol.name)) ||
	    !memmem(text, size, symbol.module, strlen(symbol.module)))
		abort();
}

/* Whatever the first lines begin with, and what no function has for its address. */
static void find_all(const struct kallsyms *symbols, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	char number[17];

	find(symbols, 0, text, size);
	find(symbols, ~0ULL, text, size);
	for (int i = 0; i < LOOK_UPS && at; i++) {
		size_t length = end - at < 16 ? (size_t)(end - at) : 16;

		memcpy(number, at, length);
		number[length] = '\0';
		find(symbols, strtoull(number, NULL, 16), text, size);
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const char *text = (const char *)data;
	struct error error = { 0 };
	struct kallsyms *symbols = kallsyms_parse(text, size, &error);

	if (symbols)
		find_all(symbols, text, size);
	else if (!error.code || !error.text[0])
		abort();
	kallsyms_free(symbols);
	return 0;
}
