#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How qdiscs and classes are set, against what tc shows of them; the path of each; and
# what holds packets back while there is traffic. What the kernel has not is skipped.
. "$(dirname "$0")/../lib.sh"

make_pair 4
# The neighbours are known: no packet of the kernel's own.
mac() {
	in_netns "$1" cat /sys/class/net/eth0/address
}
in_netns a ip neigh replace 10.9.0.2 dev eth0 lladdr "$(mac b)" nud permanent
in_netns b ip neigh replace 10.9.0.1 dev eth0 lladdr "$(mac a)" nud permanent

tc_a() {
	in_netns a tc "$@"
}

no_qdisc() {
	tc_a qdisc del dev eth0 root 2>/dev/null
	return 0
}

# try TEXT tc-arguments: skips TEXT where kernel or tc lack something, and only then.
try() {
	local text=$1

	shift
	tc_a "$@" >/dev/null 2>"$work/tc.err" && return
	if grep -qiE 'unknown|not supported|No such file|must be multiqueue' "$work/tc.err"; then
		skip "$text: $(head -n 1 "$work/tc.err")"
	else
		fail "$text: tc: $(head -n 1 "$work/tc.err")"
	fi
	return 1
}

# describe FILE [argument]: what describe_path says of namespace a.
describe() {
	local file=$1

	shift
	in_netns a "$programs/describe_path" "$@" >"$file"
}

# ---- options ----

# $t and $m, which stand before it: options as tc and as we tell them. tc's rates are
# bytes/s, its times us.
definitions='
	def same(names): all(names[]; $m[.] != null and $t[.] == $m[.]);
	def us(names): all(names[]; $m[.] != null and $t[.] * 1000 == $m[.]);
	def rate(names): all(names[]; $m[.] != null and $t[.] * 8 == $m[.]);
	def flags(names): all(names[]; ($t[.] == true or $t[.] == "on") == ($m[.] == 1));
	def near(a; b): (a - b | fabs) <= 0.000001;
	def list(t; m): (t | map(tostring) | join(" ")) == m;'

# compare 'KIND ARGUMENTS' FILTER
compare() {
	local spec=$1 filter=$2 kind=${1%% *}

	no_qdisc
	# The arguments are words.
	# shellcheck disable=SC2086
	try "options of $kind" qdisc add dev eth0 root handle 10: $spec || return 0
	tc_a -j -d -s qdisc show dev eth0 | jq '.[] | select(.root) | .options' >"$work/tc.json"
	describe "$work/mine.json"
	check_jq "options of $kind are tc's" "$work/mine.json" '
		(.qdiscs[] | select(.dev == "eth0" and .handle == "10:")) as $q |
		$q.options as $m | $tc[0] as $t | '"$definitions"'
		$q.kind == $kind and ('"$filter"')' \
		--slurpfile tc "$work/tc.json" --arg kind "$kind"
}

# 6.1's tc writes no JSON of hfsc and multiq: those stand against what was set.
compare 'pfifo limit 33' 'same(["limit"]) and $m.limit == 33'
compare 'bfifo limit 4444' 'same(["limit"])'
compare 'pfifo_head_drop limit 12' 'same(["limit"])'
compare 'tbf rate 10mbit burst 32kb latency 400ms' 'rate(["rate"]) and $m.burst == 32768 and
	($t.lat * 1000 - $m.latency | fabs) < 1000'
compare 'tbf rate 40gbit burst 10mb limit 20mb peakrate 50gbit mtu 64kb overhead 14 mpu 64' \
	'rate(["rate"]) and same(["overhead", "mpu"]) and $m.peakrate == 50e9 and
	$m.limit == 20 * 1048576'
compare 'htb default 0x11 r2q 20 direct_qlen 30' 'same(["r2q", "direct_qlen"]) and
	$m.default == "10:11"'
compare 'prio bands 4 priomap 3 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1' 'same(["bands"]) and
	list($t.priomap; $m.priomap)'
compare 'ets bands 4 strict 1 quanta 3000 2000 1000 priomap 3 3 2 1 0 0 0' \
	'same(["bands", "strict"]) and list($t.priomap; $m.priomap)'
compare 'skbprio limit 77' 'same(["limit"])'
compare 'mqprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 2@0 2@2 hw 0' \
	'$t.tc == $m.num_tc and list($t.map; $m.map) and $m.queues_0 == "2@0" and
	$m.queues_1 == "2@2" and $t.queues == [[0, 1], [2, 3]]'
compare 'taprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 base-time 1000000
	sched-entry S 01 300000 sched-entry S 02 400000 clockid CLOCK_TAI' \
	'$t.tc == $m.num_tc and list($t.map; $m.map) and same(["clockid"]) and
	$t.base_time == $m["base-time"] and $t.cycle_time == $m["cycle-time"] and
	($t.schedule | length) == $m["sched-entries"]'
compare 'etf clockid CLOCK_TAI delta 200000 skip_sock_check' 'same(["clockid", "delta"]) and
	flags(["offload", "deadline_mode", "skip_sock_check"])'
compare 'fq limit 5000 flow_limit 50 quantum 3000 initial_quantum 9000 maxrate 20mbit
	low_rate_threshold 1mbit refill_delay 20ms orphan_mask 511 timer_slack 20us
	ce_threshold 5ms horizon 3s horizon_cap buckets 512' \
	'same(["limit", "flow_limit", "quantum", "initial_quantum", "orphan_mask", "buckets",
	"timer_slack"]) and rate(["maxrate", "low_rate_threshold"]) and
	us(["refill_delay", "ce_threshold", "horizon"]) and $m.horizon_drop == 0 and
	$m.pacing == 1'
compare 'fq nopacing' '$m.pacing == 0 and $m.maxrate == null and $m.horizon_drop == 1'
compare 'fq_codel limit 500 flows 256 target 6ms interval 90ms quantum 800 ce_threshold 3ms
	memory_limit 5mb drop_batch 32' \
	'same(["limit", "flows", "quantum", "memory_limit", "drop_batch"]) and flags(["ecn"]) and
	us(["target", "interval", "ce_threshold"])'
compare 'codel limit 500 target 6ms interval 90ms ce_threshold 3ms ecn' 'same(["limit"]) and
	flags(["ecn"]) and us(["target", "interval", "ce_threshold"])'
compare 'fq_pie limit 500 flows 256 target 20ms tupdate 20ms alpha 3 beta 15 quantum 800
	memory_limit 5mb ecn_prob 20 ecn bytemode dq_rate_estimator' \
	'same(["limit", "flows", "alpha", "beta", "quantum", "memory_limit"]) and
	us(["target", "tupdate"]) and flags(["ecn", "bytemode", "dq_rate_estimator"]) and
	near($t.ecn_prob / 100; $m.ecn_prob)'
compare 'pie limit 500 target 20ms tupdate 20ms alpha 3 beta 15 ecn bytemode' \
	'same(["limit", "alpha", "beta"]) and us(["target", "tupdate"]) and
	flags(["ecn", "bytemode", "dq_rate_estimator"])'
compare 'red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02
	bandwidth 10mbit ecn adaptive' \
	'same(["limit", "min", "max"]) and flags(["ecn", "harddrop", "adaptive", "nodrop"]) and
	near($t.probability; $m.probability)'
compare 'gred setup DPs 3 default 2 grio' '$t.dp_cnt == $m.vqs and
	$t.dp_default == $m.default and flags(["grio"]) and same(["limit"])'
compare 'sfq limit 100 quantum 3000 perturb 10 depth 60 divisor 512 flows 100 headdrop
	redflowlimit 100000 min 8000 max 60000 probability 0.05 ecn' \
	'same(["limit", "quantum", "depth", "flows", "divisor", "min", "max"]) and
	flags(["headdrop", "ecn"]) and $t.perturb * 1e9 == $m.perturb and
	near($t.probability; $m.probability)'
compare 'sfb limit 500 max 30 target 20 increment 0.001 decrement 0.0002 rehash 300000
	db 30000 penalty_rate 20 penalty_burst 30' \
	'same(["limit", "max", "target", "penalty_rate", "penalty_burst"]) and
	us(["rehash", "db"]) and near($t.increment; $m.increment) and
	near($t.decrement; $m.decrement)'
compare 'choke limit 500 min 30 max 90 bandwidth 10mbit probability 0.03 ecn burst 40' \
	'same(["limit", "min", "max"]) and flags(["ecn"]) and near($t.probability; $m.probability)'
compare 'hhf limit 500 quantum 2000 hh_limit 100 reset_timeout 50ms admit_bytes 100000
	evict_timeout 2s non_hh_weight 3' \
	'same(["limit", "quantum", "hh_limit", "admit_bytes", "non_hh_weight"]) and
	us(["reset_timeout", "evict_timeout"])'
compare 'cake bandwidth 20mbit diffserv4 dual-srchost nat wash ingress ack-filter no-split-gso
	rtt 50ms overhead -4 atm mpu 64 memlimit 4mb' \
	'rate(["bandwidth"]) and same(["diffserv", "flowmode", "atm", "overhead", "mpu",
	"memlimit"]) and us(["rtt"]) and flags(["nat", "wash", "ingress"]) and
	$m["ack-filter"] == "ack-filter" and $m["split-gso"] == 0 and $m.raw == null'
compare 'cake unlimited besteffort flowblind raw' '$m.bandwidth == null and
	same(["diffserv", "flowmode"]) and flags(["raw", "nat", "wash", "ingress"]) and
	$m["split-gso"] == 1'
compare 'netem delay 20ms 3ms 25% loss 1% 10% duplicate 2% reorder 5% 50% corrupt 0.5%
	rate 10mbit 20 100 5 limit 333 gap 5' \
	'same(["limit", "gap"]) and near($t.delay.delay * 1e9; $m.delay) and
	near($t.delay.jitter * 1e9; $m.jitter) and
	near($t.delay.correlation; $m.delay_correlation) and
	near($t["loss-random"].loss; $m.loss) and
	near($t["loss-random"].correlation; $m.loss_correlation) and
	near($t.duplicate.duplicate; $m.duplicate) and near($t.reorder.reorder; $m.reorder) and
	near($t.reorder.correlation; $m.reorder_correlation) and
	near($t.corrupt.corrupt; $m.corrupt) and $t.rate.rate * 8 == $m.rate and
	$t.rate.packetoverhead == $m.packetoverhead and $t.rate.cellsize == $m.cellsize and
	$t.rate.celloverhead == $m.celloverhead'
compare 'netem loss gemodel 1% 10% slot 5ms 10ms ecn' '$m.loss_model == "gemodel" and
	$t["loss-gemodel"] != null and $t.slot["min-delay"] * 1e9 == $m.slot_min and
	$t.slot["max-delay"] * 1e9 == $m.slot_max and flags(["ecn"])'

set_and_told() {
	local spec=$1 filter=$2 kind=${1%% *}

	no_qdisc
	# shellcheck disable=SC2086
	try "options of $kind" qdisc add dev eth0 root handle 10: $spec || return 0
	describe "$work/mine.json"
	check_jq "options of $kind are what was set" "$work/mine.json" \
		'.qdiscs[] | select(.handle == "10:").options | '"$filter"
}

set_and_told 'hfsc default 5' '.default == "10:5"'
set_and_told multiq '.bands == 4'

# ---- classes ----

# class_lines FILE: classes as tc class show writes them, but for what it rounds.
class_lines() {
	jq -r 'def mbit: "\((. // 0) / 1e6)Mbit";
		.classes[] | select(.class != "mq") |
		"class \(.class) \(.handle) " +
		(if .parent == "ffff:ffff" then "root" else "parent \(.parent)" end) + " " +
		(if (.leaf // "0:") != "0:" then "leaf \(.leaf) " else "" end) +
		(.options as $o | {
			htb: ((if $o.prio then "prio \($o.prio) " else "" end) +
				"rate \($o.rate | mbit) ceil \($o.ceil | mbit)"),
			drr: "quantum \($o.quantum)b",
			qfq: "weight \($o.weight) maxpkt \($o.maxpkt)",
			ets: (if $o.quantum then "quantum \($o.quantum)" else "" end)
		}[.class] // "") | sub(" +$"; "")' "$1" | sort
}

# What tc adds to that: bursts of htb, the curves of hfsc; flows that are no classes.
tc_lines() {
	tc_a class show dev eth0 | sed -E 's/ burst .*//; s/ (sc|rt|ls|ul) m1.*//; s/ +$//' |
		grep -vE '^class (mq|fq_codel|sfq|cake|hhf) |^$' | sort
}

compare_classes() {
	describe "$work/mine.json"
	class_lines "$work/mine.json" >"$work/mine.lines"
	tc_lines >"$work/tc.lines"
	if [[ -s $work/mine.lines ]] && diff "$work/tc.lines" "$work/mine.lines"; then
		pass "$1: $(wc -l <"$work/mine.lines") classes as tc shows them"
	else
		fail "$1: classes are not those that tc shows"
	fi
}

check_path() {
	check_jq "path: $2" "$work/mine.json" '[.qdiscs[] | select(.handle == $handle).path] ==
		[$path]' --arg handle "$1" --arg path "$2"
}

make_htb() {
	no_qdisc
	try "$1" qdisc add dev eth0 root handle 1: htb default 11 || return
	tc_a class add dev eth0 parent 1: classid 1:1 htb rate "$2" ceil "$3" burst 10k cburst 10k
	tc_a class add dev eth0 parent 1:1 classid 1:11 htb rate "$4" ceil "$5" prio 2 burst 10k \
		cburst 10k
	tc_a class add dev eth0 parent 1:1 classid 1:12 htb rate "$4" ceil "$5" prio 2 burst 10k \
		cburst 10k
	tc_a qdisc add dev eth0 parent 1:11 handle 110: pfifo limit 200
	tc_a qdisc add dev eth0 parent 1:12 handle 120: pfifo limit 200
}

if make_htb "classes of htb" 20mbit 20mbit 5mbit 10mbit; then
	tc_a qdisc replace dev eth0 parent 1:12 handle 130: tbf rate 3mbit burst 10k limit 20k
	compare_classes htb
	check_path 110: "eth0 → htb 1: → class 1:1 rate 20.0 Mbit/s → \
class 1:11 rate 5.00 Mbit/s ceil 10.0 Mbit/s → pfifo 110:"
	check_jq "path of what tbf keeps its packets in" "$work/mine.json" \
		'[.qdiscs[] | select(.invisible and .parent == "130:1").path] ==
		["eth0 → htb 1: → class 1:1 rate 20.0 Mbit/s → " +
		"class 1:12 rate 5.00 Mbit/s ceil 10.0 Mbit/s → tbf 130: rate 3.00 Mbit/s → bfifo 0:"]'
fi

hfsc_tree() {
	no_qdisc
	try "classes of hfsc" qdisc add dev eth0 root handle 1: hfsc default 11 || return
	tc_a class add dev eth0 parent 1: classid 1:1 hfsc ls rate 20mbit ul rate 20mbit
	tc_a class add dev eth0 parent 1:1 classid 1:11 hfsc sc m1 6mbit d 10ms m2 5mbit \
		ul rate 8mbit
}

if hfsc_tree && try "classes of all kinds" qdisc add dev eth0 parent 1:11 handle 110: drr; then
	tc_a class add dev eth0 parent 110: classid 110:1 drr quantum 2000
	tc_a qdisc add dev eth0 parent 110:1 handle 111: qfq
	tc_a class add dev eth0 parent 111: classid 111:1 qfq weight 5 maxpkt 1600
	tc_a qdisc add dev eth0 parent 111:1 handle 112: ets bands 3 strict 1 quanta 2000 1500
	tc_a qdisc add dev eth0 parent 112:2 handle 113: prio
	tc_a qdisc add dev eth0 parent 113:1 handle 114: netem delay 5ms
	tc_a qdisc add dev eth0 parent 114:1 handle 115: red limit 400000 min 30000 max 90000 \
		avpkt 1000 burst 55 bandwidth 10mbit
	tc_a qdisc add dev eth0 parent 115:1 handle 116: fq_codel
	compare_classes "eight qdiscs"
	check_jq "curves of an hfsc class" "$work/mine.json" \
		'.classes[] | select(.handle == "1:11").options | .rt_m1 == 6e6 and .rt_d == 10e6 and
		.rt_m2 == 5e6 and .ls_m1 == 6e6 and .ul_m2 == 8e6 and .ul_d == null'
	check_path 116: "eth0 → hfsc 1: → class 1:1 ul 20.0 Mbit/s → \
class 1:11 rt 5.00 Mbit/s ul 8.00 Mbit/s → drr 110: → class 110:1 → qfq 111: → class 111:1 → \
ets 112: → class 112:2 → prio 113: → class 113:1 → netem 114: delay 5.00 ms → red 115: → \
fq_codel 116:"
fi

no_qdisc
tc_a qdisc add dev eth0 root handle 8001: mq
describe "$work/mine.json"
check_jq "path of each queue of mq" "$work/mine.json" \
	'[.qdiscs[] | select(.dev == "eth0" and .kind != "mq") | .parent as $p | .kind as $k |
	.path == "eth0 → mq 8001: → class \($p) → \($k) 0:"] | length == 4 and all'

# ---- what holds back ----

# held TEXT FILTER SECONDS PORT...: UDP from each of these ports on for so long; FILTER sees
# the qdiscs as they were at the end.
held() {
	local text=$1 filter=$2 seconds=$3 port senders=() pid hold

	shift 3
	rm -f "$work/hold"
	mkfifo "$work/hold"
	become_in_netns a "$programs/describe_path" --window <"$work/hold" \
		>"$work/held.json" 2>"$work/held.err" &
	pid=$!
	background+=("$pid")
	exec {hold}>"$work/hold"
	until grep -qs ready "$work/held.err" || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.05
	done
	for port in "$@"; do
		become_in_netns a "$programs/flood" --udp 10.9.0.2 --size 1200 --port "$port" \
			--seconds "$seconds" >/dev/null {hold}>&- &
		senders+=("$!")
	done
	wait "${senders[@]}"
	exec {hold}>&-
	wait "$pid"
	jq -r '.qdiscs[] | select(.dev == "eth0" and (.invisible | not)) |
		"  \(.kind) \(.handle) \(.holder.text)\(if .holder.seen then "" else " ?" end)"' \
		"$work/held.json"
	check_jq "held back: $text" "$work/held.json" \
		'def q(handle): .qdiscs[] | select(.dev == "eth0" and .handle == handle).holder;
		'"$filter"
}

# flood sends from 64 ports; those from 7168 on go to class 1:12, all else to the default.
second_port() {
	try "$1" filter add dev eth0 parent 1: protocol ip prio 1 u32 \
		match ip sport 7168 0xffc0 flowid 1:12
}

if make_htb "held back by htb" 50mbit 50mbit 5mbit 10mbit; then
	held "a class at its ceil" 'q("110:"), q("1:") | .seen and .kind == "class" and
		.rate == 10e6 and (.text | startswith("class 1:11 of htb 1: (rate 5.00 Mbit/s, "))' \
		1.5 7001
fi
if make_htb "held back by htb" 10mbit 10mbit 4mbit 10mbit && second_port "a parent at its ceil"; then
	held "a parent at its ceil" 'q("110:"), q("120:"), q("1:") | .seen and .kind == "class" and
		.rate == 10e6 and (.text | startswith("class 1:1 of htb 1: "))' 2 7001 7168
fi
if make_htb "held back by htb" 10mbit 80mbit 4mbit 80mbit; then
	held "a class without parent at its rate" 'q("110:"), q("1:") | .seen and
		.rate == 10e6 and (.text | startswith("class 1:1 of htb 1: (rate 10.0 Mbit/s, "))' \
		1.5 7001
fi
no_qdisc
tc_a qdisc add dev eth0 root handle 10: tbf rate 5mbit burst 10k limit 100k
held "tbf and what it keeps its packets in" '[.qdiscs[] | select(.dev == "eth0").holder] |
	length == 2 and all(.[]; .seen and .kind == "qdisc" and .how == "rate" and .rate == 5e6)' \
	1 7001
if make_htb "tbf above htb" 50mbit 50mbit 20mbit 40mbit; then
	no_qdisc
	tc_a qdisc add dev eth0 root handle 20: tbf rate 5mbit burst 10k limit 100k
	tc_a qdisc add dev eth0 parent 20:1 handle 1: htb default 11
	tc_a class add dev eth0 parent 1: classid 1:11 htb rate 20mbit
	held "tbf above a faster htb" 'q("1:"), q("20:") | .seen and .rate == 5e6 and
		(.text | startswith("tbf 20: (rate 5.00 Mbit/s; "))' 1 7001
	tc_a class change dev eth0 parent 1: classid 1:11 htb rate 2mbit burst 3k cburst 3k
	held "a slower htb below tbf" 'q("1:"), q("20:") | .seen and .rate == 2e6 and
		(.text | startswith("class 1:11 of htb 1: "))' 1.5 7001
fi
no_qdisc
tc_a qdisc add dev eth0 root handle 10: pfifo limit 100
held "the device where nothing limits" 'q("10:") | .kind == "device" and (.seen | not)' 0.3 7001
if hfsc_tree; then
	held "an hfsc class at its ul" 'q("1:") | .seen and .kind == "class" and .rate == 8e6 and
		(.text | startswith("class 1:11 of hfsc 1: (rt 5.00 Mbit/s, ul 8.00 Mbit/s"))' 1.5 7001
fi
no_qdisc
if try "held back by cake" qdisc add dev eth0 root handle 10: cake bandwidth 5mbit; then
	held "cake" 'q("10:") | .seen and .rate == 5e6' 1 7001
fi
no_qdisc
if try "held back by netem" qdisc add dev eth0 root handle 10: netem delay 50ms; then
	held "netem" 'q("10:") | .seen and .how == "delay" and .text == "netem 10: (delay 50.0 ms)"' \
		0.3 7001
fi
