/* SPDX-License-Identifier: GPL-2.0 */
/* Qdisc trees as iproute2's tc makes them: it knows the options of every kind. */
#ifndef SOJOURN_TC_H
#define SOJOURN_TC_H

#include <stddef.h>

#include "error.h"
#include "lab_plan.h"

/* Version of the tc at path as in "6.1.0". 0, or -1 and error (EXIT_CANNOT). */
int tc_version(const char *path, char *text, size_t size, struct error *error);

/* In the error where the kernel has no qdisc of a kind that is asked for. */
#define TC_LACKS_KIND	"asks for a kind that this kernel lacks"

/*
 * Make the tree on its device in that namespace, command by command. 0, or -1 and
 * error with tc's own words: EXIT_CANNOT where there is no tc, or with errno ENOENT where the
 * kernel has no such kind; EXIT_USAGE where tc or the kernel does not take a command.
 */
int tc_add_tree(int netns_fd, const struct lab_tree *tree, struct error *error);

/* Take the device's root qdisc off, so that its default comes back. 0, or -1 and error. */
int tc_remove_tree(int netns_fd, const struct lab_tree *tree, struct error *error);

#endif
