#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A run without a lab: from a namespace that is not sojourn's to an iperf3 server that runs
# already. What is traced, and where the delay was, on this host and beyond it.
source "$(dirname "$0")/../lib.sh"

use_one_cpu
make_pair 1
ipv6_on a b
in_netns a ip addr add fd00:9::1/64 dev eth0
in_netns b ip addr add fd00:9::2/64 dev eth0
in_netns a tc qdisc add dev eth0 root handle 5: tbf rate 8mbit burst 16kb latency 200ms
before=$(in_netns a tc -s qdisc show dev eth0 | head -n 1)
become_in_netns b iperf3 -s -p 5203 >"$work/server" 2>&1 &
background+=("$!")
for _ in {1..50}; do
	in_netns b ss -Hltn 'sport = :5203' | grep -q . && break
	sleep 0.1
done

# go NAME [options of run]: from a.
go() {
	local name=$1

	shift
	run_status=0
	in_netns a "$sojourn" run --json "$work/$name.json" --set lab=none "$@" \
		>"$work/$name.out" 2>"$work/$name.err" </dev/null || run_status=$?
}

short=(--set idle.seconds=2 --set load.seconds=5 --set recovery.seconds=3 --set load.margin=0.5
	--set probe.interval=50ms)

run_near() {
	go near --set load.to=10.9.0.2:5203 "${short[@]}"
}
repeat_run near run_near
sed 's/^/  /' "$work/near.out"
check_status "a target, IPv4" 0 near
json=$work/near.json
check_jq "the result says that there was no lab" "$json" '
	.complete and .scenario.name == "none" and .scenario.lab == "none" and
	.scenario["load.to"] == "10.9.0.2:5203" and .scenario["probe.to"] == "10.9.0.2:5203" and
	.scenario["qdisc.kind"] == null and (.hosts | length) == 1'
check_jq "the cause is this host's tbf" "$json" '
	.attribution.cause | (.qdisc | test("eth0/0/tbf/5:")) and .share > 0.98'
check_jq "its ledger is exact and agreed" "$json" '
	[.qdiscs[] | select(.traced and .root and .kind == "tbf")] | length == 1 and
	all(.[]; .agrees and .ledger.unaccounted == 0)'
check_jq "legs add up, beyond this host is one of them" "$json" '
	[.probes[] | select(.lost | not)] | length > 100 and
	all(.[]; .complete and ([.legs[].ns] | add) == .rtt_ns)'
check_jq "there is no phase without qdiscs: they are not ours to take off" "$json" '
	[.phases[] | select(.kind == "restored" and .probes.sent > 0)] | length == 0'
check "the qdisc is the one that was there" test \
	"$(in_netns a tc -s qdisc show dev eth0 | head -n 1)" = "$before"

# The delay elsewhere: downwards it is the other host's qdisc.
in_netns a tc qdisc del dev eth0 root
in_netns b tc qdisc add dev eth0 root handle 6: tbf rate 8mbit burst 16kb latency 200ms
run_far() {
	go far --set 'load.to=[fd00:9::2]:5203' --set load.direction=down "${short[@]}"
}
repeat_run far run_far
check_status "a target, IPv6, download" 0 far
sed 's/^/  /' "$work/far.out" | tail -n 4
check_jq "the delay is not on this host" "$work/far.json" '
	.attribution.verdict | test("^not on the devices traced: .* beyond eth0")'

# refused TEXT STATUS PATTERN OPTIONS: one line that says so.
refused() {
	local text=$1 wanted=$2 pattern=$3

	shift 3
	go refused "$@"
	if [[ $run_status -eq $wanted ]] && grep -qE "$pattern" "$work/refused.err"; then
		pass "$text"
	else
		fail "$text: status $run_status, $(tail -n 2 "$work/refused.err")"
	fi
}
refused "no target" 2 'lab=none: set load.to=HOST'
refused "a name that nobody has" 2 'cannot resolve no.such.invalid: ' --set load.to=no.such.invalid
refused "a qdisc to set" 2 'without a lab no qdisc is set' --set 'qdisc.client.eth0=root pfifo' \
	--set load.to=10.9.0.2
refused "a key of the lab's qdisc" 2 'qdisc.rate is of no use here' --set qdisc.rate=1mbit
refused "no server there" 4 'unable to connect|refused' --set load.to=10.9.0.2:5999 "${short[@]}"
check_nothing_left "runs without a lab"
