#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# UDP datagrams kept together by UDP_SEGMENT through a tbf that has to segment
# them, IPv4 and IPv6, below its rate and above it (so that it drops some).
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

make_pair 1
ipv6_on a b
in_netns a ip addr add 2001:db8:9::1/64 dev eth0 nodad
in_netns b ip addr add 2001:db8:9::2/64 dev eth0 nodad
# A host without listeners answers with ICMP errors; they are not what is looked at.
for address in 10.9.0.2 2001:db8:9::2; do
	in_netns a ip neigh add $address lladdr 02:00:00:00:00:02 nud permanent dev eth0
done
in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 200mbit burst 16kb latency 20ms

# datagrams NAME ADDRESS PAUSE_US CALLS: one window
datagrams() {
	window_start "$1" --netns a --device eth0
	in_netns a "$programs/udp_gso" "$2" "$4" 32 1200 "$3" >"$work/udp_gso.json" ||
		fail "$1: udp_gso"
	window_stop "$1"
}

# one TEXT NAME ADDRESS PAUSE_US CALLS
one() {
	repeat_unseen "$2" datagrams "$2" "$3" "$4" "$5" || return
	check_ledger "$1" "$2" eth0
	check_losses "$1" "$2"
	check_flow_misses "$1" "$2" eth0
	check_jq "$1: as many packets offered as were sent" "$work/$2.json" \
		'([.qdiscs[] | select(.ifname == "eth0" and .root) | .ledger.offered] | add)
			>= $sent.packets' \
		--argjson sent "$(cat "$work/udp_gso.json")"
}

# The same where the queue is too small for what is sent.
one_with_drops() {
	one "$@"
	check_jq "$1: some were dropped" "$work/$2.json" 'any(.qdiscs[]; .ledger.rejected > 1000)'
}

one "UDP GSO over IPv4 below the rate" udp4 10.9.0.2 2000 1500
one "UDP GSO over IPv6 below the rate" udp6 2001:db8:9::2 2000 1500
# A socket lets no more than 200 kB wait: the queue has to be smaller to drop.
in_netns a tc qdisc replace dev eth0 root handle 10: tbf rate 200mbit burst 16kb limit 60kb
one_with_drops "UDP GSO over IPv4 above the rate" udp4-over 10.9.0.2 200 2000
one_with_drops "UDP GSO over IPv6 above the rate" udp6-over 2001:db8:9::2 200 2000
