// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "iperf3.h"

#define VERSION_TIMEOUT_MS	5000
#define LISTEN_STEP_MS		10
#define STOP_TIMEOUT_MS		1000
#define MIN_INTERVAL_MS		100	/* iperf3's own bounds of -i */
#define MAX_INTERVAL_MS		60000
/* Reports of streams and sums in one document: about 20 MB of JSON, below CHILD_OUTPUT_MAX. */
#define MAX_REPORTS		40000

#define TCP_LISTEN_STATE	0x0a	/* include/net/tcp_states.h, TCP_LISTEN */

#define ARGUMENTS_MAX		40
#define NUMBER_TEXT		24

/* The last client's command; the texts that are not literals lie in it as well. */
static struct {
	char *argv[ARGUMENTS_MAX];
	unsigned int count;
	char path[4096];
	char server[64];
	char port[NUMBER_TEXT];
	char seconds[NUMBER_TEXT];
	char interval[NUMBER_TEXT];
	char streams[NUMBER_TEXT];
	char rate[NUMBER_TEXT];
	char congestion[32];
	char omit[NUMBER_TEXT];
	char block[NUMBER_TEXT];
	char bytes[NUMBER_TEXT];
	char tos[NUMBER_TEXT];
	char file[4096];
} client_command;

/* One line out of whatever a program printed: control bytes become blanks. */
static void one_line(const char *text, char *line, size_t size)
{
	size_t used = 0;

	while (isspace((unsigned char)*text))
		text++;
	for (; *text && used + 1 < size; text++)
		line[used++] = iscntrl((unsigned char)*text) ? ' ' : *text;
	while (used && line[used - 1] == ' ')
		used--;
	line[used] = '\0';
}

static int read_version(const char *output, unsigned int *major, unsigned int *minor,
			char *text, size_t size)
{
	size_t length;

	if (!output || sscanf(output, "iperf %u.%u", major, minor) != 2)
		return -1;
	output += strlen("iperf ");
	length = strcspn(output, " \t\r\n");
	if (length >= size)
		length = size - 1;
	memcpy(text, output, length);
	text[length] = '\0';
	return 0;
}

int iperf3_version(const char *path, char *text, size_t size, struct error *error)
{
	char *argv[] = { (char *)path, "--version", NULL };
	unsigned int major, minor;
	struct child child;
	int result = -1;

	if (child_start(&child, -1, argv, error))
		goto out;
	if (!child_wait(&child, VERSION_TIMEOUT_MS)) {
		child_stop(&child, SIGKILL, 0);
		error_set(error, EXIT_CANNOT, "%s --version does not end", path);
		goto out;
	}
	if (read_version(child.out_text, &major, &minor, text, size)) {
		error_set(error, EXIT_CANNOT,
			  "%s --version does not say \"iperf 3.x\": is it iperf3?", path);
		goto out;
	}
	if (major != 3 || minor < 9) {
		error_set(error, EXIT_CANNOT, "%s is version %s: iperf3 3.9 or later is needed",
			  path, text);
		goto out;
	}
	result = 0;
out:
	child_free(&child);
	return result;
}

/* Whether a descriptor of process pid is the socket with that inode. */
static bool owns_socket(pid_t pid, unsigned long inode)
{
	char path[64], wanted[64], target[64];
	struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	directory = opendir(path);
	if (!directory)
		return false;
	while (!found && (entry = readdir(directory))) {
		ssize_t length = readlinkat(dirfd(directory), entry->d_name, target,
					    sizeof(target) - 1);

		if (length < 0)
			continue;
		target[length] = '\0';
		found = !strcmp(target, wanted);
	}
	closedir(directory);
	return found;
}

/*
 * /proc/PID/net/tcp lists the sockets of that process's network namespace
 * (net/ipv4/tcp_ipv4.c, get_tcp4_sock; net/ipv6/tcp_ipv6.c, get_tcp6_sock).
 */
static bool listens_in(pid_t pid, const char *table, __u16 port)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, table);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		unsigned int local_port, state;
		unsigned long inode;

		if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu",
			   &local_port, &state, &inode) != 3)
			continue;
		found = local_port == port && state == TCP_LISTEN_STATE &&
			owns_socket(pid, inode);
	}
	fclose(file);
	return found;
}

static bool listens(pid_t pid, __u16 port)
{
	return listens_in(pid, "tcp6", port) || listens_in(pid, "tcp", port);
}

/* What an iperf3 that failed said: the "error" member of its JSON, else its stderr. */
static void quote(const struct child *child, char *line, size_t size)
{
	cJSON *document = child->out_text ? cJSON_Parse(child->out_text) : NULL;
	const char *said = cJSON_GetStringValue(cJSON_GetObjectItem(document, "error"));

	if (!said)
		said = child->err_text;
	one_line(said ? said : "it said nothing", line, size);
	cJSON_Delete(document);
}

static int server_failed(struct child *child, __u16 port, struct error *error)
{
	char said[256], status[CHILD_STATUS_TEXT];

	if (!child->ended) {
		child_stop(child, SIGTERM, STOP_TIMEOUT_MS);
		error_set(error, EXIT_CANNOT, "the iperf3 server does not listen on port %u", port);
	} else {
		quote(child, said, sizeof(said));
		error_set(error, EXIT_CANNOT, "the iperf3 server ended (%s) before it listened on port %u: %s",
			  child_status_text(child, status), port, said);
	}
	child_free(child);
	return -1;
}

int iperf3_start_server(struct child *child, int netns_fd, const char *path, __u16 port,
			unsigned int timeout_ms, struct error *error)
{
	char number[NUMBER_TEXT];
	char *argv[] = { (char *)path, "-s", "-1", "-p", number, "-J", NULL };
	unsigned int waited = 0;

	snprintf(number, sizeof(number), "%u", port);
	if (child_start(child, netns_fd, argv, error)) {
		child_free(child);
		return -1;
	}
	for (; !child_wait(child, 0) && waited <= timeout_ms; waited += LISTEN_STEP_MS) {
		if (listens(child->pid, port))
			return 0;
		child_wait(child, LISTEN_STEP_MS);
	}
	return server_failed(child, port, error);
}

static void add(const char *argument)
{
	client_command.argv[client_command.count++] = (char *)argument;
	client_command.argv[client_command.count] = NULL;
}

static void add_number(const char *option, char text[NUMBER_TEXT], unsigned long long value)
{
	snprintf(text, NUMBER_TEXT, "%llu", value);
	add(option);
	add(text);
}

/* -i: fine enough to draw, coarse enough that a long run of many streams stays below the bound. */
static unsigned long long interval_ms(const struct iperf3_options *options)
{
	unsigned long long streams = options->streams * (options->direction == LOAD_BIDIR ? 2 : 1);
	unsigned long long ms = options->interval_ns / 1000000;

	if (!ms)
		ms = options->seconds * 1000ull * (streams + 1) / MAX_REPORTS;
	ms = (ms + 99) / 100 * 100;
	if (ms < MIN_INTERVAL_MS)
		return MIN_INTERVAL_MS;
	return ms > MAX_INTERVAL_MS ? MAX_INTERVAL_MS : ms;
}

static void add_interval(const struct iperf3_options *options)
{
	unsigned long long ms = interval_ms(options);

	snprintf(client_command.interval, sizeof(client_command.interval), "%llu.%llu", ms / 1000,
		 ms % 1000 / 100);
	add("-i");
	add(client_command.interval);
}

static void add_protocol(const struct iperf3_options *options)
{
	if (options->proto == LOAD_UDP)
		add("-u");
	if (options->rate_bit_per_s)
		add_number("-b", client_command.rate, options->rate_bit_per_s);
	if (options->congestion && options->congestion[0] && options->proto == LOAD_TCP) {
		add("-C");
		add(client_command.congestion);
	}
	if (options->direction == LOAD_DOWN)
		add("-R");
	if (options->direction == LOAD_BIDIR)
		add("--bidir");
}

static void add_transfer(const struct iperf3_options *options)
{
	if (options->omit_seconds)
		add_number("-O", client_command.omit, options->omit_seconds);
	if (options->block_bytes)
		add_number("-l", client_command.block, options->block_bytes);
	/* the upper six bits of the octet that -S takes: RFC 2474 */
	if (options->dscp)
		add_number("-S", client_command.tos, options->dscp << 2);
	if (client_command.file[0]) {
		add("-F");
		add(client_command.file);
	}
}

static int copy(char *to, size_t size, const char *from)
{
	int length = snprintf(to, size, "%s", from ? from : "");

	return length >= 0 && (size_t)length < size ? 0 : -1;
}

int iperf3_start_client(struct child *child, int netns_fd, const char *path,
			const struct iperf3_options *options, struct error *error)
{
	*child = (struct child){ .pidfd = -1, .out = -1, .err = -1 };
	client_command.count = 0;
	if (copy(client_command.path, sizeof(client_command.path), path) ||
	    copy(client_command.server, sizeof(client_command.server), options->server) ||
	    copy(client_command.congestion, sizeof(client_command.congestion),
		 options->congestion) ||
	    copy(client_command.file, sizeof(client_command.file), options->file))
		return error_set(error, EXIT_USAGE,
				 "a path, address or congestion control for iperf3 is too long");
	add(client_command.path);
	add("-c");
	add(client_command.server);
	add_number("-p", client_command.port, options->port);
	add("-J");
	if (options->bytes)
		add_number("-n", client_command.bytes, options->bytes);
	else
		add_number("-t", client_command.seconds, options->seconds);
	add_interval(options);
	add_number("-P", client_command.streams, options->streams);
	add_protocol(options);
	add_transfer(options);
	add("--connect-timeout");
	add("5000");
	if (!child_start(child, netns_fd, client_command.argv, error))
		return 0;
	child_free(child);
	return -1;
}

char *const *iperf3_client_command(void)
{
	return client_command.argv;
}

/* A member that is a number, finite and not negative; else otherwise. */
static double number(const cJSON *object, const char *name, double otherwise)
{
	const cJSON *item = cJSON_GetObjectItem(object, name);

	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble < 0)
		return otherwise;
	return item->valuedouble;
}

static void read_text(const cJSON *object, const char *name, char *text, size_t size)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));

	one_line(value ? value : "", text, size);
}

/* Present means that rate and bytes are there; the rest is -1 where iperf3 gives none. */
static bool read_sum(const cJSON *end, const char *name, struct iperf3_sum *sum)
{
	const cJSON *item = cJSON_GetObjectItem(end, name);

	*sum = (struct iperf3_sum){
		.bits_per_second = number(item, "bits_per_second", -1),
		.bytes = number(item, "bytes", -1),
		.seconds = number(item, "seconds", 0),
		.retransmits = number(item, "retransmits", -1),
		.lost_packets = number(item, "lost_packets", -1),
		.packets = number(item, "packets", -1),
		.jitter_ms = number(item, "jitter_ms", -1),
	};
	sum->present = sum->bits_per_second >= 0 && sum->bytes >= 0;
	if (!sum->present) {
		sum->bits_per_second = 0;
		sum->bytes = 0;
	}
	return sum->present;
}

/* Losses and jitter are the receiver's to know: what iperf3 writes into the sender's sum is 0. */
static void sender_knows_no_loss(struct iperf3_sum *sum)
{
	sum->lost_packets = -1;
	sum->jitter_ms = -1;
}

/* One direction: both sums, or the single one of UDP in older versions. */
static void read_direction(const cJSON *end, const char *const names[3], struct iperf3_sum *sent,
			   struct iperf3_sum *received)
{
	double delivered;

	read_sum(end, names[0], sent);
	read_sum(end, names[1], received);
	if (sent->present || received->present || !read_sum(end, names[2], sent)) {
		sender_knows_no_loss(sent);
		return;
	}
	*received = *sent;
	sender_knows_no_loss(sent);
	if (received->packets <= 0 || received->lost_packets < 0 ||
	    received->lost_packets > received->packets) {
		*received = (struct iperf3_sum){ .retransmits = -1, .lost_packets = -1,
						 .packets = -1, .jitter_ms = -1 };
		return;
	}
	delivered = (received->packets - received->lost_packets) / received->packets;
	received->bytes *= delivered;
	received->bits_per_second *= delivered;
}

static void read_streams(const cJSON *streams, struct iperf3_interval *interval)
{
	double rtt_sum = 0, cwnd_sum = 0;
	unsigned int rtts = 0, cwnds = 0;
	const cJSON *stream;

	cJSON_ArrayForEach(stream, streams) {
		double rtt = number(stream, "rtt", -1), cwnd = number(stream, "snd_cwnd", -1);

		if (rtt >= 0) {
			rtt_sum += rtt;
			rtts++;
		}
		if (cwnd >= 0) {
			cwnd_sum += cwnd;
			cwnds++;
		}
	}
	interval->rtt_us = rtts ? rtt_sum / rtts : -1;
	interval->cwnd_bytes = cwnds ? cwnd_sum : -1;
}

/* Of a load both ways at once: what goes the other way, in the same time. */
static void read_reverse(const cJSON *item, struct iperf3_interval *interval)
{
	const cJSON *sum = cJSON_GetObjectItem(item, "sum_bidir_reverse");

	interval->reverse_bits_per_second = number(sum, "bits_per_second", -1);
	interval->have_reverse = interval->reverse_bits_per_second >= 0;
}

static int read_intervals(const cJSON *list, struct iperf3_result *result, struct error *error)
{
	size_t count = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		count++;
	if (!count)
		return 0;
	result->intervals = calloc(count, sizeof(*result->intervals));
	if (!result->intervals)
		return error_set(error, EXIT_CANNOT, "out of memory for %zu iperf3 intervals", count);
	cJSON_ArrayForEach(item, list) {
		struct iperf3_interval *interval = &result->intervals[result->interval_count];
		const cJSON *sum = cJSON_GetObjectItem(item, "sum");

		interval->start_s = number(sum, "start", -1);
		interval->end_s = number(sum, "end", -1);
		interval->bits_per_second = number(sum, "bits_per_second", -1);
		interval->retransmits = number(sum, "retransmits", -1);
		if (interval->start_s < 0 || interval->end_s < interval->start_s ||
		    interval->bits_per_second < 0)
			continue;
		read_streams(cJSON_GetObjectItem(item, "streams"), interval);
		read_reverse(item, interval);
		result->interval_count++;
	}
	return 0;
}

static int read_document(const cJSON *document, struct iperf3_result *result, struct error *error)
{
	static const char *const forward[] = { "sum_sent", "sum_received", "sum" };
	static const char *const reverse[] = {
		"sum_sent_bidir_reverse", "sum_received_bidir_reverse", "sum_bidir_reverse"
	};
	const cJSON *end = cJSON_GetObjectItem(document, "end");
	const cJSON *failed = cJSON_GetObjectItem(document, "error");
	char said[256];

	read_text(cJSON_GetObjectItem(document, "start"), "version", result->version,
		  sizeof(result->version));
	read_text(end, "sender_tcp_congestion", result->congestion, sizeof(result->congestion));
	read_direction(end, forward, &result->sent, &result->received);
	read_direction(end, reverse, &result->sent_reverse, &result->received_reverse);
	if (read_intervals(cJSON_GetObjectItem(document, "intervals"), result, error))
		return -1;
	if (failed) {
		const char *value = cJSON_GetStringValue(failed);

		one_line(value ? value : "an error that is no text", said, sizeof(said));
		return error_set(error, EXIT_INCOMPLETE, "iperf3 failed: %s", said);
	}
	if (!result->sent.present || !result->received.present)
		return error_set(error, EXIT_INCOMPLETE,
				 "the JSON of iperf3 has no end.%s with bytes and bits_per_second",
				 result->sent.present ? "sum_received" : "sum_sent");
	return 0;
}

static void result_init(struct iperf3_result *result)
{
	static const struct iperf3_sum absent = {
		.retransmits = -1, .lost_packets = -1, .packets = -1, .jitter_ms = -1
	};

	*result = (struct iperf3_result){
		.sent = absent, .received = absent, .sent_reverse = absent,
		.received_reverse = absent
	};
}

static bool only_blanks(const char *text, const char *end)
{
	while (text < end && isspace((unsigned char)*text))
		text++;
	return text == end;
}

/* Where the parser gave up tells a document that is cut short from one that is wrong. */
static int syntax_error(const char *json, size_t length, const char *at, struct error *error)
{
	char said[128];

	if (only_blanks(json, json + length))
		return error_set(error, EXIT_INCOMPLETE, "iperf3 printed no JSON");
	if (!at || at < json || at > json + length)
		at = json;
	snprintf(said, sizeof(said), "%.*s", (int)(length < 80 ? length : 80), json);
	one_line(said, said, sizeof(said));
	return error_set(error, EXIT_INCOMPLETE,
			 "the JSON of iperf3 is cut short or broken at byte %zu of %zu; it begins with: %s",
			 (size_t)(at - json), length, said);
}

int iperf3_parse(const char *json, size_t length, struct iperf3_result *result,
		 struct error *error)
{
	const char *end = NULL;
	cJSON *document;
	int failed;

	result_init(result);
	if (!json || !length)
		return error_set(error, EXIT_INCOMPLETE, "iperf3 printed no JSON");
	document = cJSON_ParseWithLengthOpts(json, length, &end, false);
	if (!document || !cJSON_IsObject(document) || !only_blanks(end, json + length))
		failed = syntax_error(json, length, end, error);
	else
		failed = read_document(document, result, error);
	cJSON_Delete(document);
	return failed;
}

void iperf3_result_free(struct iperf3_result *result)
{
	free(result->intervals);
	result_init(result);
}
