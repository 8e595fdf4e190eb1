// @ts-check
// Areas over time, stacked, on a canvas.
import { coloursNow, penOf, roomOf } from "./dom.js";

const HEAD = 15; // of the labels above the areas

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{from: number, to: number}} range
 * @param {number[]} times
 * @param {{colour: string, values: number[]}[]} series the first is at the bottom
 * @param {{height: number, format: (value: number) => string, line?: {colour: string, values: number[], format: (value: number) => string}, mark?: number, most?: string}} options
 *     the line has a scale of its own; the mark is a time; the words before the largest sum
 */
export function drawAreas(canvas, range, times, series, options) {
  const width = roomOf(canvas);
  if (width === 0) return;
  const { height } = options;
  const pen = penOf(canvas, width, height);
  const colours = coloursNow();
  const sums = times.map((_, i) => series.reduce((sum, each) => sum + each.values[i], 0));
  const top = Math.max(1, ...sums);
  const x = (at) => ((at - range.from) / (range.to - range.from || 1)) * width;
  const y = (value) => height - 1 - (value / top) * (height - HEAD);
  const base = new Array(times.length).fill(0);
  for (const { colour, values } of series) {
    pen.beginPath();
    times.forEach((at, i) => pen.lineTo(x(at), y(base[i])));
    for (let i = times.length - 1; i >= 0; i--) pen.lineTo(x(times[i]), y((base[i] += values[i])));
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
  }
  pen.strokeStyle = colours.line;
  pen.beginPath();
  pen.moveTo(0, height - 0.5);
  pen.lineTo(width, height - 0.5);
  pen.stroke();
  const { line } = options;
  const fastest = Math.max(0, ...(line?.values ?? []));
  if (line && fastest > 0) {
    pen.strokeStyle = line.colour;
    pen.lineWidth = 1.5;
    pen.beginPath();
    times.forEach((at, i) => pen.lineTo(x(at), height - 1 - (line.values[i] / fastest) * (height - HEAD - 2)));
    pen.stroke();
  }
  if (options.mark !== undefined) {
    pen.fillStyle = colours.accent;
    pen.fillRect(x(options.mark) - 1, 0, 2, height);
  }
  pen.fillStyle = colours.muted;
  pen.textBaseline = "top";
  pen.textAlign = "right";
  const most = Math.max(0, ...sums);
  const labels = [most > 0 && `${options.most ?? "at most"} ${options.format(most)}`, line && fastest > 0 && `at most ${line.format(fastest)}`];
  const text = labels.filter(Boolean).join(", ");
  if (text !== "") pen.fillText(text, width - 2, 1);
}
