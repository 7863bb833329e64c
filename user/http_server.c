// SPDX-License-Identifier: GPL-2.0
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "http_server.h"
#include "privileges.h"

#define CONNECTIONS_MAX		64
#define REQUEST_BYTES		((size_t)8192)
#define SILENCE_S		10u
#define CONNECTION_NS		30000000000ULL

struct http_body {
	struct MHD_Response *response;
	char *data;
};

struct connection {
	int fd;
	__u64 since_ns;		/* CLOCK_MONOTONIC; 0: the place is free */
};

struct http_server {
	struct MHD_Daemon *daemon;
	http_answer *answer;
	void *context;
	pthread_mutex_t lock;	/* for connections */
	struct connection connections[CONNECTIONS_MAX];
};

static atomic_uint bodies;

/* ---- bodies ---- */

static void free_body(void *context)
{
	struct http_body *body = context;

	free(body->data);
	free(body);
	atomic_fetch_sub(&bodies, 1);
}

static bool add_headers(struct MHD_Response *response, const char *type, bool gzip)
{
	return MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	       MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") ==
	       MHD_YES &&
	       MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	       (!gzip || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING,
						 "gzip") == MHD_YES);
}

struct http_body *http_body_create(struct bytes *bytes, const char *type, bool gzip)
{
	struct http_body *body = bytes->failed ? NULL : calloc(1, sizeof(*body));

	if (!body) {
		bytes_free(bytes);
		return NULL;
	}
	body->response = MHD_create_response_from_buffer_with_free_callback_cls(
		bytes->length, bytes->data, free_body, body);
	if (!body->response) {
		free(body);
		bytes_free(bytes);
		return NULL;
	}
	body->data = bytes->data;
	memset(bytes, 0, sizeof(*bytes));
	atomic_fetch_add(&bodies, 1);
	if (add_headers(body->response, type, gzip))
		return body;
	http_body_release(body);
	return NULL;
}

void http_body_release(struct http_body *body)
{
	if (body)
		MHD_destroy_response(body->response);
}

unsigned int http_bodies(void)
{
	return atomic_load(&bodies);
}

/* ---- requests ---- */

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status,
			      const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), (void *)text,
									MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = MHD_NO;

	if (!response)
		return MHD_NO;
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain") ==
	    MHD_YES &&
	    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES)
		result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_size, void **state)
{
	struct http_server *server = context;
	struct http_request request = { .path = url };
	struct http_reply reply;

	(void)version;
	(void)upload_data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n");
	/* The first call comes before a body; an answer then would end the connection with it. */
	if (!*state) {
		*state = server;
		return MHD_YES;
	}
	if (*upload_size)
		return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "no body, please\n");
	request.accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						     MHD_HTTP_HEADER_ACCEPT);
	request.accept_encoding = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							      MHD_HTTP_HEADER_ACCEPT_ENCODING);
	reply = server->answer(server->context, &request);
	if (!reply.body)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
	return MHD_queue_response(connection, reply.status, reply.body->response);
}

/* ---- connections ---- */

static void begin_connection(struct http_server *server, struct MHD_Connection *connection,
			     void **place)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	*place = NULL;
	for (unsigned int i = 0; info && i < CONNECTIONS_MAX; i++) {
		if (server->connections[i].since_ns)
			continue;
		server->connections[i].fd = info->connect_fd;
		server->connections[i].since_ns = clock_ns(CLOCK_MONOTONIC);
		*place = &server->connections[i];
		return;
	}
}

/* The descriptor is closed after this has returned, and never looked at by us again. */
/* To answer takes no privilege, and what comes from the network is read by this thread alone. */
static void give_up_privileges(void)
{
	static _Thread_local bool given;
	struct error error;

	if (!given && !privileges_drop(PRIVILEGES_NONE, &error))
		given = true;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **place,
			    enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = context;

	give_up_privileges();
	pthread_mutex_lock(&server->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin_connection(server, connection, place);
	else if (*place)
		((struct connection *)*place)->since_ns = 0;
	pthread_mutex_unlock(&server->lock);
}

/* A client that sends or takes a byte now and then is never silent. */
void http_server_sweep(struct http_server *server)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&server->lock);
	for (unsigned int i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *connection = &server->connections[i];

		if (connection->since_ns && now - connection->since_ns > CONNECTION_NS)
			shutdown(connection->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&server->lock);
}

struct http_server *http_server_start(int fd, http_answer *answer, void *context,
				      struct error *error)
{
	struct http_server *server = calloc(1, sizeof(*server));

	if (!server) {
		close(fd);
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	server->answer = answer;
	server->context = context;
	pthread_mutex_init(&server->lock, NULL);
	server->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handle,
					  server, MHD_OPTION_LISTEN_SOCKET, fd,
					  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
					  MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
					  MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES,
					  MHD_OPTION_STRICT_FOR_CLIENT, 1,
					  MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
					  MHD_OPTION_END);
	if (server->daemon)
		return server;
	error_set_errno(error, EXIT_CANNOT, "cannot start the HTTP server");
	close(fd);
	pthread_mutex_destroy(&server->lock);
	free(server);
	return NULL;
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
