// What of the page is hard to see or to hear: texts of little contrast (WCAG 2.1, AA), things without a name.
(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parts(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const name = (element) => `${element.tagName} ${element.id || element.className.baseVal || element.className}`;
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    const box = element.getBoundingClientRect();
    if (!texts.length || !box.width || !box.height) continue;
    const style = getComputedStyle(element);
    const colour = parts(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(colour), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${name(element)} ${texts[0].data.trim()}`);
  }
  const isNamed = (element) => {
    const by = element.getAttribute("aria-labelledby");
    return element.getAttribute("aria-label") || (by && document.getElementById(by)?.textContent)
      || element.getAttribute("aria-hidden") === "true" || element.closest("[aria-hidden=true], [hidden]");
  };
  for (const element of document.querySelectorAll("svg, section, [role=region], [role=progressbar]")) {
    if (!isNamed(element)) found.push(`no name: ${name(element)}`);
  }
  for (const element of document.querySelectorAll("input")) if (!element.labels.length) found.push("no label");
  for (const element of document.querySelectorAll("img")) if (element.alt === null) found.push("no alternative");
  for (const element of document.querySelectorAll("th")) if (!element.scope) found.push("no scope");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size < ids.length) found.push("an id comes twice");
  if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");
  return found;
})()
