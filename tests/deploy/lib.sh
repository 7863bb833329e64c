# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of deploy/ share, on top of tests/lib.sh: hosts with traffic, a sojourn export
# that traces it, a Prometheus that scrapes that.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

address=127.0.0.1:9435
# Namespaces that export is to look at, by their short names; none: at all.
traced=()

# export_start [COMMAND BEFORE sojourn...]: in the namespace "scraped", of the namespaces in
# ${traced[@]} (none: of all); its process is $export_pid. Returns whether it answers.
export_start() {
	local tries arguments=()

	for name in "${traced[@]}"; do
		arguments+=(--netns "$prefix$name")
	done
	become_in_netns scraped "$@" "$sojourn" export --listen $address "${arguments[@]}" \
		2>"$work/export.err" &
	export_pid=$!
	background+=("$!")
	for ((tries = 0; tries < 300; tries++)); do
		in_netns scraped curl -fsS "http://$address/readyz" >/dev/null 2>&1 && return 0
		kill -0 "$export_pid" 2>/dev/null || break
		sleep 0.1
	done
	return 1
}

# scrape FILE [curl options]: the metrics as Prometheus would get them.
scrape() {
	local file=$1

	shift
	in_netns scraped curl -fsS "$@" -o "$file" "http://$address/metrics"
}

# load_start SECONDS: from a to b, UDP above the rate of any tbf of these tests, TCP and pings beside it.
load_start() {
	local seconds=$1 port

	for port in 5201 5202; do
		become_in_netns b iperf3 -s -1 -p $port >"$work/server-$port.out" 2>&1 &
		background+=("$!")
	done
	become_in_netns a ping -q -i 0.1 -w "$seconds" 10.9.0.2 >"$work/ping.out" &
	background+=("$!")
	sleep 0.5
	become_in_netns a iperf3 -c 10.9.0.2 -p 5201 -t "$seconds" >"$work/tcp.out" 2>&1 &
	background+=("$!")
	sleep 0.5
	become_in_netns a iperf3 -c 10.9.0.2 -p 5202 -u -b 24M -l 1400 -t "$seconds" \
		>"$work/udp.out" 2>&1 &
	background+=("$!")
}

# What must be there. Reason of a skip: $missing.
have() {
	for missing in "$@"; do
		command -v "$missing" >/dev/null || return 1
	done
}
