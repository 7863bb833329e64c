// SPDX-License-Identifier: GPL-2.0
/*
 * The file of `sojourn trace`: read back as it was written; cut at every byte and bent in
 * every word it ends in an error, with all that was whole before given out, and no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/pkt_sched.h>

#include <cmocka.h>

#include "packet_file.h"
#include "packet_print.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define STREAM_MAX	8192
#define BLOCKS_MAX	16

/* A file in memory. */
struct stream {
	_Alignas(8) char bytes[STREAM_MAX];
	size_t size;
	size_t ends[BLOCKS_MAX];	/* of the header and of each block */
	unsigned int records[BLOCKS_MAX];	/* up to there */
	unsigned int end_count;
};

/* What a sink was given. */
struct seen {
	unsigned int headers, qdiscs, records, ledgers, trailers;
	struct packet_event packets[64];
};

static void end_block(struct stream *stream, unsigned int records)
{
	unsigned int at = stream->end_count++;

	stream->ends[at] = stream->size;
	stream->records[at] = (at ? stream->records[at - 1] : 0) + records;
}

static void put(struct stream *stream, enum packet_block_type type, const void *payload,
		size_t size, unsigned int records)
{
	struct packet_block head = { type, size };

	memcpy(stream->bytes + stream->size, &head, sizeof(head));
	memcpy(stream->bytes + stream->size + sizeof(head), payload, size);
	stream->size += sizeof(head) + size;
	end_block(stream, records);
}

static void put_qdisc(struct stream *stream, unsigned int id, const char *device)
{
	struct packet_qdisc qdisc = {
		.qdisc = id, .netns = 7, .ifindex = 2, .handle = 0x100000, .parent = TC_H_ROOT,
		.kind = "htb", .netns_name = "pl-router",
	};

	snprintf(qdisc.device, sizeof(qdisc.device), "%s", device);
	put(stream, BLOCK_QDISC, &qdisc, sizeof(qdisc), 0);
}

static void put_packets(struct stream *stream, unsigned int qdisc, unsigned int count)
{
	struct packet_event packets[8] = { 0 };
	unsigned int i;

	for (i = 0; i < count; i++)
		packets[i] = (struct packet_event){
			.time_ns = 5000000000 + i, .sojourn_ns = 1000 * (i + 1), .len = 1514,
			.packets = i + 1, .outcome = PACKET_MEASURED + i % 6, .cpu = 1,
			.qdisc = qdisc,
		};
	put(stream, BLOCK_PACKETS, packets, count * sizeof(packets[0]), count);
}

static void put_trailer(struct stream *stream, __u64 records, __u64 packets, __u64 lost)
{
	struct {
		struct packet_trailer trailer;
		struct packet_loss losses[2];
	} end = {
		.trailer = { .ended_ns = 6000000000, .records = records, .packets = packets,
			     .loss_count = 2, .not_compared_why = "packets moved" },
		.losses = { { "ring_full", lost }, { "stale", 0 } },
	};

	put(stream, BLOCK_TRAILER, &end, sizeof(end), 0);
}

static void begin(struct stream *stream)
{
	struct packet_file_header header;

	memset(stream, 0, sizeof(*stream));
	packet_file_header_init(&header);
	header.started_ns = 4000000000;
	header.started_realtime_ns = 1700000000000000000;
	strcpy(header.kernel, "6.18");
	strcpy(header.tier, "tracepoints");
	strcpy(header.version, "0.1.0");
	memcpy(stream->bytes, &header, sizeof(header));
	stream->size = sizeof(header);
	end_block(stream, 0);
}

/* Two qdiscs, three batches with 15 records of 28 packets, a ledger, an end. */
static void make_stream(struct stream *stream, __u64 lost)
{
	struct packet_ledger ledger = {
		.qdisc = 3, .agrees = AGREES_YES, .offered = 10, .measured = 9, .rejected = 1,
		.kernel_packets = 9, .kernel_drops = 1,
	};

	begin(stream);
	put_qdisc(stream, 3, "wan0");
	put_packets(stream, 3, 6);
	put_qdisc(stream, 0, "lan0");
	put_packets(stream, 0, 1);
	put_packets(stream, 3, 8);
	put(stream, BLOCK_LEDGER, &ledger, sizeof(ledger), 0);
	/* one to six less the repeated two, one, one to eight less two and eight */
	put_trailer(stream, 15, 19 + 1 + 26, lost);
}

/* ---- sinks ---- */

static int see_header(void *context, const struct packet_file_header *header,
		      struct error *error)
{
	struct seen *seen = context;

	(void)error;
	assert_int_equal(header->started_ns, 4000000000);
	seen->headers++;
	return 0;
}

static int see_qdisc(void *context, const struct packet_qdisc *qdisc, struct error *error)
{
	struct seen *seen = context;

	(void)qdisc;
	(void)error;
	seen->qdiscs++;
	return 0;
}

static int see_packets(void *context, const struct packet_event *packets, unsigned int count,
		       struct error *error)
{
	struct seen *seen = context;

	(void)error;
	if (seen->records + count <= COUNT(seen->packets))
		memcpy(seen->packets + seen->records, packets, count * sizeof(*packets));
	seen->records += count;
	return 0;
}

static int see_ledger(void *context, const struct packet_ledger *ledger, struct error *error)
{
	struct seen *seen = context;

	(void)ledger;
	(void)error;
	seen->ledgers++;
	return 0;
}

static int see_trailer(void *context, const struct packet_trailer *trailer,
		       const struct packet_loss *losses, struct error *error)
{
	struct seen *seen = context;

	(void)trailer;
	(void)losses;
	(void)error;
	seen->trailers++;
	return 0;
}

static int read_bytes(const void *bytes, size_t size, const struct packet_sink *sink,
		      struct error *error)
{
	int fd = memfd_create("packets", 0), failed;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	failed = packet_file_read(fd, sink, error);
	close(fd);
	return failed;
}

static int see(const void *bytes, size_t size, struct seen *seen, struct error *error)
{
	struct packet_sink sink = {
		.context = seen, .header = see_header, .qdisc = see_qdisc,
		.packets = see_packets, .ledger = see_ledger, .trailer = see_trailer,
	};

	memset(seen, 0, sizeof(*seen));
	memset(error, 0, sizeof(*error));
	return read_bytes(bytes, size, &sink, error);
}

/* Printed; the caller frees the text. */
static char *print(const void *bytes, size_t size, bool json, bool summary, char trouble[512],
		   struct error *error)
{
	struct packet_print_options options = { .json = json, .summary = summary };
	struct packet_printer *printer;
	struct packet_sink sink;
	struct error ignored;
	char *text = NULL;
	size_t length;

	options.file = open_memstream(&text, &length);
	printer = packet_printer_open(&options);
	assert_non_null(options.file);
	assert_non_null(printer);
	sink = packet_printer_sink(printer);
	memset(error, 0, sizeof(*error));
	read_bytes(bytes, size, &sink, error);
	packet_printer_finish(printer, &ignored);
	if (trouble)
		snprintf(trouble, 512, "%s", packet_printer_trouble(printer));
	packet_printer_close(printer);
	fclose(options.file);
	return text;
}

/* ---- tests ---- */

static void test_whole(void **context)
{
	struct stream stream;
	struct error error;
	struct seen seen;

	(void)context;
	make_stream(&stream, 0);
	assert_int_equal(see(stream.bytes, stream.size, &seen, &error), 0);
	assert_int_equal(seen.headers, 1);
	assert_int_equal(seen.qdiscs, 2);
	assert_int_equal(seen.records, 15);
	assert_int_equal(seen.ledgers, 1);
	assert_int_equal(seen.trailers, 1);
	assert_int_equal(seen.packets[6].qdisc, 0);
	assert_int_equal(seen.packets[14].sojourn_ns, 8000);
	assert_int_equal(seen.packets[14].packets, 8);
}

/* A trace without a packet is a trace. */
static void test_empty(void **context)
{
	struct stream stream;
	struct error error;
	struct seen seen;

	(void)context;
	begin(&stream);
	put_trailer(&stream, 0, 0, 0);
	assert_int_equal(see(stream.bytes, stream.size, &seen, &error), 0);
	assert_int_equal(seen.records, 0);
	assert_int_equal(seen.trailers, 1);
}

/* What was in whole blocks is given out, the rest is not, and that is told. */
static void test_cut(void **context)
{
	struct stream stream;
	struct error error;
	unsigned int i, records;
	struct seen seen;
	size_t size;

	(void)context;
	make_stream(&stream, 0);
	for (size = 0; size < stream.size; size++) {
		records = 0;
		for (i = 0; i < stream.end_count && stream.ends[i] <= size; i++)
			records = stream.records[i];
		assert_int_equal(see(stream.bytes, size, &seen, &error), -1);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_non_null(strstr(error.text, i ? "cut off" : "not a file of"));
		assert_int_equal(seen.records, records);
		assert_int_equal(seen.trailers, 0);
	}
}

/* Any word can have any value: an error or not, but never more packets than there are. */
static void test_bent(void **context)
{
	static const __u32 values[] = { 0, 1, 4, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff,
					0x04030201, 65536, 65528, 16384 };
	struct stream stream, bent;
	struct error error;
	char trouble[512];
	struct seen seen;
	size_t at, i;
	int mode;

	(void)context;
	make_stream(&stream, 0);
	for (at = 0; at < stream.size; at += sizeof(__u32)) {
		for (i = 0; i < COUNT(values); i++) {
			bent = stream;
			memcpy(bent.bytes + at, &values[i], sizeof(values[i]));
			for (mode = 0; mode < 4; mode++)
				free(print(bent.bytes, bent.size, mode & 1, mode & 2, trouble,
					   &error));
			if (at < 56 && at >= 48)
				continue;	/* see() compares the time */
			if (see(bent.bytes, bent.size, &seen, &error))
				assert_int_equal(error.code, EXIT_USAGE);
			assert_true(seen.records <= 15);
		}
	}
}

static void expect_damage(const struct stream *stream, const char *what)
{
	struct error error;
	struct seen seen;

	assert_int_equal(see(stream->bytes, stream->size, &seen, &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
	if (!strstr(error.text, what))
		fail_msg("'%s' does not tell '%s'", error.text, what);
	assert_int_equal(seen.trailers, 0);
}

/* bytes at offset of a whole stream are replaced, and that is found out. */
static void expect_bent(size_t offset, const void *bytes, size_t size, const char *what)
{
	struct stream stream;

	make_stream(&stream, 0);
	memcpy(stream.bytes + offset, bytes, size);
	expect_damage(&stream, what);
}

static void test_each_check(void **context)
{
	const size_t first = sizeof(struct packet_file_header);
	const size_t batch = first + sizeof(struct packet_block) + sizeof(struct packet_qdisc);
	const size_t packet = batch + sizeof(struct packet_block);
	__u32 word;
	char full[64];

	(void)context;
	memset(full, 'x', sizeof(full));
	expect_bent(0, "sojourn packets 2\n", 18, "another version");
	expect_bent(24, "\1\2\3\4", 4, "other byte order");
	expect_bent(32, "\x21\0\0\0", 4, "other sizes");
	expect_bent(64, full, 32, "has no end");
	expect_bent(first, "\x09\0\0\0", 4, "type that is none");
	word = PACKET_BLOCK_MAX + 8;
	expect_bent(first + 4, &word, 4, "a block has a size");
	expect_bent(first + 4, "\x81\0\0\0", 4, "a block has a size");
	expect_bent(first + 4, "\x78\0\0\0", 4, "a qdisc has a size");
	word = PACKET_QDISCS_MAX;
	expect_bent(first + 8, &word, 4, "an id that is taken or too large");
	expect_bent(first + 8 + 32, full, 16, "a name of a qdisc");
	expect_bent(batch + 4, "\0\0\0\0", 4, "a batch of packets");
	expect_bent(packet + 22, "\0", 1, "an outcome that is none");
	expect_bent(packet + 22, "\7", 1, "an outcome that is none");
	expect_bent(packet + 24, "\2", 1, "not told of");
	expect_bent(packet + 20, "\x11", 1, "more or fewer packets");
}

static void test_order(void **context)
{
	struct packet_ledger ledger = { .qdisc = 3 };
	struct stream stream;

	(void)context;
	make_stream(&stream, 0);
	put_packets(&stream, 3, 1);
	{
		struct error error;
		struct seen seen;

		assert_int_equal(see(stream.bytes, stream.size, &seen, &error), -1);
		assert_non_null(strstr(error.text, "behind the trailer"));
	}
	begin(&stream);
	put_qdisc(&stream, 3, "wan0");
	put_qdisc(&stream, 3, "wan1");
	expect_damage(&stream, "an id that is taken");
	begin(&stream);
	put(&stream, BLOCK_LEDGER, &ledger, sizeof(ledger), 0);
	expect_damage(&stream, "a ledger of a qdisc that was not told of");
	begin(&stream);
	put_qdisc(&stream, 3, "wan0");
	put(&stream, BLOCK_LEDGER, &ledger, sizeof(ledger), 0);
	put_packets(&stream, 3, 1);
	expect_damage(&stream, "behind the ledgers");
	begin(&stream);
	put_qdisc(&stream, 3, "wan0");
	ledger.agrees = AGREES_NO + 1;
	put(&stream, BLOCK_LEDGER, &ledger, sizeof(ledger), 0);
	expect_damage(&stream, "a verdict that is none");
	begin(&stream);
	put_trailer(&stream, 1, 1, 0);
	expect_damage(&stream, "more or fewer packets");
}

static void test_foreign(void **context)
{
	static const char *const texts[] = { "", "x", "#!/bin/sh\n" };
	struct error error;
	struct seen seen;
	char noise[4096];
	size_t i;

	(void)context;
	for (i = 0; i < COUNT(texts); i++) {
		assert_int_equal(see(texts[i], strlen(texts[i]), &seen, &error), -1);
		assert_non_null(strstr(error.text, "not a file of"));
	}
	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 7919 >> 3);
	assert_int_equal(see(noise, sizeof(noise), &seen, &error), -1);
	assert_non_null(strstr(error.text, "not a file of"));
	assert_int_equal(seen.headers, 0);
}

/* Larger than what is read at once. */
static void test_long(void **context)
{
	unsigned int i, batches = 60000;
	struct stream head, batch;
	struct error error;
	struct seen seen;
	size_t size, one;
	char *bytes;

	(void)context;
	begin(&head);
	put_qdisc(&head, 3, "wan0");
	memset(&batch, 0, sizeof(batch));
	put_packets(&batch, 3, 1);
	one = batch.size;
	bytes = malloc(head.size + batches * one + STREAM_MAX);
	assert_non_null(bytes);
	memcpy(bytes, head.bytes, head.size);
	size = head.size;
	for (i = 0; i < batches; i++, size += one)
		memcpy(bytes + size, batch.bytes, one);
	memset(&batch, 0, sizeof(batch));
	put_trailer(&batch, batches, batches, 0);
	memcpy(bytes + size, batch.bytes, batch.size);
	assert_int_equal(see(bytes, size + batch.size, &seen, &error), 0);
	assert_int_equal(seen.records, batches);
	assert_int_equal(see(bytes, size, &seen, &error), -1);
	assert_int_equal(seen.records, batches);
	free(bytes);
}

static void test_text(void **context)
{
	char trouble[512];
	struct stream stream;
	struct error error;
	char *text;

	(void)context;
	make_stream(&stream, 0);
	text = print(stream.bytes, stream.size, false, false, trouble, &error);
	assert_non_null(strstr(text, "# sojourn 0.1.0, kernel 6.18, tier tracepoints, started "
				     "2023-11-14 22:13:20 UTC\n"));
	assert_non_null(strstr(text, "   1.000000000 pl-router/wan0/0/htb/10:             "
				     "measured    1.00 us    1514       1\n"));
	assert_non_null(strstr(text, "rejected          -    1514       5\n"));
	assert_non_null(strstr(text, "# 15 records of 46 packets in 2.000 s; no losses\n"));
	assert_string_equal(trouble, "");
	free(text);
}

static void test_json(void **context)
{
	struct stream stream;
	struct error error;
	char *text;

	(void)context;
	make_stream(&stream, 0);
	text = print(stream.bytes, stream.size, true, false, NULL, &error);
	assert_non_null(strstr(text, "{\"type\":\"packet\",\"time_ns\":5000000000,"
				     "\"qdisc\":\"pl-router/wan0/0/htb/10:\","
				     "\"outcome\":\"measured\",\"sojourn_ns\":1000,"
				     "\"length\":1514,\"packets\":1,\"cpu\":1}\n"));
	assert_non_null(strstr(text, "\"complete\":true"));
	free(text);
}

static void test_summary(void **context)
{
	char trouble[512];
	struct stream stream;
	struct error error;
	char *text;

	(void)context;
	make_stream(&stream, 7);
	text = print(stream.bytes, stream.size, true, true, trouble, &error);
	/* 1000 ns twice, 7000 ns seven times: the middle of its bucket */
	assert_non_null(strstr(text, "{\"type\":\"summary\",\"qdisc\":\"pl-router/wan0/0/htb/10:\","
				     "\"outcome\":\"measured\",\"records\":3,\"packets\":9,"
				     "\"sojourn_ns\":{\"p50\":6975,"));
	assert_non_null(strstr(text, "\"max\":7000}}\n"));
	assert_string_equal(trouble, "ring_full 7");
	assert_non_null(strstr(text, "\"complete\":false"));
	assert_null(strstr(text, "\"packet\""));
	free(text);
	/* A file without an end has its sums all the same. */
	text = print(stream.bytes, stream.ends[2], false, true, trouble, &error);
	assert_non_null(strstr(text, "measured           1          1   1.00 us"));
	free(text);
}

/* A name may do nothing to a terminal and must not end a JSON string. */
static void test_names(void **context)
{
	struct stream stream;
	struct error error;
	char *text;

	(void)context;
	begin(&stream);
	put_qdisc(&stream, 1, "a\033[2J\"\\");
	put_qdisc(&stream, 2, "a\033[2J\"\\");
	put_packets(&stream, 2, 1);
	text = print(stream.bytes, stream.size, true, false, NULL, &error);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\\'));
	assert_non_null(strstr(text, "\"qdisc\":\"pl-router/a?[2J?\?/0/htb/10:#2\""));
	free(text);
}

/* Sums that no figure can hold end in an error. */
static void test_overflow(void **context)
{
	struct packet_event packets[2] = {
		{ .sojourn_ns = 1ULL << 62, .packets = 1, .outcome = PACKET_MEASURED, .qdisc = 3 },
		{ .sojourn_ns = 1ULL << 62, .packets = 1, .outcome = PACKET_MEASURED, .qdisc = 3 },
	};
	struct stream stream;
	struct error error;

	(void)context;
	begin(&stream);
	put_qdisc(&stream, 3, "wan0");
	put(&stream, BLOCK_PACKETS, packets, sizeof(packets), 2);
	free(print(stream.bytes, stream.size, false, true, NULL, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	assert_non_null(strstr(error.text, "add up to more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bent),
		cmocka_unit_test(test_each_check),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
