// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command, send it a signal after a time, and see what outlives it.
 *
 *   kill_after MILLISECONDS SIGNAL WAIT_MS COMMAND [ARGUMENT]...
 *
 * This process is the reaper of everything that the command leaves
 * (PR_SET_CHILD_SUBREAPER), so that no descendant can hide in a session or a
 * process group of its own. It waits up to WAIT_MS for all of them to end, kills
 * and counts those that did not, and prints
 *   {"pid":…,"exit":…,"signal":…,"killed":true,"left":…,"last_end_ms":…}
 * Times run from the signal, or from the end of a command that ended before it. What the command prints goes to stderr.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/* Reap what has ended. Returns -1 when there is no child any more. */
static int reap(pid_t command, int *status, bool *ended)
{
	pid_t pid;
	int value;

	while ((pid = waitpid(-1, &value, WNOHANG)) > 0) {
		if (pid == command) {
			*status = value;
			*ended = true;
		}
	}
	return pid < 0 && errno == ECHILD ? -1 : 0;
}

/* Kill the children that are left, one generation after the other. */
static unsigned int kill_children(void)
{
	char path[64], text[4096];
	unsigned int count = 0;
	FILE *file;
	char *at, *end;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	for (at = text; ; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			return count;
		kill(pid, SIGKILL);
		count++;
	}
}

static pid_t start(char *argv[])
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	fprintf(stderr, "kill_after: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int main(int argc, char *argv[])
{
	long after, patience;
	long long begin, signalled = 0;
	unsigned int left = 0;
	int number, status = 0;
	bool sent = false, ended = false;
	pid_t command;

	if (argc < 5) {
		fprintf(stderr, "kill_after MILLISECONDS SIGNAL WAIT_MS COMMAND...\n");
		return 2;
	}
	after = strtol(argv[1], NULL, 10);
	number = strtol(argv[2], NULL, 10);
	patience = strtol(argv[3], NULL, 10);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin = now_ms();
	command = start(argv + 4);
	if (command < 0)
		return 1;
	for (;;) {
		if (reap(command, &status, &ended) < 0)
			break;
		/* Its pid may be another's once it is reaped. */
		if (!signalled && (ended || now_ms() - begin >= after)) {
			sent = !ended && !kill(command, number);
			signalled = now_ms();
		}
		if (signalled && now_ms() - signalled > patience) {
			left = kill_children();
			while (kill_children() > 0)
				reap(command, &status, &ended);
			break;
		}
		sleep_ms(1);
	}
	printf("{\"pid\":%d,\"exit\":%d,\"signal\":%d,\"killed\":%s,\"left\":%u,\"last_end_ms\":%lld}\n",
	       command, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0, sent ? "true" : "false", left,
	       signalled ? now_ms() - signalled : 0);
	return 0;
}
