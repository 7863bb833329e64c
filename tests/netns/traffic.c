// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic in a network namespace, bounded in packets and time: one process for all that a
 * tree of qdiscs is to see, so that a slow machine need not start many.
 *
 *   traffic NETNS sink            takes TCP connections on port 5, and sends what they ask for
 *   traffic NETNS tun DEVICE      is the program behind a tun device; reads, never writes
 *       Both say "ready" and stay until their standard input ends.
 *   traffic NETNS SENDER...       all senders at once, each in a thread of its own; prints
 *                                 {"senders":[{"sent":…,"refused":…}]}
 *
 * A sender is a list of values:
 *   udp,to=ADDRESS[,port=9][,from=PORT][,flows=1][,count=1000][,size=100][,burst=16]
 *      [,pause=US][,gso=SEGMENTS][,txtime=NS]
 *      count datagrams (GSO skbs of so many datagrams) from flows ports in turn, a pause
 *      after each burst; txtime: departure time (SO_TXTIME, CLOCK_TAI) so long after now
 *   tcp,to=ADDRESS[,bytes=1000000][,seconds=2][,cc=cubic][,pacing=BYTE/S][,reverse=1]
 *      sends bytes, or what it gets rid of within seconds; ends when all has arrived.
 *      reverse: the sink sends instead
 *   both: [,priority=NUMBER][,tos=NUMBER][,threads=1]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "netns.h"

#define SENDERS_MAX	16
#define FLOWS_MAX	256
#define FIRST_PORT	20000	/* of a sender, and FLOWS_MAX from there on */
#define SINK_PORT	5
#define ARRIVAL_S	20	/* so long may the last TCP byte take */

struct sender {
	pthread_t thread;
	bool tcp, reverse;
	struct in_addr to;
	const char *cc;
	unsigned long port, from, flows, count, size, burst, pause_us, gso, txtime_ns;
	unsigned long bytes, pacing, tos, priority, threads;
	double seconds;
	unsigned long long sent, refused;
	int failed;			/* errno */
	const char *where;
};

/* What a TCP connection begins with. */
struct request {
	__u64 send;			/* bytes that the sink sends before it takes any */
};

static int fail(struct sender *sender, const char *where)
{
	sender->failed = errno ? errno : EIO;
	sender->where = where;
	return -1;
}

static void sleep_us(unsigned long us)
{
	struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

static int set_number(int fd, int level, int option, unsigned long value)
{
	int number = value;

	return setsockopt(fd, level, option, &number, sizeof(number));
}

static int open_socket(struct sender *sender, int type, unsigned long port, unsigned long from)
{
	struct sockaddr_in local = { .sin_family = AF_INET, .sin_port = htons(from) };
	struct sockaddr_in remote = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = sender->to,
	};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || set_number(fd, IPPROTO_IP, IP_TOS, sender->tos) ||
	    set_number(fd, SOL_SOCKET, SO_PRIORITY, sender->priority)) {
		fail(sender, "socket");
		goto out;
	}
	if (type == SOCK_STREAM && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, sender->cc,
						strlen(sender->cc))) {
		fail(sender, "TCP_CONGESTION");
		goto out;
	}
	if (sender->pacing && set_number(fd, SOL_SOCKET, SO_MAX_PACING_RATE, sender->pacing)) {
		fail(sender, "SO_MAX_PACING_RATE");
		goto out;
	}
	if ((from && bind(fd, (struct sockaddr *)&local, sizeof(local))) ||
	    connect(fd, (struct sockaddr *)&remote, sizeof(remote))) {
		fail(sender, "connect");
		goto out;
	}
	return fd;
out:
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- UDP ---- */

static int open_udp(struct sender *sender, unsigned int flow)
{
	struct sock_txtime txtime = { .clockid = CLOCK_TAI };
	int fd = open_socket(sender, SOCK_DGRAM, sender->port, sender->from + flow);

	if (fd < 0)
		return -1;
	/* A full qdisc is what is wanted, not a sender that waits for its socket. */
	if (set_number(fd, SOL_SOCKET, SO_SNDBUFFORCE, 16 << 20) ||
	    (sender->gso && set_number(fd, SOL_UDP, UDP_SEGMENT, sender->size)) ||
	    (sender->txtime_ns &&
	     setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime)))) {
		fail(sender, "socket option");
		close(fd);
		return -1;
	}
	return fd;
}

static ssize_t send_datagram(int fd, const struct sender *sender)
{
	static char payload[65000];
	char control[CMSG_SPACE(sizeof(__u64))] = { 0 };
	struct iovec vector = {
		.iov_base = payload,
		.iov_len = sender->size * (sender->gso ? sender->gso : 1),
	};
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	struct cmsghdr *header = (struct cmsghdr *)control;
	__u64 departure;

	if (sender->txtime_ns) {
		departure = clock_ns(CLOCK_TAI) + sender->txtime_ns;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_TXTIME;
		header->cmsg_len = CMSG_LEN(sizeof(departure));
		memcpy(CMSG_DATA(header), &departure, sizeof(departure));
	}
	return sendmsg(fd, &message, 0);
}

static int send_datagrams(struct sender *sender, const int *sockets)
{
	unsigned long i;

	for (i = 0; i < sender->count; i++) {
		if (send_datagram(sockets[i % sender->flows], sender) >= 0)
			sender->sent++;
		else if (errno == ENOBUFS || errno == ECONNREFUSED)
			sender->refused++;
		else
			return fail(sender, "send");
		if (sender->pause_us && i % sender->burst == sender->burst - 1)
			sleep_us(sender->pause_us);
	}
	return 0;
}

static void run_udp(struct sender *sender)
{
	int sockets[FLOWS_MAX];
	unsigned int count = 0;

	for (; count < sender->flows; count++) {
		sockets[count] = open_udp(sender, count);
		if (sockets[count] < 0)
			goto out;
	}
	send_datagrams(sender, sockets);
out:
	while (count > 0)
		close(sockets[--count]);
}

/* ---- TCP ---- */

static int wait_for(int fd, short events, __u64 until_ns)
{
	struct pollfd ready = { .fd = fd, .events = events };
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	if (now >= until_ns)
		return 0;
	return poll(&ready, 1, (until_ns - now) / 1000000 + 1);
}

/* Take what comes until the other side has sent all. 0, or -1 and errno. */
static int take_all(int fd, __u64 until_ns)
{
	static char nothing[65536];
	ssize_t got;

	for (;;) {
		if (wait_for(fd, POLLIN, until_ns) <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		/* TCP throws it away, and copies nothing. */
		got = recv(fd, nothing, sizeof(nothing), MSG_TRUNC | MSG_DONTWAIT);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EAGAIN)
			return -1;
	}
}

/* Send so many bytes, or what can be got rid of until then. Bytes sent, or -1 and errno. */
static long send_bytes(int fd, unsigned long bytes, __u64 until_ns)
{
	static char payload[65536];
	unsigned long left = bytes;
	ssize_t sent;

	while (left && wait_for(fd, POLLOUT, until_ns) > 0) {
		sent = send(fd, payload, left < sizeof(payload) ? left : sizeof(payload),
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			return -1;
		if (sent > 0)
			left -= sent;
	}
	return bytes - left;
}

static void run_tcp(struct sender *sender)
{
	struct request request = { .send = sender->reverse ? sender->bytes : 0 };
	__u64 until = clock_ns(CLOCK_MONOTONIC) + (__u64)(sender->seconds * 1e9);
	int fd = open_socket(sender, SOCK_STREAM, SINK_PORT, 0);
	long sent = sender->bytes;

	if (fd < 0)
		return;
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
		fail(sender, "send");
		goto out;
	}
	if (!sender->reverse)
		sent = send_bytes(fd, sender->bytes, until);
	if (sent < 0 || shutdown(fd, SHUT_WR) ||
	    take_all(fd, until + ARRIVAL_S * 1000000000ULL)) {
		fail(sender, "transfer");
		goto out;
	}
	sender->sent = sent;
out:
	close(fd);
}

static void *serve(void *argument)
{
	__u64 until = clock_ns(CLOCK_MONOTONIC) + ARRIVAL_S * 2 * 1000000000ULL;
	int fd = (int)(long)argument;
	struct request request;

	if (recv(fd, &request, sizeof(request), MSG_WAITALL) == sizeof(request) &&
	    send_bytes(fd, request.send, until) >= 0)
		take_all(fd, until);
	close(fd);
	return NULL;
}

static int listen_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(SINK_PORT) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || set_number(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))
		return -1;
	return fd;
}

/* Call take(fd) as often as there is something to take, until standard input ends. */
static int until_input_ends(int fd, int (*take)(int fd))
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	char nothing[16];

	printf("ready\n");
	fflush(stdout);
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			return -1;
		if (fds[1].revents && take(fd))
			return -1;
		if (fds[0].revents && read(STDIN_FILENO, nothing, sizeof(nothing)) <= 0)
			return 0;
	}
}

static int take_connection(int listener)
{
	long fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	pthread_t thread;

	if (fd < 0 || pthread_create(&thread, NULL, serve, (void *)fd))
		return -1;
	return pthread_detach(thread);
}

/* ---- tun ---- */

static int open_tun(const char *device)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (fd >= 0 && ioctl(fd, TUNSETIFF, &request)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int take_packet(int fd)
{
	char packet[65536];

	return read(fd, packet, sizeof(packet)) < 0 && errno != EAGAIN ? -1 : 0;
}

/* ---- the command line ---- */

enum value {
	TO, PORT, FROM, FLOWS, COUNT, SIZE, BURST, PAUSE, GSO, TXTIME, BYTES, SECONDS, CC, PACING,
	REVERSE, PRIORITY, TOS, THREADS,
};

static char *const value_names[] = {
	[TO] = "to", [PORT] = "port", [FROM] = "from", [FLOWS] = "flows", [COUNT] = "count",
	[SIZE] = "size", [BURST] = "burst", [PAUSE] = "pause", [GSO] = "gso",
	[TXTIME] = "txtime", [BYTES] = "bytes", [SECONDS] = "seconds", [CC] = "cc",
	[PACING] = "pacing", [REVERSE] = "reverse", [PRIORITY] = "priority", [TOS] = "tos",
	[THREADS] = "threads", NULL,
};

/* Where a number goes; NULL for what is none. */
static unsigned long *place_of(struct sender *sender, int value)
{
	switch (value) {
	case PORT: return &sender->port;
	case FROM: return &sender->from;
	case FLOWS: return &sender->flows;
	case COUNT: return &sender->count;
	case SIZE: return &sender->size;
	case BURST: return &sender->burst;
	case PAUSE: return &sender->pause_us;
	case GSO: return &sender->gso;
	case TXTIME: return &sender->txtime_ns;
	case BYTES: return &sender->bytes;
	case PACING: return &sender->pacing;
	case PRIORITY: return &sender->priority;
	case TOS: return &sender->tos;
	case THREADS: return &sender->threads;
	}
	return NULL;
}

static int parse_value(struct sender *sender, int value, char *text)
{
	unsigned long *number = place_of(sender, value);
	char *end = NULL;

	if (!text)
		return -1;
	if (number) {
		*number = strtoul(text, &end, 0);
		return *end || end == text ? -1 : 0;
	}
	switch (value) {
	case TO:
		return inet_pton(AF_INET, text, &sender->to) == 1 ? 0 : -1;
	case CC:
		sender->cc = text;
		return 0;
	case REVERSE:
		sender->reverse = true;
		return 0;
	case SECONDS:
		sender->seconds = strtod(text, &end);
		return *end ? -1 : 0;
	}
	return -1;
}

static int parse_sender(struct sender *sender, char *text, unsigned long from)
{
	char *rest = strchr(text, ','), *value;

	*sender = (struct sender){
		.port = 9, .from = from, .flows = 1, .count = 1000, .size = 100, .burst = 16,
		.bytes = 1000000, .seconds = 2, .cc = "cubic", .threads = 1,
	};
	if (!rest)
		return -1;
	*rest++ = '\0';
	sender->tcp = !strcmp(text, "tcp");
	if (!sender->tcp && strcmp(text, "udp"))
		return -1;
	while (*rest) {
		int name = getsubopt(&rest, value_names, &value);

		if (parse_value(sender, name, value))
			return -1;
	}
	return !sender->to.s_addr || !sender->flows || sender->flows > FLOWS_MAX ||
	       !sender->burst || !sender->size || sender->size > 1472 || sender->gso > 44 ?
	       -1 : 0;
}

static void *run_sender(void *argument)
{
	struct sender *sender = argument;

	if (sender->tcp)
		run_tcp(sender);
	else
		run_udp(sender);
	return NULL;
}

/* A sender of several threads is so many senders, each from ports of its own. */
static size_t parse_senders(struct sender *senders, char **texts)
{
	size_t count = 0, i;

	for (; *texts; texts++) {
		if (count == SENDERS_MAX ||
		    parse_sender(&senders[count], *texts, FIRST_PORT + count * FLOWS_MAX) ||
		    !senders[count].threads || senders[count].threads > SENDERS_MAX - count)
			return 0;
		for (i = 1; i < senders[count].threads; i++) {
			senders[count + i] = senders[count];
			senders[count + i].from += i * FLOWS_MAX;
		}
		count += senders[count].threads;
	}
	return count;
}

static int send_all(struct sender *senders, size_t count)
{
	int status = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (pthread_create(&senders[i].thread, NULL, run_sender, &senders[i]))
			exit(1);
	for (i = 0; i < count; i++)
		pthread_join(senders[i].thread, NULL);
	printf("{\"senders\":[");
	for (i = 0; i < count; i++) {
		if (senders[i].failed) {
			fprintf(stderr, "traffic: sender %zu: %s: %s\n", i + 1, senders[i].where,
				strerror(senders[i].failed));
			status = 1;
		}
		printf("%s{\"sent\":%llu,\"refused\":%llu}", i ? "," : "", senders[i].sent,
		       senders[i].refused);
	}
	printf("]}\n");
	return status;
}

static int stay(const char *what, int fd, int (*take)(int fd))
{
	if (fd >= 0 && !until_input_ends(fd, take))
		return 0;
	fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char *argv[])
{
	struct sender senders[SENDERS_MAX];
	struct error error = { 0 };
	size_t count;
	int netns;

	if (argc < 3) {
		fprintf(stderr, "traffic: see the head of traffic.c\n");
		return 2;
	}
	netns = netns_open(argv[1], &error);
	if (netns < 0 || netns_enter(netns, &error)) {
		fprintf(stderr, "traffic: %s\n", error.text);
		return 1;
	}
	close(netns);
	signal(SIGPIPE, SIG_IGN);
	if (!strcmp(argv[2], "sink"))
		return stay("sink", listen_tcp(), take_connection);
	if (!strcmp(argv[2], "tun") && argc == 4)
		return stay(argv[3], open_tun(argv[3]), take_packet);
	count = parse_senders(senders, argv + 2);
	if (!count) {
		fprintf(stderr, "traffic: see the head of traffic.c\n");
		return 2;
	}
	return send_all(senders, count);
}
