// @ts-check
// The frontiers of all operations at once: a row for each operation, a column for each timeline.
import { knownAt } from "./frontier-chips.js";
import { dot, fill, h, setText, table } from "./dom.js";
import { labelled, plural } from "./format.js";

const MOST = { rows: 100, columns: 24 };

export class FrontierTable {
  /** @param {HTMLElement} box @param {{select: (op: any) => void}} actions */
  constructor(box, actions) {
    this.box = box;
    this.actions = actions;
    this.rows = [];
  }

  show(schedule) {
    const operations = schedule.operations.filter((op) => op.hasFrontier);
    const shown = operations.slice(0, MOST.rows);
    const names = [...new Set(shown.flatMap((op) => op.frontier.map(([name]) => name)))];
    const columns = names.slice(0, MOST.columns).map(schedule.axis);
    this.rows = shown.map((op) => {
      const cells = columns.map((axis) => h("td.number", { axis: axis.index }));
      const own = new Set(op.signals.map(({ semaphore }) => semaphore));
      return { op, columns, cells, own, shown: "", row: h("tr", h("th", { scope: "row" }, h("button.link", { onclick: () => this.actions.select(op) }, op.label)), cells) };
    });
    const left = [operations.length > shown.length && plural(operations.length - shown.length, "more operation"), names.length > columns.length && plural(names.length - columns.length, "more timeline")].filter(Boolean);
    fill(
      this.box,
      table(
        "Frontiers now: the value of each timeline that each operation knows",
        ["Operation", ...columns.map((axis) => h("th.number", { scope: "col", axis: axis.index, title: labelled(axis.label, axis.name) }, dot(), axis.label))],
        h("tbody", this.rows.map(({ row }) => row)),
      ),
      left.length > 0 && h("p.note", `and ${left.join(" and ")}`),
    );
  }

  /** Forgets the run. */
  clear() {
    this.rows = [];
  }

  move(at) {
    for (const each of this.rows) {
      const known = knownAt(each.op, at);
      const shown = [...known].join();
      if (each.shown === shown) continue;
      each.shown = shown;
      const ended = each.op.end >= 0 && each.op.end <= at && each.op.failure === "";
      each.cells.forEach((cell, i) => {
        const { name } = each.columns[i];
        setText(cell, known.has(name) ? String(known.get(name)) : "");
        cell.classList.toggle("known", known.has(name));
        cell.classList.toggle("own", ended && each.own.has(name));
      });
    }
  }
}
