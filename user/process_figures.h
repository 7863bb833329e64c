/* SPDX-License-Identifier: GPL-2.0 */
/* What this process itself takes, as /proc tells. */
#ifndef SOJOURN_PROCESS_FIGURES_H
#define SOJOURN_PROCESS_FIGURES_H

struct process_figures {
	double cpu_seconds;		/* user and system, all threads */
	double resident_bytes;
	double open_fds;
	double start_time_seconds;	/* since the epoch */
};

/* 0, or -1 where /proc cannot be read. */
int process_figures_read(struct process_figures *figures);

#endif
