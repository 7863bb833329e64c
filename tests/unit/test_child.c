// SPDX-License-Identifier: GPL-2.0
/* Children against the shell and the kernel's own view of them. Needs root for the namespace tests only. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"

static void start(struct child *child, char *const argv[])
{
	struct error error = { 0 };

	if (child_start(child, -1, argv, &error))
		fail_msg("%s", error.text);
}

static void run_shell(struct child *child, const char *script, int timeout_ms)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, NULL };

	start(child, argv);
	assert_true(child_wait(child, timeout_ms));
}

static int open_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static bool alive(pid_t pid)
{
	char path[64], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return state != 'Z' && state != 'X';
}

static bool gone_within(pid_t pid, int ms)
{
	for (; ms > 0 && alive(pid); ms -= 10)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	return !alive(pid);
}

static void test_output_and_code(void **state)
{
	struct child child;
	char text[CHILD_STATUS_TEXT];

	(void)state;
	run_shell(&child, "echo out; echo err >&2; exit 7", 10000);
	assert_string_equal(child.out_text, "out\n");
	assert_string_equal(child.err_text, "err\n");
	assert_int_equal(child.out_length, 4);
	assert_true(WIFEXITED(child.status));
	assert_int_equal(WEXITSTATUS(child.status), 7);
	assert_string_equal(child_status_text(&child, text), "exit code 7");
	assert_true(child.ended_ns > child.started_ns);
	assert_true(child.ended_ns - child.started_ns < 10000000000ull);
	child_free(&child);
}

static void test_no_output(void **state)
{
	struct child child;

	(void)state;
	run_shell(&child, "exit 0", 10000);
	assert_null(child.out_text);
	assert_int_equal(child.out_length, 0);
	child_free(&child);
}

static void test_environment_and_input(void **state)
{
	struct child child;

	(void)state;
	setenv("SOJOURN_TEST", "seen", 1);
	run_shell(&child, "echo \"$LC_ALL,$SOJOURN_TEST,$(readlink /proc/$$/fd/0)\"", 10000);
	assert_string_equal(child.out_text, "C,,/dev/null\n");
	child_free(&child);
}

/* A descriptor that we forgot to mark O_CLOEXEC does not reach the child. */
static void test_no_descriptor_leaks(void **state)
{
	struct child child;
	int leak = fcntl(0, F_DUPFD, 20);

	(void)state;
	assert_in_range(leak, 20, 1000);
	run_shell(&child, "for fd in /proc/self/fd/*; do echo \"${fd##*/}\"; done", 10000);
	for (char *line = strtok(child.out_text, "\n"); line; line = strtok(NULL, "\n"))
		assert_int_not_equal(atoi(line), leak);

	child_free(&child);
	close(leak);
}

static void handler(int signal)
{
	(void)signal;
}

static void test_signals_reset(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, catch = { .sa_handler = handler };
	char *argv[] = { "/bin/grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status", NULL };
	struct child child;
	sigset_t set, now;

	(void)state;
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGUSR1, &catch, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start(&child, argv);
	assert_true(child_wait(&child, 10000));
	assert_non_null(strstr(child.out_text, "SigBlk:\t0000000000000000"));
	assert_non_null(strstr(child.out_text, "SigIgn:\t0000000000000000"));
	child_free(&child);
	sigprocmask(SIG_UNBLOCK, &set, &now);
	assert_true(sigismember(&now, SIGTERM));
	assert_false(sigismember(&now, SIGUSR1));
}

static void test_group(void **state)
{
	char *argv[] = { "/bin/sleep", "60", NULL };
	struct child child;
	pid_t pid;

	(void)state;
	start(&child, argv);
	pid = child.pid;
	assert_int_equal(getpgid(pid), pid);
	assert_false(child_wait(&child, 50));
	child_stop(&child, SIGTERM, 5000);
	assert_true(child.ended);
	assert_true(WIFSIGNALED(child.status));
	assert_int_equal(WTERMSIG(child.status), SIGTERM);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	child_free(&child);
}

/* A shell that ignores SIGTERM, and its own child: both are gone after SIGKILL to the group. */
static void test_stubborn(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "trap '' TERM; sleep 61 & echo $!; wait; sleep 62", NULL };
	struct child child;
	pid_t grandchild;

	(void)state;
	start(&child, argv);
	for (int i = 0; i < 500 && !child.out_length; i++)
		child_wait(&child, 10);
	assert_true(child.out_length > 0);
	grandchild = atoi(child.out_text);
	assert_true(alive(grandchild));
	child_stop(&child, SIGTERM, 200);
	assert_true(WIFSIGNALED(child.status));
	assert_int_equal(WTERMSIG(child.status), SIGKILL);
	assert_true(gone_within(grandchild, 5000));
	child_free(&child);
}

static void test_exec_fails(void **state)
{
	char *argv[] = { "/nonexistent/program", NULL };
	struct error error = { 0 };
	struct child child;
	int before = open_descriptors();

	(void)state;
	assert_int_equal(child_start(&child, -1, argv, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "/nonexistent/program"));
	assert_non_null(strstr(error.text, "No such file or directory"));
	assert_int_equal(child.pid, 0);
	child_free(&child);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(open_descriptors(), before);
}

static void test_bad_netns(void **state)
{
	char *argv[] = { "/bin/true", NULL };
	struct error error = { 0 };
	struct child child;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(child_start(&child, fd, argv, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "network namespace"));
	child_free(&child);
	close(fd);
}

/* The child's namespace is the one given, and ours stays what it was. */
static void test_netns(void **state)
{
	char *argv[] = { "/bin/readlink", "/proc/self/ns/net", NULL };
	char wanted[64];
	struct stat own, other, after;
	struct child child;
	struct error error = { 0 };
	int own_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;

	(void)state;
	fstat(own_fd, &own);
	if (unshare(CLONE_NEWNET)) {
		print_message("skipped: no privilege to make a network namespace\n");
		close(own_fd);
		skip();
	}
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	fstat(fd, &other);
	assert_int_equal(setns(own_fd, CLONE_NEWNET), 0);
	assert_int_not_equal(own.st_ino, other.st_ino);

	assert_int_equal(child_start(&child, fd, argv, &error), 0);
	assert_true(child_wait(&child, 10000));
	snprintf(wanted, sizeof(wanted), "net:[%lu]\n", (unsigned long)other.st_ino);
	assert_string_equal(child.out_text, wanted);
	assert_int_equal(stat("/proc/self/ns/net", &after), 0);
	assert_int_equal(after.st_ino, own.st_ino);
	child_free(&child);
	close(fd);
	close(own_fd);
}

/* kill -9 of the parent at once and after a while: the child is dead soon after. */
static void test_parent_killed(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		int report[2];
		pid_t parent, pid = 0;

		assert_int_equal(pipe2(report, O_CLOEXEC), 0);
		parent = fork();
		if (!parent) {
			char *argv[] = { "/bin/sleep", "63", NULL };
			struct child child;

			if (child_start(&child, -1, argv, NULL) ||
			    write(report[1], &child.pid, sizeof(child.pid)) != sizeof(child.pid))
				_exit(1);
			for (;;)
				pause();
		}
		assert_int_equal(read(report[0], &pid, sizeof(pid)), sizeof(pid));
		nanosleep(&(struct timespec){ .tv_nsec = round * 3000000 }, NULL);
		kill(parent, SIGKILL);
		waitpid(parent, NULL, 0);
		assert_true(gone_within(pid, 5000));
		close(report[0]);
		close(report[1]);
	}
}

/* More than the bound: the first CHILD_OUTPUT_MAX bytes stay, the rest is counted, nothing blocks. */
static void test_too_much_output(void **state)
{
	const size_t extra = 100000;
	char script[128];
	struct child child;

	(void)state;
	snprintf(script, sizeof(script), "head -c %zu /dev/zero | tr '\\0' x",
		 CHILD_OUTPUT_MAX + extra);
	run_shell(&child, script, 60000);
	assert_int_equal(WEXITSTATUS(child.status), 0);
	assert_int_equal(child.out_length, CHILD_OUTPUT_MAX);
	assert_int_equal(child.out_dropped, extra);
	assert_int_equal(strspn(child.out_text, "x"), CHILD_OUTPUT_MAX);
	child_free(&child);
}

static void test_descriptors_come_back(void **state)
{
	int before = open_descriptors();

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct child child;

		run_shell(&child, "echo x", 10000);
		child_free(&child);
	}
	assert_int_equal(open_descriptors(), before);
}

static void test_find_program(void **state)
{
	struct error error = { 0 };
	char path[64], small[4];

	(void)state;
	assert_int_equal(child_find_program("sh", path, sizeof(path), &error), 0);
	assert_int_equal(access(path, X_OK), 0);
	assert_int_equal(path[0], '/');
	assert_int_equal(child_find_program("no-such-program", path, sizeof(path), &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "no-such-program"));
	assert_int_equal(child_find_program("sh", small, sizeof(small), &error), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_code),
		cmocka_unit_test(test_no_output),
		cmocka_unit_test(test_environment_and_input),
		cmocka_unit_test(test_no_descriptor_leaks),
		cmocka_unit_test(test_signals_reset),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_stubborn),
		cmocka_unit_test(test_exec_fails),
		cmocka_unit_test(test_bad_netns),
		cmocka_unit_test(test_netns),
		cmocka_unit_test(test_parent_killed),
		cmocka_unit_test(test_too_much_output),
		cmocka_unit_test(test_descriptors_come_back),
		cmocka_unit_test(test_find_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
