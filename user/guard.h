/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard: a small process in a session of its own that outlives this one by
 * the moment that it takes to clean up. It holds one end of a socket pair; when
 * the other end closes without a farewell (crash, kill -9) it waits for our
 * death and removes the lab and the files that it was told of. BPF links and
 * child processes need no guard: the former close with us, the latter have
 * PR_SET_PDEATHSIG.
 */
#ifndef SOJOURN_GUARD_H
#define SOJOURN_GUARD_H

#include "error.h"

struct guard;

/*
 * Start the guard, before anything is made and before BPF maps are opened. It
 * is a child process of ours that ignores the signals of a terminal and holds
 * none of our descriptors. NULL and error on failure.
 */
struct guard *guard_start(struct error *error);

/*
 * Tell the guard, before it is made, of a lab (by prefix) or a temporary file
 * (absolute path). It removes a lab only if this process made it. -1 and error
 * also where the guard has died.
 */
int guard_lab(struct guard *guard, const char *prefix, struct error *error);
int guard_file(struct guard *guard, const char *path, struct error *error);

/* Something could not be removed: leave it to the guard, which tries again when we are dead. Frees. */
void guard_leave(struct guard *guard);

/* Everything is removed: say farewell, wait for the guard to end, free. */
void guard_stop(struct guard *guard);

#endif
