// SPDX-License-Identifier: GPL-2.0
/* Scenario files, and the bounds between what they set. */
#include "scenario_file.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct scenario scenario;
	struct error error;

	if (!scenario_file_parse(&scenario, (const char *)data, size, "fuzz", &error))
		scenario_check(&scenario, &error);
	return 0;
}
