#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two senders at once, as fast as the machine can, through each qdisc: the ledger
# is exact, the kernel's own counters agree, and nothing is lost.
source "$(dirname "$0")/../lib.sh"

seconds=${FLOOD_SECONDS:-5}
nobody=02:00:00:00:00:02

# set_qdisc DEVICE KIND
set_qdisc() {
	local device=$1 number

	in_netns a tc qdisc del dev "$device" root 2>/dev/null
	case $2 in
	htb) in_netns a tc qdisc add dev "$device" root handle 10: htb ;;
	htb-class)
		in_netns a tc qdisc add dev "$device" root handle 10: htb default 1 &&
			in_netns a tc class add dev "$device" parent 10: classid 10:1 \
				htb rate 2gbit quantum 60000
		;;
	pfifo | bfifo) in_netns a tc qdisc add dev "$device" root handle 10: "$2" ;;
	pfifo_fast) in_netns a tc qdisc add dev "$device" root handle 10: pfifo_fast ;;
	tbf-bfifo)
		in_netns a tc qdisc add dev "$device" root handle 10: tbf rate 200mbit \
			burst 64kb limit 64kb &&
			in_netns a tc qdisc add dev "$device" parent 10:1 handle 11: \
				bfifo limit 64kb
		;;
	mq)
		in_netns a tc qdisc add dev "$device" root handle 10: mq &&
			for number in 1 2; do
				in_netns a tc qdisc add dev "$device" parent 10:$number \
					handle 1$number: pfifo_fast || return 1
			done
		;;
	esac
}

# The first and the last CPU, one for each sender.
cpus=$(taskset -pc $$ | sed 's/.*: //; s/[-,].*[-,]/ /; s/[-,]/ /')
read -ra cpus <<<"$cpus $cpus"

# senders NAME DEVICE SENDER SENDER: one window; senders are "packet" or "udp"
senders() {
	local name=$1 device=$2 sender pids=() number=0 port address=10.9.0.2

	shift 2
	[[ $device == ifb0 ]] && address=10.9.9.2
	window_start "$name" --netns a
	for sender in "$@"; do
		port=$((20000 + 1000 * number))
		if [[ $sender == packet ]]; then
			in_netns a taskset -c "${cpus[number]}" "$programs/flood" \
				--device "$device" --seconds "$seconds" --port $port \
				>"$work/flood.$number" &
		else
			in_netns a taskset -c "${cpus[number]}" "$programs/flood" \
				--udp $address --seconds "$seconds" --size 22 --port $port \
				>"$work/flood.$number" &
		fi
		pids+=($!)
		number=$((number + 1))
	done
	wait "${pids[@]}"
	window_stop "$name"
}

# one DEVICE KIND SENDER SENDER
one() {
	local device=$1 kind=$2 name=$1-$2-$3-$4

	shift 2
	if ! set_qdisc "$device" "$kind" 2>"$work/tc.err"; then
		skip "$kind on $device: this kernel has it not: $(head -n 1 "$work/tc.err")"
		return
	fi
	repeat_unseen "$name" senders "$name" "$device" "$@" || return
	echo "  $kind on $device, $1 and $2: $(jq -s 'map(.pps) | add' "$work"/flood.[01])" \
		"packets/s"
	check_ledger "$kind on $device, $1 and $2" "$name" "$device"
	check_losses "$kind on $device, $1 and $2" "$name"
	# The senders say how many packets they got rid of: a witness of another kind.
	check_jq "$kind on $device, $1 and $2: the senders' count" "$work/$name.json" \
		'([.qdiscs[] | select(.ifname == $device and .root and .traced) |
			.ledger.offered] | add) >= ($senders | map(.sent) | add)' \
		--arg device "$device" --slurpfile senders <(cat "$work"/flood.[01])
}

make_pair 2
in_netns a ip neigh add 10.9.0.2 lladdr $nobody nud permanent dev eth0
if in_netns a ip link add ifb0 type ifb 2>/dev/null; then
	in_netns a ip link set ifb0 up
	in_netns a ip addr add 10.9.9.1/24 dev ifb0
	one ifb0 htb packet packet
	one ifb0 pfifo udp udp
	one ifb0 pfifo_fast packet packet
	one ifb0 tbf-bfifo udp udp
else
	skip "floods on ifb: this kernel has no ifb"
fi
for kind in htb htb-class pfifo bfifo pfifo_fast tbf-bfifo mq; do
	one eth0 $kind packet udp
done

# With NAPI on its peer a veth device refuses packets when the ring is full, and
# the qdisc takes them back.
in_netns b ethtool -K eth0 gro on >/dev/null 2>&1
for kind in htb pfifo_fast mq; do
	one eth0 $kind packet packet
done
