/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels before 5.17 lack. The programs are compiled twice; the object for
 * them (BEFORE_5_17) has no atomic instruction that returns a value (5.12) and no
 * bpf_loop() (5.17). Two CPUs that meet may then lose an update there: a packet
 * whose slot was overwritten that way is missed in its ledger, never mistaken.
 */
#ifndef SOJOURN_KERNEL_BPF_H
#define SOJOURN_KERNEL_BPF_H

#ifdef BEFORE_5_17

static __always_inline bool compare_and_swap(__u32 *at, __u32 from, __u32 to)
{
	if (*(volatile __u32 *)at != from)
		return false;
	*(volatile __u32 *)at = to;
	return true;
}

/*
 * Two CPUs that look for a free slot in the same place must not find the same one: each half
 * of a bucket is for the CPUs of one parity.
 */
static __always_inline bool slot_is_others(__u32 candidate)
{
	return (candidate >> 1 ^ bpf_get_smp_processor_id()) & 1;
}

static __always_inline __u64 exchange_u64(__u64 *at, __u64 value)
{
	__u64 old = *(volatile __u64 *)at;

	*(volatile __u64 *)at = value;
	return old;
}

static __always_inline __s64 fetch_and_add_s64(__s64 *at, __s64 by)
{
	__s64 old = *(volatile __s64 *)at;

	__sync_fetch_and_add(at, by);
	return old;
}

static __always_inline __s32 fetch_and_add_s32(__u32 *at, __s32 by)
{
	__s32 old = *(volatile __s32 *)at;

	__sync_fetch_and_add(at, by);
	return old;
}

#else

static __always_inline bool slot_is_others(__u32 candidate)
{
	return false;
}

static __always_inline bool compare_and_swap(__u32 *at, __u32 from, __u32 to)
{
	return __sync_val_compare_and_swap(at, from, to) == from;
}

static __always_inline __u64 exchange_u64(__u64 *at, __u64 value)
{
	return __sync_lock_test_and_set(at, value);
}

static __always_inline __s64 fetch_and_add_s64(__s64 *at, __s64 by)
{
	return __sync_fetch_and_add(at, by);
}

static __always_inline __s32 fetch_and_add_s32(__u32 *at, __s32 by)
{
	return __sync_fetch_and_add(at, by);
}

#endif

/*
 * Call callback(index, context) until it returns other than 0, times times at
 * most. Older kernels check every round of a loop before they run it: there
 * it is cut at old_most.
 */
static __always_inline void repeat(__u32 times, long (*callback)(__u64 index, void *context),
				   void *context, const __u32 old_most)
{
#ifdef BEFORE_5_17
	__u32 i;

	for (i = 0; i < old_most && i < times; i++)
		if (callback(i, context))
			return;
#else
	bpf_loop(times, callback, context, 0);
#endif
}

#endif
