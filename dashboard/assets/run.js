// The parts of the run that the page of the operator and the public page both show. Names are set as text, never as HTML.
import { byId, linked, say, tell, written } from "./elements.js";

export const dated = (at) =>
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

export function showRun(run) {
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
  byId("start-worker")?.toggleAttribute("hidden", hasEnded);
  byId("workers-left")?.toggleAttribute("hidden", !hasEnded);
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

export function row(texts, numbers, marks) {
  const line = document.createElement("tr");
  texts.forEach((text, index) => line.append(written("td", text, numbers.includes(index) ? "num" : "")));
  for (const [index, className] of Object.entries(marks)) if (className) line.cells[index].classList.add(className);
  for (const cell of line.cells) if (cell.textContent.length > 24) cell.title = cell.textContent;
  return line;
}

export function showList(name, { rows, total }, toRow, order) {
  byId(name).replaceChildren(...rows.map(toRow));
  byId(`no-${name}`)?.toggleAttribute("hidden", total > 0);
  byId(name).closest(".table").hidden = total === 0;
  const shown = rows.length < total ? `${rows.length} of ${total.toLocaleString("en")}, ${order}` : "";
  byId(`${name}-shown`).textContent = shown;
}

export function showOwners(list) {
  byId("credits").hidden = list.total === 0;
  const toRow = ([owner, numbers]) => row([owner, ...numbers], [1, 2, 3, 4, 5, 6, 7, 8, 9], {});
  showList("owners", list, toRow, "those with the most core-hours");
}

/** The number of entries of a list that are always visible. */
const LATEST = 8;

/** Fills the list of that name, and the folded list for its older entries. Each entry is a time and texts. */
function showDated(name, entries) {
  const items = entries.map(([at, ...texts]) => {
    const [item, time] = [document.createElement("li"), written("time", dated(at))];
    time.dateTime = new Date(at * 1000).toISOString();
    item.append(time, ...texts);
    return item;
  });
  byId(`no-${name}`).hidden = items.length > 0;
  byId(`${name}-earlier`).parentElement.hidden = items.length <= LATEST;
  byId(`${name}-earlier`).replaceChildren(...items.splice(LATEST));
  byId(name).replaceChildren(...items);
}

export function showHappened(events) {
  showDated("happened", events.map(([at, text]) => [at, ...linked(text)]));
}

/** Interventions and the like; a reason stands behind its intervention. */
export function showIncidents({ rows, total }) {
  const reason = (why) => (why === null ? [] : [written("q", why, "reason")]);
  showDated("incidents", rows.map(([at, text, why]) => [at, ...linked(text), ...reason(why)]));
  const shown = rows.length < total ? `the last ${rows.length} of ${total.toLocaleString("en")}` : "";
  byId("incidents-shown").textContent = shown;
}

/** Shows that the coordinator cannot be reached, and when it was heard last. */
export function showLost(phase, heard) {
  say("link", "no connection");
  byId("link").className = "pill live lost";
  if (phase !== "complete" && phase !== "withheld") {
    // Nobody knows whether it still counts, and how fast.
    byId("phase").hidden = true;
    byId("rate").textContent = "unknown";
    byId("ends").textContent = "";
  }
  const why = phase === "complete" ? "The run is complete, and the coordinator has ended or cannot be reached."
    : "The coordinator does not answer: it has ended or cannot be reached.";
  const since = heard ? ` This is the state of ${dated(heard / 1000)}.` : "";
  tell("gone", `${why}${since} The page keeps trying to connect.`);
}

/** Shows that the page is up to date. */
export function showLive() {
  tell("gone", "");
  say("link", "live");
  byId("link").className = "pill live linked";
}
