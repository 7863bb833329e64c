// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "netns.h"
#include "netns_names.h"

#define SECOND_NS	1000000000ULL
#define LOOK_UP_NS	SECOND_NS	/* between two looks at all processes */
#define RENEW_NS	(30 * SECOND_NS)	/* names of what is known may have changed */
#define PATH_SIZE	64
#define CGROUP_SIZE	4096
#define ID_DIGITS	64
#define ID_SHOWN	12

struct entry {
	__u32 inode;
	bool known;
	bool named;			/* in /run/netns, as name */
	pid_t process;			/* else one that is in it; 0: none */
	char name[NETNS_NAME_SIZE];
};

struct netns_names {
	struct entry *entries;
	size_t count, room;
	__u32 own;
	__u64 looked_ns;
	bool wanted;			/* one is not known and was not looked up */
};

struct netns_names *netns_names_create(struct error *error)
{
	struct netns_names *names = calloc(1, sizeof(*names));

	if (!names) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	names->own = netns_identify(-1, error);
	if (!names->own) {
		free(names);
		return NULL;
	}
	return names;
}

void netns_names_free(struct netns_names *names)
{
	if (!names)
		return;
	free(names->entries);
	free(names);
}

static struct entry *find(const struct netns_names *names, __u32 inode)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->entries[i].inode == inode)
			return &names->entries[i];
	return NULL;
}

static struct entry *add(struct netns_names *names, __u32 inode)
{
	struct entry *entries = array_grow(names->entries, names->count, &names->room,
					   sizeof(*entries)), *entry;

	if (!entries)
		return NULL;
	names->entries = entries;
	entry = &entries[names->count++];
	memset(entry, 0, sizeof(*entry));
	entry->inode = inode;
	snprintf(entry->name, sizeof(entry->name), "net:[%u]", inode);
	names->wanted = true;
	return entry;
}

const char *netns_names_find(struct netns_names *names, __u32 inode)
{
	struct entry *entry;

	if (inode == names->own)
		return "";
	entry = find(names, inode);
	if (!entry)
		entry = add(names, inode);
	return entry ? entry->name : "net:[?]";
}

void netns_names_forget(struct netns_names *names, __u32 inode)
{
	struct entry *entry = find(names, inode);

	if (entry)
		*entry = names->entries[--names->count];
}

/* ---- /run/netns ---- */

static void take_named(struct netns_names *names)
{
	DIR *directory = opendir(NETNS_DIRECTORY);
	struct dirent *entry;
	int fd;

	while (directory && (entry = readdir(directory))) {
		struct entry *of;

		if (netns_name_look(entry->d_name, &fd) != NETNS_NAME_MOUNTED)
			continue;
		of = find(names, netns_inode(fd));
		close(fd);
		if (!of || of->named)
			continue;
		of->known = of->named = true;
		snprintf(of->name, sizeof(of->name), "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
}

/* ---- processes ---- */

bool netns_names_container(const char *cgroup, char id[13])
{
	size_t digits;

	for (; *cgroup; cgroup += digits ? digits : 1) {
		for (digits = 0; isxdigit((unsigned char)cgroup[digits]); digits++)
			;
		if (digits != ID_DIGITS)
			continue;
		memcpy(id, cgroup, ID_SHOWN);
		id[ID_SHOWN] = '\0';
		return true;
	}
	return false;
}

static size_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* Anybody can call a process anything. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if (!isgraph((unsigned char)*text))
			*text = '_';
}

static void name_after(struct entry *entry, pid_t process)
{
	char path[PATH_SIZE], comm[32], cgroup[CGROUP_SIZE], id[ID_SHOWN + 1];

	snprintf(path, sizeof(path), "/proc/%d/comm", process);
	read_text(path, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	make_printable(comm);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", process);
	read_text(path, cgroup, sizeof(cgroup));
	if (netns_names_container(cgroup, id))
		snprintf(entry->name, sizeof(entry->name), "%s@%s", comm, id);
	else
		snprintf(entry->name, sizeof(entry->name), "%s[%d]", comm, process);
	entry->known = true;
	entry->process = process;
}

static void take_process(struct netns_names *names, pid_t process)
{
	char path[PATH_SIZE];
	struct entry *entry;
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", process);
	if (stat(path, &status))
		return;
	entry = find(names, (__u32)status.st_ino);
	if (entry && !entry->known)
		name_after(entry, process);
}

/* In the order of /proc, which is that of their numbers: the first one is what others came from. */
static void take_processes(struct netns_names *names)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *end;
		long process = strtol(entry->d_name, &end, 10);

		if (!*end && process > 0)
			take_process(names, (pid_t)process);
	}
	if (directory)
		closedir(directory);
}

void netns_names_refresh(struct netns_names *names)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC), gone = now - names->looked_ns;
	size_t i;

	if (!names->count || (names->looked_ns && gone < (names->wanted ? LOOK_UP_NS : RENEW_NS)))
		return;
	for (i = 0; gone >= RENEW_NS && i < names->count; i++)
		names->entries[i].known = names->entries[i].named = false;
	names->looked_ns = now;
	names->wanted = false;
	take_named(names);
	for (i = 0; i < names->count; i++)
		if (!names->entries[i].known)
			break;
	if (i < names->count)
		take_processes(names);
}

/* ---- the way to it ---- */

/* The name or number may belong to another one by now. */
static int check(int fd, __u32 inode)
{
	if (fd < 0 || netns_inode(fd) == inode)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

int netns_names_open(struct netns_names *names, __u32 inode)
{
	struct entry *entry = find(names, inode);
	char path[PATH_SIZE];
	struct error error;
	int fd = -1;

	if (inode == names->own)
		return netns_open_own(&error);
	errno = ENOENT;
	if (!entry || !entry->known)
		return -1;
	if (entry->named) {
		netns_name_look(entry->name, &fd);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", entry->process);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return check(fd, inode);
}
