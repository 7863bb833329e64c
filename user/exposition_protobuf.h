/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics as Prometheus's protobuf messages (io.prometheus.client.MetricFamily, each behind its
 * length): the only format that holds native histograms.
 */
#ifndef SOJOURN_EXPOSITION_PROTOBUF_H
#define SOJOURN_EXPOSITION_PROTOBUF_H

#include "bytes.h"
#include "metric.h"

/* Add them behind message. What failed for want of memory is marked there. */
void exposition_protobuf(const struct metrics *metrics, struct bytes *message);

#endif
