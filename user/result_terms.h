/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a result's parts are called in documents: one list for who writes them and for who
 * reads them.
 */
#ifndef SOJOURN_RESULT_TERMS_H
#define SOJOURN_RESULT_TERMS_H

#include <linux/types.h>
#include <stddef.h>

/* Names by enum, NULL at the end. */
extern const char *const leg_kind_names[];	/* enum leg_kind */
extern const char *const phase_kind_names[];	/* enum phase_kind */
extern const char *const holder_kind_names[];	/* enum holder_kind */
extern const char *const shape_names[];		/* enum shape_name */

/* A __u64 of a structure, and its name. */
struct result_term {
	const char *name;	/* NULL ends a list */
	size_t offset;
};

extern const struct result_term ledger_terms[];	/* of struct ledger, but for unaccounted */
extern const struct result_term loss_terms[];	/* of struct tracer_losses: all of them */

static inline __u64 result_term_value(const struct result_term *term, const void *structure)
{
	return *(const __u64 *)((const char *)structure + term->offset);
}

static inline __u64 *result_term_place(const struct result_term *term, void *structure)
{
	return (__u64 *)((char *)structure + term->offset);
}

#endif
