#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Qdiscs that appear, are replaced and vanish while they are traced, of kinds that were
# not there when it began: their functions are hooked then, their packets accounted for.
. "$(dirname "${BASH_SOURCE[0]}")/../../lib.sh"

make_netns host
make_netns sink
in_netns host sysctl -qw net.ipv6.conf.all.disable_ipv6=1
veth_pair host eth0 sink eth0
in_netns host ip addr add 10.1.0.1/24 dev eth0
in_netns sink ip addr add 10.1.0.2/24 dev eth0
in_netns host ip neigh add 10.1.0.3 lladdr 02:00:00:00:00:03 dev eth0
in_netns host tc qdisc add dev eth0 root handle 1: pfifo limit 1000

# udp COUNT: that many datagrams to nobody.
udp() {
	"$programs/traffic" "${prefix}host" "udp,to=10.1.0.3,count=$1,size=500" >/dev/null
}

check "the window begins" hold appear "$programs/window" --tier functions --netns "${prefix}host"

udp 100
in_netns host tc qdisc replace dev eth0 root handle 2: htb default 1
in_netns host tc class add dev eth0 parent 2: classid 2:1 htb rate 50mbit
in_netns host tc qdisc add dev eth0 parent 2:1 handle 10: sfq
sleep 8		# the hooks of a new kind take seconds on an emulated machine
udp 200
in_netns host tc qdisc replace dev eth0 parent 2:1 handle 20: fq_codel
sleep 8
udp 300
in_netns host tc class add dev eth0 parent 2: classid 2:2 htb rate 50mbit
in_netns host tc qdisc add dev eth0 parent 2:2 handle 21: fq_codel
in_netns host tc filter add dev eth0 parent 2: matchall classid 2:2
udp 400		# a kind that is hooked is measured from its first packet on
in_netns host tc qdisc del dev eth0 root
sleep 1
window_stop appear
jq -r '.qdiscs[] | select(.traced) | "  \(.id) offered \(.ledger.offered) measured \(.ledger.measured) kernel \(.kernel.packets) agrees \(.agrees) \(.why)"' \
	"$work/appear.json"

# seen KIND HANDLE COUNT
seen() {
	check_jq "$1 $2 was offered its $3 packets, and each is accounted for" "$work/appear.json" '
		[.qdiscs[] | select(.traced and .kind == $kind and .handle == $handle)] |
		length == 1 and (.[0] | .ledger.offered == $count and .ledger.unaccounted == 0 and
			.agrees == "yes")' --arg kind "$1" --arg handle "$2" --argjson count "$3"
}

seen pfifo 1: 100
seen sfq 10: 200
seen fq_codel 20: 300
seen fq_codel 21: 400
seen htb 2: 900
check_jq "no losses" "$work/appear.json" '[.losses[] | select(. != 0)] == []'
