/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state files of labs: /run/sojourn/PREFIX.lab says which namespaces are
 * ours and which process made them. It is written before a namespace gets its
 * name and removed after the name is gone.
 */
#ifndef SOJOURN_LAB_STATE_H
#define SOJOURN_LAB_STATE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"
#include "lab.h"

#define LAB_PREFIX_MAX	(LAB_NAME_SIZE - LAB_WORD_SIZE)	/* with the longest host's name behind it */
#define LAB_BOOT_SIZE	40
#define LAB_STATE_TEXT	4096	/* more than any state file has */

/*
 * A process, told apart from a later one of the same number by its start. pid 0: nobody, the
 * lab is kept until somebody removes it.
 */
struct lab_owner {
	pid_t pid;
	__u64 started;		/* field 22 of /proc/PID/stat: clock ticks since boot */
};

struct lab_state_netns {
	char name[LAB_NAME_SIZE];
	__u32 inode;
	__u64 cookie;		/* 0 where the kernel has none */
};

struct lab_state {
	char boot[LAB_BOOT_SIZE];	/* /proc/sys/kernel/random/boot_id: inodes are of this boot */
	struct lab_owner owner;
	unsigned int netns_count;	/* of the lab's hosts: 1 ... LAB_HOSTS */
	struct lab_state_netns netns[LAB_HOSTS];
};

/*
 * A prefix may have letters, digits, '-', '_' and '.', begins with a letter or
 * digit, and has at most LAB_PREFIX_MAX bytes. 0, or -1 and error (EXIT_USAGE).
 */
int lab_prefix_check(const char *prefix, struct error *error);

/* Is the lab one that is kept? */
bool lab_owner_nobody(const struct lab_owner *owner);

/* Who we are; started 0 where /proc cannot tell. */
void lab_owner_self(struct lab_owner *owner);

/* Whether that very process runs; a zombie does not. */
bool lab_owner_alive(const struct lab_owner *owner);

/* The boot that we are in; "" where the kernel does not tell. */
void lab_boot(char boot[LAB_BOOT_SIZE]);

/* The text of a state file, and back. Parsing takes nothing but what formatting gives: 0, or -1. */
int lab_state_format(const struct lab_state *state, char text[LAB_STATE_TEXT]);
int lab_state_parse(struct lab_state *state, const char *text);

/*
 * Take the lock that makers and removers of labs hold while names come and go;
 * makes LAB_STATE_DIRECTORY. Returns a descriptor, or -1 and error (also after
 * 10 s in which others held it). Unlocking removes the directory if it is empty.
 */
int lab_state_lock(struct error *error);
void lab_state_unlock(int lock);

enum lab_state_found {
	LAB_STATE_ERROR = -1,	/* it cannot be read: error */
	LAB_STATE_NONE,
	LAB_STATE_TORN,		/* its maker died while writing: nothing has been named yet */
	LAB_STATE_WHOLE,
};

/*
 * Each needs the lock. Writing makes a new file and has it on disk when it returns; replacing
 * puts one in the place of another at once.
 */
enum lab_state_found lab_state_read(const char *prefix, struct lab_state *state,
				    struct error *error);
int lab_state_write(const char *prefix, const struct lab_state *state, struct error *error);
int lab_state_replace(const char *prefix, const struct lab_state *state, struct error *error);
int lab_state_remove(const char *prefix, struct error *error);

/*
 * The prefixes of all state files, sorted. *prefixes and its texts are the
 * caller's, see lab_state_prefixes_free(). Returns their number, or -1 and error.
 */
int lab_state_prefixes(char ***prefixes, struct error *error);
void lab_state_prefixes_free(char **prefixes, int count);

/*
 * /run/netns as it was before the first lab: what was made of it is noted in
 * the state directory, and undone when the last lab is gone. Both need the lock.
 */
int lab_state_prepare_netns_directory(struct error *error);
void lab_state_restore_netns_directory(void);

#endif
