/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log-linear histogram that the kernel side fills and the user side reads.
 *
 * Values below 64 ns have a bucket each; every octave above is cut into 32
 * equal buckets. A bucket's middle is thus at most 1/64 (1.56 %) away from any
 * value in it. 2^37 ns (137 s) and more share the last bucket.
 */
#ifndef SOJOURN_HISTOGRAM_H
#define SOJOURN_HISTOGRAM_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define HISTOGRAM_SUB_BITS	5
#define HISTOGRAM_TOP_BIT	37	/* first value that overflows: 1 << 37 ns */
#define HISTOGRAM_BUCKETS	(((HISTOGRAM_TOP_BIT - HISTOGRAM_SUB_BITS) << \
				  HISTOGRAM_SUB_BITS) + (1 << HISTOGRAM_SUB_BITS) + 1)

/* Position of the highest set bit of a value that is not 0 (no loop: BPF). */
static inline __u32 histogram_highest_bit(__u64 value)
{
	__u32 bit = 0;

	if (value >> 32) {
		value >>= 32;
		bit += 32;
	}
	if (value >> 16) {
		value >>= 16;
		bit += 16;
	}
	if (value >> 8) {
		value >>= 8;
		bit += 8;
	}
	if (value >> 4) {
		value >>= 4;
		bit += 4;
	}
	if (value >> 2) {
		value >>= 2;
		bit += 2;
	}
	return bit + (value >> 1);
}

/* Bucket of a value in ns; always below HISTOGRAM_BUCKETS. */
static inline __u32 histogram_bucket(__u64 value)
{
	__u32 shift;

	if (value < (2u << HISTOGRAM_SUB_BITS))
		return value;
	if (value >> HISTOGRAM_TOP_BIT)
		return HISTOGRAM_BUCKETS - 1;
	shift = histogram_highest_bit(value) - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (__u32)(value >> shift);
}

/* Smallest value, in ns, of a bucket. */
static inline __u64 histogram_bucket_low(__u32 bucket)
{
	__u32 shift;

	if (bucket < (2u << HISTOGRAM_SUB_BITS))
		return bucket;
	shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	return (__u64)(bucket - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

/* Largest value, in ns, of a bucket; the last one has no upper end. */
static inline __u64 histogram_bucket_high(__u32 bucket)
{
	if (bucket >= HISTOGRAM_BUCKETS - 1)
		return ~0ULL;
	return histogram_bucket_low(bucket + 1) - 1;
}

/*
 * One bank of a histogram as it lies in the kernel's map. Counts are packets.
 * A requeued packet takes its first sample back and adds a longer one, perhaps
 * in another bank: the differences are therefore signed, and only their sum
 * over all banks is a count.
 */
struct histogram_bank {
	__s64 count;
	__s64 sum;		/* ns; packets times their sojourn */
	__u64 min;		/* ns; ~0 when empty */
	__u64 max;		/* ns */
	__s32 counts[HISTOGRAM_BUCKETS];
	__u32 unused;
};

#endif
