#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The whole run, from the lab to the verdict: every figure that it must show,
# recomputed from the probes where that can be done, and beside it tcpdump in the
# router as a witness of each probe.
source "$(dirname "$0")/../lib.sh"

name=run

# The lab's router as soon as its devices are there.
capture() {
	local tries pids=() pair device direction

	for ((tries = 0; tries < 200; tries++)); do
		in_netns router ip link show wan0 >/dev/null 2>&1 && break
		sleep 0.05
	done
	for pair in "lan0 in" "wan0 out"; do
		read -r device direction <<<"$pair"
		ip netns exec "${prefix}router" tcpdump -i "$device" -Q "$direction" \
			--time-stamp-precision=nano -s 96 -U --immediate-mode -Z root \
			-w "$work/$direction.pcap" icmp 2>"$work/$direction.err" &
		pids+=($!)
	done
	trap 'kill "${pids[@]}"; wait; exit 0' TERM
	wait
}

# One run, with the captures of it.
run_captured() {
	local pid

	capture &
	pid=$!
	background+=("$pid")
	run_sojourn $name
	stop_process $pid
}

repeat_run $name run_captured
sed 's/^/  /' "$work/$name.out"

json=$work/$name.json
check_status "the run" 0 $name
check_nothing_left "the run"
if ! jq -e . "$json" >/dev/null; then
	fail "the run left no JSON document"
	exit 1
fi

check_jq "the document is complete" "$json" '.schema == "sojourn/1" and .complete'
check_jq "every part of the contract is there" "$json" '
	([keys[]] | contains(["schema", "tool", "scenario", "qdiscs", "phases", "attribution",
		"probes", "iperf3", "losses", "complete", "timeline"])) and
	(.tool | has("version") and has("kernel") and has("tier") and (.hooks | length > 0) and
		has("started_realtime_ns")) and
	([.phases[].name] == ["idle", "load", "recovery", "restored"])'
check_jq "no losses" "$json" '[.losses[] | select(. != 0)] == []'
check_jq "260 probes, and 20 with the qdisc removed" "$json" '(.probes | length) == 280'
jq -r '.phases[] | "  \(.name): \(.probes | "\(.sent) sent \(.lost) lost, p50 \(.rtt_ns.p50 / 1e6) ms, max \(.rtt_ns.max / 1e6) ms")"' "$json"

phase='def phase($name): .phases[] | select(.name == $name); '
check_jq "idle median below 1 ms" "$json" "$phase phase(\"idle\").probes.rtt_ns.p50 < 1e6"
check_jq "loaded median 250 to 430 ms" "$json" \
	"$phase phase(\"load\").probes.rtt_ns.p50 | . >= 250e6 and . <= 430e6"
check_jq "loaded maximum at most 450 ms" "$json" \
	"$phase phase(\"load\").probes.rtt_ns.max <= 450e6"
check_jq "recovery median below 1 ms" "$json" \
	"$phase phase(\"recovery\").probes.rtt_ns.p50 < 1e6"
check_jq "restored median below 1 ms" "$json" \
	"$phase phase(\"restored\").probes.rtt_ns.p50 < 1e6"
jq -r '"  sent \(.iperf3.sum_sent.bits_per_second / 1e6) Mbit/s, received \(.iperf3.sum_received.bits_per_second / 1e6) Mbit/s, retransmits \(.iperf3.sum_sent.retransmits)"' "$json"
check_jq "the receiver got 9.3 to 9.7 Mbit/s" "$json" \
	'.iperf3.sum_received.bits_per_second | . >= 9.3e6 and . <= 9.7e6'

# The verdict.
qdisc='([.qdiscs[] | select(.kind == "tbf" and .handle == "10:" and .ifname == "wan0")][0].id) as $tbf | '
jq -r '"  \(.attribution.verdict)"' "$json"
check_jq "the cause is tbf 10: on wan0, share at least 0.99" "$json" \
	"$qdisc"'.attribution.cause | .qdisc == $tbf and .share >= 0.99 and .share <= 1.01'
check_jq "the verdict names it" "$json" \
	'.attribution.verdict | test("% of the RTT increase") and test("tbf 10: on wan0")'
check "the summary ends with the verdict" grep -qF \
	"$(jq -r '.attribution.verdict' "$json" | cut -c 1-40)" "$work/$name.out"
# The same share once more, from the probes and their legs alone.
check_jq "the share is that of the probes' own legs" "$json" "$qdisc"'
	def median: sort | .[((length + 1) / 2 | floor) - 1];
	def own: [.legs[] | select(.kind == "qdisc" and .qdisc == $tbf).ns] | add // 0;
	[.probes[] | select(.lost | not)] as $all |
	[$all[] | select(.phase == "idle")] as $idle |
	[$all[] | select(.phase == "load")] as $load |
	($idle | map(.rtt_ns) | median) as $rtt |
	($idle | map(own) | median) as $wait |
	(($load | map(own - $wait) | add) / ($load | map(.rtt_ns - $rtt) | add)) as $share |
	(.attribution.cause.share - $share | fabs) < 0.001'
check_jq "the loaded median is that of the probes" "$json" "$phase"'
	([.probes[] | select(.phase == "load" and (.lost | not)).rtt_ns] | sort |
		.[((length + 1) / 2 | floor) - 1]) as $median |
	phase("load").probes.rtt_ns.p50 == $median'

# The way of each probe.
check_jq "every received probe has the full chain of legs" "$json" '
	[.probes[] | select(.phase != "restored" and (.lost | not))] | length > 200 and
	all(.[]; .complete and
		[.legs[] | select(.kind == "driver" or .kind == "link") |
			"\(.kind) \(.netns | ltrimstr($prefix)) \(.device) \(.reply)"] == [
		"driver client eth0 false", "link router lan0 false",
		"driver router wan0 false", "link server eth0 false",
		"driver server eth0 true", "link router wan0 true",
		"driver router lan0 true", "link client eth0 true"])' --arg prefix "$prefix"
check_jq "each has waited in tbf once, on its way there" "$json" "$qdisc"'
	all(.probes[] | select(.phase != "restored" and (.lost | not));
		[.legs[] | select(.kind == "qdisc" and .qdisc == $tbf).reply] == [false])'
check_jq "the legs of each add up to its RTT exactly" "$json" \
	'all(.probes[] | select(.lost | not); ([.legs[].ns] | add) == .rtt_ns)'
check_jq "no leg is negative" "$json" 'all(.probes[].legs[]; .ns >= 0)'
check_jq "ping printed the same RTT for at least 99 %" "$json" '
	[.probes[] | select(.lost | not)] | length as $all |
	map(select(.ping_rtt_ns != null and ((.rtt_ns - .ping_rtt_ns | fabs) <=
		([.rtt_ns * 0.005, 300000] | max)))) | length >= $all * 0.99'

# The phases.
check_jq "probes belong to the phase that they were sent in" "$json" '
	[.phases[] | {key: .name, value: .}] | from_entries as $phases |
	all($document[0].probes[] | select(.phase != null);
		.sent_ns >= $phases[.phase].begin_ns and .sent_ns < $phases[.phase].end_ns)' \
	--slurpfile document "$json"

# The ledgers.
jq -r '.qdiscs[] | select(.traced) | "  \(.id): \(.ledger | tojson) agrees \(.agrees) \(.why)"' "$json"
check_jq "every ledger is exact and agreed" "$json" '
	[.qdiscs[] | select(.traced and .root)] | length > 0 and
	all(.[]; .agrees and .ledger.unaccounted == 0 and .ledger.offered == (.ledger |
		.measured + .bypassed + .rejected + .dropped_inside + .queued))'

# The witness.
if "$programs/pcap_match" "$work/in.pcap" "$work/out.pcap" >"$work/match"; then
	check_jq "each probe waited as long as tcpdump saw, p99 within 0.2 ms" "$json" "$qdisc"'
		([.probes[] | {key: "\(.id)/\(.seq)", value:
			([.legs[] | select(.kind == "qdisc" and .qdisc == $tbf).ns] | add)}] |
			from_entries) as $own |
		[$witness[0].echoes[] | select(.reply | not) | . as $echo |
			$own["\(.id)/\(.sequence)"] | select(. != null) | . - $echo.ns | fabs] |
		sort | length > 200 and .[(length * 0.99 | ceil) - 1] <= 200000' \
		--slurpfile witness "$work/match"
else
	fail "the captures cannot be read: $(tail -n 1 "$work/in.err")"
fi

# The document read again: the same summary, then plots; and tables that add up.
"$sojourn" report "$json" >"$work/report" 2>"$work/report.err"
check "report: exit status 0" [ $? -eq 0 ]
lines=$(wc -l <"$work/$name.out")
check "report prints the run's own summary first" \
	cmp -s "$work/$name.out" <(head -n "$lines" "$work/report")
check "report draws the RTT, the queue and the slowest probe behind it" [ "$(
	tail -n +$((lines + 1)) "$work/report" |
		grep -cE '^(RTT of 280 probes|longest sojourn in .*tbf|the slowest probe, number)')" -eq 3 ]
check "no line of the plots is wider than asked for" [ "$(
	"$sojourn" report "$json" --ascii --width 60 | tail -n +$((lines + 1)) |
		grep '[|]' | awk 'length($0) > 60' | wc -l)" -eq 0 ]
check "report in ASCII has no other character" [ "$(
	"$sojourn" report "$json" --ascii | LC_ALL=C grep -c '[^ -~]')" -eq 0 ]
"$sojourn" report "$json" --fail-if 'load.rtt.p50 > 100ms' >/dev/null 2>"$work/report.err"
check "report with a --fail-if that holds: exit status 1" [ $? -eq 1 ]
check "report says which" grep -q 'load.rtt.p50 is .* ms, which is > 100ms' "$work/report.err"
check "report as tables" "$sojourn" report "$json" --csv "$work/tables"
# sums COLUMN FILE: of a table's column by its number
sums() {
	awk -F , -v column="$1" 'NR > 1 { sum += $column } END { printf "%.0f", sum }' "$work/tables/$2"
}
check "the tables have every RTT" [ "$(sums 5 probes.csv)" = \
	"$(jq '[.probes[].rtt_ns | select(. != null)] | add' "$json")" ]
check "and every leg" [ "$(sums 11 legs.csv)" = "$(jq '[.probes[].legs[].ns] | add' "$json")" ]
check "and every packet of the histograms" [ "$(sums 5 histograms.csv)" = \
	"$(jq '[.phases[].qdiscs[].histogram.counts[]] | add' "$json")" ]
check "and every slice" [ "$(sums 4 qdisc_samples.csv)" = \
	"$(jq '[.timeline.qdisc_samples[].packets] | add' "$json")" ]

# Compared with itself, and with a load of half the RTT.
"$sojourn" compare "$json" "$json" --json "$work/same.json" >"$work/compare" 2>&1
check "compare with itself: exit status 0" [ $? -eq 0 ]
check_jq "nothing has changed" "$work/same.json" '
	.schema == "sojourn-compare/1" and .differences == {} and (.figures | length > 20) and
	all(.figures[]; .change == 0 and .verdict == "same" and
		(.interval == null or (.interval.low <= 0 and .interval.high >= 0)))'
jq '(.probes[] | select(.phase == "load" and .rtt_ns != null).rtt_ns) |= (. / 2 | floor) |
	(.phases[] | select(.name == "load").probes.rtt_ns[]) |= (. / 2 | floor) |
	.scenario["qdisc.latency"] = 200000000' "$json" >"$work/half.json"
"$sojourn" compare "$json" "$work/half.json" --json "$work/changed.json" \
	--fail-if 'change.load.rtt.p50 < -45%' --fail-if 'after.idle.rtt.p50 > 1s' \
	>"$work/compare" 2>"$work/compare.err"
check "compare with a --fail-if that holds: exit status 1" [ $? -eq 1 ]
sed 's/^/  /' "$work/compare"
check "it says which" grep -q 'change.load.rtt.p50 is -50 %, which is < -45%' "$work/compare.err"
check "and no other" [ "$(grep -c fail-if "$work/compare.err")" -eq 1 ]
check_jq "the load is better, idle is the same, the change lies in its interval" \
	"$work/changed.json" '
	def figure($name): .figures[] | select(.figure == $name);
	.differences == {"qdisc.latency": {before: 400000000, after: 200000000}} and
	figure("idle.rtt.p50").verdict == "same" and
	all(("p50", "p95", "p99", "mean") as $of | figure("load.rtt.\($of)");
		.verdict == "better" and .interval.low < .change and .interval.high > .change and
		.interval.high < 0)'
