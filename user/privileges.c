// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capabilities.h"
#include "privileges.h"

#define BIT(capability)	(1ULL << (capability))

static const unsigned long long needed[] = {
	[PRIVILEGES_NONE] = 0,
	[PRIVILEGES_FOLLOW] = BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_PTRACE),
	[PRIVILEGES_FUNCTIONS] = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) |
				 BIT(CAP_SYS_PTRACE) | BIT(CAP_SYSLOG),
};

/* The kernel's structures hold 32 capabilities each (include/uapi/linux/capability.h, version 3). */
static int get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return (int)syscall(SYS_capget, &header, data);
}

static int set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return (int)syscall(SYS_capset, &header, data);
}

/* Takes CAP_SETPCAP: who has it not cannot gain any either, for no_new_privs is set. */
static void empty_bounding_set(void)
{
	int capability;

	for (capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

int privileges_drop(enum privileges_use use, struct error *error)
{
	struct __user_cap_data_struct data[2];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || get(data))
		return error_set_errno(error, EXIT_CANNOT, "cannot give up privileges");
	empty_bounding_set();
	for (unsigned int i = 0; i < 2; i++) {
		data[i].permitted &= (__u32)(needed[use] >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (set(data) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return error_set_errno(error, EXIT_CANNOT, "cannot give up privileges");
	return 0;
}
