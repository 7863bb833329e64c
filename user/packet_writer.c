// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "packet_writer.h"

#define CHUNK_SIZE	(1 << 20)
#define CHUNKS_MAX	64
#define HAND_ON_NS	50000000ULL
#define POLL_MS		100
#define END_MS		1000		/* that a thread has for its end */
#define STREAM_SIZE	(64 * 1024)

_Static_assert(CHUNK_SIZE >= PACKET_BLOCK_MAX + sizeof(struct packet_block), "holds any block");

/* ---- where it goes ---- */

struct packet_output {
	int fd;
	const char *name;
	bool is_file;			/* never waited for with poll(2) */
	atomic_ullong written;
	atomic_bool given_up;
	bool failed;
	struct error error;		/* where failed */
};

struct packet_output *packet_output_open(int fd, const char *name)
{
	struct packet_output *output = calloc(1, sizeof(*output));
	struct stat status;

	if (!output)
		return NULL;
	output->fd = fd;
	output->name = name;
	output->is_file = !fstat(fd, &status) && S_ISREG(status.st_mode);
	return output;
}

void packet_output_close(struct packet_output *output)
{
	free(output);
}

/* 0: it can take a little; -1 and errno. */
static int wait_writable(struct packet_output *output)
{
	struct pollfd writable = { .fd = output->fd, .events = POLLOUT };
	int ready;

	do {
		if (atomic_load(&output->given_up)) {
			errno = ETIMEDOUT;
			return -1;
		}
		ready = poll(&writable, 1, POLL_MS);
	} while (!ready || (ready < 0 && errno == EINTR));
	return ready < 0 ? -1 : 0;
}

/* A pipe that poll(2) calls writable takes PIPE_BUF bytes without blocking (pipe(7)). */
static ssize_t write_some(struct packet_output *output, const char *bytes, size_t length)
{
	if (output->is_file)
		return write(output->fd, bytes, length);
	if (wait_writable(output))
		return -1;
	return write(output->fd, bytes, length < PIPE_BUF ? length : PIPE_BUF);
}

int packet_output_write(struct packet_output *output, const void *bytes, size_t length,
			struct error *error)
{
	const char *rest = bytes;
	ssize_t written;

	while (length) {
		written = write_some(output, rest, length);
		if (written > 0) {
			rest += written;
			length -= written;
			atomic_fetch_add(&output->written, written);
			continue;
		}
		if (written < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (!written)
			errno = EIO;
		return error_set(error, EXIT_CANNOT, "cannot write %s: %s%s", output->name,
				 strerror(errno), errno == ENOSPC || errno == EDQUOT ?
				 "; make room there or name another place" : "");
	}
	return 0;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t length)
{
	struct packet_output *output = cookie;

	if (output->failed || packet_output_write(output, bytes, length, &output->error)) {
		output->failed = true;
		errno = EIO;
		return 0;
	}
	return length;
}

FILE *packet_output_stream(struct packet_output *output)
{
	cookie_io_functions_t functions = { .write = stream_write };
	FILE *stream = fopencookie(output, "w", functions);

	if (stream)
		setvbuf(stream, NULL, _IOFBF, STREAM_SIZE);
	return stream;
}

int packet_output_error(const struct packet_output *output, struct error *error)
{
	if (!output->failed)
		return 0;
	*error = output->error;
	return -1;
}

__u64 packet_output_written(const struct packet_output *output)
{
	return atomic_load(&output->written);
}

void packet_output_give_up(struct packet_output *output)
{
	atomic_store(&output->given_up, true);
}

/* ---- the thread and its memory ---- */

struct chunk {
	struct chunk *next;
	size_t used;
	__u64 records;
	char bytes[CHUNK_SIZE] __attribute__((aligned(8)));
};

struct packet_writer {
	packet_taker *take;
	void *context;
	pthread_t thread;
	struct chunk *filling;		/* the caller's alone; NULL: none */
	__u64 filling_since_ns;

	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t news;
	struct chunk *first, *last;	/* handed on */
	struct chunk *spare;
	unsigned int chunks;		/* all that there are */
	__u64 untaken;			/* records handed on */
	bool finishing;			/* no more come */
	bool closing;			/* and those that are there are not wanted */
	bool ended;			/* the thread */
	bool failed;
	struct error error;
};

/* The next chunk to take, or NULL where the end is there. Under the lock. */
static struct chunk *next_chunk(struct packet_writer *writer)
{
	while (!writer->first && !writer->finishing && !writer->closing)
		pthread_cond_wait(&writer->news, &writer->lock);
	return writer->closing ? NULL : writer->first;
}

/* Under the lock. */
static void chunk_taken(struct packet_writer *writer, struct chunk *chunk)
{
	writer->untaken -= chunk->records;
	writer->first = chunk->next;
	if (!writer->first)
		writer->last = NULL;
	chunk->next = writer->spare;
	writer->spare = chunk;
}

static void *write_chunks(void *context)
{
	struct packet_writer *writer = context;
	struct chunk *chunk;
	struct error error;
	int failed = 0;

	pthread_mutex_lock(&writer->lock);
	while (!failed && (chunk = next_chunk(writer))) {
		pthread_mutex_unlock(&writer->lock);
		failed = writer->take(writer->context, chunk->bytes, chunk->used, &error);
		pthread_mutex_lock(&writer->lock);
		if (failed)
			writer->error = error;
		else
			chunk_taken(writer, chunk);
	}
	writer->failed = failed;
	writer->ended = true;
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

struct packet_writer *packet_writer_start(packet_taker *take, void *context,
					  struct error *error)
{
	struct packet_writer *writer = calloc(1, sizeof(*writer));

	if (!writer) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	writer->take = take;
	writer->context = context;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->news, NULL);
	errno = pthread_create(&writer->thread, NULL, write_chunks, writer);
	if (errno) {
		error_set_errno(error, EXIT_CANNOT, "cannot start a thread");
		free(writer);
		return NULL;
	}
	return writer;
}

/* A chunk to fill, or NULL. must: beyond the limit too. */
static struct chunk *get_chunk(struct packet_writer *writer, bool must)
{
	struct chunk *chunk;

	pthread_mutex_lock(&writer->lock);
	chunk = writer->spare;
	if (chunk) {
		writer->spare = chunk->next;
	} else if (must || writer->chunks < CHUNKS_MAX) {
		chunk = malloc(sizeof(*chunk));
		writer->chunks += chunk != NULL;
	}
	pthread_mutex_unlock(&writer->lock);
	if (!chunk)
		return NULL;
	chunk->next = NULL;
	chunk->used = 0;
	chunk->records = 0;
	return chunk;
}

static void hand_on(struct packet_writer *writer)
{
	struct chunk *chunk = writer->filling;

	if (!chunk)
		return;
	writer->filling = NULL;
	pthread_mutex_lock(&writer->lock);
	if (writer->last)
		writer->last->next = chunk;
	else
		writer->first = chunk;
	writer->last = chunk;
	writer->untaken += chunk->records;
	pthread_cond_signal(&writer->news);
	pthread_mutex_unlock(&writer->lock);
}

/* Room for size bytes in one chunk, or NULL. */
static char *reserve(struct packet_writer *writer, size_t size, bool must)
{
	struct chunk *chunk = writer->filling;

	if (chunk && chunk->used + size > CHUNK_SIZE) {
		hand_on(writer);
		chunk = NULL;
	}
	if (!chunk) {
		chunk = writer->filling = get_chunk(writer, must);
		if (!chunk)
			return NULL;
		writer->filling_since_ns = clock_ns(CLOCK_MONOTONIC);
	}
	chunk->used += size;
	return chunk->bytes + chunk->used - size;
}

int packet_writer_put_header(struct packet_writer *writer,
			     const struct packet_file_header *header)
{
	char *room = reserve(writer, sizeof(*header), true);

	if (!room)
		return -1;
	memcpy(room, header, sizeof(*header));
	return 0;
}

bool packet_writer_put(struct packet_writer *writer, enum packet_block_type type,
		       const void *payload, size_t size, unsigned int records, bool must)
{
	struct packet_block head = { .type = type, .size = size };
	char *room = reserve(writer, sizeof(head) + size, must);

	if (!room)
		return false;
	memcpy(room, &head, sizeof(head));
	memcpy(room + sizeof(head), payload, size);
	writer->filling->records += records;
	return true;
}

int packet_writer_poll(struct packet_writer *writer, struct error *error)
{
	bool idle;
	int failed;

	pthread_mutex_lock(&writer->lock);
	failed = writer->failed;
	if (failed)
		*error = writer->error;
	idle = !writer->first;
	pthread_mutex_unlock(&writer->lock);
	if (failed)
		return -1;
	if (idle && writer->filling &&
	    clock_ns(CLOCK_MONOTONIC) - writer->filling_since_ns >= HAND_ON_NS)
		hand_on(writer);
	return 0;
}

void packet_writer_finish(struct packet_writer *writer)
{
	hand_on(writer);
	pthread_mutex_lock(&writer->lock);
	writer->finishing = true;
	pthread_cond_signal(&writer->news);
	pthread_mutex_unlock(&writer->lock);
}

int packet_writer_finished(struct packet_writer *writer, struct error *error)
{
	int finished;

	pthread_mutex_lock(&writer->lock);
	finished = writer->failed ? -1 : writer->ended;
	if (writer->failed)
		*error = writer->error;
	pthread_mutex_unlock(&writer->lock);
	return finished;
}

__u64 packet_writer_untaken(struct packet_writer *writer)
{
	__u64 untaken;

	pthread_mutex_lock(&writer->lock);
	untaken = writer->untaken;
	pthread_mutex_unlock(&writer->lock);
	return untaken + (writer->filling ? writer->filling->records : 0);
}

static void free_chunks(struct chunk *chunk)
{
	struct chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

bool packet_writer_close(struct packet_writer *writer)
{
	struct timespec until;

	if (!writer)
		return true;
	pthread_mutex_lock(&writer->lock);
	writer->closing = true;
	pthread_cond_signal(&writer->news);
	pthread_mutex_unlock(&writer->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_MS / 1000;
	if (pthread_timedjoin_np(writer->thread, NULL, &until))
		return false;
	free_chunks(writer->first);
	free_chunks(writer->spare);
	free(writer->filling);
	pthread_cond_destroy(&writer->news);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
	return true;
}
