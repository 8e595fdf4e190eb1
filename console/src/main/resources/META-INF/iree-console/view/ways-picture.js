// @ts-check
// The waits of a scenario in three ways as one picture: a stroke for each way, struck through where the scheduler
// drops the wait. A table says the same in words.
import { decisionNamed } from "../model/decisions.js";
import { placeInLayers } from "../model/layers.js";
import { fill, h, restRow, scrolling, svg, table } from "./dom.js";
import { plural } from "./format.js";

const NODE = { width: 124, height: 34 };
const GAP = { x: 116, y: 30 };
const ARC = 26; // pixels that a wait rises for each layer that it passes
const APART = 5; // pixels between the strokes of a wait
const LETTERS = { node: 17, gap: 20 }; // that a node has room for, and the gap between two
const MOST = { drawn: 80, labelled: 12, listed: 200, rise: 78 }; // operations, operations, waits, pixels

const LEFT = decisionNamed("deviceWaits");
const DEFERRED = decisionNamed("deferred");

/** The waits of a run in three ways. @param {{id: string, schedule: any}[]} ways */
function waitsOf(ways) {
  const [{ schedule }] = ways;
  return schedule.operations.flatMap((op) =>
    op.waits.map((wait) => ({
      op,
      wait,
      outcomes: ways.map(({ id, schedule: its }) => ({ id, ...outcome(its.byId.get(op.id)?.given.waits?.[wait.semaphore]) })),
    })),
  );
}

function outcome(name) {
  const decision = name && decisionNamed(name);
  return decision ? { text: decision.text, dropped: decision.dropped, host: decision === DEFERRED } : { text: "never decided", dropped: false, host: false };
}

/** A text in lines of so many letters at most, as far as its words allow. */
function linesOf(text, letters) {
  return text.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= letters) return [...lines.slice(0, -1), `${last} ${word}`];
    return [...lines, word];
  }, /** @type {string[]} */ ([]));
}

export class WaysPicture {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
  }

  /** @param {{id: string, label: string, schedule: any}[]} ways */
  show(ways) {
    const waits = waitsOf(ways);
    const [{ schedule }] = ways;
    fill(
      this.box,
      h(
        "ul.legend.plain",
        { "aria-label": "Legend of the waits" },
        ways.map(({ id, label }) => h("li.key", h("span.stroke", { class: id }), label)),
        h("li.key", h("span.stroke.plain-way"), LEFT?.text),
        h("li.key", h("span.stroke.plain-way.host"), DEFERRED?.text),
        h("li.key", h("s", "wait"), "dropped, for the reason given"),
      ),
      schedule.operations.length <= MOST.drawn
        ? h("div.graph-scroll", scrolling("Waits in three ways"), this.#picture(schedule, waits))
        : h("p.note", `${plural(schedule.operations.length, "operation")}, of which ${MOST.drawn} could be drawn; the table lists the waits.`),
      this.#table(ways, waits),
    );
  }

  #picture(schedule, waits) {
    const { place, layers, rows } = placeInLayers(schedule.operations);
    const shown = waits.filter(({ wait }) => wait.producer);
    const skipped = ({ op, wait }) => place.get(op).layer - place.get(wait.producer).layer - 1;
    const isAbove = ({ op }) => place.get(op).row < rows / 2;
    const arcs = (above) => Math.min(MOST.rise, ARC * Math.max(0, ...shown.filter((each) => isAbove(each) === above).map(skipped)));
    const rise = arcs(true);
    const corner = (op) => ({ x: 8 + place.get(op).layer * (NODE.width + GAP.x), y: 24 + rise + place.get(op).row * (NODE.height + GAP.y) });
    const width = Math.max(0, 16 + layers.length * (NODE.width + GAP.x) - GAP.x);
    const height = 34 + rise + arcs(false) + rows * (NODE.height + GAP.y) - GAP.y;
    const says = schedule.operations.length <= MOST.labelled;
    const edges = shown.map((each) => {
      const port = (1 + each.op.waits.indexOf(each.wait)) / (each.op.waits.length + 1);
      return this.#edge(each, corner(each.wait.producer), corner(each.op), port, Math.min(MOST.rise, ARC * skipped(each)) * (isAbove(each) ? -1 : 1), says);
    });
    const nodes = schedule.operations.map((op) => {
      const { x, y } = corner(op);
      const label = op.label.length <= LETTERS.node ? op.label : `${op.label.slice(0, LETTERS.node - 1)}…`;
      return svg("g.way-node", { transform: `translate(${x},${y})` }, svg("title", op.label), svg("rect", { width: NODE.width, height: NODE.height, rx: 7 }), svg("text", { x: NODE.width / 2, y: 21, "text-anchor": "middle" }, label));
    });
    const dropped = waits.filter(({ outcomes }) => outcomes.some((each) => each.dropped)).length;
    return svg("svg.graph", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${plural(waits.length, "wait")} in three ways, of which ${dropped} dropped in at least one; the table below lists them` }, edges.map(({ strokes }) => strokes), nodes, edges.map(({ labels }) => labels));
  }

  /** @param {number} arc how far a wait that passes other operations goes around them, downwards */
  #edge({ outcomes }, from, to, port, arc, says) {
    const x1 = from.x + NODE.width;
    const x2 = to.x;
    const bend = Math.max(24, (x2 - x1) / 2);
    const strokes = outcomes.map(({ id, text, dropped, host }, i) => {
      const y1 = from.y + NODE.height / 2 + (i - 1) * APART;
      const y2 = to.y + NODE.height * port + (i - 1) * APART;
      const [c1, c2] = [y1 + 1.6 * arc, y2 + 1.6 * arc];
      const [x, y] = [(x1 + x2) / 2, (y1 + 3 * c1 + 3 * c2 + y2) / 8];
      return {
        y,
        elements: [
          svg("path.way-wait", { class: `${id}${dropped ? " dropped" : host ? " host" : ""}`, d: `M${x1},${y1} C${x1 + bend},${c1} ${x2 - bend},${c2} ${x2 - 3},${y2}` }, svg("title", text)),
          dropped ? svg("path.way-strike", { class: id, d: `M${x - 3},${y + 3} l6,-6` }) : svg("path.way-head", { class: id, d: `M${x2},${y2} l-5,-2.5 v5 z` }),
        ],
      };
    });
    const reasons = says ? [...new Set(outcomes.filter((each) => each.dropped).map((each) => each.text))] : [];
    const middle = Math.min(...strokes.map(({ y }) => y));
    const lines = reasons.flatMap((text) => linesOf(text, arc === 0 ? LETTERS.gap : Infinity)).reverse();
    const label = (text, i) => svg("text.way-reason", { x: (x1 + x2) / 2, y: middle - 7 - 11 * i, "text-anchor": "middle" }, text);
    return { strokes: svg("g", strokes.map(({ elements }) => elements)), labels: svg("g", lines.map(label)) };
  }

  #table(ways, waits) {
    const cell = ({ text, dropped }) => h("td", dropped ? [h("s", "wait"), " ", text] : text);
    const row = ({ op, wait, outcomes }) => {
      const differ = outcomes.some((each) => each.text !== outcomes[0].text);
      const axis = ways[0].schedule.axis(wait.semaphore);
      return h("tr", { class: differ ? "differs" : "" }, h("th", { scope: "row" }, op.label), h("td", `${axis.label} ≥ ${wait.value}`), outcomes.map(cell));
    };
    return h(
      "div.table-scroll.short.way-waits",
      scrolling("Table of waits in three ways"),
      table(
        "What becomes of each wait",
        ["Operation", "Waits for", ...ways.map(({ label }) => label)],
        h("tbody", waits.slice(0, MOST.listed).map(row), restRow(5, waits.length - MOST.listed, "wait")),
      ),
    );
  }
}
