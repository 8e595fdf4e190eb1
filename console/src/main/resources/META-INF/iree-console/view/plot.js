// @ts-check
// What lanes and tracks have in common: names beside a canvas over time, which scrolls, a scale, and a text at the pointer.
import { h } from "./dom.js";
import { time } from "./format.js";

/**
 * Fills a box.
 *
 * @param {HTMLElement} box
 * @param {string} shown what the canvas shows
 * @param {string} scrolls the name of what scrolls, which the keyboard must reach
 */
export function plotIn(box, shown, scrolls) {
  const canvas = h("canvas.lanes-canvas", { role: "img", "aria-label": shown });
  const names = h("div.lane-names");
  const body = h("div.lanes-body", {}, names, h("div.lanes-plot", {}, canvas));
  const scroller = h("div.lanes-scroll", { tabindex: "0", role: "group", "aria-label": scrolls }, body);
  const tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
  box.replaceChildren(scroller, tip);
  canvas.addEventListener("pointerleave", () => (tip.hidden = true));
  return { canvas, names, body, scroller, tip };
}

/** Puts a name beside its part of the canvas. */
export function addName(names, name, top, height) {
  name.style.top = `${top}px`;
  name.style.height = `${height}px`;
  names.append(name);
}

/** The room that names need. @param {string[]} names */
export const widthOf = (names) => `${1.3 + 0.46 * Math.max(0, ...names.map((name) => name.length))}rem`;

/** Shows a text at the pointer; nothing for an empty text. */
export function showTip({ tip, scroller }, text, event) {
  tip.hidden = text === "";
  if (text === "") return;
  tip.textContent = text;
  const box = scroller.getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${event.clientY - box.top + 14}px`;
}

/**
 * Draws lines at whole steps of time, with their times above the canvas.
 *
 * @param {any} pen
 * @param {{from: number, to: number, origin?: number, unit: string}} span what is in sight; times are shown from the origin
 * @param {{width: number, height: number, axis: number, apart: number}} place the height of the scale, and pixels between lines
 * @param {(at: number) => number} x
 * @param {any} colours
 */
export function drawScale(pen, { from, to, origin = 0, unit }, { width, height, axis, apart }, x, colours) {
  const step = niceStep((to - from) / Math.max(2, width / apart), unit);
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.fillStyle = colours.muted;
  pen.textAlign = "center";
  pen.beginPath();
  const first = Math.ceil((from - origin) / step);
  for (let i = 0; i <= width && origin + (first + i) * step <= to; i++) { // bounded: large times swallow small steps
    const since = (first + i) * step;
    const at = Math.round(x(origin + since)) + 0.5;
    pen.moveTo(at, axis - 6);
    pen.lineTo(at, height);
    const label = time(unit, since);
    const half = pen.measureText(label).width / 2;
    pen.fillText(label, Math.min(width - half - 1, Math.max(half + 1, at)), 9);
  }
  pen.stroke();
}

/** 1, 2 or 5 times a power of ten; ticks are not divided. */
function niceStep(least, unit) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) ?? least;
  return unit === "ns" ? step : Math.max(1, Math.round(step));
}
