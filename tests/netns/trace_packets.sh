#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `sojourn trace`: a record for each packet. What the file holds is compared with the
# ledger and histogram of a window at the same time (another tracer), and with the
# kernel's own counters. What cannot be written is counted, or told, and nothing hangs.
source "$(dirname "$0")/../lib.sh"

# Timers pace the packets of htb and tbf.
use_one_cpu
make_pair 1
in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0

# trace_start NAME ARGUMENTS: `sojourn trace` in the background, until it traces. Its
# stdout goes to trace_out or $work/NAME.out, its stderr to $work/NAME-trace.err.
trace_start() {
	local name=$1 tries

	shift
	: >"$work/$name-trace.err"
	# a shell has its background jobs ignore SIGINT
	env --default-signal=INT "$sojourn" trace --netns "${prefix}a" "$@" \
		>"${trace_out:-$work/$name.out}" 2>"$work/$name-trace.err" &
	trace_pid=$!
	background+=("$trace_pid")
	for ((tries = 0; tries < 300; tries++)); do
		grep -q "^tracing" "$work/$name-trace.err" && return 0
		kill -0 "$trace_pid" 2>/dev/null || break
		sleep 0.05
	done
	fail "$name: the trace did not start: $(tail -n 3 "$work/$name-trace.err")"
	exit 1
}

# trace_stop [SIGNAL]: its exit status is then in run_status.
trace_stop() {
	run_status=0
	[[ $# -eq 0 ]] || kill -"$1" "$trace_pid"
	wait "$trace_pid" || run_status=$?
}

# traced NAME SECONDS: a flood in a window and in a trace.
traced() {
	window_start "$1" --netns a
	in_netns a tc -s -j qdisc show dev eth0 >"$work/$1.tc"
	trace_start "$1" -o "$work/$1.packets"
	in_netns a "$programs/flood" --device eth0 --seconds "$2" >"$work/$1.flood"
	wait_empty a eth0
	sleep 0.2
	trace_stop INT
	window_stop "$1" || return
	"$sojourn" trace --read "$work/$1.packets" --summary --json >"$work/$1.sums" \
		2>"$work/$1.read"
	in_netns a tc -s -j qdisc show dev eth0 >>"$work/$1.tc"
}

# Of the lines of --summary --json, and of the window's document.
sums='
	def sums($outcome): [.[] | select(.type == "summary" and .outcome == $outcome and
		(.qdisc | contains("/eth0/")))];
	def packets($outcome): sums($outcome) | map(.packets) | add // 0;
	def records($outcome): sums($outcome) | map(.records) | add // 0;
	def root: $window[0].qdiscs[] | select(.ifname == "eth0" and .root and .traced);
	def near($other): (. - $other | fabs) <= $other * 0.035 + 64;'

check_sums() {
	local text=$1 name=$2

	shift 2
	check_jq "$text" "$work/$name.sums" "$sums $1" -s --slurpfile window "$work/$name.json"
}

# one TEXT NAME SECONDS FILTER: what is true for every qdisc; FILTER is true of the sums.
one() {
	local text=$1 name=$2

	repeat_unseen "$name" traced "$name" "$3" || return
	echo "  flood: $(jq -c 'del(.cpu_ns)' "$work/$name.flood")"
	"$sojourn" trace --read "$work/$name.packets" --summary 2>&1 | sed -n 's/./  &/p'
	check_status "$text" 0 "$name-trace"
	check_sums "$text: the file's packets are those of the ledger" "$name" '
		packets("measured") == (root | .ledger.measured) and
		packets("bypassed") == (root | .ledger.bypassed) and
		packets("rejected") == (root | .ledger.rejected) and
		packets("dropped") == (root | .ledger.dropped_inside) and
		records("repeated") == (root | .ledger.requeued) and
		packets("unmatched") == 0'
	check_sums "$text: and those of the kernel's counters" "$name" '
		packets("measured") + packets("bypassed") == (root | .kernel.packets) and
		packets("rejected") + packets("dropped") == (root | .kernel.drops)'
	check_jq "$text: tc says the same" "$work/$name.tc" "$sums"'
		map(.[] | select(.handle == "10:")) as [$before, $after] | $sums |
		packets("measured") + packets("bypassed") == $after.packets - $before.packets and
		packets("rejected") + packets("dropped") == $after.drops - $before.drops' -s \
		--slurpfile sums "$work/$name.sums" --slurpfile window "$work/$name.json"
	check_sums "$text: the trace itself compared them" "$name" \
		'[.[] | select(.type == "ledger") | .agrees] == [true] and
		(.[] | select(.type == "end") | .kernel_compared and .complete)'
	check_sums "$text: what is told" "$name" "$4"
}

# set_qdisc ARGUMENTS OF tc
set_qdisc() {
	in_netns a tc qdisc del dev eth0 root 2>/dev/null
	in_netns a tc qdisc add dev eth0 root handle 10: "$@"
}

set_qdisc htb default 1
in_netns a tc class add dev eth0 parent 10: classid 10:1 htb rate 50mbit quantum 60000
one "htb, a class of 50 Mbit/s" htb 1.2 '
	packets("measured") > 50000 and records("measured") == packets("measured") and
	(sums("measured")[0].sojourn_ns as $told | root | .sojourn_ns as $known |
		all("p50", "p99"; . as $p | $told[$p] | near($known[$p])) and
		($told.max | near($known.max)))'

# The same file in other words.
"$sojourn" trace --read "$work/htb.packets" --json >"$work/htb.lines"
check_jq "JSON Lines: one for each record, in the order of the file" "$work/htb.lines" '
	[.[] | select(.type == "packet")] as $packets |
	($packets | length) == (.[-1] | .records) and .[-1].type == "end" and
	($packets | map(.packets) | add) == .[-1].packets and
	.[0].type == "start" and .[0].started_ns < $packets[0].time_ns and
	all($packets[]; .sojourn_ns >= 0 and .length == 64)' -s
"$sojourn" trace --read "$work/htb.packets" >"$work/htb.text"
check "text: a line for each record" [ "$(grep -cv '^#' "$work/htb.text")" -eq \
	"$(jq 'select(.type == "end") | .records' "$work/htb.lines")" ]

# Its first half: all whole batches, and a word about the rest.
size=$(stat -c %s "$work/htb.packets")
head -c $((size / 2)) "$work/htb.packets" >"$work/half.packets"
run_status=0
"$sojourn" trace --read "$work/half.packets" >"$work/half.text" 2>"$work/half.err" || run_status=$?
check_status "a file that is cut" 2 half
check "a file that is cut: what is whole is printed" \
	diff -q <(head -n "$(wc -l <"$work/half.text")" "$work/htb.text") "$work/half.text"
check "a file that is cut: that is about half" \
	[ "$(wc -l <"$work/half.text")" -gt $(($(wc -l <"$work/htb.text") * 49 / 100)) ]
check "a file that is cut: one line tells it" [ "$(wc -l <"$work/half.err")" -eq 1 ]

set_qdisc tbf rate 20mbit burst 5kb limit 5kb
one "tbf that rejects" tbf 0.5 'packets("rejected") > 100 and packets("measured") > 1000'

set_qdisc pfifo_fast
one "pfifo_fast, bypassed" pfifo_fast 0.3 'packets("bypassed") > 1000 and
	all(sums("bypassed")[]; .sojourn_ns.max == 0)'

# Few packets: all of them at once, and told soon.
set_qdisc htb
trace_start slow --json
in_netns a "$programs/udp_gso_flows" 10.9.0.2 1 1 50 1 100 >/dev/null
sleep 0.5
cp "$work/slow.out" "$work/slow.soon"
trace_stop TERM
check_status "a low rate, ended by SIGTERM" 0 slow-trace
check_jq "a low rate: told within half a second" "$work/slow.soon" \
	'map(select(.type == "packet")) | length > 0' -s
check_jq "a low rate: no loss" "$work/slow.out" '.[-1] | .type == "end" and .complete and
	.records > 0 and ([.losses[]] | length > 10 and all(. == 0))' -s

trace_start count --count 100 -o "$work/count.packets"
in_netns a "$programs/flood" --device eth0 --seconds 0.2 >/dev/null
trace_stop
check_status "--count" 0 count-trace
"$sojourn" trace --read "$work/count.packets" --json >"$work/count.lines"
check_jq "--count 100: so many records" "$work/count.lines" \
	'map(select(.type == "packet")) | length == 100' -s

# A pipe that nobody reads, held open: the packets are counted as lost.
mkfifo "$work/pipe"
exec {pipe}<>"$work/pipe"
for format in -o --json; do
	begin=$SECONDS
	if [[ $format == -o ]]; then
		trace_start unread -o "$work/pipe" --seconds 1
	else
		trace_out=$work/pipe trace_start unread --json --seconds 1
	fi
	in_netns a "$programs/flood" --device eth0 --seconds 0.3 >/dev/null
	trace_stop
	check_status "a pipe that nobody reads ($format)" 4 unread-trace
	check "a pipe that nobody reads ($format): no hang" [ $((SECONDS - begin)) -le 15 ]
	check "a pipe that nobody reads ($format): what is lost is counted" \
		grep -qE "incomplete: nobody took the last [1-9][0-9]* records" "$work/unread-trace.err"
done
exec {pipe}>&-

# A reader that goes away.
mkfifo "$work/closing"
head -c 1000 "$work/closing" >/dev/null &
background+=("$!")
trace_out=$work/closing trace_start closed -o -
in_netns a "$programs/flood" --device eth0 --seconds 0.3 >/dev/null
trace_stop
check_status "a pipe that is closed" 3 closed-trace
check "a pipe that is closed: one line" [ "$(grep -c "^sojourn trace: " "$work/closed-trace.err")" -eq 1 ]

# A disk that is full.
mkdir "$work/small"
if mount -t tmpfs -o size=256k "${prefix}small" "$work/small"; then
	trace_start full -o "$work/small/packets"
	in_netns a "$programs/flood" --device eth0 --seconds 0.3 >/dev/null
	trace_stop
	check_status "a full disk" 3 full-trace
	run_status=0
	"$sojourn" trace --read "$work/small/packets" --summary --json >"$work/full.sums" \
		2>"$work/full-read.err" || run_status=$?
	check_status "a full disk: the file is cut" 2 full-read
	check_jq "a full disk: what is there can be read" "$work/full.sums" \
		'[.[] | select(.type == "summary") | .records] | add > 7000' -s
	umount "$work/small"
else
	skip "a full disk: tmpfs cannot be mounted"
fi

# Places.
ln -s htb.packets "$work/link"
run_status=0
"$sojourn" trace -o "$work/link" --seconds 1 >/dev/null 2>"$work/link.err" || run_status=$?
check_status "a symbolic link is not followed" 2 link
check "a symbolic link: what it leads to is as it was" \
	[ "$(stat -c %s "$work/htb.packets")" -eq "$size" ]

# A device that is nowhere; and one that comes later.
run_status=0
"$sojourn" trace --netns "${prefix}a" -i nowhere0 --seconds 0.2 >/dev/null 2>"$work/nowhere.err" ||
	run_status=$?
check_status "a device that never came" 4 nowhere
check "it is told at the begin and at the end" \
	[ "$(grep -cE '^no device nowhere0 yet|incomplete: no device nowhere0 was there' \
		"$work/nowhere.err")" -eq 2 ]
run_status=0
"$sojourn" trace --netns "${prefix}a" -i later0 --seconds 2 >/dev/null 2>"$work/later.err" &
later=$!
sleep 0.7
in_netns a ip link add later0 type ifb
in_netns a ip link set later0 up
wait $later || run_status=$?
check_status "a device that came later" 0 later

# A reader that has enough.
set +o pipefail
"$sojourn" trace --read "$work/htb.packets" 2>"$work/enough.err" | head -n 1 >/dev/null
check "a reader that has enough: ended by SIGPIPE, without a word" \
	[ "${PIPESTATUS[0]} $(wc -c <"$work/enough.err")" = "141 0" ]
