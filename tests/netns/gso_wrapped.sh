#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GSO skbs whose segments look different from themselves: more than 64 KB (the jumbo
# option goes), and inside a tunnel with and without checksum offload.
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

traffic() {
	window_start "$1" --netns a --device eth0
	iperf3_run a b "$2" -t 2 -C cubic || fail "$1: iperf3: $(jq -r .error "$work/iperf3.json")"
	window_stop "$1"
}

# one TEXT NAME ADDRESS
one() {
	repeat_unseen "$2" traffic "$2" "$3" || return
	check_ledger "$1" "$2" eth0
	check_losses "$1" "$2"
	check_flow_misses "$1" "$2" eth0
}

make_pair 1
ipv6_on a b
in_netns a ip addr add 2001:db8:9::1/64 dev eth0 nodad
in_netns b ip addr add 2001:db8:9::2/64 dev eth0 nodad

if in_netns a ip link set dev eth0 gso_max_size 180000 2>/dev/null; then
	in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 1gbit burst 16kb limit 4mb
	one "IPv6, GSO skbs of up to 180000 bytes" big 2001:db8:9::2
	in_netns a tc qdisc del dev eth0 root
	in_netns a ip link set dev eth0 gso_max_size 65536
else
	skip "GSO skbs of more than 64 KB: ip or the kernel cannot set gso_max_size"
fi

in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 200mbit burst 16kb limit 200kb
if in_netns a ip link add vx0 type vxlan id 7 local 10.9.0.1 remote 10.9.0.2 dstport 4789 \
	dev eth0 2>"$work/vxlan.err"; then
	in_netns b ip link add vx0 type vxlan id 7 local 10.9.0.2 remote 10.9.0.1 \
		dstport 4789 dev eth0
	in_netns a ip addr add 10.9.7.1/24 dev vx0
	in_netns b ip addr add 10.9.7.2/24 dev vx0
	in_netns a ip link set vx0 up
	in_netns b ip link set vx0 up
	one "VXLAN" vxlan 10.9.7.2
	in_netns a ethtool -K eth0 tx-checksum-ip-generic off >/dev/null 2>&1
	one "VXLAN without checksum offload" vxlan-checksum 10.9.7.2
else
	skip "VXLAN: this kernel has it not: $(head -n 1 "$work/vxlan.err")"
fi
