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

/* The most that is kept of each of a child's two outputs; the rest is read and counted. */
#define CHILD_OUTPUT_MAX	(64ul << 20)

struct child {
	pid_t pid;		/* 0 when none runs */
	int pidfd;		/* -1 when none */
	int out;		/* read end of its stdout, non-blocking; -1 at end of file */
	int err;
	char *out_text;		/* what came so far, NUL at the end; owned; NULL when nothing came */
	size_t out_length;
	size_t out_dropped;	/* bytes beyond CHILD_OUTPUT_MAX, or for which there was no memory */
	char *err_text;
	size_t err_length;
	size_t err_dropped;
	size_t out_size;	/* room behind out_text and err_text */
	size_t err_size;
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

/*
 * Start argv[0] (a full path) inside netns_fd (-1: ours), in a process group of
 * its own, stdin from /dev/null, signals as after boot, a minimal environment
 * with LC_ALL=C. What fails in the child up to and with execve comes back here.
 * Returns 0, or -1 and error; child_free() is right in either case.
 *
 * The kernel sends the parent-death signal when the *thread* that forked ends
 * (kernel/exit.c, reparent_leader; prctl(2)): start children from a thread that
 * lives as long as the run, the main thread as a rule. It also forgets the
 * signal at an execve that gains privilege (kernel/cred.c, commit_creds); root
 * running ping with file capabilities gains none.
 */
int child_start(struct child *child, int netns_fd, char *const argv[], struct error *error);

/* Take in what the pipes hold and see whether it ended; never blocks. */
void child_poll(struct child *child);

/*
 * Wait until it ended or timeout_ms (-1: for ever) are over, taking in its
 * output. Returns true where it ended.
 */
bool child_wait(struct child *child, int timeout_ms);

/*
 * Send signal; then wait up to timeout_ms for its end, then SIGKILL to its whole
 * process group. Leaves it reaped, with all that it printed taken in.
 */
void child_stop(struct child *child, int signal, unsigned int timeout_ms);

/* Free the texts and close the descriptors. The child must have ended. */
void child_free(struct child *child);

/*
 * How it ended, for a person: "exit code 1", "signal 9 (Killed)", "still
 * running". Returns text.
 */
#define CHILD_STATUS_TEXT 64
const char *child_status_text(const struct child *child, char text[CHILD_STATUS_TEXT]);

/* The last line that it said on stderr, cut to fit; returns text, or words that say there is none. */
const char *child_last_words(const struct child *child, char *text, size_t size);

#endif
