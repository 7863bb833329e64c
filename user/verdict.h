/* SPDX-License-Identifier: GPL-2.0 */
/* What was found out about a load, as the one sentence that a user reads. */
#ifndef SOJOURN_VERDICT_H
#define SOJOURN_VERDICT_H

#include "result.h"

/* From this share on a qdisc is named as the place. */
#define SHARE_MAIN		0.5

/* Of qdiscs that only together explain the increase, those are named that hold this much. */
#define SHARE_NAMED		0.05

/* A qdisc with less than this of it is not to blame. */
#define SHARE_INNOCENT		0.01

/* What one load phase is judged by. */
struct judged {
	const struct result *result;
	const struct phase *idle;
	struct phase *load;
	struct attribution *attribution;
};

/*
 * Write cause.text and verdict of a load whose attribution is filled in otherwise. 0,
 * or -1 where memory runs out.
 */
int verdict_fill(const struct judged *judged);

/* The verdict where there is nothing to attribute: no replies, or no increase. */
void verdict_fill_no_answer(const struct judged *judged);
void verdict_fill_no_increase(const struct judged *judged);

#endif
