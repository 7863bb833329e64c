// SPDX-License-Identifier: GPL-2.0
/* Rates, sizes, times and counts, and assignments of a scenario. */
#include <stdlib.h>
#include <string.h>

#include "scenario.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct scenario scenario;
	struct error error;
	__u64 value;

	if (!text)
		return 0;
	units_parse_rate(text, &value, &error);
	units_parse_size(text, &value, &error);
	units_parse_time(text, &value, &error);
	units_parse_count(text, &value, &error);
	if (!scenario_named(&scenario, "office", &error) &&
	    !scenario_set(&scenario, text, &error))
		scenario_check(&scenario, &error);
	free(text);
	return 0;
}
