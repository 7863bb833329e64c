// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "guard.h"
#include "output_file.h"

#define LINKS_MAX	40	/* as the kernel's own walk (include/linux/namei.h, MAXSYMLINKS) */
#define TEMPORARY_SIZE	(sizeof(".sojourn-") + 16)
#define PATH_QUOTED	256	/* of the path, in an error */
#define NEW_MODE	0644
#define NO_ID		(~0u)	/* chown(2): leave it; the id of nobody */

/*
 * The file is an O_TMPFILE wherever the file system has that: it has no name
 * until it is whole, so that no death of ours, the guard's included, leaves
 * anything. A place that is empty gets it by one link(2). link(2) does not
 * replace, so that to take another file's place it needs a name for the moment
 * between linkat() and renameat(). Without O_TMPFILE (NFS, some FUSE, overlayfs
 * before 6.3) it has that name from the beginning.
 *
 * Mode and owner are those of the file that it replaces; ACLs and extended
 * attributes are not kept, and other hard links of that file keep the old text.
 */
struct output_file {
	char *path;		/* as it was given; owned */
	int fd;			/* -1 for "-" */
	int directory;		/* where it goes, symbolic links followed; -1 for "-" */
	struct stat directory_status;
	char name[NAME_MAX + 1];	/* in directory */
	char temporary[TEMPORARY_SIZE];
	bool named;		/* temporary exists */
	bool replaces;		/* name exists */
	bool through_link;	/* path is a symbolic link to name */
};

/* A way through the file system that is walked one component at a time. */
struct walk {
	int directory;		/* O_PATH; where the walk has come to */
	char *text;		/* owned */
	const char *rest;	/* in text: what is left of it */
	unsigned int links;
	bool through_link;	/* the last component was a link */
};

static int refuse(const struct output_file *file, int code, const char *why, struct error *error)
{
	return error_set(error, code, "cannot write to %.*s: %s", PATH_QUOTED, file->path, why);
}

/* A place that cannot be written to is the caller's choice, a full disk is not. */
static int refuse_errno(const struct output_file *file, struct error *error)
{
	int code = errno == ENOSPC || errno == EDQUOT || errno == ENOMEM ? EXIT_CANNOT : EXIT_USAGE;

	return refuse(file, code, strerror(errno), error);
}

static int fail_errno(const struct output_file *file, struct error *error)
{
	const char *hint = errno == ENOSPC || errno == EDQUOT ?
			   "; make room there or name another place" : "";

	return error_set(error, EXIT_CANNOT, "cannot write %.*s: %s%s", PATH_QUOTED, file->path,
			 strerror(errno), hint);
}

/* ---- whose files and links are to be trusted ---- */

static uid_t id_in_environment(const char *name)
{
	const char *text = getenv(name);
	unsigned long id;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return NO_ID;
	errno = 0;
	id = strtoul(text, &end, 10);
	return errno || *end || id >= NO_ID ? NO_ID : (uid_t)id;
}

/* Who called sudo, for whom we run as root; NO_ID without sudo. */
static uid_t invoking_user(void)
{
	return geteuid() ? NO_ID : id_in_environment("SUDO_UID");
}

/*
 * In a sticky directory that others may write to (/tmp), a file or link of
 * another user may be a trap. The rules of the kernel (fs/namei.c,
 * may_follow_link() and may_create_in_sticky()), whatever the sysctls
 * fs.protected_symlinks and fs.protected_regular say; and what the user who
 * called sudo left there is that user's own.
 */
static bool is_planted(const struct stat *directory, uid_t owner)
{
	return (directory->st_mode & S_ISVTX) && (directory->st_mode & (S_IWGRP | S_IWOTH)) &&
	       owner != geteuid() && owner != directory->st_uid && owner != invoking_user();
}

/* ---- the walk to the place ---- */

/* "" where nothing is left, which is the case behind a final slash. */
static int next_component(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *begin = walk->rest + strspn(walk->rest, "/");
	size_t length = strcspn(begin, "/");

	if (length > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, begin, length);
	name[length] = '\0';
	walk->rest = begin + length;
	return 0;
}

/* O_DIRECTORY first: it makes the kernel mount what autofs keeps there. */
static int open_component(int directory, const char *name)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(directory, name, flags | O_DIRECTORY);

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		fd = openat(directory, name, flags);
	return fd;
}

static void enter(struct walk *walk, int directory)
{
	close(walk->directory);
	walk->directory = directory;
}

/* Go on with target and what is left behind it. */
static int go_on_with(struct walk *walk, const char *target)
{
	char *text;
	int root;

	if (target[0] == '/') {
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return -1;
		enter(walk, root);
	}
	if (asprintf(&text, "%s%s", target, walk->rest) < 0) {
		errno = ENOMEM;
		return -1;
	}
	free(walk->text);
	walk->text = text;
	walk->rest = text;
	return 0;
}

/* Owner and text are those of the one link that is open as fd: nobody can swap it between. */
static int follow(const struct output_file *file, struct walk *walk, int fd,
		  const struct stat *link, struct error *error)
{
	char target[PATH_MAX];
	struct stat directory;
	struct statfs system;
	ssize_t length;

	if (fstat(walk->directory, &directory) || fstatfs(fd, &system))
		return refuse_errno(file, error);
	if (is_planted(&directory, link->st_uid))
		return refuse(file, EXIT_USAGE,
			      "it leads through a symbolic link of another user in a sticky directory; name another place",
			      error);
	/* The text of /proc's links is no path ("pipe:[4711]"), or not the file that they stand for. */
	if (system.f_type == PROC_SUPER_MAGIC)
		return refuse(file, EXIT_USAGE,
			      "it leads through a link of /proc; for standard output write -", error);
	length = readlinkat(fd, "", target, sizeof(target));
	if (length < 0)
		return refuse_errno(file, error);
	if (length == sizeof(target))
		errno = ENAMETOOLONG;
	else if (++walk->links > LINKS_MAX)
		errno = ELOOP;
	else
		errno = 0;
	if (errno)
		return refuse_errno(file, error);
	target[length] = '\0';
	walk->through_link |= !*walk->rest;
	return go_on_with(walk, target) ? refuse_errno(file, error) : 0;
}

/* One component further. 1: it is the last one, and no link; it need not exist. -1 and error. */
static int step(struct output_file *file, struct walk *walk, struct error *error)
{
	struct stat status;
	bool last;
	int fd, code = -1;

	if (next_component(walk, file->name))
		return refuse_errno(file, error);
	if (!file->name[0])
		return refuse(file, EXIT_USAGE, "it is a directory, not a file", error);
	last = !*walk->rest;
	fd = open_component(walk->directory, file->name);
	if (fd < 0 && errno == ENOENT)
		return last ? 1 : refuse(file, EXIT_USAGE, "its directory does not exist", error);
	if (fd < 0)
		return refuse_errno(file, error);
	if (fstat(fd, &status)) {
		refuse_errno(file, error);
		goto out;
	}
	if (S_ISLNK(status.st_mode)) {
		code = follow(file, walk, fd, &status, error);
		goto out;
	}
	if (last) {
		code = 1;
		goto out;
	}
	if (!S_ISDIR(status.st_mode)) {
		errno = ENOTDIR;
		refuse_errno(file, error);
		goto out;
	}
	enter(walk, fd);
	return 0;
out:
	close(fd);
	return code;
}

/* Find directory and name; what is done in them later goes by this descriptor, not by the path. */
static int find_place(struct output_file *file, struct error *error)
{
	struct walk walk = { .text = strdup(file->path) };
	int code = -1;

	walk.rest = walk.text;
	walk.directory = open(file->path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!walk.text || walk.directory < 0) {
		refuse_errno(file, error);
		goto out;
	}
	if (!file->path[0]) {
		refuse(file, EXIT_USAGE, "the name is empty", error);
		goto out;
	}
	do {
		code = step(file, &walk, error);
	} while (!code);
	if (code < 0)
		goto out;
	file->through_link = walk.through_link;
	/* To sync a directory takes more than O_PATH. */
	file->directory = openat(walk.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = file->directory < 0 || fstat(file->directory, &file->directory_status) ?
	       refuse_errno(file, error) : 0;
out:
	if (walk.directory >= 0)
		close(walk.directory);
	free(walk.text);
	return code;
}

/* ---- what stands in the place ---- */

static const char *why_not_replaced(const struct output_file *file, const struct statx *there)
{
	if (S_ISDIR(there->stx_mode))
		return "it is a directory, not a file";
	if (!S_ISREG(there->stx_mode))
		return "it is no regular file; for standard output write -";
	if (there->stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return "it is a mount point, which cannot be replaced; name a file in a directory";
	if (is_planted(&file->directory_status, there->stx_uid))
		return "it belongs to another user, in a sticky directory; name another place";
	if (faccessat(file->directory, file->name, W_OK, AT_EACCESS))
		return strerror(errno);
	return NULL;
}

/*
 * What stands there now, into there and replaces. 0, or -1 and error where it
 * must not be replaced.
 */
static int look_at_place(struct output_file *file, struct statx *there, struct error *error)
{
	const char *why;

	file->replaces = !statx(file->directory, file->name, AT_SYMLINK_NOFOLLOW,
				STATX_BASIC_STATS, there);
	if (!file->replaces)
		return errno == ENOENT ? 0 : refuse_errno(file, error);
	why = why_not_replaced(file, there);
	return why ? refuse(file, EXIT_USAGE, why, error) : 0;
}

static int keep_attributes(const struct output_file *file, const struct statx *there)
{
	struct stat ours;

	if (fstat(file->fd, &ours))
		return -1;
	if ((ours.st_uid != there->stx_uid || ours.st_gid != there->stx_gid) &&
	    fchown(file->fd, there->stx_uid, there->stx_gid))
		return -1;
	return fchmod(file->fd, there->stx_mode & 0777);
}

/*
 * A new file in a directory of the user who called sudo is that user's. Where
 * the kernel refuses (NFS that squashes root, a user namespace), it stays ours.
 */
static void give_to_invoking_user(const struct output_file *file)
{
	uid_t user = invoking_user();
	gid_t group = id_in_environment("SUDO_GID");

	if (user == NO_ID || file->directory_status.st_uid != user)
		return;
	/* There the group of the directory is the one that was asked for. */
	if (file->directory_status.st_mode & S_ISGID)
		group = NO_ID;
	if (fchown(file->fd, user, group))
		return;
}

/* ---- the temporary file ---- */

static int tell_guard(const struct output_file *file, struct guard *guard, struct error *error)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->directory);
	length = readlink(link, path, sizeof(path));
	if (length < 0)
		return refuse_errno(file, error);
	if (length + 1 + TEMPORARY_SIZE > sizeof(path)) {
		errno = ENAMETOOLONG;
		return refuse_errno(file, error);
	}
	snprintf(path + length, sizeof(path) - length, "/%s", file->temporary);
	return guard_file(guard, path, error);
}

/*
 * A name that nobody guesses: O_EXCL would find a guessed one out, but the
 * guard would then remove a file that is not ours.
 */
static int choose_temporary(struct output_file *file)
{
	unsigned long long random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(file->temporary, sizeof(file->temporary), ".sojourn-%016llx", random);
	return 0;
}

static int open_temporary(struct output_file *file)
{
	/* Who may read what it replaces is not yet taken over. */
	mode_t mode = file->replaces ? 0600 : NEW_MODE;

	file->fd = openat(file->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (file->fd >= 0)
		return 0;
	/* EISDIR: a file system that takes no notice of the flag (open(2)). */
	if (errno != EOPNOTSUPP && errno != EISDIR)
		return -1;
	file->fd = openat(file->directory, file->temporary,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	file->named = file->fd >= 0;
	return file->fd < 0 ? -1 : 0;
}

static int open_file(struct output_file *file, struct guard *guard, struct error *error)
{
	struct statx there;

	if (find_place(file, error) || look_at_place(file, &there, error))
		return -1;
	if (!file->replaces && file->through_link)
		return refuse(file, EXIT_USAGE,
			      "it is a symbolic link whose target does not exist", error);
	if (choose_temporary(file))
		return refuse_errno(file, error);
	if (guard && tell_guard(file, guard, error))
		return -1;
	if (open_temporary(file))
		return refuse_errno(file, error);
	if (!file->replaces)
		give_to_invoking_user(file);
	else if (keep_attributes(file, &there))
		return refuse(file, EXIT_USAGE,
			      "it belongs to somebody else, which could not be kept; name another file",
			      error);
	return 0;
}

static int check_stdout(struct error *error)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (flags < 0)
		return error_set_errno(error, EXIT_USAGE, "cannot write to standard output");
	if ((flags & O_ACCMODE) == O_RDONLY)
		return error_set(error, EXIT_USAGE,
				 "cannot write to standard output: it is open for reading only");
	return 0;
}

struct output_file *output_file_open(const char *path, struct guard *guard, struct error *error)
{
	bool to_stdout = !strcmp(path, "-");
	struct output_file *file = calloc(1, sizeof(*file));

	if (!file) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	file->fd = file->directory = -1;
	file->path = strdup(to_stdout ? "standard output" : path);
	if (!file->path) {
		error_set(error, EXIT_CANNOT, "out of memory");
		goto fail;
	}
	if (to_stdout ? check_stdout(error) : open_file(file, guard, error))
		goto fail;
	return file;
fail:
	output_file_cancel(file);
	return NULL;
}

/* ---- writing and putting it in its place ---- */

/* A pipe may be non-blocking: its other end shares the flag with us. */
static int wait_writable(int fd)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };

	return poll(&writable, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

static int write_all(int fd, const char *text, size_t length)
{
	ssize_t written;

	while (length) {
		written = write(fd, text, length);
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		} else if (!written) {
			errno = EIO;
			return -1;
		} else if (errno == EAGAIN) {
			if (wait_writable(fd))
				return -1;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

static int sync_all(int fd)
{
	int failed;

	do {
		failed = fsync(fd);
	} while (failed && errno == EINTR);
	/* What cannot be synced at all: a pipe, a terminal, directories of some FUSE. */
	return failed && errno != EINVAL && errno != EROFS && errno != EOPNOTSUPP ? -1 : 0;
}

/* Some network file systems tell of a full disk at close(2) only; ours must stay open. */
static int close_copy(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -1 : close(copy);
}

/* AT_EMPTY_PATH would ask for CAP_DAC_READ_SEARCH (fs/namei.c, do_linkat()). */
static int link_as(const struct output_file *file, const char *name)
{
	char source[64];

	snprintf(source, sizeof(source), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, source, file->directory, name, AT_SYMLINK_FOLLOW);
}

/* The place is looked at again: somebody may have made something there since it was opened. */
static int replace(struct output_file *file, struct error *error)
{
	struct statx there;

	if (look_at_place(file, &there, error)) {
		if (error)
			error->code = EXIT_CANNOT;
		return -1;
	}
	if (file->replaces && keep_attributes(file, &there))
		return fail_errno(file, error);
	if (!file->named && link_as(file, file->temporary))
		return fail_errno(file, error);
	file->named = true;
	if (renameat(file->directory, file->temporary, file->directory, file->name))
		return fail_errno(file, error);
	file->named = false;
	return 0;
}

static int put_in_place(struct output_file *file, struct error *error)
{
	if (file->named || file->replaces)
		return replace(file, error);
	if (!link_as(file, file->name))
		return 0;
	return errno == EEXIST ? replace(file, error) : fail_errno(file, error);
}

static int finish_stdout(const struct output_file *file, const char *text, size_t length,
			 struct error *error)
{
	/* What was printed before comes before. */
	if (fflush(stdout) || write_all(STDOUT_FILENO, text, length) ||
	    sync_all(STDOUT_FILENO))
		return fail_errno(file, error);
	return 0;
}

static int finish_file(struct output_file *file, const char *text, size_t length,
		       struct error *error)
{
	if (write_all(file->fd, text, length) || sync_all(file->fd) || close_copy(file->fd))
		return fail_errno(file, error);
	if (put_in_place(file, error))
		return -1;
	if (sync_all(file->directory))
		return error_set_errno(error, EXIT_CANNOT,
				       "%.*s is written, but its directory could not be synced",
				       PATH_QUOTED, file->path);
	return 0;
}

int output_file_finish(struct output_file *file, const char *text, size_t length,
		       struct error *error)
{
	int failed;

	if (file->fd < 0)
		failed = finish_stdout(file, text, length, error);
	else
		failed = finish_file(file, text, length, error);
	output_file_cancel(file);
	return failed;
}

int output_file_put(const char *path, struct guard *guard, const char *text, size_t length,
		    struct error *error)
{
	struct output_file *file = output_file_open(path, guard, error);

	return file ? output_file_finish(file, text, length, error) : -1;
}

void output_file_cancel(struct output_file *file)
{
	if (!file)
		return;
	if (file->named)
		unlinkat(file->directory, file->temporary, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->directory >= 0)
		close(file->directory);
	free(file->path);
	free(file);
}
