// Shows the run as the coordinator sends it. Each event updates a section of the page; names are set as text, never as HTML.
import { tell } from "./elements.js";
import { attendToMap, showFamilies } from "./families.js";
import { row, showHappened, showIncidents, showList, showLive, showLost, showOwners, showRun } from "./run.js";
import { showSpeed } from "./speed.js";

function ago(seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
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

const SECTIONS = {
  run: showRun, happened: showHappened, incidents: showIncidents, speed: showSpeed, families: showFamilies,
  owners: showOwners, machines: showMachines, workers: showWorkers,
};

/** The coordinator sends something at least every 15 seconds. After this silence in milliseconds it counts as lost. */
const SILENCE = 40000;

const link = { source: null, heard: null, retry: 0, phase: "" };

function connect() {
  link.source?.close();
  clearTimeout(link.retry);
  link.source = new EventSource("events");
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
  showLive();
}

/** Shows that the connection is lost. The browser reconnects by itself, except after a refusal. */
function lost() {
  showLost(link.phase, link.heard);
  clearTimeout(link.retry);
  if (link.source.readyState === EventSource.CLOSED) refused(link.source);
}

/** Asks for the reason of a refusal, which an EventSource does not give. A missing token reloads the page, which asks for it. */
async function refused(source) {
  const asked = { method: "HEAD", signal: AbortSignal.timeout(5000) };
  const code = await fetch("events", asked).then((reply) => reply.status, () => 0);
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
