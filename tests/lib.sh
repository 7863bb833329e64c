# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests in network namespaces share. A test file sources this, makes
# namespaces with make_netns, starts things with in_netns or as jobs, and says
# pass, fail or skip for each thing that it looked at. Everything that was made
# here is gone when the file ends, however it ends.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

programs=${SOJOURN_TEST_PROGRAMS:-build/tests}
# The scripts read it.
# shellcheck disable=SC2034
sojourn=${SOJOURN:-./sojourn}
prefix=${SOJOURN_TEST_PREFIX:-sjt-}$$-
work=$(mktemp -d "/tmp/${prefix}XXXXXX")
made_netns=()
background=()
failed=0

pass() {
	echo "ok - $*"
}

fail() {
	echo "FAILED - $*"
	failed=$((failed + 1))
}

skip() {
	echo "skipped - $*"
}

# check TEXT COMMAND...: pass or fail by the command's exit status.
check() {
	local text=$1

	shift
	if "$@"; then
		pass "$text"
	else
		fail "$text"
	fi
}

# check_jq TEXT FILE FILTER [jq options]: the filter must come out true; what it looked
# at is printed where it does not. (For an empty file jq 1.6 succeeds.)
check_jq() {
	local text=$1 file=$2 filter=$3

	shift 3
	: >"$work/jq.err"
	if [[ -s $file ]] && jq -e "$@" "$filter" "$file" >/dev/null 2>"$work/jq.err"; then
		pass "$text"
	else
		fail "$text: not true: $filter $(head -c 300 "$work/jq.err")"
	fi
}

stop_process() {
	kill "$1" 2>/dev/null && wait "$1" 2>/dev/null
	return 0
}

remove_netns() {
	local name=$1 pid

	for pid in $(ip netns pids "$name" 2>/dev/null); do
		kill -9 "$pid" 2>/dev/null
	done
	ip netns del "$name" 2>/dev/null
}

cleanup() {
	local status=$? pid name running

	trap - EXIT INT TERM
	# The number of one that has ended may be somebody else's by now.
	running=" $(jobs -pr) "
	for pid in "${background[@]}"; do
		[[ ${running//$'\n'/ } == *" $pid "* ]] && stop_process "$pid"
	done
	for name in "${made_netns[@]}"; do
		remove_netns "$name"
	done
	rm -rf "$work"
	[[ $failed -eq 0 && $status -eq 0 ]] || exit 1
	exit 0
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ $EUID -ne 0 ]]; then
	skip "everything in this file: it needs root"
	exit 0
fi

# use_one_cpu: this shell and what it starts from now on share the last CPU, which a
# spinner of the lowest priority keeps from idling. For traffic that timers pace: some
# guest kernels run no BPF program on top of certain processes of the host's, also
# not for the softirqs that interrupt them, and what is handed out in such a
# moment goes unseen. Those processes then find the other CPUs idle and stay there.
# (Nice 19 on purpose: a CPU that runs nothing but SCHED_IDLE counts as idle.)
use_one_cpu() {
	local cpu

	cpu=$(taskset -pc $$ | sed 's/.*[^0-9]//')
	taskset -pc "$cpu" $$ >/dev/null || exit 1
	nice -n 19 setpriv --pdeathsig KILL bash -c 'while :; do :; done' &
	background+=("$!")
}

# make_netns NAME...: namespaces named $prefix$NAME, IPv6 off (its own packets would
# disturb counts) until ipv6_on.
make_netns() {
	local name

	for name in "$@"; do
		made_netns+=("$prefix$name")
		ip netns add "$prefix$name" || exit 1
		in_netns "$name" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1
		in_netns "$name" ip link set lo up
	done
}

in_netns() {
	local name=$1

	shift
	ip netns exec "$prefix$name" "$@"
}

# The same for the background: $! is then the command itself, not a shell around it.
become_in_netns() {
	local name=$1

	shift
	exec ip netns exec "$prefix$name" "$@"
}

# IPv6 without the packets that the kernel would send of its own accord.
ipv6_on() {
	local name

	for name in "$@"; do
		in_netns "$name" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
			net.ipv6.conf.default.accept_dad=0 \
			net.ipv6.conf.default.router_solicitations=0 \
			net.ipv6.conf.default.addr_gen_mode=1 \
			net.ipv6.conf.default.disable_ipv6=0 \
			net.ipv6.conf.all.disable_ipv6=0
	done
}

# veth_pair NETNS DEVICE NETNS DEVICE [ip link options of both ends]
veth_pair() {
	local a=$1 device_a=$2 b=$3 device_b=$4

	shift 4
	in_netns "$a" ip link add "$device_a" "$@" type veth \
		peer name "$device_b" netns "$prefix$b" "$@" || exit 1
	in_netns "$a" ip link set "$device_a" up
	in_netns "$b" ip link set "$device_b" up
}

# make_pair QUEUES: two hosts, a (10.9.0.1) and b (10.9.0.2), device eth0 in both.
make_pair() {
	make_netns a b
	veth_pair a eth0 b eth0 numtxqueues "$1" numrxqueues "$1"
	in_netns a ip addr add 10.9.0.1/24 dev eth0
	in_netns b ip addr add 10.9.0.2/24 dev eth0
}

# client (10.9.1.10) - lan0 router wan0 - server (10.9.2.10)
make_router() {
	make_netns client router server
	veth_pair client eth0 router lan0
	veth_pair router wan0 server eth0
	in_netns client ip addr add 10.9.1.10/24 dev eth0
	in_netns router ip addr add 10.9.1.1/24 dev lan0
	in_netns router ip addr add 10.9.2.1/24 dev wan0
	in_netns server ip addr add 10.9.2.10/24 dev eth0
	in_netns client ip route add default via 10.9.1.1
	in_netns server ip route add default via 10.9.2.1
	in_netns router sysctl -qw net.ipv4.ip_forward=1
}

# hold NAME COMMAND...: a program that works until its standard input ends, which release
# does; waits, two minutes at most, until it says "ready" on standard error ($work/NAME.err).
# What it prints is in $work/NAME.json, its process is ${held_pid[NAME]}. 1: it did not start.
declare -A held_pid held_fd
hold() {
	local name=$1 tries fd

	shift
	# Those of an earlier attempt would say "ready" too soon.
	rm -f "$work/$name".{hold,err,json}
	mkfifo "$work/$name.hold"
	"$@" <"$work/$name.hold" >"$work/$name.json" 2>"$work/$name.err" &
	held_pid[$name]=$!
	background+=("$!")
	exec {fd}>"$work/$name.hold"
	held_fd[$name]=$fd
	for ((tries = 0; tries < 2400; tries++)); do
		grep -qs "^ready" "$work/$name.err" && return
		kill -0 "${held_pid[$name]}" 2>/dev/null || break
		sleep 0.05
	done
	return 1
}

# let_go NAME: its standard input ends. release NAME: that, and its exit status when it has ended.
let_go() {
	local fd=${held_fd[$1]}

	[[ -n $fd ]] && exec {fd}>&-
	held_fd[$1]=
}

release() {
	let_go "$1"
	wait "${held_pid[$1]}"
}

# The window: traces from window_start until window_stop, and leaves its JSON in
# $work/NAME.json. Arguments after NAME go to tests/netns/window.c; namespaces
# are given by their short names through --netns.
window_start() {
	local name=$1 argument arguments=() next_is_netns=0

	shift
	for argument in "$@"; do
		if [[ $next_is_netns -eq 1 ]]; then
			argument=$prefix$argument
		fi
		next_is_netns=0
		[[ $argument == --netns ]] && next_is_netns=1
		arguments+=("$argument")
	done
	hold "$name" "$programs/window" "${arguments[@]}" && return
	fail "$name: the window did not start: $(tail -n 3 "$work/$name.err")"
	exit 1
}

window_stop() {
	local name=$1 status=0

	release "$name" || status=$?
	[[ $status -eq 0 ]] && return 0
	fail "$name: the window ended with status $status: $(tail -n 3 "$work/$name.err")"
	return 1
}

# Packets that the kernel handed out, or took in, while it did not run the programs (see
# use_one_cpu) are no fault of the tracer's. Of a document of window.c or of
# `sojourn run`: is nothing else wrong with its ledgers? Whatever a tracer could do
# wrong is excluded: a packet too many, a drop that it did not see, a requeue that is
# not the kernel's, any other loss, and more packets lost sight of (they seem to wait,
# or to be dropped when their skb is freed elsewhere) than were handed out unseen.
ledgers='
	def unseen: .kernel.packets -
		(.ledger | .measured + .bypassed + .unmatched);
	def lost_sight: .ledger.queued + .ledger.unaccounted - .kernel.backlog_packets;
	def more_drops: .ledger.rejected_skbs + .ledger.dropped_skbs -
		(.counters // .ledger | .rejected_inactive + .purged_skbs) - .kernel.drops;
	def explained: .kernel.packets != null and unseen >= 0 and lost_sight >= 0 and
		more_drops >= 0 and .kernel.requeues == .ledger.requeued and
		if .counters.destroyed then
			lost_sight <= unseen and more_drops <= .ledger.dropped_skbs
		else
			lost_sight + more_drops <= unseen
		end;
	def ledgers: [.qdiscs[] | select(.traced and .root)];
	def lost_otherwise: [.losses | del(.flow_misses, .unmatched, .stale)[] |
		select(. != 0)] != [];
	def only_unseen: (ledgers | length > 0 and all(.[]; explained)) and
		(lost_otherwise | not) and .losses.stale <= (ledgers | map(unseen) | add);
	def any_unseen: any(ledgers[]; unseen > 0 or .ledger.unmatched > 0);
	def told: [ledgers[] | select(unseen > 0 or .ledger.unmatched > 0) |
		"\(.id): handed out unseen \(unseen), offered unseen \(.ledger.unmatched)" +
		" of \(.kernel.packets)"] | join("; ");'
attempts=3

# repeat_unseen NAME COMMAND...: the command opens a window, makes traffic and closes the
# window, whose document is then in $work/NAME.json. Done again, up to 3 times in
# all, where packets that the programs were not shown are all that is wrong; what
# the last attempt shows is judged by the caller. The command's own status.
repeat_unseen() {
	local name=$1 attempt

	shift
	for ((attempt = 1; ; attempt++)); do
		"$@" || return
		[[ $attempt -lt $attempts ]] || return 0
		[[ -s $work/$name.json ]] || return 0
		jq -e "$ledgers only_unseen and any_unseen" "$work/$name.json" >/dev/null ||
			return 0
		echo "  attempt $attempt is repeated: $(jq -r "$ledgers told" "$work/$name.json")"
	done
}

# Figures of a qdisc, for the reader of the log.
print_ledger() {
	jq -r --arg device "$2" '.qdiscs[] | select(.ifname == $device and .root) |
		"  \(.id): offered \(.ledger.offered) = measured \(.ledger.measured)" +
		" + bypassed \(.ledger.bypassed) + rejected \(.ledger.rejected)" +
		" + dropped inside \(.ledger.dropped_inside) + queued \(.ledger.queued)" +
		" + unaccounted \(.ledger.unaccounted); kernel packets \(.kernel.packets)" +
		" drops \(.kernel.drops) requeues \(.kernel.requeues)" +
		" backlog \(.kernel.backlog_packets); agrees \(.agrees) \(.why)"' "$work/$1.json"
}

# check_ledger TEXT NAME DEVICE: the ledger of every root qdisc on the device is exact
# and the kernel agrees. The sum is made here again, so that a wrong 0 in
# unaccounted is found too. A GSO segment handed out without a match is explained
# where SEGMENTS_MAY_MISS is set; check_flow_misses() bounds their number.
check_ledger() {
	local text=$1 name=$2 device=$3

	print_ledger "$name" "$device"
	check_jq "$text: every packet is accounted for" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == $device and .root and .traced) | .ledger] |
		length > 0 and (map(.offered) | add) > 0 and
		all(.[]; ($may_miss * .flow_misses) as $missed | .unaccounted == $missed and
			.offered == .measured + .bypassed + .rejected + .dropped_inside +
				.queued + $missed)' \
		--arg device "$device" --argjson may_miss "${SEGMENTS_MAY_MISS:-0}"
	check_jq "$text: the kernel's counters agree" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == $device and .root and .traced)] |
		length > 0 and all(.[]; .agrees == "yes" and .have_kernel and
			.kernel.packets == .ledger.measured + .ledger.bypassed + .ledger.unmatched and
			(.ledger.queued == 0 or .kernel.backlog_packets > 0) and
			.kernel.drops == .ledger.rejected_skbs + .ledger.dropped_skbs -
				.counters.rejected_inactive - .counters.purged_skbs and
			.kernel.requeues == .ledger.requeued)' \
		--arg device "$device"
}

# No loss of any kind; flow_misses has a bound of its own where segments were seen.
check_losses() {
	local text=$1 name=$2

	jq -c '"  losses \(.losses)"' -r "$work/$name.json"
	check_jq "$text: no losses" "$work/$name.json" \
		'[.losses | to_entries[] | select(.value != 0) |
		select($may_miss == 0 or (.key != "flow_misses" and .key != "unmatched"))] == []' \
		--argjson may_miss "${SEGMENTS_MAY_MISS:-0}"
}

# check_flow_misses TEXT NAME DEVICE: at most 0.1 % of the segments that came out.
check_flow_misses() {
	local text=$1 name=$2 device=$3

	jq -r --arg device "$device" '[.qdiscs[] | select(.ifname == $device and .root) |
		.counters] | "  segments \(map(.segments) | add)," +
		" not matched \(map(.flow_misses) | add)"' "$work/$name.json"
	check_jq "$text: at most 0.1 % of the segments are not matched" "$work/$name.json" '
		[.qdiscs[] | select(.ifname == $device and .root) | .counters] |
		(map(.segments) | add) > 0 and
		(map(.flow_misses) | add) <= (map(.segments) | add) / 1000' --arg device "$device"
}

# wait_empty NETNS DEVICE: until nothing waits in its qdiscs, 10 s at most.
wait_empty() {
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		in_netns "$1" tc -s -j qdisc show dev "$2" |
			jq -e "all(.[]; .qlen == 0)" >/dev/null && return
		sleep 0.1
	done
}

# wait_listening NETNS PORT: until a TCP socket listens there.
wait_listening() {
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		[[ -n $(in_netns "$1" ss -Hltn "sport = :$2") ]] && return 0
		sleep 0.05
	done
	return 1
}

# iperf3_run CLIENT SERVER ADDRESS [client options]: one run; JSON in $work/iperf3.json.
iperf3_run() {
	local client=$1 server=$2 address=$3 pid status=0

	shift 3
	become_in_netns "$server" iperf3 -s -1 -p 5301 >/dev/null 2>&1 &
	pid=$!
	wait_listening "$server" 5301 || return 1
	in_netns "$client" iperf3 -c "$address" -p 5301 -J "$@" >"$work/iperf3.json" || status=$?
	wait "$pid"
	return $status
}

# run_sojourn NAME ARGUMENTS: `sojourn run` with a lab of our own prefix. Leaves
# $work/NAME.json, NAME.out, NAME.err and its exit status in run_status.
run_sojourn() {
	local name=$1

	shift
	run_status=0
	"$sojourn" run --json "$work/$name.json" --set "lab.prefix=$prefix" "$@" \
		>"$work/$name.out" 2>"$work/$name.err" </dev/null || run_status=$?
}

# only_unseen_wrong NAME: is a run incomplete, and packets that the programs were not shown
# are all that is wrong? A probe that was not seen at every point of its way counts as one.
only_unseen_wrong() {
	[[ $run_status -eq 4 && -s $work/$1.json ]] &&
		jq -e "$ledgers"' only_unseen and .iperf3 != null and .attribution != null and
			(.incomplete_why |
				test("^ledger of |seen at every point|differ between ping")) and
			(any_unseen or any(.probes[]; .complete | not))' \
			"$work/$1.json" >/dev/null
}

# repeat_run NAME COMMAND...: as repeat_unseen, for a command that leaves $work/NAME.json and
# run_status as run_sojourn does.
repeat_run() {
	local name=$1 attempt

	shift
	for ((attempt = 1; ; attempt++)); do
		"$@"
		[[ $attempt -lt $attempts ]] && only_unseen_wrong "$name" || return 0
		echo "  attempt $attempt is repeated: $(jq -r "$ledgers"' "\(.incomplete_why); \(told)"' \
			"$work/$name.json")"
	done
}

check_status() {
	local text=$1 wanted=$2 name=$3

	if [[ $run_status -eq $wanted ]]; then
		pass "$text: exit status $wanted"
	else
		fail "$text: exit status $run_status, not $wanted: $(tail -n 2 "$work/$name.err")"
	fi
}

# Ids of BPF programs and maps that no process holds: of a killed tracer, if any.
orphaned_bpf() {
	local kind=$1 held

	held=$(grep -hs "^${kind}_id:" /proc/[0-9]*/fdinfo/* | awk '{ print $2 }' | sort -u)
	bpftool -j "$kind" show 2>/dev/null | jq -r '.[]?.id' | sort -u |
		comm -23 - <(echo "$held")
}

bpf_before=$(orphaned_bpf prog)
maps_before=$(orphaned_bpf map)

# What a run with our prefix, or its death, left; nothing where all is well.
list_leftovers() {
	local name

	for name in /run/netns/"$prefix"{client,router,gw,modem,server}; do
		[[ -e $name ]] && echo "network namespace $name"
	done
	[[ -e /run/sojourn/$prefix.lab ]] && echo "state file /run/sojourn/$prefix.lab"
	ip -o link show 2>/dev/null | grep -E ': (lan0|wan0)[@:]'
	orphaned_bpf prog | comm -13 <(echo "$bpf_before") - | sed 's/^/BPF program /'
	orphaned_bpf map | comm -13 <(echo "$maps_before") - | sed 's/^/BPF map /'
}

# leftovers SECONDS: waits so long for the list to become empty, then prints it.
leftovers() {
	local deadline=$((SECONDS + $1)) left

	while :; do
		left=$(list_leftovers)
		[[ -n $left && $SECONDS -lt $deadline ]] || break
		sleep 0.2
	done
	echo "$left"
}

check_nothing_left() {
	local text=$1 left

	left=$(leftovers 3)
	if [[ -z $left ]]; then
		pass "$text: nothing left behind"
	else
		fail "$text: left behind: $left"
	fi
}
