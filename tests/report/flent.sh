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

# The table that flent writes: the header's names, a line for each step, nulls as empty cells.
table_fits() {
	flent -i "$file" -f csv -o "$work/table" 2>"$work/csv.err" >&2 || return
	head -n 1 "$work/table" | grep -q 'Ping (ms) ICMP' || return
	[[ $(tail -n +2 "$work/table" | wc -l) -eq $(zcat "$file" | jq '.x_values | length') ]]
}

# plots NAME: flent draws that plot without an error. An empty one is smaller than one with a line.
plots() {
	flent -i "$file" -p "$1" -o "$work/$1.png" >"$work/$1.log" 2>&1 &&
		! grep -q ERROR "$work/$1.log" && [[ $(stat -c %s "$work/$1.png") -gt $least ]]
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
	check "$direction: every probe is in it, with its RTT or lost" test \
		"$(zcat "$file" | jq -c '[.raw_values["Ping (ms) ICMP"][] | .lost // (.val * 1e6 | round)]')" = \
		"$(jq -c '[.probes[] | if .lost then true else .rtt_ns end]' "$json")"
	check "$direction: flent's own table has the series and the steps" table_fits
	check "$direction: nothing stands where there was no load" test \
		"$(zcat "$file" | jq --arg series "$series" '.results[$series][0]')" = null
done

# The cause's qdisc, where flent has the figures of tc: its plots of these work. Those of the
# upload; a download meets no qdisc that holds it.
repeat_run shown run_shown up
"$sojourn" report "$json" --flent "$file"
cause=$(jq -r '.attribution.cause.qdisc' "$json")
stats="qdisc_stats_${cause%:}"
zcat "$file" >"$work/document"
check "the cause's backlog is in it, slice by slice" test \
	"$(jq -c --arg name "$stats" '[.raw_values[$name][].backlog_bytes]' "$work/document")" = \
	"$(jq -c --arg id "$cause" '[.timeline.qdisc_samples[] | select(.qdisc == $id).backlog_bytes]' "$json")"
check "and its longest sojourns" test \
	"$(jq -c --arg name "$stats" '[.raw_values[$name][] | .delay_max // empty | . * 1e6 | round]' "$work/document")" = \
	"$(jq -c --arg id "$cause" '[.timeline.qdisc_samples[] | select(.qdisc == $id and .packets > 0).sojourn_ns.max]' "$json")"
if ! flent --version 2>&1 | grep -q 'No matplotlib'; then
	least=10000
	for plot in totals ping ping_cdf box_totals; do
		check "flent's plot $plot" plots $plot
	done
	# Without a line the axes and their words take less.
	jq 'del(.raw_values[] | .[].backlog_bytes, .[].delay)' "$work/document" | gzip >"$work/empty.flent.gz"
	for plot in backlog delay; do
		least=0
		flent -i "$work/empty.flent.gz" -p "$plot" -o "$work/empty.png" >/dev/null 2>&1
		least=$(stat -c %s "$work/empty.png")
		check "flent's plot $plot" plots "$plot"
	done
else
	skip "plots of flent: there is no matplotlib"
fi

"$sojourn" report "$json" --flent - >"$work/piped.flent.gz"
check "to standard output too" flent -i "$work/piped.flent.gz" -f summary -o /dev/null
status=0
"$sojourn" report "$json" "$json" --flent "$work/two.gz" 2>"$work/err" || status=$?
check "one result only" test "$status" -eq 2
check "which it says" grep -q -- '--flent takes one file' "$work/err"
status=0
"$sojourn" report "$json" --flent "$work/plain" 2>"$work/err" || status=$?
check "no name that flent would read as plain text" test "$status" -eq 2
check "which it says too" grep -q -- 'ends in .flent.gz' "$work/err"
check "and writes nothing" test ! -e "$work/plain"
