/* SPDX-License-Identifier: GPL-2.0 */
/* Differentiated services code points. */
#ifndef SOJOURN_DSCP_H
#define SOJOURN_DSCP_H

#include <stdbool.h>

#define DSCP_MAX	63

/*
 * The code point of a name in lower case: cs0 to cs7 (RFC 2474), af11 to af43 (RFC 2597),
 * ef (RFC 3246), va (RFC 5865), le (RFC 8622). False: there is no such name.
 */
bool dscp_named(const char *name, unsigned int *dscp);

#endif
