/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of kernel functions by their addresses, from /proc/kallsyms: read once,
 * again only where modules have come or gone since.
 */
#ifndef SOJOURN_KALLSYMS_H
#define SOJOURN_KALLSYMS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct kallsyms;

/* A function. The texts are owned by the table that it was found in. */
struct kallsyms_symbol {
	const char *name;
	const char *module;	/* "" for the kernel itself */
	/*
	 * The kernel finds this function when it is asked for the name, and never
	 * another one. For a module's function no one else may have the name, in
	 * another module neither: kernels before 6.3 look for it everywhere, in the
	 * kernel itself first (kernel/kallsyms.c, kallsyms_lookup_name()).
	 */
	bool unique;
};

/*
 * Read /proc/kallsyms. The table is the caller's, for kallsyms_free(); NULL and
 * error (EXIT_CANNOT) also where the kernel shows every address as 0.
 */
struct kallsyms *kallsyms_read(struct error *error);

/* The same of a text in the format of /proc/kallsyms; text is not kept. */
struct kallsyms *kallsyms_parse(const char *text, size_t size, struct error *error);

/* Whether modules came or went since kallsyms_read(), so that it should be read again. */
bool kallsyms_stale(const struct kallsyms *symbols);

/*
 * The function that begins at address; false where none does. Of several names
 * of one function a unique one is preferred. Takes as long as a walk over all names.
 */
bool kallsyms_find(const struct kallsyms *symbols, __u64 address,
		   struct kallsyms_symbol *symbol);

void kallsyms_free(struct kallsyms *symbols);

#endif
