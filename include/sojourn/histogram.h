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

/*
 * Position of the highest set bit, by the top six bits of a product (a de Bruijn sequence:
 * they differ for each position).
 */
static const __u8 histogram_bit_of_product[64] = {
	0, 47, 1, 56, 48, 27, 2, 60, 57, 49, 41, 37, 28, 16, 3, 61,
	54, 58, 35, 52, 50, 42, 21, 44, 38, 32, 29, 23, 17, 11, 4, 62,
	46, 55, 26, 59, 40, 36, 15, 53, 34, 51, 20, 43, 31, 22, 10, 45,
	25, 39, 14, 33, 19, 30, 9, 24, 13, 18, 8, 12, 7, 6, 5, 63,

};

/* Of a value that is not 0. No branch: the BPF verifier would follow each way through it. */
static inline __u32 histogram_highest_bit(__u64 value)
{
	value |= value >> 1;
	value |= value >> 2;
	value |= value >> 4;
	value |= value >> 8;
	value |= value >> 16;
	value |= value >> 32;
	return histogram_bit_of_product[value * 0x03f79d71b4cb0a89ULL >> 58];
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
 * A histogram as it lies in the kernel's map. Counts are packets and only the difference
 * between two moments means something: they may wrap, and a requeued packet takes its first
 * sample back and adds a longer one.
 */
struct histogram_counts {
	__s64 sum;		/* ns; packets times their sojourn */
	__s32 counts[HISTOGRAM_BUCKETS];
	__u32 unused;
};

#endif
