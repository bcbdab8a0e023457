// The board to play on: queens are put and taken by click or key, and it is said at once who attacks whom.
"use strict";
const field = document.getElementById("field");
const n = Number(field.dataset.n);
const solutions = JSON.parse(document.getElementById("solutions").textContent);
const lines = [...Array(n).keys()];
const queens = new Set();
const squares = [];
let focused = 0;

const name = (square) => String.fromCharCode(97 + (square % n)) + (Math.floor(square / n) + 1);
const attack = (a, b) => {
  const columns = Math.abs((a % n) - (b % n)), rows = Math.abs(Math.floor(a / n) - Math.floor(b / n));
  return a !== b && (columns === 0 || rows === 0 || columns === rows);
};

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function sentence(pairs) {
  if (queens.size === 0) return "The board is empty: put a queen anywhere.";
  if (pairs.length > 0) {
    const shown = pairs.slice(0, 4).map(([a, b]) => `${name(a)} and ${name(b)}`).join(", ");
    const who = pairs.length === 1 ? "A pair of queens attacks" : `${pairs.length} pairs of queens attack`;
    return `${who} each other: ${shown}${pairs.length > 4 ? ", …" : "."}`;
  }
  const left = solutions.filter(({ rows }) => [...queens].every((q) => rows[q % n] === Math.floor(q / n) + 1));
  if (queens.size < n) return `${count(queens.size, "queen")}, none attacked. ${count(left.length, "solution")} with these queens.`;
  const { number, rows, family } = left[0];
  return `Solved: number ${number}, ${rows.join(n > 9 ? "," : "")}, of family B${family}.`;
}

function show() {
  const all = [...queens];
  const pairs = all.flatMap((a, index) => all.slice(index + 1).filter((b) => attack(a, b)).map((b) => [a, b]));
  const inConflict = new Set(pairs.flat());
  squares.forEach((square, index) => {
    const isQueen = queens.has(index), isAttacked = all.some((queen) => attack(queen, index));
    square.classList.toggle("conflict", inConflict.has(index));
    square.classList.toggle("attacked", isAttacked && !isQueen);
    square.setAttribute("aria-pressed", isQueen);
    square.setAttribute("aria-label", name(index) + (isQueen ? ", queen" : "") + (isAttacked ? ", attacked" : ""));
    square.firstChild.toggleAttribute("hidden", !isQueen);
    square.tabIndex = index === focused ? 0 : -1;
  });
  const said = document.getElementById("said");
  said.textContent = sentence(pairs);
  said.classList.toggle("bad", pairs.length > 0);
}

function toggle(square) {
  if (!queens.delete(square)) queens.add(square);
  focused = square;
  show();
}

function drawing() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 1 1");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", "#queen");
  svg.append(use);
  return svg;
}

field.style.setProperty("--n", n);
for (const row of [...lines].reverse()) {
  const line = document.createElement("div");
  for (const column of lines) {
    const square = document.createElement("button");
    const index = row * n + column;
    square.type = "button";
    square.classList.toggle("dark", (row + column) % 2 === 0);
    square.append(drawing());
    square.addEventListener("click", () => toggle(index));
    square.addEventListener("focus", () => (focused = index));
    squares[index] = square;
    line.append(square);
  }
  field.append(line);
}

field.addEventListener("keydown", (event) => {
  const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (!step) return;
  event.preventDefault();
  const column = (focused % n) + step[0], row = Math.floor(focused / n) + step[1];
  if (!lines.includes(column) || !lines.includes(row)) return;
  focused = row * n + column;
  show();
  squares[focused].focus();
});

document.getElementById("clear").addEventListener("click", () => {
  queens.clear();
  show();
});
document.getElementById("solve").addEventListener("click", () => {
  const holds = ({ rows }) => [...queens].every((q) => rows[q % n] === Math.floor(q / n) + 1);
  const found = solutions.filter(holds);
  const said = document.getElementById("said");
  if (found.length === 0) {
    said.textContent = "No solution has all these queens: take one off.";
    return;
  }
  found[0].rows.forEach((row, column) => queens.add((row - 1) * n + column));
  show();
});
document.getElementById("hints").addEventListener("change", (event) => field.classList.toggle("hints", event.target.checked));
show();
