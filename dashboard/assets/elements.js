// Elements of the page, found and made; text is set as text.

export const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

/** An element of a picture. */
export function drawn(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** An element with a text. */
export function written(name, text, className) {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** Sets the text of an element that screen readers announce. An unchanged text is not set again. */
export function say(id, text) {
  if (byId(id).textContent !== text) byId(id).replaceChildren(...linked(text));
}

/** The numbers behind the word "unit", or of a list behind "units". */
const UNITS = /(?<=\bunit )\d+|(?<=\bunits (?:\d+, )*)\d+/g;

/** The text in nodes: each number of a unit is a link to its page, where the page has a path for that. */
export function linked(text) {
  const path = document.body.dataset.unitPath;
  if (!path) return [text];
  const nodes = [];
  let end = 0;
  for (const { 0: number, index } of text.matchAll(UNITS)) {
    const link = written("a", number);
    link.href = path + number;
    nodes.push(text.slice(end, index), link);
    end = index + number.length;
  }
  return [...nodes, text.slice(end)];
}

/** Shows the element with this text, or hides it if the text is empty. */
export function tell(id, text) {
  say(id, text || "");
  byId(id).hidden = !text;
}
