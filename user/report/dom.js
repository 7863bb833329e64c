/* Elements. Texts of documents go through textContent alone: they never become markup. */
"use strict";

function element(name, attributes, ...children) {
	const made = document.createElement(name);

	for (const key in attributes || {})
		made.setAttribute(key, attributes[key]);
	made.append(...children.filter((child) => child !== null && child !== undefined));
	return made;
}

function svg(name, attributes, text) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

function section(parent, title) {
	const made = element("section", {}, element("h2", {}, title));

	parent.append(made);
	return made;
}

function tableOf(caption, titles, rows) {
	const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
	const body = rows.map((row) => element("tr", {}, ...row.map((cell, i) =>
		element(i ? "td" : "th", i ? (typeof cell === "object" && cell ? { class: cell.class } : {}) : { scope: "row" },
			typeof cell === "object" && cell ? cell.text : String(cell)))));

	return element("div", { class: "scroll" }, element("table", {}, element("caption", {}, caption),
		element("thead", {}, head), element("tbody", {}, ...body)));
}

function color(index) {
	return getComputedStyle(document.documentElement).getPropertyValue("--c" + index % 8).trim();
}

function variable(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
