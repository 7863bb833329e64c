#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# More packets waiting than the tracer has room for: what it forgets is counted, and
# what it does not forget is right. And queues whose times are known beforehand.
source "$(dirname "$0")/../lib.sh"

SEGMENTS_MAY_MISS=1
use_one_cpu

# fresh_pair 4|6 TBF OPTIONS
fresh_pair() {
	remove_netns "${prefix}a"
	remove_netns "${prefix}b"
	make_pair 1
	[[ $1 == 6 ]] && ipv6_on a
	[[ $1 == 6 ]] && in_netns a ip addr add 2001:db8:9::1/64 dev eth0 nodad
	[[ $1 == 6 ]] && in_netns a ip neigh add 2001:db8:9::2 lladdr 02:00:00:00:00:02 \
		nud permanent dev eth0
	in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0
	shift
	in_netns a tc qdisc add dev eth0 root handle 10: tbf "$@"
}

# check_explained TEXT NAME: whatever is unaccounted for was handed out unmatched
check_explained() {
	print_ledger "$2" eth0
	jq -c '"  losses \(.losses)"' -r "$work/$2.json"
	check_jq "$1: what is forgotten is counted" "$work/$2.json" '
		.losses as $losses | [.qdiscs[] | select(.ifname == "eth0" and .traced)][0] |
		.agrees == "yes" and .ledger.queued == 0 and
		.ledger.unaccounted == .ledger.unmatched and
		.ledger.unmatched <= $losses.slot_overwrites + .ledger.flow_misses'
}

# Little: the sum of the sojourns times the packets' size is the integral of the backlog.
check_little() {
	check_jq "$1: sojourns and backlog tell the same" "$work/$2.json" '
		[.qdiscs[] | select(.ifname == "eth0" and .traced)][0] |
		(.sojourn_ns.sum / 1e9 * $size) as $sojourns |
		($sojourns - .backlog_byte_seconds | fabs) < $sojourns * 0.01' \
		--argjson size "$3"
}

# 100,000 packets of 64 bytes at once, then let go.
many_packets() {
	fresh_pair 4 rate 1mbit burst 16kb limit 6400000
	window_start packets --netns a
	for port in 20000 21000; do
		in_netns a "$programs/flood" --udp 10.9.0.2 --seconds 0.7 --size 22 \
			--port $port >/dev/null
	done
	in_netns a tc qdisc change dev eth0 root handle 10: tbf rate 1gbit burst 16kb limit 6400000
	sleep 1
	window_stop packets
}
repeat_unseen packets many_packets
check_explained "many packets waiting" packets
check_jq "many packets waiting: there were 100,000" "$work/packets.json" \
	'.qdiscs[] | select(.ifname == "eth0" and .traced) | .backlog_packets_max > 99000'
check_jq "many packets waiting: at most 5 % forgotten" "$work/packets.json" '.qdiscs[] |
	select(.ifname == "eth0" and .traced) | .ledger.unmatched < 5000'

# 4000 skbs of one flow cut in two. All are sent within the first tenth of the time
# that it takes to drain them, so each packet's time follows from its place alone.
deep_flow() {
	fresh_pair "$2" rate 32mbit burst 1700 limit 64mb
	window_start flow --netns a
	in_netns a "$programs/udp_gso_flows" "$1" 1 1 4000 2 1200 >/dev/null
	sleep 2.5
	window_stop flow
}
for family in 4 6; do
	[[ $family == 6 ]] && address=2001:db8:9::2 || address=10.9.0.2
	repeat_unseen flow deep_flow "$address" "$family"
	check_explained "a flow of 8000 segments waiting, to $address" flow
	check_losses "a flow of 8000 segments waiting, to $address" flow
	# The last ones came when the first had gone, and waited for all the rest.
	check_jq "a flow of 8000 segments waiting, to $address: no wrong match" \
		"$work/flow.json" '[.qdiscs[] | select(.ifname == "eth0" and .traced)][0] |
		.sojourn_ns.p99 > 0.8e9'
done

# Many flows, 2 GSO skbs each.
many_flows() {
	local flows=$1

	fresh_pair 4 rate 1gbit burst 16kb limit 64mb
	window_start flows --netns a
	in_netns a "$programs/udp_gso_flows" 10.9.0.2 "$flows" 1 $((2 * flows)) 32 1200 >/dev/null
	sleep 0.6
	window_stop flows
}
repeat_unseen flows many_flows 600
check_ledger "600 flows of UDP GSO" flows eth0
check_losses "600 flows of UDP GSO" flows
check_flow_misses "600 flows of UDP GSO" flows eth0

# One skb of 50 segments of 1242 bytes, offered in one moment, at 8 Mbit/s: the n-th
# waits (n - 1) * 1.242 ms, less what the bucket of 1500 bytes lends it.
known() {
	fresh_pair 4 rate 8mbit burst 1500 limit 1mb
	window_start known --netns a
	in_netns a "$programs/udp_gso" 10.9.0.2 1 50 1200 0 >/dev/null
	sleep 0.3
	window_stop known
}
repeat_unseen known known
check_explained "a queue of known times" known
check_little "a queue of known times" known 1242
# A timer may be late, and the next packets then make up for it; 2 ms for that, and
# the width of a bucket of the histogram.
check_jq "a queue of known times: sojourns as they can be worked out" "$work/known.json" '
	def near($n): (($n - 1) * 1242e3) as $due | . > $due * 0.984 - 2e6 and . < $due * 1.016 + 2e6;
	[.qdiscs[] | select(.ifname == "eth0" and .traced)][0].sojourn_ns |
	.count == 50 and (.p50 | near(25)) and (.p90 | near(45)) and (.max | near(50)) and
	(.mean | near(25.5))'
