/* SPDX-License-Identifier: GPL-2.0 */
/* The packets that this CPU offered last. */
#ifndef SOJOURN_OFFER_BPF_H
#define SOJOURN_OFFER_BPF_H

#include "sojourn/tables.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offers);
} offers SEC(".maps");

static __always_inline struct offers *offers_of_this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&offers, &zero);
}

static __always_inline void offer_close(struct offers *own, struct offer *offer)
{
	if (offer->open)
		own->open--;
	offer->open = 0;
}

/* The open offer of an skb, or NULL. */
static __always_inline struct offer *offer_of_skb(struct offers *own, __u64 skb)
{
	__u32 i;

	if (!own->open)
		return NULL;
	for (i = 0; i < OFFERS; i++)
		if (own->to[i].open && own->to[i].skb == skb)
			return &own->to[i];
	return NULL;
}

/* The open offer to a device, or NULL. */
static __always_inline struct offer *offer_of_device(struct offers *own, __u64 dev)
{
	__u32 i;

	if (!own->open)
		return NULL;
	for (i = 0; i < OFFERS; i++)
		if (own->to[i].open && own->to[i].dev == dev)
			return &own->to[i];
	return NULL;
}

/* The last offer to a record, open or not, or NULL. */
static __always_inline struct offer *offer_of_record(struct offers *own, __u32 record)
{
	__u32 i;

	for (i = 0; i < OFFERS; i++)
		if (own->to[i].dev && own->to[i].record == record)
			return &own->to[i];
	return NULL;
}

static __always_inline bool offer_is_better_place(const struct offer *a, const struct offer *b)
{
	if (a->open != b->open)
		return !a->open;
	return a->offered_ns < b->offered_ns;
}

/* Where the next offer to a device goes: over the last one to it, else over the oldest closed one. */
static __always_inline struct offer *offer_place(struct offers *own, __u64 dev)
{
	struct offer *place = &own->to[0];
	__u32 i;

	for (i = 0; i < OFFERS; i++) {
		if (own->to[i].dev == dev)
			return &own->to[i];
		if (offer_is_better_place(&own->to[i], place))
			place = &own->to[i];
	}
	return place;
}

static __always_inline __u32 offer_number(const struct offers *own, const struct offer *offer)
{
	__u32 i;

	for (i = 1; i < OFFERS; i++)
		if (offer == &own->to[i])
			return i;
	return 0;
}

#endif
