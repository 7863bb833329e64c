#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Namespaces, devices and qdiscs that come and go by the hundred while qdiscs are followed: every
# packet of each is counted, records are given to others, nothing grows, and a flow beside them is
# counted as if nothing happened. CHURN_SECONDS=60 for longer (10).
source "$(dirname "$0")/../lib.sh"

seconds=${CHURN_SECONDS:-10}

# What live_rows says of itself, in its last line.
last_line() {
	grep '"rows":' "$work/$1.json" | tail -n 1 >"$work/last.json"
}

kernel_packets() {
	in_netns a tc -j -s qdisc show dev eth0 | jq '[.[] | select(.handle == "20:")][0].packets'
}

make_pair 1
in_netns a tc qdisc add dev eth0 root handle 20: pfifo
descriptors() {
	find "/proc/${held_pid[rows]}/fd" -mindepth 1 | wc -l
}

churn() {
	before=$(kernel_packets)
	hold rows "$programs/live_rows" 1000 || return
	descriptors_before=$(descriptors)
	in_netns a ping -q -i 0.005 -c $((seconds * 150)) 10.9.0.2 >"$work/ping" &
	ping=$!
	"$programs/churn" 100 "$seconds" 3 >"$work/churn.json" || fail "churn ends with $?"
	wait "$ping"
	after=$(kernel_packets)
	# Records are forgotten some seconds after their qdiscs are gone, which takes as long again.
	sleep 12
	ids=$(bpftool -j map show | jq -r --argjson pid "${held_pid[rows]}" '
		.[] | select(.name == "qdisc_ids" and any(.pids[]?; .pid == $pid)).id')
	descriptors_after=$(descriptors)
	ids_left=$(bpftool -j map dump id "$ids" | jq length)
	release rows
}
churn
last_line rows
cat "$work/churn.json" "$work/last.json"
jq -s --arg c c0 '[.[] | select(.device == $c).last] | add' "$work/rows.json" >"$work/counted.json"
check_jq "so many namespaces that what is kept of each would be seen" "$work/churn.json" \
	'.namespaces > 20 * .seconds'
check_jq "every packet in every one of them was counted" "$work/churn.json" '
	.frames == $counted[0]' --slurpfile counted "$work/counted.json"
check_jq "none found its table full, none was handed out unmatched" "$work/last.json" \
	'.records_full == 0 and .missing == 0 and .unmatched == 0'
check_jq "their records are free again" "$work/last.json" '.records < 50'
check "their addresses are forgotten too ($ids_left are left)" test "$ids_left" -lt 60
check "no descriptor stays open" test "$descriptors_after" -le "$descriptors_before"
jq -sc '[.[] | select(.rss_kb).rss_kb]' "$work/rows.json" >"$work/rss.json"
check_jq "memory does not grow with them" "$work/rss.json" '
	(.[-1] - .[(length / 2 | floor)]) < 1500'
jq -s '[.[] | select(.device == "eth0" and .handle == "20:" and (.gone | not))][-1].all' \
	"$work/rows.json" >"$work/steady.json"
check "the flow beside them: as many packets as the kernel counts" test \
	"$(cat "$work/steady.json")" -eq $((after - before))
check "and more than a thousand" test $((after - before)) -gt 1000
