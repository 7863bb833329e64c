// SPDX-License-Identifier: GPL-2.0
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "offloads.h"

#define FEATURES_MAX	512	/* far more than any kernel has */
#define BLOCKS(count)	(((count) + 31) / 32)

struct device {
	int fd;
	const char *name;
};

static int request(const struct device *device, void *command)
{
	struct ifreq request = { .ifr_data = command };

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device->name);
	return ioctl(device->fd, SIOCETHTOOL, &request);
}

/* How many features this kernel has names for; 0 and errno: it does not tell. */
static unsigned int count_features(const struct device *device)
{
	__u64 room[sizeof(struct ethtool_sset_info) / sizeof(__u64) + 1] = { 0 };
	struct ethtool_sset_info *query = (struct ethtool_sset_info *)room;

	query->cmd = ETHTOOL_GSSET_INFO;
	query->sset_mask = 1ULL << ETH_SS_FEATURES;
	if (request(device, query) || !query->sset_mask || query->data[0] > FEATURES_MAX)
		return 0;
	return query->data[0];
}

/*
 * What makes one packet of several, or several of one (net/ethtool/common.c,
 * netdev_features_strings): kernels add to them, so that they are told by their names.
 */
static bool is_offload(const char *name)
{
	return !strncmp(name, "rx-gro", 6) || !strcmp(name, "tx-generic-segmentation") ||
	       (!strncmp(name, "tx-", 3) && strstr(name, "-segmentation"));
}

static int switch_off(const struct device *device, const struct ethtool_gstrings *names,
		      struct error *error)
{
	struct ethtool_sfeatures *change;
	int status = 0;

	change = calloc(1, sizeof(*change) + BLOCKS(names->len) * sizeof(change->features[0]));
	if (!change)
		return error_set(error, EXIT_CANNOT, "out of memory");
	change->cmd = ETHTOOL_SFEATURES;
	change->size = BLOCKS(names->len);
	for (unsigned int i = 0; i < names->len; i++) {
		if (is_offload((const char *)names->data + i * ETH_GSTRING_LEN))
			change->features[i / 32].valid |= 1U << i % 32;
	}
	/* A positive answer tells of features that cannot be changed: the device has them not. */
	if (request(device, change) < 0)
		status = error_set_errno(error, EXIT_CANNOT, "cannot switch the offloads of %s off",
					 device->name);
	free(change);
	return status;
}

static int read_names(const struct device *device, struct error *error)
{
	unsigned int count = count_features(device);
	struct ethtool_gstrings *names;
	int status;

	if (!count)
		return error_set_errno(error, EXIT_CANNOT, "cannot read the offloads of %s",
				       device->name);
	names = calloc(1, sizeof(*names) + count * ETH_GSTRING_LEN);
	if (!names)
		return error_set(error, EXIT_CANNOT, "out of memory");
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = count;
	if (request(device, names))
		status = error_set_errno(error, EXIT_CANNOT, "cannot read the offloads of %s",
					 device->name);
	else
		status = switch_off(device, names, error);
	free(names);
	return status;
}

static int switch_all_off(void *argument, struct error *error)
{
	struct device device = { .name = argument };
	int status;

	device.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (device.fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open a socket for %s",
				       device.name);
	status = read_names(&device, error);
	close(device.fd);
	return status;
}

int offloads_off(int netns_fd, const char *device, struct error *error)
{
	return netns_run(netns_fd, switch_all_off, (void *)device, error);
}
