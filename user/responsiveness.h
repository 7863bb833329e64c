/* SPDX-License-Identifier: GPL-2.0 */
/* What online tests give a person: a letter, and round trips per minute. */
#ifndef SOJOURN_RESPONSIVENESS_H
#define SOJOURN_RESPONSIVENESS_H

#include "result.h"

/*
 * Grade of a mean RTT increase under load, in ns: "A+" below 5 ms, "A" 30, "B" 60, "C" 200, "D"
 * 400, else "F": the bufferbloat grades of DSLReports (https://www.dslreports.com/faq/17930).
 */
const char *responsiveness_grade(double increase_ns);

/* That of a load phase; NULL where it or the idle phase has no answered probe. */
const char *responsiveness_grade_of(const struct result *result, const struct phase *load);

/*
 * Round trips per minute in a phase: 60 s by the mean RTT of its answered probes, the slowest 5 %
 * left out, as draft-ietf-ippm-responsiveness trims its means. NAN where none was answered or
 * memory is short. The draft times handshakes of TCP and TLS and requests of HTTP as well;
 * these are echoes beside the load: of its parts, the network's alone.
 */
double responsiveness_rpm(const struct result *result, const struct phase *phase);

#endif
