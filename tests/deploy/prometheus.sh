#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The rules, the dashboard and the manifests: what other people's programs say of the files; then
# every query of them, as Prometheus answers it after it scraped sojourn export under traffic, with
# classic and with native histograms.
source "$(dirname "$0")/lib.sh"

rules=deploy/prometheus
dashboard=deploy/grafana/sojourn.json

if ! have prometheus promtool curl yamllint yq; then
	skip "everything in this file: no $missing"
	exit 0
fi

check "promtool: the rules" promtool check rules $rules/*.rules.yml $rules/*.alerts.yml
check "promtool: the example of a configuration" promtool check config $rules/prometheus.yml
sed -E 's/^  # (metric_relabel_configs:|- |  [a-z_]+: )/  \1/' $rules/prometheus.yml >"$work/all.yml"
cp $rules/sojourn.*.yml "$work"
check "promtool: the same with all that stands there as a comment" promtool check config "$work/all.yml"
check "and its three relabelings are there" test \
	"$(yq '.scrape_configs[0].metric_relabel_configs | length' "$work/all.yml")" -eq 3
check "promtool: what the rules and alerts make of known series" \
	promtool test rules $rules/tests/*.yml
check "yamllint: every YAML file of deploy/" yamllint -c deploy/.yamllint --strict deploy

check_jq "the dashboard: ids are unique, panels lie beside each other within 24 columns" $dashboard '
	([.panels[].id] | length == (unique | length)) and ([.panels[].gridPos] as $all |
		all($all[]; .x + .w <= 24) and ([range($all | length) as $i | range($i) as $j |
			select($all[$i].x < $all[$j].x + $all[$j].w and
				$all[$j].x < $all[$i].x + $all[$i].w and
				$all[$i].y < $all[$j].y + $all[$j].h and
				$all[$j].y < $all[$i].y + $all[$i].h)] == []))'
check_jq "the dashboard: every variable that a query has is defined" $dashboard '
	([.templating.list[].name] + ["__rate_interval"]) as $names | [.panels[].targets[]?.expr |
		scan("[$]([a-z_]+)")[0]] | unique - $names == []'
for name in $(yq -r '.groups[].rules[].alert | values' $rules/sojourn.alerts.yml); do
	grep -q "\`$name\`" docs/deploy.md || echo "  $name"
done >"$work/untold"
cat "$work/untold"
check "every alert is in docs/deploy.md" test ! -s "$work/untold"

# ---- a host with traffic, export and Prometheus ----

make_netns scraped
make_pair 1
# The leaf drops what has waited longest: 60 packets wait at most, 36 ms at that rate.
in_netns a tc qdisc add dev eth0 root handle 10: tbf rate 20mbit burst 32k limit 100k
in_netns a tc qdisc add dev eth0 parent 10:1 handle 11: pfifo_head_drop limit 60
# Packets of one size: the limit counts GSO skbs as one.
in_netns a ethtool -K eth0 tso off gso off >/dev/null
traced=(a b)

# queries: every one of the dashboard's, "PANEL<tab>QUERY" in one line, its variables replaced.
queries() {
	jq -r '.panels[] | .title as $title | .targets[]? | [$title, (.expr | gsub("\\s+"; " "))] |
		join("\t")' $dashboard |
		sed 's/\$__rate_interval/20s/g; s/\$\(instance\|netns\|device\)/.*/g'
}

# The rules' intervals are made short: 5 minutes become 20 s.
recorded() {
	yq -r '.groups[].rules[] | [.record // .alert, (.expr | gsub("\\s+"; " "))] | join("\t")' "$@" |
		sed 's/\[[0-9]*m\]/[20s]/g'
}

# prometheus_start NAME [options]
prometheus_start() {
	local name=$1 tries

	shift
	mkdir "$work/$name"
	sed 's/\[[0-9]*m\]/[20s]/; s/interval: 1m/interval: 1s/' $rules/sojourn.rules.yml \
		>"$work/$name/sojourn.rules.yml"
	sed 's/_interval: .*/_interval: 1s/; /sojourn.alerts.yml/d' $rules/prometheus.yml \
		>"$work/$name/prometheus.yml"
	become_in_netns scraped prometheus --config.file="$work/$name/prometheus.yml" \
		--storage.tsdb.path="$work/$name/data" --web.listen-address=127.0.0.1:9090 \
		--log.level=warn "$@" >"$work/$name/log" 2>&1 &
	prometheus_pid=$!
	background+=("$!")
	for ((tries = 0; tries < 200; tries++)); do
		in_netns scraped curl -fsS http://127.0.0.1:9090/-/ready >/dev/null 2>&1 && return
		sleep 0.1
	done
	fail "$name: Prometheus does not start: $(tail -n 2 "$work/$name/log")"
	exit 1
}

# ask QUERY: Prometheus's answer, in $work/answer.
ask() {
	in_netns scraped curl -sS --data-urlencode "query=$1" -o "$work/answer" \
		http://127.0.0.1:9090/api/v1/query
}

# answered FORM WHAT NAME QUERY: without an error, and with an element that is a number.
answered() {
	ask "$4"
	check_jq "$1: $2 \"$3\"" "$work/answer" '.status == "success" and (.data.result | length > 0
		and any(.[]; (.value[1] // .histogram[1].count) | . != "NaN"))'
}

# ask_all FORM LOW HIGH: between what the median of the tbf is to be.
ask_all() {
	local form=$1 name query

	while IFS=$'\t' read -r name query; do
		answered "$form" dashboard "$name" "$query"
	done < <(queries)
	while IFS=$'\t' read -r name query; do
		answered "$form" rule "$name" "$query"
		answered "$form" recorded "$name" "$name"
	done < <(recorded $rules/sojourn.rules.yml)
	while IFS=$'\t' read -r name query; do
		ask "$query"
		check_jq "$form: alert \"$name\" can be computed" "$work/answer" '.status == "success"'
	done < <(recorded $rules/sojourn.alerts.yml)
	# The leaf holds 60 packets, and tbf one more: 37 ms at the rate, less where others are dropped from
	# the head. The bucket that holds 37 ms ends with 41.
	ask 'topk(1, qdisc:sojourn_waiting:share5m)'
	check_jq "$form: what delays most is the tbf" "$work/answer" '.data.result[0] |
		.metric.path == "tbf 10:" and (.value[1] | tonumber) > 0.99'
	ask 'qdisc:sojourn_seconds:p50_5m{path="tbf 10:"}'
	jq -r '"  median of the tbf: \(.data.result[0].value[1]) s"' "$work/answer"
	check_jq "$form: the median is what the leaf drains in at most, as near as buckets tell" \
		"$work/answer" '.data.result[0].value[1] | tonumber |
		. > $low and . < $high' --argjson low "$2" --argjson high "$3"
}

if ! export_start env; then
	fail "sojourn export does not start: $(tail -n 1 "$work/export.err")"
	exit 1
fi
load_start 90

# ---- names ----

# Of every query: metrics' names, and without what a classic histogram's series end with.
{
	queries | cut -f 2
	recorded $rules/sojourn.rules.yml $rules/sojourn.alerts.yml | cut -f 2
	jq -r '.templating.list[].definition // empty' $dashboard
} | sed -E 's/[a-z]+:[a-z_0-9:]+//g' |
	grep -oE '\b(sojourn|process)_[a-z_]+' | sed -E 's/_(bucket|sum|count)$//' | sort -u >"$work/asked"
grep -oE '`(sojourn|process)_[a-z_]+`' docs/export.md | tr -d '`' | sort -u >"$work/documented"
comm -23 "$work/asked" "$work/documented" | sed 's/^/  not in docs\/export.md: /' |
	tee "$work/unknown"
check "the $(wc -l <"$work/asked") metrics that rules and dashboard ask for are in docs/export.md" \
	test -s "$work/asked" -a ! -s "$work/unknown"

prometheus_start classic
sleep 25
ask_all classic 0.0167 0.0672
stop_process "$prometheus_pid"

scrape "$work/metrics"
sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$work/metrics" | sort -u >"$work/told"
comm -23 "$work/told" "$work/documented" | sed 's/^/  told, but not in docs\/export.md: /' |
	tee "$work/unknown"
check "the $(wc -l <"$work/told") metrics that export tells are in docs/export.md" \
	test -s "$work/told" -a ! -s "$work/unknown"
# Of qdiscs that this one is not: paced ones, and parents in the functions tier.
comm -13 "$work/told" "$work/asked" |
	grep -vxE 'sojourn_qdisc_(paced|exclusive)_seconds' | sed 's/^/  not told: /' |
	tee "$work/unknown"
check "and export tells all that is asked for" test ! -s "$work/unknown"

prometheus_start native --enable-feature=native-histograms
sleep 25
ask_all native 0.02 0.0406
ask 'count(sojourn_qdisc_sojourn_seconds_bucket)'
check_jq "native: there are no classic buckets" "$work/answer" '.data.result == []'
