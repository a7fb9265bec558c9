// What pages gain by script: charts, what happens live, a theme, questions before what cannot be undone.
// Every page works without: forms and links are plain, and tables have the charts' figures.
"use strict";

const root = document.documentElement;

// ------------------------------------------------------------------------------------------ theme

function isDark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function setUpTheme() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem("loopwatch-theme", root.dataset.theme);
      } catch {
        // Kept for this page alone.
      }
      drawAll();
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

// ----------------------------------------------------------------------------------------- charts

const charts = new Map();

function colour(name) {
  return getComputedStyle(root).getPropertyValue(name).trim();
}

const UNITS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function short(value) {
  for (const [size, unit] of UNITS) {
    if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)} ${unit}`;
  }
  return `${+value.toPrecision(3)}`;
}

function shown(value, kind) {
  if (value === null || value === undefined) return "–";
  if (kind !== "money") return short(value);
  const places = value !== 0 && Math.abs(value) < 0.01 ? 4 : 2;
  return value.toLocaleString("en", { style: "currency", currency: "USD", minimumFractionDigits: places });
}

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });

// Days where the points are days, else the time of day; both in UTC, as everything here is.
function moment(seconds, asked) {
  return (asked.bars ? DAY : MINUTE).format(new Date(seconds * 1000));
}

function axes(asked) {
  const { kind } = asked;
  const stroke = colour("--quiet");
  const grid = { stroke: colour("--line"), width: 1 };
  const ticks = { show: false };
  const font = "12px system-ui, sans-serif";
  return [
    { stroke, grid: { show: false }, ticks: { stroke: colour("--line"), size: 4 }, font, space: 64,
      values: (_, every) => every.map((one) => moment(one, asked)) },
    { stroke, grid, ticks, font, size: 64, space: 36, values: (_, every) => every.map((one) => shown(one, kind)) },
  ];
}

function seriesOf(asked) {
  const names = ["--accent", "--watch", "--bad", "--good"];
  return asked.series.map(([name], index) => {
    const stroke = colour(names[index % names.length]);
    const bars = asked.bars && uPlot.paths.bars({ size: [0.7, 28] });
    return {
      label: name,
      stroke,
      fill: asked.bars ? stroke : `color-mix(in srgb, ${stroke} 14%, transparent)`,
      width: asked.bars ? 0 : 2,
      paths: bars || undefined,
      points: { show: false },
      value: (_, value) => shown(value, asked.kind),
    };
  });
}

function thresholdLine(asked) {
  return (plot) => {
    if (asked.threshold === null) return;
    const { ctx, bbox } = plot;
    const y = Math.round(plot.valToPos(asked.threshold, "y", true));
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    ctx.save();
    ctx.strokeStyle = colour("--bad");
    ctx.lineWidth = devicePixelRatio * 1.5;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  };
}

function draw(figure) {
  const asked = JSON.parse(figure.dataset.chart);
  const place = figure.querySelector(".plot");
  charts.get(figure)?.destroy();
  const width = place.clientWidth;
  if (width < 80 || asked.times.length === 0) return;
  const most = Math.max(asked.threshold ? asked.threshold * 1.12 : 0, 0);
  const options = {
    width,
    height: asked.height,
    series: [{ label: "UTC", value: (_, at) => (at ? moment(at, asked) : "–") }, ...seriesOf(asked)],
    axes: axes(asked),
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    scales: { x: { range: (_, low, high) => (asked.bars ? [low - 43_200, high + 43_200] : [low, high]) }, y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max((high ?? 0) * 1.08, most) || 1] } },
    cursor: { points: { size: 7 }, drag: { x: false, y: false }, sync: asked.sync ? { key: asked.sync } : undefined },
    legend: { live: true },
    hooks: { draw: [thresholdLine(asked)] },
  };
  charts.set(figure, new uPlot(options, [asked.times, ...asked.series.map(([, values]) => values)], place));
  figure.classList.add("drawn");
}

function drawAll() {
  if (typeof uPlot === "undefined") return;
  for (const [figure, chart] of charts) {
    if (!figure.isConnected) {
      chart.destroy();
      charts.delete(figure);
    }
  }
  for (const figure of document.querySelectorAll("[data-chart]")) draw(figure);
}

let resizing;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(drawAll, 120);
});

// ------------------------------------------------------------------------------------------- live

function toast(alert) {
  const place = document.getElementById("toasts");
  if (!place) return;
  const link = document.createElement("a");
  link.className = "toast";
  link.href = alert.href;
  const title = document.createElement("b");
  title.textContent = alert.title;
  const rest = document.createElement("span");
  rest.textContent = alert.text;
  link.append(title, rest);
  place.append(link);
  setTimeout(() => link.remove(), 12_000);
}

function setUpLive() {
  const address = document.querySelector("[data-live]")?.dataset.live;
  if (!address || typeof EventSource === "undefined") return;
  const source = new EventSource(address);
  source.addEventListener("alert", (event) => {
    toast(JSON.parse(event.data));
    document.body.dispatchEvent(new CustomEvent("alert-raised"));
  });
  source.addEventListener("open", () => root.classList.add("is-live"));
  source.addEventListener("error", () => {
    root.classList.remove("is-live");
    // A browser asks again after a broken stream, but not after a refusal: too many pages listen.
    if (source.readyState === EventSource.CLOSED) setTimeout(setUpLive, 30_000);
  });
  addEventListener("pagehide", () => source.close());
}

// ------------------------------------------------------------------------------------------ forms

function setUpForms() {
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
      return;
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  if (navigator.clipboard) for (const one of document.querySelectorAll("[data-copy]")) one.hidden = false;
}

document.addEventListener("DOMContentLoaded", () => {
  setUpTheme();
  setUpForms();
  setUpLive();
  drawAll();
});
document.addEventListener("htmx:afterSettle", drawAll);
