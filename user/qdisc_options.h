/* SPDX-License-Identifier: GPL-2.0 */
/* How qdiscs and classes are set: the kernel's TCA_OPTIONS as named values. */
#ifndef SOJOURN_QDISC_OPTIONS_H
#define SOJOURN_QDISC_OPTIONS_H

#include <libmnl/libmnl.h>

#include "qdisc_class.h"
#include "qdisc_tree.h"

/*
 * Decode the options of info->kind (info->handle must be set) into
 * info->options, under the names that tc takes. Kinds that are not known, and
 * attributes that are missing or too short, give no option. A value that means
 * "no limit" gives none either. Lists are left out: the thresholds of gred's
 * queues (but for the default's), mqprio's rates, taprio's entries (their
 * number is told), fq's weights; the quanta of ets are those of its classes.
 */
void qdisc_options_decode(struct qdisc_info *info, const struct nlattr *options);

/* The same for a class: info->classid must be set. */
void qdisc_options_decode_class(struct class_info *info, const struct nlattr *options);

/* "10.0 Mbit/s", "5.00 ms", "1000p", "10:", "diffserv3", "1 %". Returns text, or a constant. */
#define QDISC_OPTION_TEXT 48
const char *qdisc_option_text(const struct qdisc_option *option, char text[QDISC_OPTION_TEXT]);

/* The option of that name, or NULL. */
const struct qdisc_option *qdisc_option_find(const struct qdisc_option *options,
					     unsigned int count, const char *name);

#endif
