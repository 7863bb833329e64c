// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "link.h"

#define OPERSTATE_UP	6	/* IF_OPER_UP of linux/if.h, which net/if.h excludes */
#define WAIT_STEP_NS	1000000
#define WHAT_SIZE	160
#define VETHS_MAX	(2 * 32)

struct address {
	int family;
	size_t length;
	unsigned char bytes[sizeof(struct in6_addr)];
};

/* What an RTM_NEWLINK message says of one device. */
struct link_state {
	__u32 index;
	__u8 operstate;
	bool veth;
};

static int parse_address(const char *text, struct address *address, struct error *error)
{
	address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	address->length = address->family == AF_INET ? sizeof(struct in_addr) :
						       sizeof(struct in6_addr);
	if (inet_pton(address->family, text, address->bytes) == 1)
		return 0;
	errno = EINVAL;
	return error_set(error, EXIT_USAGE, "'%s' is not an address", text);
}

static int check_device(const char *device, struct error *error)
{
	if (device[0] && strlen(device) < IFNAMSIZ)
		return 0;
	errno = EINVAL;
	return error_set(error, EXIT_USAGE, "'%s' cannot be the name of a device", device);
}

static int take_link_info(const struct nlattr *attribute, void *data)
{
	struct link_state *state = data;

	if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
		state->veth = !strncmp(mnl_attr_get_str(attribute), "veth",
				       mnl_attr_get_payload_len(attribute));
	return MNL_CB_OK;
}

static int take_link_attribute(const struct nlattr *attribute, void *data)
{
	struct link_state *state = data;

	if (mnl_attr_get_type(attribute) == IFLA_OPERSTATE)
		state->operstate = mnl_attr_get_u8(attribute);
	else if (mnl_attr_get_type(attribute) == IFLA_LINKINFO)
		mnl_attr_parse_nested(attribute, take_link_info, state);
	return MNL_CB_OK;
}

static int take_link(const struct nlmsghdr *header, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	struct link_state *state = data;

	if (header->nlmsg_type != RTM_NEWLINK)
		return MNL_CB_OK;
	state->index = info->ifi_index;
	mnl_attr_parse(header, sizeof(*info), take_link_attribute, state);
	return MNL_CB_OK;
}

static int read_link(struct netlink *netlink, const char *device, struct link_state *state,
		     struct error *error)
{
	struct nlmsghdr *header;
	char what[WHAT_SIZE];

	memset(state, 0, sizeof(*state));
	if (check_device(device, error))
		return -1;
	header = netlink_message(netlink, RTM_GETLINK, 0);
	mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(header, IFLA_IFNAME, device);
	snprintf(what, sizeof(what), "read the state of device %s", device);
	return netlink_send(netlink, take_link, state, what, error);
}

__u32 link_index(struct netlink *netlink, const char *device, struct error *error)
{
	struct link_state state;

	return read_link(netlink, device, &state, error) ? 0 : state.index;
}

int link_add_veth(struct netlink *netlink, const char *device, const char *peer,
		  int peer_netns_fd, struct error *error)
{
	struct nlattr *information, *data, *peer_data;
	struct nlmsghdr *header;
	char what[WHAT_SIZE];

	if (check_device(device, error) || check_device(peer, error))
		return -1;
	header = netlink_message(netlink, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(header, IFLA_IFNAME, device);
	information = mnl_attr_nest_start(header, IFLA_LINKINFO);
	mnl_attr_put_strz(header, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
	peer_data = mnl_attr_nest_start(header, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(header, IFLA_IFNAME, peer);
	mnl_attr_put_u32(header, IFLA_NET_NS_FD, peer_netns_fd);
	mnl_attr_nest_end(header, peer_data);
	mnl_attr_nest_end(header, data);
	mnl_attr_nest_end(header, information);
	snprintf(what, sizeof(what), "make the veth pair %s and %s", device, peer);
	return netlink_send(netlink, NULL, NULL, what, error);
}

/* The indices of a namespace's veths. */
struct veths {
	__u32 indices[VETHS_MAX];
	size_t count;
};

static void begin_veths(void *data)
{
	((struct veths *)data)->count = 0;
}

static int take_veth(const struct nlmsghdr *header, void *data)
{
	struct link_state state = { 0 };
	struct veths *veths = data;

	take_link(header, &state);
	if (state.veth && veths->count < VETHS_MAX)
		veths->indices[veths->count++] = state.index;
	return MNL_CB_OK;
}

static int delete_link(struct netlink *netlink, __u32 index, struct error *error)
{
	struct nlmsghdr *header = netlink_message(netlink, RTM_DELLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof(*info));
	char what[WHAT_SIZE];

	info->ifi_index = index;
	snprintf(what, sizeof(what), "delete device %u", index);
	return netlink_send(netlink, NULL, NULL, what, error);
}

int link_delete_veths(struct netlink *netlink, struct error *error)
{
	struct nlmsghdr *header = netlink_message(netlink, RTM_GETLINK, NLM_F_DUMP);
	struct veths veths = { .count = 0 };
	struct error reason = { 0 };
	int status = 0;

	mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
	if (netlink_dump(netlink, take_veth, begin_veths, &veths, "list the devices", error))
		return -1;
	while (veths.count) {
		/* One that is gone by now went with its peer. */
		if (!delete_link(netlink, veths.indices[--veths.count], &reason) || errno == ENODEV)
			continue;
		status = -1;
		if (error)
			*error = reason;
	}
	return status;
}

/* Begin to change a device; NULL and error where there is none. */
static struct nlmsghdr *begin_change(struct netlink *netlink, const char *device,
				     struct ifinfomsg **info, struct error *error)
{
	__u32 index = link_index(netlink, device, error);
	struct nlmsghdr *header;

	if (!index)
		return NULL;
	header = netlink_message(netlink, RTM_NEWLINK, 0);
	*info = mnl_nlmsg_put_extra_header(header, sizeof(**info));
	(*info)->ifi_index = index;
	return header;
}

int link_set_up(struct netlink *netlink, const char *device, struct error *error)
{
	struct ifinfomsg *info;
	char what[WHAT_SIZE];

	if (!begin_change(netlink, device, &info, error))
		return -1;
	info->ifi_flags = IFF_UP;
	info->ifi_change = IFF_UP;
	snprintf(what, sizeof(what), "set device %s up", device);
	return netlink_send(netlink, NULL, NULL, what, error);
}

int link_wait_up(struct netlink *netlink, const char *device, unsigned int timeout_ms,
		 struct error *error)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_NS };
	struct link_state state;
	unsigned int waited_ms;

	for (waited_ms = 0; waited_ms <= timeout_ms; waited_ms++) {
		if (read_link(netlink, device, &state, error))
			return -1;
		if (state.operstate == OPERSTATE_UP)
			return 0;
		nanosleep(&step, NULL);
	}
	errno = ETIMEDOUT;
	return error_set(error, EXIT_CANNOT, "device %s did not come up within %u ms", device,
			 timeout_ms);
}

int link_add_address(struct netlink *netlink, const char *device, const char *address,
		     unsigned int prefix_length, struct error *error)
{
	__u32 index = link_index(netlink, device, error);
	struct nlmsghdr *header;
	struct ifaddrmsg *message;
	struct address parsed;
	char what[WHAT_SIZE];

	if (!index || parse_address(address, &parsed, error))
		return -1;
	header = netlink_message(netlink, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	message->ifa_family = parsed.family;
	message->ifa_prefixlen = prefix_length;
	message->ifa_flags = parsed.family == AF_INET6 ? IFA_F_NODAD : 0;
	message->ifa_index = index;
	mnl_attr_put(header, IFA_LOCAL, parsed.length, parsed.bytes);
	mnl_attr_put(header, IFA_ADDRESS, parsed.length, parsed.bytes);
	snprintf(what, sizeof(what), "add address %s/%u to device %s", address, prefix_length,
		 device);
	return netlink_send(netlink, NULL, NULL, what, error);
}

int link_add_route(struct netlink *netlink, const char *network, unsigned int length,
		   const char *gateway, struct error *error)
{
	struct address parsed, target = { 0 };
	struct nlmsghdr *header;
	struct rtmsg *message;
	char what[WHAT_SIZE];

	if (parse_address(gateway, &parsed, error) ||
	    (*network && parse_address(network, &target, error)))
		return -1;
	header = netlink_message(netlink, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
	message = mnl_nlmsg_put_extra_header(header, sizeof(*message));
	message->rtm_family = parsed.family;
	message->rtm_dst_len = *network ? length : 0;
	message->rtm_table = RT_TABLE_MAIN;
	message->rtm_protocol = RTPROT_STATIC;
	message->rtm_scope = RT_SCOPE_UNIVERSE;
	message->rtm_type = RTN_UNICAST;
	if (*network)
		mnl_attr_put(header, RTA_DST, target.length, target.bytes);
	mnl_attr_put(header, RTA_GATEWAY, parsed.length, parsed.bytes);
	if (*network)
		snprintf(what, sizeof(what), "add a route to %s/%u via %s", network, length, gateway);
	else
		snprintf(what, sizeof(what), "add the default route via %s", gateway);
	return netlink_send(netlink, NULL, NULL, what, error);
}

int link_set_mtu(struct netlink *netlink, const char *device, unsigned int mtu,
		 struct error *error)
{
	struct ifinfomsg *info;
	struct nlmsghdr *header = begin_change(netlink, device, &info, error);
	char what[WHAT_SIZE];

	if (!header)
		return -1;
	mnl_attr_put_u32(header, IFLA_MTU, mtu);
	snprintf(what, sizeof(what), "set the MTU of device %s to %u", device, mtu);
	return netlink_send(netlink, NULL, NULL, what, error);
}
