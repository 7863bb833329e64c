// SPDX-License-Identifier: GPL-2.0
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "target.h"
#include "units.h"

#define HOST_SIZE	256

/* The part before the port, and where the port begins; false where it cannot be one. */
static bool take_apart(const char *text, char host[HOST_SIZE], const char **port)
{
	const char *end, *colon = strchr(text, ':');

	*port = NULL;
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		*port = end[1] ? end + 2 : NULL;
		text++;
	} else if (colon && !strchr(colon + 1, ':')) {
		end = colon;
		*port = colon + 1;
	} else {
		/* several colons: an IPv6 address by itself */
		end = text + strlen(text);
	}
	if (end == text || end - text >= HOST_SIZE)
		return false;
	memcpy(host, text, end - text);
	host[end - text] = '\0';
	return true;
}

static int resolve(const char *host, bool ipv6, struct target *target, struct error *error)
{
	struct addrinfo hints = { .ai_family = ipv6 ? AF_INET6 : AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM }, *found;
	int status = getaddrinfo(host, NULL, &hints, &found);

	if (status)
		return error_set(error, EXIT_USAGE, "cannot resolve %s: %s", host,
				 gai_strerror(status));
	target->ipv6 = found->ai_family == AF_INET6;
	status = getnameinfo(found->ai_addr, found->ai_addrlen, target->address,
			     sizeof(target->address), NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return status ? error_set(error, EXIT_USAGE, "the address of %s cannot be used: %s", host,
				  gai_strerror(status)) : 0;
}

int target_resolve(const char *text, bool ipv6, struct target *target, struct error *error)
{
	char host[HOST_SIZE];
	struct error inner;
	const char *port;
	__u64 number;

	memset(target, 0, sizeof(*target));
	if (!take_apart(text, host, &port))
		return error_set(error, EXIT_USAGE,
				 "'%s' is no host: write it like 192.0.2.1, example.org:5201 or [2001:db8::1]:5201",
				 text);
	if (port && (units_parse_count(port, &number, &inner) || !number || number > 65535))
		return error_set(error, EXIT_USAGE, "'%s': a port is a number from 1 to 65535", text);
	target->port = port ? (__u16)number : 0;
	return resolve(host, ipv6, target, error);
}
