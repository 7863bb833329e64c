// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "netns.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

#define OWN_NETNS	"/proc/thread-self/ns/net"
#define NAME_PATH_SIZE	(sizeof(NETNS_DIRECTORY) + 1 + NAME_MAX + 1)
/* iproute2 makes its mount points with mode 0; the difference tells ours. */
#define PLACEHOLDER_MODE	0400

static int name_path(const char *name, char path[NAME_PATH_SIZE])
{
	size_t length = strlen(name);

	if (!length || length > NAME_MAX || strchr(name, '/') || !strcmp(name, ".") ||
	    !strcmp(name, "..")) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, NAME_PATH_SIZE, "%s/%s", NETNS_DIRECTORY, name);
	return 0;
}

static bool is_network_namespace(int fd)
{
	struct statfs status;

	return !fstatfs(fd, &status) && status.f_type == NSFS_MAGIC &&
	       ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
}

int netns_open(const char *name, struct error *error)
{
	char path[NAME_PATH_SIZE];
	int fd;

	if (name_path(name, path))
		return error_set(error, EXIT_USAGE,
				 "'%s' cannot be the name of a network namespace", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return error_set(error, EXIT_CANNOT,
				 "no network namespace '%s' in %s; `ip netns list` shows those that exist",
				 name, NETNS_DIRECTORY);
	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open %s", path);
	if (!is_network_namespace(fd)) {
		close(fd);
		return error_set(error, EXIT_CANNOT, "%s is not a network namespace", path);
	}
	return fd;
}

int netns_open_own(struct error *error)
{
	int fd = open(OWN_NETNS, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT,
				       "cannot open %s (is /proc mounted?)", OWN_NETNS);
	return fd;
}

__u32 netns_inode(int netns_fd)
{
	struct stat status;

	return fstat(netns_fd, &status) ? 0 : status.st_ino;
}

__u32 netns_identify(int netns_fd, struct error *error)
{
	int own = netns_fd < 0 ? netns_open_own(error) : -1;
	__u32 inode = netns_inode(netns_fd < 0 ? own : netns_fd);

	if (!inode && (netns_fd >= 0 || own >= 0))
		error_set_errno(error, EXIT_CANNOT, "cannot tell which network namespace this is");
	if (own >= 0)
		close(own);
	return inode;
}

static int read_cookie(void *argument, struct error *error)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(__u64);
	__u64 *cookie = argument;

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open a socket");
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &length))
		*cookie = 0;
	close(fd);
	return 0;
}

__u64 netns_cookie(int netns_fd)
{
	__u64 cookie = 0;

	return netns_run(netns_fd, read_cookie, &cookie, NULL) ? 0 : cookie;
}

bool netns_name_taken(const char *name)
{
	char path[NAME_PATH_SIZE];
	struct stat status;

	return !name_path(name, path) && !lstat(path, &status);
}

int netns_enter(int netns_fd, struct error *error)
{
	if (setns(netns_fd, CLONE_NEWNET))
		return error_set_errno(error, EXIT_CANNOT,
				       "cannot enter a network namespace (needs CAP_SYS_ADMIN: run as root)");
	return 0;
}

int netns_run(int netns_fd, int (*function)(void *argument, struct error *error),
	      void *argument, struct error *error)
{
	int own, status;

	if (netns_fd < 0)
		return function(argument, error);
	own = netns_open_own(error);
	if (own < 0)
		return -1;
	/* No privilege is needed to stay. */
	if (netns_inode(own) && netns_inode(own) == netns_inode(netns_fd)) {
		close(own);
		return function(argument, error);
	}
	status = netns_enter(netns_fd, error);
	if (!status) {
		int saved;

		status = function(argument, error);
		saved = errno;
		if (netns_enter(own, error))
			status = -1;
		errno = saved;
	}
	close(own);
	return status;
}

int netns_create(struct error *error)
{
	int own = netns_open_own(error);
	int fd = -1;

	if (own < 0)
		return -1;
	if (unshare(CLONE_NEWNET)) {
		error_set_errno(error, EXIT_CANNOT,
				"cannot create a network namespace (needs CAP_SYS_ADMIN: run as root)");
		goto out;
	}
	fd = netns_open_own(error);
	if (netns_enter(own, error) && fd >= 0) {
		close(fd);
		fd = -1;
	}
out:
	close(own);
	return fd;
}

bool netns_has_process(__u32 inode)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	struct stat status;
	bool found = false;
	char path[NAME_MAX + 16];

	if (!directory)
		return false;
	while (!found && (entry = readdir(directory))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/ns/net", entry->d_name);
		found = !fstatat(dirfd(directory), path, &status, 0) && status.st_ino == inode;
	}
	closedir(directory);
	return found;
}

/* A directory is a mount point where it and its parent are of different mounts. */
static bool directory_is_mount(const char *path)
{
	struct statx directory, root;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &directory))
		return false;
	if (directory.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return directory.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	return !statx(AT_FDCWD, "/run", AT_SYMLINK_NOFOLLOW, STATX_TYPE, &root) &&
	       (root.stx_dev_major != directory.stx_dev_major ||
		root.stx_dev_minor != directory.stx_dev_minor);
}

enum netns_directory_made netns_directory_missing(void)
{
	struct stat status;

	if (lstat(NETNS_DIRECTORY, &status))
		return NETNS_DIRECTORY_CREATED;
	return directory_is_mount(NETNS_DIRECTORY) ? NETNS_DIRECTORY_WAS_THERE :
						     NETNS_DIRECTORY_MOUNTED;
}

/*
 * mount(2) with MS_SHARED answers EINVAL where the path is not a mount point
 * (fs/namespace.c, do_change_type): it becomes one, mounted on itself.
 */
static int share_directory(struct error *error)
{
	if (!mount("", NETNS_DIRECTORY, "none", MS_SHARED | MS_REC, NULL))
		return 0;
	if (errno == EINVAL &&
	    !mount(NETNS_DIRECTORY, NETNS_DIRECTORY, "none", MS_BIND | MS_REC, NULL) &&
	    !mount("", NETNS_DIRECTORY, "none", MS_SHARED | MS_REC, NULL))
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot make %s a shared mount",
			       NETNS_DIRECTORY);
}

int netns_directory_prepare(struct error *error)
{
	int lock, status;

	if (mkdir(NETNS_DIRECTORY, 0755) && errno != EEXIST)
		return error_set_errno(error, EXIT_CANNOT, "cannot make the directory %s",
				       NETNS_DIRECTORY);
	/* iproute2 takes the same lock to do the same. */
	lock = open(NETNS_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open %s", NETNS_DIRECTORY);
	while (flock(lock, LOCK_EX) && errno == EINTR)
		;
	status = share_directory(error);
	close(lock);
	return status;
}

static bool directory_is_empty(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!directory)
		return false;
	while (empty && (entry = readdir(directory)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(directory);
	return empty;
}

bool netns_directory_restore(enum netns_directory_made made)
{
	if (made == NETNS_DIRECTORY_WAS_THERE || !directory_is_empty(NETNS_DIRECTORY))
		return false;
	/* Not MNT_DETACH: somebody who is about to use it holds it open. */
	if (directory_is_mount(NETNS_DIRECTORY) && umount2(NETNS_DIRECTORY, UMOUNT_NOFOLLOW))
		return false;
	return made == NETNS_DIRECTORY_MOUNTED || !rmdir(NETNS_DIRECTORY);
}

int netns_name_add(const char *name, int netns_fd, struct error *error)
{
	char path[NAME_PATH_SIZE], source[64];
	int fd, saved;

	if (name_path(name, path))
		return error_set(error, EXIT_USAGE,
				 "'%s' cannot be the name of a network namespace", name);
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, PLACEHOLDER_MODE);
	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot create %s", path);
	close(fd);
	snprintf(source, sizeof(source), "/proc/thread-self/fd/%d", netns_fd);
	if (!mount(source, path, "none", MS_BIND, NULL))
		return 0;
	saved = errno;
	unlink(path);
	errno = saved;
	return error_set_errno(error, EXIT_CANNOT, "cannot mount a network namespace on %s", path);
}

enum netns_name_kind netns_name_look(const char *name, int *netns_fd)
{
	char path[NAME_PATH_SIZE];
	struct stat status;
	int fd;

	*netns_fd = -1;
	if (name_path(name, path))
		return NETNS_NAME_OTHER;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? NETNS_NAME_ABSENT : NETNS_NAME_OTHER;
	if (is_network_namespace(fd)) {
		*netns_fd = fd;
		return NETNS_NAME_MOUNTED;
	}
	if (fstat(fd, &status))
		status.st_mode = 0;
	close(fd);
	if (S_ISREG(status.st_mode) && (status.st_mode & 07777) == PLACEHOLDER_MODE &&
	    !status.st_size && !status.st_uid)
		return NETNS_NAME_PLACEHOLDER;
	return NETNS_NAME_OTHER;
}

int netns_name_remove(const char *name, struct error *error)
{
	char path[NAME_PATH_SIZE];

	if (name_path(name, path))
		return error_set(error, EXIT_USAGE,
				 "'%s' cannot be the name of a network namespace", name);
	/* EINVAL: not a mount point, as after a death between creating and mounting. */
	if (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) && errno != EINVAL && errno != ENOENT)
		return error_set_errno(error, EXIT_CANNOT, "cannot unmount %s", path);
	if (unlink(path) && errno != ENOENT)
		return error_set_errno(error, EXIT_CANNOT, "cannot remove %s", path);
	return 0;
}

struct sysctl {
	const char *path;
	const char *value;
};

/* /proc/sys/net shows the namespace of the task that opens it (net/sysctl_net.c). */
static int write_sysctl(void *argument, struct error *error)
{
	const struct sysctl *sysctl = argument;
	size_t length = strlen(sysctl->value);
	char path[PATH_MAX];
	ssize_t written;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "/proc/sys/%s", sysctl->path) >= sizeof(path))
		return error_set(error, EXIT_CANNOT, "the name of a sysctl is too long");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open %s for writing", path);
	written = write(fd, sysctl->value, length);
	if (written != (ssize_t)length)
		error_set_errno(error, EXIT_CANNOT, "cannot write %s to %s", sysctl->value, path);
	close(fd);
	return written == (ssize_t)length ? 0 : -1;
}

int netns_sysctl(int netns_fd, const char *path, const char *value, struct error *error)
{
	struct sysctl sysctl = { path, value };

	return netns_run(netns_fd, write_sysctl, &sysctl, error);
}
