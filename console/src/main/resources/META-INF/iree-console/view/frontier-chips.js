// @ts-check
// Frontiers on the lanes: what each operation knows is written in its bar, and flies there from the bars of the
// operations that released it.
import { axisColour } from "../model/colours.js";
import { releasesOf } from "../model/releases.js";
import { fontOf, isStill } from "./dom.js";

const FLIGHT = 750; // milliseconds that an entry takes from one bar to another
const MOST_FLIGHTS = 60; // releases at once
const MOST_STEP = 1.5; // ticks; more is a jump, after which nothing flies
const CHIP = { height: 14, dot: 6, gap: 4, padding: 4, least: 30 };
let smallFont; // read once: a run has many entries
const small = () => (smallFont ??= fontOf(10.5));

/** @typedef {{name: string, word: string, epoch: number, left: number, width: number}} Entry with its place in a bar; a dot has no word */
/** @typedef {{left: number, right: number, top: number, height: number}} Bar */

/** What an operation knows at a time: nothing before it starts; its own signals only once it has ended. */
export function knownAt(op, at) {
  if (op.start < 0 || op.start > at) return new Map();
  const known = new Map(op.frontier);
  if (op.end >= 0 && op.end <= at && op.failure === "") return known;
  const signalled = new Set(op.signals.map(({ semaphore }) => semaphore));
  signalled.forEach((each) => known.delete(each));
  // An own signal replaces an epoch that came from a predecessor.
  for (const [name, epoch] of op.before.flatMap((each) => each.frontier)) if (signalled.has(name)) known.set(name, Math.max(known.get(name) ?? 0, epoch));
  return known;
}

export class FrontierChips {
  constructor() {
    /** @type {{release: import("../model/releases.js").Release, began: number}[]} */
    this.flights = [];
    this.at = 0;
  }

  show(schedule) {
    this.schedule = schedule;
    this.flights = [];
    this.at = 0;
  }

  /** Begins the flights to all operations that start after the time shown until now. */
  move(at) {
    const { schedule } = this;
    const from = this.at;
    this.at = at;
    if (!schedule || schedule.isFine || at < from || at - from > MOST_STEP) {
      this.flights = [];
      return;
    }
    if (isStill()) return;
    const started = schedule.events.slice(schedule.eventsUntil(from), schedule.eventsUntil(at)).filter(({ kind }) => kind === "start");
    const releases = started.flatMap(({ op }) => releasesOf(op));
    const began = performance.now();
    if (this.flights.length + releases.length <= MOST_FLIGHTS) this.flights.push(...releases.map((release) => ({ release, began })));
  }

  /** Ends the flights that are over. @returns {boolean} whether others are under way */
  land() {
    const now = performance.now();
    this.flights = this.flights.filter(({ began }) => now - began < FLIGHT);
    return this.flights.length > 0;
  }

  /** The entries of a bar: with labels or, where these have no room, with ids; else as dots, as many as fit. @returns {Entry[]} */
  #layOut(pen, op, { left, right }) {
    const names = [...new Set([...op.frontier.map(([name]) => name), ...op.signals.map(({ semaphore }) => semaphore)])];
    const known = knownAt(op, this.at);
    // As wide as its last text, so that nothing moves when it changes.
    const last = new Map(op.frontier);
    pen.font = small();
    const room = right - left - 8;
    const wordings = room < names.length * CHIP.least ? [] : [(name) => this.schedule.axis(name).label, (name) => name].map((wording) =>
      names.map((name) => ({ word: wording(name), width: CHIP.dot + 3 + 2 * CHIP.padding + pen.measureText(`${wording(name)}\u200a:\u200a${last.get(name) ?? 0}`).width })),
    );
    const chips = wordings.find((all) => all.reduce((sum, { width }) => sum + width + CHIP.gap, 0) <= room);
    let x = left + 5;
    const entries = [];
    names.forEach((name, i) => {
      const { word, width } = chips?.[i] ?? { word: "", width: CHIP.dot + 2 };
      if (x + width <= right - 3 && known.has(name)) entries.push({ name, word, epoch: known.get(name), left: x, width });
      x += width + (chips ? CHIP.gap : 2);
    });
    return entries;
  }

  /** Writes the entries of an operation, except those that have not arrived. @param {Bar} bar */
  drawIn(pen, op, bar, dark, text) {
    const { font } = pen;
    const coming = this.flights.filter(({ release }) => release.to === op);
    const flies = ({ name }) => coming.some(({ release }) => release.from.frontier.some(([each]) => each === name));
    for (const entry of this.#layOut(pen, op, bar)) if (!flies(entry)) this.#draw(pen, entry, this.#middle(bar), dark, text);
    pen.font = font;
  }

  #middle({ top, height }) {
    return top + height - CHIP.height / 2 - 5;
  }

  #draw(pen, { name, word, epoch, left, width }, middle, dark, text) {
    const colour = axisColour(this.schedule.axis(name).index, dark);
    if (word) {
      pen.fillStyle = colour(dark ? 0.32 : 0.2);
      pen.beginPath();
      pen.roundRect(left, middle - CHIP.height / 2, width, CHIP.height, 4);
      pen.fill();
    }
    pen.fillStyle = colour(1);
    pen.beginPath();
    pen.arc(left + (word ? CHIP.padding : 0) + CHIP.dot / 2, middle, CHIP.dot / 2, 0, 7);
    pen.fill();
    if (!word) return;
    pen.fillStyle = text;
    pen.font = small();
    pen.textAlign = "left";
    pen.fillText(`${word}\u200a:\u200a${epoch}`, left + CHIP.padding + CHIP.dot + 3, middle + 0.5);
  }

  /** Draws what is in the air, above all bars. @param {(op: any) => Bar | null} barOf */
  drawFlights(pen, barOf, dark, text) {
    const { font } = pen;
    const now = performance.now();
    for (const { release, began } of this.flights) {
      const from = barOf(release.from);
      const to = barOf(release.to);
      if (!from || !to) continue;
      const progress = Math.min(1, (now - began) / FLIGHT);
      const eased = progress < 0.5 ? 2 * progress * progress : 1 - 2 * (1 - progress) ** 2;
      const landing = new Map(this.#layOut(pen, release.to, to).map((each) => [each.name, each]));
      for (const entry of this.#layOut(pen, release.from, from)) {
        const target = landing.get(entry.name);
        if (!target) continue;
        const [x, y] = curve(eased, [entry.left, this.#middle(from)], [from.right, from.top + from.height / 2], [to.left, to.top + to.height / 2], [target.left, this.#middle(to)]);
        this.#draw(pen, { ...entry, left: x }, y, dark, text);
      }
    }
    pen.font = font;
  }
}

/** A point of a cubic curve. */
function curve(t, ...points) {
  const weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
  return [0, 1].map((axis) => weights.reduce((sum, weight, i) => sum + weight * points[i][axis], 0));
}
