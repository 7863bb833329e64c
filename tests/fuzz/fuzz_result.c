// SPDX-License-Identifier: GPL-2.0
/* A result document, and whoever prints what was read of it. */
#include <stdio.h>
#include <stdlib.h>

#include "in_json.h"
#include "out.h"
#include "out_flent.h"
#include "out_plots.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void print_all(const struct result *result)
{
	const struct plot_style style = { .width = 60 };
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	if (!file)
		return;
	out_text(result, file, false);
	out_plots(result, file, &style);
	fclose(file);
	free(text);
	free(out_json(result));
	free(out_flent_json(result, "fuzz"));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct error error = { 0 };
	struct result result;

	result_init(&result);
	if (!result_parse((const char *)data, size, "fuzz", &result, &error))
		print_all(&result);
	else if (!error.code || !error.text[0])
		abort();
	result_free(&result);
	return 0;
}
