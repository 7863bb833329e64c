// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_plan.h"
#include "text.h"

#define IPV4_LENGTH	24
#define IPV6_LENGTH	64
#define ROUTE_WORD	63	/* more than an address with its length needs */

/* One end of a built-in link. */
struct fixed_end {
	enum lab_host host;
	const char *device, *ipv4, *ipv6;
};

struct fixed_host {
	const char *name, *role;
	bool forwards;
	const char *ipv4, *ipv6;	/* default gateways; NULL: none */
};

#define FIXED_LINKS	3

struct topology {
	unsigned int host_count, link_count;
	struct fixed_host hosts[LAB_MODEM + 1];
	struct {
		const char *name;
		struct fixed_end ends[2];
	} links[FIXED_LINKS];
};

/* RFC 5737 and RFC 3849 keep these addresses for documentation. */
static const struct topology topologies[] = {
	[LAB_BOTTLENECK] = {
		.host_count = 3,
		.link_count = 2,
		.hosts = {
			[LAB_CLIENT] = { "client", "client", false, "192.0.2.1", "2001:db8:1::1" },
			[LAB_ROUTER] = { "router", "router", true, NULL, NULL },
			[LAB_SERVER] = { "server", "server", false, "198.51.100.1",
					 "2001:db8:2::1" },
		},
		.links = {
			{ "lan", { { LAB_CLIENT, "eth0", "192.0.2.10", "2001:db8:1::10" },
				   { LAB_ROUTER, "lan0", "192.0.2.1", "2001:db8:1::1" } } },
			{ "wan", { { LAB_SERVER, "eth0", "198.51.100.10", "2001:db8:2::10" },
				   { LAB_ROUTER, "wan0", "198.51.100.1", "2001:db8:2::1" } } },
		},
	},
	[LAB_OFFICE] = {
		.host_count = 4,
		.link_count = 3,
		.hosts = {
			[LAB_CLIENT] = { "client", "client", false, "192.0.2.1", "2001:db8:1::1" },
			[LAB_ROUTER] = { "gw", "gateway", true, "203.0.113.1", "2001:db8:3::1" },
			[LAB_SERVER] = { "server", "server", false, "198.51.100.1",
					 "2001:db8:2::1" },
			/* The server's network is its own; what is left lies behind the gateway. */
			[LAB_MODEM] = { "modem", "modem", true, "203.0.113.2", "2001:db8:3::2" },
		},
		.links = {
			{ "lan", { { LAB_CLIENT, "eth0", "192.0.2.10", "2001:db8:1::10" },
				   { LAB_ROUTER, "lan0", "192.0.2.1", "2001:db8:1::1" } } },
			{ "access", { { LAB_ROUTER, "wan0", "203.0.113.2", "2001:db8:3::2" },
				      { LAB_MODEM, "lan0", "203.0.113.1", "2001:db8:3::1" } } },
			{ "wan", { { LAB_SERVER, "eth0", "198.51.100.10", "2001:db8:2::10" },
				   { LAB_MODEM, "wan0", "198.51.100.1", "2001:db8:2::1" } } },
		},
	},
};

static void put_word(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void fill_host(struct lab_plan_host *host, const struct fixed_host *fixed)
{
	const char *gateways[] = { fixed->ipv4, fixed->ipv6 };

	put_word(host->name, sizeof(host->name), fixed->name);
	put_word(host->role, sizeof(host->role), fixed->role);
	host->forwards = fixed->forwards;
	for (int i = 0; i < 2; i++) {
		if (gateways[i])
			put_word(host->routes[host->route_count++].gateway, INET6_ADDRSTRLEN,
				 gateways[i]);
	}
}

static void fill_end(struct lab_end *end, const struct fixed_end *fixed)
{
	end->host = fixed->host;
	put_word(end->device, sizeof(end->device), fixed->device);
	end->address_count = 2;
	put_word(end->addresses[0].address, INET6_ADDRSTRLEN, fixed->ipv4);
	end->addresses[0].length = IPV4_LENGTH;
	put_word(end->addresses[1].address, INET6_ADDRSTRLEN, fixed->ipv6);
	end->addresses[1].length = IPV6_LENGTH;
}

void lab_plan_fill(struct lab_plan *plan, enum lab_topology topology)
{
	const struct topology *fixed;
	unsigned int i;

	memset(plan, 0, sizeof(*plan));
	if (topology == LAB_PLANNED || topology == LAB_NONE)
		return;
	fixed = &topologies[topology];
	plan->host_count = fixed->host_count;
	for (i = 0; i < plan->host_count; i++)
		fill_host(&plan->hosts[i], &fixed->hosts[i]);
	plan->link_count = fixed->link_count;
	for (i = 0; i < plan->link_count; i++) {
		put_word(plan->links[i].name, LAB_WORD_SIZE, fixed->links[i].name);
		fill_end(&plan->links[i].ends[0], &fixed->links[i].ends[0]);
		fill_end(&plan->links[i].ends[1], &fixed->links[i].ends[1]);
	}
}

int lab_plan_host(const struct lab_plan *plan, const char *name)
{
	for (unsigned int i = 0; i < plan->host_count; i++) {
		if (!strcmp(plan->hosts[i].name, name))
			return i;
	}
	return -1;
}

const char *lab_plan_host_names(const struct lab_plan *plan, char *text, size_t size)
{
	struct text names = text_begin(text, size);

	for (unsigned int i = 0; i < plan->host_count; i++)
		text_add(&names, "%s%s", i ? ", " : "", plan->hosts[i].name);
	return text;
}

const struct lab_end *lab_plan_end(const struct lab_plan *plan, unsigned int host,
				   const char *device)
{
	for (unsigned int i = 0; i < 2 * plan->link_count; i++) {
		const struct lab_end *end = &plan->links[i / 2].ends[i % 2];

		if (end->host == host && !strcmp(end->device, device))
			return end;
	}
	return NULL;
}

static bool is_ipv6(const char *address)
{
	return strchr(address, ':') != NULL;
}

const char *lab_plan_address(const struct lab_plan *plan, unsigned int host, bool ipv6)
{
	const char *found = NULL;

	for (unsigned int i = 0; i < 2 * plan->link_count; i++) {
		const struct lab_end *end = &plan->links[i / 2].ends[i % 2];

		for (unsigned int j = 0; end->host == host && j < end->address_count; j++) {
			if (is_ipv6(end->addresses[j].address) == ipv6)
				found = end->addresses[j].address;
		}
	}
	return found;
}

static int find_tree(const struct lab_plan *plan, const char *host, const char *device)
{
	for (unsigned int i = 0; i < plan->tree_count; i++) {
		if (!strcmp(plan->trees[i].host, host) && !strcmp(plan->trees[i].device, device))
			return i;
	}
	return -1;
}

const struct lab_tree *lab_plan_tree(const struct lab_plan *plan, const char *host,
				     const char *device)
{
	int found = find_tree(plan, host, device);

	return found < 0 ? NULL : &plan->trees[found];
}

static bool device_good(const char *device)
{
	size_t length = strlen(device);

	/* net/core/dev.c, dev_valid_name; a point would look like one of a key's */
	return length && length < IFNAMSIZ && !strpbrk(device, "/:. \t");
}

int lab_plan_set_tree(struct lab_plan *plan, const char *host, const char *device,
		      const char *commands, struct error *error)
{
	int found = find_tree(plan, host, device);
	struct lab_tree *tree = found < 0 ? NULL : &plan->trees[found];

	if (!lab_word_good(host) || !device_good(device))
		return error_set(error, EXIT_USAGE,
				 "qdisc.%s.%s: that is no host and device; write it like qdisc.router.wan0",
				 host, device);
	if (strlen(commands) >= LAB_TREE_SIZE)
		return error_set(error, EXIT_USAGE, "qdisc.%s.%s is longer than %d bytes", host,
				 device, LAB_TREE_SIZE - 1);
	if (!*commands) {
		if (tree)
			*tree = plan->trees[--plan->tree_count];
		return 0;
	}
	if (!tree && plan->tree_count == LAB_TREES)
		return error_set(error, EXIT_USAGE, "more than %d devices have qdiscs", LAB_TREES);
	if (!tree)
		tree = &plan->trees[plan->tree_count++];
	put_word(tree->host, sizeof(tree->host), host);
	put_word(tree->device, sizeof(tree->device), device);
	put_word(tree->commands, sizeof(tree->commands), commands);
	return 0;
}

bool lab_word_good(const char *word)
{
	size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return length && !word[length] && length < LAB_WORD_SIZE && isalnum((unsigned char)*word);
}

int lab_network_parse(struct lab_network *network, const char *text, struct error *error)
{
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : 0;
	unsigned char bytes[sizeof(struct in6_addr)];
	unsigned int most;
	char *end;

	if (!slash || length >= sizeof(network->address) || !isdigit((unsigned char)slash[1]))
		goto fail;
	memcpy(network->address, text, length);
	network->address[length] = '\0';
	most = is_ipv6(network->address) ? 128 : 32;
	network->length = strtoul(slash + 1, &end, 10);
	if (!*end && network->length <= most &&
	    inet_pton(most == 128 ? AF_INET6 : AF_INET, network->address, bytes) == 1)
		return 0;
fail:
	return error_set(error, EXIT_USAGE,
			 "'%s' is no address with the length of its network: write it like 192.0.2.1/24",
			 text);
}

/* Do the first length bits agree? */
static bool in_network(const char *address, const struct lab_network *network)
{
	unsigned char a[sizeof(struct in6_addr)], b[sizeof(struct in6_addr)];
	int family = is_ipv6(network->address) ? AF_INET6 : AF_INET;
	unsigned int whole = network->length / 8, rest = network->length % 8;

	if (is_ipv6(address) != (family == AF_INET6) || inet_pton(family, address, a) != 1 ||
	    inet_pton(family, network->address, b) != 1 || memcmp(a, b, whole))
		return false;
	return !rest || !((a[whole] ^ b[whole]) >> (8 - rest));
}

static bool reaches(const struct lab_plan *plan, unsigned int host, const char *gateway)
{
	for (unsigned int i = 0; i < 2 * plan->link_count; i++) {
		const struct lab_end *end = &plan->links[i / 2].ends[i % 2];

		for (unsigned int j = 0; end->host == host && j < end->address_count; j++) {
			if (in_network(gateway, &end->addresses[j]))
				return true;
		}
	}
	return false;
}

static int check_routes(const struct lab_plan *plan, struct error *error)
{
	for (unsigned int i = 0; i < plan->host_count; i++) {
		const struct lab_plan_host *host = &plan->hosts[i];

		for (unsigned int j = 0; j < host->route_count; j++) {
			if (!reaches(plan, i, host->routes[j].gateway))
				return error_set(error, EXIT_USAGE,
						 "host %s: its gateway %s is in none of the networks of its devices",
						 host->name, host->routes[j].gateway);
		}
	}
	return 0;
}

static int check_trees(const struct lab_plan *plan, struct error *error)
{
	char names[LAB_HOSTS * LAB_WORD_SIZE * 2];

	for (unsigned int i = 0; i < plan->tree_count; i++) {
		const struct lab_tree *tree = &plan->trees[i];
		int host = lab_plan_host(plan, tree->host);

		if (host < 0)
			return error_set(error, EXIT_USAGE,
					 "qdisc.%s.%s: there is no host %s; there are %s", tree->host,
					 tree->device, tree->host,
					 lab_plan_host_names(plan, names, sizeof(names)));
		if (!lab_plan_end(plan, host, tree->device))
			return error_set(error, EXIT_USAGE,
					 "qdisc.%s.%s: the host %s has no device %s", tree->host,
					 tree->device, tree->host, tree->device);
	}
	return 0;
}

/* Is there an address, or a device of that host, before the end that is i? */
static int check_end(const struct lab_plan *plan, unsigned int i, struct error *error)
{
	const struct lab_end *end = &plan->links[i / 2].ends[i % 2];

	for (unsigned int k = 0; k < i; k++) {
		const struct lab_end *other = &plan->links[k / 2].ends[k % 2];

		if (other->host == end->host && !strcmp(other->device, end->device))
			return error_set(error, EXIT_USAGE, "the host %s has two devices %s",
					 plan->hosts[end->host].name, end->device);
		for (unsigned int a = 0; a < end->address_count; a++) {
			for (unsigned int b = 0; b < other->address_count; b++) {
				if (!strcmp(end->addresses[a].address, other->addresses[b].address))
					return error_set(error, EXIT_USAGE,
							 "two devices have the address %s",
							 end->addresses[a].address);
			}
		}
	}
	return 0;
}

int lab_plan_check(const struct lab_plan *plan, struct error *error)
{
	if (plan->host_count < 2 || !plan->link_count)
		return error_set(error, EXIT_USAGE,
				 "a lab has two hosts and a link at least, this one %u and %u: [host NAME], [link NAME]",
				 plan->host_count, plan->link_count);
	for (unsigned int i = 0; i < 2 * plan->link_count; i++) {
		if (check_end(plan, i, error))
			return -1;
	}
	return check_routes(plan, error) || check_trees(plan, error) ? -1 : 0;
}

static bool is_address(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(strchr(text, ':') ? AF_INET6 : AF_INET, text, bytes) == 1;
}

static int parse_route(struct lab_route *route, const char *text, struct error *error)
{
	char network[ROUTE_WORD + 1], gateway[ROUTE_WORD + 1], more[2];

	*route = (struct lab_route){ 0 };
	if (sscanf(text, "%63s via %63s %1s", network, gateway, more) != 2)
		return error_set(error, EXIT_USAGE,
				 "route = %s: write it like 198.51.100.0/24 via 192.0.2.1", text);
	if (strcmp(network, "default")) {
		if (lab_network_parse(&route->to, network, error))
			return -1;
		if (strchr(network, ':') ? !strchr(gateway, ':') : !!strchr(gateway, ':'))
			return error_set(error, EXIT_USAGE,
					 "route = %s: network and gateway are of two families", text);
	}
	if (!is_address(gateway))
		return error_set(error, EXIT_USAGE, "'%s' is not an address", gateway);
	snprintf(route->gateway, sizeof(route->gateway), "%.*s", INET6_ADDRSTRLEN - 1, gateway);
	return 0;
}

int lab_host_add_route(struct lab_plan_host *host, const char *text, struct error *error)
{
	struct lab_route route;

	if (parse_route(&route, text, error))
		return -1;
	if (host->route_count == LAB_ROUTES)
		return error_set(error, EXIT_USAGE, "the host %s has too many routes", host->name);
	host->routes[host->route_count++] = route;
	return 0;
}

int lab_host_add_sysctl(struct lab_plan_host *host, const char *text, struct error *error)
{
	const char *equals = strchr(text, '=');
	struct lab_sysctl *sysctl;
	size_t length;

	if (!equals || strncmp(text, "net.", 4) || strstr(text, "..") || strchr(text, '/'))
		return error_set(error, EXIT_USAGE,
				 "sysctl = %s: write it like net.ipv4.tcp_ecn=1 (a namespace has those of net alone)",
				 text);
	length = equals - text;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	equals += 1 + strspn(equals + 1, " \t");
	if (host->sysctl_count == LAB_SYSCTLS || length >= LAB_SETTING_SIZE ||
	    strlen(equals) >= LAB_SETTING_SIZE)
		return error_set(error, EXIT_USAGE, "the host %s has too many or too long sysctls",
				 host->name);
	sysctl = &host->sysctls[host->sysctl_count++];
	memcpy(sysctl->name, text, length);
	sysctl->name[length] = '\0';
	for (char *point = sysctl->name; (point = strchr(point, '.')); )
		*point = '/';
	snprintf(sysctl->value, sizeof(sysctl->value), "%s", equals);
	return 0;
}
