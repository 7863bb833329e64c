# SPDX-License-Identifier: GPL-2.0
#
# Judge trees of qdiscs (trees.sh). Of every qdisc of a tree to which packets came the
# ledger is added up here once more and compared with what tc said before and after.
#
# What the kernel counts against its own rules is an exception that the table names:
#   requeues-reorder   netem counts a packet that it puts first in its queue as a requeue
#                      (net/sched/sch_netem.c, netem_enqueue())
#
# $trees, $before, $after: what trees.sh wrote; $functions, $tracepoints: documents of
# window.c; $tiers: those that were traced.

def holds_nothing: IN("noqueue", "mq", "mqprio", "ingress", "clsact", "noop");

def same($a; $b): $a.netns == $b.netns and $a.dev == $b.dev and $a.kind == $b.kind and
	$a.handle == $b.handle and $a.parent == $b.parent;

# The kernel's counters over the window, of each qdisc of a tree.
def kernel_of($tree):
	[$after[] | select(.netns == $tree.netns and (.kind | holds_nothing | not))] |
	map(. as $last | ([$before[] | select(same(.; $last))][0] //
		{packets: 0, drops: 0, requeues: 0}) as $first |
		.packets -= $first.packets | .drops -= $first.drops |
		.requeues -= $first.requeues);

# Of a tx queue: the root of the device, or below one that only spreads packets.
def is_root($qdisc): $qdisc.parent == "root" or
	any($after[]; .netns == $qdisc.netns and .dev == $qdisc.dev and .parent == "root" and
		(.kind | IN("mq", "mqprio")) and
		.handle == ($qdisc.parent | sub(":.*"; ":")));

def traced_as($document; $kernel):
	[$document.qdiscs[] | select(.netns == $kernel.netns and .ifname == $kernel.dev and
		.kind == $kernel.kind and .handle == $kernel.handle and
		.parent == $kernel.parent)][0];

def fact($tree; $is; $kernel): [$tree.facts[] |
	select(.is == $is and .dev == $kernel.dev and .handle == $kernel.handle)][0];

def name($kernel): "\($kernel.dev) \($kernel.kind) \($kernel.handle[:-1])" +
	if $kernel.handle == "0:" then " below \($kernel.parent)" else "" end;

# Segments without a match are lost to the tracepoints tier: one in a thousand may be.
def may_miss($tier; $seen): if $tier == "tracepoints" then $seen.counters.segments / 1000
	else 0 end;

def ledger_problems($seen; $tier):
	$seen.ledger | (.offered - .measured - .bypassed - .rejected - .dropped_inside -
		.queued) as $rest |
	(if .offered == 0 then "was offered nothing" else empty end),
	(if $rest != .unaccounted then "unaccounted is \(.unaccounted), not \($rest)"
		else empty end),
	(if $rest != .flow_misses or .flow_misses > may_miss($tier; $seen) then
		"of \(.offered) offered \($rest) unaccounted for" else empty end),
	(if .unmatched > .flow_misses then "\(.unmatched) handed out unmatched" else empty end),
	(if .queued > 0 then "\(.queued) seem to wait" else empty end);

# What the kernel counts right below a qdisc.
def drops_below($kernel): [kernel_of({netns: $kernel.netns})[] |
	select(.dev == $kernel.dev and .parent != "root" and
		(.parent | sub(":.*"; ":")) == $kernel.handle) | .drops] | add // 0;

def counter_problems($tree; $kernel; $seen):
	fact($tree; "except"; $kernel).what as $exception |
	drops_below($kernel) as $below |
	$seen.ledger | (.measured + .bypassed + .unmatched) as $packets |
	(.rejected_skbs + .dropped_skbs - ($seen.counters | .rejected_inactive +
		.purged_skbs + .stolen_skbs + .parts_refused)) as $drops |
	(if $packets != $kernel.packets then
		"packets: traced \($packets), kernel \($kernel.packets)" else empty end),
	(if $drops != $kernel.drops then "drops: traced \($drops), kernel \($kernel.drops)"
		else empty end),
	(if $exception != "requeues-reorder" and .requeued != $kernel.requeues then
		"requeues: traced \(.requeued), kernel \($kernel.requeues)" else empty end),
	(if $exception == "requeues-reorder" and ($kernel.requeues == 0 or .requeued > 0) then
		"reordered: requeues traced \(.requeued), kernel \($kernel.requeues)"
		else empty end),
	(if $seen.agrees != "yes" then "agrees \($seen.agrees): \($seen.why)" else empty end);

def sojourn_problems($seen):
	$seen.sojourn_ns as $sojourn |
	(if $sojourn.count != ($seen.ledger | .measured + .bypassed) then
		"sojourns of \($sojourn.count) packets" else empty end),
	(if $sojourn.min > $sojourn.p50 or $sojourn.p50 > $sojourn.max or $sojourn.sum < 0 then
		"sojourns out of order" else empty end);

# The time of each packet in a qdisc is its time there and in no child, and its time in the
# child that handed it up: all were handed on by now.
def exclusive_problems($kernel; $seen; $document):
	[$document.qdiscs[] | select(.traced and .netns == $kernel.netns and
		.ifname == $kernel.dev and .parent != "root" and
		(.parent | sub(":.*"; ":")) == $kernel.handle)] as $below |
	([$below[].sojourn_ns.sum] | add // 0) as $sum |
	(if $seen.sojourn_ns.sum != $seen.part_ns.sum + $sum then
		"inclusive \($seen.sojourn_ns.sum) ns, exclusive \($seen.part_ns.sum) and" +
		" below \($sum)" else empty end),
	(if $seen.counters.exclusive_misses > 0 then
		"\($seen.counters.exclusive_misses) skbs without exclusive time" else empty end);

def qdisc_problems($tree; $kernel; $tier; $document):
	traced_as($document; $kernel) as $seen |
	if $kernel.packets + $kernel.drops == 0 then
		if $seen.traced and $seen.ledger.offered > 0 then
			"was offered \($seen.ledger.offered) packets, the kernel counted none"
		else empty end
	elif ($seen.traced | not) then "not traced, the kernel counted \($kernel.packets) packets"
	else
		ledger_problems($seen; $tier), counter_problems($tree; $kernel; $seen),
		sojourn_problems($seen),
		if $tier == "functions" and $seen.is_parent then
			exclusive_problems($kernel; $seen; $document)
		else empty end
	end | "\(name($kernel)): \(.)";

# What the traffic was to bring about.
def traffic_problems($tree; $kernel):
	(if ($kernel | length) == 0 then "no qdisc at all" else empty end),
	($tree.facts[] as $fact |
		([$kernel[] | select(.dev == $fact.dev and .handle == $fact.handle)][0] //
			{packets: 0, drops: 0, requeues: 0, dev: $fact.dev, kind: "?",
			handle: $fact.handle}) |
		if $fact.is == "child" then
			if any($kernel[]; .dev == $fact.dev and .parent == $fact.handle and
				.packets > 0) then empty
			else "\($fact.dev): no packets came below \($fact.handle)" end
		elif $fact.is == "drops" and .drops == 0 then "\(name(.)) dropped nothing"
		elif $fact.is == "requeues" and .requeues == 0 then
			"\(name(.)): nothing came back"
		elif $fact.is == "idle" and .packets > 0 then
			"\(name(.)): \(.packets) packets came"
		elif $fact.is == "qdisc" and .packets == 0 and .kind != "?" and
			([$tree.facts[] | select(.is == "idle" and .dev == $fact.dev and
				.handle == $fact.handle)] == []) then
			"\(name(.)): no packets came"
		else empty end);

# What is known to be wrong, on which kernels, and why (known_failures.json): told as it is in the
# table, but a failure of the test only where it is not known.
def known($name; $tier; $problems): first($known[0][] | . as $one |
	select($one.tier == $tier and ($release | test($one.kernel)) and ($name | test($one.tree)) and
		all($problems[]; test($one.problem))) | .why) // null;

# ---- one tree in one tier ----

def blind($tree; $tier; $kernel): $tier == "tracepoints" and
	(fact($tree; "blind"; $kernel) != null or (is_root($kernel) | not));

def tree_problems($tree; $kernel; $tier; $document):
	[traffic_problems($tree; $kernel),
	($kernel[] | select(blind($tree; $tier; .) | not) |
		qdisc_problems($tree; .; $tier; $document))];

def summary($kernel; $tier):
	($kernel | map(select(.packets > 0))) as $moved |
	"\($moved | length) qdiscs, packets \($moved | map(.packets) | add // 0)," +
	" drops \($moved | map(.drops) | add // 0), requeues \($moved | map(.requeues) | add // 0)";

def result($tree; $tier; $document):
	kernel_of($tree) as $kernel |
	tree_problems($tree; $kernel; $tier; $document) as $problems |
	([$kernel[] | select(blind($tree; $tier; .) | not)] | length) as $told |
	(($tree.facts | map(select(.is == "blind") | .why) | first) //
		"no root qdisc") as $why |
	if $tier == "tracepoints" and $told == 0 then
		"skipped - \($tree.name), \($tier): \($why)", "row \($tree.name) \($tier) skip \($why)"
	elif $problems == [] then
		"ok - \($tree.name), \($tier): \(summary($kernel; $tier))",
		"row \($tree.name) \($tier) ok \($told) qdiscs"
	else
		if known($tree.name; $tier; $problems) == null then
			"FAILED - \($tree.name), \($tier): \($problems | join("; "))"
		else
			"skipped - \($tree.name), \($tier): known to fail: \(known($tree.name; $tier; $problems)): " +
			"\($problems | join("; "))"
		end,
		"row \($tree.name) \($tier) fail \($problems[0])"
	end;

# ---- both tiers ----

# Hooks of one tier run between those of the other: some 10 us each on a slow machine, whose
# CPUs may moreover be stopped anywhere for as long as others have their turn. That moves
# single packets, those of one hand-out at most: by rank, 1 % of all is more than that.
def hooks_ns: 100000;
def stopped_ns: 20000000;
def stopped_sum_ns: 1000000000;

def differs($a; $b; $part; $ns): ($a - $b | fabs) > ([([$a, $b] | max) * $part, $ns] | max);

def difference($one; $other; $name; $part; $ns):
	if differs($one.sojourn_ns[$name]; $other.sojourn_ns[$name]; $part; $ns) then
		"\($name) \($one.sojourn_ns[$name]) and \($other.sojourn_ns[$name]) ns"
	else empty end;

# A quantile lies between those 1 % of all packets before and behind it. A bucket of a
# histogram is 3 % wide.
def rank($one; $other; $low; $name; $high):
	$one.sojourn_ns[$name] as $value |
	if $value < $other.sojourn_ns[$low] * 0.96 - hooks_ns or
		$value > $other.sojourn_ns[$high] * 1.04 + hooks_ns then
		"\($name) \($value) and \($other.sojourn_ns[$name]) ns"
	else empty end;

def dropped: .rejected + .dropped_inside;

# Not whether what was dropped had been queued: of an skb that is dropped within the call that
# enqueued it, or on another CPU, the events of one tier tell less.
def counts_to_agree: ["offered", "measured", "bypassed"];

def agreement_problems($one; $other):
	(counts_to_agree[] | select($one.ledger[.] != $other.ledger[.]) |
		"\(.) \($one.ledger[.]) and \($other.ledger[.])"),
	(if ($one.ledger | dropped) != ($other.ledger | dropped) then
		"drops \($one.ledger | dropped) and \($other.ledger | dropped)" else empty end),
	rank($one; $other; "p49"; "p50"; "p51"),
	rank($one; $other; "p98"; "p99"; "max"),
	difference($one; $other; "mean"; 0.01;
		[hooks_ns, stopped_sum_ns / ([$one.sojourn_ns.count, 1] | max)] | max),
	difference($one; $other; "max"; 0.01; stopped_ns);

def agreement($tree; $functions; $tracepoints):
	[kernel_of($tree)[] | select(.packets > 0 and
		(blind($tree; "tracepoints"; .) | not)) | . as $kernel |
		traced_as($functions; $kernel) as $one |
		traced_as($tracepoints; $kernel) as $other |
		select($one.traced and $other.traced) |
		{name: name($kernel), problems: [agreement_problems($one; $other)]}] |
	map(select(.problems != []) | "\(.name): \(.problems | join(", "))") as $problems |
	if length == 0 then empty
	elif $problems == [] then "ok - \($tree.name): the tiers agree about \(length) roots"
	elif [tree_problems($tree; kernel_of($tree); "functions"; $functions),
		tree_problems($tree; kernel_of($tree); "tracepoints"; $tracepoints)] | any(.[]; . != []) then
		"skipped - \($tree.name): the tiers differ where one of them fails: \($problems | join("; "))"
	else "FAILED - \($tree.name): the tiers differ: \($problems | join("; "))" end;

# What a tier cannot know of some qdiscs is no loss.
def losses($tier; $document):
	([$trees[] | . as $tree | kernel_of($tree)[] | select(is_root(.) and blind($tree; $tier; .)) |
		traced_as($document; .) | select(.traced) | .ledger.unmatched] | add // 0) as $blind |
	($document.losses | .unmatched -= $blind |
		if .stale <= $blind then .stale = 0 else . end |
		if $tier == "tracepoints" then .flow_misses = 0 else . end | to_entries |
		map(select(.value != 0) | "\(.key) \(.value)")) as $lost |
	if $lost == [] then "ok - \($tier): no losses"
	elif known("losses"; $tier; $lost) != null then
		"skipped - \($tier): losses known of: \(known("losses"; $tier; $lost)): \($lost | join(", "))"
	else "FAILED - \($tier): losses: \($lost | join(", "))" end;

{functions: $functions[0], tracepoints: $tracepoints[0]} as $documents |
($tiers[] as $tier | losses($tier; $documents[$tier]),
	($trees[] | result(.; $tier; $documents[$tier]))),
(select($tiers | length == 2) | $trees[] |
	agreement(.; $documents.functions; $documents.tracepoints))
