/* Documents ("sojourn/1") as series over one clock: seconds from the start of the first probe. */
"use strict";

function shortName(qdisc) {
	return qdisc.netns + " " + (qdisc.path || qdisc.ifname + " " + qdisc.kind + " " + qdisc.handle);
}

function seconds(model, ns) {
	return (ns - model.zero) / 1e9;
}

/* Probes in the order of sending; a lost one has no RTT. */
function probeSeries(model, probes) {
	return {
		at: probes.map((probe) => seconds(model, probe.sent_ns)),
		rtt: probes.map((probe) => probe.lost ? null : probe.rtt_ns / 1e6),
		lost: probes.map((probe) => probe.lost ? 0 : null),
	};
}

/* One time axis for several lists of [time, value...]; where one has nothing there is a gap. */
function joined(lists) {
	return uPlot.join(lists.map((list) => [list.at, ...list.values]));
}

/* What a qdisc did in each slice, at its middle. */
function sampleSeries(model, id) {
	const samples = model.samples.get(id) || [];
	const at = samples.map((sample) => seconds(model, (sample.begin_ns + sample.end_ns) / 2));
	const had = (sample, ns) => sample.packets ? ns / 1e6 : null;

	return {
		at: at,
		median: samples.map((sample) => had(sample, sample.sojourn_ns.p50)),
		max: samples.map((sample) => had(sample, sample.sojourn_ns.max)),
		backlog: samples.map((sample) => sample.backlog_bytes_max / 1024),
		drops: samples.map((sample) => sample.drops || null),
		requeues: samples.map((sample) => sample.requeued || null),
	};
}

/* One for the main loads, one for each load beside them. */
function intervalSeries(model) {
	const all = new Map();
	const add = (label, begin, intervals) => {
		if (!all.has(label))
			all.set(label, { label: label, at: [], rate: [] });
		for (const interval of intervals || []) {
			all.get(label).at.push(seconds(model, begin) + (interval.start_s + interval.end_s) / 2);
			all.get(label).rate.push(interval.bits_per_second / 1e6);
		}
	};

	const both = (label, begin, intervals) => {
		const reverse = (intervals || []).filter((of) => of.reverse_bits_per_second !== undefined);

		add(reverse.length ? label + " up" : label, begin, intervals);
		if (reverse.length)
			add(label + " down", begin, reverse.map((of) => ({ ...of, bits_per_second: of.reverse_bits_per_second })));
	};

	for (const load of model.result.loads || []) {
		both("iperf3", load.begin_ns, load.iperf3 && load.iperf3.intervals);
		for (const side of load.beside || [])
			both("load " + side.name, side.begin_ns, side.intervals);
	}
	return [...all.values()].filter((of) => of.at.length);
}

/*
 * TCP's states, one series for each sender; those that got less than a hundredth of the bytes
 * of the largest acknowledged are control connections.
 */
function tcpSeries(model) {
	const all = new Map();

	for (const state of model.result.timeline.tcp_samples) {
		const key = [state.netns, state.local, state.local_port, state.remote_port].join(" ");

		if (!all.has(key))
			all.set(key, { label: state.netns + " port " + state.local_port, acked: 0, at: [], srtt: [], cwnd: [] });
		const flow = all.get(key);

		flow.acked = Math.max(flow.acked, state.bytes_acked);
		flow.at.push(seconds(model, state.time_ns));
		flow.srtt.push(state.srtt_ns / 1e6);
		flow.cwnd.push(state.cwnd);
	}
	const most = Math.max(0, ...[...all.values()].map((flow) => flow.acked));

	return [...all.values()].filter((flow) => flow.acked >= most / 100).sort((a, b) => b.acked - a.acked);
}

function retransmitSeries(model) {
	const at = model.result.timeline.retransmits.map((event) => seconds(model, event.time_ns));

	return { at: at, mark: at.map(() => 0) };
}

/* Qdiscs that packets waited in, those with the longest waits first. */
function busyQdiscs(model) {
	const longest = (id) => (model.samples.get(id) || [])
		.reduce((most, sample) => Math.max(most, sample.packets ? sample.sojourn_ns.max : 0), 0);

	return model.result.qdiscs.filter((qdisc) => qdisc.traced)
		.map((qdisc) => ({ qdisc: qdisc, longest: longest(qdisc.id) }))
		.filter((entry) => entry.longest > 0)
		.sort((a, b) => b.longest - a.longest)
		.map((entry) => entry.qdisc);
}

function modelOf(name, result) {
	const model = { name: name, result: result, samples: new Map(), qdiscs: new Map() };
	const first = result.probes.length ? result.probes[0].sent_ns : result.window.begin_ns;

	model.zero = first;
	for (const qdisc of result.qdiscs)
		model.qdiscs.set(qdisc.id, qdisc);
	for (const sample of result.timeline.qdisc_samples) {
		if (!model.samples.has(sample.qdisc))
			model.samples.set(sample.qdisc, []);
		model.samples.get(sample.qdisc).push(sample);
	}
	model.idle = result.phases.find((phase) => phase.kind === "idle");
	model.loads = result.phases.filter((phase) => phase.kind === "load");
	model.title = result.suite ? result.suite.name + " " + result.suite.run : result.scenario.name;
	return model;
}

function readDocuments() {
	return [...document.querySelectorAll("script.document")]
		.map((script) => JSON.parse(script.textContent))
		.map((entry) => modelOf(entry.name, entry.result));
}
