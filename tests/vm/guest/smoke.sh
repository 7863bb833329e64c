#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Is the virtual machine what the other tests take it for, and what does its kernel have?
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

# Those that the other tests build trees of.
kinds=(tbf htb hfsc drr prio red sfq fq fq_codel codel pie cake netem mq mqprio taprio etf)

loads() {
	local kind=$1 device=vm-smoke status

	modprobe -q "sch_$kind" && return 0
	# What is built in has no module to ask for.
	ip link add "$device" numtxqueues 4 type dummy || return
	tc qdisc add dev "$device" root "$kind" >/dev/null 2>"$work/tc.err"
	status=$?
	ip link del "$device"
	[[ $status -eq 0 ]] || ! grep -qi 'unknown\|not found' "$work/tc.err"
}

print_kinds() {
	local kind has=() has_not=()

	for kind in "${kinds[@]}"; do
		if loads "$kind"; then
			has+=("$kind")
		else
			has_not+=("$kind")
		fi
	done
	echo "qdiscs: ${has[*]}; not there: ${has_not[*]:-none}"
	[[ " ${has[*]} " == *" tbf "* && " ${has[*]} " == *" htb "* ]]
}

# tc asks the kernel for a qdisc, and the kernel asks modprobe for its module.
autoloads() {
	make_netns a
	in_netns a ip link add d0 type dummy
	in_netns a tc qdisc add dev d0 root handle 1: tbf rate 10mbit burst 32kb latency 400ms &&
		in_netns a tc qdisc add dev d0 parent 1: handle 2: sfq
}

has() {
	[[ -e $1 ]] && echo yes || echo no
}

has_function() {
	grep -qE " [tT] $1\$" /proc/kallsyms && echo yes || echo no
}

echo "kernel $(uname -r), $(nproc) CPUs, $(awk '/MemAvailable/ { print int($2 / 1024) }' \
	/proc/meminfo) MB available"
modprobe -q sch_tbf
echo "BTF of the kernel: $(has /sys/kernel/btf/vmlinux)"
echo "BTF of modules: $(has /sys/kernel/btf/sch_tbf)"
echo "kprobe events: $(has /sys/bus/event_source/devices/kprobe)"
echo "kprobe.multi: $(has_function register_fprobe_ips)"
echo "trampolines (fentry): $(has_function bpf_trampoline_link_prog)"
echo "lockdown: $(cat /sys/kernel/security/lockdown 2>/dev/null || echo 'not there')"
for name in enqueue dequeue drop; do
	echo "tracepoint qdisc_$name: $(has "/sys/kernel/tracing/events/qdisc/qdisc_$name")"
done

check "the clock source is the TSC" \
	grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource
check "there are two CPUs" [ "$(nproc)" -eq 2 ]
check "tracefs is mounted" [ -e /sys/kernel/tracing/events/qdisc ]
check "the BPF file system is mounted" mountpoint -q /sys/fs/bpf
check "/bin/sh is bash" [ "$(readlink -f /bin/sh)" = /usr/bin/bash ]
check "ip and tc are those of iproute2" bash -c 'ip -V | grep -q iproute2 && tc -V | grep -q iproute2'
check "the qdiscs that everything needs are there" print_kinds
check "the kernel loads the module of a qdisc" autoloads
check "the kernel has BTF" [ -e /sys/kernel/btf/vmlinux ]
"$sojourn" doctor >"$work/doctor" 2>&1
status=$?
sed 's/^/  /' "$work/doctor"
# Whether the machine can be traced is for the tests that trace.
check "sojourn doctor comes to its end, with exit status $status" \
	[ "$status" -eq 0 -o "$status" -eq 3 ]
version=$("$sojourn" --version)
check "the program starts: $version" [ "${version%% *}" = sojourn ]
