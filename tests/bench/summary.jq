# SPDX-License-Identifier: GPL-2.0
#
# From the measurements of tools/bench, one a line, to its figures. Differences and ratios
# are taken within a repetition; what comes out are their quartiles.

def quantile($p):
	sort as $sorted | ((length - 1) * $p) as $at | ($at | floor) as $low |
	$sorted[$low] + ($at - $low) * (($sorted[$low + 1] // $sorted[$low]) - $sorted[$low]);

def spread:
	map(select(. != null)) |
	if length == 0 then null
	else {median: quantile(0.5), q1: quantile(0.25), q3: quantile(0.75), of: length} end;

def sum(f): map(f // 0) | add // 0;

# ns that the programs took, for each packet
def own: if .counted and .packets > 0 then (.programs | sum(.ns)) / .packets else null end;

# A turn in which no packet came through tells nothing of the tracer.
def is_empty: .packets == 0 and .load != "idle";

# of($load; $variant; $counted): the measurements, by repetition
def of($load; $variant; $counted):
	map(select(.load == $load and .variant == $variant and .counted == $counted and
		(is_empty | not))) |
	sort_by(.repetition);

# joined(a; b; f): f of [a's, b's] of each repetition that has both
def joined(a; b; f):
	(b | map({key: "\(.repetition)", value: .}) | from_entries) as $others |
	[a[] | [., $others["\(.repetition)"]] | select(.[1] != null) | f];

# CPU time a packet that the variant adds to no tracing at all, with its repetition
def added($load; $variant):
	joined(of($load; $variant; false); of($load; "none"; false);
		{repetition: .[0].repetition,
		 ns: (.[0].path_ns / .[0].packets - .[1].path_ns / .[1].packets)});

# CPU time of a packet in the quieter turns: what else a machine does only ever adds to it.
def quieter($load; $variant):
	of($load; $variant; false) | map(.path_ns / .packets) | spread | .q1;

# By how much the quieter turns of one variant lie above those without tracing, to another's;
# nothing where the other's cannot be told from no tracing.
def quieter_ratio($load; $variant; $other):
	quieter($load; "none") as $none | quieter($load; $variant) as $a |
	quieter($load; $other) as $b |
	if $none and $a and $b and $b > 1.1 * $none
	then {median: (($a - $none) / ($b - $none)), of: 1} else null end;

def owns($load; $variant):
	of($load; $variant; true) | map({repetition, ns: own} | select(.ns != null));

# Where the other's figure is nothing, or less by chance, there is no ratio.
def ratio: if .[1].ns > 0 then .[0].ns / .[1].ns else null end;

def hooks:
	[.[].programs[] | select(.runs > 0)] | group_by(.hook) |
	map({hook: .[0].hook, ns_per_run: (sum(.ns) / sum(.runs)), runs: sum(.runs)});

# Sums over repetitions; what is no sum is a maximum.
def losses:
	[.[].losses | to_entries[] | select(.value | type == "number")] | group_by(.key) |
	map({key: .[0].key, value: (if .[0].key | test("_max|little") then map(.value) | max
		else sum(.value) end)}) | from_entries;

# Packets that the tracer did not measure, over all that there were; null where it cannot tell.
def missed:
	sum(.packets) as $packets | losses as $losses | .[0].variant as $variant |
	if $packets == 0 then null
	elif $variant == "histograms" or $variant == "run" then
		($losses.unmatched + $losses.flow_misses) / $packets
	elif $variant == "events" then $losses.lost / $packets
	elif $variant == "hash" then $losses.unmatched / $packets
	elif $variant == "bpftrace" then ([$packets - $losses.measured, 0] | max) / $packets
	elif $variant == "perf" then ([2 * $packets - $losses.events, 0] | max) / (2 * $packets)
	elif $variant == "tcpdump" then $losses.dropped / $packets
	else null end;

def result($load; $variant):
	of($load; $variant; false) as $timed | of($load; $variant; true) as $counted |
	(if $timed != [] then $timed else $counted end) as $any |
	{load: $load, variant: $variant,
	 packets_per_second: ($timed | map(.pps) | spread),
	 added_ns: (if $variant == "none" then null else added($load; $variant) | map(.ns) |
		spread end),
	 added_to_empty2: (if $variant == "none" then null else
		joined(added($load; $variant); added($load; "empty2"); ratio) | spread end),
	 added_wall_ns: (if $variant == "none" then null else
		joined(of($load; $variant; false); of($load; "none"; false);
			1e9 / .[0].pps - 1e9 / .[1].pps) | spread end),
	 own_ns: (owns($load; $variant) | map(.ns) | spread),
	 own_to_empty2: (joined(owns($load; $variant); owns($load; "empty2"); ratio) | spread),
	 own_ns_per_second: ($counted | map((.programs | sum(.ns)) / .seconds) | spread),
	 hooks: ($counted | hooks),
	 loader_cpu: ($any | map(.cpu_ns / 1e9 / .seconds) | spread),
	 maps_bytes: ($any | map(.maps_bytes) | max),
	 missed: (if $load == "bypass" or $load == "idle" then null else $any | missed end),
	 losses: ($any | losses)};

def target($name; $figure; $limit; $unit):
	{name: $name, limit: $limit, unit: $unit, figure: $figure,
	 met: (if $figure == null or $limit == null then null else $figure.median <= $limit end)};

# Without a tracer and with one sender nobody should wait for a CPU but for other work of
# the machine.
def contended:
	map(select(.variant == "none" and .load != "htb2" and .load != "idle") | .contended) |
	spread;

# What packets cost end to end cannot be told where senders had to share their CPUs, nor where
# tracing seems to cost less than nothing.
def end_to_end_target($name; $figure; $limit; $unit):
	contended as $contended |
	target($name; $figure; $limit; $unit) +
	{undecided: ($figure != null and ($figure.median < 0 or
		($contended != null and $contended.median > 0.05)))};

def added_ratio($load; $variant; $other):
	joined(added($load; $variant); added($load; $other); ratio) | spread;

def own_ratio($load; $variant; $other_load; $other):
	joined(owns($load; $variant); owns($other_load; $other); ratio) | spread;

# The share of what f takes from the summed losses, over all packets.
def share($load; f):
	of($load; "histograms"; true) | if length == 0 then null
	else {median: ((losses | f) / sum(.packets)), of: length} end;

# By how much the mean backlog from the sojourns differs from the kernel's own.
def little($load):
	of($load; "histograms"; true) |
	map(select(.losses.little != null) | .losses.little - 1 | fabs) | spread;

# Packets a second of which every one is in the file; null where one is lost.
def events_rate($load):
	of($load; "events"; false) |
	if (losses | .lost // 1) > 0 then null else map(.pps / 1e6) | spread end;

def targets: [
	end_to_end_target("htb1: added, to empty";
		added_ratio("htb1"; "histograms"; "empty"); 1.9; "x"),
	end_to_end_target("htb2: added, to empty";
		added_ratio("htb2"; "histograms"; "empty"); 2.1; "x"),
	target("htb1: added, to empty, in the quieter turns";
		quieter_ratio("htb1"; "histograms"; "empty"); 1.9; "x"),
	target("htb2: added, to empty, in the quieter turns";
		quieter_ratio("htb2"; "histograms"; "empty"); 2.1; "x"),
	target("htb1: added, to bpftrace, in the quieter turns";
		quieter_ratio("htb1"; "histograms"; "bpftrace"); 0.27; "x"),
	target("htb1: two looks at the clock alone, to empty, in the quieter turns";
		quieter_ratio("htb1"; "clock"; "empty"); null; "x"),
	target("htb2: two looks at the clock alone, to empty, in the quieter turns";
		quieter_ratio("htb2"; "clock"; "empty"); null; "x"),
	target("htb1: own time, to empty";
		own_ratio("htb1"; "histograms"; "htb1"; "empty"); 2.8; "x"),
	target("deep10k: own time, to empty";
		own_ratio("deep10k"; "histograms"; "deep10k"; "empty"); 4.2; "x"),
	end_to_end_target("htb1: added, to empty2";
		added_ratio("htb1"; "histograms"; "empty2"); 1.9; "x"),
	end_to_end_target("htb1: added, to bpftrace";
		added_ratio("htb1"; "histograms"; "bpftrace"); 0.27; "x"),
	end_to_end_target("htb2: added, to empty2";
		added_ratio("htb2"; "histograms"; "empty2"); 2.1; "x"),
	target("htb1: own time, to empty2";
		own_ratio("htb1"; "histograms"; "htb1"; "empty2"); 2.8; "x"),
	target("deep10k: own time, to empty2";
		own_ratio("deep10k"; "histograms"; "deep10k"; "empty2"); 4.2; "x"),
	target("deep100k: own time, to deep10k";
		own_ratio("deep100k"; "histograms"; "deep10k"; "histograms"); 1.5; "x"),
	end_to_end_target("bypass: added";
		added("bypass"; "histograms") | map(.ns) | spread; 30; "ns"),
	target("gso: own time of a segment"; owns("gso"; "histograms") | map(.ns) | spread; 250;
		"ns"),
	target("gro: own time of a segment"; owns("gro"; "histograms") | map(.ns) | spread; 250;
		"ns"),
	target("gso: segments missed"; share("gso"; .flow_misses); 0.0001; "share"),
	target("gro: segments missed"; share("gro"; .flow_misses); 0.001; "share"),
	target("gso: sojourns, to the backlog"; little("gso"); 0.01; "share"),
	target("gro: sojourns, to the backlog"; little("gro"); 0.01; "share"),
	target("deep10k: slots overwritten"; share("deep10k"; .slot_overwrites); 0; "share"),
	target("deep100k: slots overwritten"; share("deep100k"; .slot_overwrites); 0.0001;
		"share")];

# In the order in which they were first met.
def distinct(f): reduce .[] as $one ([]; ($one | f) as $value |
	if index([$value]) then . else . + [$value] end);

def compare:
	. as $all |
	{contended: contended,
	 empty_turns: map(select(is_empty) | {load, variant, repetition, counted}),
	 results: [distinct(.load)[] as $load |
		($all | map(select(.load == $load)) | sort_by(.repetition) | distinct(.variant))[] as
		$variant | $all | result($load; $variant)],
	 targets: (targets | map(select(.figure != null)))};

def attach:
	{starts: (map({open: .open_ns, attach: .attach_ns, detach: .detach_ns, close: .close_ns} |
		to_entries[]) | group_by(.key) | map({key: .[0].key,
		value: (map(.value / 1e6) | spread)}) | from_entries),
	 tier: .[0].tier,
	 targets: [
		target("from start to attached"; map((.open_ns + .attach_ns) / 1e6) | spread; 500;
			"ms"),
		target("detached and gone"; map((.detach_ns + .close_ns) / 1e6) | spread; 200;
			"ms")]};

# What f gives with many qdiscs, to what it gives with one, by repetition
def scaled($variant; $way; $counted; f):
	map(select(.variant == $variant and .way == $way and .counted == $counted)) |
	(map(.devices) | min) as $few | (map(.devices) | max) as $many |
	joined(map(select(.devices == $many)); map(select(.devices == $few));
		(.[0] | f) / (.[1] | f)) | spread;

def scale:
	. as $all | (map(.devices) | max) as $most |
	{scale: [distinct(.devices)[] as $devices | ("first", "all") as $way |
		("empty", "histograms") as $variant |
		($all | map(select(.devices == $devices and .way == $way))) as $beside |
		($beside | map(select(.variant == $variant))) as $those |
		{devices: $devices, way: $way, variant: $variant,
		 added_ns: (joined($those | map(select(.counted | not));
			$beside | map(select(.variant == "none"));
			1e9 / .[0].pps - 1e9 / .[1].pps) | spread),
		 untraced_ns: ($beside | map(select(.variant == "none") | 1e9 / .pps) | spread),
		 own_ns: ($those | map(select(.counted) | .ns / .sent) | spread),
		 maps_bytes: ($those | map(.maps_bytes) | max),
		 memory_bytes: ($those | map(.memory_bytes) | max),
		 missed: (if $variant == "histograms" then ($those | map(.losses) |
			sum(.records_full) + sum(.unmatched)) / ($those | sum(.sent)) else null end)}],
	 targets: [
		target("own time, one of \($most) in use, to a single one";
			scaled("histograms"; "first"; true; .ns / .sent); 1.1; "x"),
		target("own time, all of \($most) in turn, to a single one";
			scaled("histograms"; "all"; true; .ns / .sent); 1.1; "x"),
		target("no tracing, all of \($most) in turn, to a single one";
			scaled("none"; "all"; false; 1 / .pps); null; "x"),
		target("memory with \($most) qdiscs";
			map(select(.devices == $most and .variant == "histograms") |
				(.maps_bytes + .memory_bytes) / 1048576) | spread; 64; "MiB")]};

def soak: {soak: .};

def summary($mode; $machine):
	. as $all | {machine: ($machine + {mode: $mode}), measurements: $all} +
	if $mode == "compare" then compare
	elif $mode == "attach" then attach
	elif $mode == "scale" then scale
	else soak end;
