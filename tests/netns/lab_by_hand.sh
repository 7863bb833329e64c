#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A lab that a scenario's file describes: made and kept by `sojourn lab up`, compared with what
# ip, tc, ethtool and ping say, worked in, removed; and a run in it.
source "$(dirname "$0")/../lib.sh"

file=$work/three.scenario
cat >"$file" <<'END'
# left - middle - right; htb with a short pfifo below it on the way to the right
idle.seconds = 2
lab.ipv6 = yes

[host left]
gateway = 10.1.0.1
gateway = fd00:1::1
sysctl = net.ipv4.tcp_ecn=1
[host middle]
role = gateway
forward = yes
[host right]
route = 10.1.0.0/16 via 10.2.0.1
route = fd00:1::/64 via fd00:2::1

[link one]
a = left eth0 10.1.0.10/24 fd00:1::10/64
b = middle lan0 10.1.0.1/24 fd00:1::1/64
mtu = 1400
offload = off
[link two]
a = middle wan0 10.2.0.1/24 fd00:2::1/64
b = right eth0 10.2.0.10/24 fd00:2::10/64

[qdisc middle wan0]
add = root handle 1: htb default 10
add = class parent 1: classid 1:10 htb rate 8mbit
add = parent 1:10 handle 20: pfifo limit 100
[qdisc middle lan0]
add = root handle 2: bfifo limit 30kb

[load]
from = left
to = right
seconds = 6
[probe]
from = left
to = right
interval = 50ms
[recovery]
seconds = 3
END

lab() {
	local verb=$1

	shift
	"$sojourn" lab "$verb" "$@"
}

in_lab() {
	local host=$1

	shift
	lab exec --prefix "$prefix" "$host" -- "$@"
}

# check_said TEXT HOST FILTER COMMAND...: what a command says there, as JSON.
check_said() {
	local text=$1 host=$2 filter=$3

	shift 3
	in_lab "$host" "$@" >"$work/said"
	check_jq "$text" "$work/said" "$filter"
}

# Its namespaces are removed also where this file ends before `lab down`.
trap 'lab down "$prefix" >/dev/null 2>&1; cleanup' EXIT

# refused TEXT STATUS PATTERN COMMAND...: one line on stderr that says so, and that exit status.
refused() {
	local text=$1 wanted=$2 pattern=$3 status=0

	shift 3
	"$@" >/dev/null 2>"$work/refused" || status=$?
	if [[ $status -eq $wanted && $(wc -l <"$work/refused") -eq 1 ]] &&
		grep -qE "$pattern" "$work/refused"; then
		pass "$text"
	else
		fail "$text: status $status, $(cat "$work/refused")"
	fi
}

check "lab up" lab up "$file" --set "lab.prefix=$prefix"
check "lab list: kept" grep -q "^$prefix kept for work by hand: " <(lab list)
check_said "left has its address and MTU" left '
	.[0] | .mtu == 1400 and ([.addr_info[] | "\(.local)/\(.prefixlen)"] |
		contains(["10.1.0.10/24", "fd00:1::10/64"]))' ip -j addr show dev eth0
check_said "left has its default route" left '.[0].gateway == "10.1.0.1"' \
	ip -j route show default
check_said "right has the route that was written" right '.[0].gateway == "fd00:2::1"' \
	ip -j -6 route show fd00:1::/64
check "left has its sysctl" grep -qx 1 <(in_lab left cat /proc/sys/net/ipv4/tcp_ecn)
check "middle forwards" grep -qx 1 <(in_lab middle cat /proc/sys/net/ipv4/ip_forward)
check "right does not" grep -qx 0 <(in_lab right cat /proc/sys/net/ipv4/ip_forward)
check "offloads are off on the link that asks for it" bash -c '
	"$0" lab exec --prefix "$1" middle -- ethtool -k lan0 |
		grep -cE "^(tcp-segmentation|generic-segmentation|generic-receive)-offload: off" |
		grep -qx 3' "$sojourn" "$prefix"
check "and on by default" bash -c '
	"$0" lab exec --prefix "$1" middle -- ethtool -k wan0 |
		grep -q "^generic-segmentation-offload: on"' "$sojourn" "$prefix"
check_said "the tree of wan0 is the one that was written" middle '
	map({kind, handle, parent: (.parent // "root")}) ==
		[{kind: "htb", handle: "1:", parent: "root"},
		 {kind: "pfifo", handle: "20:", parent: "1:10"}] and .[1].options.limit == 100' \
	tc -j qdisc show dev wan0
check "with its class" grep -q 'htb 1:10 root leaf 20: .*rate 8Mbit' \
	<(in_lab middle tc class show dev wan0)
check_said "and that of lan0" middle '.[0] | .kind == "bfifo" and .handle == "2:"' \
	tc -j qdisc show dev lan0
check "ping over IPv4" in_lab left ping -q -c 2 -i 0.2 -W 2 10.2.0.10
check "ping over IPv6, back" in_lab right ping -q -c 2 -i 0.2 -W 2 fd00:1::10
check "/sys is that of the namespace" grep -qx wan0 <(in_lab middle ls /sys/class/net)
check "and mounted for the command alone" test ! -e /sys/class/net/wan0

in_lab left sh -c 'exit 7'
check "exec: the command's exit status" test $? -eq 7
refused "exec: a command that is nowhere" 127 'cannot run nosuch: ' in_lab left nosuch
refused "exec: one that cannot be run" 126 'cannot run /etc: ' in_lab left /etc
refused "exec: a host that is not there" 2 "has no host centre; it has left, middle, right$" \
	in_lab centre true
refused "exec: a lab that is not there" 2 'there is no lab nolab-; ' \
	lab exec --prefix nolab- left -- true
refused "exec: no command" 2 'lab exec left: which command' lab exec --prefix "$prefix" left
refused "lab up: it is there" 3 "lab $prefix is kept for work by hand; " \
	lab up "$file" --set "lab.prefix=$prefix"
refused "run: it is there" 3 "lab $prefix is kept for work by hand; " \
	"$sojourn" run "$file" --set "lab.prefix=$prefix"
check "lab down" lab down "$prefix"
check_nothing_left "lab down"

refused "lab up: a file that is not there" 2 'cannot open the scenario .*none: No such file' \
	lab up "$work/none"
echo '[nonsense here]' >"$work/bad.scenario"
refused "lab up: a heading that is wrong" 2 'bad.scenario:1: ' \
	lab up "$work/bad.scenario" --set "lab.prefix=$prefix"
refused "lab up: what tc does not take" 2 'qdisc.router.wan0: tc qdisc add [.]{3} does not take that .*burst' \
	lab up --set "lab.prefix=$prefix" --set 'qdisc.router.wan0=root tbf rate 1mbit'
refused "lab up: a kind that no kernel has" 3 'asks for a kind that this kernel lacks' \
	lab up --set "lab.prefix=$prefix" --set 'qdisc.router.wan0=root nosuch'
check_nothing_left "labs that could not be made"

# Killed at whatever moment: the guard removes what was made, or it is kept whole.
leftovers=0
for i in {1..10}; do
	"$sojourn" lab up "$file" --set "lab.prefix=$prefix" >/dev/null 2>&1 &
	background+=("$!")
	sleep "0.0$((i * 7 % 10))"
	kill -9 "$!" 2>/dev/null
	wait "$!" 2>/dev/null
	for _ in {1..40}; do
		lab list | grep -q "^$prefix made by" || break
		sleep 0.05
	done
	lab list | grep -q "^$prefix made by" && leftovers=$((leftovers + 1))
	lab down "$prefix" >/dev/null
done
check "killed while it is made, 10 times: no lab of the dead" test $leftovers -eq 0
check_nothing_left "labs whose maker was killed"

# A run in that lab.
run_three() {
	run_sojourn three "$file"
}

repeat_run three run_three
sed 's/^/  /' "$work/three.out"
check_status "the run" 0 three
check_nothing_left "the run"
json=$work/three.json
check_jq "the document is complete" "$json" '.complete and .scenario.name == "three"'
check_jq "it holds the lab" "$json" '
	.scenario | (.lab.hosts | map(.name)) == ["left", "middle", "right"] and
	.lab.links[0].offload == false and .lab.links[0].mtu == 1400 and
	(.qdiscs[0] | .host == "middle" and .device == "wan0" and (.commands | test("htb rate 8mbit")))'
check_jq "the cause is the htb on wan0" "$json" '
	.attribution.cause.qdisc | startswith($prefix + "middle/wan0/") and test("/htb/1:")' \
	--arg prefix "$prefix"
check_jq "with all of the increase" "$json" '.attribution.cause.share > 0.98'
check_jq "at the rate of its class" "$json" '
	.phases[] | select(.name == "load").iperf3.sum_received.bits_per_second | . > 6.8e6 and . < 8e6'
check_jq "every ledger agrees" "$json" '
	[.qdiscs[] | select(.traced and .root)] | length >= 2 and
	all(.[]; .agrees and .ledger.unaccounted == 0)'
check_jq "over IPv6, from left to right" "$json" '
	.scenario["lab.ipv6"] and .scenario["load.from"] == "left" and
	([.probes[] | select(.lost | not)] | length > 150)'

# Keys of a tree on a built-in lab, and what a load can be told.
run_keys() {
	run_sojourn keys bottleneck --set 'qdisc.server.eth0=root handle 5: tbf rate 4mbit burst 16kb latency 100ms' \
		--set load.direction=down --set load.seconds=5 --set load.omit=1 --set load.block=8kb \
		--set load.dscp=af41 --set idle.seconds=1 --set recovery.seconds=3 --set restored.count=5
}

repeat_run keys run_keys
check_status "a tree on a built-in lab" 0 keys
json=$work/keys.json
check_jq "the cause is that tree" "$json" '
	.attribution.cause | (.qdisc | test("server/eth0/0/tbf/5:")) and .share > 0.98'
check_jq "iperf3 was told of blocks, DSCP and what to omit" "$json" '
	.iperf3.command | join(" ") |
	test(" -O 1 -l 8192 -S 136( |$)") and test(" -t 5 ")'
check_jq "the load's window begins behind what is omitted and the margin" "$json" '
	.phases[] | select(.kind == "load") |
	(.end_ns - .begin_ns) / 1e9 | . > 2.5 and . < 3.8'
