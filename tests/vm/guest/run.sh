#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Whole runs on this kernel: the bottleneck in each tier, the office with fq_codel at the
# gateway, and the office seen from the gateway alone. Times are compared within a run:
# an emulated machine is slow.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

trap cleanup EXIT
release=$(uname -r)

# try NAME ARGUMENTS OF run: up to three times, where only the load of this machine is to
# blame (iperf3 or ping late); sets json.
try() {
	local name=$1 attempt

	shift
	json=$work/$name.json
	for attempt in 1 2 3; do
		run_sojourn "$name" "$@"
		[[ $run_status -eq 0 ]] && break
		echo "  attempt $attempt of $name ended with $run_status: $(tail -n 1 "$work/$name.err")"
	done
	# What 5.10 tells without functions is not always enough: see lib/known_failures.json.
	if [[ $run_status -eq 4 && $release == 5.* && $name == bottleneck-tracepoints ]]; then
		skip "$name: known to be incomplete on $release: $(grep -m 1 INCOMPLETE "$work/$name.out")"
		return 1
	fi
	check_status "$name" 0 "$name"
}

ledgers_exact='[.qdiscs[] | select(.traced)] | length > 0 and
	all(.[]; .agrees and .ledger.unaccounted == 0)'
legs_exact='[.probes[] | select(.lost | not)] | length > 20 and
	all(.[]; .complete and ([.legs[].ns] | add) == .rtt_ns)'

for tier in functions tracepoints; do
	try "bottleneck-$tier" --tier $tier --set idle.seconds=2 --set load.seconds=6 \
		--set probe.count=100 || continue
	check_jq "$tier: the result says so" "$json" '.tool.tier == $tier' --arg tier $tier
	check_jq "$tier: it was the tbf" "$json" '
		(.qdiscs[] | select(.ifname == "wan0" and .kind == "tbf" and .handle == "10:").id) as $tbf |
		.attribution.cause.qdisc == $tbf and .attribution.cause.share > 0.9 and
		(.attribution.verdict | test("tbf 10: on wan0"))'
	check_jq "$tier: every ledger is exact and agreed" "$json" "$ledgers_exact"
	check_jq "$tier: legs add up to the RTT" "$json" "$legs_exact"
	if [[ $tier == functions ]]; then
		check_jq "functions: tbf's own fifo held the packets" "$json" '
			[.qdiscs[] | select(.kind == "bfifo" and .parent == "10:1")] |
			length == 1 and .[0].depth == 1 and .[0].ledger.measured > 1000'
		check_jq "functions: exclusive and inclusive times of tbf" "$json" '
			(.qdiscs[] | select(.kind == "tbf").id) as $tbf |
			(.qdiscs[] | select(.kind == "bfifo").id) as $fifo |
			.phases[] | select(.name == "load").qdiscs |
			(.[] | select(.id == $tbf)) as $parent | (.[] | select(.id == $fifo)) as $child |
			($parent.exclusive_ns.mean + $child.sojourn_ns.mean) / $parent.sojourn_ns.mean |
			. > 0.999 and . < 1.001'
	else
		check_jq "tracepoints: what it cannot see is null" "$json" '
			(.qdiscs[] | select(.kind == "tbf").id) as $tbf |
			[.phases[] | select(.name == "load").qdiscs[] | select(.id == $tbf)] |
			length == 1 and .[0].exclusive_ns == null'
	fi
done

try office office --set load.seconds=8 --set probe.count=130
check_jq "office: upload and download, each the modem's tbf of its direction" "$json" '
	[.phases[] | select(.attribution != null)] | length == 2 and
	all(.[]; .attribution.cause.share > 0.9 and
		(.attribution.verdict | test("tbf [0-9a-f]+: on [a-z0-9]+ in [a-z0-9-]*modem")))'
check_jq "office: not the gateway's fq_codel" "$json" '
	all(.phases[] | select(.attribution != null).attribution.verdict;
		test("not the gateway\u0027s fq_codel: its queue was empty [(]share < 1 %[)]"))'
check_jq "office: every ledger is exact and agreed" "$json" "$ledgers_exact"

try confined office --netns "${prefix}gw" --set load.seconds=8 --set probe.count=130
check_jq "seen from the gateway: it is beyond wan0" "$json" '
	all(.phases[] | select(.attribution != null).attribution;
		(.verdict | test("^not on the devices traced: [0-9.]+ m?s of [0-9.]+ m?s are beyond wan0")) and
		.explained < 0.01)'

"$sojourn" doctor --json - >"$work/doctor.json" 2>/dev/null
check_jq "doctor knows both tiers on $release" "$work/doctor.json" '
	[.tiers[] | select(.works)] | length == 2'
