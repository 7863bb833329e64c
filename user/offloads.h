/* SPDX-License-Identifier: GPL-2.0 */
/* Segmentation offloads of a device. */
#ifndef SOJOURN_OFFLOADS_H
#define SOJOURN_OFFLOADS_H

#include "error.h"

/*
 * Switch segmentation (TSO, GSO) and GRO of the device in that namespace off, so that every packet of the
 * wire passes by itself. What the device cannot switch it has not. 0, or -1 and error.
 */
int offloads_off(int netns_fd, const char *device, struct error *error);

#endif
