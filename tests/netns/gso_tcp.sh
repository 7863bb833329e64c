#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two TCP streams through tbf at 1 Gbit/s, which segments their GSO skbs: sent
# locally, and forwarded after GRO. IPv4 and IPv6.
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

# streams NAME NETNS DEVICE CLIENT SERVER ADDRESS: one window
streams() {
	window_start "$1" --netns "$2" --device "$3"
	iperf3_run "$4" "$5" "$6" -P 2 -t "${STREAM_SECONDS:-5}" ||
		fail "$1: iperf3: $(jq -r .error "$work/iperf3.json")"
	window_stop "$1"
}

# one TEXT NAME NETNS DEVICE CLIENT SERVER ADDRESS
one() {
	local text=$1 name=$2 device=$4

	shift
	repeat_unseen "$name" streams "$@" || return
	jq -r '"  delivered \(.end.sum_received.bits_per_second / 1e6 | floor) Mbit/s"' \
		"$work/iperf3.json"
	check_ledger "$text" "$name" "$device"
	check_losses "$text" "$name"
	check_flow_misses "$text" "$name" "$device"
}

# The same with a queue that holds not even one GSO skb: most of them lose segments.
few() {
	in_netns "$3" tc qdisc change dev "$4" root handle 10: tbf rate 1gbit burst 32kb limit 60kb
	STREAM_SECONDS=3 one "$@"
	check_jq "$1: some were dropped" "$work/$2.json" 'any(.qdiscs[]; .ledger.rejected > 1000)'
}

tbf=(tbf rate 1gbit burst 32kb latency 20ms)

make_router
ipv6_on client router server
in_netns router sysctl -qw net.ipv6.conf.all.forwarding=1
in_netns client ip addr add 2001:db8:91::10/64 dev eth0 nodad
in_netns router ip addr add 2001:db8:91::1/64 dev lan0 nodad
in_netns router ip addr add 2001:db8:92::1/64 dev wan0 nodad
in_netns server ip addr add 2001:db8:92::10/64 dev eth0 nodad
in_netns client ip route add default via 2001:db8:91::1
in_netns server ip route add default via 2001:db8:92::1
in_netns client ping -c 1 -W 2 10.9.2.10 >/dev/null || fail "the path over IPv4"
in_netns client ping -6 -c 3 -i 0.2 -W 2 2001:db8:92::10 >/dev/null || fail "the path over IPv6"

in_netns client tc qdisc add dev eth0 root handle 10: "${tbf[@]}"
one "sent locally" local client eth0 client server 10.9.2.10
one "sent locally, IPv6" local6 client eth0 client server 2001:db8:92::10
few "sent locally, with drops" local-drops client eth0 client server 10.9.2.10
in_netns client tc qdisc del dev eth0 root

in_netns router tc qdisc add dev wan0 root handle 10: "${tbf[@]}"
one "forwarded" forwarded router wan0 client server 10.9.2.10
for pair in "router lan0" "router wan0" "client eth0" "server eth0"; do
	read -r netns device <<<"$pair"
	in_netns "$netns" ethtool -K "$device" gro on ||
		skip "GRO on $device in $netns: ethtool could not set it"
done
one "forwarded with GRO" gro router wan0 client server 10.9.2.10
one "forwarded with GRO, IPv6" gro6 router wan0 client server 2001:db8:92::10
few "forwarded with GRO, with drops" gro-drops router wan0 client server 10.9.2.10
