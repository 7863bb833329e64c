#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Bad input, and machines that lack something: one clear line and the exit status
# of the contract each time, and nothing left behind.
source "$(dirname "$0")/../lib.sh"

short=(--set idle.seconds=1 --set load.seconds=3 --set recovery.seconds=1
	--set recovery.margin=0.3 --set restored.count=5)

# judge TEXT STATUS WANTED PATTERN: one line of ours on stderr, with PATTERN in it.
judge() {
	local text=$1 status=$2 wanted=$3 pattern=$4 lines

	lines=$(grep -c '^sojourn' "$work/bad.err")
	echo "  $text: $(grep '^sojourn' "$work/bad.err" | head -n 1)"
	if [[ $status -ne $wanted ]]; then
		fail "$text: exit status $status, not $wanted"
	elif [[ $lines -ne 1 ]]; then
		fail "$text: $lines lines of ours on standard error"
	elif ! grep '^sojourn' "$work/bad.err" | grep -qiE -- "$pattern"; then
		fail "$text: the line does not say $pattern"
	else
		pass "$text"
	fi
}

# bad TEXT WANTED PATTERN COMMAND...
bad() {
	local text=$1 wanted=$2 pattern=$3 status=0

	shift 3
	timeout 60 "$@" >"$work/bad.out" 2>"$work/bad.err" </dev/null || status=$?
	judge "$text" $status "$wanted" "$pattern"
}

# The same for errors that must come before anything is made, and alone.
bad_at_once() {
	local text=$1 begin=$SECONDS

	bad "$@"
	if [[ $(wc -l <"$work/bad.err") -ne 1 ]]; then
		fail "$text: more on standard error than one line"
	elif [[ $((SECONDS - begin)) -gt 3 ]]; then
		fail "$text: it took $((SECONDS - begin)) s to say so"
	fi
}

run=("$sojourn" run --set "lab.prefix=$prefix")

# Usage.
bad_at_once "unknown command" 2 'did you mean "run"' "$sojourn" rnu
bad_at_once "unknown scenario" 2 'bottleneck' "${run[@]}" botleneck
bad_at_once "unknown option" 2 'jason' "${run[@]}" --jason x
bad_at_once "unknown key" 2 'qdisc\.rate' "${run[@]}" --set qdisc.rat=1mbit
bad_at_once "a key without a value" 2 'qdisc\.rate' "${run[@]}" --set qdisc.rate
bad_at_once "bad rate" 2 'qdisc\.rate' "${run[@]}" --set qdisc.rate=fast
bad_at_once "negative rate" 2 'qdisc\.rate' "${run[@]}" --set qdisc.rate=-1mbit
bad_at_once "bad burst" 2 'qdisc\.burst' "${run[@]}" --set qdisc.burst=big
bad_at_once "bad time" 2 'qdisc\.latency' "${run[@]}" --set qdisc.latency=soon
bad_at_once "no seconds of load" 2 'load\.seconds' "${run[@]}" --set load.seconds=0
bad_at_once "too few probes" 2 'probe\.count' "${run[@]}" --set probe.count=5
bad_at_once "bad prefix" 2 'lab\.prefix' "$sojourn" run --set lab.prefix=../x
bad_at_once "bad protocol" 2 'load\.proto' "${run[@]}" --set load.proto=sctp
bad_at_once "a --fail-if that is none" 2 'fail-if' "${run[@]}" --fail-if 'nonsense >'

# Results that are none.
echo '{"schema":"sojourn/9","scenario":{},"qdiscs":[],"phases":[]}' >"$work/later.json"
printf '{"schema":"sojourn/1",\n"qdiscs":[{' >"$work/cut.json"
suite=("$sojourn" suite bottleneck --set "lab.prefix=$prefix")
touch "$work/file"
bad_at_once "unknown suite" 2 'did you mean rtt30' "$sojourn" suite rtt31
bad_at_once "no such run" 2 'no run and no class' "${suite[@]}" --only nosuch
bad_at_once "no repeat" 2 'it takes 1 to 100' "${suite[@]}" --repeat 0
bad_at_once "a scale that is none" 2 'time-scale nan' "${suite[@]}" --time-scale nan
bad_at_once "results into a file" 2 'it is not a directory' "${suite[@]}" --out "$work/file"
bad_at_once "results into nowhere" 2 'it cannot be made' "${suite[@]}" --out "$work/none/below"
bad_at_once "a key that no run has" 2 'qdisc\.rat' "${suite[@]}" --set qdisc.rat=1mbit
bad_at_once "report without a file" 2 'no file is given' "$sojourn" report
bad_at_once "report of no file" 2 'none.json.*No such file' "$sojourn" report "$work/none.json"
bad_at_once "report of a directory" 2 'Is a directory' "$sojourn" report "$work"
bad_at_once "report of something else" 2 'sojourn:1:1: no JSON' "$sojourn" report "$sojourn"
bad_at_once "report of half a file" 2 'cut.json:2:[0-9]+: no JSON' \
	"$sojourn" report "$work/cut.json"
bad_at_once "report of another schema" 2 'schema is sojourn/9: this sojourn reads sojourn/1' \
	"$sojourn" report "$work/later.json"
bad_at_once "report of nothing on standard input" 2 'standard input:1:1' "$sojourn" report -
bad_at_once "report too narrow" 2 'width 5: it takes 40' "$sojourn" report --width 5 x
bad_at_once "report with an unknown option" 2 'did you mean "--width"' "$sojourn" report --with 80
bad_at_once "tables of two results" 2 'csv takes one file' "$sojourn" report --csv x a b
bad_at_once "compare of one result" 2 'takes two results' "$sojourn" compare "$work/cut.json"
bad_at_once "compare of none" 2 'none.json.*No such file' \
	"$sojourn" compare "$work/none.json" "$work/later.json"
bad_at_once "compare with a condition that is none" 2 'expected before., after. or change.' \
	"$sojourn" compare --fail-if 'load.rtt.p50 > 1' a b
bad_at_once "compare with no such confidence" 2 'confidence 100: it takes 50 to 99.9' \
	"$sojourn" compare --confidence 100 a b
mkdir "$work/nothing"
bad_at_once "compare of an empty directory" 2 'nothing has no file named' \
	"$sojourn" compare "$work/nothing" a

# Output.
bad_at_once "unwritable output file" 2 'no-such-directory' \
	"${run[@]}" --json "$work/no-such-directory/run.json"
mkdir "$work/full"
if mount -t tmpfs -o size=16k tmpfs "$work/full"; then
	bad "disk full" 3 'space' "${run[@]}" "${short[@]}" --json "$work/full/run.json"
	if [[ -e $work/full/run.json ]]; then
		fail "disk full: half a file is left"
	else
		pass "disk full: no half file"
	fi
	umount "$work/full"
else
	skip "disk full: tmpfs cannot be mounted here"
fi

# Names in use: refused, and what has the name stays as it is.
make_netns client
before=$(stat -Lc %i "/run/netns/${prefix}client")
bad_at_once "names in use" 3 "${prefix}client" "${run[@]}"
check "the namespace that had the name is untouched" \
	[ "$(stat -Lc %i "/run/netns/${prefix}client")" = "$before" ]
remove_netns "${prefix}client"

# Privileges. The binary has to lie where everybody can reach it.
open=$(mktemp -d "/tmp/${prefix}open.XXXXXX")
chmod 755 "$open"
cp "$sojourn" "$open/sojourn"
bad_at_once "no root" 3 'root|CAP_' setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$open/sojourn" run --set "lab.prefix=$prefix"
setpriv --reuid 65534 --regid 65534 --clear-groups "$open/sojourn" doctor >"$work/bad.out" 2>&1
check "doctor without root: exit status 3" [ $? -eq 3 ]
check "doctor without root names what is missing" grep -qiE 'root|CAP_' "$work/bad.out"
rm -r "$open"

# "${hidden[@]}" FILE WHAT COMMAND...: the command with WHAT in the place of FILE, in a
# mount namespace of its own.
hidden=(unshare -m bash -c 'mount --bind "$2" "$1" && shift 2 && exec "$@"' hidden)

mkdir "$work/empty"
real=$(command -v iperf3)
bad_at_once "iperf3 missing" 3 'iperf3' "${hidden[@]}" "$real" /dev/null "${run[@]}"
bad_at_once "ping missing" 3 'ping' "${hidden[@]}" "$(command -v ping)" /dev/null "${run[@]}"
bad_at_once "no BTF" 3 'BTF' "${hidden[@]}" /sys/kernel/btf "$work/empty" "${run[@]}"

# fake NAME: an iperf3 whose client behaves as the body on stdin says; $real is the
# true one.
fake() {
	cp "$real" "$work/iperf3.real"
	{
		echo '#!/bin/bash'
		echo "real=$work/iperf3.real"
		echo 'for argument in "$@"; do [[ $argument == -c ]] && client=1; done'
		echo '[[ -z ${client:-} ]] && exec "$real" "$@"'
		cat
	} >"$work/$1"
	chmod 755 "$work/$1"
}

fake failing <<'BODY'
sleep 1
echo '{"start":{"version":"iperf 3.12"},"error":"unable to send control message: Connection reset by peer"}'
exit 1
BODY
bad "iperf3 failing in mid-run" 4 'iperf3.*Connection reset' \
	"${hidden[@]}" "$real" "$work/failing" "${run[@]}" "${short[@]}"

fake dying <<'BODY'
"$real" "$@" & sleep 1.5; kill -9 $!
BODY
bad "iperf3 dying in mid-run" 4 'iperf3' \
	"${hidden[@]}" "$real" "$work/dying" "${run[@]}" "${short[@]}"

fake cut <<'BODY'
"$real" "$@" | head -c 1500
BODY
bad "iperf3's JSON cut short" 4 'iperf3' "${hidden[@]}" "$real" "$work/cut" "${run[@]}" "${short[@]}"

fake garbage <<'BODY'
"$real" "$@" >/dev/null; echo '[1, "two", {"end": null}]'
BODY
bad "iperf3's JSON of another shape" 4 'iperf3' \
	"${hidden[@]}" "$real" "$work/garbage" "${run[@]}" "${short[@]}"

printf '#!/bin/bash\necho "iperf 3.1.3 (cJSON 1.5.2)"\n' >"$work/old"
chmod 755 "$work/old"
bad_at_once "iperf3 too old" 3 '3\.9' "${hidden[@]}" "$real" "$work/old" "${run[@]}"

check_nothing_left "after all of them"
