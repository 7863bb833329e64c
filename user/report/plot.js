/* One plot: uPlot with phases shaded, series that are buttons, and values at the cursor in words. */
"use strict";

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const plots = [];

/* Behind the lines: each phase, named at its top. */
function drawPhases(model) {
	return (plot) => {
		const context = plot.ctx;

		context.save();
		context.beginPath();
		context.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
		context.clip();
		for (const phase of model.result.phases) {
			if (!phase.end_ns)
				continue;
			const from = plot.valToPos(seconds(model, phase.begin_ns), "x", true);
			const to = plot.valToPos(seconds(model, phase.end_ns), "x", true);

			context.fillStyle = variable(phase.kind === "load" ? "shade-load" : "shade-other");
			context.fillRect(from, plot.bbox.top, to - from, plot.bbox.height);
			context.fillStyle = variable("soft");
			context.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
			context.textBaseline = "top";
			context.fillText(phase.name, from + 4 * devicePixelRatio, plot.bbox.top + 3 * devicePixelRatio);
		}
		context.restore();
	};
}

/* A cross for each value: marks are told from lines by their form. */
function crosses(plot, index, from, to) {
	const size = 4 * devicePixelRatio;
	const path = new Path2D();

	for (let i = from; i <= to; i++) {
		if (plot.data[index][i] === null || plot.data[index][i] === undefined)
			continue;
		const x = plot.valToPos(plot.data[0][i], "x", true);
		const y = plot.bbox.top + plot.bbox.height - 2 * size;

		path.moveTo(x - size, y - size);
		path.lineTo(x + size, y + size);
		path.moveTo(x + size, y - size);
		path.lineTo(x - size, y + size);
	}
	return { stroke: path, fill: null };
}

function lineOf(series, index) {
	const stroke = () => series.mark ? variable("bad") : color(series.color === undefined ? index : series.color);

	return {
		label: series.label,
		stroke: stroke,
		width: series.mark ? 1.5 : 1.6,
		dash: series.mark ? [] : DASHES[(series.dash === undefined ? Math.floor(index / 8) : series.dash) % 4],
		spanGaps: false,
		points: { show: !!series.points, size: 3 },
		paths: series.mark ? crosses : undefined,
		scale: series.scale || "y",
	};
}

function swatch(series, index) {
	const made = svg("svg", { width: 22, height: 10, "aria-hidden": "true" });
	const name = series.mark ? "bad" : "c" + (series.color === undefined ? index : series.color) % 8;
	const stroke = "stroke: var(--" + name + ")";

	if (series.mark)
		made.append(svg("path", { d: "M7 1l8 8M15 1l-8 8", style: stroke, "stroke-width": 1.8 }));
	else
		made.append(svg("line", { x1: 0, y1: 5, x2: 22, y2: 5, style: stroke, "stroke-width": 2.5,
			"stroke-dasharray": lineOf(series, index).dash.join(" ") }));
	return made;
}

function legendOf(holder, options, plot) {
	const legend = element("div", { class: "legend", role: "group", "aria-label": "series of " + options.title });

	options.series.forEach((series, i) => {
		const button = element("button", { type: "button", "aria-pressed": "true" }, swatch(series, i), series.label);

		button.addEventListener("click", () => {
			const show = button.getAttribute("aria-pressed") === "false";

			button.setAttribute("aria-pressed", String(show));
			plot().setSeries(i + 1, { show: show });
		});
		legend.append(button);
	});
	holder.append(legend);
}

/* "12.3 s: RTT 350 ms": what a person hears or reads at the cursor. */
function wordsAt(options, plot, index) {
	const words = [];

	options.series.forEach((series, i) => {
		const value = plot.data[i + 1][index];

		if (value !== null && value !== undefined && plot.series[i + 1].show)
			words.push(series.label + (series.mark ? "" : " " + options.text(value, series)));
	});
	return options.xText(plot.data[0][index]) + ": " + (words.join(", ") || "nothing");
}

/* The nearest sample that has something, so that lists joined to one axis all show. */
function nearest(plot, index) {
	const has = (i) => plot.data.slice(1).some((values, s) => plot.series[s + 1].show && values[i] !== null && values[i] !== undefined);

	for (let step = 0; step < 200; step++)
		for (const i of [index - step, index + step])
			if (i >= 0 && i < plot.data[0].length && has(i))
				return i;
	return index;
}

function axisText(text) {
	return (plot, splits) => splits.map((value) => value === null ? "" : text(value));
}

function axes(options) {
	const common = {
		stroke: () => variable("soft"),
		grid: { stroke: () => variable("line"), width: 0.5 },
		ticks: { stroke: () => variable("line"), width: 0.5 },
		font: "12px system-ui, sans-serif",
	};

	return [
		{ ...common, values: axisText(options.xText), size: 28 },
		{ ...common, values: axisText((value) => options.text(value, options.series[0])), size: 88 },
	];
}

/* Keys on a plot: arrows move the cursor, Enter chooses, Escape takes the zoom back. */
function listenToKeys(wrap, plot, options, state) {
	wrap.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];

		if (step) {
			const last = plot.data[0].length - 1;

			state.index = Math.min(last, Math.max(0, (state.index === undefined ? 0 : state.index + step)));
			plot.setCursor({ left: plot.valToPos(plot.data[0][state.index], "x"), top: 10 });
			event.preventDefault();
		} else if (event.key === "Enter" && options.choose && state.index !== undefined) {
			options.choose(plot.data[0][state.index]);
		} else if (event.key === "Escape") {
			plots.forEach((other) => other.sync === options.sync && other.plot.setData(other.plot.data, true));
		}
	});
}

/*
 * options: title, data, series [{label, mark, scale, color, dash, points}], text(value,
 * series), xText(value), model (its phases are shaded), sync (a common cursor), height,
 * choose(x): a click.
 */
function addPlot(holder, options) {
	const heading = element("h3", {}, options.title);
	const values = element("div", { class: "values", "aria-live": "polite" });
	const wrap = element("div", { class: "plot", tabindex: "0", role: "img", "aria-label": options.title + ". " + (options.summary || "") + " Arrow keys move the cursor." });
	const state = {};
	let plot = null;

	holder.append(heading);
	legendOf(holder, options, () => plot);
	holder.append(wrap, values);
	plot = new uPlot({
		width: Math.max(280, holder.clientWidth || 900),
		height: options.height || 190,
		legend: { show: false },
		cursor: {
			sync: options.sync ? { key: options.sync, setSeries: false } : undefined,
			drag: { x: true, y: false },
			points: { size: 6 },
		},
		scales: { x: { time: false, ...(options.logX ? { distr: 3, log: 10 } : {}) }, y: { range: options.range || ((u, low, high) => [0, high > 0 ? high * 1.06 : 1]) } },
		axes: axes(options),
		series: [{}, ...options.series.map(lineOf)],
		hooks: {
			drawClear: options.model ? [drawPhases(options.model)] : [],
			setCursor: [(u) => {
				if (u.cursor.idx === null || u.cursor.idx === undefined)
					return;
				state.index = nearest(u, u.cursor.idx);
				values.textContent = wordsAt(options, u, state.index);
			}],
		},
	}, options.data, wrap);
	if (options.choose)
		plot.over.addEventListener("click", () => state.index !== undefined && options.choose(plot.data[0][state.index]));
	listenToKeys(wrap, plot, options, state);
	plots.push({ plot: plot, holder: holder, sync: options.sync });
	return plot;
}

function resizePlots() {
	for (const entry of plots)
		entry.plot.setSize({ width: Math.max(280, entry.holder.clientWidth), height: entry.plot.height });
}

function redrawPlots() {
	for (const entry of plots)
		entry.plot.redraw(false, true);
}
