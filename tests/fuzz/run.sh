#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every fuzzing program over its corpus, then for a time over what it makes of it:
#
#   tests/fuzz/run.sh [SECONDS]     of each; 3
#   tests/fuzz/run.sh 600 result    one of them, for longer
#
# They are built by "make fuzz". What makes one fail is left in build/fuzz/crashes.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

seconds=${1:-3} only=${2:-*}
programs=${SOJOURN_FUZZ_PROGRAMS:-build/fuzz/fuzz}
crashes=$PWD/build/fuzz/crashes
[[ $seconds =~ ^[0-9]+$ ]] || {
	echo "run.sh: '$seconds' is no number of seconds" >&2
	exit 2
}
mkdir -p "$crashes"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# fuzz NAME
fuzz() {
	local name=$1 runs

	mkdir "$work/$name"
	if "$programs/fuzz_$name" -max_total_time="$seconds" -print_final_stats=1 -rss_limit_mb=4096 \
		-timeout=20 -artifact_prefix="$crashes/$name-" "$work/$name" \
		"tests/fuzz/corpus/$name" >"$work/$name.out" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.out")
		echo "ok - fuzz $name: $runs inputs in $seconds s"
		return
	fi
	echo "FAILED - fuzz $name: see $crashes"
	tail -n 40 "$work/$name.out"
	failed=1
}

for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	# A glob on purpose.
	# shellcheck disable=SC2053
	[[ $name == $only ]] && fuzz "$name"
done
exit $failed
