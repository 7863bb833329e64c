#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several loads at once, from a file: each starts in its time, in its direction, at its rate, and
# the qdiscs see the packets of all of them.
source "$(dirname "$0")/../lib.sh"

cat >"$work/several.scenario" <<'END'
idle.seconds = 2
recovery.seconds = 3
restored.count = 0
load.seconds = 8
[qdisc router lan0]
add = root handle 11: tbf rate 20mbit burst 32kb latency 100ms
[probe gateway]
to = router
interval = 50ms
[probe back]
from = server
to = client
[load back]
direction = down
start = 2
seconds = 4
rate = 5mbit
[load voice]
proto = udp
rate = 200kbit
block = 160
dscp = ef
start = 1
END

run_several() {
	run_sojourn several "$work/several.scenario"
}
repeat_run several run_several
sed 's/^/  /' "$work/several.out"
check_status "three loads" 0 several
check_nothing_left "three loads"
json=$work/several.json
check_jq "complete, with every ledger exact" "$json" '
	.complete and ([.qdiscs[] | select(.traced and .root)] | length >= 2 and
		all(.[]; .agrees and .ledger.unaccounted == 0))'
check_jq "each began in its time" "$json" '
	.loads[0] | .begin_ns as $begin | .beside | map({key: .name, value: ((.begin_ns - $begin) / 1e9)}) |
	from_entries | .back >= 2 and .back < 2.3 and .voice >= 1 and .voice < 1.3'
check_jq "each at its rate" "$json" '
	.loads[0].beside | map({key: .name, value: .sum_received.bits_per_second}) | from_entries |
	.voice > 150e3 and .voice < 210e3 and .back > 2e6 and .back < 5.5e6'
check_jq "the upload is cut short by the 10 Mbit/s, all of it is delivered" "$json" '
	.iperf3.sum_received.bits_per_second | . > 7e6 and . < 9.8e6'
# What iperf3 says it delivered has passed the qdisc of that direction.
check_jq "the download passed lan0: as many bytes as iperf3 counts, and headers" "$json" '
	(.qdiscs[] | select(.ifname == "lan0" and .kind == "tbf").kernel.bytes) as $bytes |
	.loads[0].beside[] | select(.name == "back").sum_received.bytes | . < $bytes and . > $bytes / 2'
check_jq "voice waits with the upload: its jitter is known, what it lost too" "$json" '
	.loads[0].beside[] | select(.name == "voice").sum_received | .packets > 800 and .jitter_ms >= 0'
check_jq "the cause is still the upload's tbf" "$json" '
	.attribution.cause | (.qdisc | test("wan0/0/tbf/10:")) and .share > 0.9'
check "the summary tells each" test "$(grep -cE '^load (back|voice), \+[12]\.[0-9] s; ' "$work/several.out")" -eq 2
check "a report of it does too" test \
	"$("$sojourn" report "$json" | grep -cE '^load (back|voice), \+[12]\.[0-9] s; ')" -eq 2

# Probes beside the main ones: one that does not go through the queue, one that comes from beyond.
check_jq "each of three pings has its own identifier" "$json" '
	[.probes, (.side_probes[].probes) | map(.id) | unique] | all(.[]; length == 1) and
	(add | unique | length) == 3'
check_jq "twice as many at half the interval" "$json" '
	(.probes | length) as $main | [.side_probes[] | .probes | length] == [2 * $main, $main]'
check_jq "ping and the trace have the same replies, within 1 ms and 5 %" "$json" '
	all(.side_probes[].probes[]; .lost or (.ping_rtt_ns as $ping | .rtt_ns |
		. - $ping | fabs < 1e6 + 0.05 * $ping))'
check_jq "their legs add up" "$json" '
	all(.side_probes[].probes[] | select(.complete); .rtt_ns == ([.legs[].ns] | add))'
check_jq "the gateway is near also under load, what comes back waits in both queues" "$json" '
	(.side_probes | map({key: .name, value: (.phases[] | select(.phase == "load"))}) | from_entries) as $of |
	($of.gateway.rtt_ns.p50 < $of.back.rtt_ns.p50 / 10) and ($of.back.longest_in | test("tbf/1[01]:"))'
check "the summary has a line for each and each phase" test \
	"$(grep -cE '^(gateway|back), (idle|load|recovery) ' "$work/several.out")" -eq 6

# An amount instead of a time, from a file and into one that has no name and is gone afterwards.
before=$(find /var/tmp | wc -l)
for direction in up down; do
	"$sojourn" run --set "lab.prefix=$prefix" --set load.seconds=5 --set load.bytes=3mb --set load.file=temporary \
		--set "load.direction=$direction" --set idle.seconds=1 --set recovery.seconds=2 \
		--set restored.count=0 --set load.margin=200ms --json "$work/file.json" >/dev/null 2>"$work/file.err"
	check "3 MB through a file, $direction: exit status 0" test $? -eq 0
	# What is still queued when the sender ends is in no count of the receiver's.
	check_jq "so much was sent, and all but what was queued counted" "$work/file.json" '
		.iperf3 | (.sum_sent.bytes | . >= 3 * 1048576 and . < 3.2 * 1048576) and
		(.sum_received.bytes >= 2.2 * 1048576) and (.command | index("-n") and index("-F"))'
done
check "nothing is left of the files" test "$(find /var/tmp | wc -l)" -eq "$before"

# One that fails is told by its name.
status=0
"$sojourn" run --set "lab.prefix=$prefix" --set load.seconds=5 --set load.x.file=/nonexistent \
	--set load.x.start=1 --set idle.seconds=1 --set recovery.seconds=2 >/dev/null 2>"$work/failed" ||
	status=$?
check "a load that fails: exit status 4" test $status -eq 4
check "it is told by its name" grep -q 'load x: iperf3 .*unable to open -F file' "$work/failed"
check_nothing_left "a load that fails"
