/* SPDX-License-Identifier: GPL-2.0 */
/* A result as plots for a terminal. */
#ifndef SOJOURN_OUT_PLOTS_H
#define SOJOURN_OUT_PLOTS_H

#include <stdio.h>

#include "plot.h"
#include "result.h"

/*
 * Over one time axis: RTT of the probes, sojourn and backlog of the qdisc that is the cause (or
 * else of the root with the largest backlog), throughput; then the distribution of RTT and
 * sojourn in each phase, and the way of the slowest probe.
 */
void out_plots(const struct result *result, FILE *file, const struct plot_style *style);

#endif
