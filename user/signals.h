/* SPDX-License-Identifier: GPL-2.0 */
/* The signals that end a command in good order, as a descriptor. */
#ifndef SOJOURN_SIGNALS_H
#define SOJOURN_SIGNALS_H

#include <signal.h>

#include "error.h"

/*
 * Block SIGINT, SIGTERM and SIGHUP but for those that are ignored, and open a signalfd of
 * them (close-on-exec, not blocking), which the caller closes. *blocked: which these are;
 * *previous: the mask as it was, for the caller to set again. Returns the descriptor, or
 * -1 and error (EXIT_CANNOT); then the mask is what it was.
 */
int signals_take(sigset_t *blocked, sigset_t *previous, struct error *error);

/*
 * For a command that only prints: where nobody reads what it prints any more, it ends by SIGPIPE
 * without a word, as others do. (main() ignores that signal, for those that have to clean up.)
 */
void signals_end_with_reader(void);

#endif
