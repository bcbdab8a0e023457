// The public page: asks for the public state of the run every few seconds. Caches may answer for the coordinator.
import { byId, say, tell } from "./elements.js";
import { attendToMap, showFamilies } from "./families.js";
import { dated, showIncidents, showLive, showLost, showOwners, showRun } from "./run.js";
import { showSpeed } from "./speed.js";

const SECTIONS = {
  run: showRun, incidents: showIncidents, speed: showSpeed, families: showFamilies, owners: showOwners,
};

/** The coordinator writes its public state anew after so many milliseconds. */
const EVERY = 5000;

/** The longest wait for a reply, in milliseconds. */
const PATIENCE = 10000;

const link = { heard: null, phase: "", next: 0 };

async function update() {
  clearTimeout(link.next);
  const reply = await fetch("public.json", { signal: AbortSignal.timeout(PATIENCE) }).catch(() => null);
  const state = reply?.ok ? await reply.json().catch(() => null) : null;
  if (state === null) {
    showLost(link.phase, link.heard);
  } else {
    show(state);
  }
  // Viewers who came at the same time do not ask at the same time forever.
  if (!document.hidden) link.next = setTimeout(update, EVERY * (1 + 0.2 * Math.random()));
}

function show(state) {
  for (const [name, showSection] of Object.entries(SECTIONS)) showSection(state[name]);
  Object.assign(link, { phase: state.run.phase, heard: 1000 * state.at });
  say("at", `State of ${dated(state.at)}`);
  byId("published").hidden = state.head === null;
  tell("head", state.head);
  showLive();
}

// A hidden page asks nothing.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(link.next);
  else update();
});
attendToMap();
update();
