/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks at the functions of qdiscs: enqueue, dequeue and peek of every kind that is there. */
#ifndef SOJOURN_QDISC_HOOKS_H
#define SOJOURN_QDISC_HOOKS_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"
#include "sojourn/qdisc_record.h"
#include "tracer.h"

struct bpf_program;
struct function_hooks;
struct qdisc_hooks;

/* The loaded programs: for the trampoline, and for probes. NULL: not used; one way is. */
struct qdisc_programs {
	const struct bpf_program *enqueue_entry, *enqueue_exit, *dequeue_exit, *peek_exit;
	const struct bpf_program *enqueue_call, *enqueue_return, *dequeue_call, *dequeue_return,
				 *peek_return;
};

/* functions stays the caller's and must outlive the hooks. NULL where memory is short. */
struct qdisc_hooks *qdisc_hooks_open(struct function_hooks *functions,
				     const struct qdisc_programs *programs);

/*
 * Hook the functions of every record that are not hooked yet. What cannot be hooked is
 * in the list of hooks with the reason, and is not tried again.
 */
void qdisc_hooks_add(struct qdisc_hooks *hooks, const struct qdisc_record *records,
		     unsigned int count);

/* Enqueue functions that could not be hooked: their qdiscs are not measured as children. */
unsigned int qdisc_hooks_failed(const struct qdisc_hooks *hooks);

/* One entry for each hook that is wanted; owned by hooks, valid until the next call of any. */
const struct tracer_hook *qdisc_hooks_list(struct qdisc_hooks *hooks, size_t *count);

/* Runs that the kernel left out, of all. */
__u64 qdisc_hooks_skipped(struct qdisc_hooks *hooks);

/* Take all hooks off: first those at entries. */
void qdisc_hooks_detach(struct qdisc_hooks *hooks);

void qdisc_hooks_close(struct qdisc_hooks *hooks);

#endif
