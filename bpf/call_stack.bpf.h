/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of qdiscs' functions that are open on this CPU, innermost last. */
#ifndef SOJOURN_CALL_STACK_BPF_H
#define SOJOURN_CALL_STACK_BPF_H

#define CALLS	16		/* open at once; more are counted and not followed */
#define KERNEL_STACK	16384	/* THREAD_SIZE (arch/x86/include/asm/page_64_types.h), of interrupts too */

/* A call of an enqueue function that has not returned. */
struct enqueue_call {
	__u64 skb;
	__u64 qdisc;
	__u64 stack;		/* kprobe: stack pointer at entry */
	__u32 record;
	__u32 depth;
	__u32 len;
	__u32 packets;
	__u32 gso_size;
	__u8 offered;		/* this call made the offer: no net_dev_queue did */
	__u8 cut;		/* parts of the skb went on to a child */
	__u8 consumed;		/* the skb was freed as one that has done its duty */
	__u8 dropped_below;	/* a child refused it */
};

/* A call of a dequeue or peek function, where only a kprobe sees its argument. */
struct dequeue_call {
	__u64 qdisc;
	__u64 stack;
};

struct calls {
	__u32 enqueues;		/* open ones */
	__u32 dequeues;
	__u64 refused;		/* skb that a child refused last */
	struct enqueue_call enqueue[CALLS];
	struct dequeue_call dequeue[CALLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct calls);
} calls SEC(".maps");

static __always_inline struct calls *calls_of_this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&calls, &zero);
}

/* The i-th call; barrier_var() keeps the bound that the verifier wants to see. */
static __always_inline struct enqueue_call *call_at(struct calls *own, __u32 i)
{
	barrier_var(i);
	return &own->enqueue[i & (CALLS - 1)];
}

static __always_inline struct dequeue_call *dequeue_call_at(struct calls *own, __u32 i)
{
	barrier_var(i);
	return &own->dequeue[i & (CALLS - 1)];
}

/*
 * Stack pointers at entry to a function, as a kprobe sees it, and at its return, as a
 * kretprobe does: by then the return address is popped, and some kernels leave room
 * for another one (arch/x86/kernel/rethook.c).
 */
static __always_inline bool stack_is_of_return(__u64 entry, __u64 at_return)
{
	return at_return - entry <= 16;
}

/* Is the skb one whose parts went on, in a call that has not returned? */
static __always_inline bool call_is_cut(__u64 skb)
{
	struct calls *own = calls_of_this_cpu();
	__u32 i;

	for (i = 0; own && i < CALLS && i < own->enqueues; i++)
		if (call_at(own, i)->skb == skb && call_at(own, i)->cut)
			return true;
	return false;
}

#endif
