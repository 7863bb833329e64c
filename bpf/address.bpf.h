/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of kernel objects as numbers. */
#ifndef SOJOURN_ADDRESS_BPF_H
#define SOJOURN_ADDRESS_BPF_H

/*
 * The verifier forbids arithmetic on the address of a kernel object; written
 * to a map and read back it is a number. A cell per program: programs of one
 * CPU interrupt each other, but none interrupts itself.
 */
enum cell {
	CELL_QUEUE,
	CELL_FIRST_QDISC,
	CELL_FIRST_DEVICE,
	CELL_QDISC,
	CELL_ENQUEUE,
	CELL_DEQUEUE,
	CELL_KFREE,
	CELL_TRANSMIT,
	CELL_RECEIVE,
	CELL_CONSUME,
	CELL_RESET,
	CELL_DESTROY,
	CELL_CALL,
	CELL_RETURN,
	CELL_HAND_UP,
	CELL_PEEK,
	CELLS,
};

struct cells {
	__u64 address[CELLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cells);
} cells SEC(".maps");

static __always_inline __u64 address_number(const void *address, enum cell cell)
{
	volatile __u64 *place;
	struct cells *own;
	__u32 zero = 0;

	own = bpf_map_lookup_elem(&cells, &zero);
	if (!own)
		return 0;
	place = &own->address[cell];
	*place = (__u64)address;
	return *place;
}

#endif
