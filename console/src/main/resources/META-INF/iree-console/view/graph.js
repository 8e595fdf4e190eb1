// @ts-check
// The graph of dependencies. Nodes are buttons: the arrow keys walk along the edges.
import { neighbourhood, placeInLayers } from "../model/layers.js";
import { h, setText, svg } from "./dom.js";
import { isolated } from "../model/names.js";
import { count, labelled, plural } from "./format.js";

const NODE = { width: 132, height: 38 };
const LETTERS = 14; // of a name that a node has room for
const SMALL_LETTERS = 13; // of its hardware, beside the state
const GAP = { least: 50, most: 96, y: 20 };
const DIP = 20; // of an edge that leads back, where operations wait for each other
const LETTER = 6; // width of one in the label of an edge, at most
const MOST = 320; // nodes that are drawn at once

export class Graph {
  /** @param {HTMLElement} box @param {{select: (op: any) => void}} actions */
  constructor(box, actions) {
    this.actions = actions;
    this.note = h("p.note", { hidden: true });
    this.scroller = h("div.graph-scroll");
    box.replaceChildren(this.note, this.scroller);
    this.schedule = null;
    this.nodes = new Map();
    this.selected = null;
  }

  show(schedule) {
    this.schedule = schedule;
    this.selected = null;
    this.#build(schedule.operations.slice(0, MOST), "first ones; those next to one are shown when it is selected");
    this.move(0);
  }

  /** @param {any[]} operations @param {string} which they are, if not all */
  #build(operations, which) {
    const { schedule } = this;
    this.note.hidden = operations.length === schedule.operations.length;
    setText(this.note, `${plural(operations.length, "operation")} of ${count(schedule.operations.length)}: the ${which}.`);
    const { place, layers, rows } = placeInLayers(operations);
    const room = (this.scroller.clientWidth - 16 - layers.length * NODE.width) / Math.max(1, layers.length - 1);
    const gap = Math.max(GAP.least, Math.min(GAP.most, room));
    const width = Math.max(0, layers.length * (NODE.width + gap) - gap) + 16; // a recorder may have no operations yet
    const leadsBack = operations.some((op) => op.waits.some(({ producer }) => place.get(producer)?.layer >= place.get(op).layer));
    const height = rows * (NODE.height + GAP.y) - GAP.y + 16 + (leadsBack ? DIP : 0);
    const corner = (op) => {
      const { layer, row } = place.get(op) ?? { layer: 0, row: 0 };
      return { x: 8 + layer * (NODE.width + gap), y: 8 + row * (NODE.height + GAP.y) };
    };
    this.nodes = new Map();
    this.edges = [];
    const edges = svg("g", { "aria-hidden": "true" });
    const nodes = svg("g");
    for (const op of operations) {
      const shown = op.waits.filter((wait) => wait.producer && place.has(wait.producer));
      // Edges that come from above arrive above.
      shown.sort((a, b) => corner(a.producer).y - corner(b.producer).y);
      shown.forEach((wait, i) => edges.append(this.#edge(wait, op, corner(wait.producer), corner(op), (i + 1) / (shown.length + 1), gap)));
      nodes.append(this.#node(op, corner(op)));
    }
    const picture = svg(
      "svg.graph",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Dependencies of ${plural(operations.length, "operation")}` },
      edges,
      nodes,
    );
    this.scroller.replaceChildren(picture);
    this.#tabStop(operations[0]);
  }

  #edge(wait, op, from, to, port, gap) {
    const axis = this.schedule.axis(wait.semaphore);
    const { index } = axis;
    const way = to.x <= from.x ? wayBack(from, to) : wayOn(from, to, port, gap);
    const path = svg("path.edge", { axis: index, d: way.path });
    const head = svg("path.edge-head", { axis: index, d: way.head });
    const label = svg(
      "text.edge-label",
      { axis: index, ...way.label, "text-anchor": "middle" },
      shortened(axis, wait.value, Math.floor((gap - 6) / LETTER)),
      svg("title", `${labelled(axis.label, axis.name)} ≥ ${wait.value}`),
    );
    this.edges.push({ wait, op, elements: [path, head, label] });
    return svg("g", path, head, label);
  }

  #node(op, { x, y }) {
    const index = this.schedule.semaphoreByName.get(op.signals[0]?.semaphore)?.index ?? op.index;
    const state = svg("text.node-state", { x: NODE.width - 8, y: 30, "text-anchor": "end" }, "");
    const title = [op.label, op.id].find((each) => each.length <= LETTERS) ?? cut(op.label, LETTERS);
    const hardware = cut(op.hardwareLabel, SMALL_LETTERS);
    const node = svg(
      "g.node",
      {
        axis: index,
        transform: `translate(${x},${y})`,
        role: "button",
        tabindex: "-1",
        "aria-pressed": "false",
        onclick: () => this.actions.select(op),
        onkeydown: (event) => this.#key(event, op),
      },
      svg("rect.node-back", { width: NODE.width, height: NODE.height, rx: 7 }),
      svg("rect.node-box", { width: NODE.width, height: NODE.height, rx: 7 }),
      svg("rect.node-strip", { x: 0, y: 6, width: 4, height: NODE.height - 12, rx: 2 }),
      svg("text.node-name", { x: 12, y: 16 }, title),
      " ", // the visible text, in words, begins the accessible name
      svg("text.node-hardware", { x: 12, y: 30 }, hardware),
      " ",
      state,
    );
    const name = [...new Set([op.label, op.id, op.hardwareLabel])].filter((each) => each !== title && each !== hardware).map((each) => `, ${each}`).join("");
    this.nodes.set(op, { node, state, shown: "", title, hardware, name });
    // Within the button, the title would be a part of the visible text, which the accessible name has to contain.
    return svg("g", { role: "none" }, svg("title", labelled(op.label, op.id)), node);
  }

  #key(event, op) {
    const target = { ArrowRight: op.after[0], ArrowLeft: op.before[0], ArrowDown: this.#beside(op, 1), ArrowUp: this.#beside(op, -1) }[event.key];
    if (event.key === "Enter" || event.key === " ") this.actions.select(op);
    else if (target && this.nodes.has(target)) {
      this.actions.select(target);
      this.nodes.get(target).node.focus();
    } else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #beside(op, step) {
    const all = [...this.nodes.keys()];
    return all[all.indexOf(op) + step];
  }

  #tabStop(op) {
    for (const [each, { node }] of this.nodes) node.setAttribute("tabindex", each === op ? "0" : "-1");
  }

  select(op, past, future) {
    this.selected = op;
    if (op && !this.nodes.has(op)) {
      this.#build(neighbourhood(op, MOST), "nearest to the selected one");
      this.move(this.at ?? 0);
    }
    for (const [each, { node }] of this.nodes) {
      const near = op === null || each === op || past.has(each) || future.has(each);
      node.setAttribute("aria-pressed", String(each === op));
      node.classList.toggle("dim", !near);
    }
    for (const { wait, op: to, elements } of this.edges) {
      const near = op === null || ((to === op || past.has(to)) && (past.has(wait.producer) || wait.producer === op));
      elements.forEach((element) => {
        element.classList.toggle("dim", !near);
        element.classList.toggle("near", op !== null && near);
      });
    }
    if (op) {
      this.#tabStop(op);
      const { node } = this.nodes.get(op) ?? {};
      const box = node?.getBoundingClientRect();
      const own = this.scroller.getBoundingClientRect();
      if (box && (box.left < own.left || box.right > own.right)) this.scroller.scrollLeft += box.left - own.left - own.width / 2;
      if (box && (box.top < own.top || box.bottom > own.bottom)) this.scroller.scrollTop += box.top - own.top - own.height / 2;
    }
  }

  move(at) {
    this.at = at;
    const { schedule } = this;
    for (const [op, each] of this.nodes) {
      const state = schedule.stateOf(op, at);
      if (each.shown === state) continue;
      each.shown = state;
      each.node.setAttribute("data-state", state);
      each.node.setAttribute("aria-label", `${each.title} ${each.hardware}, ${state}${each.name}`);
      each.state.textContent = { waiting: "", "waiting or ready": "?", ready: "ready", running: "▶", done: "✓", failed: "✕" }[state];
    }
    for (const { wait, elements } of this.edges) {
      const met = wait.producer.end >= 0 && wait.producer.end <= at && wait.producer.failure === "";
      elements.forEach((element) => element.classList.toggle("met", met));
    }
  }
}

/** From the right side of a node to the left side of a node of a later layer. */
function wayOn(from, to, port, gap) {
  const [x1, y1, y2] = [from.x + NODE.width, from.y + NODE.height / 2, to.y + NODE.height * port];
  const bend = Math.max(24, (to.x - x1) / 2);
  // Between two layers; of an edge that passes others, before the last one, where it is level.
  const passes = to.x - x1 > gap + 1;
  return {
    path: `M${x1},${y1} C${x1 + bend},${y1} ${to.x - bend},${y2} ${to.x - 5},${y2}`,
    head: `M${to.x},${y2} l-7,-4 v8 z`,
    label: { x: to.x - gap / 2, y: (passes ? y2 : (y1 + y2) / 2) - 5 },
  };
}

/** From below a node to below a node of the same or an earlier layer. */
function wayBack(from, to) {
  const [x1, x2] = [from.x + (NODE.width * 2) / 3, to.x + NODE.width / 3];
  const [y1, y2] = [from.y + NODE.height, to.y + NODE.height];
  return {
    path: `M${x1},${y1} C${x1},${y1 + DIP} ${x2},${y2 + DIP} ${x2},${y2 + 5}`,
    head: `M${x2},${y2} l-4,7 h8 z`,
    label: { x: (from.x + NODE.width + to.x) / 2, y: (y1 + y2) / 2 + DIP },
  };
}

/** A name in so many letters, with its direction. */
const cut = (name, letters) => (name.length <= letters ? name : isolated(`${name.replaceAll(/[\u2068\u2069]/g, "").slice(0, letters - 1)}…`));

/** What an operation waits for, in that many letters: the end of a name tells most, as of numbered timelines. */
function shortened({ label, name }, value, room) {
  const end = ` ≥ ${value}`;
  const left = Math.max(2, room - end.length);
  return `${[label, name].find((each) => each.length <= left) ?? `…${name.slice(1 - left)}`}${end}`;
}
