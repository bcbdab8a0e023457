// Shows the run as the coordinator sends it. Each event updates a section of the page; names are set as text, never as HTML.
import { byId, linked, say, tell, written } from "/elements.js";
import { attendToMap, showFamilies } from "/families.js";
import { showSpeed } from "/speed.js";

function ago(seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

const dated = (at) =>
  new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

/** The state of the run in a few words, and the look of its pill. */
function state(run) {
  if (run.phase === "complete") return ["complete", "complete"];
  if (run.phase === "withheld") return ["answer withheld", "withheld"];
  if (run.phase === "auditing") return ["auditing the ledger", ""];
  if (run.trouble) return ["in trouble", "withheld"];
  if (run.paused !== null) return ["paused", "waits"];
  if (run.workers === "0") return ["waiting for workers", "waits"];
  return [run.done === run.units ? "checking" : "counting", ""];
}

/** The range in which the end is expected; empty if it is too far away for a date to mean anything. */
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
  const [words, look] = state(run);
  byId("phase").textContent = words;
  byId("phase").className = `pill ${look}`;
  byId("phase").hidden = false;
  tell("trouble", run.trouble);
  tell("paused", run.paused === null ? "" : `Paused: no units are lent. ${run.paused && `Reason: ${run.paused}`}`);
  const isCounting = run.phase === "counting";
  const hasEnded = run.phase === "complete" || run.phase === "withheld";
  byId("so-far").hidden = hasEnded;
  byId("start-worker").hidden = hasEnded;
  byId("workers-left").hidden = !hasEnded;
  byId("rate").textContent = run.rate;
  byId("left").textContent = isCounting ? leftInWords(run) : run.verdict ?? AFTER[run.phase];
  byId("ends").textContent = isCounting && run.paused === null ? ends(run) : "";
  byId("bar").style.setProperty("--share", run.progress);
  byId("bar").setAttribute("aria-valuenow", (100 * run.progress).toFixed(2));
  byId("bar").setAttribute("aria-valuetext", run.percent);
  const found = hasEnded ? "" : `; found so far: ${run.found}`;
  byId("expected").textContent = run.expected === null ? "" : `Expected: ${run.expected}${found}`;
  const needed = run.replicas ? ` (${run.replicas} needed)` : "";
  byId("followers").textContent = `${run.followers}${needed}`;
  byId("followers").classList.toggle("bad", run.followers < run.replicas);
  const more = run.set_aside_more ? ` and ${run.set_aside_more} more` : "";
  tell("aside", run.set_aside && `Not lent any more, because each was lost with five workers: units ${run.set_aside}${more}.`);
  byId("term").textContent = run.term === null ? "" : ` · term ${run.term}`;
}

const AFTER = {
  auditing: "all units are counted; the coordinator audits the ledger before it gives the answer",
  withheld: "something is wrong: there is no answer",
};

function leftInWords(run) {
  if (run.paused !== null) return run.leased === "0" ? "paused" : `paused; leased units still counted: ${run.leased}`;
  const checks = run.pending === "0" ? "checks by another owner to go" : `checks to go: ${run.pending}`;
  const counted = run.done === run.units && run.left_high > 0 ? `all units are counted, ${checks}; ` : "";
  if (run.left !== null) return `${counted}${run.left} left`;
  return run.workers === "0" ? "waiting for workers" : "too early to estimate the time left";
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
  byId(`no-${name}`)?.toggleAttribute("hidden", total > 0);
  byId(name).closest(".table").hidden = total === 0;
  const shown = rows.length < total ? `${rows.length} of ${total.toLocaleString("en")}, ${order}` : "";
  byId(`${name}-shown`).textContent = shown;
}

function showOwners(list) {
  byId("credits").hidden = list.total === 0;
  const toRow = ([owner, numbers]) => row([owner, ...numbers], [1, 2, 3, 4, 5, 6, 7, 8, 9], {});
  showList("owners", list, toRow, "those with the most core-hours");
}

function showMachines(list) {
  const toRow = ([title, workers, threads, units, confirmed, wrong, isBelieved, speed]) => row(
    [title, isBelieved ? "trusted" : "not trusted", units, confirmed, wrong, workers, threads, speed],
    [2, 3, 4, 5, 6, 7],
    { 1: isBelieved ? "good" : "bad", 4: wrong > 0 && "bad" },
  );
  showList("machines", list, toRow, "untrusted ones first, then by units");
}

function showWorkers(list) {
  const toRow = ([name, machine, threads, kernel, leased, done, rate, lastWord, isSilent, drains]) => row(
    [name, ago(lastWord) + (drains ? ", leaving" : ""), leased, done, rate, threads, kernel, machine],
    [1, 2, 3, 4, 5],
    { 1: isSilent && "bad", 7: "name" },
  );
  showList("workers", list, toRow, "silent ones first");
}

/** The number of events that are always visible. */
const LATEST_EVENTS = 8;

function showHappened(events) {
  const items = events.map(([at, text]) => {
    const [item, time] = [document.createElement("li"), written("time", dated(at))];
    time.dateTime = new Date(at * 1000).toISOString();
    item.append(time, ...linked(text));
    return item;
  });
  byId("no-events").hidden = items.length > 0;
  byId("earlier").hidden = items.length <= LATEST_EVENTS;
  byId("happened-earlier").replaceChildren(...items.splice(LATEST_EVENTS));
  byId("happened").replaceChildren(...items);
}

const SECTIONS = {
  run: showRun, happened: showHappened, speed: showSpeed, families: showFamilies, owners: showOwners,
  machines: showMachines, workers: showWorkers,
};

/** The coordinator sends something at least every 15 seconds. After this silence in milliseconds it counts as lost. */
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
  say("link", "live");
  byId("link").className = "pill live linked";
}

/** Shows that the connection is lost. The browser reconnects by itself, except after a refusal. */
function lost() {
  say("link", "no connection");
  byId("link").className = "pill live lost";
  const hasEnded = link.phase === "complete" || link.phase === "withheld";
  if (!hasEnded) {
    // Nobody knows whether it still counts, and how fast.
    byId("phase").hidden = true;
    byId("rate").textContent = "unknown";
    byId("ends").textContent = "";
  }
  const why = link.phase === "complete" ? "The run is complete, and the coordinator has ended or cannot be reached."
    : "The coordinator does not answer: it has ended or cannot be reached.";
  const since = link.heard ? ` This is the state of ${dated(link.heard / 1000)}.` : "";
  tell("gone", `${why}${since} The page keeps trying to connect.`);
  clearTimeout(link.retry);
  if (link.source.readyState === EventSource.CLOSED) refused(link.source);
}

/** Asks for the reason of a refusal, which an EventSource does not give. A missing token reloads the page, which asks for it. */
async function refused(source) {
  const asked = { method: "HEAD", signal: AbortSignal.timeout(5000) };
  const code = await fetch("/events", asked).then((reply) => reply.status, () => 0);
  if (document.hidden || source !== link.source) return;
  if (code === 401) location.reload();
  if (code === 503) tell("gone", "Too many people are watching this run. The page tries again in a minute.");
  link.retry = setTimeout(connect, code === 503 ? 60000 : 5000);
}

// A hidden page does not stay connected.
document.addEventListener("visibilitychange", () => {
  clearTimeout(link.retry);
  if (document.hidden) link.source.close();
  else connect();
});
attendToMap();
connect();
