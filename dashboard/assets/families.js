// The map of the families: a cell for the queens in the first and the last row. Pointer and arrow keys choose a cell.

import { byId, drawn, say } from "./elements.js";

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

const map = { n: 0, cells: [], families: new Map(), here: null };

export function showFamilies({ n, families }) {
  if (n !== map.n) drawMap(n);
  map.families.clear();
  for (let i = 0; i < families.length; i += 4) {
    const [top, bottom, units, done] = families.slice(i, i + 4);
    map.families.set(top * n + bottom, { top, bottom, units, done });
  }
  // A family also counts for its mirror images.
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
  const board = drawn("g", { transform: `scale(${100 / n})` });
  board.append(...map.cells);
  picture.setAttribute("viewBox", "-14 -14 115 115");
  picture.replaceChildren(board, ...axes(n));
}

/** The numbers of columns at the edges of the map, and what they mean. */
function axes(n) {
  const columns = [...Array(n).keys()].map((index) => index + 1).filter((column) => n <= 12 || column === 1 || column % 5 === 0);
  const middle = (column) => (100 * (column - 0.5)) / n;
  return [
    ...columns.map((column) => drawn("text", { x: middle(column), y: -1.5, "text-anchor": "middle" }, column)),
    ...columns.map((column) => drawn("text", { x: -1.5, y: middle(column) + 1.3, "text-anchor": "end" }, column)),
    drawn("text", { x: 50, y: -9.5, "text-anchor": "middle" }, "column of the queen in the first row"),
    drawn("text", { x: -50, y: -9.5, "text-anchor": "middle", transform: "rotate(-90)" }, "column of the queen in the last row"),
  ];
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
  say("map-cell", where + (family
    ? `${count(family.done, "unit", "units")} of ${family.units.toLocaleString("en")} done`
    : "no units here; other families count such solutions, rotated or reflected"));
}

export function attendToMap() {
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
