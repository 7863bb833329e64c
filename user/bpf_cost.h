/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often the BPF programs of this process ran, and for how long, as the kernel counts it
 * (BPF_STATS_RUN_TIME, since 5.8): two readings of the clock more for each run of each BPF
 * program of the host, while the descriptor is held.
 */
#ifndef SOJOURN_BPF_COST_H
#define SOJOURN_BPF_COST_H

#include <linux/types.h>

struct bpf_cost;

struct bpf_cost_sums {
	__u64 runs;
	__u64 run_ns;
};

/* The kernel counts from now on. NULL: it does not, for want of privilege, or of memory. */
struct bpf_cost *bpf_cost_open(void);

/*
 * Sums over all programs whose descriptors the process holds or has held; they never go back.
 * Programs are found by /proc/self/fd. 0, or -1 where that cannot be read.
 */
int bpf_cost_read(struct bpf_cost *cost, struct bpf_cost_sums *sums);

/* NULL: nothing. */
void bpf_cost_close(struct bpf_cost *cost);

#endif
