// @ts-check
// What lanes and tracks have in common: names beside a canvas over time, which scrolls and zooms, a scale, and a text at
// the pointer. Only what is in sight is drawn.
import { coloursNow, fontOf, h, penOf, roomOf, scrolling } from "./dom.js";
import { time } from "./format.js";

const BELOW = 6; // pixels below the last name

/** @typedef {{pen: any, width: number, height: number, scroll: number, x: (at: number) => number, colours: any}} Sight what is drawn on */

export class Plot {
  /**
   * @param {HTMLElement} box
   * @param {string} shown what the canvas shows
   * @param {string} scrolls the name of what scrolls
   * @param {number} axis the height of the scale
   * @param {number} apart pixels between the lines of the scale
   */
  constructor(box, shown, scrolls, axis, apart) {
    Object.assign(this, { axis, apart, from: 0, to: 1, frame: 0 });
    /** Where each lane or track is, and the height of its rows. */
    this.places = [];
    this.canvas = h("canvas.lanes-canvas", { role: "img", "aria-label": shown });
    this.names = h("div.lane-names");
    this.body = h("div.lanes-body", this.names, h("div.lanes-plot", this.canvas));
    this.scroller = h("div.lanes-scroll", scrolling(scrolls), this.body);
    this.tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
    box.replaceChildren(this.scroller, this.tip);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** Takes everything away. */
  clear() {
    this.places = [];
    this.names.replaceChildren();
    this.#setHeight(this.axis);
  }

  /** Adds a name below the others; returns where its part of the canvas begins. */
  addName(name, height) {
    const top = this.height - BELOW;
    name.style.top = `${top}px`;
    name.style.height = `${height}px`;
    this.names.append(name);
    this.#setHeight(top + height);
    return top;
  }

  #setHeight(height) {
    this.height = height + BELOW;
    this.body.style.height = `${this.height}px`;
  }

  /** Looks at a span, as far as there is time. */
  look(from, width) {
    const { first, last } = this.bounds;
    this.from = Math.max(first, Math.min(last - width, from));
    this.to = this.from + width;
    this.draw();
  }

  /** The width next to one that time has. */
  fitting(width) {
    const { first, last, closest } = this.bounds;
    return Math.max(Math.min(closest, last - first), Math.min(last - first, width));
  }

  zoom(factor, around = this.middle) {
    if (!this.bounds) return;
    const width = this.fitting((this.to - this.from) * factor);
    this.look(around - ((around - this.from) / (this.to - this.from)) * width, width);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
  }

  /** The time at the pointer. */
  timeAt(event) {
    return this.from + (event.clientX - this.canvas.getBoundingClientRect().left) / (this.perUnit || 1);
  }

  /** The place at the pointer, and the row in it; null for none. */
  placeAt(event) {
    const above = event.clientY - this.canvas.getBoundingClientRect().top;
    const y = above + this.scroller.scrollTop;
    const place = this.places.find(({ top, height }) => above >= this.axis && y >= top && y < top + height);
    return place ? { place, row: Math.floor((y - place.top - 4) / place.row) } : null;
  }

  /** Shows a text at the pointer; nothing for an empty text. */
  showTip(text, event) {
    showTip(this.tip, this.scroller, text, event);
  }

  /** Draws once before the next frame, however often it is asked. */
  draw() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.frame = 0;
    const width = roomOf(this.canvas);
    const height = Math.min(this.height, this.scroller.clientHeight);
    if (!this.bounds || width === 0 || height === 0) return;
    const pen = penOf(this.canvas, width, height);
    const scroll = this.scroller.scrollTop;
    this.perUnit = width / (this.to - this.from);
    const x = (at) => (at - this.from) * this.perUnit;
    const colours = coloursNow();
    this.places.forEach(({ top, height: own }, i) => {
      if (i % 2 > 0) return;
      pen.fillStyle = colours.stripe;
      pen.fillRect(0, top - scroll, width, own);
    });
    const sight = { pen, width, height, scroll, x, colours };
    this.#drawScale(sight);
    pen.save();
    pen.beginPath();
    pen.rect(0, this.axis, width, height);
    pen.clip();
    this.drawInside(sight);
    pen.restore();
    this.drawAbove(sight);
  }

  /** Whether a place is in sight. */
  isSeen({ top, height: own }, { scroll, height }) {
    return top + own >= scroll + this.axis && top <= scroll + height;
  }

  /** Lines at whole steps of time, with their times above the canvas. */
  #drawScale({ pen, width, height, x, colours }) {
    const { origin = 0, unit } = this.bounds; // times are shown from the origin
    const step = niceStep((this.to - this.from) / Math.max(2, width / this.apart), unit);
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.fillStyle = colours.muted;
    pen.textAlign = "center";
    pen.beginPath();
    const first = Math.ceil((this.from - origin) / step);
    for (let i = 0; i <= width && origin + (first + i) * step <= this.to; i++) { // bounded: large times swallow small steps
      const since = (first + i) * step;
      const at = Math.round(x(origin + since)) + 0.5;
      pen.moveTo(at, this.axis - 6);
      pen.lineTo(at, height);
      const label = time(unit, since);
      const half = pen.measureText(label).width / 2;
      pen.fillText(label, Math.min(width - half - 1, Math.max(half + 1, at)), 9);
    }
    pen.stroke();
  }
}

/** The room that names need, with their padding. @param {string[]} names */
export function widthOf(names) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  pen.font = `500 ${fontOf(0.85 * rem)}`;
  return `${Math.ceil(names.reduce((most, name) => Math.max(most, pen.measureText(name).width), 0) + 1.2 * rem) + 3}px`;
}

/** Shows a text at the pointer, within a box; nothing for an empty text. */
export function showTip(tip, within, text, event) {
  tip.hidden = text === "";
  tip.textContent = text;
  const box = within.getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${event.clientY - box.top + 14}px`;
}

/** 1, 2 or 5 times a power of ten; ticks are not divided. */
function niceStep(least, unit) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) ?? least;
  return unit === "ns" ? step : Math.max(1, Math.round(step));
}
