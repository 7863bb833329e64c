// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "clock.h"

#define READ_SIZE	65536
#define POLL_STEP_MS	5	/* how often a child without pidfd is looked at */

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

static const char *const directories[] = {
	"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin",
};

/* What the child could not do; sent to the parent over the status pipe. */
enum stage { STAGE_PARENT, STAGE_GROUP, STAGE_NETNS, STAGE_STDIO, STAGE_EXEC };

struct failure {
	int stage;
	int reason;		/* errno */
};

struct pipes {
	int out[2];
	int err[2];
	int status[2];
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static const char *package_of(const char *program)
{
	if (!strcmp(program, "ping"))
		return "iputils-ping";
	return strcmp(program, "tc") ? program : "iproute2";
}

int child_find_program(const char *name, char *path, size_t size, struct error *error)
{
	struct stat status;

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		int length = snprintf(path, size, "%s/%s", directories[i], name);

		if (length < 0 || (size_t)length >= size)
			continue;
		if (!stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK))
			return 0;
	}
	if (size)
		path[0] = '\0';
	return error_set(error, EXIT_CANNOT,
			 "%s is not in /usr/bin, /usr/sbin or /usr/local/bin: install the package %s",
			 name, package_of(name));
}

/* From here to execve only calls that are safe after fork of a process with threads. */

static void child_fail(int status_fd, enum stage stage)
{
	struct failure failure = { .stage = stage, .reason = errno };
	ssize_t written = write(status_fd, &failure, sizeof(failure));

	_exit(written == sizeof(failure) ? 127 : 126);
}

/*
 * Through the system call: glibc's sigaction() refuses the two real-time signals
 * that it keeps for itself, and some parents (make) leave even those ignored.
 */
static void default_signals(void)
{
	/* handler, flags, restorer and mask: all 0 is SIG_DFL (struct kernel_sigaction) */
	unsigned long action[4] = { 0 };
	sigset_t none;

	for (int signal = 1; signal < _NSIG; signal++)
		syscall(SYS_rt_sigaction, signal, action, NULL, _NSIG / 8);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * dup2 to the same number would keep O_CLOEXEC. The pipes are never 0, 1 or 2
 * where the caller keeps these open, but a caller may not.
 */
static int put_fd(int from, int to)
{
	if (from == to)
		return fcntl(from, F_SETFD, 0);
	return dup2(from, to);
}

static void child_run(const struct pipes *pipes, int netns_fd, pid_t parent, char *const argv[])
{
	static char *const environment[] = {
		"LC_ALL=C", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/", NULL
	};
	int status_fd = pipes->status[1];
	int null_fd;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		child_fail(status_fd, STAGE_PARENT);
	/* The parent may have died before prctl: then no signal will come. */
	if (getppid() != parent)
		_exit(127);
	if (setpgid(0, 0))
		child_fail(status_fd, STAGE_GROUP);
	if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET))
		child_fail(status_fd, STAGE_NETNS);
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null_fd < 0 || put_fd(null_fd, STDIN_FILENO) < 0 ||
	    put_fd(pipes->out[1], STDOUT_FILENO) < 0 || put_fd(pipes->err[1], STDERR_FILENO) < 0)
		child_fail(status_fd, STAGE_STDIO);
	/* What we inherited without O_CLOEXEC from whoever started us; Linux 5.11, best effort. */
	syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
	default_signals();
	execve(argv[0], argv, environment);
	child_fail(status_fd, STAGE_EXEC);
}

static int start_error(const struct failure *failure, const char *program, struct error *error)
{
	static const char *const texts[] = {
		[STAGE_PARENT] = "cannot tie %s to the life of sojourn (prctl)",
		[STAGE_GROUP] = "cannot give %s a process group of its own",
		[STAGE_NETNS] = "cannot enter the network namespace for %s (needs CAP_SYS_ADMIN)",
		[STAGE_STDIO] = "cannot connect the input and output of %s",
		[STAGE_EXEC] = "cannot run %s",
	};
	char text[256];

	if (failure->stage < 0 || failure->stage > STAGE_EXEC)
		return error_set(error, EXIT_CANNOT, "%s ended before it started", program);
	snprintf(text, sizeof(text), texts[failure->stage], program);
	errno = failure->reason;
	return error_set_errno(error, EXIT_CANNOT, "%s", text);
}

/*
 * Wait until execve closed the status pipe, or failed. Returns 0, or -1 with
 * failure filled. The pipe ends as well where the child was killed on its way;
 * child_poll() then sees that as it does for any other child.
 */
static int read_status(int fd, struct failure *failure)
{
	ssize_t length;

	do {
		length = read(fd, failure, sizeof(*failure));
	} while (length < 0 && errno == EINTR);
	if (!length)
		return 0;
	if (length != sizeof(*failure))
		failure->stage = -1;
	return -1;
}

static int open_pipes(struct pipes *pipes, struct error *error)
{
	*pipes = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(pipes->out, O_CLOEXEC) || pipe2(pipes->err, O_CLOEXEC) ||
	    pipe2(pipes->status, O_CLOEXEC))
		return error_set_errno(error, EXIT_CANNOT, "cannot make a pipe for a child process");
	if (fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) || fcntl(pipes->err[0], F_SETFL, O_NONBLOCK))
		return error_set_errno(error, EXIT_CANNOT, "cannot set up a pipe for a child process");
	return 0;
}

static void close_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		close_fd(&pipes->out[i]);
		close_fd(&pipes->err[i]);
		close_fd(&pipes->status[i]);
	}
}

/* All signals are blocked over fork: our handlers must not run in the child. */
static pid_t fork_child(const struct pipes *pipes, int netns_fd, char *const argv[])
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		child_run(pipes, netns_fd, parent, argv);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int child_start(struct child *child, int netns_fd, char *const argv[], struct error *error)
{
	struct failure failure = { 0 };
	struct pipes pipes;
	int result = -1;

	*child = (struct child){ .pidfd = -1, .out = -1, .err = -1 };
	if (open_pipes(&pipes, error))
		goto out;
	child->started_ns = clock_ns(CLOCK_MONOTONIC);
	child->pid = fork_child(&pipes, netns_fd, argv);
	if (child->pid < 0) {
		child->pid = 0;
		error_set_errno(error, EXIT_CANNOT, "cannot start %s", argv[0]);
		goto out;
	}
	close_fd(&pipes.status[1]);
	if (read_status(pipes.status[0], &failure)) {
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
		child->pid = 0;
		start_error(&failure, argv[0], error);
		goto out;
	}
	/* Not reaped yet, so the number is still its own. Linux 5.3; -1 before. */
	child->pidfd = syscall(SYS_pidfd_open, child->pid, 0);
	child->out = pipes.out[0];
	child->err = pipes.err[0];
	pipes.out[0] = pipes.err[0] = -1;
	result = 0;
out:
	close_pipes(&pipes);
	return result;
}

/* Room for length more bytes and the NUL; false: beyond the bound, or no memory. */
static bool make_room(char **text, size_t *size, size_t used, size_t length)
{
	size_t wanted = used + length + 1, larger = *size ? *size : 4096;
	char *moved;

	if (used + length > CHILD_OUTPUT_MAX)
		return false;
	while (larger < wanted)
		larger *= 2;
	if (larger == *size)
		return true;
	moved = realloc(*text, larger);
	if (!moved)
		return false;
	*text = moved;
	*size = larger;
	return true;
}

/* Once something was dropped the rest is, too: text with a hole in it would mislead. */
static void keep(char **text, size_t *size, size_t *used, size_t *dropped, const char *data,
		 size_t length)
{
	size_t part = length;

	if (*used + part > CHILD_OUTPUT_MAX)
		part = CHILD_OUTPUT_MAX - *used;
	if (*dropped || !make_room(text, size, *used, part))
		part = 0;
	if (part) {
		memcpy(*text + *used, data, part);
		*used += part;
		(*text)[*used] = '\0';
	}
	*dropped += length - part;
}

static void drain(int *fd, char **text, size_t *size, size_t *used, size_t *dropped)
{
	char data[READ_SIZE];
	ssize_t length;

	while (*fd >= 0) {
		length = read(*fd, data, sizeof(data));
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno == EAGAIN)
			return;
		if (length <= 0) {
			close_fd(fd);
			return;
		}
		keep(text, size, used, dropped, data, length);
	}
}

static void drain_both(struct child *child)
{
	drain(&child->out, &child->out_text, &child->out_size, &child->out_length,
	      &child->out_dropped);
	drain(&child->err, &child->err_text, &child->err_size, &child->err_length,
	      &child->err_dropped);
}

static void reap(struct child *child)
{
	pid_t pid;

	if (child->ended || !child->pid)
		return;
	do {
		pid = waitpid(child->pid, &child->status, WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (!pid)
		return;
	/* Somebody else took its status (SIGCHLD ignored): how it ended is not known. */
	if (pid < 0)
		child->status = 127 << 8;
	child->ended = true;
	child->ended_ns = clock_ns(CLOCK_MONOTONIC);
}

/* The end is looked for first: all that it wrote lies in the pipes by then. */
void child_poll(struct child *child)
{
	reap(child);
	drain_both(child);
}

bool child_wait(struct child *child, int timeout_ms)
{
	__u64 limit = clock_ns(CLOCK_MONOTONIC) + timeout_ms * 1000000ull;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = child->pidfd, .events = POLLIN },
			{ .fd = child->out, .events = POLLIN },
			{ .fd = child->err, .events = POLLIN },
		};
		__u64 now;
		int step = POLL_STEP_MS;

		child_poll(child);
		if (child->ended || !child->pid)
			return true;
		now = clock_ns(CLOCK_MONOTONIC);
		if (timeout_ms >= 0 && now >= limit)
			return false;
		if (child->pidfd >= 0)
			step = 100;
		if (timeout_ms >= 0 && limit - now < step * 1000000ull)
			step = (limit - now) / 1000000 + 1;
		poll(fds, 3, step);
	}
}

void child_stop(struct child *child, int signal, unsigned int timeout_ms)
{
	child_poll(child);
	if (child->ended || !child->pid)
		return;
	kill(child->pid, signal);
	if (child_wait(child, timeout_ms))
		return;
	kill(-child->pid, SIGKILL);
	kill(child->pid, SIGKILL);
	child_wait(child, -1);
}

void child_free(struct child *child)
{
	close_fd(&child->pidfd);
	close_fd(&child->out);
	close_fd(&child->err);
	free(child->out_text);
	free(child->err_text);
	*child = (struct child){ .pidfd = -1, .out = -1, .err = -1 };
}

const char *child_status_text(const struct child *child, char text[CHILD_STATUS_TEXT])
{
	if (!child->ended)
		snprintf(text, CHILD_STATUS_TEXT, "still running");
	else if (WIFSIGNALED(child->status))
		snprintf(text, CHILD_STATUS_TEXT, "signal %d (%s)", WTERMSIG(child->status),
			 strsignal(WTERMSIG(child->status)));
	else
		snprintf(text, CHILD_STATUS_TEXT, "exit code %d", WEXITSTATUS(child->status));
	return text;
}

const char *child_last_words(const struct child *child, char *text, size_t size)
{
	const char *from = child->err_text, *newline;
	size_t length;

	if (!from || !child->err_length)
		return "it said nothing";
	length = strcspn(from, "\n");
	while ((newline = strchr(from, '\n')) && newline[1]) {
		from = newline + 1;
		length = strcspn(from, "\n");
	}
	snprintf(text, size, "%.*s", (int)length, from);
	return text;
}
