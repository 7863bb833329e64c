// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "netlink.h"
#include "netns.h"

#define REQUEST_SIZE	4096
/* The kernel fills at most this much of one datagram (net/netlink/af_netlink.c, netlink_dump). */
#define ANSWER_SIZE	32768
/* A dump that changes under the reader is taken again so many times. */
#define DUMP_TRIES	20

struct netlink {
	struct mnl_socket *socket;
	unsigned int port;
	__u32 sequence;
	_Alignas(NLMSG_ALIGNTO) char request[REQUEST_SIZE];
	_Alignas(NLMSG_ALIGNTO) char answer[ANSWER_SIZE];
};

/* How far the answer to a request has come. */
struct answer {
	mnl_cb_t callback;
	void *data;
	bool done;
	bool interrupted;
	int reason;		/* errno value, 0: none */
	const char *words;	/* of the kernel, inside the answer buffer */
};

static int open_socket(void *argument, struct error *error)
{
	struct netlink *netlink = argument;

	netlink->socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!netlink->socket)
		return error_set_errno(error, EXIT_CANNOT, "cannot open a netlink socket");
	return 0;
}

struct netlink *netlink_open(int netns_fd, struct error *error)
{
	struct netlink *netlink = calloc(1, sizeof(*netlink));
	int on = 1;

	if (!netlink) {
		error_set_errno(error, EXIT_CANNOT, "cannot open a netlink socket");
		return NULL;
	}
	if (netns_run(netns_fd, open_socket, netlink, error))
		goto fail;
	if (mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID)) {
		error_set_errno(error, EXIT_CANNOT, "cannot bind a netlink socket");
		goto fail;
	}
	/* Both only make errors easier to read: a kernel without them will do. */
	mnl_socket_setsockopt(netlink->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(netlink->socket, NETLINK_CAP_ACK, &on, sizeof(on));
	netlink->port = mnl_socket_get_portid(netlink->socket);
	return netlink;
fail:
	netlink_close(netlink);
	return NULL;
}

void netlink_close(struct netlink *netlink)
{
	if (!netlink)
		return;
	if (netlink->socket)
		mnl_socket_close(netlink->socket);
	free(netlink);
}

struct nlmsghdr *netlink_message(struct netlink *netlink, __u16 type, __u16 flags)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(netlink->request);

	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST | flags;
	return header;
}

/* The text of NLMSGERR_ATTR_MSG, NULL where the kernel sent none. */
static const char *kernel_words(const struct nlmsghdr *header)
{
	const struct nlmsgerr *reply = mnl_nlmsg_get_payload(header);
	const struct nlattr *attribute;
	size_t offset = sizeof(*reply);

	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		offset += MNL_ALIGN(reply->msg.nlmsg_len) - sizeof(reply->msg);
	if (offset > mnl_nlmsg_get_payload_len(header))
		return NULL;
	mnl_attr_for_each(attribute, header, offset) {
		if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
			return mnl_attr_get_str(attribute);
	}
	return NULL;
}

static void take_error(const struct nlmsghdr *header, struct answer *answer)
{
	const struct nlmsgerr *reply = mnl_nlmsg_get_payload(header);

	answer->done = true;
	if (mnl_nlmsg_get_payload_len(header) < sizeof(*reply)) {
		answer->reason = EBADMSG;
		return;
	}
	answer->reason = -reply->error;
	if (answer->reason)
		answer->words = kernel_words(header);
}

/* NLMSG_DONE carries the result of the dump (net/netlink/af_netlink.c, netlink_dump_done). */
static void take_done(const struct nlmsghdr *header, struct answer *answer)
{
	const int *result = mnl_nlmsg_get_payload(header);

	answer->done = true;
	if (mnl_nlmsg_get_payload_len(header) >= sizeof(*result) && *result < 0)
		answer->reason = -*result;
}

static void take_message(const struct nlmsghdr *header, struct answer *answer)
{
	if (header->nlmsg_flags & NLM_F_DUMP_INTR)
		answer->interrupted = true;
	if (header->nlmsg_type == NLMSG_ERROR)
		take_error(header, answer);
	else if (header->nlmsg_type == NLMSG_DONE)
		take_done(header, answer);
	else if (header->nlmsg_type >= NLMSG_MIN_TYPE && answer->callback && !answer->reason &&
		 answer->callback(header, answer->data) <= MNL_CB_ERROR)
		answer->reason = errno;
}

/* One datagram. Messages of an earlier request that was given up are passed over. */
static int take_datagram(struct netlink *netlink, struct answer *answer)
{
	const struct nlmsghdr *header = (const void *)netlink->answer;
	ssize_t received;
	int left;

	do {
		received = mnl_socket_recvfrom(netlink->socket, netlink->answer,
					       sizeof(netlink->answer));
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return -1;
	left = received;
	while (!answer->done && mnl_nlmsg_ok(header, left)) {
		if (mnl_nlmsg_portid_ok(header, netlink->port) &&
		    header->nlmsg_seq == netlink->sequence)
			take_message(header, answer);
		header = mnl_nlmsg_next(header, &left);
	}
	return 0;
}

static int fail(const struct answer *answer, const char *what, struct error *error)
{
	int reason = answer->reason;

	errno = reason;
	if (answer->words)
		error_set(error, EXIT_CANNOT, "cannot %s: %s (%s)", what, strerror(reason),
			  answer->words);
	else
		error_set_errno(error, EXIT_CANNOT, "cannot %s", what);
	errno = reason;
	return -1;
}

int netlink_send(struct netlink *netlink, mnl_cb_t callback, void *data, const char *what,
		 struct error *error)
{
	struct nlmsghdr *header = (void *)netlink->request;
	struct answer answer = { .callback = callback, .data = data };

	header->nlmsg_seq = ++netlink->sequence;
	if ((header->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		header->nlmsg_flags |= NLM_F_ACK;
	if (mnl_socket_sendto(netlink->socket, header, header->nlmsg_len) < 0)
		answer.reason = errno;
	while (!answer.done && !answer.reason) {
		if (take_datagram(netlink, &answer))
			answer.reason = errno;
	}
	if (!answer.reason && answer.interrupted)
		answer.reason = EINTR;
	return answer.reason ? fail(&answer, what, error) : 0;
}

int netlink_dump(struct netlink *netlink, mnl_cb_t callback, void (*begin)(void *data), void *data,
		 const char *what, struct error *error)
{
	int tries;

	for (tries = 0; tries < DUMP_TRIES; tries++) {
		begin(data);
		if (!netlink_send(netlink, callback, data, what, error))
			return 0;
		if (errno != EINTR)
			break;
	}
	return -1;
}

void netlink_copy_text(char *to, size_t size, const struct nlattr *attribute)
{
	size_t length = mnl_attr_get_payload_len(attribute);

	if (length >= size)
		length = size - 1;
	memcpy(to, mnl_attr_get_payload(attribute), length);
	to[length] = '\0';
}
