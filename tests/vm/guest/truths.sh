#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Trees whose times are known beforehand: what netem delays, what a rate and a limit make
# of a queue, who of two is to blame. The functions tier must find these figures.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/trees.sh"

tiers=(functions)
ping_payload=56
window_options=(--probes "$ping_payload")

tree netem
qdisc eth0 root 10: netem delay 20ms limit 1000
send udp,to=@0.3,count=400,burst=4,pause=10000

# Bursts of 20 kB: tbf lets 10 kB through and takes 8 ms for the rest.
tree netem-tbf
qdisc eth0 root 10: netem delay 20ms limit 1000
qdisc eth0 10:1 20: tbf rate 10mbit burst 10kb limit 1mb
send udp,to=@0.3,count=800,size=1000,burst=20,pause=50000

# Pairs of packets: tbf has tokens for one of them, takes the other one from netem as well,
# and keeps it until it has the rest, 4.4 ms later.
tree tbf-netem
qdisc eth0 root 10: tbf rate 1mbit burst 1600 limit 1mb
qdisc eth0 10:1 20: netem delay 20ms limit 1000
send udp,to=@0.3,count=120,size=1000,burst=2,pause=50000

# Half as much again as its rate: it is full, and stays so.
tree fifo
qdisc eth0 root 10: tbf rate 10mbit burst 32kb latency 400ms
send udp,to=@0.3,count=5000,size=1000,burst=16,pause=8000

# A small burst: tbf would wait for the tokens of a large GSO skb as a whole.
tree fq_codel
qdisc eth0 root 10: tbf rate 10mbit burst 5kb latency 400ms
qdisc eth0 10:1 20: fq_codel
send tcp,to=@0.2,bytes=20000000,seconds=4

tree cake
qdisc eth0 root 10: cake bandwidth 10mbit
send tcp,to=@0.2,bytes=20000000,seconds=4

# The first class is loaded, the second one has a packet now and then.
tree htb
qdisc eth0 root 10: htb default 10
class eth0 10: 10:1 htb rate 10mbit
class eth0 10:1 10:10 htb rate 8mbit ceil 10mbit
class eth0 10:1 10:20 htb rate 2mbit ceil 10mbit
qdisc eth0 10:10 11: pfifo limit 100
qdisc eth0 10:20 12: pfifo limit 100
send tcp,to=@0.2,bytes=20000000,seconds=4 \
	udp,to=@0.3,count=60,burst=1,pause=50000,priority=0x100020

# with_pings TREE: its traffic, and pings from one second after its begin.
with_pings() {
	local address=${tree_traffic[$1]#*to=} pid

	sleep 1 && in_netns "$1" ping -q -n -i 0.1 -c 30 -s "$ping_payload" "${address%%,*}" \
		>"$work/ping.$1" &
	pid=$!
	current=$1
	run_traffic
	wait "$pid" || fail "$1: pings were lost: $(tail -n 2 "$work/ping.$1")"
}

# truth TEXT TREE FILTER: the filter on a tree's qdiscs must come out true.
definitions='
	def ms: . / 1000000;
	def at($handle): [.qdiscs[] | select(.netns == $netns and .ifname == "eth0" and
		.handle == $handle)][0];
	def between($low; $high): . >= $low and . <= $high;
	def time($point): [.[] | select(.point == $point) | .time_ns][0];
	def pings: [.probe_events[] | select(.netns == $netns and .device == "eth0" and
		(.reply | not))] | group_by(.sequence) |
		map(select(time("dequeued") != null) | time("dequeued") - time("offered")) | sort;
	def part($of): .[length * $of | floor];'

truth() {
	if jq -e --arg netns "$prefix$2" "$definitions $3" "$work/functions.json" \
		>/dev/null 2>"$work/jq.err"; then
		pass "$2: $1"
	else
		fail "$2: $1: $(head -c 200 "$work/jq.err")"
	fi
}

# For the reader of the log, and what the judgements stand on.
print_times() {
	jq -r '.qdiscs[] | select(.traced) | "  \(.netns | sub("^.*[0-9]-"; "")) \(.kind)" +
		" \(.handle): packets \(.sojourn_ns.count), sojourn ms p50" +
		" \(.sojourn_ns.p50 / 1000000) p90 \(.sojourn_ns.p90 / 1000000)" +
		" max \(.sojourn_ns.max / 1000000), own p50 \(.part_ns.p50 / 1000000)"' \
		"$work/functions.json"
}

print_pings() {
	local name

	for name in fq_codel cake; do
		jq -c --arg netns "$prefix$name" "$definitions"' [.probe_events[] |
			select(.netns == $netns and .device == "eth0" and (.reply | not))] |
			group_by(.sequence)[] | select(time("dequeued") == null) |
			map({point, sequence, time_ns})' "$work/functions.json"
		echo "  pings in $name, ms: $(jq -c --arg netns "$prefix$name" "$definitions
			pings | map(ms)" "$work/functions.json")"
	done
}

exclusive='.sojourn_ns.sum == .part_ns.sum + $below.sojourn_ns.sum and .sojourn_ns.sum > 0'

trees_begin
[[ ${#window_pids[@]} -gt 0 ]] || exit 1
for current in netem netem-tbf tbf-netem fifo htb; do
	run_traffic
done
for name in fq_codel cake; do
	with_pings "$name"
done
trees_end
print_times
print_pings

check_jq "no losses" "$work/functions.json" '[.losses[] | select(. != 0)] == []'
jq -r '.qdiscs[] | select(.traced and .agrees != "yes") | "  \(.id): \(.why)"' \
	"$work/functions.json"
check_jq "every ledger is exact" "$work/functions.json" '[.qdiscs[] | select(.traced)] |
	length >= 11 and all(.[]; .agrees == "yes" and .ledger.unaccounted == 0)'
truth "delays by 20 ms" netem 'at("10:").sojourn_ns | .count >= 400 and
	(.min | ms) >= 20 and (.p50 | ms | between(20; 21))'
for name in netem-tbf tbf-netem; do
	truth "exclusive times add up to inclusive ones, to the nanosecond" "$name" \
		"at(\"20:\") as \$below | at(\"10:\") | $exclusive and .counters.exclusive_misses == 0"
done
truth "netem is to blame for its 20 ms" netem-tbf 'at("10:").part_ns.p50 | ms | between(20; 21)'
truth "tbf below it is to blame for its bursts" netem-tbf 'at("20:").sojourn_ns |
	(.min | ms) < 1 and (.p90 | ms | between(6; 16))'
truth "netem below it is to blame for its 20 ms" tbf-netem 'at("20:").sojourn_ns.p50 | ms |
	between(20; 21)'
truth "tbf is to blame for its bursts" tbf-netem 'at("10:").part_ns |
	(.min | ms) < 1 and (.p90 | ms | between(3; 8))'
# Where in its sawtooth TCP is when the window ends moves the median; the limit does not move.
truth "a FIFO of 400 ms at 10 Mbit/s is filled, and no more" fifo 'at("10:").sojourn_ns |
	(.p50 | ms | between(200; 430)) and (.p90 | ms | between(380; 430)) and
	(.max | ms | between(400; 480))'
for name in fq_codel cake; do
	truth "pings wait less than 15 ms" "$name" 'pings |
		length >= 25 and (part(0.9) | ms) < 15'
	truth "bulk is told apart from them" "$name" '(pings | part(0.5)) as $ping |
		at("10:").sojourn_ns | .count > 1000 and .p50 > 2 * $ping'
done
truth "the idle class has a share below 1 %" htb 'at("10:").sojourn_ns.sum as $all |
	(at("12:").sojourn_ns | .count >= 60 and .sum < $all / 100) and
	at("11:").sojourn_ns.sum > $all * 0.9'
remove_trees
