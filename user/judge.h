/* SPDX-License-Identifier: GPL-2.0 */
/* Is a result complete, and if not, why. */
#ifndef SOJOURN_JUDGE_H
#define SOJOURN_JUDGE_H

#include "result.h"

/*
 * Set result.complete and incomplete_why by its ledgers, probes, losses and clock. trouble is what
 * went wrong while it was measured, which comes first; "": nothing.
 */
void judge_result(struct result *result, const char *trouble);

#endif
