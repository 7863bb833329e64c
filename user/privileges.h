/* SPDX-License-Identifier: GPL-2.0 */
/* Giving up what is not needed any more, for who runs for long. */
#ifndef SOJOURN_PRIVILEGES_H
#define SOJOURN_PRIVILEGES_H

#include "error.h"

/* What is still to be done; docs/security.md justifies each capability that stays for it. */
enum privileges_use {
	PRIVILEGES_NONE,	/* nothing: to answer requests */
	PRIVILEGES_FOLLOW,	/* to trace on, read maps, and name qdiscs in other namespaces */
	PRIVILEGES_FUNCTIONS,	/* the same, and hooks for functions of qdiscs that come */
};

/*
 * Give up all capabilities but those that the use needs and that are there, for ever: of this
 * thread and of those that it starts from now on. No program that is executed gains any
 * (no_new_privs, PR_CAPBSET_DROP). 0, or -1 and error.
 */
int privileges_drop(enum privileges_use use, struct error *error);

#endif
