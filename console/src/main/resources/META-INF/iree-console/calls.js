// @ts-check
// The view of where the time of calls went: a recording of the running system, or of a file.
import { DataError, readText } from "./data.js";
import { PARTS, Trace } from "./model/trace.js";
import { fill, h, scrolling, setText } from "./view/dom.js";
import { count, plural, time } from "./view/format.js";
import { CallPanel, TableOfFunctions } from "./view/call-panels.js";
import { ProblemCards } from "./view/problem-cards.js";
import { TraceMap } from "./view/trace-map.js";
import { TraceTracks } from "./view/trace-tracks.js";

const TRACKS = [["queue", "queues"], ["thread", "threads that submit"], ["function", "functions"]];

export class Calls {
  /** @param {HTMLElement} box @param {any} page */
  constructor(box, page) {
    this.page = page;
    /** @type {Trace | null} */
    this.trace = null;
    this.sought = [];
    this.#build(box);
  }

  #build(box) {
    this.take = h("button", { id: "calls-take", onclick: () => this.load() }, "Take a recording");
    this.by = h("select", { id: "calls-by", onchange: () => this.#showTracks() }, TRACKS.map(([value, text]) => h("option", { value }, text)));
    this.text = h("input", { id: "calls-search", type: "search", placeholder: "name, function, queue, call or #operation", oninput: () => this.#search(), onkeydown: (event) => event.key === "Enter" && this.#next() });
    this.found = h("output.muted", { id: "calls-found", for: "calls-search" });
    this.about = h("p.description", { id: "calls-about" }, "");
    this.measure = h("p", { id: "calls-measure", role: "status" });
    const cards = h("div.problems", { id: "calls-problems", hidden: true });
    const tracks = h("div.lanes", { id: "calls-tracks" });
    const map = h("div.trace-map-box", { id: "calls-map" });
    const functions = h("div.table-scroll", { id: "calls-functions", ...scrolling("Table of functions") });
    const call = h("div", { id: "calls-call" });
    const key = ({ key: part, label }) => h("li.key", h("span.swatch", { "data-part": part }), label);
    const card = (title, note, ...children) => h("section.card", { "aria-label": title }, h("div.card-head", h("h2", title), note && h("span.muted", note)), children);
    box.replaceChildren(
      h("section.toolbar", { "aria-label": "Recording" }, this.take, h("label.field", "Tracks by ", this.by), h("label.field.grow", "Search ", this.text), this.found),
      this.about,
      cards,
      h(
        "div.columns",
        h(
          "div.column.wide",
          card("Operations over time", "drag to measure, Ctrl and the wheel zoom", tracks, map, this.measure, h("ul.legend.plain", { "aria-label": "Legend of the bars" }, PARTS.slice(0, 4).map(key), h("li.key", h("span.swatch.open-bar"), "not ended"), h("li.key", h("span.swatch.unknown-bar"), "ended or not: records are missing"))),
          card("By function", "each moment of a call belongs to one part", functions, h("ul.legend.plain", { "aria-label": "Legend of the parts" }, PARTS.map(key))),
        ),
        h("div.column", card("Call", "", call)),
      ),
    );
    const select = (chosen) => this.select(chosen);
    this.tracks = new TraceTracks(tracks, {
      select: (op) => this.select(op === null ? null : this.trace?.callByNumber.get(op.call) ?? null, op),
      measured: (from, to) => this.#measured(from, to),
      moved: () => this.map.move(this.tracks),
    });
    this.map = new TraceMap(map, (at) => this.tracks.look(at - (this.tracks.to - this.tracks.from) / 2, this.tracks.to - this.tracks.from));
    this.functions = new TableOfFunctions(functions, { select });
    this.call = new CallPanel(call, { lookAt: (op) => this.tracks.lookAt(op), lookAtProblem: (problem) => this.cards.look(problem) });
    this.cards = new ProblemCards(cards, (problem) => this.#showCall(problem));
  }

  /** Takes a recording, when the view is opened for the first time. */
  start() {
    if (this.trace) this.draw();
    else this.load();
  }

  /** Has the server explain what its flight recorder has now. */
  async load() {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.take.disabled = true;
    if (!this.trace) setText(this.about, "Reading the flight recorder…");
    try {
      const text = await readText("iree", "/recording/export/trace", asking.signal);
      if (asking.signal.aborted) return;
      this.page.notice("");
      this.#show(new Trace(JSON.parse(text)));
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      if (!this.trace) setText(this.about, "");
      const isMissing = error instanceof DataError && error.status === 404;
      const reason = isMissing ? "The application has no flight recorder: set iree.recorder.enabled=true. A file of “bin/iree4j export FILE --format=trace --output=FILE.json” can be dropped on this page." : error instanceof Error ? error.message : String(error);
      if (this.page.state.view === "calls") this.page.notice(reason);
      if (!(error instanceof DataError)) throw error;
    } finally {
      if (this.asking === asking) this.take.disabled = false;
    }
  }

  /** Shows a trace of a file. @param {any} given as it was parsed @throws {Error} naming what is wrong with it */
  open(given) {
    const trace = new Trace(given);
    this.asking?.abort();
    this.take.disabled = false;
    this.#show(trace);
  }

  /** @param {Trace} trace */
  #show(trace) {
    this.trace = trace;
    const open = trace.openLeftOut > 0 ? `, of which ${count(trace.openLeftOut)} had not ended` : "";
    const left = trace.leftOut > 0 ? ` ${plural(trace.leftOut, "more operation")} left out${open}.` : "";
    setText(
      this.about,
      `${trace.start === "" ? "A recording" : `Recorded from ${trace.start.slice(0, 19).replace("T", " ")} UTC on`}: ${plural(trace.operations.length, "operation")} of ${plural(trace.calls.length, "call")}${trace.operations.length > 0 ? ` over ${time("ns", trace.to - trace.from)}` : ""}.${left}${trace.caveat === "" ? "" : ` ${trace.caveat[0].toUpperCase()}${trace.caveat.slice(1)}.`}`,
    );
    this.#showTracks();
    this.map.show(trace);
    this.functions.show(trace);
    this.cards.show(trace.problems);
    this.select(null);
    this.#clearMeasure();
    this.#search();
  }

  #showTracks() {
    if (this.trace) this.tracks.show(this.trace, this.by.value);
  }

  /** @param {any} call null for none @param {any} op the operation that was picked, perhaps of no call */
  select(call, op = null) {
    if (!this.trace) return;
    const path = call ? this.trace.pathOf(call) : op ? [op] : [];
    this.tracks.select(call, new Set(path));
    this.call.show(call, path, this.trace.from, call ? this.trace.problems.filter(({ calls }) => calls.includes(call.number)) : []);
    this.page.say(call ? `call ${call.number} of ${call.function}` : "nothing selected");
  }

  /** A button that selects the first call of a problem that is in the trace; none for a problem without such a call. */
  #showCall({ calls }) {
    const call = calls.map((number) => this.trace?.callByNumber.get(number)).find((each) => each !== undefined);
    return call && h("button.quiet.small", { onclick: () => this.select(call) }, "Show the call");
  }

  #measured(from, to) {
    const { trace } = this;
    if (!trace) return;
    this.tracks.mark({ from, to });
    const { duration, operations, parts } = trace.measure(from, to);
    const times = PARTS.slice(0, 4).map(({ label }, i) => (parts[i] > 0 ? `${time("ns", parts[i])} ${label}` : "")).filter((each) => each !== "");
    fill(
      this.measure,
      h("strong", time("ns", duration)),
      `: ${plural(operations, "operation")}${times.length > 0 ? `, all together ${times.join(", ")}` : ""} `,
      h("button.quiet.small", { id: "calls-zoom", onclick: () => this.tracks.look(from, to - from) }, "Zoom to it"),
      h("button.quiet.small", { onclick: () => this.#clearMeasure() }, "Clear"),
    );
  }

  #clearMeasure() {
    this.tracks.mark(null);
    fill(this.measure);
  }

  #search() {
    const text = this.text.value.trim().toLowerCase();
    this.sought = text !== "" && this.trace ? this.trace.operations.filter((op) => Trace.matches(op, text)) : [];
    this.at = -1;
    setText(this.found, text !== "" ? `${plural(this.sought.length, "operation")}${this.sought.length > 0 ? "; Enter for the next" : ""}` : "");
    this.tracks.search(text === "" ? null : new Set(this.sought));
  }

  /** Looks at the next operation that was found. */
  #next() {
    if (this.sought.length === 0) return;
    this.at = (this.at + 1) % this.sought.length;
    const op = this.sought[this.at];
    this.tracks.lookAt(op);
    setText(this.found, `${count(this.at + 1)} of ${plural(this.sought.length, "operation")}`);
  }

  /** Draws the canvases again, for example in other colours. */
  draw() {
    this.tracks.draw();
    this.map.draw();
  }

  /** @returns {boolean} whether the key did something */
  key(event) {
    const keys = {
      "+": () => this.tracks.zoom(0.5),
      "-": () => this.tracks.zoom(2),
      ArrowLeft: () => this.tracks.pan(-0.25),
      ArrowRight: () => this.tracks.pan(0.25),
      Home: () => this.trace && this.tracks.look(this.trace.from, this.trace.to - this.trace.from),
      "/": () => this.text.focus(),
      Escape: () => {
        this.#clearMeasure();
        this.select(null);
      },
    };
    if (!keys[event.key]) return false;
    keys[event.key]();
    return true;
  }
}
