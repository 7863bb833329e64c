#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A run that is killed, interrupted or terminated at any moment leaves nothing
# behind: no namespace, device, process, BPF program or map, state file, and no
# half output file.
source "$(dirname "$0")/../lib.sh"

moments=${KILL_MOMENTS:-50}
longest_ms=5000
short=(--set idle.seconds=1 --set load.seconds=2 --set recovery.seconds=1
	--set load.margin=0.3 --set recovery.margin=0.3 --set restored.count=5)
mkdir "$work/out"

# killed MILLISECONDS SIGNAL: leaves kill_after's report in $work/killed.json.
killed() {
	rm -f "$work/out"/*
	"$programs/kill_after" "$1" "$2" 5000 "$sojourn" run --json "$work/out/run.json" \
		--set "lab.prefix=$prefix" "${short[@]}" \
		>"$work/killed.json" 2>"$work/killed.err"
}

# What is wrong after that, in words; nothing where all is well.
wrong_after() {
	local left files file

	left=$(jq -r .left "$work/killed.json")
	[[ $left == 0 ]] || echo "$left processes still lived after 5 s"
	leftovers 3
	files=$(find "$work/out" -mindepth 1)
	for file in $files; do
		[[ $file == "$work/out/run.json" ]] && jq -e .schema "$file" >/dev/null 2>&1 && continue
		echo "file $file"
	done
}

kill_at_random() {
	local number at wrong bad=0 slowest=0 last

	for ((number = 0; number < moments; number++)); do
		at=$((RANDOM * 32768 + RANDOM))
		at=$((at % longest_ms))
		killed $at 9
		last=$(jq -r .last_end_ms "$work/killed.json")
		[[ $last -gt $slowest ]] && slowest=$last
		wrong=$(wrong_after)
		[[ -z $wrong ]] && continue
		bad=$((bad + 1))
		echo "  killed after $at ms: $wrong"
		"$sojourn" lab down --force "$prefix" >/dev/null 2>&1
	done
	echo "  the last process ended at most $slowest ms after the kill"
	if [[ $bad -eq 0 ]]; then
		pass "killed at $moments random moments: leftovers 0"
	else
		fail "killed at $moments random moments: something left after $bad of them"
	fi
}

# interrupted NAME SIGNAL EXIT_STATUS MILLISECONDS...
interrupted() {
	local name=$1 signal=$2 wanted=$3 at wrong

	shift 3
	for at in "$@"; do
		killed "$at" "$signal"
		wrong=$(wrong_after)
		if [[ -n $wrong ]]; then
			fail "$name after $at ms: $wrong"
		else
			pass "$name after $at ms: nothing left behind"
		fi
		check_jq "$name after $at ms: exit status $wanted, within 3 s" "$work/killed.json" \
			'.killed and .exit == $wanted and .last_end_ms < 3000' \
			--argjson wanted "$wanted"
	done
}

# The run and the process that cleans up after it die together: the next run says
# so, and `lab down` removes exactly what they made.
guard_killed_too() {
	local pid children before status=0

	ip netns add "${prefix}other"
	made_netns+=("${prefix}other" "${prefix}client" "${prefix}router" "${prefix}server")
	"$sojourn" run --set "lab.prefix=$prefix" "${short[@]}" >/dev/null 2>&1 </dev/null &
	pid=$!
	sleep 2
	children=$(<"/proc/$pid/task/$pid/children")
	# Several pids on purpose. The guard first, while the run still lives.
	# shellcheck disable=SC2086
	kill -STOP $pid && kill -9 $children $pid
	wait $pid
	before=$(list_leftovers)
	if [[ -z $before ]]; then
		fail "the run and its guard were killed, and yet nothing is left to clean up"
		return
	fi
	run_sojourn again "${short[@]}"
	check_status "a run beside what a dead one left" 3 again
	check "it says how to mend it" grep -q 'sojourn lab down' "$work/again.err"
	"$sojourn" lab down "$prefix" >"$work/down.out" 2>&1 || status=$?
	sed 's/^/  /' "$work/down.out"
	check "lab down succeeds" [ $status -eq 0 ]
	check_nothing_left "lab down"
	check "lab down left the other namespace alone" [ -e "/run/netns/${prefix}other" ]
}

kill_at_random
interrupted SIGINT 2 130 300 1500 3000
interrupted SIGTERM 15 143 300 1500 3000
guard_killed_too
