// SPDX-License-Identifier: GPL-2.0
/* What ping prints. */
#include <stddef.h>

#include "ping.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct ping_result result;
	struct error error;

	ping_parse((const char *)data, size, &result, &error);
	ping_result_free(&result);
	return 0;
}
