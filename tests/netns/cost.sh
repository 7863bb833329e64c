#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A guard, not a benchmark (tools/bench is): the time in the tracer's own programs for each
# packet against that of empty programs on the same hooks, in turns on one CPU. Far above
# what tools/bench measures, and far below what a look-up too many for each packet or a
# program that is no longer left early would make of it.
source "$(dirname "$0")/../lib.sh"

rounds=5
seconds=0.5
most_hot=4		# times the empty programs
most_events=6		# the same, every packet told

make_netns a
if ! in_netns a ip link add ifb0 type ifb 2>/dev/null; then
	skip "the kernel has no ifb devices"
	exit 0
fi
in_netns a ip link set ifb0 up
in_netns a tc qdisc add dev ifb0 root handle 10: htb

# start NAME COMMAND...: until release NAME
start() {
	hold "$@" && return
	fail "$1 did not start: $(tail -n 3 "$work/$1.err")"
	exit 1
}

# ns_per_packet PID: in the programs of that process, while a flood goes through the qdisc
ns_per_packet() {
	local before after sent

	before=$("$programs/prog_stats" "$1" | jq '[.programs[].run_time_ns] | add')
	sent=$(in_netns a taskset -c 0 "$programs/flood" --device ifb0 --seconds $seconds |
		jq .sent)
	after=$("$programs/prog_stats" "$1" | jq '[.programs[].run_time_ns] | add')
	jq -n "($after - $before) / $sent"
}

median() {
	sort -n | sed -n "$(((rounds + 1) / 2))p"
}

# compare TEXT MOST [window options]
compare() {
	local text=$1 most=$2 round hooks own empty

	shift 2
	: >"$work/ratios"
	for ((round = 0; round < rounds; round++)); do
		start tracer "$programs/window" --netns "${prefix}a" "$@"
		mapfile -t hooks < <("$programs/prog_stats" "${held_pid[tracer]}" |
			jq -r '.programs[] | select(.how != "") | "\(.how)/\(.hook)"')
		own=$(ns_per_packet "${held_pid[tracer]}")
		release tracer
		start empty "$programs/bench_hooks" "$programs/bench/empty.bpf.o" "${hooks[@]}"
		empty=$(ns_per_packet "${held_pid[empty]}")
		release empty
		printf "  own %.1f ns/packet, empty %.1f at %d hooks\n" "$own" "$empty" \
			"${#hooks[@]}"
		jq -n "$own / $empty" >>"$work/ratios"
	done
	median <"$work/ratios" >"$work/ratio"
	check_jq "$text: $(cut -c1-4 "$work/ratio") times the empty programs, at most $most" \
		"$work/ratio" ". > 1 and . <= $most"
}

start stats "$programs/prog_stats" --hold
compare "histograms" $most_hot
compare "every packet told" $most_events --packets
release stats
