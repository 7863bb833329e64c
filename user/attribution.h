/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which qdisc explains how much of the RTT increase under load, and the verdict.
 *
 * RTT increase of a probe: its RTT less the idle median. Explained share of a
 * qdisc: the sum over the load phase's received probes of the probe's own
 * sojourn in it (request and reply) less the idle median of the same, over the
 * sum of the RTT increases.
 */
#ifndef SOJOURN_ATTRIBUTION_H
#define SOJOURN_ATTRIBUTION_H

#include "result.h"

/* Fill the attribution of each load phase and the shares in it. */
int attribution_fill(struct result *result, struct error *error);

/*
 * The verdicts of all load phases, one after the other. The caller frees it;
 * NULL: out of memory.
 */
char *attribution_verdicts(const struct result *result);

/*
 * A share as text with at most one decimal, cut off rather than rounded: one that
 * is not whole never reads "100 %". NaN gives "-". Returns text.
 */
#define SHARE_TEXT 32
const char *share_text(double share, char text[SHARE_TEXT]);

#endif
