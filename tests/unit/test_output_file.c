// SPDX-License-Identifier: GPL-2.0
/*
 * Output files: whole or not at all, in every way in which that can go wrong.
 * Each test has a directory of its own, and leaves no descriptor open. What
 * needs root or a mount says so where it is skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard.h"
#include "output_file.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define STRANGER	12345
#define BIG		(3u << 20)
#define SKIPPED		77	/* exit code of a child */

static char top[PATH_MAX];	/* the directory of the test */
static bool is_child;		/* of a test: cmocka's own assertions would go on as a second runner */
static int descriptors_before;

#define check(condition) \
	do { \
		if (condition) \
			break; \
		if (!is_child) \
			fail_msg("line %d: %s (errno %s)", __LINE__, #condition, strerror(errno)); \
		fprintf(stderr, "line %d, in a child: %s (errno %s)\n", __LINE__, #condition, \
			strerror(errno)); \
		_exit(1); \
	} while (0)

/* ---- helpers ---- */

static const char *in_top(const char *name)
{
	static char paths[4][2 * PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static int count_entries(const char *path)
{
	DIR *directory = opendir(path);
	int count = -2;		/* "." and ".." */

	check(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	check(fd >= 0);
	check(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static bool holds_text(const char *path, const char *text, size_t length)
{
	char *found = malloc(length + 2);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got, all = 0;
	bool same;

	check(found);
	check(fd >= 0);
	while ((got = read(fd, found + all, length + 1 - all)) > 0)
		all += got;
	close(fd);
	same = all == (ssize_t)length && !memcmp(found, text, length);
	free(found);
	return same;
}

static bool reads(const char *path, const char *text)
{
	return holds_text(path, text, strlen(text));
}

static char *big_text(void)
{
	char *text = malloc(BIG);

	check(text);
	for (size_t i = 0; i < BIG; i++)
		text[i] = (char)('a' + i % 25 + (i >> 16) % 2);
	return text;
}

static struct output_file *open_output(const char *path, struct guard *guard)
{
	struct error error = { 0 };
	struct output_file *file = output_file_open(path, guard, &error);

	if (!file)
		fprintf(stderr, "%s\n", error.text);
	check(file);
	return file;
}

static void finish(struct output_file *file, const char *text)
{
	struct error error = { 0 };

	if (output_file_finish(file, text, strlen(text), &error)) {
		fprintf(stderr, "%s\n", error.text);
		check(!"output_file_finish");
	}
}

static void write_output(const char *path, const char *text)
{
	finish(open_output(path, NULL), text);
}

static void assert_refused(const char *path, const char *why)
{
	struct error error = { 0 };

	if (output_file_open(path, NULL, &error))
		fail_msg("%.100s taken", path);
	assert_int_equal(error.code, EXIT_USAGE);
	assert_null(strchr(error.text, '\n'));
	if (!strstr(error.text, why) || (strlen(path) < 200 && !strstr(error.text, path)))
		fail_msg("\"%s\" does not say \"%s\" and \"%.100s\"", error.text, why, path);
}

static void in_child(void (*body)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		is_child = true;
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("the child ended with status %#x", status);
}

/* From now on this process has no O_TMPFILE, as on NFS; its other calls are left alone. */
static void lose_tmpfile(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2]) +
			 (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = COUNT(code), .filter = code };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	check(open(top, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) < 0 && errno == EOPNOTSUPP);
}

static bool need_root(const char *why)
{
	if (!geteuid())
		return true;
	printf("needs root: %s\n", why);
	return false;
}

/* A small tmpfs on a new directory, in a mount namespace of ours. */
static void mount_small(const char *options)
{
	check(!mkdir(in_top("small"), 0755));
	if (!mount("tmpfs", in_top("small"), "tmpfs", 0, options))
		return;
	printf("tmpfs cannot be mounted here: %s\n", strerror(errno));
	fflush(stdout);
	_exit(SKIPPED);
}

static int own_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("no mount namespace of our own: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

/* ---- each test's directory ---- */

static int count_descriptors(void)
{
	return count_entries("/proc/self/fd");
}

static int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/sojourn-output-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	umask(022);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	descriptors_before = count_descriptors();
	return 0;
}

static void remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	DIR *directory;

	if (fd < 0) {
		unlinkat(parent, name, 0);
		return;
	}
	directory = fdopendir(fd);
	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_tree(fd, entry->d_name);
	}
	closedir(directory);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static int remove_top(void **state)
{
	int descriptors = count_descriptors();

	(void)state;
	remove_tree(AT_FDCWD, top);
	if (descriptors != descriptors_before) {
		fprintf(stderr, "%d descriptors, %d before\n", descriptors, descriptors_before);
		return -1;
	}
	return 0;
}

/* ---- a new file ---- */

static void check_new_file(void)
{
	const char *path = in_top("run.json");
	struct output_file *file;
	char *text = big_text();
	struct error error;
	struct stat status;

	file = open_output(path, NULL);
	check(access(path, F_OK));
	check(!output_file_finish(file, text, BIG, &error));
	check(holds_text(path, text, BIG));
	check(!lstat(path, &status) && S_ISREG(status.st_mode));
	check((status.st_mode & 07777) == 0644);
	check(status.st_nlink == 1 && status.st_uid == geteuid());
	check(count_entries(top) == 1);
	free(text);

	file = open_output(in_top("cancelled"), NULL);
	output_file_cancel(file);
	check(count_entries(top) == 1);
	output_file_cancel(NULL);

	umask(077);
	write_output(in_top("private"), "");
	check(!stat(in_top("private"), &status) && (status.st_mode & 07777) == 0600);
	check(!status.st_size);
	umask(0);
	write_output(in_top("open"), "x");
	check(!stat(in_top("open"), &status) && (status.st_mode & 07777) == 0644);
}

static void test_new_file(void **state)
{
	(void)state;
	check_new_file();
}

/* A name without a directory, and one through "." and "..". */
static void check_relative(void)
{
	check(!mkdir(in_top("below"), 0755));
	check(!chdir(top));
	write_output("plain", "1");
	write_output("./below/../below//deep", "2");
	write_output("below/./../up", "3");
	check(reads(in_top("plain"), "1") && reads(in_top("below/deep"), "2") &&
	      reads(in_top("up"), "3"));
	/* The place is where it was when it was opened, wherever the process goes. */
	struct output_file *file = open_output("later", NULL);

	check(!chdir("/"));
	finish(file, "4");
	check(reads(in_top("later"), "4"));
	check(count_entries(top) == 4);
}

static void test_relative(void **state)
{
	(void)state;
	in_child(check_relative);
}

/* Until it is finished there is nothing that a SIGKILL could leave: no guard is needed. */
static void check_nothing_has_a_name(void)
{
	int fd = open(top, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0) {
		printf("/tmp has no O_TMPFILE\n");
		return;
	}
	close(fd);
	open_output(in_top("new"), NULL);
	make_file(in_top("old"), "old");
	open_output(in_top("old"), NULL);
	check(count_entries(top) == 1);
	kill(getpid(), SIGKILL);
}

static void test_nothing_has_a_name(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		is_child = true;
		check_nothing_has_a_name();
		_exit(SKIPPED);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(count_entries(top), 1);
	assert_true(reads(in_top("old"), "old"));
}

/* ---- in place of another file ---- */

static void check_replaced(void)
{
	const char *path = in_top("run.json");
	struct output_file *file;
	struct stat before, after;
	char old[16];
	int reader;

	make_file(path, "old text");
	check(!chmod(path, 04640));
	if (!geteuid())
		check(!chown(path, STRANGER, STRANGER + 1) && !chmod(path, 04640));
	check(!stat(path, &before));
	reader = open(path, O_RDONLY | O_CLOEXEC);
	file = open_output(path, NULL);
	check(reads(path, "old text"));
	finish(file, "new");
	check(reads(path, "new"));
	/* Who had it open still reads the old one: it was replaced, not overwritten. */
	check(read(reader, old, sizeof(old)) == 8 && !memcmp(old, "old text", 8));
	close(reader);
	check(!stat(path, &after));
	check(after.st_ino != before.st_ino);
	check(after.st_uid == before.st_uid && after.st_gid == before.st_gid);
	check((after.st_mode & 07777) == 0640);
	check(count_entries(top) == 1);

	output_file_cancel(open_output(path, NULL));
	check(reads(path, "new"));
	check(count_entries(top) == 1);
}

static void test_replaced(void **state)
{
	(void)state;
	check_replaced();
}

static void check_appeared_meanwhile(void)
{
	struct output_file *file = open_output(in_top("file"), NULL);
	struct error error = { 0 };
	struct stat status;

	make_file(in_top("file"), "theirs");
	check(!chmod(in_top("file"), 0600));
	finish(file, "ours");
	check(reads(in_top("file"), "ours"));
	check(!stat(in_top("file"), &status) && (status.st_mode & 07777) == 0600);

	file = open_output(in_top("directory"), NULL);
	check(!mkdir(in_top("directory"), 0755));
	check(output_file_finish(file, "ours", 4, &error) == -1);
	check(error.code == EXIT_CANNOT && strstr(error.text, "it is a directory"));
	check(!count_entries(in_top("directory")));
	check(count_entries(top) == 2);

	/* A link that somebody plants in the meantime is not followed. */
	make_file(in_top("victim"), "untouched");
	file = open_output(in_top("planted"), NULL);
	check(!symlink("victim", in_top("planted")));
	check(output_file_finish(file, "ours", 4, &error) == -1);
	check(reads(in_top("victim"), "untouched"));
	check(count_entries(top) == 4);

	/* And what has gone in the meantime is made anew. */
	make_file(in_top("gone"), "old");
	file = open_output(in_top("gone"), NULL);
	check(!unlink(in_top("gone")));
	finish(file, "new");
	check(reads(in_top("gone"), "new"));
	check(count_entries(top) == 5);
}

static void test_appeared_meanwhile(void **state)
{
	(void)state;
	check_appeared_meanwhile();
}

static void test_two_for_one_place(void **state)
{
	struct output_file *first, *second;

	(void)state;
	first = open_output(in_top("run.json"), NULL);
	second = open_output(in_top("run.json"), NULL);
	finish(second, "second");
	finish(first, "first");
	assert_true(reads(in_top("run.json"), "first"));
	assert_int_equal(count_entries(top), 1);
}

/* ---- without O_TMPFILE ---- */

static void check_without_tmpfile(void)
{
	struct output_file *file;
	struct stat status;

	lose_tmpfile();
	check_new_file();
	umask(022);
	check(!unlink(in_top("run.json")) && !unlink(in_top("private")) && !unlink(in_top("open")));
	check_replaced();
	check(!unlink(in_top("run.json")));
	check_appeared_meanwhile();
	/* What replaces a private file is at no time open to others. */
	make_file(in_top("private"), "old");
	check(!chmod(in_top("private"), 0600));
	file = open_output(in_top("private"), NULL);
	check(count_entries(top) == 7);
	DIR *directory = opendir(top);
	struct dirent *entry;

	while ((entry = readdir(directory))) {
		if (!strncmp(entry->d_name, ".sojourn-", 9))
			check(!stat(in_top(entry->d_name), &status) &&
			      (status.st_mode & 07777) == 0600);
	}
	closedir(directory);
	output_file_cancel(file);
	check(count_entries(top) == 6);
}

static void test_without_tmpfile(void **state)
{
	(void)state;
	in_child(check_without_tmpfile);
}

static void die_guarded(void)
{
	struct error error = { 0 };
	struct guard *guard = guard_start(&error);

	check(guard);
	lose_tmpfile();
	open_output(in_top("new"), guard);
	open_output(in_top("old"), guard);
	check(count_entries(top) == 3);
	kill(getpid(), SIGKILL);
}

/* Where it must have a name from the beginning, the guard removes it. */
static void test_guard_removes_it(void **state)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	int status, i;
	pid_t pid;

	(void)state;
	if (!need_root("the guard"))
		skip();
	make_file(in_top("old"), "old");
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		is_child = true;
		die_guarded();
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (i = 0; i < 1000 && count_entries(top) > 1; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(count_entries(top), 1);
	assert_true(reads(in_top("old"), "old"));
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char long_name[NAME_MAX + 2], socket_path[sizeof(address.sun_path)];
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	make_file(in_top("file"), "text");
	assert_int_equal(mkdir(in_top("directory"), 0755), 0);
	assert_int_equal(mkfifo(in_top("fifo"), 0644), 0);
	snprintf(socket_path, sizeof(socket_path), "%.80s/socket", top);
	memcpy(address.sun_path, socket_path, sizeof(socket_path));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	close(listener);

	assert_refused("", "the name is empty");
	assert_refused("/", "it is a directory");
	assert_refused(".", "it is a directory");
	assert_refused("..", "it is a directory");
	assert_refused(in_top("directory"), "it is a directory");
	assert_refused(in_top("directory/"), "it is a directory");
	assert_refused(in_top("directory/."), "it is a directory");
	assert_refused(in_top("new/"), "its directory does not exist");
	assert_refused(in_top("missing/run.json"), "its directory does not exist");
	assert_refused(in_top("file/run.json"), "Not a directory");
	assert_refused(in_top("file/"), "Not a directory");
	assert_refused(in_top("fifo"), "it is no regular file");
	assert_refused(in_top("socket"), "it is no regular file");
	assert_refused("/dev/null", "it is no regular file; for standard output write -");
	assert_refused("/dev/full", "it is no regular file");
	assert_refused("/proc/self/fd/1", "for standard output write -");
	memset(long_name, 'n', sizeof(long_name));
	long_name[NAME_MAX + 1] = '\0';
	assert_refused(in_top(long_name), "File name too long");
	long_name[NAME_MAX] = '\0';
	write_output(in_top(long_name), "longest name");
	assert_true(reads(in_top(long_name), "longest name"));
	assert_int_equal(count_entries(top), 5);
}

/* root may write anywhere: as somebody else. */
static void check_no_permission(void)
{
	struct error error = { 0 };

	check(!seteuid(STRANGER));
	check(!output_file_open(in_top("closed/run.json"), NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "Permission denied"));
	check(strstr(error.text, "closed/run.json"));
	/* In a directory where rename(2) would be allowed, the file itself decides. */
	check(!output_file_open(in_top("shared/theirs"), NULL, &error));
	check(strstr(error.text, "Permission denied"));
	/* Writable, but its owner would be another one afterwards. */
	check(!output_file_open(in_top("shared/everybodys"), NULL, &error));
	check(strstr(error.text, "it belongs to somebody else"));
	write_output(in_top("shared/ours"), "ours");
	check(!seteuid(0));
	check(reads(in_top("shared/ours"), "ours") && reads(in_top("shared/theirs"), "theirs"));
	check(count_entries(in_top("shared")) == 3);
}

static void test_no_permission(void **state)
{
	(void)state;
	if (!need_root("to become somebody else"))
		skip();
	assert_int_equal(chmod(top, 0755), 0);
	assert_int_equal(mkdir(in_top("closed"), 0755), 0);
	assert_int_equal(mkdir(in_top("shared"), 0755), 0);
	assert_int_equal(chmod(in_top("shared"), 0777), 0);
	make_file(in_top("shared/theirs"), "theirs");
	make_file(in_top("shared/everybodys"), "text");
	assert_int_equal(chmod(in_top("shared/everybodys"), 0666), 0);
	in_child(check_no_permission);
}

/* ---- symbolic links ---- */

static void assert_still_link(const char *path, const char *target)
{
	char found[PATH_MAX];
	ssize_t length = readlink(path, found, sizeof(found));

	assert_int_equal(length, strlen(target));
	assert_memory_equal(found, target, length);
}

static void test_links(void **state)
{
	struct output_file *file;

	(void)state;
	assert_int_equal(mkdir(in_top("real"), 0755), 0);
	make_file(in_top("real/file"), "old");
	assert_int_equal(symlink("real/file", in_top("relative")), 0);
	assert_int_equal(symlink(in_top("real/file"), in_top("absolute")), 0);
	assert_int_equal(symlink("relative", in_top("chain")), 0);
	assert_int_equal(symlink("real", in_top("directory")), 0);
	assert_int_equal(symlink("../real/../chain", in_top("real/winding")), 0);

	write_output(in_top("relative"), "1");
	assert_true(reads(in_top("real/file"), "1"));
	write_output(in_top("absolute"), "2");
	assert_true(reads(in_top("real/file"), "2"));
	write_output(in_top("chain"), "3");
	assert_true(reads(in_top("real/file"), "3"));
	write_output(in_top("directory/file"), "4");
	assert_true(reads(in_top("real/file"), "4"));
	write_output(in_top("directory/winding"), "5");
	assert_true(reads(in_top("real/file"), "5"));
	write_output(in_top("directory/new"), "6");
	assert_true(reads(in_top("real/new"), "6"));
	assert_still_link(in_top("relative"), "real/file");
	assert_still_link(in_top("chain"), "relative");
	assert_still_link(in_top("directory"), "real");

	/* Turned to another file in the meantime: the place stays what it was. */
	make_file(in_top("other"), "other");
	file = open_output(in_top("relative"), NULL);
	assert_int_equal(unlink(in_top("relative")), 0);
	assert_int_equal(symlink("other", in_top("relative")), 0);
	finish(file, "7");
	assert_true(reads(in_top("real/file"), "7"));
	assert_true(reads(in_top("other"), "other"));

	assert_int_equal(symlink("nothing", in_top("dangling")), 0);
	assert_refused(in_top("dangling"), "a symbolic link whose target does not exist");
	assert_int_equal(symlink("missing/nothing", in_top("lost")), 0);
	assert_refused(in_top("lost"), "its directory does not exist");
	assert_int_equal(symlink("real", in_top("to-directory")), 0);
	assert_refused(in_top("to-directory"), "it is a directory");
	assert_int_equal(symlink("/dev/null", in_top("to-device")), 0);
	assert_refused(in_top("to-device"), "it is no regular file");
	assert_int_equal(symlink("one", in_top("two")), 0);
	assert_int_equal(symlink("two", in_top("one")), 0);
	assert_refused(in_top("one"), "Too many levels of symbolic links");
	assert_int_equal(count_entries(in_top("real")), 3);
}

/* What another user left in a directory like /tmp; whatever fs.protected_symlinks is here. */
static void test_traps(void **state)
{
	(void)state;
	if (!need_root("files of other users"))
		skip();
	assert_int_equal(mkdir(in_top("sticky"), 0755), 0);
	assert_int_equal(chmod(in_top("sticky"), 01777), 0);
	make_file(in_top("victim"), "untouched");
	assert_int_equal(symlink("../victim", in_top("sticky/trap")), 0);
	assert_int_equal(lchown(in_top("sticky/trap"), STRANGER, STRANGER), 0);
	assert_int_equal(symlink("..", in_top("sticky/way")), 0);
	assert_int_equal(lchown(in_top("sticky/way"), STRANGER, STRANGER), 0);
	assert_int_equal(symlink("../victim", in_top("sticky/mine")), 0);
	make_file(in_top("sticky/theirs"), "theirs");
	assert_int_equal(chown(in_top("sticky/theirs"), STRANGER, STRANGER), 0);

	assert_refused(in_top("sticky/trap"), "a symbolic link of another user");
	assert_refused(in_top("sticky/way/victim"), "a symbolic link of another user");
	assert_refused(in_top("sticky/way/new"), "a symbolic link of another user");
	assert_refused(in_top("sticky/theirs"), "it belongs to another user");
	assert_true(reads(in_top("victim"), "untouched"));
	write_output(in_top("sticky/mine"), "followed");
	assert_true(reads(in_top("victim"), "followed"));

	/* The user who called sudo, and the owner of the directory, are no strangers. */
	setenv("SUDO_UID", "12345", 1);
	write_output(in_top("sticky/theirs"), "ours now");
	assert_true(reads(in_top("sticky/theirs"), "ours now"));
	write_output(in_top("sticky/trap"), "by sudo");
	assert_true(reads(in_top("victim"), "by sudo"));
	unsetenv("SUDO_UID");
	assert_int_equal(chown(in_top("sticky"), STRANGER, STRANGER), 0);
	write_output(in_top("sticky/trap"), "owner");
	assert_true(reads(in_top("victim"), "owner"));
	assert_int_equal(chown(in_top("sticky"), 0, 0), 0);

	/* Without the sticky bit no name there is worth anything: the kernel's rule ends there too. */
	assert_int_equal(chmod(in_top("sticky"), 0755), 0);
	write_output(in_top("sticky/trap"), "plain");
	assert_true(reads(in_top("victim"), "plain"));
	assert_int_equal(count_entries(in_top("sticky")), 4);
}

/* ---- sudo ---- */

static void assert_owner(const char *name, uid_t user, gid_t group)
{
	struct stat status;

	write_output(in_top(name), "text");
	assert_int_equal(stat(in_top(name), &status), 0);
	assert_int_equal(status.st_uid, user);
	assert_int_equal(status.st_gid, group);
	assert_int_equal(unlink(in_top(name)), 0);
}

static void test_sudo(void **state)
{
	static const char *const nobody[] = { "", "-1", "12345x", " 12345", "4294967295", "+5",
					      "4294979641", "99999999999999999999", "0x3039" };

	(void)state;
	if (!need_root("to give files away"))
		skip();
	assert_int_equal(mkdir(in_top("home"), 0755), 0);
	assert_int_equal(chown(in_top("home"), STRANGER, STRANGER), 0);
	assert_owner("home/without", 0, getegid());
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_owner("home/run.json", STRANGER, 23456);
	assert_owner("run.json", 0, getegid());
	assert_int_equal(chmod(in_top("home"), 02755), 0);
	assert_owner("home/run.json", STRANGER, STRANGER);
	assert_int_equal(chmod(in_top("home"), 0755), 0);
	setenv("SUDO_UID", "54321", 1);
	assert_owner("home/run.json", 0, getegid());
	for (size_t i = 0; i < COUNT(nobody); i++) {
		setenv("SUDO_UID", nobody[i], 1);
		assert_owner("home/run.json", 0, getegid());
	}
	/* What is replaced keeps its owner, whoever calls. */
	setenv("SUDO_UID", "12345", 1);
	make_file(in_top("home/roots"), "old");
	assert_owner("home/roots", 0, getegid());
	/* Not root: what the environment says is of no interest. */
	assert_int_equal(chmod(top, 0777), 0);
	assert_int_equal(seteuid(STRANGER + 1), 0);
	setenv("SUDO_UID", "0", 1);
	assert_owner("unprivileged", STRANGER + 1, getegid());
	assert_int_equal(seteuid(0), 0);
}

/* ---- a full disk ---- */

static void check_full_disk(void)
{
	struct output_file *file;
	struct error error = { 0 };
	char *text = big_text();
	unsigned int i;

	mount_small("size=64k");
	make_file(in_top("small/old"), "old text");
	for (i = 0; i < 2; i++) {
		file = open_output(in_top("small/new"), NULL);
		check(output_file_finish(file, text, BIG, &error) == -1);
		check(error.code == EXIT_CANNOT && strstr(error.text, "No space left"));
		check(strstr(error.text, "small/new"));
		file = open_output(in_top("small/old"), NULL);
		check(output_file_finish(file, text, BIG, &error) == -1);
		check(error.code == EXIT_CANNOT && strstr(error.text, "No space left"));
		check(reads(in_top("small/old"), "old text"));
		check(count_entries(in_top("small")) == 1);
		if (!i)
			lose_tmpfile();
	}
	/* The space is free again. */
	file = open_output(in_top("small/new"), NULL);
	check(!output_file_finish(file, text, 40000, &error));
	check(holds_text(in_top("small/new"), text, 40000));
	free(text);
}

/* No inode left, read-only, and a file that is itself a mount point. */
static void check_other_mounts(void)
{
	struct error error = { 0 };
	int fd = -1, i;

	mount_small("nr_inodes=6");
	make_file(in_top("small/old"), "old");
	make_file(in_top("bound"), "bound");
	check(!mount(in_top("small/old"), in_top("bound"), NULL, MS_BIND, NULL));
	check(!output_file_open(in_top("bound"), NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "it is a mount point"));
	for (i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "small/%d", i);
		fd = open(in_top(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0)
			break;
		close(fd);
	}
	check(fd < 0 && errno == ENOSPC);
	check(!output_file_open(in_top("small/new"), NULL, &error));
	check(error.code == EXIT_CANNOT && strstr(error.text, "No space left"));
	check(!mount(NULL, in_top("small"), NULL, MS_REMOUNT | MS_RDONLY, "nr_inodes=100"));
	check(!output_file_open(in_top("small/new"), NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "Read-only file system"));
	check(!output_file_open(in_top("small/old"), NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "Read-only file system"));
}

/* The mounts are gone with the child and its namespace. */
static void in_child_with_mounts(void (*body)(void))
{
	int status;
	pid_t pid;

	if (!need_root("to mount a tmpfs"))
		skip();
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		is_child = true;
		if (own_mounts())
			_exit(SKIPPED);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_full_disk(void **state)
{
	(void)state;
	in_child_with_mounts(check_full_disk);
}

static void test_other_mounts(void **state)
{
	(void)state;
	in_child_with_mounts(check_other_mounts);
}

/* ---- standard output ---- */

static int stdout_to_pipe(int flags)
{
	int ends[2];

	check(!pipe2(ends, flags | O_CLOEXEC));
	check(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
	close(ends[1]);
	return ends[0];
}

/* More than the pipe holds, with O_NONBLOCK as another program may have left it. */
static void check_stdout_pipe(void)
{
	static const char before[] = "before ";
	struct error error = { 0 };
	char *text = big_text(), found[65536];
	struct output_file *file;
	size_t all = 0;
	ssize_t got;
	int reader, status;
	pid_t pid;

	reader = stdout_to_pipe(O_NONBLOCK);
	file = open_output("-", NULL);
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		close(reader);
		fputs(before, stdout);
		check(!output_file_finish(file, text, BIG, &error));
		_exit(0);
	}
	fclose(stdout);
	for (;;) {
		struct pollfd readable = { .fd = reader, .events = POLLIN };

		check(poll(&readable, 1, 20000) == 1);
		got = read(reader, found, all < 7 ? 7 - all : sizeof(found));
		if (got <= 0)
			break;
		if (all < 7)
			check(!memcmp(found, before + all, got));
		else
			check(all - 7 + got <= BIG && !memcmp(found, text + all - 7, got));
		all += got;
	}
	check(!got && all == BIG + 7);
	check(waitpid(pid, &status, 0) == pid && !status);
}

static void check_stdout_fails(void)
{
	struct error error = { 0 };
	struct output_file *file;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	close(stdout_to_pipe(0));
	file = open_output("-", NULL);
	check(output_file_finish(file, "text", 4, &error) == -1);
	check(error.code == EXIT_CANNOT && strstr(error.text, "standard output"));
	check(strstr(error.text, "Broken pipe"));

	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	check(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	file = open_output("-", NULL);
	check(output_file_finish(file, "text", 4, &error) == -1);
	check(error.code == EXIT_CANNOT && strstr(error.text, "No space left"));

	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	check(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	check(!output_file_open("-", NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "for reading only"));
	close(STDOUT_FILENO);
	check(!output_file_open("-", NULL, &error));
	check(error.code == EXIT_USAGE && strstr(error.text, "standard output"));
	/* Its number is free now, and a file that gets it is not mistaken for it. */
	write_output(in_top("one"), "text");
	check(reads(in_top("one"), "text"));
	check(!unlink(in_top("one")));
}

static void check_stdout_file(void)
{
	int fd;

	make_file(in_top("redirected"), "");
	fd = open(in_top("redirected"), O_WRONLY | O_CLOEXEC);
	check(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
	write_output("-", "text");
	check(reads(in_top("redirected"), "text"));
	/* It stays open, and what is left undone is none of our business. */
	output_file_cancel(open_output("-", NULL));
	check(write(STDOUT_FILENO, "!", 1) == 1);
	check(reads(in_top("redirected"), "text!"));
	check(count_entries(top) == 1);
}

static void test_stdout(void **state)
{
	(void)state;
	in_child(check_stdout_pipe);
	in_child(check_stdout_fails);
	in_child(check_stdout_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_file, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_relative, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_nothing_has_a_name, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_replaced, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_appeared_meanwhile, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_two_for_one_place, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_without_tmpfile, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_guard_removes_it, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_refused, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_no_permission, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_links, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_traps, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_sudo, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_full_disk, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_other_mounts, make_top, remove_top),
		cmocka_unit_test_setup_teardown(test_stdout, make_top, remove_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
