// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "listen_address.h"
#include "units.h"

#define WAITING_CONNECTIONS	64

/* The part before the last colon, without brackets; false where there is no port. */
static bool take_apart(const char *text, char host[INET6_ADDRSTRLEN], const char **port)
{
	const char *colon = strrchr(text, ':'), *end = colon;

	if (!colon)
		return false;
	if (*text == '[') {
		if (colon == text || colon[-1] != ']')
			return false;
		text++;
		end = colon - 1;
	} else if (strchr(text, ':') != colon) {
		return false;
	}
	if (end < text || end - text >= INET6_ADDRSTRLEN)
		return false;
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	*port = colon + 1;
	return true;
}

static bool fill(struct listen_address *address, const char *host, bool brackets, __u16 port)
{
	if (!brackets && *host) {
		address->socket.ipv4.sin_family = AF_INET;
		address->socket.ipv4.sin_port = htons(port);
		address->length = sizeof(address->socket.ipv4);
		snprintf(address->text, sizeof(address->text), "%s:%u", host, port);
		return inet_pton(AF_INET, host, &address->socket.ipv4.sin_addr) == 1;
	}
	address->socket.ipv6.sin6_family = AF_INET6;
	address->socket.ipv6.sin6_port = htons(port);
	address->length = sizeof(address->socket.ipv6);
	snprintf(address->text, sizeof(address->text), "[%s]:%u", brackets ? host : "::", port);
	return inet_pton(AF_INET6, brackets ? host : "::", &address->socket.ipv6.sin6_addr) == 1;
}

int listen_address_parse(const char *text, struct listen_address *address, struct error *error)
{
	char host[INET6_ADDRSTRLEN];
	struct error inner;
	const char *port;
	__u64 number;

	memset(address, 0, sizeof(*address));
	if (!take_apart(text, host, &port))
		return error_set(error, EXIT_USAGE,
				 "'%s' is no address to listen at: write it like 127.0.0.1:9435, [::1]:9435 or :9435",
				 text);
	if (units_parse_count(port, &number, &inner) || !number || number > 65535)
		return error_set(error, EXIT_USAGE, "'%s': a port is a number from 1 to 65535",
				 text);
	if (!fill(address, host, *text == '[', (__u16)number))
		return error_set(error, EXIT_USAGE,
				 "'%s': an address in numbers is needed, like 127.0.0.1:9435, [::1]:9435 or :9435",
				 text);
	return 0;
}

static int bind_socket(int fd, const struct listen_address *address)
{
	static const int on = 1, off;
	bool ipv6 = address->socket.any.sa_family == AF_INET6;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return -1;
	/* :: takes IPv4 too, whatever net.ipv6.bindv6only says. */
	if (ipv6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return -1;
	if (bind(fd, &address->socket.any, address->length))
		return -1;
	return listen(fd, WAITING_CONNECTIONS);
}

int listen_address_open(const struct listen_address *address, struct error *error)
{
	int fd = socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	if (fd >= 0 && !bind_socket(fd, address))
		return fd;
	error_set_errno(error, EXIT_CANNOT, "cannot listen at %s%s", address->text,
			errno == EADDRINUSE ? ", where another program does: --listen takes another port" :
			"");
	if (fd >= 0)
		close(fd);
	return -1;
}
