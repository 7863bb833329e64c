// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "lab_remove.h"

#define SOCKET_FD	3	/* where the guard keeps its two descriptors */
#define PARENT_FD	4
#define MESSAGE_SIZE	(PATH_MAX + 16)
#define PROCESSES_MS	500	/* for what has PR_SET_PDEATHSIG to die */

#define LAB_MESSAGE	"lab "
#define FILE_MESSAGE	"file "
#define BYE_MESSAGE	"bye"
#define READY_MESSAGE	"ready"

struct guard {
	pid_t pid;
	int socket;
};

/* What the guard was told of, latest first. */
struct duty {
	struct duty *next;
	char text[];
};

static const int ignored_signals[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2,
};

/* The descriptors to keep go to fixed places; all others, whoever opened them, are closed. */
static int keep_only(int socket, int parent)
{
	int null, i;

	/* Out of the way of the fixed places first. */
	socket = fcntl(socket, F_DUPFD, PARENT_FD + 1);
	parent = fcntl(parent, F_DUPFD, PARENT_FD + 1);
	null = open("/dev/null", O_RDWR);
	if (socket < 0 || parent < 0 || null < 0)
		return -1;
	for (i = 0; i < SOCKET_FD; i++) {
		if (i != null && dup2(null, i) < 0)
			return -1;
	}
	if (dup2(socket, SOCKET_FD) < 0 || dup2(parent, PARENT_FD) < 0)
		return -1;
	return syscall(SYS_close_range, PARENT_FD + 1, ~0u, 0);
}

static void detach(void)
{
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(ignored_signals) / sizeof(ignored_signals[0]); i++)
		signal(ignored_signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	prctl(PR_SET_NAME, "sojourn-guard");
	if (chdir("/"))
		return;		/* it only keeps a file system busy */
}

static int remember(struct duty **duties, const char *text)
{
	size_t size = strlen(text) + 1;
	struct duty *duty = malloc(sizeof(*duty) + size);

	if (!duty)
		return -1;
	memcpy(duty->text, text, size);
	duty->next = *duties;
	*duties = duty;
	return 0;
}

static ssize_t receive(int socket, char *text, size_t size)
{
	ssize_t length;

	do {
		length = recv(socket, text, size - 1, 0);
	} while (length < 0 && errno == EINTR);
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* Listen until the parent closes its end. True where it said farewell. */
static bool listen_to_parent(struct duty **duties)
{
	char text[MESSAGE_SIZE];

	while (receive(SOCKET_FD, text, sizeof(text)) > 0) {
		if (!strcmp(text, BYE_MESSAGE))
			return true;
		/* The answer tells the parent that it can go on and make it. */
		if (remember(duties, text) ||
		    send(SOCKET_FD, READY_MESSAGE, strlen(READY_MESSAGE), MSG_NOSIGNAL) < 0)
			break;
	}
	return false;
}

/* A descriptor closes before its process is dead; a pidfd tells when it is. */
static void wait_for_death(void)
{
	struct pollfd parent = { .fd = PARENT_FD, .events = POLLIN };

	while (poll(&parent, 1, -1) < 0 && errno == EINTR)
		;
}

static void clean_up(const struct duty *duties, const struct lab_owner *owner)
{
	const struct duty *duty;

	for (duty = duties; duty; duty = duty->next) {
		if (!strncmp(duty->text, FILE_MESSAGE, strlen(FILE_MESSAGE)))
			unlink(duty->text + strlen(FILE_MESSAGE));
	}
	for (duty = duties; duty; duty = duty->next) {
		const char *prefix = duty->text + strlen(LAB_MESSAGE);

		if (strncmp(duty->text, LAB_MESSAGE, strlen(LAB_MESSAGE)))
			continue;
		lab_wait_for_processes(prefix, owner, PROCESSES_MS);
		lab_remove_owned(prefix, owner, NULL);
	}
}

static void guard_main(int socket, int parent, const struct lab_owner *owner)
{
	struct duty *duties = NULL;

	detach();
	if (keep_only(socket, parent) ||
	    send(SOCKET_FD, READY_MESSAGE, strlen(READY_MESSAGE), MSG_NOSIGNAL) < 0)
		_exit(EXIT_FAILURE);
	if (listen_to_parent(&duties))
		_exit(EXIT_SUCCESS);
	close(SOCKET_FD);
	wait_for_death();
	clean_up(duties, owner);
	_exit(EXIT_SUCCESS);
}

/* Fork with all signals blocked, so that none ends the guard before it ignores them. */
static pid_t fork_guard(int socket, int parent_end, int parent, const struct lab_owner *owner)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		close(parent_end);
		guard_main(socket, parent, owner);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int wait_ready(struct guard *guard, struct error *error)
{
	char text[MESSAGE_SIZE];

	if (receive(guard->socket, text, sizeof(text)) > 0 && !strcmp(text, READY_MESSAGE))
		return 0;
	return error_set(error, EXIT_CANNOT,
			 "the guard process (pid %d) has ended: what is made could not be removed after a crash",
			 (int)guard->pid);
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

struct guard *guard_start(struct error *error)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	int ends[2] = { -1, -1 }, parent = -1;
	struct lab_owner owner;

	if (!guard) {
		error_set_errno(error, EXIT_CANNOT, "cannot start the guard process");
		return NULL;
	}
	lab_owner_self(&owner);
	parent = syscall(SYS_pidfd_open, owner.pid, 0);
	if (parent < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		error_set_errno(error, EXIT_CANNOT, "cannot start the guard process");
		goto fail;
	}
	guard->socket = ends[0];
	guard->pid = fork_guard(ends[1], ends[0], parent, &owner);
	if (guard->pid < 0) {
		error_set_errno(error, EXIT_CANNOT, "cannot start the guard process");
		goto fail;
	}
	close(ends[1]);
	close(parent);
	if (!wait_ready(guard, error))
		return guard;
	guard_stop(guard);
	return NULL;
fail:
	if (ends[0] >= 0) {
		close(ends[0]);
		close(ends[1]);
	}
	if (parent >= 0)
		close(parent);
	free(guard);
	return NULL;
}

static int tell(struct guard *guard, const char *what, const char *name, struct error *error)
{
	char text[MESSAGE_SIZE];
	int length = snprintf(text, sizeof(text), "%s%s", what, name);

	if (length < 0 || length >= (int)sizeof(text) - 1)
		return error_set(error, EXIT_USAGE, "'%.80s...' is too long a name", name);
	if (send(guard->socket, text, length, MSG_NOSIGNAL) < 0)
		return error_set_errno(error, EXIT_CANNOT, "the guard process (pid %d) has ended",
				       (int)guard->pid);
	return wait_ready(guard, error);
}

int guard_lab(struct guard *guard, const char *prefix, struct error *error)
{
	if (lab_prefix_check(prefix, error))
		return -1;
	return tell(guard, LAB_MESSAGE, prefix, error);
}

int guard_file(struct guard *guard, const char *path, struct error *error)
{
	if (path[0] != '/')
		return error_set(error, EXIT_USAGE, "'%s' is not an absolute path", path);
	return tell(guard, FILE_MESSAGE, path, error);
}

void guard_leave(struct guard *guard)
{
	if (!guard)
		return;
	close(guard->socket);
	free(guard);
}

void guard_stop(struct guard *guard)
{
	if (!guard)
		return;
	send(guard->socket, BYE_MESSAGE, strlen(BYE_MESSAGE), MSG_NOSIGNAL);
	close(guard->socket);
	reap(guard->pid);
	free(guard);
}
