/* One run: verdict, timeline, distributions, a probe's way, ledgers. */
"use strict";

const MOST_QDISCS = 8;
const MOST_FLOWS = 8;

function secondsText(value) {
	return value.toFixed(value < 100 ? 2 : 1).replace(/\.?0+$/, "") + " s";
}

function millisecondsText(value) {
	return timeText(value * 1e6);
}

function card(value, label) {
	return element("div", { class: "card" }, element("b", {}, value), element("span", {}, label));
}

function showVerdict(parent, model) {
	const result = model.result, box = element("div", { class: "verdict" });
	const lost = Object.entries(result.losses).filter(([, count]) => count);

	for (const load of model.loads) {
		const attribution = load.attribution || {};

		box.append(element("p", { class: "sentence" }, (model.loads.length > 1 ? load.name + ": " : "") +
			(attribution.verdict || "There is no verdict.")));
		if (attribution.cause && attribution.cause.text)
			box.append(element("p", { class: "facts" }, "Cause: " + attribution.cause.text));
	}
	if (!result.complete)
		box.append(element("p", { class: "bad" }, "The result is not complete: " + result.incomplete_why));
	else
		box.append(element("p", { class: "good" }, "Complete: every packet is accounted for, the kernel's counters agree."));
	if (lost.length)
		box.append(element("p", { class: "bad" }, "Losses: " + lost.map(([name, count]) => name + " " + count).join(", ")));
	if (result.note)
		box.append(element("p", { class: "facts" }, "Note: " + result.note));
	parent.append(box);
}

function showFacts(parent, model) {
	const cards = element("div", { class: "cards" });

	for (const load of model.loads) {
		const of = model.loads.length > 1 ? " (" + load.name + ")" : "";

		cards.append(card(timeText(load.probes.rtt_ns.p50), "RTT under load, median" + of),
			card(timeText(load.probes.rtt_ns.max), "RTT under load, max" + of));
		if (load.responsiveness)
			cards.append(card(load.responsiveness.grade, "grade of the RTT increase" + of),
				card(Math.round(load.responsiveness.rpm), "round trips per minute" + of));
		if (load.iperf3 && load.iperf3.sum_received)
			cards.append(card(rateText(load.iperf3.sum_received.bits_per_second), "delivered" + of));
		if (load.shape)
			cards.append(card(load.shape.name, "shape of the RTT" + of));
	}
	if (model.idle)
		cards.append(card(timeText(model.idle.probes.rtt_ns.p50), "RTT idle, median"));
	parent.append(cards);
}

function showWhat(parent, model) {
	const tool = model.result.tool || {};

	parent.append(element("p", { class: "facts" }, [
		"scenario " + model.title, "file " + model.name, "kernel " + tool.kernel,
		"tier " + tool.tier, "sojourn " + tool.version,
		tool.started_realtime_ns ? new Date(tool.started_realtime_ns / 1e6).toISOString().slice(0, 19).replace("T", " ") + " UTC" : null,
	].filter((text) => text).join(" · ")));
}

/* ---- the timeline ---- */

/* All of them from the first probe to the end of the trace: one below the other, one clock. */
function addTimePlot(holder, model, title, lists, series, text, choose) {
	const whole = { at: [0, seconds(model, model.result.window.end_ns)], values: [] };

	addPlot(holder, {
		title: title, data: joined([...lists, whole]), series: series, text: text, xText: secondsText,
		model: model, sync: "time-" + model.key, choose: choose,
		summary: series.map((one) => one.label).join(", ") + " over " + secondsText(seconds(model, model.result.window.end_ns)) + ".",
	});
}

function showTimeline(parent, model, choose) {
	const holder = section(parent, "Timeline");
	const probes = probeSeries(model, model.result.probes), rates = intervalSeries(model), flows = tcpSeries(model).slice(0, MOST_FLOWS);
	const retransmits = retransmitSeries(model), queues = busyQdiscs(model).slice(0, MOST_QDISCS);
	const samples = queues.map((qdisc) => sampleSeries(model, qdisc.id));
	const requeuesOf = (of) => of.requeues.some((count) => count) ? [of.requeues] : [];
	const sides = (model.result.side_probes || []).map((side) => ({ name: side.name, ...probeSeries(model, side.probes) }));
	const reset = element("button", { type: "button" }, "Whole time");

	reset.addEventListener("click", () => plots.forEach((entry) => entry.sync === "time-" + model.key && entry.plot.setData(entry.plot.data, true)));
	holder.append(element("div", { class: "tools" }, "Drag to zoom, click on an RTT to follow that probe.", reset));
	addTimePlot(holder, model, "RTT of each probe",
		[{ at: probes.at, values: [probes.rtt, probes.lost] }, ...sides.map((of) => ({ at: of.at, values: [of.rtt, of.lost] }))],
		[{ label: "RTT", points: probes.at.length < 2000 }, { label: "lost", mark: true },
			...sides.flatMap((of, i) => [
				{ label: of.name, color: 1 + i, dash: 1 + i, points: of.at.length < 2000 },
				{ label: of.name + " lost", mark: true }])], millisecondsText, choose);
	if (queues.length) {
		addTimePlot(holder, model, "Sojourn in each qdisc",
			samples.map((of) => ({ at: of.at, values: [of.median, of.max] })),
			queues.flatMap((qdisc, i) => [
				{ label: shortName(qdisc) + " median", color: i, dash: 0 },
				{ label: shortName(qdisc) + " max", color: i, dash: 2 }]), millisecondsText);
		addTimePlot(holder, model, "Backlog of each qdisc, most in each slice",
			samples.map((of) => ({ at: of.at, values: [of.backlog, of.drops, ...requeuesOf(of)] })),
			queues.flatMap((qdisc, i) => [
				{ label: shortName(qdisc), color: i, dash: i },
				{ label: shortName(qdisc) + " drops", mark: true },
				...requeuesOf(samples[i]).map(() => ({ label: shortName(qdisc) + " requeues", mark: true }))]), (value) => sizeText(value * 1024));
	}
	if (rates.length)
		addTimePlot(holder, model, "Throughput of iperf3, each interval", rates.map((of) => ({ at: of.at, values: [of.rate] })),
			rates.map((of, i) => ({ label: of.label, color: 2 + i, dash: i })), (value) => rateText(value * 1e6));
	if (flows.length) {
		addTimePlot(holder, model, "TCP's smoothed RTT",
			[...flows.map((of) => ({ at: of.at, values: [of.srtt] })), { at: retransmits.at, values: [retransmits.mark] }],
			[...flows.map((of, i) => ({ label: of.label, color: i, dash: i })), { label: "retransmit", mark: true }], millisecondsText);
		addTimePlot(holder, model, "TCP's congestion window", flows.map((of) => ({ at: of.at, values: [of.cwnd] })),
			flows.map((of, i) => ({ label: of.label, color: i, dash: i })), (value) => Math.round(value) + " pkt");
	}
}

/* ---- distributions ---- */

/* counts[i] lie from bounds_ns[i] to below bounds_ns[i + 1]: what is reached there is known there. */
function cdfOf(histogram) {
	const counts = histogram.counts, total = counts.reduce((sum, count) => sum + count, 0);
	const ms = (ns) => Math.max(ns, 1) / 1e6;
	const at = [ms(histogram.bounds_ns[0])], part = [0];
	let sum = 0;

	counts.forEach((count, i) => {
		sum += count;
		at.push(ms(histogram.bounds_ns[i + 1]));
		part.push(100 * sum / total);
	});
	return { at: at, values: [part] };
}

function cdfOfValues(values) {
	const sorted = values.slice().sort((a, b) => a - b);
	const step = Math.max(1, Math.floor(sorted.length / 2000));
	const at = [], part = [];

	for (let i = 0; i < sorted.length; i += step) {
		at.push(sorted[i]);
		part.push(100 * (i + 1) / sorted.length);
	}
	if (sorted.length) {
		at.push(sorted[sorted.length - 1]);
		part.push(100);
	}
	return { at: at, values: [part] };
}

/* An axis has every x once. */
function distinct(list) {
	const at = [], values = [];

	list.at.forEach((x, i) => {
		if (at.length && x <= at[at.length - 1])
			values[values.length - 1] = list.values[0][i];
		else {
			at.push(x);
			values.push(list.values[0][i]);
		}
	});
	return { at: at, values: [values] };
}

function addCdf(holder, title, entries) {
	addPlot(holder, {
		title: title, data: joined(entries.map((entry) => distinct(entry.list))),
		series: entries.map((entry, i) => ({ label: entry.label, color: i, dash: i, points: entry.list.at.length < 3 })),
		text: (value) => value.toFixed(value >= 99 ? 1 : 0) + " %", xText: millisecondsText, logX: true,
		range: () => [0, 102], height: 220,
		summary: "The part of all that lasted at most so long.",
	});
}

function showDistributions(parent, model) {
	const holder = section(parent, "Distributions");
	const marked = (phase, of) => of && of.p50 !== null && of.p50 !== undefined ?
		phase.name + ", p50 " + timeText(of.p50) + ", p99 " + timeText(of.p99) : phase.name;
	const rtts = model.result.phases.map((phase) => ({
		label: marked(phase, phase.probes && phase.probes.rtt_ns),
		list: cdfOfValues(model.result.probes.filter((probe) => probe.phase === phase.name && !probe.lost).map((probe) => probe.rtt_ns / 1e6)),
	})).filter((entry) => entry.list.at.length);
	const select = element("select", { "aria-label": "qdisc" }), plot = element("div", {});
	const queues = busyQdiscs(model);

	if (rtts.length)
		addCdf(holder, "RTT by phase, cumulative", rtts);
	if (!queues.length)
		return;
	queues.forEach((qdisc) => select.append(element("option", { value: qdisc.id }, shortName(qdisc))));
	holder.append(element("div", { class: "tools" }, element("label", {}, "Sojourn in ", select)), plot);
	const show = () => {
		const entries = model.result.phases.map((phase) => {
			const of = (phase.qdiscs || []).find((entry) => entry.id === select.value);

			return of && of.histogram && of.histogram.counts.length ? { label: marked(phase, of.sojourn_ns), list: cdfOf(of.histogram) } : null;
		}).filter((entry) => entry);

		plot.replaceChildren();
		if (entries.length)
			addCdf(plot, "Sojourn by phase, cumulative", entries);
	};

	select.addEventListener("change", show);
	show();
}

/* ---- a probe's way ---- */

function legName(model, leg) {
	if (leg.kind === "qdisc") {
		const qdisc = model.qdiscs.get(leg.qdisc);

		return "qdisc " + (qdisc ? shortName(qdisc) : leg.qdisc);
	}
	return leg.kind + " " + (leg.device || "") + " " + leg.netns;
}

function showLegs(holder, model, index) {
	const probe = model.result.probes[index], legs = element("div", { class: "legs" });
	let from = 0;

	holder.replaceChildren(element("p", {}, "Probe " + probe.seq + ", sent at " + secondsText(seconds(model, probe.sent_ns)) +
		(probe.phase ? " (" + probe.phase + ")" : "") + ": " + (probe.lost ? "lost" : "RTT " + timeText(probe.rtt_ns))));
	for (const leg of probe.legs || []) {
		const bar = element("i", {}), total = probe.rtt_ns || 1;

		bar.style.left = 100 * from / total + "%";
		bar.style.width = 100 * leg.ns / total + "%";
		bar.style.background = "var(--c" + (leg.kind === "qdisc" ? 1 : leg.reply ? 5 : 0) + ")";
		legs.append(element("span", {}, (leg.reply ? "← " : "→ ") + legName(model, leg)),
			element("span", { class: "bar", "aria-hidden": "true" }, bar), element("span", { class: "ns" }, timeText(leg.ns)));
		from += leg.ns;
	}
	if (probe.legs && probe.legs.length)
		legs.append(element("b", {}, "all legs"), element("span", {}), element("b", { class: "ns", "data-sum": String(from) }, timeText(from)));
	holder.append(legs);
}

function probeNear(model, at) {
	const probes = model.result.probes;
	let best = 0;

	probes.forEach((probe, i) => {
		if (Math.abs(seconds(model, probe.sent_ns) - at) < Math.abs(seconds(model, probes[best].sent_ns) - at))
			best = i;
	});
	return best;
}

/* Returns a function that shows the probe sent nearest to that second. */
function showWay(parent, model) {
	const holder = section(parent, "The way of a probe"), body = element("div", { "aria-live": "polite" });
	const probes = model.result.probes;
	const number = element("input", { type: "number", min: "1", max: String(probes.length), "aria-label": "number of the probe" });
	let slowest = 0;

	probes.forEach((probe, i) => {
		if (!probe.lost && probe.rtt_ns > (probes[slowest].rtt_ns || 0))
			slowest = i;
	});
	const show = (index) => {
		number.value = String(index + 1);
		showLegs(body, model, index);
	};

	number.addEventListener("change", () => {
		const index = Math.round(Number(number.value)) - 1;

		if (index >= 0 && index < probes.length)
			show(index);
	});
	holder.append(element("div", { class: "tools" }, element("label", {}, "Probe ", number), " of " + probes.length + "; the slowest is shown first."), body);
	if (probes.length)
		show(slowest);
	return (at) => probes.length && show(probeNear(model, at));
}

/* ---- tables ---- */

function showPhases(parent, model) {
	const holder = section(parent, "Phases");

	holder.append(tableOf("RTT of the probes", ["phase", "sent", "lost", "min", "median", "p95", "p99", "max", "delivered"],
		model.result.phases.filter((phase) => phase.end_ns).map((phase) => {
			const rtt = phase.probes.rtt_ns;

			return [phase.name, phase.probes.sent, phase.probes.lost, timeText(rtt.min), timeText(rtt.p50), timeText(rtt.p95),
				timeText(rtt.p99), timeText(rtt.max),
				phase.iperf3 && phase.iperf3.sum_received ? rateText(phase.iperf3.sum_received.bits_per_second) : "–"];
		})));
}

function showLedgers(parent, model) {
	const holder = section(parent, "Ledger of each qdisc");

	holder.append(tableOf("packets: offered = measured + bypassed + rejected + dropped inside + queued + unaccounted",
		["qdisc", "offered", "measured", "bypassed", "rejected", "dropped", "queued", "unaccounted", "kernel: packets", "drops", "requeues", "agrees"],
		model.result.qdiscs.filter((qdisc) => qdisc.traced && qdisc.ledger.offered).map((qdisc) => {
			const ledger = qdisc.ledger, kernel = qdisc.kernel || {};

			return [shortName(qdisc), ledger.offered, ledger.measured, ledger.bypassed, ledger.rejected, ledger.dropped_inside,
				ledger.queued, ledger.unaccounted, countText(kernel.packets), countText(kernel.drops), countText(kernel.requeues),
				qdisc.agrees ? { text: "yes", class: "good" } : { text: qdisc.why || "not known", class: "why" }];
		})));
}

function showRun(parent, model) {
	let follow = null;

	showVerdict(parent, model);
	showFacts(parent, model);
	showWhat(parent, model);
	showTimeline(parent, model, (at) => follow && follow(at));
	follow = showWay(parent, model);
	showDistributions(parent, model);
	showPhases(parent, model);
	showLedgers(parent, model);
}
