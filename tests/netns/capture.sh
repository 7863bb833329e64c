#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The sojourn against an independent witness: tcpdump sees every packet come into
# a router and leave it; what lies between, less a few microseconds of forwarding,
# is the time in the qdisc.
source "$(dirname "$0")/../lib.sh"

use_one_cpu
payload=83	# of the probes; the window follows echoes of this size alone

capture_start() {
	become_in_netns router tcpdump -i "$1" -Q "$2" --time-stamp-precision=nano -s 96 -B 65536 \
		--immediate-mode -U -Z root -w "$3" ip 2>"$3.err" &
	background+=("$!")
	captures+=("$!")
}

captures_ready() {
	local file tries

	for file in "$@"; do
		for ((tries = 0; tries < 100; tries++)); do
			grep -qs 'listening on' "$file.err" && break
			sleep 0.05
		done
	done
}

captures_stop() {
	local file pid

	for pid in "${captures[@]}"; do
		kill "$pid"
		wait "$pid"
	done
	for file in "$@"; do
		grep -q '^0 packets dropped by kernel' "$file.err" && continue
		fail "tcpdump lost packets: $(tail -n 1 "$file.err")"
		return 1
	done
}

# Each echo's own sojourn (offered to dequeued, or to the driver where no dequeue
# was seen) against its time in the router by the captures.
per_packet() {
	jq -n --slurpfile window "$work/$1.json" --slurpfile witness "$work/$1.match" '
		def of($point): map(select(.point == $point)) | .[0].time_ns;
		[$window[0].probe_events[] | select(.device == "wan0" and (.reply | not))] |
		group_by([.id, .sequence]) |
		map({key: "\(.[0].id)/\(.[0].sequence)",
			value: ((of("dequeued") // of("transmit")) as $out |
				if $out and of("offered") then $out - of("offered") else null end)}) |
		from_entries as $own |
		[$witness[0].echoes[] | select(.reply | not) |
			($own["\(.id)/\(.sequence)"]) as $mine |
			{seen: ($mine != null), difference: (($mine // 0) - .ns | fabs)}] |
		(map(select(.seen).difference) | sort) as $sorted |
		{echoes: length, unseen: (map(select(.seen | not)) | length),
		 p50: $sorted[(length * 0.5 | floor)],
		 p99: $sorted[([(length * 0.99 | ceil) - 1, 0] | max)],
		 max: $sorted[-1]}' >"$work/$1.echoes"
}

# traffic NAME RATE LATENCY SECONDS: one window, and the captures of it
traffic() {
	local name=$1 seconds=$4 number probes=() captures=()

	in_netns router tc qdisc replace dev wan0 root handle 10: tbf rate "$2" burst 32kb \
		latency "$3"
	rm -f "$work/$name".*.pcap.err
	capture_start lan0 in "$work/$name.in.pcap"
	capture_start wan0 out "$work/$name.out.pcap"
	captures_ready "$work/$name.in.pcap" "$work/$name.out.pcap"
	window_start "$name" --netns router --device wan0 --probes $payload
	# One ping sends no more than about 100 echoes/s.
	for ((number = 0; number < 8; number++)); do
		become_in_netns client ping -q -n -i 0.01 -w "$seconds" -s $payload \
			10.9.2.10 >/dev/null &
		probes+=("$!")
	done
	iperf3_run client server 10.9.2.10 -C cubic -t "$seconds" || fail "$name: iperf3"
	wait "${probes[@]}"
	window_stop "$name" || return
	captures_stop "$work/$name.in.pcap" "$work/$name.out.pcap" || return
	if ! "$programs/pcap_match" "$work/$name.in.pcap" "$work/$name.out.pcap" \
		>"$work/$name.match"; then
		fail "$name: the captures cannot be read"
		return 1
	fi
	rm -f "$work/$name".*.pcap
}

# one TEXT NAME RATE LATENCY SECONDS
one() {
	local text=$1 name=$2

	shift
	repeat_unseen "$name" traffic "$@" || return
	per_packet "$name"
	check_ledger "$text" "$name" wan0
	check_losses "$text" "$name"
	echo "  router by captures: $(jq -c '{matched, out, router_ns}' "$work/$name.match")"
	echo "  sojourn traced:     $(jq -c '.qdiscs[] | select(.ifname == "wan0" and .root) |
		.sojourn_ns' "$work/$name.json")"
	echo "  per echo:           $(jq -c . "$work/$name.echoes")"

	check_jq "$text: the captures match" "$work/$name.match" \
		'.matched > 1000 and .matched >= .out * 0.999'
	check_jq "$text: as many packets left as were measured" "$work/$name.match" \
		'. as $witness | [$window[0].qdiscs[] | select(.ifname == "wan0" and .root) |
			.ledger | .measured + .bypassed] | add == $witness.out' \
		--slurpfile window "$work/$name.json"
	# 0.2 ms, and the width of a histogram bucket on top.
	check_jq "$text: p50, p95 and p99 of all packets within 0.2 ms" "$work/$name.match" \
		'.router_ns as $witness | [$window[0].qdiscs[] | select(.ifname == "wan0" and .root)] |
		.[0].sojourn_ns as $own | all("p50", "p95", "p99"; . as $at |
			($own[$at] - $witness[$at] | fabs) <= 200000 + $witness[$at] / 64)' \
		--slurpfile window "$work/$name.json"
	# The captures stand around the qdisc, so no packet is in it for longer than between
	# them, and the means tell how much more that is: with 20 us on average at most
	# one packet in ten can differ by 0.2 ms.
	check_jq "$text: all packets differ by at most 20 us on average" "$work/$name.match" \
		'. as $witness | [$window[0].qdiscs[] | select(.ifname == "wan0" and .root)] |
		($witness.router_ns.mean - .[0].sojourn_ns.mean) | . >= 0 and . <= 20000' \
		--slurpfile window "$work/$name.json"
	check_jq "$text: every echo captured was traced" "$work/$name.echoes" \
		'.echoes >= 1000 and .unseen == 0'
	check_jq "$text: per-packet difference p99 at most 0.2 ms" "$work/$name.echoes" \
		'.p99 <= 200000'
}

make_router
# One packet in is one packet out: nobody keeps segments together.
for pair in "client eth0" "router lan0" "router wan0" "server eth0"; do
	read -r netns device <<<"$pair"
	in_netns "$netns" ethtool -K "$device" tso off gso off gro off >/dev/null
done
in_netns client ping -c 1 -W 2 10.9.2.10 >/dev/null || fail "the path"

one "tbf at 10 Mbit/s" slow 10mbit 400ms 8
one "tbf at 1 Gbit/s" fast 1gbit 20ms 5
