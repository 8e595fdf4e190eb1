// @ts-check
// The same scenario ordered in three ways, side by side.
import { DataError, read } from "../data.js";
import { Schedule } from "../model/schedule.js";
import { h } from "./dom.js";
import { count } from "./format.js";
import { Lanes } from "./lanes.js";

export class Ways {
  constructor(box) {
    this.box = box;
    this.lanes = [];
    this.at = 0;
  }

  /** @param {string} id @param {Record<string, any>} query */
  async load(id, query) {
    let answer;
    try {
      answer = await read("ireelab", `/${encodeURIComponent(id)}/ways`, query);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.lanes = [];
      this.box.replaceChildren(h("p.muted", {}, error.message));
      return;
    }
    const end = Math.max(...answer.ways.map((each) => each.run.finalTick));
    this.lanes = [];
    const columns = answer.ways.map((way) => {
      const plot = h("div.lanes.small");
      // One scale for all, so that lengths compare.
      const schedule = new Schedule({ ...way.run, annotations: [], finalTick: end });
      const lanes = new Lanes(plot, { select: () => {}, seek: () => {} });
      lanes.show(schedule);
      lanes.move(this.at);
      this.lanes.push(lanes);
      return h("div.way", {}, h("h3", {}, way.label), h("p.muted", {}, way.description), plot);
    });
    this.box.replaceChildren(
      h("div.ways", {}, columns),
      h(
        "div.table-scroll",
        { tabindex: "0", role: "group", "aria-label": "Table of costs" },
        h(
          "table",
          {},
          h("caption.hidden", {}, "What each way costs"),
          h("thead", {}, h("tr", {}, h("td"), answer.ways.map((way) => h("th.number", { scope: "col" }, way.label)))),
          h(
            "tbody",
            {},
            answer.measures.map(({ id: measure, label, better }) => {
              const values = answer.ways.map((way) => Number(way.costs[measure]));
              const best = better === "more" ? Math.max(...values) : Math.min(...values);
              const same = values.every((each) => each === values[0]);
              return h("tr", {}, h("th", { scope: "row" }, label), values.map((value) => h("td.number", { class: !same && value === best ? "best" : "" }, Number.isFinite(value) ? count(value) : "–")));
            }),
          ),
        ),
      ),
    );
  }

  move(at) {
    this.at = at;
    this.lanes.forEach((each) => each.move(at));
  }
}
