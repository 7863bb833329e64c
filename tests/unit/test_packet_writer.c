// SPDX-License-Identifier: GPL-2.0
/*
 * The way of traced packets through memory: all of it arrives in order; a taker that is
 * too slow, fails or never returns costs packets that are counted, and never the caller.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "packet_writer.h"

#define BATCH		32
#define MEMORY		(64 << 20)	/* what packet_writer.h promises */

/* Counts what it is given, once the gate is open. */
struct taker {
	atomic_bool open;
	atomic_bool fails;
	__u64 records;
	__u64 last;			/* time_ns of the last one: they come in order */
	bool disorder;
};

static void sleep_ms(unsigned int ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&pause, NULL);
}

static int take(void *context, const void *bytes, size_t length, struct error *error)
{
	struct taker *taker = context;
	const struct packet_block *block;
	const struct packet_event *packets;
	size_t at, i;

	while (!atomic_load(&taker->open))
		sleep_ms(1);
	if (atomic_load(&taker->fails))
		return error_set(error, EXIT_CANNOT, "it fails");
	for (at = 0; at < length; at += sizeof(*block) + block->size) {
		block = (const void *)((const char *)bytes + at);
		packets = (const void *)(block + 1);
		for (i = 0; i < block->size / sizeof(*packets); i++) {
			taker->disorder |= packets[i].time_ns != taker->last + 1;
			taker->last = packets[i].time_ns;
			taker->records++;
		}
	}
	return 0;
}

/* A batch of packets that are numbered from *next on. */
static bool put_batch(struct packet_writer *writer, __u64 *next)
{
	struct packet_event packets[BATCH] = { 0 };
	int i;

	for (i = 0; i < BATCH; i++)
		packets[i].time_ns = *next + i;
	if (!packet_writer_put(writer, BLOCK_PACKETS, packets, sizeof(packets), BATCH, false))
		return false;
	*next += BATCH;
	return true;
}

static int wait_finished(struct packet_writer *writer, struct error *error)
{
	int tries, finished = 0;

	for (tries = 0; !finished && tries < 5000; tries++) {
		finished = packet_writer_finished(writer, error);
		sleep_ms(1);
	}
	return finished;
}

static void test_all_arrive(void **context)
{
	struct taker taker = { .open = true };
	struct packet_writer *writer;
	struct error error;
	__u64 next = 1;
	int i;

	(void)context;
	writer = packet_writer_start(take, &taker, &error);
	assert_non_null(writer);
	for (i = 0; i < 100000; i++)
		while (!put_batch(writer, &next))
			sleep_ms(1);
	packet_writer_finish(writer);
	assert_int_equal(wait_finished(writer, &error), 1);
	assert_int_equal(packet_writer_untaken(writer), 0);
	assert_int_equal(taker.records, 100000 * BATCH);
	assert_false(taker.disorder);
	assert_true(packet_writer_close(writer));
}

/* What waits is handed on in time, also where it is little. */
static void test_little(void **context)
{
	struct taker taker = { .open = true };
	struct packet_writer *writer;
	struct error error;
	__u64 next = 1;
	int tries;

	(void)context;
	writer = packet_writer_start(take, &taker, &error);
	assert_non_null(writer);
	assert_true(put_batch(writer, &next));
	for (tries = 0; packet_writer_untaken(writer) && tries < 2000; tries++) {
		assert_int_equal(packet_writer_poll(writer, &error), 0);
		sleep_ms(1);
	}
	assert_int_equal(packet_writer_untaken(writer), 0);
	packet_writer_finish(writer);
	assert_int_equal(wait_finished(writer, &error), 1);
	assert_int_equal(taker.records, BATCH);
	assert_true(packet_writer_close(writer));
}

/* The memory has an end, of which the last words are not afraid; then all goes on. */
static void test_slow(void **context)
{
	const __u64 most = MEMORY / sizeof(struct packet_event);
	struct packet_event last = { 0 };
	struct packet_writer *writer;
	struct taker taker = { 0 };
	struct error error;
	__u64 next = 1;

	(void)context;
	writer = packet_writer_start(take, &taker, &error);
	assert_non_null(writer);
	while (next < 2 * most && put_batch(writer, &next))
		;
	assert_in_range(next, most * 9 / 10, most);
	assert_int_equal(packet_writer_untaken(writer), next - 1);
	last.time_ns = next;
	assert_true(packet_writer_put(writer, BLOCK_PACKETS, &last, sizeof(last), 1, true));
	next++;
	packet_writer_finish(writer);
	assert_int_equal(packet_writer_finished(writer, &error), 0);
	atomic_store(&taker.open, true);
	assert_int_equal(wait_finished(writer, &error), 1);
	assert_int_equal(taker.records, next - 1);
	assert_false(taker.disorder);
	assert_true(packet_writer_close(writer));
}

static void test_fails(void **context)
{
	struct taker taker = { .open = true, .fails = true };
	struct packet_writer *writer;
	struct error error;
	int tries, failed = 0;
	__u64 next = 1;

	(void)context;
	writer = packet_writer_start(take, &taker, &error);
	assert_non_null(writer);
	assert_true(put_batch(writer, &next));
	for (tries = 0; !failed && tries < 2000; tries++) {
		failed = packet_writer_poll(writer, &error);
		sleep_ms(1);
	}
	assert_int_equal(failed, -1);
	assert_string_equal(error.text, "it fails");
	assert_int_equal(packet_writer_untaken(writer), BATCH);
	packet_writer_finish(writer);
	assert_int_equal(wait_finished(writer, &error), -1);
	assert_true(packet_writer_close(writer));
}

/* ---- pipes ---- */

static int take_to_output(void *context, const void *bytes, size_t length, struct error *error)
{
	return packet_output_write(context, bytes, length, error);
}

static void test_pipe_unread(void **context)
{
	struct packet_output *output;
	struct packet_writer *writer;
	struct error error;
	__u64 next = 1, begin_ns;
	int ends[2];

	(void)context;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	output = packet_output_open(ends[1], "the pipe");
	writer = packet_writer_start(take_to_output, output, &error);
	assert_non_null(writer);
	while (next < 100000)
		assert_true(put_batch(writer, &next));
	packet_writer_finish(writer);
	sleep_ms(200);
	assert_int_equal(packet_writer_finished(writer, &error), 0);
	assert_in_range(packet_output_written(output), 1, 1 << 20);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	packet_output_give_up(output);
	assert_int_equal(wait_finished(writer, &error), -1);
	assert_non_null(strstr(error.text, "cannot write the pipe"));
	assert_true(packet_writer_close(writer));
	assert_in_range(clock_ns(CLOCK_MONOTONIC) - begin_ns, 0, 2000000000);
	packet_output_close(output);
	close(ends[0]);
	close(ends[1]);
}

static void test_pipe_closed(void **context)
{
	struct packet_output *output;
	struct error error;
	FILE *stream;
	int ends[2];

	(void)context;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	output = packet_output_open(ends[1], "the pipe");
	assert_int_equal(packet_output_write(output, "x", 1, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, strerror(EPIPE)));
	assert_int_equal(packet_output_error(output, &error), 0);
	stream = packet_output_stream(output);
	assert_non_null(stream);
	fputs("x", stream);
	assert_int_not_equal(fflush(stream), 0);
	assert_int_equal(packet_output_error(output, &error), -1);
	assert_non_null(strstr(error.text, strerror(EPIPE)));
	fclose(stream);
	packet_output_close(output);
	close(ends[1]);
}

static void test_disk_full(void **context)
{
	struct packet_output *output;
	struct error error;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)context;
	if (fd < 0)
		skip();
	output = packet_output_open(fd, "trace.packets");
	assert_int_equal(packet_output_write(output, "x", 1, &error), -1);
	assert_string_equal(error.text, "cannot write trace.packets: No space left on device; "
					"make room there or name another place");
	packet_output_close(output);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_fails),
		cmocka_unit_test(test_pipe_unread),
		cmocka_unit_test(test_pipe_closed),
		cmocka_unit_test(test_disk_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
