#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The office seen from the gateway alone: the verdict must be that it is not there, and
# beyond which device, with ping's RTT as the measure.
source "$(dirname "$0")/../lib.sh"

name=confined
json=$work/$name.json
out=$work/out

run_confined() {
	rm -rf "$out"
	run_sojourn $name office --netns "${prefix}gw" --out "$out"
}

repeat_run $name run_confined
sed 's/^/  /' "$work/$name.out"
check_status "the run" 0 $name
check_nothing_left "the run"
if ! jq -e . "$json" >/dev/null; then
	fail "the run left no JSON document"
	exit 1
fi

check_jq "the document is complete" "$json" '.complete and (.incomplete_why == null)'
check_jq "only the gateway's qdiscs are listed" "$json" \
	'[.qdiscs[].netns] | unique == [$gateway]' --arg gateway "${prefix}gw"
check_jq "its ledger is exact and agreed" "$json" '
	[.qdiscs[] | select(.traced and .root)] | length >= 1 and
	all(.[]; .agrees and .ledger.unaccounted == 0)'

# Nothing of another host is evidence: only where a probe's RTT begins and ends.
check_jq "legs lie on the gateway, but for the end of the RTT" "$json" '
	[.probes[] | select(.lost | not)] | length > 200 and all(.[]; .complete and
		([.legs[].ns] | add) == .rtt_ns and .legs[0].kind == "link" and
		(.legs[-1] | .kind == "link" and .netns == $prefix + "client") and
		all(.legs[:-1][]; .netns == $prefix + "gw"))' --arg prefix "$prefix"

# What ping printed, of idle and load: M is the increase of its mean over the idle median.
sed -n 's/.* icmp_seq=\([0-9]*\) .* time=\([0-9.]*\) ms.*/[\1,\2]/p' "$out/ping.txt" |
	jq -s . >"$work/ping"
for of in upload download; do
	jq -r --arg of $of '.phases[] | select(.name == $of).attribution |
		"  \(.verdict) explained \(.explained)"' "$json"
	check_jq "$of: the verdict is that of a host that it is not on" "$json" '
		.phases[] | select(.name == $of).attribution.verdict |
			test("^not on the devices traced: [0-9.]+ m?s of [0-9.]+ m?s are beyond wan0 ")' \
		--arg of $of
	check_jq "$of: no share of it is the gateway's" "$json" '
		.phases[] | select(.name == $of).attribution |
		.valid and .explained < 0.01 and .unexplained_ns > 0.99 * .rtt_increase_ns and
		.beyond.device == "wan0" and .beyond.netns == $gateway and
		.beyond.ns > 0.98 * .rtt_increase_ns' --arg of $of --arg gateway "${prefix}gw"
	check_jq "$of: the increase is what ping shows, within 1 %" "$json" '
		($ping[0] | map({key: "\(.[0])", value: .[1]}) | from_entries) as $ms |
		def printed($name): [.probes[] | select(.phase == $name and (.lost | not)) |
			$ms["\(.seq)"] | select(. != null)];
		(printed("idle") | sort | .[length / 2 | floor]) as $idle |
		(printed($of) | add / length - $idle) as $increase |
		(.phases[] | select(.name == $of).attribution.rtt_increase_ns / 1e6) as $told |
		$increase > 100 and ($told / $increase - 1 | fabs) < 0.01' \
		--arg of $of --slurpfile ping "$work/ping"
done
check_jq "and it clears the gateway's own qdisc" "$json" '
	.attribution.verdict | test("not the gateway\u0027s (fq_codel|pfifo_fast): its queue was empty [(]share < 1 %[)]")'

# The modem alone: then the same delay is found in its qdiscs, each in its direction.
run_modem() {
	run_sojourn modem office --netns "${prefix}modem" --netns "${prefix}gw" \
		--set load.seconds=8 --set idle.seconds=2 --set recovery.seconds=4 \
		--set probe.interval=0.1 --set restored.count=5
}

repeat_run modem run_modem
check_status "gateway and modem" 0 modem
jq -r '.phases[] | select(.kind == "load") | "  \(.attribution.verdict)"' "$work/modem.json"
check_jq "gateway and modem: the cause is the modem's tbf of that direction" "$work/modem.json" '
	([.qdiscs[].netns] | unique) == ([$prefix + "gw", $prefix + "modem"] | sort) and
	all(.phases[] | select(.kind == "load"); .attribution | .cause.share > 0.98 and
		.beyond == null) and
	([.phases[] | select(.kind == "load").attribution.cause.qdisc | split("/")[1:2][0]] ==
		["wan0", "lan0"])' --arg prefix "$prefix"
check_nothing_left "gateway and modem"
