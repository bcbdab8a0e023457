// Shows what the coordinator tells of its run. Each event is a section of the page; all text is set as text.
"use strict";

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

/** An element of a picture. */
function drawn(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** An element with a text. */
function written(name, text, className) {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** Shows the element with this text, or hides it where there is none. */
function tell(id, text) {
  byId(id).textContent = text ?? "";
  byId(id).hidden = !text;
}

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

function ago(seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

/** A time, as precisely as it matters when all shown lie within so many seconds. */
function moment(at, within) {
  const time = new Date(at * 1000);
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (within < 600) return time.toLocaleTimeString([], { ...clock, second: "2-digit" });
  if (within < 172800) return time.toLocaleTimeString([], clock);
  return time.toLocaleDateString([], { day: "numeric", month: "short" });
}

const dated = (at) =>
  new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

const PHASES = { counting: "counting", auditing: "auditing the ledger", complete: "complete", withheld: "answer withheld" };

/** Between which times the end is expected; nothing where it is too far away for a date to mean anything. */
function ends(run) {
  const now = Date.now() / 1000;
  if (run.left_high === null || run.left_high > 20 * 31557600) return "";
  const day = { day: "numeric", month: "long", year: "numeric" };
  const hour = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const show = (seconds) => new Date((now + seconds) * 1000).toLocaleString([], run.left_high < 172800 ? hour : day);
  const [low, high] = [show(run.left_low), show(run.left_high)];
  return low === high ? `likely done ${low}` : `likely done between ${low} and ${high}`;
}

function showRun(run) {
  for (const element of document.querySelectorAll("[data-run]")) {
    const text = String(run[element.dataset.run]);
    if (element.textContent !== text) element.textContent = text;
    if ("bad" in element.dataset) element.classList.toggle("bad", text !== "0");
  }
  document.title = `${run.percent} · n = ${run.n} · diadem`;
  byId("phase").textContent = PHASES[run.phase];
  byId("phase").className = `pill ${run.phase}`;
  tell("trouble", run.trouble);
  tell("paused", run.paused === null ? "" : `Paused: no units are lent. ${run.paused}`);
  const isCounting = run.phase === "counting";
  byId("left").textContent = isCounting ? leftInWords(run) : AFTER[run.phase];
  byId("ends").textContent = isCounting && run.paused === null ? ends(run) : "";
  byId("bar").style.setProperty("--share", run.progress);
  byId("bar").setAttribute("aria-valuenow", (100 * run.progress).toFixed(2));
  byId("bar").setAttribute("aria-valuetext", run.percent);
  byId("expected").textContent = run.expected === null ? "" : `Expected: ${run.expected}; found so far: ${run.found}`;
  const needed = run.replicas ? ` (${run.replicas} needed)` : "";
  byId("followers").textContent = `${run.followers}${needed}`;
  byId("followers").classList.toggle("bad", run.followers < run.replicas);
  const more = run.set_aside_more ? ` and ${run.set_aside_more} more` : "";
  tell("aside", run.set_aside && `Set aside, lost with five workers each: units ${run.set_aside}${more}.`);
  byId("term").textContent = run.term === null ? "" : ` · term ${run.term}`;
}

const AFTER = {
  auditing: "all is counted; the ledger is read once more before the answer",
  complete: "all is counted and the ledger adds up",
  withheld: "all is counted, and something is wrong: there is no answer",
};

function leftInWords(run) {
  if (run.paused !== null) return "paused";
  if (run.left !== null) return `${run.left} left`;
  return run.workers === "0" ? "waiting for workers" : "it is too early to say how long it takes";
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
    ...chart.times.map(([x, at]) => drawn("text", { x, y: 209, "text-anchor": "middle" }, moment(at, chart.length))),
  );
}

function showSpeed(speed) {
  byId("no-speed").hidden = Boolean(speed.recent);
  showChart(byId("recent"), speed.recent, speed.whole ? "The last day" : "Since the beginning");
  showChart(byId("whole"), speed.whole, "Since the beginning");
}

const map = { n: 0, cells: [], families: new Map(), here: null };

function showFamilies({ n, families }) {
  if (n !== map.n) drawMap(n);
  map.families.clear();
  for (let i = 0; i < families.length; i += 4) {
    const [top, bottom, units, done] = families.slice(i, i + 4);
    map.families.set(top * n + bottom, { top, bottom, units, done });
  }
  // What a family counts, its images would count too.
  for (const family of [...map.families.values()]) {
    const [top, bottom, last] = [family.top, family.bottom, n - 1];
    for (const [t, b] of [[bottom, top], [last - top, last - bottom], [last - bottom, last - top]]) {
      if (!map.families.has(t * n + b)) map.families.set(t * n + b, family);
    }
  }
  map.cells.forEach((cell, index) => {
    const family = map.families.get(index);
    const level = family ? Math.floor((10 * family.done) / Math.max(family.units, 1)) : 0;
    const className = family ? `f${level}` : "nothing";
    cell.setAttribute("class", index === map.here ? `${className} here` : className);
  });
  const all = families.length / 4;
  const complete = [...new Set(map.families.values())].filter((family) => family.done === family.units).length;
  byId("map").setAttribute("aria-label", `Map of the families: ${complete} of ${all} complete`);
  describeCell();
}

function drawMap(n) {
  Object.assign(map, { n, here: null, cells: [] });
  for (let index = 0; index < n * n; index += 1) {
    const [top, bottom] = [Math.floor(index / n), index % n];
    map.cells.push(drawn("rect", { x: top + 0.05, y: bottom + 0.05, width: 0.9, height: 0.9, rx: 0.14 }));
  }
  const picture = byId("map");
  picture.setAttribute("viewBox", `-0.2 -0.2 ${n + 0.4} ${n + 0.4}`);
  picture.replaceChildren(...map.cells);
}

function goToCell(index) {
  map.cells[map.here]?.classList.remove("here");
  map.here = index;
  map.cells[index].classList.add("here");
  describeCell();
}

function describeCell() {
  if (map.here === null) return;
  const [top, bottom] = [Math.floor(map.here / map.n) + 1, (map.here % map.n) + 1];
  const family = map.families.get(map.here);
  const where = `Queens in column ${top} of the first row and ${bottom} of the last: `;
  byId("map-cell").textContent = where + (family
    ? `${count(family.done, "unit", "units")} of ${family.units.toLocaleString("en")} done`
    : "counted with other families, turned or mirrored");
}

function attendToMap() {
  const picture = byId("map");
  picture.addEventListener("pointerover", (event) => {
    const index = map.cells.indexOf(event.target);
    if (index >= 0) goToCell(index);
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step || map.n === 0) return;
    event.preventDefault();
    const here = map.here ?? 0;
    const inside = (place) => Math.min(Math.max(place, 0), map.n - 1);
    goToCell(inside(Math.floor(here / map.n) + step[0]) * map.n + inside((here % map.n) + step[1]));
  });
  for (let level = 0; level <= 10; level += 1) {
    byId("legend").append(drawn("rect", { class: `f${level}`, x: level * 10, y: 0, width: 9, height: 10, rx: 1.5 }));
  }
}

function row(texts, numbers, marks) {
  const line = document.createElement("tr");
  texts.forEach((text, index) => line.append(written("td", text, numbers.includes(index) ? "num" : "")));
  for (const [index, className] of Object.entries(marks)) if (className) line.cells[index].classList.add(className);
  for (const cell of line.cells) if (cell.textContent.length > 24) cell.title = cell.textContent;
  return line;
}

function showList(name, { rows, total }, toRow, order) {
  byId(name).replaceChildren(...rows.map(toRow));
  byId(`no-${name}`).hidden = total > 0;
  byId(name).closest(".table").hidden = total === 0;
  const shown = rows.length < total ? `${rows.length} of ${total.toLocaleString("en")}, ${order}` : "";
  byId(`${name}-shown`).textContent = shown;
}

function showMachines(list) {
  const toRow = ([title, workers, threads, units, confirmed, wrong, isBelieved, speed]) => row(
    [title, isBelieved ? "believed" : "not believed", units, confirmed, wrong, workers, threads, speed],
    [2, 3, 4, 5, 6, 7],
    { 1: isBelieved ? "good" : "bad", 4: wrong > 0 && "bad" },
  );
  showList("machines", list, toRow, "those first that want a look, then those that did most");
}

function showWorkers(list) {
  const toRow = ([name, machine, threads, kernel, leased, done, rate, lastWord, isSilent, drains]) => row(
    [name, ago(lastWord) + (drains ? ", leaves" : ""), leased, done, rate, threads, kernel, machine],
    [1, 2, 3, 4, 5],
    { 1: isSilent && "bad", 7: "name" },
  );
  showList("workers", list, toRow, "those first that are silent");
}

function showHappened(events) {
  byId("no-events").hidden = events.length > 0;
  byId("happened").replaceChildren(...events.map(([at, text]) => {
    const [item, time] = [document.createElement("li"), written("time", dated(at))];
    time.dateTime = new Date(at * 1000).toISOString();
    item.append(time, text);
    return item;
  }));
}

const SECTIONS = {
  run: showRun, happened: showHappened, speed: showSpeed, families: showFamilies, machines: showMachines,
  workers: showWorkers,
};

/** The coordinator says that there is nothing new after 15 seconds; one that says nothing at all for so long is gone. */
const SILENCE = 40000;

const link = { source: null, heard: null, retry: 0, phase: "" };

function connect() {
  link.source?.close();
  clearTimeout(link.retry);
  link.source = new EventSource("/events");
  for (const [name, show] of Object.entries(SECTIONS)) {
    link.source.addEventListener(name, (event) => {
      const section = JSON.parse(event.data);
      if (name === "run") link.phase = section.phase;
      show(section);
      heard();
    });
  }
  link.source.addEventListener("nothing", heard);
  link.source.addEventListener("error", lost);
}

function heard() {
  link.heard = Date.now();
  clearTimeout(link.retry);
  link.retry = setTimeout(() => { lost(); connect(); }, SILENCE);
  tell("gone", "");
  byId("link").textContent = "live";
  byId("link").className = "pill live linked";
}

/** The browser tries again by itself where the connection broke, but not where it was refused. */
function lost() {
  byId("link").textContent = "no connection";
  byId("link").className = "pill live lost";
  const since = link.heard ? `What you see is from ${dated(link.heard / 1000)}; it` : "It";
  const ended = link.phase === "complete" ? "The run is complete, and the coordinator has ended or is out of reach."
    : "The coordinator does not answer: it has ended, or cannot be reached.";
  tell("gone", `${ended} ${since} is tried again until it does.`);
  clearTimeout(link.retry);
  if (link.source.readyState === EventSource.CLOSED) link.retry = setTimeout(connect, 5000);
}

// A page that nobody looks at asks for nothing.
document.addEventListener("visibilitychange", () => {
  clearTimeout(link.retry);
  if (document.hidden) link.source.close();
  else connect();
});
attendToMap();
connect();
