# SPDX-License-Identifier: GPL-2.0
#
# The figures as tables: a headline begins with '#', cells are separated by tabs; a line without
# any is text.

def digits($n): if . == null then "-"
	else (. * pow(10; $n) | round) / pow(10; $n) | tostring end;

def percent: if . == null then "-" elif . == 0 then "0"
	else "\(. * 100000 | round | . / 1000) %" end;

def quartiles($n): if . == null then "-"
	else "\(.median | digits($n)) [\(.q1 | digits($n)), \(.q3 | digits($n))]" end;

def median($n): if . == null then "-" else .median | digits($n) end;

def row: map(tostring) | join("\t");

def run_of($names): [.hooks[] | select(.hook | IN($names[]))] |
	if length == 0 then "-" else .[0].ns_per_run | digits(0) end;

def end_to_end:
	[(.results // [])[] | select(.packets_per_second != null)] | select(length > 0) |
	"# Packets as fast as the machine can",
	(["load", "variant", "Mpackets/s", "added CPU ns/packet", "to empty2", "added ns",
		"CPU of the tracer", "not measured"] | row),
	(.[] | [.load, .variant, (.packets_per_second | .median / 1e6 | digits(2)),
		(.added_ns | quartiles(0)), (.added_to_empty2 | median(2)),
		(.added_wall_ns | median(0)),
		(.loader_cpu.median | percent), (.missed | percent)] | row);

def own_time:
	[(.results // [])[] | select(.own_ns != null)] | select(length > 0) |
	"# Time in the programs themselves",
	(["load", "variant", "ns/packet", "to empty2", "ns/offer", "ns/enqueue", "ns/dequeue",
		"not measured"] | row),
	(.[] | [.load, .variant, (.own_ns | quartiles(0)), (.own_to_empty2 | median(2)),
		run_of(["net_dev_queue"]), run_of(["qdisc_enqueue"]), run_of(["qdisc_dequeue"]),
		(.missed | percent)] | row);

def idle:
	[(.results // [])[] | select(.load == "idle")] | select(length > 0) |
	"# Nothing to do",
	(["variant", "", "us/s in programs", "ms/s in the tracer", "maps"] | row),
	(.[] | [.variant, "", (.own_ns_per_second.median / 1e3 | digits(1)),
		(.loader_cpu.median * 1e3 | digits(2)),
		"\(.maps_bytes / 1e6 | digits(1)) MB"] | row);

def value($unit; $value): if $unit == "share" then $value | percent
	else "\($value | digits(2)) \($unit)" end;

def targets:
	(.targets // []) | select(length > 0) |
	"# Targets",
	(["target", "", "figure", "quartiles", "limit", ""] | row),
	(.[] | .unit as $unit | [.name, "", value($unit; .figure.median),
		(if .figure.q1 == null then "-"
		 else "\(value($unit; .figure.q1)), \(value($unit; .figure.q3))" end),
		(if .limit == null then "-" else value($unit; .limit) end), (if .undecided then "cannot tell"
		 elif .limit == null then "-"
		 elif .met then "met" else "not met" end)] | row);

def starts:
	select(.starts) |
	"# From start to end, ms (tier \(.tier))",
	(["step", "", "ms"] | row),
	(.starts | to_entries[] | [.key, "", (.value | quartiles(1))] | row);

def scales:
	select(.scale) |
	"# Many qdiscs: all packets to one of them (first), and to each in turn (all)",
	(["qdiscs", "variant", "packets", "ns/packet without", "added ns/packet", "own ns/packet",
		"maps", "own memory", "not measured"] | row),
	(.scale[] | [.devices, .variant, .way, (.untraced_ns | quartiles(0)),
		(.added_ns | quartiles(0)), (.own_ns | quartiles(0)),
		"\(.maps_bytes / 1e6 | digits(1)) MB", "\(.memory_bytes / 1e6 | digits(1)) MB",
		(.missed | percent)] | row);

def empty_turns:
	(.empty_turns // []) | select(length > 0) |
	"# Turns in which no packet came through, left out",
	(["load", "variant", "repetition", "BPF statistics"] | row),
	(.[] | [.load, .variant, .repetition, (if .counted then "on" else "off" end)] | row);

def soaked:
	select(.soak) |
	"# Memory under load",
	(["seconds", "", "RSS", "maps", "CPU time"] | row),
	(.soak[] | [.at_s, "", "\(.rss_kb / 1e3 | digits(1)) MB",
		"\(.maps_bytes / 1e6 | digits(1)) MB", "\(.cpu_ns / 1e9 | digits(2)) s"] | row);

def tables:
	(. + .machine | "Kernel \(.kernel), \(.cpus) CPUs (\(.model)), clock \(.clocksource), " +
		"\(.repeat) repetitions of \(.seconds) s" +
		(if .contended then "; other work held the CPUs up for \(.contended.median | percent)" else ""
		 end)),
	end_to_end, own_time, idle, starts, scales, soaked, empty_turns, targets;
