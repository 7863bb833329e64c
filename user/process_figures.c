// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "process_figures.h"

/* Fields of /proc/PID/stat behind the name, which may hold blanks and brackets (proc(5)). */
static int read_stat(unsigned long long *start_ticks, long *resident_pages)
{
	char line[1024];
	FILE *file = fopen("/proc/self/stat", "re");
	const char *rest;
	size_t length;

	if (!file)
		return -1;
	length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	rest = strrchr(line, ')');
	/* From state, the third field, to starttime and rss, the 22nd and the 24th. */
	return rest && sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d"
			      " %*d %*d %*d %*d %*d %llu %*u %ld", start_ticks, resident_pages) == 2 ?
	       0 : -1;
}

static int count_fds(double *count)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return -1;
	*count = -1;	/* the one that reads the directory */
	while ((entry = readdir(directory)))
		*count += entry->d_name[0] != '.';
	closedir(directory);
	return 0;
}

int process_figures_read(struct process_figures *figures)
{
	double booted = (double)clock_ns(CLOCK_REALTIME) - (double)clock_ns(CLOCK_BOOTTIME);
	unsigned long long start_ticks;
	long resident_pages;
	double started;

	if (read_stat(&start_ticks, &resident_pages) || count_fds(&figures->open_fds))
		return -1;
	figures->cpu_seconds = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	figures->resident_bytes = (double)resident_pages * (double)sysconf(_SC_PAGESIZE);
	started = booted / 1e9 + (double)start_ticks / (double)sysconf(_SC_CLK_TCK);
	/* to a tick: the difference of two clocks is never twice the same */
	figures->start_time_seconds = rint(started * 100) / 100;
	return 0;
}
