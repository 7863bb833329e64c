#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `sojourn export` with a real Prometheus, once with classic and once with native histograms: its
# quantiles are compared with ping through the same queue, its counters with the kernel's.
# Then what a server meets: qdiscs replaced, too many of them, bad requests, many clients, slow ones.
source "$(dirname "$0")/../lib.sh"

for program in prometheus promtool curl; do
	if ! command -v "$program" >/dev/null; then
		skip "everything in this file: there is no $program"
		exit 0
	fi
done

every_cpu=0-$(($(nproc --all) - 1))
use_one_cpu
make_pair 1
make_netns m
in_netns a ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev eth0
in_netns b ip link set eth0 address 02:00:00:00:00:02

set_tbf() {
	in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 10mbit burst 5000 limit 30000
}
set_tbf

# export_start NAME ARGUMENTS: in the namespace m, until it traces.
export_start() {
	local name=$1 tries

	shift
	become_in_netns m taskset -c "$every_cpu" "$sojourn" export --netns "${prefix}a" "$@" \
		2>"$work/$name.err" &
	export_pid=$!
	background+=("$export_pid")
	for ((tries = 0; tries < 600; tries++)); do
		grep -q "^tracing" "$work/$name.err" && return 0
		kill -0 "$export_pid" 2>/dev/null || break
		sleep 0.05
	done
	fail "$name: it did not start: $(tail -n 3 "$work/$name.err")"
	exit 1
}

# export_stop NAME: by SIGTERM; how it ended is in export_status, how long that took in export_ms.
export_stop() {
	local begin

	begin=$(date +%s%N)
	export_status=0
	kill "$export_pid"
	wait "$export_pid" || export_status=$?
	export_ms=$((($(date +%s%N) - begin) / 1000000))
}

# fetch PATH [curl options]
fetch() {
	local path=$1

	shift
	in_netns m curl -s --max-time 10 "$@" "http://127.0.0.1:9435$path"
}

status_of() {
	fetch "$1" -o /dev/null -w '%{http_code}'
}

# value FILE NAME PART...: the sum of the samples of that name whose labels hold all parts; "none".
value() {
	local file=$1 name=$2

	shift 2
	parts=$(printf '%s\n' "$@") awk -v name="$name" '
		BEGIN { count = split(ENVIRON["parts"], parts, "\n") }
		index($0, name "{") == 1 || index($0, name " ") == 1 {
			for (i = 1; i <= count; i++)
				if (!index($0, parts[i]))
					next
			sum += $NF
			found = 1
		}
		END { print found ? sprintf("%.9g", sum) : "none" }' "$file"
}

# Until the figures of an interval that began after this moment are told.
next_interval() {
	sleep 2.2
}

# ---- Prometheus ----

# prometheus_start NAME PORT ARGUMENTS
prometheus_start() {
	local name=$1 port=$2 tries

	shift 2
	cat >"$work/$name.yml" <<-END
		global:
		  scrape_interval: 1s
		scrape_configs:
		  - job_name: sojourn
		    static_configs:
		      - targets: ["127.0.0.1:9435"]
	END
	become_in_netns m taskset -c "$every_cpu" prometheus --config.file="$work/$name.yml" \
		--storage.tsdb.path="$work/$name.data" --web.listen-address="127.0.0.1:$port" \
		--log.level=warn "$@" >"$work/$name.log" 2>&1 &
	background+=("$!")
	for ((tries = 0; tries < 200; tries++)); do
		in_netns m curl -sf "http://127.0.0.1:$port/-/ready" >/dev/null && return
		sleep 0.1
	done
	fail "Prometheus did not start: $(tail -n 3 "$work/$name.log")"
	exit 1
}

# query PORT EXPRESSION: the value of the only sample that comes of it; "none", "several".
query() {
	in_netns m curl -sG "http://127.0.0.1:$1/api/v1/query" --data-urlencode "query=$2" |
		jq -r 'if .status != "success" then .error else .data.result |
			if length == 0 then "none" elif length > 1 then "several" else
			.[0].value[1] end end'
}

# is_within TEXT VALUE LOW HIGH
is_within() {
	if awk -v value="$2" -v low="$3" -v high="$4" \
		'BEGIN { exit !(value + 0 == value && value >= low && value <= high) }'; then
		pass "$1: $2 in $3 ... $4"
	else
		fail "$1: $2, not in $3 ... $4"
	fi
}

times() {
	awk -v value="$1" -v by="$2" 'BEGIN { printf "%.9g", value * by }'
}

same() {
	if [[ $2 == "$3" ]]; then
		pass "$1: $2"
	else
		fail "$1: $2, not $3"
	fi
}

# kernel FIELD: of the tbf on a's eth0
kernel() {
	in_netns a tc -s -j qdisc show dev eth0 | jq ".[] | select(.kind == \"tbf\") | .$1"
}

# A queue that is always full: all wait about the same, 24 ms (30000 bytes at 10 Mbit/s).
traffic() {
	become_in_netns b iperf3 -s -1 -p 5301 >/dev/null 2>&1 &
	wait_listening b 5301
	in_netns a ping -q -n -i 0.05 -c 150 -s 56 10.9.0.2 >/dev/null &
	in_netns a ping -n -i 0.05 -c 150 -s 56 10.9.0.2 >"$work/ping" &
	in_netns a iperf3 -c 10.9.0.2 -p 5301 -u -b 14M -l 1000 -t 8 >/dev/null 2>&1
	wait %% 2>/dev/null
	wait_empty a eth0
}

# of the RTTs under load: what is under a tenth of a full queue came before or after it
ping_percentile() {
	sed -n 's/.*time=\([0-9.]*\) ms$/\1/p' "$work/ping" | awk '$1 > 2.4' | sort -n |
		awk -v p="$1" '{ all[NR] = $1 } END {
			at = int(NR * p / 100 + 0.999999); print all[at] / 1000 }'
}

check_quantiles() {
	local p50 p99 eth='{device="eth0",kind="tbf"}'

	p50=$(ping_percentile 50) p99=$(ping_percentile 99)
	echo "  ping: median $p50 s, 99th percentile $p99 s of $(grep -c time= "$work/ping")"
	is_within "the scrapes of classic histograms work" "$(query 9091 'min_over_time(up[5s])')" 1 1
	is_within "those of native ones too" "$(query 9092 'min_over_time(up[5s])')" 1 1
	# 9.05 % of a bucket, 1.6 % of ours, and what ping is late
	is_within "native median against ping's" \
		"$(query 9092 "histogram_quantile(0.5, sojourn_qdisc_sojourn_seconds$eth)")" \
		"$(times "$p50" 0.88)" "$(times "$p50" 1.12)"
	is_within "native 99th percentile against ping's" \
		"$(query 9092 "histogram_quantile(0.99, sojourn_qdisc_sojourn_seconds$eth)")" \
		"$(times "$p99" 0.85)" "$(times "$p99" 1.15)"
	# an octave
	is_within "classic 99th percentile against ping's" \
		"$(query 9091 "histogram_quantile(0.99, sojourn_qdisc_sojourn_seconds_bucket$eth)")" \
		"$(times "$p99" 0.5)" "$(times "$p99" 2)"
	is_within "the rate while there was load, packets/s" \
		"$(query 9091 "max_over_time(rate(sojourn_qdisc_packets_total{device=\"eth0\",outcome=\"measured\"}[3s])[12s:1s])")" \
		1000 1400
	same "both hold the same packets" \
		"$(query 9092 "histogram_count(sojourn_qdisc_sojourn_seconds$eth)")" \
		"$(query 9091 "sojourn_qdisc_sojourn_seconds_count$eth")"
	same "and the same time" \
		"$(query 9092 "histogram_sum(sojourn_qdisc_sojourn_seconds$eth)")" \
		"$(query 9091 "sojourn_qdisc_sojourn_seconds_sum$eth")"
	check "Prometheus has nothing to complain about" \
		sh -c "! grep -E 'level=(warn|error)' '$work/classic.log' '$work/native.log'"
}

# told NAME PART...: how much that grew by between the two scrapes.
told() {
	awk -v after="$(value "$work/counters" "$@")" -v before="$(value "$work/baseline" "$@")" \
		'BEGIN { printf "%.10g\n", after - before }'
}

# Traffic between two scrapes and two looks at the kernel's counters, whose differences are then in
# packets, drops and bytes. Done again, up to 3 times in all, where some packets that the kernel did
# not show to the programs (see use_one_cpu) are all that is wrong.
measure() {
	local attempt out unseen

	for ((attempt = 1; attempt <= attempts; attempt++)); do
		fetch /metrics >"$work/baseline"
		packets=$(kernel packets) drops=$(kernel drops) bytes=$(kernel bytes)
		traffic
		next_interval
		fetch /metrics >"$work/counters"
		packets=$(($(kernel packets) - packets)) drops=$(($(kernel drops) - drops))
		bytes=$(($(kernel bytes) - bytes))
		out=$(told sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')
		unseen=$((packets - out))
		[[ $unseen -gt 0 && $unseen -lt 10 ]] || return 0
		echo "  attempt $attempt: $unseen of $packets packets went out unseen"
	done
}

check_counters() {
	local outcome out=0

	for outcome in measured bypassed unmatched; do
		out=$((out + $(told sojourn_qdisc_packets_total 'kind="tbf"' "\"$outcome\"")))
	done
	same "packets that went out, by the kernel's counter" "$out" "$packets"
	same "refused, by the kernel's counter" \
		"$(told sojourn_qdisc_packets_total 'kind="tbf"' '"rejected"')" "$drops"
	same "in the histogram as many as went out" \
		"$(told sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')" "$packets"
	same "bytes, by the kernel's counter" \
		"$(told sojourn_qdisc_bytes_total 'kind="tbf"')" "$bytes"
	is_within "the most that waited, bytes" "$(value "$work/counters" \
		sojourn_qdisc_backlog_max_bytes 'kind="tbf"')" 20000 30000
	is_within "states of iperf3's own TCP connection, which goes out by eth0" \
		"$(told sojourn_tcp_srtt_seconds_count "netns=\"${prefix}a\",device=\"eth0\"")" 1 1000
	same "losses" "$(told sojourn_losses_total)" 0
}

with_prometheus() {
	export_start first
	prometheus_start classic 9091
	prometheus_start native 9092 --enable-feature=native-histograms
	in_netns a ping -q -n -c 1 10.9.0.2 >/dev/null
	next_interval
	measure
	check_counters
	check_quantiles
}

# ---- privileges ----

# The capabilities of the threads, those with the most first: 21 SYS_ADMIN, 19 SYS_PTRACE, 39 BPF; of the
# functions tier 38 PERFMON and 34 SYSLOG too.
check_privileges() {
	local tier wanted

	tier=$(fetch /metrics | sed -n 's/^sojourn_build_info{.*tier="\([a-z]*\)".*/\1/p')
	wanted=$((1 << 21 | 1 << 19 | 1 << 39))
	[[ $tier != functions ]] || wanted=$((wanted | 1 << 38 | 1 << 34))
	same "one thread has the capabilities that tracing on takes, the one that answers has none" "$(
		sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$export_pid"/task/*/status | sort -r | tr '\n' ' ')" \
		"$(printf '%016x %016x ' $((wanted & 0x$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/$$/status))) 0)"
	same "no program that it executes could have any" "$(
		sed -n 's/^CapBnd:[[:space:]]*//p' "/proc/$export_pid"/task/*/status | sort -u)" "0000000000000000"
	same "nor gain any" "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' "/proc/$export_pid/status")" 1
}

# ---- what is sent ----

check_formats() {
	fetch /metrics >"$work/text"
	check "promtool has nothing to say" sh -c "promtool check metrics <'$work/text' >'$work/lint' 2>&1 &&
		! grep . '$work/lint'"
	same "plain text" "$(fetch /metrics -o /dev/null -w '%{content_type}')" \
		"text/plain; version=0.0.4; charset=utf-8"
	same "OpenMetrics" "$(fetch /metrics -o "$work/open" -w '%{content_type}' \
		-H 'Accept: application/openmetrics-text;version=1.0.0')" \
		"application/openmetrics-text; version=1.0.0; charset=utf-8"
	same "its last line" "$(tail -n 1 "$work/open")" "# EOF"
	fetch /metrics -H 'Accept-Encoding: gzip' >"$work/gzip"
	check "gzip holds the same families" \
		diff <(zcat "$work/gzip" | grep '^#') <(grep '^#' "$work/text")
	same "HEAD has a length and no body" "$(fetch /metrics -I -w '%{http_code} %{size_download}' \
		-o /dev/null)" "200 0"
	same "POST" "$(fetch /metrics -d x -o /dev/null -w '%{http_code}')" 405
	same "another path" "$(status_of /nothing)" 404
	same "/healthz" "$(status_of /healthz)" 200
	same "/readyz" "$(status_of /readyz)" 200
	same "the page that links them" "$(fetch / | grep -c 'href="/metrics"')" 1
	is_within "what the BPF programs took, s" \
		"$(value "$work/text" sojourn_bpf_run_seconds_total)" 0.000001 10
	is_within "resident memory, bytes" \
		"$(value "$work/text" process_resident_memory_bytes)" 1000000 300000000
}

# ---- qdiscs that are replaced ----

check_replaced() {
	local before after packets

	fetch /metrics >"$work/before"
	before=$(value "$work/before" sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')
	in_netns a tc qdisc del dev eth0 root
	next_interval
	fetch /metrics >"$work/gone"
	same "a qdisc that is gone is still told" \
		"$(value "$work/gone" sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')" "$before"
	set_tbf
	in_netns a ping -q -n -i 0.01 -c 100 10.9.0.2 >/dev/null
	next_interval
	fetch /metrics >"$work/after"
	after=$(value "$work/after" sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')
	packets=$(kernel packets)
	same "one in its place goes on where it ended" "$after" "$((before + packets))"
	same "in one series" "$(grep -c '^sojourn_qdisc_sojourn_seconds_count{.*kind="tbf"' \
		"$work/after")" 1
}

# ---- clients ----

# http TEXT: a request as it is, what comes back within 2 s.
http() {
	# shellcheck disable=SC2016
	in_netns m timeout 2 bash -c 'exec 3<>/dev/tcp/127.0.0.1/9435
		printf "$1" >&3; cat <&3' - "$1" 2>/dev/null | tr -d '\0'
}

check_bad_requests() {
	local request long

	long=$(head -c 30000 /dev/zero | tr '\0' x)
	for request in '\r\n\r\n' 'GARBAGE\r\n\r\n' 'GET\r\n\r\n' 'GET /metrics HTTP/9.9\r\n\r\n' \
		'GET /metrics HTTP/1.1\r\n\r\n' 'GET /metrics HTTP/1.1\r\nHost\r\n\r\n' \
		'GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n' \
		'GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n' \
		'GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' \
		'\0\0\0\0\0\0\0\0\r\n\r\n' "GET /$long HTTP/1.1\r\nHost: a\r\n\r\n" \
		"GET / HTTP/1.1\r\nHost: a\r\nAccept: $long\r\n\r\n"; do
		if http "$request" | head -n 1 | grep -q "^HTTP/1.1 200"; then
			fail "it takes $(head -c 60 <<<"$request")"
		fi
	done
	same "after 12 bad requests it answers a good one" "$(http \
		'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n' | head -n 1 | tr -d '\r')" "HTTP/1.1 200 OK"
}

# Many who ask for the figures of the same second.
check_parallel() {
	local i pids=()

	mkdir -p "$work/parallel"
	for ((i = 0; i < 50; i++)); do
		fetch /metrics -H 'Accept: application/openmetrics-text' >"$work/parallel/$i" &
		pids+=("$!")
	done
	wait "${pids[@]}"
	same "of 50 at once each has all" \
		"$(tail -qn 1 "$work"/parallel/* | grep -c '^# EOF$')" 50
}

# One reads a byte a second, ten say nothing; others do not notice.
check_slow() {
	local before after

	# shellcheck disable=SC2016
	become_in_netns m bash -c 'exec 3<>/dev/tcp/127.0.0.1/9435
		printf "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" >&3
		while read -r -N 1 -u 3; do sleep 1; done' &
	background+=("$!")
	# shellcheck disable=SC2016
	become_in_netns m bash -c 'for i in 1 2 3 4 5 6 7 8 9 10; do exec {fd}<>/dev/tcp/127.0.0.1/9435
		done; sleep 100' &
	background+=("$!")
	sleep 0.5
	before=$(kernel packets)
	fetch /metrics >"$work/slow.before"
	in_netns a ping -q -n -i 0.01 -c 100 10.9.0.2 >/dev/null
	next_interval
	fetch /metrics >"$work/slow.after"
	after=$(kernel packets)
	same "with slow clients every packet is counted" "$(($(value "$work/slow.after" \
		sojourn_qdisc_sojourn_seconds_count 'kind="tbf"') - $(value "$work/slow.before" \
		sojourn_qdisc_sojourn_seconds_count 'kind="tbf"')))" "$((after - before))"
	same "and it is ready" "$(status_of /readyz)" 200
}

# One that is never silent, a byte of its request a second, is let go after 30 s all the same.
drip() {
	# shellcheck disable=SC2016
	become_in_netns m bash -c 'trap "" PIPE; exec 3<>/dev/tcp/127.0.0.1/9435
		printf "GET / HTTP/1.1\r\nX: " >&3
		while printf a >&3; do sleep 1; done; echo $SECONDS' >"$work/drip" 2>/dev/null &
	drip_pid=$!
	background+=("$!")
}

check_drip() {
	wait "$drip_pid"
	is_within "one that drips is let go, s" "$(cat "$work/drip")" 29 40
}

# Who says nothing for 10 s is let go.
check_silent() {
	local begin=$SECONDS

	# shellcheck disable=SC2016
	in_netns m timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/9435; cat <&3' >/dev/null
	is_within "a silent client is let go, s" $((SECONDS - begin)) 9 17
}

# ---- too many qdiscs ----

check_overflow() {
	local i

	for i in 1 2 3 4; do
		veth_pair a "v$i" b "w$i"
		in_netns a ip addr add "10.7.$i.1/24" dev "v$i"
		in_netns b ip addr add "10.7.$i.2/24" dev "w$i"
		in_netns a tc qdisc add dev "v$i" root handle "$i:" pfifo
	done
	export_start overflow --max-series 2 -i v1 -i v2 -i v3 -i v4
	for i in 1 2 3 4; do
		in_netns a ping -q -n -i 0.02 -c 100 "10.7.$i.2" >/dev/null
		next_interval
	done
	fetch /metrics >"$work/overflow"
	same "two have series of their own" \
		"$(grep -c '^sojourn_qdisc_offered_packets_total{.*kind="pfifo"' "$work/overflow")" 2
	is_within "their packets, and some ARP" "$(value "$work/overflow" \
		sojourn_qdisc_offered_packets_total 'kind="pfifo"')" 200 210
	is_within "those of the two others, summed up" "$(value "$work/overflow" \
		sojourn_qdisc_offered_packets_total 'kind="other"')" 200 210
	same "in one histogram" "$(value "$work/overflow" \
		sojourn_qdisc_sojourn_seconds_count 'kind="other"')" "$(value "$work/overflow" \
		sojourn_qdisc_offered_packets_total 'kind="other"')"
	same "which are counted" \
		"$(value "$work/overflow" sojourn_qdisc_series_dropped_total)" 2
	same "of" "$(value "$work/overflow" sojourn_qdiscs)" 4
	check "promtool has nothing to say here either" \
		sh -c "promtool check metrics <'$work/overflow'"
	export_stop overflow
	same "exit status after SIGTERM" "$export_status" 0
}

# ---- beginning and end ----

# refused STATUS WORDS ARGUMENTS: one line with these words, that exit status.
refused() {
	local status=0 wanted=$1 words=$2

	shift 2
	in_netns m timeout 20 "$sojourn" export "$@" >"$work/refused" 2>&1 || status=$?
	if [[ $status -eq $wanted && $(wc -l <"$work/refused") -eq 1 ]] &&
		grep -q -- "$words" "$work/refused"; then
		pass "$*: exit status $status, one line"
	else
		fail "$*: exit status $status, not $wanted: $(head -n 3 "$work/refused")"
	fi
}

check_refused() {
	refused 3 "cannot listen at 127.0.0.1:9435, where another" --netns "${prefix}a"
	refused 3 "cannot listen at 192.0.2.7:9435" --listen 192.0.2.7:9435
	refused 2 "no address to listen at" --listen nowhere
	refused 2 "port" --listen 127.0.0.1:0
	refused 2 "max-series" --max-series 0
	refused 2 "max-series" --max-series 20001
	refused 2 "tier" --tier best
	refused 3 "${prefix}none" --netns "${prefix}none" --listen 127.0.0.1:9436
	refused 2 "too much" now
}

with_prometheus
check_privileges
check_formats
drip
check_replaced
check_bad_requests
check_parallel
check_refused
check_slow
check_silent
check_drip
export_stop first
same "exit status after SIGTERM, slow clients or not" "$export_status" 0
is_within "how long that took, ms" "$export_ms" 0 1000
check_overflow
check_nothing_left "export"
