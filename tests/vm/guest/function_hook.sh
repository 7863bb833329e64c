#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs at functions of the kernel that are given by address: each way runs them
# for every packet, at entry and at return, in modules that are loaded later too.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

packets=300
kprobes=/sys/kernel/debug/kprobes/list

# address FUNCTION MODULE ("" for the kernel itself)
address() {
	awk -v name="$1" -v module="${2:+[$2]}" \
		'$3 == name && $4 == module && $2 ~ /^[tT]$/ { print $1; exit }' /proc/kallsyms
}

# The module of a kind's functions; "" where it is built in.
module_of() {
	modprobe -q "$1" && grep -q "^$1 " /proc/modules && echo "$1"
}

# A device that takes every packet, so that what is enqueued is dequeued too.
make_tree() {
	make_netns a
	in_netns a ip link add d0 type dummy
	in_netns a ip addr add 10.9.0.1/24 dev d0
	in_netns a ip link set d0 up
	in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev d0
	in_netns a tc qdisc add dev d0 root handle 1: htb default 1
	in_netns a tc class add dev d0 parent 1: classid 1:1 htb rate 100mbit quantum 15000
	in_netns a tc qdisc add dev d0 parent 1:1 handle 2: tbf rate 50mbit burst 64kb latency 400ms
	in_netns a tc qdisc add dev d0 parent 2: handle 3: sfq
}

# What the kernel counted in every qdisc of the tree: the same, as nothing is dropped.
tree_packets() {
	in_netns a tc -s -j qdisc show dev d0 |
		jq 'if all(.[]; .drops == 0 and .qlen == 0) then .[0].packets else -1 end'
}

# read_answer SECONDS: the next answer, in $answer.
read_answer() {
	local deadline=$((SECONDS + $1))

	asked=$((asked + 1))
	while [[ $SECONDS -lt $deadline ]]; do
		[[ $(wc -l <"$work/answers") -ge $asked ]] && break
		kill -0 "$hooking" 2>/dev/null || break
		sleep 0.05
	done
	answer=$(sed -n "${asked}p" "$work/answers")
	[[ -n $answer ]] || answer="nothing: $(<"$work/errors")"
}

# ask ROLE ADDRESS
ask() {
	echo "$1 $2" >&"$lines"
	read_answer 60
}

start() {
	rm -f "$work/lines" "$work/answers"
	mkfifo "$work/lines"
	"$programs/hook_function" "$@" <"$work/lines" >"$work/answers" 2>"$work/errors" &
	hooking=$!
	background+=("$hooking")
	exec {lines}>"$work/lines"
	asked=0
	read_answer 120
	[[ $answer == ready ]] && return
	fail "$way: the programs were not loaded: $answer"
	exit 1
}

finish() {
	local status=0

	exec {lines}>&-
	wait "$hooking" || status=$?
	sed -n "$((asked + 1))p" "$work/answers" >"$work/hooks.json"
	jq -r '.[] | "  \(.how) \(.name): \(.runs) runs, \(.skipped) skipped \(.why)"' \
		"$work/hooks.json"
	return $status
}

hook_kind() {
	local kind=$1 module

	module=$(module_of "sch_$kind")
	ask enqueue "$(address "${kind}_enqueue" "$module")"
	check "$way: ${kind}_enqueue: $answer" [ "$answer" = hooked ]
	ask dequeue "$(address "${kind}_dequeue" "$module")"
	check "$way: ${kind}_dequeue: $answer" [ "$answer" = hooked ]
}

# Every run of the enqueue functions and every hand-out, none more and none less. A
# hand-out is at most one of the dequeue function's calls.
check_runs() {
	check_jq "$way: as many runs as packets" "$work/hooks.json" '
		[.[] | select(.name | test("^(htb|tbf|sfq)_enqueue"))] |
		length == 6 and all(.[]; .runs + .skipped == $packets and .runs > 0)' \
		--argjson packets "$1"
	check_jq "$way: a run for each hand-out" "$work/hooks.json" '
		[.[] | select(.name | test("^(htb|tbf|sfq)_dequeue"))] |
		length == 3 and all(.[]; .runs + .skipped >= $packets)' --argjson packets "$1"
	check_jq "$way: nothing runs elsewhere" "$work/hooks.json" '
		[.[] | select(.name | test("^prio_"))] |
		length == 3 and all(.[]; .runs == 0 and .skipped == 0)'
}

check_ways() {
	check_jq "$way: the functions of modules are named so" "$work/hooks.json" '
		all(.[] | select(.name | contains("sfq_")); .name == $name or .name == $other)' \
		--arg name "sfq_enqueue${sfq:+ [$sfq]}" --arg other "sfq_dequeue${sfq:+ [$sfq]}"
	case $way in
	kprobe)
		check_jq "$way: no other way" "$work/hooks.json" \
			'all(.[]; .why == "" and (.how == "kprobe" or .how == "kretprobe"))'
		;;
	*)
		check_jq "$way: by trampoline, or it is told why not" "$work/hooks.json" \
			'all(.[]; (.how | test("^(fentry|fexit)$")) == (.why == ""))'
		;;
	esac
}

# One way, from the hooks to their removal; prio is loaded in between.
try_way() {
	local before after sfq ended

	rmmod sch_prio 2>/dev/null
	sfq=$(module_of sch_sfq)
	way=${1:-both}
	start "$@"
	for kind in htb tbf sfq; do
		hook_kind "$kind"
	done
	hook_kind prio
	ask enqueue 10
	check "$way: an address of nothing: ${answer%%;*}" [ "${answer%% *}" = failed ]
	before=$(tree_packets)
	in_netns a ping -q -c "$packets" -i 0.002 -W 0.01 10.9.0.2 >/dev/null
	after=$(tree_packets)
	check "$way: $((after - before)) packets passed, none was dropped" \
		[ "$before" -ge 0 -a $((after - before)) -ge "$packets" ]
	finish
	ended=$?
	check "$way: ends well $(<"$work/errors")" [ "$ended" -eq 0 ]
	check_runs $((after - before))
	check_ways
	check "$way: no kprobe is left" [ ! -s "$kprobes" ]
}

# Trampolines in modules need their BTF.
can_trampolines() {
	modprobe -q sch_htb
	[[ -e /sys/kernel/btf/sch_htb ]]
}

make_tree
if can_trampolines; then
	try_way fentry
else
	way=fentry
	start fentry
	ask dequeue "$(address htb_dequeue sch_htb)"
	finish
	check "fentry: $answer" [ "${answer#*the kernel has no BTF of the module sch_htb}" != "$answer" ]
	try_way
fi
try_way kprobe
