#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the functions tier costs: the time in the tracer's own programs for each packet, beside
# empty programs on the very same hooks, by trampolines and by kprobes, through trees of
# one, two and three levels. Both are attached at once and counted apart, so that they
# see the same packets at the same time: an emulated machine is stopped now and then. Its
# nanoseconds are not those of a real one; ratios come close. Needs make bench-programs.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

rounds=9
seconds=0.2
most=10			# times the empty programs
kprobes=/sys/kernel/debug/kprobes/list
empty=$programs/bench/empty.bpf.o

# A device for each depth, which takes every packet: none waits for long, none is dropped.
make_trees() {
	local depth

	make_netns a
	for depth in 1 2 3; do
		in_netns a ip link add "d$depth" type dummy
		in_netns a ip link set "d$depth" up
		in_netns a tc qdisc add dev "d$depth" root handle 1: htb default 1
	done
	for depth in 2 3; do
		in_netns a tc class add dev "d$depth" parent 1: classid 1:1 htb rate 10gbit \
			burst 1mb cburst 1mb quantum 15000
	done
	in_netns a tc qdisc add dev d2 parent 1:1 handle 2: fq_codel
	in_netns a tc qdisc add dev d3 parent 1:1 handle 2: prio
	# where priority 0 goes
	in_netns a tc qdisc add dev d3 parent 2:2 handle 3: fq_codel
}

# start NAME COMMAND...: until end NAME
start() {
	hold "$@" && return
	fail "$way: $1 did not start: $(tail -n 3 "$work/$1.err")"
	exit 1
}

end() {
	local status=0

	release "$1" || status=$?
	check "$way: $1 ends well $(tail -n 1 "$work/$1.err" | grep -v "^ready")" \
		[ "$status" -eq 0 ]
}

# Trampolines and tracepoints by the descriptors of their links, probes as the kernel lists them.
hooks_of_tracer() {
	"$programs/prog_stats" "${held_pid[tracer]}" |
		jq -r '.programs[] | select(.how != "") | "\(.how)/\(.hook)"'
	awk '{ sub(/\+.*/, "", $3); print ($2 == "r" ? "kretprobe/" : "kprobe/") $3 }' "$kprobes"
}

# look: what the kernel has counted of both up to now, one line more of each
look() {
	"$programs/prog_stats" "${held_pid[tracer]}" >>"$work/own"
	"$programs/prog_stats" "${held_pid[empty]}" >>"$work/empty"
}

# Rounds through every depth in turn, each between two looks.
take_turns() {
	local round depth

	rm -f "$work"/{own,empty,floods}
	look
	for ((round = 0; round < rounds; round++)); do
		for depth in 1 2 3; do
			in_netns a taskset -c 0 "$programs/flood" --device "d$depth" \
				--seconds $seconds >>"$work/floods" || fail "$way: flood failed"
			look
		done
	done
}

# Figures of a depth in ns: what one run takes at a hook, and the sum of those over all runs that
# a packet causes. The lower quartile of the rounds: the host stops the machine now and then,
# and one stop is more than a hook runs for in a whole round.
summarize() {
	jq -n --argjson depth "$1" --slurpfile own "$work/own" --slurpfile empty "$work/empty" \
		--slurpfile floods "$work/floods" '
		def quartile: sort | .[length / 4 | floor];
		def total($what): map(.[$what]) | add;
		def round_at($i): (.[$i].programs | map({key: "\(.id)", value: .}) | from_entries)
			as $was | .[$i + 1].programs | map($was["\(.id)"] as $old | {
				what: (if .hook == "" then .name else "\(.how) \(.hook)" end),
				runs: (.run_cnt - $old.run_cnt),
				ns: (.run_time_ns - $old.run_time_ns)}) |
			group_by(.what) | map({what: .[0].what, sent: $floods[$i].sent,
				runs: total("runs"), ns: total("ns")});
		def hooks: [[range($depth - 1; $floods | length; 3) as $i | round_at($i)[] |
				select(.runs > 0 and .runs >= .sent / 10)] | group_by(.what)[] |
			{what: .[0].what, count: total("runs"), runs: (total("runs") / total("sent")),
			 ns: (map(.ns / .runs) | quartile)}];
		def of_packet: map(.runs * .ns) | add;
		{packets: ([range($depth - 1; $floods | length; 3) as $i | $floods[$i].sent] | add),
		 hooks: ($own | hooks), empty_hooks: ($empty | hooks)} |
		.own = (.hooks | of_packet) | .empty = (.empty_hooks | of_packet) |
		.ratio = .own / .empty' >"$work/figures"
}

print_figures() {
	jq -r --arg text "$1" '
		def short: . * 100 | round / 100;
		"  \($text): own \(.own | round) ns/packet, empty \(.empty | round)," +
		" ratio \(.ratio | short), \(.packets) packets",
		(.hooks[] | "    \(.what): \(.runs | short) runs/packet of \(.ns | round) ns")' \
		"$work/figures"
}

# check_seen DEPTH: what it costs is what it does: each qdisc on the way measured every packet.
check_seen() {
	local levels=$1

	[[ $way == tracepoints ]] && levels=1
	check_jq "$way, depth $1: $levels qdiscs measured every packet" "$work/tracer.json" '
		[.qdiscs[] | select(.ifname == $device and .traced and .ledger.offered > 0 and
			($levels > 1 or .root))] |
		length == $levels and all(.[]; .agrees == "yes" and .ledger.unaccounted == 0 and
			.ledger.measured == .ledger.offered and .ledger.offered >= $packets)' \
		--arg device "d$1" --argjson levels "$levels" --argjson packets "${packets[$1]}"
}

# measure WAY [window options]
measure() {
	local depth hooks packets=()

	way=$1
	shift
	start tracer "$programs/window" --netns "${prefix}a" "$@"
	mapfile -t hooks < <(hooks_of_tracer)
	start empty "$programs/bench_hooks" "$empty" "${hooks[@]}"
	take_turns
	for depth in 1 2 3; do
		summarize $depth
		packets[depth]=$(jq .packets "$work/figures")
		print_figures "$way, depth $depth"
		check_jq "$way, depth $depth: as many runs of the empty programs" "$work/figures" \
			'(.hooks | map(.count) | add) == (.empty_hooks | map(.count) | add)'
		check_jq "$way, depth $depth: between 1 and $most times the empty programs" \
			"$work/figures" ".ratio > 1 and .ratio <= $most"
	done
	end empty
	end tracer
	for depth in 1 2 3; do
		check_seen $depth
	done
}

if [[ ! -x $programs/bench_hooks || ! -s $empty ]]; then
	fail "no bench_hooks or no $empty: run make bench-programs"
	exit
fi
make_trees
way=statistics
start stats "$programs/prog_stats" --hold
measure tracepoints --tier tracepoints
if [[ -e /sys/kernel/btf/sch_htb ]]; then
	measure fentry --tier functions
else
	skip "fentry: no BTF of modules"
fi
measure kprobe --tier functions --only-kprobes
way=statistics
end stats
