// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <sys/signalfd.h>

#include "signals.h"

int signals_take(sigset_t *blocked, sigset_t *previous, struct error *error)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	int fd;

	/* What nohup or a shell's "&" had ignored stays so: blocked, it would be queued. */
	sigemptyset(blocked);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!sigaction(ending[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(blocked, ending[i]);
	if (sigprocmask(SIG_BLOCK, blocked, previous))
		return error_set_errno(error, EXIT_CANNOT, "cannot block signals");
	fd = signalfd(-1, blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		error_set_errno(error, EXIT_CANNOT, "cannot open a signalfd");
		sigprocmask(SIG_SETMASK, previous, NULL);
	}
	return fd;
}

void signals_end_with_reader(void)
{
	signal(SIGPIPE, SIG_DFL);
}
