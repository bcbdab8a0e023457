// Shows what the coordinator tells of its run. Each event is a section of the page; all text is set as text.
import { byId, say, tell, written } from "/elements.js";
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
  tell("paused", run.paused === null ? "" : `Paused, no units are lent${run.paused ? `: ${run.paused}` : ""}`);
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
  withheld: "something is wrong: there is no answer",
};

function leftInWords(run) {
  if (run.paused !== null) return "paused";
  const checks = run.pending === "0" ? "checks by another owner to go" : `checks to go: ${run.pending}`;
  const counted = run.done === run.units && run.left_high > 0 ? `all is counted, ${checks}; ` : "";
  if (run.left !== null) return `${counted}${run.left} left`;
  return run.workers === "0" ? "waiting for workers" : "it is too early to say how long it takes";
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
  say("link", "live");
  byId("link").className = "pill live linked";
}

/** The browser tries again by itself where the connection broke, but not where it was refused. */
function lost() {
  say("link", "no connection");
  byId("link").className = "pill live lost";
  const since = link.heard ? `What you see is from ${dated(link.heard / 1000)}; it` : "It";
  const ended = link.phase === "complete" ? "The run is complete, and the coordinator has ended or is out of reach."
    : "The coordinator does not answer: it has ended, or cannot be reached.";
  tell("gone", `${ended} ${since} is tried again until it does.`);
  clearTimeout(link.retry);
  if (link.source.readyState === EventSource.CLOSED) refused(link.source);
}

/** Asks why, which a source of events does not tell: the page itself asks for a token that is missing. */
async function refused(source) {
  const asked = { method: "HEAD", signal: AbortSignal.timeout(5000) };
  const code = await fetch("/events", asked).then((reply) => reply.status, () => 0);
  if (document.hidden || source !== link.source) return;
  if (code === 401) location.reload();
  if (code === 503) tell("gone", "Too many watch this run already. It is tried again in a minute.");
  link.retry = setTimeout(connect, code === 503 ? 60000 : 5000);
}

// A page that nobody looks at asks for nothing.
document.addEventListener("visibilitychange", () => {
  clearTimeout(link.retry);
  if (document.hidden) link.source.close();
  else connect();
});
attendToMap();
connect();
