/* Begin. */
"use strict";

function setTheme(name) {
	document.documentElement.setAttribute("data-theme", name);
	document.getElementById("theme").setAttribute("aria-pressed", String(name === "dark"));
	document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
	redrawPlots();
}

function isDark() {
	const chosen = document.documentElement.getAttribute("data-theme");

	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function begin() {
	const report = document.getElementById("report"), models = readDocuments();

	models.forEach((model, i) => { model.key = i; });
	document.getElementById("what").textContent = models.length === 1 ? models[0].title + " on " + models[0].result.tool.kernel :
		models.length + " results";
	document.title = "sojourn: " + models.map(nameOf).slice(0, 4).join(", ");
	document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
	document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
	if (models.length === 1)
		showRun(report, models[0]);
	else
		showSeveral(report, models);
	report.append(element("footer", {}, "Written by sojourn. Everything that this page shows is in this file."));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawPlots);
	addEventListener("resize", resizePlots);
	document.documentElement.setAttribute("data-ready", "true");
}

begin();
