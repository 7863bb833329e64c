/* SPDX-License-Identifier: GPL-2.0 */
/* Where a server listens: an address of this host and a port. */
#ifndef SOJOURN_LISTEN_ADDRESS_H
#define SOJOURN_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "error.h"

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} socket;
	socklen_t length;
	char text[INET6_ADDRSTRLEN + 8];	/* as in a URL: "127.0.0.1:9435", "[::1]:9435" */
};

/*
 * "127.0.0.1:9435", "[::1]:9435", or ":9435" for every address, IPv4 and IPv6. Numbers only, so
 * that no name server decides who is let in. 0, or -1 and error (EXIT_USAGE).
 */
int listen_address_parse(const char *text, struct listen_address *address, struct error *error);

/*
 * A socket that listens there, close-on-exec and not blocking; the caller's to close. -1 and error
 * (EXIT_CANNOT): the port is in use, the address none of this host's.
 */
int listen_address_open(const struct listen_address *address, struct error *error);

#endif
