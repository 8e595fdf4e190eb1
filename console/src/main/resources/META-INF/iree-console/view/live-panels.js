// @ts-check
// Panels of the live view.
import { axisColour } from "../model/colours.js";
import { DECISIONS } from "../model/decisions.js";
import { machineName } from "../model/machines.js";
import { namesOf, timelineNamed } from "../model/wait-chain.js";
import { frontierChips } from "./chips.js";
import { drawAreas } from "./chart.js";
import { fill, h, numberHead, scrolling, setText, table } from "./dom.js";
import { count, plural, seconds, span } from "./format.js";
import { queueChip } from "./waiting.js";

/** Axes that have no label but their name. */
const axesOf = (indexOf) => (name) => ({ name, label: name, index: indexOf(name) });

/** A row for each queue: depth over time, decisions, frontier. */
export class QueuesPanel {
  constructor(box) {
    this.box = box;
    this.rows = new Map();
    /** A box for each machine, whose name is shown once there are several. */
    this.machines = new Map();
  }

  show(live, indexOf, history) {
    for (const queue of live.queues) {
      if (!this.rows.has(queue.name)) this.#add(queue.name, indexOf(queue.name), this.#machine(queue.machine ?? 0, live.machine));
      const row = this.rows.get(queue.name);
      const now = history.latest?.queues.get(queue.name);
      setText(row.numbers, `${plural(now?.inFlight ?? queue.inFlight, "operation")} in flight at once, ${count(now?.pending ?? queue.pending)} pending, ${Math.round(now?.rate ?? 0)} /s`);
      const lately = queue.failed - (history.oldest(queue.name)?.failed ?? queue.failed);
      setText(row.failed, queue.failed === 0 ? "" : lately > 0 ? `${count(lately)} failed lately, ${count(queue.failed)} in all` : `${count(queue.failed)} failed in all, none lately`);
      row.failed.className = lately > 0 ? "bad" : "muted";
      const total = DECISIONS.reduce((sum, { counter }) => sum + queue.decisions[counter], 0);
      row.parts.forEach((part, i) => {
        const { counter, text } = DECISIONS[i];
        const share = total === 0 ? 0 : queue.decisions[counter] / total;
        part.style.flexGrow = String(share);
        part.title = `${count(queue.decisions[counter])} ${text}`;
      });
      row.bar.setAttribute("aria-label", `Waits: ${DECISIONS.map(({ counter, text }) => `${queue.decisions[counter]} ${text}`).join(", ")}`);
      const held = seconds(queue.heldBack);
      setText(row.waits, total === 0 ? "no waits yet" : `${plural(total, "wait")}, ${Math.round((100 * (total - queue.decisions.deferred - queue.decisions.deviceWaits)) / total)} % free${held > 0 ? `; held back ${span(held)}, summed over operations` : ""}`);
      const frontier = live.frontiers.queues.find((each) => each.queue === queue.name);
      const text = JSON.stringify(frontier?.entries ?? []);
      if (frontier && row.frontierText !== text) {
        row.frontierText = text;
        row.frontier.replaceChildren(frontierChips(frontier.entries.map((each) => [each.queue, each.epoch]), axesOf(indexOf), frontier.tainted));
        row.frontier.title = frontier.entries.map((each) => `${each.axis}: ${each.epoch}, completed ${each.completed}`).join("\n");
      }
    }
  }

  #machine(index, own) {
    if (!this.machines.has(index)) {
      const box = h("div.machine", h("h3", index === own ? `${machineName(index)}, this node` : machineName(index)));
      this.machines.set(index, box);
      this.box.append(box);
      this.box.classList.toggle("several", this.machines.size > 1);
    }
    return this.machines.get(index);
  }

  #add(name, index, machine) {
    const canvas = h("canvas.chart", { role: "img", "aria-label": `${name}: not drawn yet` });
    const parts = DECISIONS.map((_, i) => h(`span.part.decision-${i}`));
    const row = {
      canvas,
      index,
      parts,
      numbers: h("span.muted"),
      failed: h("span.bad"),
      bar: h("div.decisions", { role: "img" }, parts),
      waits: h("span.muted"),
      frontier: h("span"),
      frontierText: "",
    };
    this.rows.set(name, row);
    machine.append(
      h(
        "div.queue",
        { axis: index },
        h("div.queue-head", queueChip(name, () => index), row.numbers, row.failed),
        h("div.chart-box", canvas),
        h("div.queue-foot", row.bar, row.waits, h("span.muted", "runs after"), row.frontier),
      ),
    );
    if (this.rows.size === 1) {
      this.box.prepend(h("p.legend", DECISIONS.map(({ text }, i) => h("span.key", h(`span.swatch.decision-${i}`), text))));
    }
  }

  draw(range, times, samples, dark) {
    for (const [name, row] of this.rows) {
      const values = (of) => samples.map((each) => of(each.queues.get(name) ?? { inFlight: 0, pending: 0 }));
      const colour = axisColour(row.index, dark);
      drawAreas(
        row.canvas,
        range,
        times,
        [
          { colour: colour(0.75), values: values((each) => each.inFlight) },
          { colour: colour(0.28), values: values((each) => each.pending) },
        ],
        {
          height: 60,
          format: (value) => `${count(Math.round(value))}, peaks of both added`, // at different times, perhaps
          line: { colour: colour(1), values: samples.map((each) => each.queues.get(name)?.rate ?? 0), format: (value) => `${count(Math.round(value))} /s` },
        },
      );
      const last = samples[samples.length - 1]?.queues.get(name);
      row.canvas.setAttribute("aria-label", `${name}: ${last?.inFlight ?? 0} in flight, ${last?.pending ?? 0} pending`);
    }
  }
}

/** A table of programs. */
export class ProgramsPanel {
  constructor(box) {
    this.body = h("tbody");
    box.append(h("div.table-scroll", scrolling("Table of programs"), table("Programs", ["Program", "State", "Calls", "Devices"], this.body)));
  }

  show(live, program) {
    this.body.replaceChildren(
      ...live.modules
        .filter((each) => program === "" || each.name === program)
        .flatMap((each) => each.versions.map((version) => this.#row(each.name, version))),
    );
  }

  #row(name, version) {
    const loading = version.step !== "" && version.progress < 1;
    return h(
      "tr",
      h("th", { scope: "row" }, name, h("span.muted", ` ${version.version}`)),
      h(
        "td",
        h("span.state", { "data-state": version.state.toLowerCase() }, version.state.toLowerCase()),
        loading && [h("progress", { max: 1, value: version.progress, "aria-label": `Loading ${name}` }), h("span.muted", ` ${version.step}, ${Math.round(100 * version.progress)} %`)],
        version.failure && h("p.bad", version.failure),
      ),
      h("td.number", `${version.activeCalls}${version.contexts > 0 ? ` / ${plural(version.contexts, "context")}` : ""}`),
      h("td", version.devices.join(", ")),
    );
  }
}

/** A table of functions: how long calls took, as far as there were calls. */
export class CallTimesPanel {
  constructor(box) {
    this.body = h("tbody");
    const heads = ["Function", ...["Calls", "p50", "p99"].map(numberHead)];
    box.append(h("div.table-scroll", scrolling("Table of functions"), table("Functions", heads, this.body)));
  }

  show(live, program) {
    const called = live.modules
      .filter((each) => program === "" || each.name === program)
      .flatMap((each) => each.versions.flatMap((version) => version.functions.map(({ name, calls }) => ({ name: `${each.name}.${name}`, version: each.versions.length > 1 ? ` ${version.version}` : "", calls }))))
      .filter(({ calls }) => calls.ended > 0);
    fill(this.body, called.length === 0 ? h("tr", h("td.muted", { colspan: 4 }, "No calls have ended.")) : called.map((each) => this.#row(each)));
  }

  #row({ name, version, calls: { ended, failed, measured, median, p99, slowest } }) {
    const time = (duration) => span(seconds(duration));
    // Of few calls there is no 99th percentile: the slowest says as much.
    const slow = measured === 0 ? "–" : p99 === null ? h("span.muted", `slowest ${time(slowest)}`) : time(p99);
    return h(
      "tr",
      h("th", { scope: "row" }, h("bdi", name), h("span.muted", version)),
      h("td.number", count(ended), h("br"), h("span.muted", `${count(measured)} measured`), failed > 0 && [h("br"), h("span.bad", `${count(failed)} failed`)]),
      h("td.number", measured === 0 ? "–" : time(median)),
      h("td.number", slow),
    );
  }
}

/** Taint windows, and the timelines of the application. */
export class TaintPanel {
  constructor(box) {
    this.sentence = h("p.muted");
    this.list = h("ul.plain.windows");
    this.timelines = h("ul.plain.windows");
    box.replaceChildren(this.sentence, this.list, h("h3", "Timelines of the application"), this.timelines);
  }

  show(live, indexOf) {
    const { opened, recovered, windows } = live.taint;
    const names = namesOf(live);
    setText(this.sentence, opened === 0 ? "None so far." : `${opened} opened, ${recovered} recovered.`);
    this.list.replaceChildren(
      ...windows
        .slice(-8)
        .reverse()
        .map((each) => h("li", h("span.chip", { class: each.recovered ? "" : "warning" }, timelineNamed(each.timeline, names)), ` ${each.watermark + 1} to ${each.reached} `, h("span.muted", `${each.cause}, ${each.recovered ? "recovered" : "open"}`))),
    );
    const { timelines } = live.frontiers;
    const failures = new Map(live.timelines.timelines.map((each) => [each.timeline, each.failure]));
    this.timelines.replaceChildren(
      ...(timelines.length === 0
        ? [h("li.muted", "None are open.")]
        : timelines.slice(0, 30).map((each) => h("li", `${timelineNamed(each.timeline, names)} at `, h("span.number", each.value), " ", frontierChips(each.entries.map((entry) => [entry.queue, entry.epoch]), axesOf(indexOf), each.tainted), failures.get(each.timeline) ? h("span.bad", ` ${failures.get(each.timeline)}`) : null))),
    );
  }
}

export class DevicesPanel {
  constructor(box) {
    this.list = h("ul.plain.devices");
    box.replaceChildren(this.list);
  }

  show(live) {
    const { task } = live;
    const text = JSON.stringify([live.devices, task.workers, task.sleepingWorkers, task.liveProcesses]);
    if (text === this.text) return;
    this.text = text;
    this.list.replaceChildren(
      ...live.devices.map((each) =>
        h("li", h("span.state", { "data-state": each.failure ? "failed" : "ready" }, each.failure ? "lost" : "works"), " ", h("b", each.name), h("span.muted", ` ${each.driver}, ${plural(each.queues, "queue")}${each.machine === live.machine ? "" : `, ${machineName(each.machine)}`}`), h("div.muted", each.failure ?? each.description)),
      ),
      h("li", h("b", plural(task.workers, "worker")), h("span.muted", `, ${task.sleepingWorkers} asleep; ${task.liveProcesses} live ${task.liveProcesses === 1 ? "process" : "processes"}`)),
    );
  }
}

/** Events of programs and devices, the latest first. */
export class EventsPanel {
  constructor(box) {
    this.events = [];
    this.list = h("ol.log", { reversed: true });
    box.append(h("div.log-scroll", scrolling("Log of events"), this.list));
  }

  /** The latest; null for none. */
  get last() {
    return this.events[this.events.length - 1] ?? null;
  }

  clear() {
    this.events = [];
    this.shown = undefined;
  }

  add(events) {
    if (events.length === 0) return;
    this.events = [...this.events, ...events].slice(-256);
    this.shown = undefined;
  }

  show(program) {
    if (this.shown === program) return;
    this.shown = program;
    const all = this.events.filter((each) => program === "" || each.subject === program || each.subject.startsWith(`${program}:`));
    this.list.replaceChildren(
      ...(all.length === 0 ? [h("li.muted", "None so far.")] : []),
      ...all
        .slice(-100)
        .reverse()
        .map((each) => h("li", h("span.when", each.time.slice(11, 19)), h("span", h("b", each.subject), ` ${each.message}`))),
    );
  }
}
