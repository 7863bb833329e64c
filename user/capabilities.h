/* SPDX-License-Identifier: GPL-2.0 */
/* Capabilities that Linux 5.8 brought, for headers that are older. */
#ifndef SOJOURN_CAPABILITIES_H
#define SOJOURN_CAPABILITIES_H

#include <linux/capability.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif
#ifndef CAP_BPF
#define CAP_BPF		39
#endif

#endif
