/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces: named ones (/run/netns, as iproute2 keeps them), entering, ids. */
#ifndef SOJOURN_NETNS_H
#define SOJOURN_NETNS_H

#include <linux/types.h>
#include <stdbool.h>

#include "error.h"

#define NETNS_DIRECTORY "/run/netns"

/* Open the named namespace (O_CLOEXEC). Returns the descriptor, owned by the caller, or -1 and error. */
int netns_open(const char *name, struct error *error);

/* Open the namespace that this thread is in. */
int netns_open_own(struct error *error);

/* Inode number of a namespace, as /proc/PID/ns/net shows it; 0 and errno on failure. */
__u32 netns_inode(int netns_fd);

/* The same where -1 is the namespace that this thread is in; 0 and error. */
__u32 netns_identify(int netns_fd, struct error *error);

/*
 * The namespace's cookie: unlike the inode number never given to another one
 * while the kernel runs (net/core/net_namespace.c, setup_net; SO_NETNS_COOKIE
 * since Linux 5.14). 0 where the kernel cannot tell it.
 */
__u64 netns_cookie(int netns_fd);

/* True where something of that name exists in NETNS_DIRECTORY. */
bool netns_name_taken(const char *name);

/* Move the calling thread into the namespace. 0, or -1 and error. */
int netns_enter(int netns_fd, struct error *error);

/*
 * Call function(argument) with this thread inside the namespace and come back.
 * netns_fd -1: where we are. Returns what function returned, or -1 and error.
 */
int netns_run(int netns_fd, int (*function)(void *argument, struct error *error),
	      void *argument, struct error *error);

/*
 * Make a network namespace that has no name yet; it lives as long as the
 * descriptor (O_CLOEXEC, owned by the caller) that is returned. -1 and error.
 */
int netns_create(struct error *error);

/* Whether any process is in the namespace with that inode number. */
bool netns_has_process(__u32 inode);

enum netns_directory_made {
	NETNS_DIRECTORY_WAS_THERE,	/* it was a mount point already */
	NETNS_DIRECTORY_MOUNTED,	/* the directory was there and has become a mount point */
	NETNS_DIRECTORY_CREATED,	/* it was not there */
};

/* What netns_directory_prepare() would have to do. */
enum netns_directory_made netns_directory_missing(void);

/*
 * Make NETNS_DIRECTORY a shared mount of its own, as iproute2 does, so that
 * namespaces that are mounted there are seen in other mount namespaces too.
 */
int netns_directory_prepare(struct error *error);

/*
 * Undo what netns_directory_prepare() made, unless the directory is in use by
 * now: then it stays, as after iproute2. Returns true where it is undone.
 */
bool netns_directory_restore(enum netns_directory_made made);

/*
 * Give the namespace a name: bind-mount it on NETNS_DIRECTORY/name, which must
 * not exist. Fails with EXIT_CANNOT; errno EEXIST where the name is taken.
 */
int netns_name_add(const char *name, int netns_fd, struct error *error);

/* What lies under a name. */
enum netns_name_kind {
	NETNS_NAME_ABSENT,
	NETNS_NAME_MOUNTED,	/* a network namespace: *netns_fd is it, owned by the caller */
	NETNS_NAME_PLACEHOLDER,	/* the empty file that netns_name_add() makes before it mounts */
	NETNS_NAME_OTHER,
};

enum netns_name_kind netns_name_look(const char *name, int *netns_fd);

/* Unmount and unlink a name; one that is gone already is no error. */
int netns_name_remove(const char *name, struct error *error);

/*
 * Write value to /proc/sys/PATH as seen inside the namespace. 1 where the
 * kernel has no such file, 0 when written, -1 and error otherwise.
 */
int netns_sysctl(int netns_fd, const char *path, const char *value, struct error *error);

#endif
