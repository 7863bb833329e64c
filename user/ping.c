// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "array.h"
#include "ping.h"

#define NUMBER_TEXT		32
#define VERSION_TIMEOUT_MS	5000
#define FIRST_WITH_ID		20221126
#define VERSION_WORDS		"ping from iputils "

int ping_version(const char *path, char *text, size_t size, struct error *error)
{
	char *argv[] = { (char *)path, "-V", NULL };
	struct child child;
	const char *said;
	int result = -1;

	if (child_start(&child, -1, argv, error))
		goto out;
	if (!child_wait(&child, VERSION_TIMEOUT_MS)) {
		child_stop(&child, SIGKILL, 0);
		error_set(error, EXIT_CANNOT, "%s -V does not end", path);
		goto out;
	}
	said = child.out_text ? strstr(child.out_text, VERSION_WORDS) : NULL;
	if (!said) {
		error_set(error, EXIT_CANNOT,
			  "%s is not the ping of iputils: install the package iputils-ping", path);
		goto out;
	}
	said += strlen(VERSION_WORDS);
	snprintf(text, size, "%.*s", (int)strcspn(said, " ,\r\n"), said);
	result = 0;
out:
	child_free(&child);
	return result;
}

bool ping_takes_id(const char *version)
{
	return strtoul(version, NULL, 10) >= FIRST_WITH_ID;
}

int ping_start(struct child *child, int netns_fd, const char *path,
	       const struct ping_options *options, struct error *error)
{
	char interval[NUMBER_TEXT], count[NUMBER_TEXT], size[NUMBER_TEXT], id[NUMBER_TEXT];
	char *argv[] = {
		(char *)path, "-n", "-i", interval, "-c", count, "-s", size,
		options->ipv6 ? "-6" : "-4", NULL, NULL, NULL, NULL
	};
	unsigned int next = 0;

	snprintf(interval, sizeof(interval), "%llu.%09llu",
		 (unsigned long long)options->interval_ns / 1000000000,
		 (unsigned long long)options->interval_ns % 1000000000);
	snprintf(count, sizeof(count), "%u", options->count);
	snprintf(size, sizeof(size), "%u", options->size);
	snprintf(id, sizeof(id), "%u", options->id);
	while (argv[next])
		next++;
	if (options->id) {
		argv[next++] = "-e";
		argv[next++] = id;
	}
	argv[next] = (char *)options->target;
	if (!child_start(child, netns_fd, argv, error))
		return 0;
	child_free(child);
	return -1;
}

bool ping_ended_well(const struct child *ping)
{
	return ping->ended && WIFEXITED(ping->status) && WEXITSTATUS(ping->status) <= 1;
}

/* A line of the output, or what is left of it; end points behind the last byte. */
struct span {
	const char *at;
	const char *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool skip(struct span *span, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(span->end - span->at) < length || memcmp(span->at, text, length))
		return false;
	span->at += length;
	return true;
}

static bool skip_to(struct span *span, const char *text)
{
	const char *found = memmem(span->at, span->end - span->at, text, strlen(text));

	if (!found)
		return false;
	span->at = found + strlen(text);
	return true;
}

static bool read_number(struct span *span, __u64 limit, __u64 *value)
{
	const char *start = span->at;

	*value = 0;
	for (; span->at < span->end && is_digit(*span->at); span->at++) {
		*value = *value * 10 + (*span->at - '0');
		if (*value > limit)
			return false;
	}
	return span->at > start;
}

/* "0.060 ms" in ns; digits beyond the nanosecond are cut off. */
static bool read_time(struct span *span, __u64 *ns)
{
	__u64 ms, digit = 100000;

	if (!read_number(span, 1000000000000, &ms))
		return false;
	*ns = ms * 1000000;
	if (skip(span, ".")) {
		if (span->at == span->end || !is_digit(*span->at))
			return false;
		for (; span->at < span->end && is_digit(*span->at); span->at++) {
			*ns += (*span->at - '0') * digit;
			digit /= 10;
		}
	}
	return skip(span, " ms") && (span->at == span->end || *span->at == ' ');
}

/* "[1700000000.123456] " before the line, as -D prints it. */
static void skip_timestamp(struct span *line)
{
	struct span rest = *line;
	__u64 seconds, fraction;

	if (skip(&rest, "[") && read_number(&rest, 1000000000000, &seconds) && skip(&rest, ".") &&
	    read_number(&rest, 999999999, &fraction) && skip(&rest, "] "))
		*line = rest;
}

/* "64 bytes from 198.51.100.10: ..."; leaves the rest behind "from ". */
static bool is_reply(struct span *line)
{
	__u64 bytes;

	return read_number(line, 1000000, &bytes) && skip(line, " bytes from ");
}

static bool read_reply(struct span line, struct ping_reply *reply)
{
	__u64 sequence;

	if (!skip_to(&line, "icmp_seq=") || !read_number(&line, 65535, &sequence) ||
	    !skip_to(&line, " time=") || !read_time(&line, &reply->rtt_ns))
		return false;
	reply->sequence = sequence;
	reply->duplicate = skip_to(&line, "(DUP!)");
	return true;
}

static int add_reply(struct ping_result *result, size_t *room, const struct ping_reply *reply,
		     struct error *error)
{
	struct ping_reply *replies = array_grow(result->replies, result->count, room,
						sizeof(*replies));

	if (!replies)
		return error_set(error, EXIT_CANNOT, "out of memory for the replies of ping");
	result->replies = replies;
	replies[result->count++] = *reply;
	result->duplicates += reply->duplicate;
	return 0;
}

/*
 * "From 192.0.2.1 icmp_seq=1 Destination Host Unreachable": an ICMP error for a
 * request of ours.
 */
static bool is_icmp_error(struct span line)
{
	return skip(&line, "From ") && skip_to(&line, "icmp_seq=");
}

/* "3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 1029ms" */
static bool read_statistics(struct span line, struct ping_result *result)
{
	__u64 transmitted, received, more;

	if (!read_number(&line, ~0u, &transmitted) || !skip(&line, " packets transmitted, ") ||
	    !read_number(&line, ~0u, &received) || !skip(&line, " received"))
		return false;
	result->summary = true;
	result->transmitted = transmitted;
	result->received = received;
	while (skip(&line, ", +")) {
		if (!read_number(&line, ~0u, &more))
			break;
		if (skip(&line, " duplicates") && more > result->duplicates)
			result->duplicates = more;
		else if (skip(&line, " errors") && more > result->errors)
			result->errors = more;
		else
			skip(&line, " corrupted");
	}
	return true;
}

static int read_line(struct span line, struct ping_result *result, size_t *room,
		     struct error *error)
{
	struct ping_reply reply = { 0 };
	struct span rest;

	skip_timestamp(&line);
	rest = line;
	if (is_reply(&rest)) {
		if (read_reply(rest, &reply))
			return add_reply(result, room, &reply, error);
		result->unread++;
	} else if (is_icmp_error(line)) {
		result->errors++;
	} else {
		read_statistics(line, result);
	}
	return 0;
}

int ping_parse(const char *text, size_t length, struct ping_result *result,
	       struct error *error)
{
	struct span all = { text, length ? text + length : text };
	size_t room = 0;

	*result = (struct ping_result){ 0 };
	while (all.at < all.end) {
		const char *newline = memchr(all.at, '\n', all.end - all.at);
		struct span line = { all.at, newline ? newline : all.end };

		if (read_line(line, result, &room, error))
			return -1;
		all.at = newline ? newline + 1 : all.end;
	}
	return 0;
}

void ping_result_free(struct ping_result *result)
{
	free(result->replies);
	*result = (struct ping_result){ 0 };
}
