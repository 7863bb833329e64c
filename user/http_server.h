/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small HTTP/1.1 server for pages that are made whole before they are sent (libmicrohttpd). It
 * has a thread of its own; whatever clients do, nobody else waits for them.
 *
 * GET and HEAD only. Bounded: 64 connections, 8 KB of request, 10 s without a byte in either
 * direction, 30 s for a connection in all (http_server_sweep()); each is closed after its answer.
 */
#ifndef SOJOURN_HTTP_SERVER_H
#define SOJOURN_HTTP_SERVER_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"

struct http_server;
struct http_body;

struct http_request {
	const char *path;
	const char *accept, *accept_encoding;	/* headers; NULL: absent */
};

struct http_reply {
	unsigned int status;
	/* Whoever answers keeps his reference. NULL: out of memory, status 503. */
	struct http_body *body;
};

/* Answer a request; called in the server's thread, for one request at a time. */
typedef struct http_reply http_answer(void *context, const struct http_request *request);

/*
 * Serve at fd, a listening socket, which is the server's from now on. NULL and error
 * (EXIT_CANNOT); fd is closed then.
 */
struct http_server *http_server_start(int fd, http_answer *answer, void *context,
				      struct error *error);

/* End the connections that are 30 s old. Call it every few seconds, from any thread. */
void http_server_sweep(struct http_server *server);

/* No answer is asked for any more when it returns; connections are cut. NULL: nothing. */
void http_server_stop(struct http_server *server);

/*
 * What is sent, maybe to many at once. Takes bytes over, which are empty then. type is the
 * Content-Type. One reference; NULL: out of memory.
 */
struct http_body *http_body_create(struct bytes *bytes, const char *type, bool gzip);

/* Give a reference back: it is freed when nobody is being sent it. NULL: nothing. */
void http_body_release(struct http_body *body);

/* How many there are, those with it that slow clients still hold. */
unsigned int http_bodies(void);

#endif
