// @ts-check
// The whole time of a trace, with the part that is in sight: a click or drag moves there.
import { coloursNow, h, penOf, roomOf } from "./dom.js";

const HEIGHT = 44;
const SLICES = 600;

export class TraceMap {
  /** @param {HTMLElement} box @param {(at: number) => void} moveTo takes the middle of what is to be in sight */
  constructor(box, moveTo) {
    this.canvas = h("canvas.trace-map", { role: "img", "aria-label": "The most operations that run at once, over the whole recording" });
    box.replaceChildren(this.canvas);
    this.trace = null;
    const go = (event) => {
      if (!this.trace || event.buttons !== 1) return;
      const { left, width } = this.canvas.getBoundingClientRect();
      moveTo(this.trace.from + ((event.clientX - left) / width) * (this.trace.to - this.trace.from));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this.canvas.addEventListener("pointermove", go);
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(trace) {
    this.trace = trace;
    this.running = trace.running(SLICES);
    this.window = { from: trace.from, to: trace.to };
    this.draw();
  }

  /** @param {{from: number, to: number}} window what is in sight */
  move(window) {
    this.window = window;
    this.draw();
  }

  draw() {
    const { trace } = this;
    const width = roomOf(this.canvas);
    if (!trace || width === 0) return;
    const pen = penOf(this.canvas, width, HEIGHT);
    const colours = coloursNow();
    const top = Math.max(1, ...this.running);
    pen.fillStyle = colours["part-running"];
    this.running.forEach((count, i) => {
      const height = (count / top) * (HEIGHT - 6);
      if (count > 0) pen.fillRect((i / SLICES) * width, HEIGHT - height, Math.max(1, width / SLICES), height);
    });
    const x = (at) => ((at - trace.from) / (trace.to - trace.from)) * width;
    const left = x(this.window.from);
    const right = Math.max(left + 3, x(this.window.to));
    pen.fillStyle = colours["line-strong"];
    pen.globalAlpha = 0.25;
    pen.fillRect(0, 0, left, HEIGHT);
    pen.fillRect(right, 0, width - right, HEIGHT);
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.accent;
    pen.lineWidth = 2;
    pen.strokeRect(left + 1, 1, Math.max(1, right - left - 2), HEIGHT - 2);
  }
}
