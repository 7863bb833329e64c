/* SPDX-License-Identifier: GPL-2.0 */
/* The time of a clock as one number. */
#ifndef SOJOURN_CLOCK_H
#define SOJOURN_CLOCK_H

#include <linux/types.h>
#include <time.h>

/* ns; CLOCK_MONOTONIC is what bpf_ktime_get_ns() reads as well (kernel/bpf/helpers.c). */
static inline __u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#endif
