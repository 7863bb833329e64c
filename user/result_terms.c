// SPDX-License-Identifier: GPL-2.0
#include "result.h"
#include "result_terms.h"

const char *const leg_kind_names[] = {
	[LEG_QDISC] = "qdisc",
	[LEG_DRIVER] = "driver",
	[LEG_LINK] = "link",
	[LEG_STACK] = "stack",
	NULL
};

const char *const phase_kind_names[] = {
	[PHASE_IDLE] = "idle",
	[PHASE_LOAD] = "load",
	[PHASE_RECOVERY] = "recovery",
	[PHASE_RESTORED] = "restored",
	NULL
};

const char *const holder_kind_names[] = {
	[HOLDER_DEVICE] = "device",
	[HOLDER_QDISC] = "qdisc",
	[HOLDER_CLASS] = "class",
	NULL
};

const char *const shape_names[] = {
	[SHAPE_NONE] = "none",
	[SHAPE_UNKNOWN] = "unknown",
	[SHAPE_FLAT] = "flat",
	[SHAPE_TEARDOWN_SPIKE] = "teardown spike",
	[SHAPE_SAWTOOTH] = "sawtooth",
	[SHAPE_RAMP] = "ramp",
	[SHAPE_TRIANGLE] = "triangle",
	[SHAPE_PLATEAU] = "plateau",
	[SHAPE_CHAOTIC] = "chaotic",
	NULL
};

#define LEDGER(name)	{ #name, offsetof(struct ledger, name) }

const struct result_term ledger_terms[] = {
	LEDGER(offered), LEDGER(measured), LEDGER(bypassed), LEDGER(rejected),
	LEDGER(dropped_inside), LEDGER(requeued), LEDGER(queued), LEDGER(queued_at_start),
	LEDGER(unmatched), LEDGER(flow_misses), LEDGER(dropped_skbs), LEDGER(rejected_skbs),
	LEDGER(rejected_inactive), LEDGER(purged_skbs), LEDGER(stolen_skbs),
	LEDGER(parts_refused), LEDGER(before_hooked),
	{ NULL, 0 }
};

#define LOSS(name)	{ #name, offsetof(struct tracer_losses, name) }

const struct result_term loss_terms[] = {
	LOSS(ring_full), LOSS(slot_overwrites), LOSS(flow_misses),
	{ "events_late", offsetof(struct tracer_losses, samples_missing) },
	LOSS(unmatched), LOSS(records_full), LOSS(recursion_misses), LOSS(negative),
	LOSS(stale), LOSS(tcp_flows_full), LOSS(calls_lost), LOSS(qdiscs_unlisted),
	LOSS(functions_unhooked), LOSS(exclusive_misses), LOSS(before_hooked),
	{ NULL, 0 }
};

_Static_assert(sizeof(loss_terms) / sizeof(loss_terms[0]) - 1 ==
	       sizeof(struct tracer_losses) / sizeof(__u64), "a loss is left out");
