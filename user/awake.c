// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "awake.h"

#define LOWEST_PRIORITY	19	/* not SCHED_IDLE: the scheduler takes such a CPU for an idle one */

static void __attribute__((noreturn)) stay_awake(int cpu, pid_t parent)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	/* The parent may have died before the signal was asked for. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
	    sched_setaffinity(0, sizeof(one), &one) ||
	    setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY))
		_exit(1);
	close_range(0, ~0U, 0);
	for (;;)
		__asm__ volatile("" ::: "memory");
}

pid_t awake_start(int cpu, struct error *error)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot fork");
	if (!pid)
		stay_awake(cpu, parent);
	return pid;
}

void awake_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
