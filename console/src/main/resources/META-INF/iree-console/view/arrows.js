// @ts-check
// Arrows over the lanes: from the end of an operation to the start of the one that waited for it.
import { axisColour } from "../model/colours.js";
import { releasesOf } from "../model/releases.js";

const MOST = 400; // operations whose arrows are all drawn; of a larger run, the selected one's
const LEAST_ROW = 10; // pixels
const BEND = 14;

/**
 * @param {any} pen
 * @param {{schedule: any, at: number, selected: any, past: Set<any>}} lanes
 * @param {(op: any) => {left: number, right: number, top: number, height: number} | null} barOf
 * @param {boolean} dark
 */
export function drawArrows(pen, { schedule, at, selected, past }, barOf, dark) {
  const all = schedule.operations.length <= MOST;
  const ends = selected ? [selected, ...(past.size <= MOST ? past : [])] : all ? schedule.operations : [];
  for (const op of ends) {
    const to = barOf(op);
    if (!to || to.height < LEAST_ROW) continue;
    for (const release of releasesOf(op)) {
      const from = barOf(release.from);
      if (from && from.height >= LEAST_ROW) drawArrow(pen, release, from, to, op.start <= at, axisColour(schedule.axis(release.semaphore).index, dark));
    }
  }
}

/** The last release, which lets the operation start, is drawn as a line; an earlier one as dots. */
function drawArrow(pen, { isLast }, from, to, happened, colour) {
  const [x1, y1, x2, y2] = [from.right, from.top + from.height / 2, to.left, to.top + to.height / 2];
  const level = Math.abs(y2 - y1) < 1;
  pen.globalAlpha = happened ? 1 : 0.35;
  pen.strokeStyle = pen.fillStyle = colour(0.95);
  pen.lineWidth = isLast ? 2 : 1.5;
  pen.setLineDash(isLast ? [] : [2, 3]);
  if (!level || x2 - x1 > 8) {
    const bend = Math.max(BEND, (x2 - x1) / 3);
    pen.beginPath();
    pen.moveTo(x1, y1);
    if (level) pen.lineTo(x2 - 5, y2);
    else pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 2, y2);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(x2 + 4, y2);
  pen.lineTo(x2 - 4, y2 - 4.5);
  pen.lineTo(x2 - 4, y2 + 4.5);
  pen.fill();
  pen.globalAlpha = 1;
}
