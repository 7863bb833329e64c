// SPDX-License-Identifier: GPL-2.0
/* Messages of the kernel about qdiscs and classes. */
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "qdisc_class.h"
#include "qdisc_tree.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct nlmsghdr *header = malloc(sizeof(*header) + size);
	struct qdisc_info info = { 0 };
	struct class_info class = { 0 };

	if (!header)
		return 0;
	/* netlink.c hands on whole messages only: their length is what came */
	memset(header, 0, sizeof(*header));
	header->nlmsg_len = (__u32)(sizeof(*header) + size);
	memcpy(header + 1, data, size);
	qdisc_info_parse(&info, header);
	class_info_parse(&class, header);
	free(header);
	return 0;
}
