/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keep a CPU awake: a process of the lowest priority that does nothing there. A
 * CPU that never goes idle answers timers and wakeups without the delay of
 * leaving an idle state (in a guest: of being scheduled in again), and the
 * scheduler puts other processes' wakeups on another CPU.
 */
#ifndef SOJOURN_AWAKE_H
#define SOJOURN_AWAKE_H

#include <sys/types.h>

#include "error.h"

/* Start it on that CPU. It dies with this thread. Its pid, or -1 and error. */
pid_t awake_start(int cpu, struct error *error);

/* End it. pid 0 or less: nothing to do. */
void awake_stop(pid_t pid);

#endif
