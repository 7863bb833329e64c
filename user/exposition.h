/* SPDX-License-Identifier: GPL-2.0 */
/* What `sojourn export` tells, as metric families: docs/export.md lists them. */
#ifndef SOJOURN_EXPOSITION_H
#define SOJOURN_EXPOSITION_H

#include "bpf_cost.h"
#include "live_series.h"
#include "metric.h"
#include "process_figures.h"
#include "tcp_sums.h"

/* What the metrics are made from. */
struct exposition_source {
	struct live_series *series;
	const struct tcp_sums *tcp;
	const struct live_losses *losses;
	const struct bpf_cost_sums *cost;	/* NULL: not known */
	const struct process_figures *process;	/* NULL: not known */
	const char *version, *kernel, *tier;
};

/*
 * Fill metrics, which is empty. What failed for want of memory is marked there. Freed by the
 * caller; nothing in it refers to source.
 */
void exposition_make(const struct exposition_source *source, struct metrics *metrics);

#endif
