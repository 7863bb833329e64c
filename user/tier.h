/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tier: one way of getting at the qdiscs of a kernel. It loads its programs,
 * attaches them and shows what they keep; the tracer reads that and knows no
 * program or map by name.
 */
#ifndef SOJOURN_TIER_H
#define SOJOURN_TIER_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"
#include "sojourn/qdisc_record.h"
#include "tracer.h"

struct tier;

/* What the programs keep, mapped into this process; valid until close. */
struct tier_view {
	volatile __u32 *slice;		/* the slice that samples go to */
	const struct qdisc_record *records;
	struct qdisc_bank *banks;	/* record * QDISC_BANKS + slice % QDISC_BANKS */
	unsigned int max_qdiscs;
	int events_fd;			/* ring buffer */
};

struct tier_operations {
	const char *name;
	/* Load without attaching. The tier, owned by the caller, or NULL and error. */
	struct tier *(*open)(const struct tracer_options *options, struct tier_view *view,
			     struct error *error);
	/* All hooks or none. */
	int (*attach)(struct tier *tier, struct error *error);
	/* No program runs any more when it returns. */
	void (*detach)(struct tier *tier);
	/* With their skipped runs up to now. */
	const struct tracer_hook *(*hooks)(struct tier *tier, size_t *count);
	/* Packets of a record that wait, from the table of waiting packets. */
	__u64 (*queued)(const struct tier *tier, unsigned int record);
	/* Losses that the programs count themselves; adds to losses. */
	void (*losses)(const struct tier *tier, struct tracer_losses *losses);
	void (*close)(struct tier *tier);
};

/* tp_btf programs on the qdisc and net tracepoints: root qdiscs, on kernels with BTF, qdisc_enqueue and bpf_loop() (5.17). */
extern const struct tier_operations tier_tracepoints;

#endif
