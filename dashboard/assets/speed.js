// The speed of the run, drawn as the coordinator has laid it out.

import { byId, drawn, written } from "./elements.js";

/** A time further to the right would be cut off at the edge of the card. */
const LAST_TIME = 0.97;

/** A time, as precisely as it matters when all shown lie within so many seconds. */
function moment(at, within) {
  const time = new Date(at * 1000);
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (within < 600) return time.toLocaleTimeString([], { ...clock, second: "2-digit" });
  if (within < 172800) return time.toLocaleTimeString([], clock);
  return time.toLocaleDateString([], { day: "numeric", month: "short" });
}

/** A label at this share of the plot's width or height. */
function label(text, share) {
  const span = written("span", text);
  span.style.setProperty("--at", share);
  return span;
}

function showChart(figure, chart, title) {
  figure.hidden = !chart;
  if (!chart) return;
  const [caption, plot] = figure.children;
  const [heights, picture, times] = plot.children;
  caption.textContent = `${title}: ${chart.title}`;
  plot.setAttribute("aria-label", `${title}: ${chart.title}, up to ${chart.heights.at(-1)[1]}`);
  picture.replaceChildren(
    ...chart.heights.map(([y]) => drawn("path", { class: "rule", d: `M0 ${180 * y}H600` })),
    drawn("path", { class: "area", d: chart.area }),
    drawn("path", { class: "steps", d: chart.line }),
  );
  heights.replaceChildren(...chart.heights.map(([y, text]) => label(text, y)));
  times.replaceChildren(
    ...chart.times.filter(([x]) => x < LAST_TIME).map(([x, at]) => label(moment(at, chart.length), x)),
  );
}

export function showSpeed(speed) {
  byId("no-speed").hidden = Boolean(speed.recent);
  showChart(byId("recent"), speed.recent, speed.whole ? "The last day" : "Since the beginning");
  showChart(byId("whole"), speed.whole, "Since the beginning");
}
