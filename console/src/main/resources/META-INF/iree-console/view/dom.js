// @ts-check
// Elements from names, properties and children. Text is always text, never markup.
import { hueOf } from "../model/colours.js";
import { count, plural } from "./format.js";

// As registered colours, they can be read in the theme that is shown.
const COLOURS = ["line", "line-strong", "text", "muted", "bad", "bad-soft", "warn", "warn-soft", "accent", "stripe", "block-reserved", "block-dying", "block-reusable", "block-fresh", "part-unknown", "part-waiting", "part-memory", "part-queued", "part-running"];
for (const name of COLOURS) CSS.registerProperty({ name: `--${name}`, syntax: "<color>", inherits: true, initialValue: "transparent" });

/** @param {string} id @returns {any} */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`there is no element '${id}'`);
  return found;
};

/**
 * @param {string} name with classes, as in `td.number`
 * @param {...any} parts attributes, if the first is an object of them: `on…` are listeners, `axis` is the number of the
 *     axis whose colour --axis is, and false, null and undefined are left out; then children: elements, texts, or arrays
 *     of them, without null and false
 * @returns {any}
 */
export const h = (name, ...parts) => complete((tag) => document.createElement(tag), name, parts);

/** The same for SVG. @returns {any} */
export const svg = (name, ...parts) => complete((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag), name, parts);

function complete(make, name, parts) {
  const [tag, ...classes] = name.split(".");
  const element = make(tag);
  if (tag === "button") element.type = "button";
  const [attributes, ...children] = parts[0]?.constructor === Object ? parts : [{}, ...parts];
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

/** A dot in the colour of an axis. */
export const dot = () => h("span.dot", { "aria-hidden": "true" });

/** What scrolls: the keyboard has to reach it. */
export const scrolling = (label) => ({ tabindex: "0", role: "group", "aria-label": label });

/** The head of a column of numbers. */
export const numberHead = (text) => h("th.number", { scope: "col" }, text);

/** A table. @param {string} caption for readers of screens @param {any[]} heads texts, or cells @param {...any} parts */
export const table = (caption, heads, ...parts) =>
  h("table", h("caption.hidden", caption), h("thead", h("tr", heads.map((each) => (each instanceof Element ? each : h("th", { scope: "col" }, each))))), parts);

/** Says how many are left out of a list; false for none. @param {string} name of the element */
export const rest = (name, left, word = "", many = undefined) => left > 0 && h(name, `and ${word === "" ? `${count(left)} more` : plural(left, `more ${word}`, many)}`);

/** The same in a table. */
export const restRow = (columns, left, word = "") => left > 0 && h("tr", h("td", { colspan: columns }, rest("span.muted", left, word)));

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

/** The colours of the style sheet that canvases use, by name. @returns {Record<string, string>} */
export const coloursNow = () => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`)]));
};

/** The width that the box of a canvas leaves to it; 0 while it is not shown. */
export const roomOf = (canvas) => canvas.parentElement?.clientWidth ?? 0;

/** The font of canvases, in a size of so many pixels. */
export const fontOf = (size) => `${size}px ${getComputedStyle(document.documentElement).fontFamily}`;

/** Makes a canvas so large, in device pixels; returns its pen, in CSS pixels. */
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
  pen.font = fontOf(12);
  pen.textBaseline = "middle";
  return pen;
}
