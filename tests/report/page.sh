#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The HTML report in a headless Chromium that is told what to do over a pipe (its DevTools
# protocol: JSON documents with a null byte behind each): it renders without a word on the
# console and without asking the network, shows the document's own figures at the cursor,
# hides series, follows a probe, is dark where that is asked for, and prints.
source "$(dirname "$0")/../lib.sh"

chromium=$(command -v chromium || command -v chromium-browser)
if [[ -z $chromium ]]; then
	skip "the HTML report: there is no chromium"
	exit 0
fi

# The run that the pages show: made once, short.
run_shown() {
	run_sojourn shown bottleneck --set idle.seconds=1 --set load.seconds=5 --set recovery.seconds=3 \
		--set restored.count=5 --set probe.interval=50ms
}
repeat_run shown run_shown
json=$work/shown.json

status=0
"$sojourn" report "$json" -o "$work/one.html" 2>"$work/err" || status=$?
if [[ $status -eq 3 ]] && grep -q 'built without the HTML report' "$work/err"; then
	skip "the HTML report: this build has none ($(tail -n 1 "$work/err"))"
	exit 0
fi
check "report -o: exit status 0" test "$status" -eq 0
check "the page without its documents is below 250 KB" test \
	$(($(stat -c %s "$work/one.html") - $(stat -c %s "$json"))) -lt 250000
check "it names nothing that a browser would fetch" bash -c '
	! grep -oE "(src|href)=\"[^#\"][^\"]*\"|@import|url\(" "$1"' bash \
	<(sed '/^<script type="application\/json"/d' "$work/one.html")

# ---- talking to it ----

mkfifo "$work/to" "$work/from"
"$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
	--disable-background-networking --disable-component-update --user-data-dir="$work/profile" \
	--window-size=1200,900 --remote-debugging-pipe 3<"$work/to" 4>"$work/from" \
	>"$work/chromium.out" 2>&1 </dev/null &
background+=("$!")
exec {to}>"$work/to" {from}<"$work/from"
events=$work/events
session=
number=0

# ask METHOD [PARAMETERS]: its result is in $answer; what else it says in $events. 1: an error.
ask() {
	local message

	number=$((number + 1))
	jq -cn --arg method "$1" --arg session "$session" --argjson id $number \
		--argjson params "${2:-null}" '{id: $id, method: $method} +
			(if $params then {params: $params} else {} end) +
			(if $session == "" then {} else {sessionId: $session} end)' |
		tr '\n' '\0' >&"$to"
	while IFS= read -r -d '' -t 60 message <&"$from"; do
		if [[ $message == "{\"id\":$number,"* ]]; then
			answer=$message
			[[ $message != *'"error":{'* ]]
			return
		fi
		printf '%s\n' "$message" >>"$events"
	done
	fail "chromium does not answer to $1"
	exit 1
}

# value EXPRESSION: of JavaScript in the page, as text.
value() {
	ask Runtime.evaluate "$(jq -cn --arg of "$1" '{expression: $of, returnByValue: true, awaitPromise: true}')"
	jq -r '.result.result.value' <<<"$answer"
}

# open_page FILE: waits until it is ready; 1: it is not after a minute.
open_page() {
	local tries

	: >"$events"
	ask Page.navigate "{\"url\": \"file://$1\"}"
	for ((tries = 0; tries < 300; tries++)); do
		[[ $(value 'String(document.documentElement.dataset.ready)') == true ]] && return
		sleep 0.2
	done
	return 1
}

# quiet TEXT: no message, exception or request since the page was opened.
quiet() {
	local said

	said=$(jq -c 'select(.method == "Runtime.exceptionThrown" or
		.method == "Runtime.consoleAPICalled" or .method == "Log.entryAdded" or
		(.method == "Network.requestWillBeSent" and .params.type != "Document")) |
		{method, params: (.params | tostring | .[:300])}' "$events" | head -n 3)
	check "$1: nothing on the console, nothing asked of the network${said:+: $said}" test -z "$said"
}

mouse() {
	ask Input.dispatchMouseEvent "$(jq -cn --arg type "$1" --argjson x "$2" --argjson y "$3" \
		'{type: $type, x: $x, y: $y} + if $type == "mouseMoved" then {} else
			{button: "left", clickCount: 1} end')"
}

# over PART: the middle of the first plot, moved to a part of its width.
over() {
	value 'document.querySelector(".u-over").scrollIntoView({block: "center"})' >/dev/null
	value "(() => { const at = document.querySelector('.u-over').getBoundingClientRect();
		return Math.round(at.left + at.width * $1) + ' ' + Math.round(at.top + at.height / 2); })()"
}

ask Target.createTarget '{"url": "about:blank"}'
ask Target.attachToTarget "$(jq -c '{targetId: .result.targetId, flatten: true}' <<<"$answer")"
session=$(jq -r .result.sessionId <<<"$answer")
for domain in Page Runtime Log Network; do
	ask $domain.enable
done

# ---- one run ----

check "it opens" open_page "$work/one.html"
check "the verdict stands on top" test \
	"$(value 'document.querySelector(".verdict .sentence").textContent')" = \
	"$(jq -r .attribution.verdict "$json")"
check "plots are drawn: RTT, sojourn, backlog, throughput, srtt, cwnd, two distributions" test \
	"$(value 'document.querySelectorAll(".uplot canvas").length')" -eq 8
check "and are not empty" test "$(value '[...document.querySelectorAll(".uplot canvas")].every((canvas) =>
	canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value))')" = true
check "each plot has words for who does not see it" test \
	"$(value '[...document.querySelectorAll(".plot")].every((plot) => plot.getAttribute("aria-label").length > 20 && plot.tabIndex === 0)')" = true

read -r x y < <(over 0.4)
mouse mouseMoved "$x" "$y"
sleep 0.3
shown=$(value 'document.querySelector(".values").textContent')
check_jq "at the cursor stand a probe's time and RTT ($shown)" "$json" '
	. as $of | ($shown | capture("^(?<at>[0-9.]+) s: RTT (?<rtt>[0-9.]+) (?<unit>µs|ms|s)")) as $said |
	($said.rtt | tonumber * {"µs": 1e3, "ms": 1e6, "s": 1e9}[$said.unit]) as $rtt |
	$of.probes[0].sent_ns as $zero |
	any($of.probes[]; ((.sent_ns - $zero) / 1e9 - ($said.at | tonumber) | fabs) < 0.0051 and
		(.rtt_ns / $rtt - 1 | fabs) < 0.006)' --arg shown "$shown"

value 'document.querySelector(".legend button").click()' >/dev/null
mouse mouseMoved $((x + 3)) "$y"
sleep 0.3
check "a series can be hidden" test \
	"$(value 'document.querySelector(".legend button").getAttribute("aria-pressed") + " " +
		/RTT/.test(document.querySelector(".values").textContent)')" = "false false"
value 'document.querySelector(".legend button").click()' >/dev/null

mouse mouseMoved "$x" "$y"
mouse mousePressed "$x" "$y"
mouse mouseReleased "$x" "$y"
sleep 0.3
sent=$(value 'document.querySelector("input[type=number]").value')
check "a click shows that probe's legs, which add up to its RTT" test \
	"$(value 'document.querySelector("[data-sum]").dataset.sum')" = \
	"$(jq --argjson i "$((sent - 1))" '.probes[$i].rtt_ns' "$json")"
check "it is the one at the cursor" test \
	"$(value 'document.querySelector(".values").textContent.match(/^[0-9.]+ s/)[0]')" = \
	"$(value 'document.querySelector(".legs").parentElement.querySelector("p").textContent.match(/at ([0-9.]+ s)/)[1]')"
check "keys move the cursor" test "$(value '(() => {
	const plot = document.querySelector(".plot"), values = document.querySelector(".values");
	plot.focus();
	plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
	const first = values.textContent;
	plot.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true }));
	return first !== values.textContent && first.length > 4; })()')" = true
check "the ledger has a row for each traced qdisc" test \
	"$(value '[...document.querySelectorAll("section")].pop().querySelectorAll("tbody tr").length')" = \
	"$(jq '[.qdiscs[] | select(.traced and .ledger.offered > 0)] | length' "$json")"

# The sojourn CDF at a bound that the document has: what lies below it.
value "JSON.stringify((() => {
	const model = readDocuments()[0], qdisc = busyQdiscs(model)[0];
	const of = model.loads[0].qdiscs.find((one) => one.id === qdisc.id).histogram;
	return { of, cdf: cdfOf(of) }; })())" >"$work/cdf"
check_jq "the sojourn's distribution is the document's" "$work/cdf" '
	.of as $of | .cdf as $cdf | ($of.counts | add) as $all |
	($cdf.at | length) == ($of.counts | length) + 1 and
	all(range($of.counts | length); . as $i |
		($cdf.values[0][$i] - 100 * ($of.counts[:$i] | add // 0) / $all | fabs) < 1e-6 and
		($cdf.at[$i] - $of.bounds_ns[$i] / 1e6 | fabs) < 1e-6)'

check "its median and p99 stand in the legend" test "$(value '(() => {
	const model = readDocuments()[0], of = model.loads[0].qdiscs.find((one) => one.id === busyQdiscs(model)[0].id).sojourn_ns;
	const words = "load, p50 " + timeText(of.p50) + ", p99 " + timeText(of.p99);
	return [...document.querySelectorAll(".legend button")].some((one) => one.textContent === words); })()')" = true

light=$(value 'getComputedStyle(document.body).backgroundColor')
ask Emulation.setEmulatedMedia '{"features": [{"name": "prefers-color-scheme", "value": "dark"}]}'
check "it is dark where that is preferred" test \
	"$(value 'getComputedStyle(document.body).backgroundColor')" != "$light"
value 'document.getElementById("theme").click()' >/dev/null
check "and light again by its switch" test \
	"$(value 'getComputedStyle(document.body).backgroundColor')" = "$light"
ask Emulation.setEmulatedMedia '{"features": []}'
check "it prints" ask Page.printToPDF
check "to more than one empty page" test ${#answer} -gt 40000
quiet "one run"

# ---- what not every run has ----

# Made from the run above: probes beside the main ones, a load both ways, packets that were requeued.
jq '(.loads[].iperf3.intervals[] | select(.start_s > 1)).reverse_bits_per_second = 3e6 |
	.scenario.probes = [{name: "gateway", to: "router", from: "client", interval: 100000000}] |
	.side_probes = [{name: "gateway", phases: [], probes: (.probes[:40] | map(.id = 9))}] |
	([.qdiscs[] | select(.traced) | .id][0]) as $id |
	(first(.timeline.qdisc_samples[] | select(.qdisc == $id and .packets > 0))).requeued = 3' \
	"$json" >"$work/more.json"
"$sojourn" report "$work/more.json" -o "$work/more.html" >/dev/null 2>"$work/err" || cat "$work/err"
check "probes beside, both ways, requeues: it opens" open_page "$work/more.html"
legends=$(value '[...document.querySelectorAll(".legend button")].map((one) => one.textContent).join("|")')
check "the probes beside are a series of their own" grep -q '|gateway|gateway lost|' <<<"$legends"
check "the load has a line for each direction" grep -q 'iperf3 up|iperf3 down' <<<"$legends"
check "requeues are marks" grep -q ' requeues|' <<<"$legends"
check "and are drawn where they were, and nowhere else" test "$(value "(() => {
	const model = readDocuments()[0], marked = busyQdiscs(model).map((qdisc) => sampleSeries(model, qdisc.id).requeues);
	return marked.flat().filter((count) => count).join(); })()")" = 3
quiet "probes beside, both ways, requeues"

# ---- several ----

jq '.probes |= map(.rtt_ns = (.rtt_ns / 2 | floor))' "$json" >"$work/faster.json"
"$sojourn" report "$json" "$work/faster.json" -o "$work/two.html" >/dev/null 2>&1
check "two results: it opens" open_page "$work/two.html"
check "two results: both stand side by side, and as boxes" test \
	"$(value 'document.querySelectorAll("tbody")[0].rows.length + " " +
		document.querySelectorAll(".boxes rect").length')" = "2 4"
check "two results: overlaid" test \
	"$(value 'document.querySelectorAll("section")[2].querySelectorAll(".legend")[0].children.length')" -eq 2
check "two results: the other can be chosen" test "$(value '(() => {
	const select = [...document.querySelectorAll("select")].find((one) => one.getAttribute("aria-label") === "result");
	select.value = "1";
	select.dispatchEvent(new Event("change"));
	return [...document.querySelectorAll(".facts")].some((p) => p.textContent.includes("faster.json")); })()')" = true
quiet "two results"

# ---- hostile names ----

evil='</script><script>document.title="owned"</script><img src=x onerror="document.title=1">'
jq --arg evil "$evil" '(.qdiscs[] | select(.traced)).path = $evil | .note = $evil | .scenario.name = "a<b>" | .attribution.verdict = $evil |
	(.phases[].attribution | select(.)).verdict = $evil' "$json" >"$work/evil.json"
"$sojourn" report "$work/evil.json" -o "$work/evil.html" >/dev/null 2>&1
check "hostile texts: it opens" open_page "$work/evil.html"
check "hostile texts stay texts" test \
	"$(value 'document.querySelector(".verdict .sentence").textContent')" = "$evil"
check "hostile texts: no markup of theirs" test \
	"$(value 'document.title + document.querySelectorAll("img").length')" = "sojourn: evil.json0"
quiet "hostile texts"

# ---- large ----

jq -c '.probes as $probes | ($probes | length) as $n | .window.end_ns += 100000 * 50000000 |
	.probes = [range(100000) as $i | $probes[$i % $n] | .seq = ($i % 65536) |
		.sent_ns = $probes[0].sent_ns + $i * 50000000 | .legs = .legs[:1]]' \
	"$json" >"$work/large.json"
check "100,000 probes: a report can be made" "$sojourn" report "$work/large.json" -o "$work/large.html"
begin=$SECONDS
check "100,000 probes: it opens" open_page "$work/large.html"
check "100,000 probes: within 30 s ($((SECONDS - begin)) s)" test $((SECONDS - begin)) -le 30
check "100,000 probes: redrawing takes less than a second" test "$(value '(() => {
	const begin = performance.now();
	plots[0].plot.setScale("x", { min: 100, max: 4000 });
	plots[0].plot.redraw();
	return Math.round(performance.now() - begin) < 1000; })()')" = true
quiet "100,000 probes"
