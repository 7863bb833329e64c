#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every kind of qdisc, alone and in trees: the ledger of each qdisc is exact, root and
# child, in both tiers, and the kernel's own counters agree. The trees are told here;
# lib/trees.sh says how. TREES="NAME…" takes only those; TIERS="functions" that tier.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/trees.sh"

read -ra tiers <<<"${TIERS:-functions tracepoints}"

# ---- each kind by itself ----

# Too much for a class of 16 Mbit/s, of two priorities.
flood="udp,to=@1.3,count=400,size=1000,flows=8 udp,to=@1.3,count=400,size=1000,flows=8,priority=3"

# both NAME KIND...: the kind alone on eth0, and on eth1 below a class of htb. The traffic:
# two senders of UDP at a time and TCP with GSO, and too much for the class.
both() {
	tree "$1" devices=2
	qdisc eth0 root 10: "${@:2}"
	qdisc eth1 root 20: htb default 1
	class eth1 20: 20:1 htb rate 16mbit quantum 15000
	qdisc eth1 20:1 21: "${@:2}"
	# Several words.
	# shellcheck disable=SC2086
	send udp,to=@0.3,threads=2,count=800,flows=8 tcp,to=@0.2,bytes=1000000 $flood
	send tcp,to=@1.2,bytes=300000
	drops eth1 20: 21:
}

both pfifo pfifo limit 20
both bfifo bfifo limit 80kb
both codel codel limit 20
both fq_codel fq_codel limit 20 flows 16
both pie pie limit 20
both fq_pie fq_pie limit 20 flows 16
both sfq sfq limit 20 depth 10
both red red limit 60kb min 5kb max 15kb avpkt 1000 burst 10 probability 0.5 bandwidth 16mbit
both choke choke limit 40 min 5 max 15 avpkt 1000 burst 10 probability 0.5 bandwidth 16mbit
both sfb sfb limit 20 target 10
both hhf hhf limit 20
both skbprio skbprio limit 20
both fq fq limit 20 flow_limit 8
both dualpi2 dualpi2
both cake cake bandwidth 100mbit diffserv4 memlimit 60kb

# Only ACKs leave here; those that a later one makes superfluous are taken out of the queue.
tree cake-ack-filter
qdisc eth0 root 10: cake bandwidth 200kbit ack-filter
send tcp,to=@0.2,bytes=4000000,seconds=2,reverse=1,threads=2
drops eth0 10:

# Its length is the device's, not an option.
tree pfifo_fast devices=2
ip_line link set eth1 txqueuelen 20
qdisc eth0 root 10: pfifo_fast
qdisc eth1 root 20: tbf rate 16mbit burst 10kb limit 1mb
qdisc eth1 20:1 21: pfifo_fast
# shellcheck disable=SC2086
send udp,to=@0.3,threads=2,count=800,flows=8 tcp,to=@0.2,bytes=1000000 $flood
drops eth1 20: 21:

tree gred devices=2
for device in eth0 eth1; do
	parent=20:1
	if [[ $device == eth0 ]]; then
		parent=root
	else
		qdisc eth1 root 20: tbf rate 16mbit burst 10kb limit 1mb
	fi
	qdisc $device $parent 21: gred setup DPs 2 default 0
	[[ $parent == root ]] || parent="parent $parent"
	tc_line "qdisc change dev $device $parent handle 21: gred limit 60000 min 5000 max 15000" \
		"avpkt 1000 burst 10 bandwidth 16mbit DP 0 probability 0.5"
done
# shellcheck disable=SC2086
send udp,to=@0.3,threads=2,count=800,flows=8 tcp,to=@0.2,bytes=1000000 $flood
drops eth1 20: 21:

tree fq-paced
module tcp_bbr
qdisc eth0 root 10: fq
send tcp,to=@0.2,bytes=1000000,pacing=2000000 tcp,to=@0.2,bytes=1000000,cc=bbr

# The second sender's packets have no departure time: etf takes none of them.
tree etf
qdisc eth0 root 10: etf clockid CLOCK_TAI delta 1000000
send udp,to=@0.3,count=500,txtime=5000000,pause=2000 udp,to=@0.3,count=200,pause=2000
drops eth0 10:

# ---- with children ----

tree tbf devices=2
qdisc eth0 root 10: tbf rate 16mbit burst 10kb limit 30kb
qdisc eth1 root 20: tbf rate 100mbit burst 64kb limit 300kb
qdisc eth1 20:1 21: pfifo limit 200
child eth0 10:1
send udp,to=@0.3,count=700,size=1000,threads=2 udp,to=@1.3,count=60,gso=20,size=1200
send tcp,to=@0.2,bytes=500000 tcp,to=@1.2,bytes=2000000
drops eth0 10:

tree tbf-fq_codel
qdisc eth0 root 10: tbf rate 16mbit burst 10kb limit 300kb
qdisc eth0 10:1 20: fq_codel limit 30
send udp,to=@0.3,count=700,size=1000,threads=2 udp,to=@0.3,count=20,gso=20,size=1200
send tcp,to=@0.2,bytes=1000000
drops eth0 10: 20:

tree tbf-netem
qdisc eth0 root 10: tbf rate 16mbit burst 10kb limit 300kb
qdisc eth0 10:1 20: netem delay 5ms limit 60
send udp,to=@0.3,count=700,size=1000,threads=2 udp,to=@0.3,count=20,gso=20,size=1200
send tcp,to=@0.2,bytes=500000
drops eth0 10: 20:

tree netem-tbf
qdisc eth0 root 10: netem delay 5ms limit 1000
qdisc eth0 10:1 20: tbf rate 16mbit burst 10kb limit 30kb
child eth0 20:1
send udp,to=@0.3,count=700,size=1000,threads=2
drops eth0 10: 20:

# The root hands out segments of skbs that waited whole: cut on their way out.
tree netem-tbf-gso
qdisc eth0 root 10: netem delay 5ms limit 1000
qdisc eth0 10:1 20: tbf rate 16mbit burst 10kb limit 30kb
child eth0 20:1
send udp,to=@0.3,count=700,size=1000 udp,to=@0.3,count=20,gso=20,size=1200
send tcp,to=@0.2,bytes=500000
drops eth0 10: 20:
blind eth0 10: "tbf below netem cuts GSO skbs after they have waited: no event of the root tells it"

tree netem
qdisc eth0 root 10: netem delay 5ms limit 60
send udp,to=@0.3,count=700,size=1000,threads=2 udp,to=@0.3,count=60,gso=20,size=1200
send tcp,to=@0.2,bytes=1000000
drops eth0 10:

# A duplicate is given to the root once more, and no event tells of it.
tree netem-mangle
qdisc eth0 root 10: netem delay 3ms 1ms loss 10% duplicate 10% reorder 20% 50% limit 1000
send udp,to=@0.3,count=700,size=1000,threads=2
send tcp,to=@0.2,bytes=500000,seconds=1
drops eth0 10:
except eth0 10: requeues-reorder
blind eth0 10: "netem's duplicates come without an event"

# Class 10:30 takes what has none; the priority 10: itself is for htb's direct queue.
tree htb
qdisc eth0 root 10: htb default 30
class eth0 10: 10:1 htb rate 16mbit
class eth0 10:1 10:10 htb rate 4mbit ceil 16mbit
class eth0 10:1 10:20 htb rate 4mbit ceil 16mbit
class eth0 10:1 10:30 htb rate 1mbit ceil 16mbit
qdisc eth0 10:10 11: pfifo limit 30
qdisc eth0 10:20 12: bfifo limit 100kb
child eth0 10:30
send udp,to=@0.3,count=600,size=1000,priority=0x100010 \
	udp,to=@0.3,count=600,size=1000,priority=0x100020 \
	udp,to=@0.3,count=200,size=1000 udp,to=@0.3,count=200,size=1000,priority=0x100000
send tcp,to=@0.2,bytes=500000,priority=0x100020
drops eth0 10: 11:

tree hfsc
qdisc eth0 root 10: hfsc default 20
class eth0 10: 10:1 hfsc sc rate 16mbit ul rate 16mbit
class eth0 10:1 10:10 hfsc sc rate 4mbit
class eth0 10:1 10:20 hfsc sc rate 2mbit
qdisc eth0 10:10 11: pfifo limit 30
qdisc eth0 10:20 12: bfifo limit 100kb
send udp,to=@0.3,count=600,size=1000,priority=0x100010 udp,to=@0.3,count=400,size=1000
send tcp,to=@0.2,bytes=500000
drops eth0 10: 11:

# scheduler NAME CLASS-OPTIONS: alone on eth0, below tbf on eth1; there what has no class is
# dropped.
scheduler() {
	tree "$1" devices=2
	qdisc eth0 root 20: "$1"
	qdisc eth1 root 10: tbf rate 16mbit burst 10kb limit 1mb
	qdisc eth1 10:1 20: "$1"
	for device in eth0 eth1; do
		class $device 20: 20:1 "$@"
		class $device 20: 20:2 "$@"
		qdisc $device 20:1 21: pfifo limit 30
		child $device 20:2
	done
	send udp,to=@0.3,count=800,priority=0x200001 udp,to=@0.3,count=800,priority=0x200002 \
		udp,to=@1.3,count=500,size=1000,priority=0x200001 \
		udp,to=@1.3,count=500,size=1000,priority=0x200002 \
		udp,to=@1.3,count=100
	send tcp,to=@1.2,bytes=500000,priority=0x200002
	drops eth1 10: 20: 21:
}

scheduler drr quantum 1500
scheduler qfq weight 10

# bands NAME OPTIONS: the same for those that choose by priority alone.
bands() {
	tree "$1" devices=2
	qdisc eth0 root 20: "$@"
	qdisc eth1 root 10: tbf rate 16mbit burst 10kb limit 1mb
	qdisc eth1 10:1 20: "$@"
	qdisc eth0 20:1 21: pfifo limit 30
	qdisc eth1 20:1 21: pfifo limit 30
	child eth0 20:2
	child eth1 20:3
	send udp,to=@0.3,count=800,priority=0x200001 udp,to=@0.3,count=800,priority=0x200002 \
		udp,to=@1.3,count=500,size=1000,priority=0x200001 \
		udp,to=@1.3,count=500,size=1000,priority=0x200003
	send tcp,to=@1.2,bytes=500000,priority=0x200002
	drops eth1 10: 20: 21:
}

bands prio bands 3
bands ets bands 3 strict 1 quanta 1500 3000

# ---- devices with several queues ----

many="udp,to=@0.3,count=1500,flows=64,size=400"

tree multiq queues=4
qdisc eth0 root 10: multiq
qdisc eth0 10:1 11: pfifo limit 30
qdisc eth0 10:2 12: tbf rate 2mbit burst 10kb limit 20kb
child eth0 10:3
send $many,threads=2 tcp,to=@0.2,bytes=200000
drops eth0 10: 12:

tree mq queues=4
qdisc eth0 root 10: mq
qdisc eth0 10:1 11: pfifo_fast
qdisc eth0 10:2 12: tbf rate 2mbit burst 10kb limit 20kb
qdisc eth0 10:3 13: prio
qdisc eth0 10:4 14: htb default 1
class eth0 14: 14:1 htb rate 4mbit
qdisc eth0 14:1 15: pfifo limit 20
send $many,threads=2 tcp,to=@0.2,bytes=200000
drops eth0 12: 14: 15:

tree mqprio queues=4
qdisc eth0 root 10: mqprio num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 2@0 2@2 hw 0
qdisc eth0 10:1 11: pfifo_fast
qdisc eth0 10:2 12: tbf rate 2mbit burst 10kb limit 20kb
qdisc eth0 10:3 13: pfifo
qdisc eth0 10:4 14: tbf rate 2mbit burst 10kb limit 20kb
send $many $many,priority=1 tcp,to=@0.2,bytes=200000
drops eth0 12: 14:

# With children of its own: another grafted to it would stop its gates for good, since
# taprio_graft() resets the device (net/sched/sch_taprio.c).
# Its timer runs while there is traffic only: a function that is being called when it gets
# its hook, or loses it, can be the end of an emulated machine (int3 in a function that
# another CPU has changed back).
gates="sched-entry S 01 5000000 sched-entry S 02 5000000 clockid CLOCK_TAI"
tree taprio queues=4
qdisc eth0 root 10: taprio num_tc 2 map 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 queues 2@0 2@2 \
	base-time 4000000000000000000 "$gates"
for number_of in 1 2 3 4; do
	child eth0 10:$number_of
done
meanwhile tc qdisc change dev eth0 root handle 10: taprio base-time 0 "$gates"
send $many $many,priority=1
meanwhile ip link set eth0 down

# ---- devices on others ----

# What comes in on eth0 goes through the qdisc of ifb0.
tree ifb
ip_line link add ifb0 type ifb
ip_line link set ifb0 addrgenmode none
ip_line link set ifb0 up
tc_line qdisc add dev eth0 ingress
tc_line filter add dev eth0 parent ffff: protocol all matchall action mirred egress redirect dev ifb0
qdisc ifb0 root 10: tbf rate 16mbit burst 10kb limit 30kb
program sink
answer udp,to=@0.1,count=700,size=1000
answer tcp,to=@0.1,bytes=500000
drops ifb0 10:

# What the sink sends is cut up by its device and comes in as so many packets at once; the
# driver of ifb stops its queue after a few, and the qdisc has to take one back.
tree requeue devices=2
for number_of in 0 1; do
	ip_line link add ifb$number_of txqueuelen 2 type ifb
	ip_line link set ifb$number_of addrgenmode none
	ip_line link set ifb$number_of up
	sink_line link set @t$number_of gso_max_segs 1
	tc_line qdisc add dev eth$number_of ingress
	tc_line "filter add dev eth$number_of parent ffff: protocol all matchall" \
		"action mirred egress redirect dev ifb$number_of"
done
qdisc ifb0 root 10: pfifo limit 1000
qdisc ifb1 root 20: pfifo_fast
answer udp,to=@0.1,count=100,size=200,gso=20 udp,to=@1.1,count=100,size=200,gso=20
requeues ifb0 10:
requeues ifb1 20:

tree bridge
ip_line link add br0 address $own_mac type bridge
ip_line link set eth0 master br0
ip_line address del @0.1/24 dev eth0
ip_line link set br0 addrgenmode none
ip_line link set br0 up
ip_line address add @0.1/24 dev br0
ip_line neigh add @0.2 lladdr $sink_mac nud permanent dev br0
ip_line neigh add @0.3 lladdr $nobody_mac nud permanent dev br0
qdisc br0 root 10: pfifo
qdisc eth0 root 20: tbf rate 16mbit burst 10kb limit 30kb
send udp,to=@0.3,count=700,size=1000
send tcp,to=@0.2,bytes=500000
drops eth0 20:

tree bond devices=2
ip_line link set eth0 down
ip_line link set eth1 down
ip_line link add bond0 type bond mode active-backup miimon 100
ip_line link set eth0 master bond0
ip_line link set eth1 master bond0
ip_line address del @0.1/24 dev eth0
ip_line link set bond0 addrgenmode none
ip_line link set bond0 up
ip_line address add @0.1/24 dev bond0
ip_line neigh add @0.2 lladdr $sink_mac nud permanent dev bond0
ip_line neigh add @0.3 lladdr $nobody_mac nud permanent dev bond0
qdisc bond0 root 10: htb default 1
class bond0 10: 10:1 htb rate 16mbit
qdisc bond0 10:1 11: pfifo limit 30
qdisc eth0 root 20: pfifo
qdisc eth1 root 30: pfifo
send udp,to=@0.3,count=700,size=1000
send tcp,to=@0.2,bytes=500000
drops bond0 10: 11:
idle eth1 30:

tree vlan
ip_line link add link eth0 name eth0.7 type vlan id 7
ip_line link set eth0.7 addrgenmode none
ip_line link set eth0.7 up
ip_line address add @2.1/24 dev eth0.7
ip_line neigh add @2.2 lladdr $sink_mac nud permanent dev eth0.7
ip_line neigh add @2.3 lladdr $nobody_mac nud permanent dev eth0.7
sink_line link add link @t0 name @t2 type vlan id 7
sink_line link set @t2 addrgenmode none
sink_line link set @t2 up
sink_line address add @2.2/24 dev @t2
sink_line neigh add @2.1 lladdr $own_mac nud permanent dev @t2
qdisc eth0.7 root 10: htb
qdisc eth0 root 20: tbf rate 16mbit burst 10kb limit 30kb
send udp,to=@2.3,count=700,size=1000
send tcp,to=@2.2,bytes=500000
drops eth0 20:

tree tun
module tun
ip_line tuntap add dev tun0 mode tun
ip_line link set tun0 addrgenmode none
ip_line link set tun0 up
ip_line address add @2.1/24 dev tun0
qdisc tun0 root 10: tbf rate 16mbit burst 10kb limit 300kb
qdisc tun0 10:1 20: pfifo limit 30
program tun tun0
send udp,to=@2.2,count=700,size=1000,threads=2
drops tun0 10: 20:

# Its packets go through eth0 a second time, encrypted.
tree wireguard
ip_line link add wg0 mtu 1400 type wireguard
ip_line link set wg0 addrgenmode none
ip_line link set wg0 up
ip_line address add @2.1/24 dev wg0
sink_line link add @t2 mtu 1400 type wireguard
sink_line link set @t2 addrgenmode none
sink_line link set @t2 up
sink_line address add @2.2/24 dev @t2
qdisc wg0 root 10: htb default 1
class wg0 10: 10:1 htb rate 16mbit
qdisc wg0 10:1 11: pfifo limit 30
qdisc eth0 root 20: pfifo
send udp,to=@2.2,count=500,size=1000
send tcp,to=@2.2,bytes=300000
drops wg0 10: 11:
wireguard_number=$number

setup_wireguard() {
	local own sink net=10.$wireguard_number

	(umask 077 && wg genkey >"$work/own.key" && wg genkey >"$work/sink.key")
	own=$(wg pubkey <"$work/own.key")
	sink=$(wg pubkey <"$work/sink.key")
	in_netns wireguard wg set wg0 private-key "$work/own.key" listen-port 5000 \
		peer "$sink" endpoint "$net.0.2:$((5000 + wireguard_number))" \
		allowed-ips "$net.2.0/24" || return
	in_netns sink wg set "t$wireguard_number-2" private-key "$work/sink.key" \
		listen-port "$((5000 + wireguard_number))" peer "$own" allowed-ips "$net.2.0/24"
}

if [[ -n ${TREES:-} ]]; then
	read -ra trees <<<"$TREES"
fi
if [[ -n ${TREES_AGAIN:-} ]]; then
	run_trees
	exit
fi

# An emulated machine may be stopped for longer than traffic and clean-up wait: trees that fail are
# run once more by themselves, and what they said first is shown.
TREES_AGAIN=1 bash "$0" >"$work/first" 2>&1
mapfile -t again < <(sed -n 's/^FAILED - \([^,: ]*\)[,:].*/\1/p' "$work/first" | sort -u |
	grep -vx -e functions -e tracepoints)
if [[ ${#again[@]} -eq 0 ]]; then
	cat "$work/first"
	! grep -q '^FAILED - ' "$work/first"
	exit
fi
for tree in "${again[@]}"; do
	sed -i -e "s/^FAILED - \(${tree}[,:].*\)/  first: \1/" -e "/^ok - ${tree}[,:]/d" \
		-e "/^row $tree /d" "$work/first"
done
sed 's/^FAILED - \(\(functions\|tracepoints\): losses.*\)/  first: \1/' "$work/first"
echo "  once more: ${again[*]}"
TREES_AGAIN=1 TREES=${again[*]} bash "$0"
