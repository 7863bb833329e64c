// SPDX-License-Identifier: GPL-2.0
/* Accept and Accept-Encoding of a scrape, and an address to listen at. */
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "listen_address.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct listen_address address;
	struct error error = { 0 };

	if (!text)
		return 0;
	if (accept_format(text) >= EXPOSITION_FORMATS)
		abort();
	accept_gzip(text);
	if (listen_address_parse(text, &address, &error) ? !error.text[0] : !address.text[0])
		abort();
	free(text);
	return 0;
}
