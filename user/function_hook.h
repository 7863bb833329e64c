/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs at functions of the kernel that are given by address, whatever
 * module they lie in: by the trampoline (fentry, fexit), or by a kprobe or
 * kretprobe. Every hook is an instance of its own of a program that is loaded
 * already: it shares that program's maps and global data, and its skipped runs are
 * told apart.
 */
#ifndef SOJOURN_FUNCTION_HOOK_H
#define SOJOURN_FUNCTION_HOOK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct bpf_program;
struct function_hook;
struct function_hooks;

enum hook_way {
	HOOK_FENTRY,		/* fentry and fexit */
	HOOK_KPROBE,		/* kprobe and kretprobe */
};

/*
 * What finding functions takes: the kernel's symbols and types, read where they
 * are first needed and kept. Owned by the caller; NULL where memory is short.
 */
struct function_hooks *function_hooks_open(void);
void function_hooks_close(struct function_hooks *hooks);

/* "htb_dequeue [sch_htb]", or the address where its name cannot be had. */
void function_hooks_name(struct function_hooks *hooks, __u64 address, char *name, size_t size);

/*
 * Whether the kernel takes hooks of that way, at entry and at return: attach
 * programs that do nothing to a function that every kernel has, for a moment.
 * Returns 0, or -1 and error (EXIT_CANNOT).
 */
int function_hook_try(struct function_hooks *hooks, enum hook_way way, struct error *error);

/*
 * Attach by that way at the function that begins at address, at its entry or its
 * return. program is loaded, and a fentry program (for at_return: fexit), of whatever
 * target, for HOOK_FENTRY, a kprobe program for HOOK_KPROBE. The hook is the caller's,
 * for function_hook_detach(), to which the programs and maps must stay.
 * Without /proc/kallsyms the name is the address, and HOOK_FENTRY cannot be.
 * Returns NULL and error (EXIT_CANNOT) where it does not work.
 *
 * The kernel keeps at most max(10, 2 * CPUs) calls of a function waiting for a
 * kretprobe (kernel/kprobes.c, register_kretprobe(); where it is not built with
 * CONFIG_PREEMPTION, up to 5.x: as many as CPUs). Calls beyond run unseen and count
 * as skipped.
 */
struct function_hook *function_hook_attach(struct function_hooks *hooks,
					   enum hook_way way, const struct bpf_program *program,
					   bool at_return, __u64 address, struct error *error);

/* "fentry", "fexit", "kprobe" or "kretprobe" */
const char *function_hook_how(const struct function_hook *hook);

/* "htb_dequeue [sch_htb]", "pfifo_enqueue", "0xffffffffc00036f0"; owned by the hook. */
const char *function_hook_name(const struct function_hook *hook);

/*
 * Runs that the kernel left out as far as it tells: of a trampoline since 5.12
 * (recursion), of a probe since 6.7 (recursion, no kretprobe instance free); else 0.
 */
__u64 function_hook_skipped(const struct function_hook *hook);

/* Runs so far, where the kernel counts them (bpf_enable_stats()), else 0. */
__u64 function_hook_runs(const struct function_hook *hook);

/* Detach and free; NULL is taken too. */
void function_hook_detach(struct function_hook *hook);

#endif
