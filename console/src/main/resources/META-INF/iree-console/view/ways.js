// @ts-check
// The same scenario ordered in three ways, side by side.
import { DataError, read } from "../data.js";
import { Schedule } from "../model/schedule.js";
import { h, numberHead, scrolling, setText, table } from "./dom.js";
import { count } from "./format.js";
import { Lanes } from "./lanes.js";
import { WaysPicture } from "./ways-picture.js";

const WAYS = [
  { id: "events", label: "Binary events", note: "One event for each place waited for; it says that this place was reached, and nothing else." },
  { id: "timelines", label: "Timeline semaphores", note: "A value implies the earlier values of its timeline." },
  { id: "frontiers", label: "Frontiers", note: "A signal also says what happened before it." },
];

const MEASURES = [
  { id: "makespan", label: "Ticks until the end" },
  { id: "records", label: "Places waited for" },
  { id: "waits", label: "Waits of the hardware" },
  { id: "freshWaits", label: "Waits without repetitions" },
  { id: "hostChecks", label: "Checks by the host" },
  { id: "heldBack", label: "Operations held back by the host" },
  { id: "pipelined", label: "Operations with the hardware before their inputs existed", more: true },
  { id: "trackingBytes", label: "Bytes of tracking, largest buffer" },
  { id: "knownOrder", label: "Pairs of known order", more: true },
  { id: "strangers", label: "Unrelated pairs ordered" },
  { id: "reusedAtOnce", label: "Memory reused at once", more: true, ifAny: true },
  { id: "reusedAfterWait", label: "Memory reused after a wait", ifAny: true },
  { id: "cancelled", label: "Operations cancelled with a rejected draft", ifAny: true },
  { id: "neverBegun", label: "Cancelled before the beginning", more: true, ifAny: true },
  { id: "wastedTicks", label: "Ticks run for nothing", ifAny: true },
  { id: "markedCancelled", label: "Cancelled operations marked by their frontier", more: true, ifAny: true },
  { id: "markedOthers", label: "Other operations marked alike", ifAny: true },
];

export class Ways {
  /** @param {HTMLElement} box @param {(delay: number) => void} changed called with a new delay */
  constructor(box, changed) {
    this.lanes = [];
    this.at = 0;
    this.output = h("output", { id: "delay-value", for: "delay" });
    this.slider = h("input", { type: "range", id: "delay", min: 0, max: 4, step: 1, oninput: () => changed(Number(this.slider.value)) });
    this.body = h("div");
    this.pictureBox = h("div.ways-picture");
    this.picture = new WaysPicture(this.pictureBox);
    box.replaceChildren(
      h("div.toolbar", h("label.field.slider", "Host delay ", this.output, this.slider), h("p.muted.hint", "Ticks until the host learns that an operation is over. Here each lane is a queue of its own.")),
      this.body,
    );
  }

  /** @param {{id: string, unit?: string, isKept?: boolean}} scenario @param {Record<string, any>} query @param {AbortSignal} signal */
  async load({ id, unit, isKept = false }, query, signal) {
    this.slider.value = String(query.delay);
    this.slider.disabled = isKept;
    setText(this.output, String(query.delay));
    try {
      const answer = await read("ireelab", `/${encodeURIComponent(id)}/ways`, query);
      if (!signal.aborted) this.#show(answer, unit);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.lanes = [];
      this.body.replaceChildren(h("p.muted", error.message));
    }
  }

  #show({ costs, runs }, unit) {
    const end = Math.max(...WAYS.map(({ id }) => Number(runs[id].finalTick)));
    this.lanes = [];
    // One scale for all, so that lengths compare.
    const ways = WAYS.map((way) => ({ ...way, schedule: new Schedule({ ...runs[way.id], unit, annotations: [], finalTick: end }) }));
    const plots = ways.map(({ label, note, schedule }) => {
      const plot = h("div.lanes.small");
      const lanes = new Lanes(plot, { select: () => {}, seek: () => {} });
      lanes.show(schedule);
      lanes.move(this.at);
      this.lanes.push(lanes);
      return h("div.way", h("h3", label), h("p.muted", note), plot);
    });
    this.picture.show(ways);
    this.body.replaceChildren(
      this.pictureBox,
      h("div.ways", plots),
      h(
        "div.table-scroll.costs",
        scrolling("Table of costs"),
        table(
          "What each way costs",
          ["Measure", ...WAYS.map(({ label }) => numberHead(label))],
          h("tbody", MEASURES.filter(({ id, ifAny }) => !ifAny || WAYS.some((way) => costs[way.id][id] > 0)).map((measure) => this.#row(measure, costs))),
        ),
      ),
    );
  }

  #row({ id, label, more }, costs) {
    const values = WAYS.map((way) => Number(costs[way.id][id]));
    const best = more ? Math.max(...values) : Math.min(...values);
    const same = values.every((each) => each === values[0]);
    return h("tr", h("th", { scope: "row" }, label), values.map((value) => h("td.number", { class: !same && value === best ? "best" : "" }, count(value))));
  }

  move(at) {
    this.at = at;
    this.lanes.forEach((each) => each.move(at));
  }
}
