// @ts-check
// Elements from names, properties and children. Text is always text, never markup.
import { hueOf } from "../model/colours.js";

// As registered colours, they can be read in the theme that is shown.
for (const name of ["line", "text", "muted", "bad", "bad-soft", "warn", "warn-soft", "accent", "card", "stripe", "block-reserved", "block-dying", "block-reusable", "block-fresh", "line-strong", "part-unknown", "part-waiting", "part-memory", "part-queued", "part-running", "part-host"]) {
  CSS.registerProperty({ name: `--${name}`, syntax: "<color>", inherits: true, initialValue: "transparent" });
}

/** @param {string} id @returns {any} */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`there is no element '${id}'`);
  return found;
};

/**
 * @param {string} name with classes, as in `td.number`
 * @param {Record<string, any>} [attributes] `on…` are listeners; `axis` is the number of the axis whose colour --axis is;
 *     false, null and undefined are left out
 * @param {...any} children elements, texts, or arrays of them; null and false are left out
 * @returns {any}
 */
export function h(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return complete(document.createElement(tag), classes, attributes, children);
}

/** The same for SVG. @returns {any} */
export function svg(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return complete(document.createElementNS("http://www.w3.org/2000/svg", tag), classes, attributes, children);
}

function complete(element, classes, attributes, children) {
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "axis") {
      element.classList.add("hued");
      element.style.setProperty("--hue", hueOf(value));
    } else if (key === "class") element.setAttribute("class", [...classes, value].join(" "));
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

const present = (children) => children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);

/** Replaces the children. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

/** Replaces the children, unless they are the same text: what is selected or read aloud stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Whether the page is dark now. */
export const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Whether the reader wants no motion. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A colour or size of the style sheet. */
export const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Makes a canvas as large as its box, in device pixels; returns its pen, in CSS pixels. */
export function penOf(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
