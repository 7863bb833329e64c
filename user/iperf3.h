/* SPDX-License-Identifier: GPL-2.0 */
/* The load: a real iperf3 server and client (3.9 to 3.22), and what their JSON says. */
#ifndef SOJOURN_IPERF3_H
#define SOJOURN_IPERF3_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "child.h"
#include "error.h"

enum load_proto { LOAD_TCP, LOAD_UDP };
/* LOAD_EACH, up and then down, is a matter of two runs: iperf3_start_client() never gets it. */
enum load_direction { LOAD_UP, LOAD_DOWN, LOAD_BIDIR, LOAD_EACH };

struct iperf3_options {
	const char *server;	/* address, as text */
	__u16 port;
	enum load_proto proto;
	enum load_direction direction;
	unsigned int seconds;
	unsigned int streams;
	const char *congestion;	/* TCP congestion control, NULL: the kernel's default */
	__u64 rate_bit_per_s;	/* cap per stream; 0: none (UDP: iperf3's own default) */
	unsigned int omit_seconds;	/* -O: on top of seconds, left out of the sums */
	__u64 block_bytes;	/* -l; 0: iperf3's default */
	__u64 bytes;		/* -n: end after so many and not after seconds; 0: no */
	unsigned int dscp;	/* of the packets */
	const char *file;	/* -F: what the client sends is read there, what it receives written; NULL, "": none */
	__u64 interval_ns;	/* between reports, 100 ms ... 60 s; 0: chosen by length and streams */
};

struct iperf3_sum {
	bool present;
	double bits_per_second;
	double bytes;
	double seconds;
	double retransmits;	/* -1 where iperf3 gives none */
	double lost_packets;	/* UDP; -1 where none */
	double packets;		/* UDP; -1 where none */
	double jitter_ms;	/* UDP; -1 where none */
};

struct iperf3_interval {
	double start_s;
	double end_s;
	double bits_per_second;
	double retransmits;	/* -1 where none */
	double rtt_us;		/* mean of the streams' own smoothed RTT; -1 where none */
	double cwnd_bytes;	/* sum over the streams; -1 where none */
	bool have_reverse;	/* both ways at once */
	double reverse_bits_per_second;	/* towards the client */
};

struct iperf3_result {
	char version[64];	/* "iperf 3.12" */
	char congestion[32];	/* what the sender says that it used, "" where it does not */
	struct iperf3_sum sent;		/* the sender's count */
	struct iperf3_sum received;	/* the receiver's: what was delivered */
	struct iperf3_sum sent_reverse;	/* bidirectional runs only */
	struct iperf3_sum received_reverse;
	struct iperf3_interval *intervals;
	size_t interval_count;
};

/*
 * Version of the iperf3 at path as in "3.12". Returns 0, or -1 and error
 * (EXIT_CANNOT for one older than 3.9).
 */
int iperf3_version(const char *path, char *text, size_t size, struct error *error);

/*
 * Start a one-off server (-s -1 -p PORT -J), and wait until it listens in
 * netns_fd or timeout_ms is over; that it listens is read from the kernel, no
 * connection is made. -1 and error: it ended (what it said is quoted) or did
 * not listen in time; the child is ended and freed then.
 */
int iperf3_start_server(struct child *child, int netns_fd, const char *path, __u16 port,
			unsigned int timeout_ms, struct error *error);

/*
 * Start the client; 0, or -1 and error (the child is freed then). The command
 * of the last start, NULL at its end, stays valid until the next one.
 */
int iperf3_start_client(struct child *child, int netns_fd, const char *path,
			const struct iperf3_options *options, struct error *error);
char *const *iperf3_client_command(void);

/*
 * Read the client's JSON. Errors (EXIT_INCOMPLETE): an "error" member of
 * iperf3's own, text that is cut short, or fields that are missing; error then
 * quotes what iperf3 said, and result holds what could be read all the same.
 * result is to be freed in either case. No type or value is trusted: numbers
 * that are negative, not finite or no numbers count as missing.
 *
 * Where a UDP document has one "sum" only, as from older versions, received is
 * the bytes of that sum less the share of datagrams that the receiver counted
 * as lost.
 */
int iperf3_parse(const char *json, size_t length, struct iperf3_result *result,
		 struct error *error);
void iperf3_result_free(struct iperf3_result *result);

#endif
