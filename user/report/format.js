/* Numbers for people: three digits and a unit. */
"use strict";

function three(value) {
	const digits = value ? Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))) : 0;

	return value.toFixed(Math.min(digits, 3));
}

function scaled(value, step, units) {
	let i = 0;

	if (value === null || value === undefined || !isFinite(value))
		return "–";
	while (Math.abs(value) >= step * 0.9995 && i < units.length - 1) {
		value /= step;
		i++;
	}
	return three(value) + " " + units[i];
}

function timeText(ns) {
	return scaled(ns, 1000, ["ns", "µs", "ms", "s"]);
}

function rateText(bits) {
	return scaled(bits, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);
}

function sizeText(bytes) {
	return scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB"]);
}

function countText(value) {
	return value === null || value === undefined ? "–" : String(Math.round(value));
}

function percentText(part) {
	return part === null || part === undefined ? "–" : Math.round(part * 100) + " %";
}
