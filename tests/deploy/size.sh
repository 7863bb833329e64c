#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a host costs Prometheus: series and bytes of a scrape in each format for 1, 10 and 100
# qdiscs, of which the difference is what a qdisc costs. docs/deploy.md stands on these figures.
source "$(dirname "$0")/lib.sh"

if ! have curl gzip; then
	skip "everything in this file: no $missing"
	exit 0
fi

accept_protobuf='Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'

# A tbf on each of COUNT devices, every one with some hundred packets in all kinds of times.
make_qdiscs() {
	local i

	for ((i = ${1:?from}; i <= ${2:?to}; i++)); do
		veth_pair a "port$i" b "port$i"
		in_netns a ip addr add "10.10.$i.1/24" dev "port$i"
		in_netns b ip addr add "10.10.$i.2/24" dev "port$i"
		in_netns a tc qdisc add dev "port$i" root handle "$i:" \
			tbf rate 20mbit burst 4k latency 100ms
	done
}

ping_all() {
	local i pids=()

	for ((i = 1; i <= $1; i++)); do
		in_netns a ping -q -c 300 -i 0.003 -l 40 -s 1200 "10.10.$i.2" >/dev/null &
		pids+=("$!")
		[[ $((i % 10)) -ne 0 ]] || wait "${pids[@]}"
	done
	wait "${pids[@]}"
	sleep 3
}

# take COUNT: a line "qdiscs series text gzip protobuf gzip" in $work/sizes.
take() {
	scrape "$work/text" -H 'Accept: text/plain'
	scrape "$work/text.gz" -H 'Accept: text/plain' -H 'Accept-Encoding: gzip'
	scrape "$work/protobuf" -H "$accept_protobuf"
	scrape "$work/protobuf.gz" -H "$accept_protobuf" -H 'Accept-Encoding: gzip'
	echo "$1 $(grep -vc '^#' "$work/text") $(stat -c %s "$work/text" "$work/text.gz" \
		"$work/protobuf" "$work/protobuf.gz" | tr '\n' ' ')" >>"$work/sizes"
}

make_netns scraped a b
traced=(a)
if ! export_start env; then
	fail "sojourn export does not start: $(tail -n 1 "$work/export.err")"
	exit 1
fi
made=0
for count in 1 10 100; do
	make_qdiscs $((made + 1)) $count
	made=$count
	ping_all $count
	take $count
done
{
	echo "qdiscs series text gzip protobuf gzip"
	cat "$work/sizes"
	awk 'NR == 1 { split($0, first) }
		{ last = $0 }
		END {
			split(last, of)
			printf "each"
			for (i = 2; i <= NF; i++)
				printf " %.0f", (of[i] - first[i]) / (of[1] - first[1])
			print ""
		}' "$work/sizes"
} | column -t | sed 's/^/  /'
sed -n 's/^process_resident_memory_bytes \(.*\)/  resident: \1 bytes/p' "$work/text"
echo "  maps: $(cat /proc/"$export_pid"/fdinfo/* | awk '/^memlock/ { sum += $2 } END { print sum }') bytes"

read -r own histogram < <(sed -n 's/^A qdisc has \([0-9]*\) series of its own, and each of its histograms \([0-9]*\) .*/\1 \2/p' \
	docs/export.md)
read -r _ one _ < <(sed -n 1p "$work/sizes")
read -r _ ten _ < <(sed -n 2p "$work/sizes")
check "a qdisc has as many series as docs/export.md says ($own, and a histogram's $histogram)" test \
	$((ten - one)) -eq $((9 * (own + histogram)))
check "a compressed scrape is less than a tenth of the text" awk \
	'{ bad = $4 * 10 > $3 } END { exit bad }' "$work/sizes"
