#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Segments of GSO skbs that do not come out of the qdisc: refused one by one, or freed
# with the qdisc; and copies of them that a capture drops, which are no packets of
# the qdisc.
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

fresh_pair() {
	remove_netns "${prefix}a"
	remove_netns "${prefix}b"
	make_pair 1
	in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0
	in_netns a tc qdisc add dev eth0 root handle 10: tbf "$@"
}

# gone NAME COMMAND...: 320 segments, most of which wait when COMMAND ends the queue
gone() {
	local name=$1

	shift
	fresh_pair rate 1mbit burst 16kb limit 1mb
	window_start "$name" --netns a
	in_netns a "$programs/udp_gso" 10.9.0.2 10 32 1200 100 >/dev/null
	in_netns a "$@"
	sleep 0.1
	window_stop "$name"
}

# check_gone TEXT NAME
check_gone() {
	print_ledger "$2" eth0
	check_jq "$1: nothing waits any more" "$work/$2.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .kind == "tbf" and .traced).ledger][0] |
		.queued == 0 and .unaccounted == 0'
	check_jq "$1: the segments that waited were dropped inside" "$work/$2.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .kind == "tbf" and .traced)][0] |
		.ledger.dropped_inside == .ledger.offered - .ledger.measured and
		.ledger.dropped_inside > 20 and .ledger.rejected == 0 and
		.wait_before_drop_ns.count == .ledger.dropped_inside'
	check_jq "$1: the kernel agrees" "$work/$2.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .kind == "tbf" and .traced)][0] |
		.agrees == "yes"'
}

repeat_unseen deleted gone deleted tc qdisc del dev eth0 root
check_gone "qdisc deleted with segments in it" deleted
repeat_unseen down gone down ip link set eth0 down
check_gone "device taken down with segments in its qdisc" down
repeat_unseen removed gone removed ip link del eth0
check_gone "device removed with segments in its qdisc" removed

# Down and up again: the qdisc and its counters stay, what waited is gone.
flap() {
	fresh_pair rate 1mbit burst 16kb limit 1mb
	window_start flap --netns a
	in_netns a "$programs/flood" --udp 10.9.0.2 --seconds 0.3 --size 1000 >/dev/null
	in_netns a ip link set eth0 down
	in_netns a ip link set eth0 up
	window_stop flap
}
repeat_unseen flap flap
print_ledger flap eth0
check_jq "device down and up: what waited was dropped inside, and the kernel agrees" \
	"$work/flap.json" '[.qdiscs[] | select(.ifname == "eth0" and .traced)][0] |
	.agrees == "yes" and .ledger.dropped_inside > 500 and .ledger.queued == 0 and
	.ledger.unaccounted == 0'

# A queue that makes room for the new by dropping its oldest: what it hands out is young.
head_drop() {
	fresh_pair rate 10mbit burst 3kb limit 40kb
	in_netns a tc qdisc add dev eth0 parent 10:1 handle 11: pfifo_head_drop limit 20
	window_start head --netns a
	in_netns a "$programs/udp_gso" 10.9.0.2 300 20 1200 1000 >/dev/null
	sleep 0.1
	window_stop head
}
repeat_unseen head head_drop
check_ledger "oldest segments dropped" head eth0
# The last skb of 20 segments drains in 20 ms; all others were dropped within some 2 ms.
check_jq "oldest segments dropped: they waited, and what came out had not waited long" \
	"$work/head.json" '[.qdiscs[] | select(.ifname == "eth0" and .root and .traced)][0] |
	.ledger.rejected == 0 and .ledger.dropped_inside > 1000 and .sojourn_ns.p50 < 8e6'

# A capture that is too slow frees its copies of packets as dropped.
tapped() {
	local tap

	fresh_pair rate 200mbit burst 16kb limit 400kb
	rm -f "$work/tap.hold"
	mkfifo "$work/tap.hold"
	in_netns a "$programs/deaf_tap" eth0 <"$work/tap.hold" >"$work/tap" &
	tap=$!
	exec {tap_hold}>"$work/tap.hold"
	until grep -q ready "$work/tap"; do sleep 0.05; done
	window_start tapped --netns a
	in_netns a "$programs/udp_gso" 10.9.0.2 300 32 1200 1000 >/dev/null
	window_stop tapped
	exec {tap_hold}>&-
	wait "$tap"
	grep -q 'dropped":[1-9][0-9]' "$work/tap" || fail "the capture dropped nothing"
}
repeat_unseen tapped tapped
check_ledger "copies that a capture drops" tapped eth0
check_flow_misses "copies that a capture drops" tapped eth0

# A guest's frames: gso_segs is 0 until somebody cuts them.
guest() {
	fresh_pair rate 200mbit burst 16kb limit "$1"
	window_start guest --netns a
	in_netns a "$programs/vnet_gso" eth0 50 30 1400
	window_stop guest
}
for limit in 4mb 100kb; do
	repeat_unseen guest guest $limit
	check_ledger "a guest's GSO frames, limit $limit" guest eth0
	check_flow_misses "a guest's GSO frames, limit $limit" guest eth0
done

# TCP with a queue that is full again and again. Few flows and large skbs make the
# kernel use the same addresses again.
full() {
	window_start full --netns router --device wan0
	iperf3_run client server 10.9.2.10 -P 3 -t 3 -M "$1" -C cubic ||
		fail "iperf3: $(jq -r .error "$work/iperf3.json")"
	window_stop full
}
make_router
for pair in "router lan0" "router wan0" "client eth0" "server eth0"; do
	read -r netns device <<<"$pair"
	in_netns "$netns" ethtool -K "$device" gro on
done
in_netns router tc qdisc add dev wan0 root handle 10: tbf rate 200mbit burst 16kb limit 200kb
for mss in 536 1448; do
	repeat_unseen full full $mss
	check_ledger "forwarded TCP, MSS $mss, full queue" full wan0
	check_losses "forwarded TCP, MSS $mss, full queue" full
	check_jq "forwarded TCP, MSS $mss: segments were refused" "$work/full.json" \
		'.qdiscs[] | select(.ifname == "wan0" and .root) | .ledger.rejected > 20'
done

# Chained in frag_list as they came in: the first of the segments is the skb itself.
if in_netns router ethtool -K lan0 rx-gro-list on &&
	in_netns client ethtool -K eth0 tso off gso off; then
	repeat_unseen full full 1448
	check_ledger "forwarded TCP, GRO by fraglist" full wan0
	check_losses "forwarded TCP, GRO by fraglist" full
	check_flow_misses "forwarded TCP, GRO by fraglist" full wan0
else
	skip "GRO by fraglist: ethtool could not set it"
fi
