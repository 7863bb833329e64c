/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF object that the running kernel takes, and those of its programs that it has hooks for. */
#ifndef SOJOURN_KERNEL_OBJECT_H
#define SOJOURN_KERNEL_OBJECT_H

#include <stddef.h>

#include "error.h"

struct btf;
struct sojourn_bpf;

/*
 * Open the object, not loaded yet: the one for kernels before 5.17 where the kernel
 * lacks bpf_loop(). Programs for tracepoints that the kernel does not have, and those
 * that hook functions, are left out of the load. Owned by the caller
 * (sojourn_bpf__destroy()); NULL and error.
 */
struct sojourn_bpf *kernel_object_open(struct error *error);

/*
 * Type of a tracepoint in the kernel's BTF, or a negative number where the kernel does
 * not have it: each has a typedef of its own (include/trace/bpf_probe.h).
 */
int kernel_object_tracepoint(const struct btf *types, const char *name);

/* Load it. 0, or -1 and error: the missing privilege or feature by name. */
int kernel_object_load(struct sojourn_bpf *bpf, struct error *error);

/* How many packets the table of waiting ones has room for. */
size_t kernel_object_slots(const struct sojourn_bpf *bpf);

#endif
