// SPDX-License-Identifier: GPL-2.0
/* What a hook costs by itself: bench_hooks attaches one of these wherever it is told to. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf")
int empty(void *ctx)
{
	return 0;
}

SEC("kprobe")
int empty_probe(void *ctx)
{
	return 0;
}
