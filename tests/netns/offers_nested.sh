#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A full qdisc on top of another device. The sender whose packet finds no room hands
# out an older one before its own is freed, and that one is offered to the lower
# device in between, on the same CPU: it is a rejected packet all the same.
source "$(dirname "$0")/../lib.sh"

cpus=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*[-,]/ /; s/[-,]/ /')
read -ra cpus <<<"$cpus $cpus"

# senders NAME: two senders through mac0, each on a CPU of its own
senders() {
	local number pids=()

	window_start "$1" --netns a
	for number in 0 1; do
		in_netns a taskset -c "${cpus[number]}" "$programs/flood" --udp 10.9.5.2 \
			--seconds 2 --size 22 --port $((20000 + 1000 * number)) >/dev/null &
		pids+=("$!")
	done
	wait "${pids[@]}"
	window_stop "$1"
}

# one NAME QDISC [options]
one() {
	local name=$1

	shift
	in_netns a tc qdisc del dev mac0 root 2>/dev/null
	in_netns a tc qdisc add dev mac0 root handle 10: "$@" || return
	repeat_unseen "$name" senders "$name" || return
	check_ledger "$name on mac0" "$name" mac0
	check_losses "$name on mac0" "$name"
	# A queue that takes the packet or refuses it, and never changes its mind.
	check_jq "$name on mac0: what was refused did not wait" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == "mac0" and .traced)][0] |
		.ledger.dropped_inside == 0 and .wait_before_drop_ns.count == 0'
	check_jq "$name on mac0: no more packets waited than the queue holds" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == "mac0" and .traced)][0] |
		.backlog_packets_max <= 10 + $senders' --argjson senders 2
}

make_pair 1
if ! in_netns a ip link add mac0 link eth0 type macvlan mode bridge 2>"$work/macvlan.err"; then
	skip "everything in this file: no macvlan: $(head -n 1 "$work/macvlan.err")"
	exit 0
fi
in_netns a ip link set mac0 txqueuelen 10 up
in_netns a ip addr add 10.9.5.1/24 dev mac0
in_netns a ip neigh add 10.9.5.2 lladdr 02:00:00:00:00:02 nud permanent dev mac0

one pfifo_fast pfifo_fast
one pfifo pfifo limit 10
# Below a slow device the upper queue is full most of the time.
in_netns a tc qdisc add dev eth0 root handle 20: tbf rate 50mbit burst 16kb limit 20kb
one pfifo-over-tbf pfifo limit 10
check_ledger "tbf below" pfifo-over-tbf eth0
