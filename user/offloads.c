// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "offloads.h"

static int switch_off(int fd, const char *device, __u32 command, struct error *error)
{
	struct ethtool_value value = { .cmd = command, .data = 0 };
	struct ifreq request = { .ifr_data = (char *)&value };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (!ioctl(fd, SIOCETHTOOL, &request) || errno == EOPNOTSUPP)
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot switch the offloads of %s off", device);
}

/* net/ethtool/ioctl.c, ethtool_set_one_feature: a command for each of the old features. */
static int switch_all_off(void *argument, struct error *error)
{
	static const __u32 commands[] = { ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO };
	const char *device = argument;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), status = 0;

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open a socket for %s", device);
	for (unsigned int i = 0; !status && i < sizeof(commands) / sizeof(commands[0]); i++)
		status = switch_off(fd, device, commands[i], error);
	close(fd);
	return status;
}

int offloads_off(int netns_fd, const char *device, struct error *error)
{
	return netns_run(netns_fd, switch_all_off, (void *)device, error);
}
