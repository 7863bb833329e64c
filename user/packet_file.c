// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packet_file.h"

#define READ_SIZE	(1 << 20)

_Static_assert(READ_SIZE >= PACKET_BLOCK_MAX + sizeof(struct packet_block), "holds any block");
_Static_assert(sizeof(struct packet_file_header) == 256, "part of the format");
_Static_assert(sizeof(struct packet_event) == 32, "part of the format");
_Static_assert(sizeof(struct packet_qdisc) == 128, "part of the format");
_Static_assert(sizeof(struct packet_ledger) == 104, "part of the format");
_Static_assert(sizeof(struct packet_trailer) == 128, "part of the format");
_Static_assert(sizeof(struct packet_loss) == 32, "part of the format");

struct packet_decoder {
	struct packet_sink sink;
	bool have_header;
	bool have_ledger;
	bool have_trailer;
	bool described[PACKET_QDISCS_MAX];
	__u64 at;			/* bytes taken */
	__u64 records;
	__u64 packets;
};

void packet_file_header_init(struct packet_file_header *header)
{
	memset(header, 0, sizeof(*header));
	strcpy(header->magic, PACKET_FILE_MAGIC);
	header->byte_order = PACKET_FILE_BYTE_ORDER;
	header->header_size = sizeof(*header);
	header->packet_size = sizeof(struct packet_event);
	header->qdisc_size = sizeof(struct packet_qdisc);
	header->ledger_size = sizeof(struct packet_ledger);
	header->trailer_size = sizeof(struct packet_trailer);
}

struct packet_decoder *packet_decoder_open(const struct packet_sink *sink)
{
	struct packet_decoder *decoder = calloc(1, sizeof(*decoder));

	if (decoder)
		decoder->sink = *sink;
	return decoder;
}

void packet_decoder_close(struct packet_decoder *decoder)
{
	free(decoder);
}

static int damaged(const struct packet_decoder *decoder, const char *what, struct error *error)
{
	return error_set(error, EXIT_USAGE, "damaged at byte %llu: %s", decoder->at, what);
}

static bool is_text(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static int take_header(struct packet_decoder *decoder, const struct packet_file_header *header,
		       struct error *error)
{
	struct packet_file_header wanted;

	packet_file_header_init(&wanted);
	if (memcmp(header->magic, wanted.magic, sizeof(wanted.magic)))
		return error_set(error, EXIT_USAGE,
				 "not a file of `sojourn trace -o`, or of another version of it");
	if (header->byte_order == __builtin_bswap32(PACKET_FILE_BYTE_ORDER))
		return error_set(error, EXIT_USAGE,
				 "written on a machine of the other byte order; read it there");
	if (memcmp(&header->byte_order, &wanted.byte_order,
		   offsetof(struct packet_file_header, started_ns) -
		   offsetof(struct packet_file_header, byte_order)))
		return damaged(decoder, "the header tells other sizes than this version's", error);
	if (!is_text(header->version, sizeof(header->version)) ||
	    !is_text(header->kernel, sizeof(header->kernel)) ||
	    !is_text(header->tier, sizeof(header->tier)))
		return damaged(decoder, "a text in the header has no end", error);
	decoder->have_header = true;
	return decoder->sink.header ? decoder->sink.header(decoder->sink.context, header, error) :
				      0;
}

static bool is_described(const struct packet_decoder *decoder, __u32 qdisc)
{
	return qdisc < PACKET_QDISCS_MAX && decoder->described[qdisc];
}

static int take_packets(struct packet_decoder *decoder, const struct packet_event *packets,
			size_t size, struct error *error)
{
	size_t count = size / sizeof(*packets), i;

	if (!count || size % sizeof(*packets))
		return damaged(decoder, "a batch of packets has a size that is none", error);
	if (decoder->have_ledger)
		return damaged(decoder, "packets behind the ledgers", error);
	for (i = 0; i < count; i++) {
		if (packets[i].outcome < PACKET_MEASURED || packets[i].outcome > PACKET_UNMATCHED)
			return damaged(decoder, "a packet has an outcome that is none", error);
		if (!is_described(decoder, packets[i].qdisc))
			return damaged(decoder, "a packet of a qdisc that was not told of", error);
	}
	decoder->records += count;
	for (i = 0; i < count; i++)
		if (packets[i].outcome != PACKET_REPEATED)
			decoder->packets += packets[i].packets;
	return decoder->sink.packets ?
	       decoder->sink.packets(decoder->sink.context, packets, count, error) : 0;
}

static int take_qdisc(struct packet_decoder *decoder, const struct packet_qdisc *qdisc,
		      size_t size, struct error *error)
{
	if (size != sizeof(*qdisc))
		return damaged(decoder, "a qdisc has a size that is none", error);
	if (qdisc->qdisc >= PACKET_QDISCS_MAX || decoder->described[qdisc->qdisc])
		return damaged(decoder, "a qdisc has an id that is taken or too large", error);
	if (!is_text(qdisc->device, sizeof(qdisc->device)) ||
	    !is_text(qdisc->kind, sizeof(qdisc->kind)) ||
	    !is_text(qdisc->netns_name, sizeof(qdisc->netns_name)))
		return damaged(decoder, "a name of a qdisc has no end", error);
	decoder->described[qdisc->qdisc] = true;
	return decoder->sink.qdisc ? decoder->sink.qdisc(decoder->sink.context, qdisc, error) : 0;
}

static int take_ledger(struct packet_decoder *decoder, const struct packet_ledger *ledger,
		       size_t size, struct error *error)
{
	if (size != sizeof(*ledger))
		return damaged(decoder, "a ledger has a size that is none", error);
	if (!is_described(decoder, ledger->qdisc))
		return damaged(decoder, "a ledger of a qdisc that was not told of", error);
	if (ledger->agrees > AGREES_NO)
		return damaged(decoder, "a ledger has a verdict that is none", error);
	decoder->have_ledger = true;
	return decoder->sink.ledger ? decoder->sink.ledger(decoder->sink.context, ledger, error) :
				      0;
}

static int take_trailer(struct packet_decoder *decoder, const struct packet_trailer *trailer,
			size_t size, struct error *error)
{
	const struct packet_loss *losses = (const void *)(trailer + 1);
	__u32 i;

	if (size < sizeof(*trailer) || trailer->loss_count > PACKET_LOSSES_MAX ||
	    size != sizeof(*trailer) + trailer->loss_count * sizeof(*losses))
		return damaged(decoder, "the trailer has a size that is none", error);
	if (trailer->records != decoder->records || trailer->packets != decoder->packets)
		return damaged(decoder, "the trailer tells of more or fewer packets than there are",
			       error);
	if (!is_text(trailer->not_compared_why, sizeof(trailer->not_compared_why)))
		return damaged(decoder, "a text in the trailer has no end", error);
	for (i = 0; i < trailer->loss_count; i++)
		if (!is_text(losses[i].name, sizeof(losses[i].name)))
			return damaged(decoder, "the name of a loss has no end", error);
	decoder->have_trailer = true;
	return decoder->sink.trailer ?
	       decoder->sink.trailer(decoder->sink.context, trailer, losses, error) : 0;
}

static int take_block(struct packet_decoder *decoder, const struct packet_block *block,
		      struct error *error)
{
	const void *payload = block + 1;

	switch (block->type) {
	case BLOCK_PACKETS:
		return take_packets(decoder, payload, block->size, error);
	case BLOCK_QDISC:
		return take_qdisc(decoder, payload, block->size, error);
	case BLOCK_LEDGER:
		return take_ledger(decoder, payload, block->size, error);
	case BLOCK_TRAILER:
		return take_trailer(decoder, payload, block->size, error);
	}
	return damaged(decoder, "a block of a type that is none", error);
}

/* 1: taken, *size bytes; 0: it is not whole yet; -1 and error. */
static int take_next(struct packet_decoder *decoder, const char *bytes, size_t length,
		     size_t *size, struct error *error)
{
	const struct packet_block *block = (const void *)bytes;

	if (!decoder->have_header) {
		*size = sizeof(struct packet_file_header);
		if (length < *size)
			return 0;
		return take_header(decoder, (const void *)bytes, error) ? -1 : 1;
	}
	if (!length)
		return 0;
	if (decoder->have_trailer)
		return damaged(decoder, "something is behind the trailer", error);
	if (length < sizeof(*block))
		return 0;
	if (block->size > PACKET_BLOCK_MAX || block->size % 8)
		return damaged(decoder, "a block has a size that is none", error);
	*size = sizeof(*block) + block->size;
	if (length < *size)
		return 0;
	return take_block(decoder, block, error) ? -1 : 1;
}

int packet_decode(struct packet_decoder *decoder, const void *bytes, size_t length, size_t *used,
		  struct error *error)
{
	size_t size = 0;
	int taken;

	*used = 0;
	while ((taken = take_next(decoder, (const char *)bytes + *used, length - *used, &size,
				  error)) > 0) {
		*used += size;
		decoder->at += size;
	}
	return taken;
}

int packet_decode_end(const struct packet_decoder *decoder, struct error *error)
{
	if (!decoder->have_header)
		return error_set(error, EXIT_USAGE,
				 "not a file of `sojourn trace -o`: it is shorter than its header");
	if (!decoder->have_trailer)
		return error_set(error, EXIT_USAGE,
				 "cut off: it has no end behind byte %llu; %llu records before are whole",
				 decoder->at, decoder->records);
	return 0;
}

static ssize_t read_some(int fd, void *bytes, size_t size)
{
	ssize_t got;

	do {
		got = read(fd, bytes, size);
	} while (got < 0 && errno == EINTR);
	return got;
}

static int read_all(int fd, struct packet_decoder *decoder, char *buffer, struct error *error)
{
	size_t filled = 0, used;
	ssize_t got;

	while ((got = read_some(fd, buffer + filled, READ_SIZE - filled)) > 0) {
		filled += got;
		if (packet_decode(decoder, buffer, filled, &used, error))
			return -1;
		filled -= used;
		memmove(buffer, buffer + used, filled);
	}
	if (got < 0)
		return error_set_errno(error, EXIT_USAGE, "cannot be read");
	return packet_decode_end(decoder, error);
}

int packet_file_read(int fd, const struct packet_sink *sink, struct error *error)
{
	struct packet_decoder *decoder = packet_decoder_open(sink);
	char *buffer = malloc(READ_SIZE);
	int failed;

	if (decoder && buffer)
		failed = read_all(fd, decoder, buffer, error);
	else
		failed = error_set(error, EXIT_CANNOT, "out of memory");
	free(buffer);
	packet_decoder_close(decoder);
	return failed;
}
