// SPDX-License-Identifier: GPL-2.0
/* Suite files. */
#include "suite.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct suite suite;
	struct error error;

	suite_parse(&suite, (const char *)data, size, "fuzz", &error);
	suite_free(&suite);
	return 0;
}
