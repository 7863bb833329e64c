#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Suites on a kernel that has all the qdiscs they ask for: one load over every kind, ranked, and
# some loads over a long way. Ratios within a suite, no absolute speeds.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

trap cleanup EXIT

# perform NAME OPTIONS OF suite: its tables are printed; sets json.
perform() {
	local name=$1 status=0

	shift
	json=$work/$name.json
	"$sojourn" suite "$@" --set "lab.prefix=$prefix" --json "$json" --out "$work/$name" \
		>"$work/$name.out" 2>"$work/$name.err" || status=$?
	sed 's/^/  /' "$work/$name.out"
	# 4: an emulated machine may be too slow for one of many runs to be whole.
	if [[ $status -eq 0 || $status -eq 4 ]]; then
		pass "$name: exit status $status"
	else
		fail "$name: exit status $status: $(tail -n 2 "$work/$name.err")"
	fi
	check_nothing_left "$name"
}

# Loading the functions tier anew for each of many runs takes longer than the runs.
perform aqm aqm --time-scale "${SUITE_SCALE:-0.2}" --tier tracepoints
check_jq "aqm: every kind has a result" "$json" '
	.schema == "sojourn-suite/1" and .runs_asked == 10 and .runs_done == 10 and
	([.runs[] | select(.status == "done" or .status == "incomplete")] | length) == 10'
increases='def increase($name): .runs[] | select(.name == $name).increase_ns;'
for kind in tbf-fq_codel htb-fq_codel cake htb-fq htb-pie; do
	check_jq "aqm: $kind waits less than half of what the FIFO does" "$json" \
		"$increases "'increase($kind) < increase("tbf-fifo") / 2' --arg kind $kind
done
check_jq "aqm: the longer FIFO waits longer" "$json" "$increases "'
	increase("htb-pfifo-50") < increase("htb-pfifo-1000")'
check_jq "aqm: the ranking is by the increase" "$json" '
	(.runs | sort_by(.increase_ns) | map(.name)) == .ranking'
check_jq "aqm: the classes hold all runs, the FIFOs wait longer" "$json" '
	(.classes | map({key: .name, value: .}) | from_entries) as $of |
	$of.fifo.runs == 4 and $of.aqm.runs == 6 and
	$of.aqm.increase_ns.median < $of.fifo.increase_ns.median and .conclusion != null'
check_jq "aqm: what was delivered is alike" "$json" '
	[.runs[].delivered_bit_per_s] | min > 0.6 * max'
check_jq "aqm: the results are kept, with the run they are of" "$work/aqm/cake.json" '
	.suite == {name: "aqm", run: "cake", class: "aqm"} and
	(.qdiscs | any(.kind == "cake"))'

perform far rtt30 --time-scale "${SUITE_SCALE:-0.25}" --only "${SUITE_ONLY:-L[15]}"
check_jq "rtt30: netem makes the base RTT" "$json" '
	.runs | length >= 2 and all(.[]; .idle_rtt_ns > 249e6 and .idle_rtt_ns < 300e6)'
check_jq "rtt30: one stream without a cap is not" "$json" '
	.runs[] | select(.name == "L1") | .shape.name != "flat" and .increase_ns > 50e6'
check_jq "rtt30: one stream of 1 Mbit/s is flat" "$json" '
	.runs[] | select(.name == "L5") | .shape.name == "flat" and
	.increase_ns < 0.1 * .idle_rtt_ns'
