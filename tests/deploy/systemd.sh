#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The systemd unit and its drop-ins: what systemd-analyze says of them, and sojourn export with
# the capabilities that they give and with the system calls that they let through.
source "$(dirname "$0")/lib.sh"

folder=deploy/systemd
unit="sojourn-export.service"

if ! have systemd-analyze setpriv curl; then
	skip "everything in this file: no $missing"
	exit 0
fi

# unit_with NAME [DROP-IN]: a unit that systemd-analyze can look at, in $work/NAME.
unit_with() {
	mkdir -p "$work/$1/$unit.d"
	sed "s|^ExecStart=[^ ]*|ExecStart=$(realpath "$sojourn")|" $folder/$unit >"$work/$1/$unit"
	[[ -z ${2:-} ]] || cp "$folder/$2" "$work/$1/$unit.d/"
}

# What docs/deploy.md says of NAME: "| `NAME` | 2.4 |".
told_exposure() {
	sed -n "s/^| \`$1\` | \([0-9.]*\) |.*/\1/p" docs/deploy.md
}

look_at() {
	local name=$1 exposure

	unit_with "$name" "${2:-}"
	check "$name: systemd-analyze verify has nothing to say" test -z \
		"$(systemd-analyze verify "$work/$name/$unit" 2>&1)"
	exposure=$(systemd-analyze security --offline=true --no-pager "$work/$name/$unit" |
		sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
	check "$name: exposure $exposure, as docs/deploy.md says ($(told_exposure "$name"))" \
		test "$exposure" = "$(told_exposure "$name")"
}

look_at sojourn-export.service
look_at own-namespace.conf own-namespace.conf
look_at functions.conf functions.conf

# capabilities FILE: as setpriv takes them: "-all,+bpf,+perfmon".
capabilities() {
	sed -n 's/^AmbientCapabilities=\(.\)/-all \1/p' "$1" | tr '[:upper:]' '[:lower:]' |
		sed 's/ *cap_/,+/g'
}

# confine CAPABILITIES: ${confined[@]} runs a command as DynamicUser=, AmbientCapabilities= and
# NoNewPrivileges= would.
confine() {
	confined=(setpriv --reuid 64999 --regid 64999 --clear-groups --inh-caps "$1"
		--ambient-caps "$1" --bounding-set "$1" --no-new-privs)
}

# Namespaces: one with a name, one of another user's process, in which a tbf hands out pings.
make_netns scraped
make_pair 1
in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 10mbit burst 32k latency 50ms
veth_pair scraped eth0 b eth3
in_netns scraped ip addr add 10.9.5.1/24 dev eth0
in_netns b ip addr add 10.9.5.2/24 dev eth3
in_netns scraped tc qdisc add dev eth0 root handle 40: tbf rate 10mbit burst 32k latency 50ms
unshare --net setpriv --reuid 65534 --regid 65534 --clear-groups sleep 300 &
other=$!
background+=("$other")
while [[ $(readlink /proc/$other/ns/net) == $(readlink /proc/self/ns/net) ]]; do
	sleep 0.1
done
in_other() {
	nsenter --net --target $other "$@"
}
in_netns b ip link add eth1 type veth peer name eth0 netns $other
in_netns b ip addr add 10.9.3.2/24 dev eth1
in_netns b ip link set eth1 up
in_other ip addr add 10.9.3.1/24 dev eth0
in_other ip link set eth0 up
in_other tc qdisc add dev eth0 root handle 20: tbf rate 10mbit burst 32k latency 50ms

# What comes later, as seen by a process that has the mounts of its own that ProtectSystem= makes.
make_late() {
	make_netns late
	veth_pair a eth2 late eth0
	in_netns a ip addr add 10.9.4.1/24 dev eth2
	in_netns late ip addr add 10.9.4.2/24 dev eth0
	in_netns late tc qdisc add dev eth0 root handle 30: tbf rate 10mbit burst 32k latency 50ms
}

# pinged: the tbfs that had packets, as "netns device path", in $work/rows.
pinged() {
	in_netns a ping -q -c 20 -i 0.1 10.9.0.2 >/dev/null
	in_netns scraped ping -q -c 20 -i 0.1 10.9.5.2 >/dev/null
	in_other ping -q -c 20 -i 0.1 10.9.3.2 >/dev/null
	[[ ! -e /run/netns/${prefix}late ]] || in_netns late ping -q -c 20 -i 0.1 10.9.4.1 >/dev/null
	sleep 3
	scrape "$work/metrics" || return
	grep '^sojourn_qdisc_offered_packets_total{' "$work/metrics" | grep 'kind="tbf"' |
		sed 's/.*netns="\([^"]*\)",device="\([^"]*\)".*path="\([^"]*\)".*/\1 \2 \3/' \
			>"$work/rows"
	sed 's/^/  /' "$work/rows"
}

found() {
	grep -qxF -- "$1" "$work/rows"
}

check "the unit's capabilities are bounded by just these" test \
	"$(sed -n 's/^CapabilityBoundingSet=//p' $folder/$unit)" = \
	"$(sed -n 's/^AmbientCapabilities=//p' $folder/$unit)"
granted=$(capabilities $folder/$unit)
confine "$granted"
if export_start unshare --mount --propagation slave \
	strace -f -qq -o "$work/calls" "${confined[@]}"; then
	make_late
	pinged
	check "with the unit's capabilities ($granted): a namespace with a name is named" \
		found "${prefix}a eth0 tbf 10:"
	check "and so is that of another user's process" found "sleep[$other] eth0 tbf 20:"
	check "and one that was made later" found "${prefix}late eth0 tbf 30:"
	check "and the time of BPF programs is told" \
		grep -q '^sojourn_bpf_run_seconds_total ' "$work/metrics"
else
	fail "with the unit's capabilities it does not start: $(tail -n 1 "$work/export.err")"
fi
kill "$(pgrep -P "$export_pid")"
wait "$export_pid"
check "SIGTERM ends it with 0" test $? -eq 0

# calls SET...: the system calls of systemd's sets, one a line.
calls() {
	local set members

	for set in "$@"; do
		if [[ $set != @* ]]; then
			echo "$set"
			continue
		fi
		mapfile -t members < <(systemd-analyze syscall-filter --no-pager "$set" |
			sed -n 's/^    \([-@a-z_0-9]*\)$/\1/p')
		calls "${members[@]}"
	done
}
mapfile -t filters < <(sed -n 's/^SystemCallFilter=//p' $folder/$unit)
# shellcheck disable=SC2086
{
	calls @default ${filters[0]} | sort -u >"$work/allowed"
	calls ${filters[1]#\~} | sort -u >"$work/refused"
}
# What comes before it is executed is not its own.
sed '1,/execve(.*sojourn", /d' "$work/calls" |
	sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' | sort -u >"$work/called"
comm -23 "$work/allowed" "$work/refused" >"$work/passed"
for call in bpf setns sendto; do
	check "it calls $call, which the filter lets through" \
		grep -qx $call <(comm -12 "$work/passed" "$work/called")
done
comm -13 "$work/passed" "$work/called" | sed 's/^/  refused by the filter: /' | tee "$work/beyond"
check "all $(wc -l <"$work/called") system calls that it makes pass the filter" test ! -s "$work/beyond"

# Each capability is needed: what is missing without it.
confine "${granted/,+sys_ptrace/}"
if export_start "${confined[@]}"; then
	pinged
	check "without CAP_SYS_PTRACE another user's namespace has no name, one in /run/netns has" \
		test "$(grep -c "^net:\[[0-9]*\] eth0 ?$" "$work/rows")" -ge 1 -a \
		"$(grep -cx "${prefix}a eth0 tbf 10:" "$work/rows")" -eq 1
else
	fail "without CAP_SYS_PTRACE it does not start: $(tail -n 1 "$work/export.err")"
fi
stop_process "$export_pid"

confine -all,+bpf
export_start "${confined[@]}" && fail "without CAP_PERFMON it starts"
check "without CAP_PERFMON: one line that says so" grep -q \
	'^sojourn export: no permission to load BPF programs: .*CAP_PERFMON' "$work/export.err"

# The drop-in without namespaces; libbpf before 1.3 fails where a kernel lacks a type.
confine "$(capabilities $folder/own-namespace.conf)"
if export_start "${confined[@]}"; then
	pinged
	check "own-namespace.conf: the path of a qdisc of the own namespace is known" \
		found " eth0 tbf 40:"
	check "own-namespace.conf: qdiscs of other namespaces are measured, without a path" \
		test "$(grep -c ' eth0 ?$' "$work/rows")" -ge 2
	check "own-namespace.conf: the time of BPF programs is not told" \
		test "$(grep -c '^sojourn_bpf_run' "$work/metrics")" -eq 0
	stop_process "$export_pid"
elif grep -q 'CAP_SYS_ADMIN where libbpf is older than 1.3 .*iterate BTF' "$work/export.err"; then
	pass "own-namespace.conf: this libbpf asks for CAP_SYS_ADMIN, and a line says so"
	skip "own-namespace.conf: what it sees; libbpf is older than 1.3"
else
	fail "own-namespace.conf: it does not start: $(tail -n 1 "$work/export.err")"
fi
