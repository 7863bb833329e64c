/* SPDX-License-Identifier: GPL-2.0 */
/* Removing labs on behalf of their own maker, or of the guard after its death. */
#ifndef SOJOURN_LAB_REMOVE_H
#define SOJOURN_LAB_REMOVE_H

#include "lab_state.h"

/*
 * Remove the lab of that prefix, but only if owner made it: a lab of the same
 * prefix that somebody else made since is none of its business. Returns 0 also
 * where there is none; -1 and error.
 */
int lab_remove_owned(const char *prefix, const struct lab_owner *owner, struct error *error);

/* The same for a caller that holds the lock of the state directory. */
int lab_remove_locked(const char *prefix, const struct lab_state *state,
		      struct lab_removal *removal, struct error *error);

/*
 * Wait until no process is left in the namespaces of the lab of owner, at most
 * timeout_ms. They die of their parent's death, which takes a moment.
 */
void lab_wait_for_processes(const char *prefix, const struct lab_owner *owner,
			    unsigned int timeout_ms);

#endif
