# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Trees of qdiscs, each in a network namespace of its own, all built first and traced at
# the same time by both tiers, then judged (trees.jq). Sourced after tests/lib.sh,
# with tiers set to the names of those wanted. A table says what a tree is:
#
#   tree NAME [queues=N] [devices=N]     begins one: a host with eth0 (and eth1)
#   module NAME...                       modules that nothing else asks for
#   ip_line TEXT, sink_line TEXT         for ip(8), in the tree, or where its packets go
#   qdisc DEVICE PARENT HANDLE KIND...   PARENT is root or a class; packets must come to it
#   class DEVICE PARENT CLASSID KIND...
#   tc_line TEXT                         another line for tc(8)
#   send SENDER..., answer SENDER...     traffic (tests/netns/traffic.c) from the tree, to the tree
#   meanwhile tc|ip TEXT                 a command between them
#   program ARGUMENT...                  traffic ARGUMENT... runs meanwhile
#   drops DEVICE HANDLE...               there it must drop
#   requeues DEVICE HANDLE...            there packets must come back
#   child DEVICE CLASS...                packets must come to the qdisc that was made there
#   idle DEVICE HANDLE...                no packets go there
#   except DEVICE HANDLE NAME            a counter of the kernel's that has no meaning: trees.jq
#   blind DEVICE HANDLE REASON           what the tracepoints tier cannot know, on principle
#
# @0 stands for the network of eth0: @0.1 is the tree's own address, @0.2 the sink's, @0.3
# nobody's (frames that the sink throws away); @t0 is the other end of eth0, at the sink. @1
# and @t1 in the same way; @2 is free. A function setup_NAME runs between ip and tc.

trees=()
declare -A tree_numbers tree_devices tree_queues tree_modules tree_ip tree_sink tree_tc
declare -A tree_traffic tree_programs tree_facts
sink_mac=02:00:00:00:00:02
own_mac=02:00:00:00:00:01
nobody_mac=02:00:00:00:00:03
current=
number=0

tree() {
	local option

	current=$1
	number=$((number + 1))
	trees+=("$current")
	tree_numbers[$current]=$number
	tree_devices[$current]=1
	tree_queues[$current]=1
	for option in "${@:2}"; do
		case $option in
		queues=*) tree_queues[$current]=${option#*=} ;;
		devices=*) tree_devices[$current]=${option#*=} ;;
		esac
	done
}

# add ARRAY TEXT...: one more line of the present tree's
add() {
	local -n to=$1
	local text="${*:2}"

	text=${text//@t/t$number-}
	text=${text//@0./10.$number.0.}
	text=${text//@1./10.$number.1.}
	text=${text//@2./10.$number.2.}
	# An associative array.
	# shellcheck disable=SC2004
	to[$current]+=$text$'\n'
}

module() { add tree_modules "$@"; }
ip_line() { add tree_ip "$@"; }
sink_line() { add tree_sink "$@"; }
tc_line() { add tree_tc "$@"; }
send() { add tree_traffic own "$@"; }
answer() { add tree_traffic sink "$@"; }
meanwhile() { add tree_traffic "$@"; }
program() { add tree_programs "$@"; }

# facts NAME DEVICE HANDLE...: what the judge is told
facts() {
	local handle

	for handle in "${@:3}"; do
		add tree_facts "{\"is\":\"$1\",\"dev\":\"$2\",\"handle\":\"$handle\"}"
	done
}

drops() { facts drops "$@"; }
requeues() { facts requeues "$@"; }
idle() { facts idle "$@"; }
child() { facts child "$@"; }

except() {
	add tree_facts "{\"is\":\"except\",\"dev\":\"$1\",\"handle\":\"$2\",\"what\":\"$3\"}"
}

blind() {
	add tree_facts "{\"is\":\"blind\",\"dev\":\"$1\",\"handle\":\"$2\",\"why\":\"${*:3}\"}"
}

qdisc() {
	local device=$1 parent=$2 handle=$3

	[[ $parent == root ]] || parent="parent $parent"
	add tree_tc "qdisc add dev $device $parent handle $handle ${*:4}"
	facts qdisc "$device" "$handle"
}

class() {
	add tree_tc "class add dev $1 parent $2 classid $3 ${*:4}"
}

# ---- building ----

# A pair of devices for each tree, its other end with the sink.
device_lines() {
	local name=$1 number=${tree_numbers[$1]} device
	local queues="numtxqueues ${tree_queues[$1]} numrxqueues ${tree_queues[$1]}"

	for ((device = 0; device < tree_devices[$name]; device++)); do
		echo "link add t$number-$device address $sink_mac $queues type veth" \
			"peer name eth$device address $own_mac netns $prefix$name $queues"
		echo "link set t$number-$device addrgenmode none"
		echo "link set t$number-$device up"
		echo "address add 10.$number.$device.2/24 dev t$number-$device"
		echo "neigh add 10.$number.$device.1 lladdr $own_mac nud permanent" \
			"dev t$number-$device"
	done
}

own_lines() {
	local name=$1 number=${tree_numbers[$1]} device

	echo "link set lo up"
	for ((device = 0; device < tree_devices[$name]; device++)); do
		# In two steps: the device would come up first.
		echo "link set eth$device addrgenmode none"
		echo "link set eth$device up"
		echo "address add 10.$number.$device.1/24 dev eth$device"
		echo "neigh add 10.$number.$device.2 lladdr $sink_mac nud permanent dev eth$device"
		echo "neigh add 10.$number.$device.3 lladdr $nobody_mac nud permanent dev eth$device"
	done
}

# The kernel's own words for what it has not and found no module for (net/sched/sch_api.c,
# act_api.c, cls_api.c, net/core/rtnetlink.c), and ours for a module.
lacking='Specified qdisc kind is unknown|TC classifier not found|Unknown device type'
lacking+='|Failed to load TC action module|no module'

# batch PROGRAM [OPTION]...: the lines of $work/batch.
batch() {
	local program=$1 line

	shift
	"$program" "$@" -batch "$work/batch" >"$work/batch.out" 2>&1 && return
	line=$(sed -n 's/^Command failed .*:\([0-9]*\)$/\1p/p' "$work/batch.out")
	line=$(sed -n "${line:-1p}" "$work/batch")
	echo "$(sed 's/^Error: //; s/\.$//; q' "$work/batch.out"): $program ${line:0:60}" \
		>"$work/batch.why"
	return 1
}

# A kernel without modules shows what it has when it is used.
modules=/lib/modules/$(uname -r)/kernel
modules_load() {
	local name

	for name in ${tree_modules[$current]:-}; do
		[[ ! -d $modules ]] || modprobe -q "$name" && continue
		echo "no module $name" >"$work/batch.why"
		return 1
	done
}

build_tree() {
	local netns=$prefix$current

	modules_load || return
	{
		own_lines "$current"
		printf '%s' "${tree_ip[$current]:-}"
	} >"$work/batch"
	batch ip -n "$netns" || return
	printf '%s' "${tree_sink[$current]:-}" >"$work/batch"
	[[ ! -s $work/batch ]] || batch ip -n "${prefix}sink" || return
	if declare -F "setup_$current" >/dev/null; then
		"setup_$current" >"$work/batch.why" 2>&1 || return
	fi
	printf '%s' "${tree_tc[$current]}" >"$work/batch"
	batch tc -n "$netns"
}

# A tree that needs what this kernel has not is skipped, any other failure is one.
not_built() {
	local why

	why=$(<"$work/batch.why")
	if grep -qE "$lacking" "$work/batch.why"; then
		skip "$current: $why"
		each_tier_row "$current" skip "$why"
	else
		fail "$current: cannot be built: $why"
		each_tier_row "$current" fail "cannot be built: $why"
	fi
}

# Namespaces in one go: a slow machine takes long to start a program.
build_trees() {
	local built=()

	for current in "${trees[@]}"; do
		made_netns+=("$prefix$current")
		echo "netns add $prefix$current"
	done >"$work/netns"
	ip -batch "$work/netns" || exit 1
	for current in "${trees[@]}"; do
		device_lines "$current"
	done | ip -n "${prefix}sink" -batch - || exit 1
	for current in "${trees[@]}"; do
		if build_tree; then
			built+=("$current")
		else
			not_built
		fi
	done
	trees=("${built[@]}")
}

each_tier_row() {
	local tier

	for tier in "${tiers[@]}"; do
		echo "row $1 $tier $2 $3"
	done
}

# ---- the windows ----

declare -A window_pids
window_options=()

# trace_begin: a window of each tier over all trees; both are there when it returns.
trace_begin() {
	local tier

	# One after the other: each begins at a moment without packets.
	for tier in "${tiers[@]}"; do
		if hold "$tier" "$programs/window" --tier "$tier" --netns-prefix "$prefix" \
			--qdiscs 512 --slice-ms 1000 "${window_options[@]}"; then
			window_pids[$tier]=${held_pid[$tier]}
		else
			fail "$tier: the window did not start: $(tail -n 3 "$work/$tier.err")"
		fi
	done
}

trace_end() {
	local tier status

	for tier in "${!window_pids[@]}"; do
		let_go "$tier"
	done
	for tier in "${!window_pids[@]}"; do
		status=0
		release "$tier" || status=$?
		[[ $status -eq 0 ]] && continue
		fail "$tier: the window ended with status $status: $(tail -n 3 "$work/$tier.err")"
		unset "window_pids[$tier]"
	done
}

# ---- traffic ----

start_programs() {
	local line

	while read -ra line; do
		[[ ${#line[@]} -gt 0 ]] || continue
		"$programs/traffic" "$prefix$current" "${line[@]}" <"$work/stay" \
			>/dev/null 2>"$work/program.err" &
		background+=("$!")
	done <<<"${tree_programs[$current]:-}"
}

run_traffic() {
	local whence line command

	while read -r whence line; do
		case $whence in
		own) command=("$programs/traffic" "$prefix$current") ;;
		sink) command=("$programs/traffic" "${prefix}sink") ;;
		tc | ip) command=("$whence" -n "$prefix$current") ;;
		*) continue ;;
		esac
		read -ra line <<<"$line"
		"${command[@]}" "${line[@]}" >>"$work/traffic.out" 2>"$work/traffic.err" \
			</dev/null && continue
		fail "$current: ${line[*]}: $(head -n 2 "$work/traffic.err")"
	done <<<"${tree_traffic[$current]:-}"
}

# ---- the kernel's own counters, as tc prints them ----

# As JSON made here: not every kind's options come out of tc -j as such.
read_counters() {
	local file=$1

	for current in "${trees[@]}"; do
		echo "netns $prefix$current"
		tc -n "$prefix$current" -s qdisc show invisible
	done | awk '
		$1 == "netns" { netns = $2 }
		$1 == "qdisc" {
			kind = $2; handle = $3; dev = $5; parent = $6 == "root" ? "root" : $7
		}
		$1 == "Sent" {
			sub(/,/, "", $7)
			sub(/\)/, "", $11)
			printf "{\"netns\":\"%s\",\"dev\":\"%s\",\"kind\":\"%s\",\"handle\":\"%s\",", \
				netns, dev, kind, handle
			printf "\"parent\":\"%s\",\"packets\":%s,\"drops\":%s,\"requeues\":%s}\n", \
				parent, $4, $7, $11
		}' >"$file"
}

# ---- the judgement ----

describe_trees() {
	local tree facts

	for tree in "${trees[@]}"; do
		facts=${tree_facts[$tree]:-}
		facts=${facts//\}$'\n'\{/\},\{}
		printf '{"name":"%s","netns":"%s","facts":[%s]}\n' "$tree" "$prefix$tree" "$facts"
	done
}

# judge_trees: prints a result for each tree and tier, and rows.
judge_trees() {
	local tier text traced

	for tier in "${tiers[@]}"; do
		[[ -z ${window_pids[$tier]:-} ]] || continue
		for current in "${trees[@]}"; do
			echo "row $current $tier fail no window of this tier"
		done
	done
	[[ ${#window_pids[@]} -gt 0 ]] || return
	printf -v traced '"%s",' "${!window_pids[@]}"
	for tier in functions tracepoints; do
		[[ -s $work/$tier.json ]] || echo null >"$work/$tier.json"
	done
	describe_trees >"$work/trees.json"
	jq -nr -f "$(dirname "${BASH_SOURCE[0]}")/trees.jq" \
		--slurpfile trees "$work/trees.json" \
		--slurpfile before "$work/before.json" --slurpfile after "$work/after.json" \
		--slurpfile functions "$work/functions.json" \
		--slurpfile tracepoints "$work/tracepoints.json" \
		--slurpfile known "$(dirname "${BASH_SOURCE[0]}")/known_failures.json" \
		--argjson tiers "[${traced%,}]" --arg release "$(uname -r)" \
		>"$work/judged" 2>"$work/jq.err" ||
		fail "the judgement of the trees: $(head -n 3 "$work/jq.err")"
	while IFS= read -r text; do
		echo "$text"
		[[ $text == "FAILED - "* ]] && failed=$((failed + 1))
	done <"$work/judged"
}

# Removed at once and not one by one.
remove_trees() {
	printf 'netns del %s\n' "${made_netns[@]}" | ip -batch - && made_netns=()
}

# trees_begin: build the trees of the table and trace them from now on.
trees_begin() {
	made_netns+=("${prefix}sink")
	ip netns add "${prefix}sink" || exit 1
	ip -n "${prefix}sink" link set lo up
	build_trees
	echo "  built after $SECONDS s: ${#trees[@]} trees"
	mkfifo "$work/stay"
	# Held open: what reads it stays until this script ends.
	# shellcheck disable=SC2034
	exec {stay}<>"$work/stay"
	"$programs/traffic" "${prefix}sink" sink <"$work/stay" >"$work/sink.out" 2>&1 &
	background+=("$!")
	for current in "${trees[@]}"; do
		start_programs
	done
	trace_begin
	echo "  traced after $SECONDS s: ${!window_pids[*]}"
}

# The windows end when nothing moves any more.
trees_end() {
	trace_end
	echo "  quiet after $SECONDS s"
}

# run_trees: all of it.
run_trees() {
	trees_begin
	read_counters "$work/before.json"
	for current in "${trees[@]}"; do
		run_traffic
		echo "  $current: traffic until $SECONDS s"
	done
	trees_end
	read_counters "$work/after.json"
	judge_trees
	echo "  judged after $SECONDS s"
	remove_trees
}
