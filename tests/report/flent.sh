#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The export for flent, read by flent itself: its figures are the document's, and it plots them.
source "$(dirname "$0")/../lib.sh"

if ! command -v flent >/dev/null; then
	skip "the export for flent: there is no flent"
	exit 0
fi

run_shown() {
	run_sojourn shown bottleneck --set idle.seconds=1 --set load.seconds=5 --set recovery.seconds=3 \
		--set restored.count=0 --set "load.direction=${1:-up}"
}
json=$work/shown.json
file=$work/shown.flent.gz

# figure SERIES COLUMN: from flent's own summary: 1 mean, 2 median, 3 the 99th percentile.
figure() {
	awk -v series="$1" -v column="$2" -F: 'index($0, series) { split($NF, of, " "); print of[column]; exit }' \
		"$work/summary"
}

# near A B: within half a percent, and what rounding to two digits takes.
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a > 0 && d <= 0.005 * b + 0.006) }'
}

for direction in up down; do
	series="TCP ${direction}load"
	repeat_run shown run_shown $direction
	check "$direction: report --flent" "$sojourn" report "$json" --flent "$file"
	check "$direction: it is a gzip file of version 4" test "$(zcat "$file" | jq .version)" -eq 4
	check "$direction: flent reads it" flent -i "$file" -f summary -o "$work/summary"
	check "$direction: as a test of its own" grep -q "Summary of tcp_${direction}load test run" "$work/summary"
	mean=$(jq '[.probes[] | select(.lost | not).rtt_ns / 1e6] | add / length' "$json")
	check "$direction: the mean ping is ours ($mean ms)" near "$(figure 'Ping (ms) ICMP' 1)" "$mean"
	median=$(jq '[.probes[] | select(.lost | not).rtt_ns / 1e6] | sort |
		(.[((length - 1) / 2) | floor] + .[(length / 2) | floor]) / 2' "$json")
	check "$direction: and the median ($median ms)" near "$(figure 'Ping (ms) ICMP' 2)" "$median"
	rate=$(jq '[.loads[0].iperf3.intervals[].bits_per_second / 1e6] | add / length' "$json")
	check "$direction: the mean throughput is iperf3's ($rate Mbit/s)" near "$(figure "$series" 1)" "$rate"
	check "$direction: every probe that came back is in it" test \
		"$(zcat "$file" | jq '.raw_values["Ping (ms) ICMP"] | length')" -eq \
		"$(jq '[.probes[] | select(.lost | not)] | length' "$json")"
	check "$direction: nothing stands where there was no load" test \
		"$(zcat "$file" | jq --arg series "$series" '.results[$series][0]')" = null
done
if ! flent --version 2>&1 | grep -q 'No matplotlib'; then
	check "flent plots it" flent -i "$file" -p totals -o "$work/totals.png"
	check "into a picture" test "$(stat -c %s "$work/totals.png")" -gt 10000
else
	skip "plots of flent: there is no matplotlib"
fi

status=0
"$sojourn" report "$json" "$json" --flent "$work/two.gz" 2>"$work/err" || status=$?
check "one result only" test "$status" -eq 2
check "which it says" grep -q -- '--flent takes one file' "$work/err"
