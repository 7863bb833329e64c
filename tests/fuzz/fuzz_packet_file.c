// SPDX-License-Identifier: GPL-2.0
/* The file of `sojourn trace`: read at once and in pieces it is the same, and it is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packet_file.h"
#include "packet_print.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* What a sink was given. */
struct seen {
	__u64 blocks, records, packets;
};

static int see_header(void *context, const struct packet_file_header *header,
		      struct error *error)
{
	struct seen *seen = context;

	(void)header;
	(void)error;
	seen->blocks++;
	return 0;
}

static int see_packets(void *context, const struct packet_event *packets, unsigned int count,
		       struct error *error)
{
	struct seen *seen = context;

	(void)error;
	seen->blocks++;
	seen->records += count;
	for (unsigned int i = 0; i < count; i++)
		seen->packets += packets[i].packets;
	return 0;
}

static int see_trailer(void *context, const struct packet_trailer *trailer,
		       const struct packet_loss *losses, struct error *error)
{
	struct seen *seen = context;

	(void)error;
	seen->blocks++;
	for (__u32 i = 0; i < trailer->loss_count; i++)
		seen->records += losses[i].value;
	return 0;
}

/* The bytes come in pieces of that size. Whether they are whole, and why not, is in error. */
static void decode(const struct packet_sink *sink, const char *bytes, size_t size, size_t piece,
		   struct error *error)
{
	struct packet_decoder *decoder = packet_decoder_open(sink);
	size_t come = 0, taken = 0, used;
	int failed = 0;

	*error = (struct error){ 0 };
	if (!decoder)
		return;
	while (!failed && come < size) {
		come = size - come < piece ? size : come + piece;
		failed = packet_decode(decoder, bytes + taken, come - taken, &used, error);
		taken += used;
	}
	if (!failed)
		failed = packet_decode_end(decoder, error);
	packet_decoder_close(decoder);
	if (failed && (!error->code || !error->text[0]))
		abort();
}

static void see(const char *bytes, size_t size, size_t piece, struct seen *seen,
		struct error *error)
{
	const struct packet_sink sink = {
		.context = seen, .header = see_header, .packets = see_packets,
		.trailer = see_trailer,
	};

	*seen = (struct seen){ 0 };
	decode(&sink, bytes, size, piece, error);
}

static void print(const char *bytes, size_t size, bool json, bool summary)
{
	struct packet_print_options options = { .json = json, .summary = summary };
	struct packet_printer *printer;
	struct packet_sink sink;
	struct error error;
	char *text = NULL;
	size_t length;

	options.file = open_memstream(&text, &length);
	if (!options.file)
		return;
	printer = packet_printer_open(&options);
	if (printer) {
		sink = packet_printer_sink(printer);
		decode(&sink, bytes, size, size + 1, &error);
		packet_printer_finish(printer, &error);
		packet_printer_trouble(printer);
	}
	packet_printer_close(printer);
	fclose(options.file);
	free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *bytes = malloc(size + 1);	/* 8 bytes aligned, which data need not be */
	struct error whole, pieces;
	struct seen all, parts;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	see(bytes, size, size + 1, &all, &whole);
	see(bytes, size, 1 + size % 61, &parts, &pieces);
	if (strcmp(whole.text, pieces.text) || memcmp(&all, &parts, sizeof(all)))
		abort();
	for (int mode = 0; mode < 4; mode++)
		print(bytes, size, mode & 1, mode & 2);
	free(bytes);
	return 0;
}
