#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A short run over IPv6, written to standard output.
source "$(dirname "$0")/../lib.sh"

run_over_ipv6() {
	run_status=0
	"$sojourn" run --json - --set "lab.prefix=$prefix" --set lab.ipv6=true \
		--set idle.seconds=2 --set load.seconds=6 --set recovery.seconds=3 \
		>"$work/run.json" 2>"$work/run.err" </dev/null || run_status=$?
}

repeat_run run run_over_ipv6
check_status "IPv6" 0 run
check_nothing_left "IPv6"
check_jq "IPv6: standard output is one JSON document" "$work/run.json" '.complete'
check "IPv6: the summary is on standard error" grep -q 'RTT' "$work/run.err"
jq -r '"  \(.attribution.verdict)"' "$work/run.json"
jq -r '.qdiscs[] | select(.traced) | "  \(.id): \(.ledger | tojson) agrees \(.agrees) \(.why)"' \
	"$work/run.json"
check_jq "IPv6: the probes are ICMPv6" "$work/run.json" \
	'[.probes[] | select(.lost | not)] | length > 80 and all(.[]; .ipv6 and .complete)'
check_jq "IPv6: their legs add up" "$work/run.json" \
	'all(.probes[] | select(.lost | not); ([.legs[].ns] | add) == .rtt_ns)'
check_jq "IPv6: the cause is tbf on wan0" "$work/run.json" \
	'.attribution.cause | .share >= 0.99 and (.qdisc | test("wan0.*tbf"))'
check_jq "IPv6: every ledger is exact and agreed" "$work/run.json" \
	'[.qdiscs[] | select(.traced and .root)] | length > 0 and
	all(.[]; .agrees and .ledger.unaccounted == 0)'
