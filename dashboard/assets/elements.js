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
  if (byId(id).textContent !== text) byId(id).textContent = text;
}

/** Shows the element with this text, or hides it if the text is empty. */
export function tell(id, text) {
  say(id, text || "");
  byId(id).hidden = !text;
}
