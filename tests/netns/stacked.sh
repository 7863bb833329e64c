#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The same skb through two qdiscs one after the other: a device on top of a shaped
# one, each with a root of its own. VLAN and macvlan.
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

# traffic NAME ADDRESS: one window
traffic() {
	window_start "$1" --netns a
	iperf3_run a b "$2" -t 3 || fail "$1: iperf3: $(jq -r .error "$work/iperf3.json")"
	window_stop "$1"
}

# one TEXT NAME DEVICE ADDRESS
one() {
	local text=$1 name=$2 device=$3

	in_netns a tc qdisc add dev "$device" root handle 20: htb || return
	repeat_unseen "$name" traffic "$name" "$4" || return
	for device in "$device" eth0; do
		check_ledger "$text, $device" "$name" "$device"
	done
	check_losses "$text" "$name"
	check_flow_misses "$text" "$name" eth0
	check_jq "$text: what left the upper qdisc came to the lower one" "$work/$name.json" '
		def of($device): [.qdiscs[] | select(.ifname == $device and .root).ledger][0];
		of($upper).measured > 1000 and of("eth0").offered >= of($upper).measured' \
		--arg upper "$3"
}

make_pair 1
in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 500mbit burst 32kb latency 20ms

if in_netns a ip link add link eth0 name eth0.7 type vlan id 7 2>"$work/vlan.err" &&
	in_netns b ip link add link eth0 name eth0.7 type vlan id 7 2>"$work/vlan.err"; then
	for host in a b; do
		in_netns $host ip link set eth0.7 up
	done
	in_netns a ip addr add 10.9.7.1/24 dev eth0.7
	in_netns b ip addr add 10.9.7.2/24 dev eth0.7
	one "VLAN over tbf" vlan eth0.7 10.9.7.2
	in_netns a ip link del eth0.7
else
	skip "VLAN over tbf: this kernel has no VLAN devices: $(head -n 1 "$work/vlan.err")"
fi

if in_netns a ip link add link eth0 name mac0 type macvlan mode bridge 2>"$work/macvlan.err"; then
	in_netns a ip link set mac0 up
	in_netns a ip addr add 10.9.8.1/24 dev mac0
	in_netns b ip addr add 10.9.8.2/24 dev eth0
	one "macvlan over tbf" macvlan mac0 10.9.8.2
else
	skip "macvlan over tbf: this kernel has none: $(head -n 1 "$work/macvlan.err")"
fi
