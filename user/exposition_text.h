/* SPDX-License-Identifier: GPL-2.0 */
/* Metrics as text: Prometheus's own format, version 0.0.4, and OpenMetrics 1.0. */
#ifndef SOJOURN_EXPOSITION_TEXT_H
#define SOJOURN_EXPOSITION_TEXT_H

#include <stdbool.h>

#include "bytes.h"
#include "metric.h"

/* Add them behind text. What failed for want of memory is marked there. */
void exposition_text(const struct metrics *metrics, bool openmetrics, struct bytes *text);

#endif
