// SPDX-License-Identifier: GPL-2.0
/* What iperf3 -J prints. */
#include <stdlib.h>

#include "iperf3.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct iperf3_result result;
	struct error error = { 0 };

	if (iperf3_parse((const char *)data, size, &result, &error) && !error.text[0])
		abort();
	iperf3_result_free(&result);
	return 0;
}
