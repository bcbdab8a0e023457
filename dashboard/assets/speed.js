// The speed of the run, drawn as the coordinator has laid it out.

import { byId, drawn } from "/elements.js";

/** From here on a time that is centred below the picture would be cut off at its edge. */
const EDGE = 612;

/** A time, as precisely as it matters when all shown lie within so many seconds. */
function moment(at, within) {
  const time = new Date(at * 1000);
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (within < 600) return time.toLocaleTimeString([], { ...clock, second: "2-digit" });
  if (within < 172800) return time.toLocaleTimeString([], clock);
  return time.toLocaleDateString([], { day: "numeric", month: "short" });
}

function showChart(figure, chart, title) {
  figure.hidden = !chart;
  if (!chart) return;
  const [caption, picture] = figure.children;
  caption.textContent = `${title}: ${chart.title}`;
  picture.setAttribute("aria-label", `${title}: ${chart.title}, up to ${chart.heights.at(-1)[1]}`);
  picture.replaceChildren(
    ...chart.heights.map(([y]) => drawn("line", { class: "rule", x1: 56, x2: 628, y1: y, y2: y })),
    drawn("path", { class: "area", d: chart.area }),
    drawn("path", { class: "steps", d: chart.line }),
    ...chart.heights.map(([y, text]) => drawn("text", { x: 50, y: y + 4, "text-anchor": "end" }, text)),
    ...chart.times
      .filter(([x]) => x < EDGE)
      .map(([x, at]) => drawn("text", { x, y: 209, "text-anchor": "middle" }, moment(at, chart.length))),
  );
}

export function showSpeed(speed) {
  byId("no-speed").hidden = Boolean(speed.recent);
  showChart(byId("recent"), speed.recent, speed.whole ? "The last day" : "Since the beginning");
  showChart(byId("whole"), speed.whole, "Since the beginning");
}
