/* SPDX-License-Identifier: GPL-2.0 */
/* The ledger of a qdisc: the tracer's counters against the kernel's own. */
#ifndef SOJOURN_LEDGER_H
#define SOJOURN_LEDGER_H

#include "qdisc_tree.h"
#include "result.h"

/*
 * Fill ledger from the record's counters, the packets still queued (tracer's
 * own count), and the kernel's counters before and after the window. before NULL: the
 * qdisc was made during the window, its record's base_* are taken where valid, else 0;
 * after NULL: it is gone, its record's last_* are taken where valid, else agrees is
 * LEDGER_UNKNOWN.
 *
 * Agreement: kernel packets = measured + bypassed + unmatched, kernel drops =
 * ledger_drops(), kernel requeues = requeued (of netem: at least). Of a leaf that is
 * told by stamps the packets alone are compared.
 * A requeue that waits for its second hand-out at the end is not a disagreement
 * of its own where the backlog shows it.
 */
void ledger_fill(struct ledger *ledger, const struct qdisc_record *record, __u64 queued,
		 const struct qdisc_kernel_counters *before,
		 const struct qdisc_kernel_counters *after);

/*
 * Skbs dropped as the kernel counts them: rejected + dropped skbs less rejected_inactive,
 * purged_skbs, stolen_skbs and parts_refused.
 */
__u64 ledger_drops(const struct ledger *ledger);

/*
 * Join records and the trees read before and after into result.qdiscs, each
 * with its ledger, in the order netns, ifindex, queue, root before child.
 */
int ledger_join(struct result *result, const struct tracer *tracer,
		const struct qdisc_tree *before, const struct qdisc_tree *after,
		struct error *error);

#endif
