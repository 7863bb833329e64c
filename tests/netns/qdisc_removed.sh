#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Qdiscs, devices and network namespaces that go while packets wait in them: no
# packet is left without an account, and the one that comes after at the same
# address is not taken for it.
source "$(dirname "$0")/../lib.sh"

use_one_cpu
slow=(tbf rate 1mbit burst 16kb limit 1mb)

# Fill the queue behind eth0 of namespace a, and leave it filled.
fill() {
	in_netns a "$programs/flood" --udp 10.9.0.2 --seconds 0.3 --size 1000 >/dev/null
}

# Every qdisc on eth0 that was seen: nothing unaccounted, and where the kernel's
# counters could still be had they agree.
check_explained() {
	local text=$1 name=$2

	print_ledger "$name" eth0
	check_jq "$text: every packet is accounted for" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .root and .traced)] |
		length > 0 and all(.[]; .ledger.unaccounted == 0 and .ledger.unmatched == 0 and
			.agrees != "no" and (.agrees == "yes" or .why != ""))'
	check_jq "$text: packets that waited were freed" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .traced and .destroyed)] |
		length > 0 and (map(.ledger.dropped_inside) | add) > 100 and
		all(.[]; .ledger.queued == 0)'
	check_jq "$text: their wait is a histogram of its own" "$work/$name.json" '
		all(.qdiscs[] | select(.traced);
			.wait_before_drop_ns.count == .ledger.dropped_inside and
			.sojourn_ns.count == .ledger.measured + .ledger.bypassed)'
	check_losses "$text" "$name"
}

fresh_pair() {
	remove_netns "${prefix}a"
	remove_netns "${prefix}b"
	make_pair 1
	in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0
	in_netns a tc qdisc add dev eth0 root handle 10: "${slow[@]}"
}

# Each of these opens a window on a new pair and closes it after something went away.
deleted() {
	fresh_pair
	window_start deleted --netns a
	fill
	in_netns a tc qdisc del dev eth0 root
	fill
	window_stop deleted
}

replaced() {
	local kind

	fresh_pair
	window_start replaced --netns a
	for kind in bfifo pfifo; do
		fill
		in_netns a tc qdisc replace dev eth0 root handle 20: $kind limit 1000
		fill
		in_netns a tc qdisc replace dev eth0 root handle 10: "${slow[@]}"
	done
	fill
	in_netns a tc qdisc del dev eth0 root
	window_stop replaced
}

# tbf gives its child's packets back before it takes the new limit.
changed() {
	fresh_pair
	window_start changed --netns a
	fill
	in_netns a tc qdisc change dev eth0 root handle 10: tbf rate 50mbit burst 16kb limit 10kb
	fill
	window_stop changed
}

down() {
	fresh_pair
	window_start down --netns a
	fill
	in_netns a ip link set eth0 down
	in_netns a ip link set eth0 up
	in_netns a tc qdisc del dev eth0 root 2>/dev/null
	window_stop down
}

device() {
	fresh_pair
	window_start device --netns a
	fill
	in_netns a ip link del eth0
	window_stop device
}

# The window's descriptor keeps the namespace; what it holds goes with its devices.
netns() {
	fresh_pair
	window_start netns --netns a
	fill
	in_netns b ip link del eth0
	remove_netns "${prefix}a"
	window_stop netns
}

repeat_unseen deleted deleted && check_explained "qdisc deleted" deleted
repeat_unseen replaced replaced && check_explained "qdisc replaced five times" replaced
repeat_unseen changed changed && check_ledger "qdisc changed with packets in it" changed eth0
repeat_unseen down down && check_explained "device taken down" down
repeat_unseen device device && check_explained "device removed" device
repeat_unseen netns netns && check_explained "namespace removed" netns
