#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A driver that refuses packets: a veth whose peer polls slowly. The kernel's requeues
# are ours too, whole skbs and pieces that were cut for a device without GSO.
source "$(dirname "$0")/../lib.sh"

cpu=$(taskset -pc $$ | sed 's/.*[^0-9]//')

make_pair 1
in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0
# Only towards a receiver that polls has veth a ring that can be full, and only
# what has no use for TSO goes through it (drivers/net/veth.c, veth_skb_is_eligible_for_gro()).
in_netns a ethtool -K eth0 tso off >/dev/null 2>&1
if ! in_netns b ethtool -K eth0 gro on >/dev/null 2>&1 ||
	! in_netns b sh -c 'echo 1 >/sys/class/net/eth0/threaded'; then
	skip "everything in this file: the peer cannot be made to poll in a thread"
	exit 0
fi
sleep 0.2
# The poll thread of the device just made is the newest of that name.
poll=$(pgrep -n "^napi/eth0-") || fail "the peer polls in no thread"
renice 15 -p "$poll" >/dev/null
taskset -pc "$cpu" "$poll" >/dev/null
setpriv --pdeathsig KILL taskset -c "$cpu" bash -c 'while :; do :; done' &
background+=("$!")

# frames NAME / cut NAME: one window of traffic
frames() {
	local port pids=()

	window_start "$1" --netns a
	for port in 20000 21000; do
		in_netns a "$programs/flood" --device eth0 --seconds 1.5 --port $port >/dev/null &
		pids+=("$!")
	done
	wait "${pids[@]}"
	wait_empty a eth0
	window_stop "$1"
}

cut() {
	window_start "$1" --netns a
	in_netns a "$programs/udp_gso_flows" 10.9.0.2 4 1 500 30 1200 >/dev/null
	wait_empty a eth0
	window_stop "$1"
}

# one TEXT NAME TRAFFIC
one() {
	repeat_unseen "$2" "$3" "$2" || return
	check_ledger "$1" "$2" eth0
	check_losses "$1" "$2"
	check_jq "$1: there were requeues" "$work/$2.json" \
		'.qdiscs[] | select(.ifname == "eth0" and .traced) | .kernel.requeues > 0'
	check_jq "$1: no sojourn is longer than the window" "$work/$2.json" \
		'.window_ns as $window | .qdiscs[] | select(.ifname == "eth0" and .traced) |
		.sojourn_ns.max < $window and .sojourn_ns.count == .ledger.measured + .ledger.bypassed'
}

for kind in pfifo bfifo pfifo_head_drop htb pfifo_fast; do
	in_netns a tc qdisc del dev eth0 root 2>/dev/null
	in_netns a tc qdisc add dev eth0 root handle 10: $kind || continue
	in_netns a ethtool -K eth0 tx-udp-segmentation on >/dev/null 2>&1
	one "$kind, frames refused" "$kind" frames
	in_netns a ethtool -K eth0 tx-udp-segmentation off >/dev/null 2>&1
	one "$kind, pieces refused" "$kind-cut" cut
done
