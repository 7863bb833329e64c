/* SPDX-License-Identifier: GPL-2.0 */
/* What a comparison's programs could not do; both sides of it use this. */
#ifndef SOJOURN_BENCH_COUNTERS_H
#define SOJOURN_BENCH_COUNTERS_H

struct bench_counters {
	unsigned long long no_room;	/* packets that found the map full */
	unsigned long long unmatched;	/* packets handed out that were not in it */
};

#endif
