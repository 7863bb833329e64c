/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the tracer to a file, a pipe or a terminal, through memory and a thread of its own:
 * a disk or a reader that stalls must not keep the tracer from draining the kernel's ring
 * buffer. Where the memory is full as well, blocks are refused and the caller counts them.
 */
#ifndef SOJOURN_PACKET_WRITER_H
#define SOJOURN_PACKET_WRITER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "packet_file.h"

/* ---- where it goes ---- */

struct packet_output;

/*
 * For writing to fd, which stays the caller's, and which errors call name (not copied).
 * NULL: out of memory.
 */
struct packet_output *packet_output_open(int fd, const char *name);
void packet_output_close(struct packet_output *output);

/* Write all of it. 0, or -1 and error (EXIT_CANNOT). In steps that do not block a pipe. */
int packet_output_write(struct packet_output *output, const void *bytes, size_t length,
			struct error *error);

/*
 * A stream that writes there; the caller closes it before output. Where it failed,
 * packet_output_error() tells why. NULL: out of memory.
 */
FILE *packet_output_stream(struct packet_output *output);
int packet_output_error(const struct packet_output *output, struct error *error);

/* From any thread: bytes written so far; end a write that waits, which then fails. */
__u64 packet_output_written(const struct packet_output *output);
void packet_output_give_up(struct packet_output *output);

/* ---- the thread and its memory ---- */

/* Take whole blocks (or a header); called in the thread. 0, or -1 and error: never again. */
typedef int packet_taker(void *context, const void *bytes, size_t length, struct error *error);

struct packet_writer;

/*
 * The thread begins. It has the signal mask of the caller. The memory grows to 64 MB where
 * take is slow: two million packets. NULL and error.
 */
struct packet_writer *packet_writer_start(packet_taker *take, void *context,
					  struct error *error);

/* The header, before all blocks. 0, or -1: out of memory. */
int packet_writer_put_header(struct packet_writer *writer,
			     const struct packet_file_header *header);

/*
 * Put a block behind those that are there; records: how many packets are in it. False where
 * the memory is full, or has gone; must: only where there is no more to be had at all.
 */
bool packet_writer_put(struct packet_writer *writer, enum packet_block_type type,
		       const void *payload, size_t size, unsigned int records, bool must);

/*
 * Hand on what has waited for 50 ms; call it after each round of packets. 0, or -1 and
 * error: what take() said, nothing is taken any more.
 */
int packet_writer_poll(struct packet_writer *writer, struct error *error);

/* No more blocks come. */
void packet_writer_finish(struct packet_writer *writer);

/* After packet_writer_finish(): 1 all is taken, 0 not yet, -1 and error as above. */
int packet_writer_finished(struct packet_writer *writer, struct error *error);

/* Records that were put and that take() has not taken. */
__u64 packet_writer_untaken(struct packet_writer *writer);

/*
 * Free it; what is not taken yet is forgotten. Returns false where the thread cannot be
 * ended, because take() does not return: then writer, and what take() uses, must stay.
 */
bool packet_writer_close(struct packet_writer *writer);

#endif
