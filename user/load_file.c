// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load_file.h"

/* Not /tmp, which may lie in memory. */
#define DIRECTORY	"/var/tmp"
#define CHUNK		(1 << 20)

/* Nothing that a file system or a link could make smaller. */
static void fill_with_noise(__u64 *words, size_t count)
{
	__u64 state = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < count; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		words[i] = state;
	}
}

static int write_bytes(int fd, const char *chunk, __u64 bytes, struct error *error)
{
	while (bytes) {
		ssize_t written = write(fd, chunk, bytes < CHUNK ? bytes : CHUNK);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return error_set_errno(error, EXIT_CANNOT,
					       "load.file=temporary: cannot write %llu bytes more to " DIRECTORY,
					       (unsigned long long)bytes);
		bytes -= (__u64)written;
	}
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return error_set_errno(error, EXIT_CANNOT,
				       "load.file=temporary: cannot write it out to " DIRECTORY);
	return 0;
}

static int fill(int fd, __u64 bytes, struct error *error)
{
	char *chunk = malloc(CHUNK);
	int failed;

	if (!chunk)
		return error_set(error, EXIT_CANNOT, "out of memory");
	fill_with_noise((__u64 *)chunk, CHUNK / sizeof(__u64));
	failed = write_bytes(fd, chunk, bytes, error);
	free(chunk);
	return failed;
}

int load_file_make(const struct scenario_load *load, enum load_direction direction,
		   char path[LOAD_FILE_PATH], struct error *error)
{
	int fd;

	path[0] = '\0';
	if (strcmp(load->file, LOAD_FILE_TEMPORARY))
		return -1;
	fd = open(DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		error_set_errno(error, EXIT_CANNOT,
				"load.file=temporary: cannot make a file in " DIRECTORY
				"; name one by load.file=PATH");
		return -2;
	}
	if (direction != LOAD_DOWN && fill(fd, load->bytes, error)) {
		close(fd);
		return -2;
	}
	snprintf(path, LOAD_FILE_PATH, "/proc/%d/fd/%d", getpid(), fd);
	return fd;
}
