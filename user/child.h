/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Child processes: started in a network namespace with an argument vector (no
 * shell), their output kept in memory, dead when we are (PR_SET_PDEATHSIG).
 */
#ifndef SOJOURN_CHILD_H
#define SOJOURN_CHILD_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

struct child {
	pid_t pid;		/* 0 when none runs */
	int pidfd;		/* -1 when none */
	int out;		/* read end of its stdout, non-blocking; -1 at end of file */
	int err;
	char *out_text;		/* what came so far, NUL at the end; owned */
	size_t out_length;
	char *err_text;
	size_t err_length;
	__u64 started_ns;	/* CLOCK_MONOTONIC, just before fork */
	__u64 ended_ns;		/* CLOCK_MONOTONIC, when its end was seen; 0 while it runs */
	int status;		/* as waitpid gives it */
	bool ended;
};

/*
 * Full path of a program in a fixed list of system directories (/usr/bin,
 * /bin, /usr/sbin, /sbin, /usr/local/bin, /usr/local/sbin); the caller's PATH
 * is not asked.
 * Returns 0 and path, or -1 and error (EXIT_CANNOT, with the package that has it).
 */
int child_find_program(const char *name, char *path, size_t size, struct error *error);

/* Start argv[0] (a full path) inside netns_fd (-1: ours). Returns 0, or -1 and error. */
int child_start(struct child *child, int netns_fd, char *const argv[], struct error *error);

/* Take in what the pipes hold and see whether it ended; never blocks. */
void child_poll(struct child *child);

/* Send signal; then wait up to timeout_ms for its end, SIGKILL after that. Leaves it reaped. */
void child_stop(struct child *child, int signal, unsigned int timeout_ms);

/* Free the texts and close the descriptors. The child must have ended. */
void child_free(struct child *child);

#endif
