/* SPDX-License-Identifier: GPL-2.0 */
/* How a qdisc is set: the kernel's TCA_OPTIONS as named values. */
#ifndef SOJOURN_QDISC_OPTIONS_H
#define SOJOURN_QDISC_OPTIONS_H

#include <libmnl/libmnl.h>

#include "qdisc_tree.h"

/*
 * Decode the options of info->kind (info->handle must be set) into
 * info->options. Kinds that are not known, and attributes that are missing or
 * too short, give no option. A value that means "no limit" gives none either.
 */
void qdisc_options_decode(struct qdisc_info *info, const struct nlattr *options);

#endif
