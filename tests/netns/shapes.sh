#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The shape of the RTT under loads whose queue is known beforehand: what a sender does
# to a FIFO of a known rate and limit follows from both. For each run the names that are
# right for it, and the same fact looked up in the probes themselves.
source "$(dirname "$0")/../lib.sh"

# RTT of the answered probes that were sent while the first load lasted, ms above the
# idle median, as $load (in order); $part and $last are the middle and the last third.
rtt='def median: sort | .[((length + 1) / 2 | floor) - 1];
	(.loads[0].begin_ns) as $started | (.loads[0].end_ns) as $done |
	(.phases[] | select(.name == "idle").probes.rtt_ns.p50) as $idle |
	def rtts($from; $to): [.probes[] | select(.rtt_ns != null and
		.sent_ns >= $started + ($done - $started) * $from and
		.sent_ns < $started + ($done - $started) * $to) | (.rtt_ns - $idle) / 1e6];
	rtts(0; 1) as $load | rtts(1 / 3; 2 / 3) as $middle | rtts(2 / 3; 0.9) as $last | '

# run_shape NAME SHAPES WHAT FILTER [KEY=VALUE]...: the shape has to be one of SHAPES (a
# list in JSON), and the probes have to be as FILTER says.
run_shape() {
	local name=$1 shapes=$2 what=$3 filter=$4 value sets=()

	shift 4
	for value in idle.seconds=2 recovery.seconds=3 restored.count=1 "$@"; do
		sets+=(--set "$value")
	done
	repeat_run "$name" run_sojourn "$name" "${sets[@]}"
	check_status "$name" 0 "$name"
	check_jq "$name: the probes show it: $what" "$work/$name.json" "$rtt$filter"
	jq -r --arg name "$name" '.phases[] | select(.name == "load").shape |
		"  \($name): \(.name): \(.why)"' "$work/$name.json"
	check_jq "$name: the name is one of $shapes" "$work/$name.json" \
		'.phases[] | select(.name == "load").shape.name as $name | $shapes | index($name)' \
		--argjson shapes "$shapes"
	check_jq "$name: no other phase has a shape" "$work/$name.json" \
		'all(.phases[] | select(.kind != "load"); has("shape") and .shape == null)'
	check "$name: the summary says so" grep -qF \
		"RTT under load: $(jq -r '.phases[] | select(.name == "load").shape.name' \
			"$work/$name.json") (" "$work/$name.out"
	check_nothing_left "$name"
}

# One cubic sender fills the queue, loses a packet, sends 30 % less, and begins again. A
# fall is 20 to 30 % of the limit: where noise hides it, what remains to be seen is a
# queue that stands.
run_shape cubic '["sawtooth", "plateau"]' "a queue that stands, and comes near its limit" \
	'($last | median) > 60 and ($load | max) > 90 and ($load | max) < 140' \
	load.seconds=12 qdisc.latency=100ms

# 2 Mbit/s too much fill 200 ms of 10 Mbit/s in 1 s, and nothing slows the sender down.
run_shape overflow '["plateau"]' "full from the first third on" \
	'($middle | min) > 180 and ($last | min) > 180 and ($load | max) < 230' \
	load.proto=udp load.rate=12mbit load.seconds=5 qdisc.latency=200ms

# 1 Mbit/s and the headers too much fill 600 ms in about 5 s: the load ends then, and the
# queue drains in as long as the last probe waited.
run_shape fill '["triangle"]' "higher in each third, and empty a second after its end" \
	'($load[:15] | median) < 150 and ($middle | median) > 150 and
	($last | median) > ($middle | median) * 1.3 and
	(rtts(1.2; 1.5) | length > 5 and max < 1)' \
	load.proto=udp load.rate=11mbit load.seconds=5 qdisc.latency=600ms

# Below the rate there is nothing to wait for.
run_shape below '["flat"]' "nine of ten probes within a millisecond of idle" \
	'($load | sort | .[(length * 0.9 | floor)]) < 1' \
	load.proto=udp load.rate=8mbit load.seconds=5
