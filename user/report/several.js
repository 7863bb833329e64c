/* Several results: side by side, overlaid from the start of the load, and box plots of each. */
"use strict";

function loadStart(model) {
	const load = (model.result.loads || [])[0];

	return load ? load.begin_ns : model.loads.length ? model.loads[0].begin_ns : model.zero;
}

/* Names that tell them apart. */
function nameOf(model) {
	return model.result.suite ? model.result.suite.run : model.name.replace(/^.*\//, "");
}

function underLoad(model) {
	const names = model.loads.map((load) => load.name);

	return model.result.probes.filter((probe) => names.includes(probe.phase) && !probe.lost).map((probe) => probe.rtt_ns);
}

/* Nearest rank, as everywhere in sojourn. */
function rank(sorted, percent) {
	return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(percent / 100 * sorted.length) - 1))];
}

function boxOf(values) {
	const sorted = values.slice().sort((a, b) => a - b);

	if (!sorted.length)
		return null;
	return {
		mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
		min: sorted[0], q1: rank(sorted, 25), median: rank(sorted, 50), q3: rank(sorted, 75), max: sorted[sorted.length - 1],
	};
}

function showSideBySide(parent, models) {
	const holder = section(parent, "Side by side");

	holder.append(tableOf("under load", ["result", "RTT idle", "RTT mean", "median", "p99", "max", "delivered", "grade", "RPM", "shape", "cause"],
		models.flatMap((model) => model.loads.map((load) => {
			const rtt = load.probes.rtt_ns, cause = load.attribution && load.attribution.cause;
			const qdisc = cause && cause.qdisc ? model.qdiscs.get(cause.qdisc) : null;

			return [nameOf(model) + (model.loads.length > 1 ? " " + load.name : "") + (model.result.complete ? "" : " (not complete)"),
				model.idle ? timeText(model.idle.probes.rtt_ns.p50) : "–", timeText(rtt.mean), timeText(rtt.p50), timeText(rtt.p99), timeText(rtt.max),
				load.iperf3 && load.iperf3.sum_received ? rateText(load.iperf3.sum_received.bits_per_second) : "–",
				load.responsiveness ? load.responsiveness.grade : "–", load.responsiveness ? Math.round(load.responsiveness.rpm) : "–",
				load.shape ? load.shape.name : "–",
				qdisc ? shortName(qdisc) + " " + percentText(cause.share) : "–"];
		}))));
}

/* A bar for each mean and a box plot for each distribution, one above the other. */
function showBoxes(parent, models) {
	const holder = section(parent, "RTT under load of each result");
	const entries = models.map((model) => ({ name: nameOf(model), box: boxOf(underLoad(model)) })).filter((entry) => entry.box);
	const row = 26, left = 190, width = 1080, top = 24;
	const most = entries.reduce((high, entry) => Math.max(high, entry.box.max), 1);
	const x = (ns) => left + (width - left - 110) * ns / most;
	const drawing = svg("svg", { viewBox: "0 0 " + width + " " + (top + row * entries.length + 24), role: "img",
		"aria-label": "Box plots of the RTT under load: minimum, quartiles, maximum; the bar is the mean. The table above has the figures." });

	for (let i = 0; i <= 4; i++) {
		drawing.append(svg("line", { x1: x(most * i / 4), x2: x(most * i / 4), y1: top - 4, y2: top + row * entries.length, stroke: "var(--line)", "stroke-width": 0.7 }),
			svg("text", { x: x(most * i / 4), y: top - 9, "text-anchor": "middle", class: "soft" }, timeText(most * i / 4)));
	}
	entries.forEach((entry, i) => {
		const y = top + row * i + row / 2, box = entry.box;

		drawing.append(
			svg("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, entry.name.length > 26 ? entry.name.slice(0, 25) + "…" : entry.name),
			svg("rect", { x: left, y: y - 9, width: Math.max(1, x(box.mean) - left), height: 18, fill: "var(--c5)", opacity: 0.35 }),
			svg("line", { x1: x(box.min), x2: x(box.max), y1: y, y2: y, stroke: "var(--ink)", "stroke-width": 1 }),
			svg("rect", { x: x(box.q1), y: y - 6, width: Math.max(1.5, x(box.q3) - x(box.q1)), height: 12, fill: "var(--c0)", "fill-opacity": 0.75, stroke: "var(--ink)", "stroke-width": 0.8 }),
			svg("line", { x1: x(box.median), x2: x(box.median), y1: y - 8, y2: y + 8, stroke: "var(--ink)", "stroke-width": 2 }),
			svg("text", { x: width - 100, y: y + 4, class: "soft" }, timeText(box.mean)));
	});
	holder.append(element("p", { class: "facts" }, "Light bar: mean. Box: quartiles and median; line: minimum to maximum."),
		element("div", { class: "boxes" }, drawing));
}

function showOverlay(parent, models) {
	const holder = section(parent, "Overlaid, from the start of the load");
	const lists = models.map((model) => ({
		at: model.result.probes.map((probe) => (probe.sent_ns - loadStart(model)) / 1e9),
		values: [model.result.probes.map((probe) => probe.lost ? null : probe.rtt_ns / 1e6)],
	}));

	addPlot(holder, {
		title: "RTT of each probe", data: joined(lists), sync: "overlay", height: 240,
		series: models.map((model, i) => ({ label: nameOf(model), color: i, dash: i })),
		text: millisecondsText, xText: secondsText,
	});
	addCdf(holder, "RTT under load, cumulative", models.map((model) => ({ label: nameOf(model), list: cdfOfValues(underLoad(model).map((ns) => ns / 1e6)) }))
		.filter((entry) => entry.list.at.length));
}

/* One of them in full, chosen from a list. */
function showChosen(parent, models) {
	const holder = section(parent, "One of them in full"), body = element("div", {});
	const select = element("select", { "aria-label": "result" });

	models.forEach((model, i) => select.append(element("option", { value: String(i) }, nameOf(model) + ": " + model.title)));
	holder.append(element("div", { class: "tools" }, element("label", {}, "Result ", select)), body);
	const show = () => {
		body.replaceChildren();
		for (let i = plots.length - 1; i >= 0; i--)
			if (!plots[i].holder.isConnected)
				plots.splice(i, 1)[0].plot.destroy();
		showRun(body, models[Number(select.value)]);
	};

	select.addEventListener("change", show);
	show();
}

function showSeveral(parent, models) {
	showSideBySide(parent, models);
	showBoxes(parent, models);
	showOverlay(parent, models.slice(0, 8));
	if (models.length > 8)
		parent.append(element("p", { class: "facts" }, "Overlaid are the first 8 of " + models.length + " results."));
	showChosen(parent, models);
}
