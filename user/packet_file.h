/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file of `sojourn trace`: a header, then blocks (docs/trace.md). The same stream of
 * blocks is what a live trace prints. Everything is in the byte order of the machine that
 * wrote it; all sizes are multiples of 8 bytes, so that what is read in one piece is
 * aligned.
 */
#ifndef SOJOURN_PACKET_FILE_H
#define SOJOURN_PACKET_FILE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "sojourn/event.h"

#define PACKET_FILE_MAGIC	"sojourn packets 1\n"
#define PACKET_FILE_BYTE_ORDER	0x01020304u
#define PACKET_QDISCS_MAX	16384	/* ids are below */
#define PACKET_LOSSES_MAX	64	/* kinds of losses */
#define PACKET_BLOCK_MAX	(64 * 1024)	/* bytes behind the head of a block */

struct packet_file_header {
	char magic[24];			/* PACKET_FILE_MAGIC, null bytes behind it */
	__u32 byte_order;		/* PACKET_FILE_BYTE_ORDER as a number */
	__u32 header_size;		/* sizeof of this and of the structures below, bytes */
	__u32 packet_size;		/* struct packet_event */
	__u32 qdisc_size;
	__u32 ledger_size;
	__u32 trailer_size;		/* the losses behind it are not in it */
	__u64 started_ns;		/* CLOCK_MONOTONIC */
	__u64 started_realtime_ns;	/* CLOCK_REALTIME at the same moment */
	char version[32];		/* of sojourn */
	char kernel[128];		/* uname release */
	char tier[32];
};

enum packet_block_type {
	BLOCK_PACKETS = 1,		/* one struct packet_event or more */
	BLOCK_QDISC = 2,		/* one struct packet_qdisc, before the first packet of it */
	BLOCK_LEDGER = 3,		/* one struct packet_ledger, behind all packets */
	BLOCK_TRAILER = 4,		/* a struct packet_trailer and its losses; nothing is behind it */
};

struct packet_block {
	__u32 type;			/* enum packet_block_type */
	__u32 size;			/* bytes that follow: at most PACKET_BLOCK_MAX */
};

/* Who a qdisc is. Texts end in a null byte. */
struct packet_qdisc {
	__u32 qdisc;			/* id: packet_event.qdisc */
	__u32 netns;			/* inode number */
	__u32 ifindex;
	__u32 queue;			/* tx queue; 0 where it serves all */
	__u32 handle;
	__u32 parent;			/* TC_H_ROOT for the root of a device */
	__u32 depth;			/* 0: root of a tx queue, 1: below one, ... */
	__u32 unused;
	char device[16];
	char kind[16];
	char netns_name[64];		/* "": the one that the trace was started in */
};

enum packet_agrees {
	AGREES_UNKNOWN,			/* not compared */
	AGREES_YES,
	AGREES_NO,
};

/* What the tracer and the kernel counted of a qdisc, in packets; requeues and drops in skbs. */
struct packet_ledger {
	__u32 qdisc;
	__u32 agrees;			/* enum packet_agrees */
	__u64 offered;
	__u64 measured;
	__u64 bypassed;
	__u64 rejected;
	__u64 dropped_inside;
	__u64 queued;			/* still waiting at the end */
	__u64 unmatched;
	__u64 requeued;
	__s64 unaccounted;
	__u64 kernel_packets;		/* differences over the trace; 0 where not compared */
	__u64 kernel_drops;
	__u64 kernel_requeues;
};

struct packet_trailer {
	__u64 ended_ns;			/* CLOCK_MONOTONIC */
	__u64 records;			/* in this file */
	__u64 packets;			/* of these records, each counted once: not PACKET_REPEATED */
	__u32 kernel_compared;		/* 1: with the kernel's own counters; 0: not_compared_why */
	__u32 loss_count;		/* struct packet_loss that follow */
	char not_compared_why[96];
};

/* A way in which something can have been lost. 0 where nothing was. */
struct packet_loss {
	char name[24];
	__u64 value;
};

/*
 * What a stream holds, in its order. Pointers are valid during the call; any may be NULL.
 * Each returns 0, or -1 and error, which ends the reading.
 */
struct packet_sink {
	void *context;
	int (*header)(void *context, const struct packet_file_header *header,
		      struct error *error);
	int (*qdisc)(void *context, const struct packet_qdisc *qdisc, struct error *error);
	int (*packets)(void *context, const struct packet_event *packets, unsigned int count,
		       struct error *error);
	int (*ledger)(void *context, const struct packet_ledger *ledger, struct error *error);
	int (*trailer)(void *context, const struct packet_trailer *trailer,
		       const struct packet_loss *losses, struct error *error);
};

/* A header with all but the times and texts filled in. */
void packet_file_header_init(struct packet_file_header *header);

struct packet_decoder;

/* The caller closes it. NULL: out of memory. */
struct packet_decoder *packet_decoder_open(const struct packet_sink *sink);
void packet_decoder_close(struct packet_decoder *decoder);

/*
 * Take what is whole of the length bytes at bytes (8 bytes aligned), which continue what was
 * taken before; *used says how many that were. Everything is checked before it is given to
 * the sink. 0, or -1 and error (EXIT_USAGE: what is wrong and where; or the sink's).
 */
int packet_decode(struct packet_decoder *decoder, const void *bytes, size_t length, size_t *used,
		  struct error *error);

/* The stream has ended: 0 where it was whole, else -1 and error (EXIT_USAGE). */
int packet_decode_end(const struct packet_decoder *decoder, struct error *error);

/* Read all of fd into sink; errors as above. fd stays open. */
int packet_file_read(int fd, const struct packet_sink *sink, struct error *error);

#endif
