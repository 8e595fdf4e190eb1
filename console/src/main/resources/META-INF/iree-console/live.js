// @ts-check
// The view of the running system. Polls only while it is in sight, so that it costs nothing otherwise.
import { DataError, read, readText } from "./data.js";
import { axisColour } from "./model/colours.js";
import { hasGeneration } from "./model/generation.js";
import { History } from "./model/history.js";
import { problemsOf } from "./model/problems.js";
import { snapshotRun } from "./model/snapshot.js";
import { Schedule } from "./model/schedule.js";
import { awaitedMemory } from "./model/wait-chain.js";
import { blockLife } from "./view/block-life.js";
import { drawAreas } from "./view/chart.js";
import { fill, h, isDark, setText } from "./view/dom.js";
import { bytes, count, plural, seconds, span } from "./view/format.js";
import { GenerationPanel } from "./view/generation-panel.js";
import { DevicesPanel, EventsPanel, CallTimesPanel, ProgramsPanel, QueuesPanel, TaintPanel } from "./view/live-panels.js";
import { MemoryMapView, legendOfBlocks } from "./view/memory-map.js";
import { ProblemCards } from "./view/problem-cards.js";
import { Waiting } from "./view/waiting.js";

const SPAN = 120; // seconds that charts cover
const INTERVALS = [0.5, 1, 2, 5];
const RETRY = 5; // seconds after a failure
const ASK_AGAIN = 30; // polls, after a failure to learn whether there is text generation
const EXPORT = "Open in Explore";
const BRIEFLY = 9; // colour of memory that was in use between two answers

export class Live {
  /**
   * @param {HTMLElement} box
   * @param {any} page
   * @param {{open: (run: any) => void}} actions
   */
  constructor(box, page, actions) {
    this.page = page;
    this.actions = actions;
    this.history = new History();
    this.cursor = 0;
    this.interval = 1;
    this.paused = false;
    this.started = false;
    this.latest = null;
    this.indices = new Map();
    this.polls = 0;
    this.hasGeneration = null; // not known
    this.asksGeneration = 0; // from this poll on
    this.#build(box);
    document.addEventListener("visibilitychange", () => this.#schedule(0));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  #build(box) {
    this.pauseButton = h("button", { id: "live-pause", onclick: () => this.toggle() }, "Pause");
    this.program = h("select", { id: "live-program", onchange: (event) => this.#filter(event.target.value) }, h("option", { value: "" }, "all"));
    const interval = h(
      "select",
      { id: "live-interval", onchange: (event) => (this.interval = Number(event.target.value)) },
      INTERVALS.map((each) => h("option", { value: each, selected: each === 1 }, `${each} s`)),
    );
    this.exportButton = h("button.quiet", { id: "live-export", onclick: () => this.exportRun() }, EXPORT);
    this.age = h("span.muted", { id: "live-age" });
    this.tiles = h("dl.tiles", { id: "live-tiles" });
    const part = (id, title, note, ...children) => {
      const body = h("div", { id: `live-${id}` }, children);
      return { body, card: h("section.card", { "aria-labelledby": `live-${id}-heading` }, h("div.card-head", h("h2", { id: `live-${id}-heading` }, title), note && h("span.muted", note)), body) };
    };
    const waiting = part("waiting", "What waits", "and who would signal it");
    const queues = part("queues", "Queues", `in flight and pending as areas, completed per second as a line, over ${SPAN / 60} minutes`);
    const generation = part("generation", "Text generation", "sequences, and the pages of their keys and values");
    generation.card.hidden = true;
    const memory = part("memory", "Memory", "by program over time, and block by block");
    const programs = part("programs", "Programs", "");
    const functions = part("functions", "Functions", "calls of the last minute, the latest 1,024 at most");
    const taint = part("taint", "Taint windows", "timelines that were signalled from outside");
    const devices = part("devices", "Devices and workers", "");
    const events = part("events", "Events", "");
    const problems = h("div.problems", { id: "live-problems", hidden: true });
    this.problems = new ProblemCards(problems);
    this.memoryBox = memory.body;
    this.memoryViews = new Map();
    this.waiting = new Waiting(waiting.body);
    this.queues = new QueuesPanel(queues.body);
    this.generation = new GenerationPanel(generation.body);
    this.generationCard = generation.card;
    this.programs = new ProgramsPanel(programs.body);
    this.functions = new CallTimesPanel(functions.body);
    this.taint = new TaintPanel(taint.body);
    this.devices = new DevicesPanel(devices.body);
    this.events = new EventsPanel(events.body);
    box.replaceChildren(
      h(
        "section.toolbar",
        { "aria-label": "Live" },
        this.pauseButton,
        h("label.field", "Program ", this.program),
        h("label.field", "Every ", interval),
        this.exportButton,
        this.age,
      ),
      problems,
      this.tiles,
      h("div.columns", h("div.column.wide", waiting.card, queues.card, generation.card, memory.card), h("div.column", programs.card, functions.card, devices.card, taint.card, events.card)),
    );
  }

  start() {
    this.started = true;
    this.#schedule(0);
  }

  stop() {
    this.started = false;
    clearTimeout(this.timer);
    this.asking?.abort();
  }

  toggle() {
    this.paused = !this.paused;
    setText(this.pauseButton, this.paused ? "Continue" : "Pause");
    this.page.say(this.paused ? "Paused" : "Continued");
    this.#schedule(0);
  }

  #schedule(delay) {
    clearTimeout(this.timer);
    if (this.started && !this.paused && document.visibilityState === "visible") {
      this.timer = setTimeout(() => this.#poll(), delay * 1000);
    }
  }

  async #poll() {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const began = performance.now();
    try {
      const live = await this.#ask(asking.signal);
      if (asking.signal.aborted) return;
      this.polls++;
      if (this.isUnanswered && this.page.state.view === "live") this.page.notice("");
      this.isUnanswered = false;
      this.cursor = live.events.cursor;
      this.history.add(live);
      this.events.add(live.events.events);
      this.latest = live;
      this.answered = performance.now() - began;
      this.#show();
      await this.#showGeneration(asking.signal);
      this.#schedule(this.interval);
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return;
      // Browsers may ask for a password each time.
      const denied = error instanceof DataError && error.isDenied;
      setText(this.age, denied ? "no answer; again when you return to this page" : `no answer; again in ${RETRY} s`);
      if (!denied) this.#schedule(RETRY);
      this.isUnanswered = true;
      this.#failed(error);
    }
  }

  /** What is new. Events begin with the last one that is known: if that is another now, so is the server. */
  async #ask(signal) {
    const { last } = this.events;
    const live = await read("iree", "/live", { since: Math.max(0, this.cursor - 1), ...(this.latest && { peaks: this.latest.peaks.cursor }) }, signal);
    if (last === null) return live;
    const { cursor, events } = live.events;
    const others = events.filter((each) => each.id > last.id);
    const isSame = events.length > 0 && (events[0].id > last.id || events[0].time === last.time);
    if (isSame) return { ...live, events: { cursor, events: others } };
    this.history = new History();
    this.events.clear();
    this.hasGeneration = null;
    return read("iree", "/live", { since: 0 }, signal);
  }

  /** Most applications have no text generation: one answer says so, and nothing more is asked. */
  async #showGeneration(signal) {
    if (this.hasGeneration === false || this.polls < this.asksGeneration) return;
    try {
      this.hasGeneration ??= hasGeneration(await read("iree", "", {}, signal));
      this.generationCard.hidden = !this.hasGeneration;
      if (!this.hasGeneration) return;
      this.generators = await read("iree", "/generation", {}, signal);
      this.generation.show(this.generators, this.page.state.program);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.asksGeneration = this.polls + (this.hasGeneration ? 0 : ASK_AGAIN);
    }
  }

  /** Each queue keeps its colour. */
  #indexOf = (queue) => {
    if (!this.indices.has(queue)) this.indices.set(queue, this.indices.size);
    return this.indices.get(queue);
  };

  #filter(program) {
    this.page.state.program = program;
    this.page.save();
    if (this.latest) this.#show();
    if (this.generators) this.generation.show(this.generators, program);
  }

  #show() {
    const live = this.latest;
    const { program } = this.page.state;
    live.queues.forEach((queue) => this.#indexOf(queue.name));
    this.#showPrograms(live, program);
    setText(this.age, `${live.time.slice(11, 19)} UTC, answered in ${span(this.answered / 1000)}`);
    this.#showTiles(live);
    this.problems.update(problemsOf(live.problems.map((each) => ({ ...each, age: seconds(each.since) * 1e9 }))));
    this.waiting.show(live, this.#indexOf, program);
    this.queues.show(live, this.#indexOf, this.history);
    this.programs.show(live, program);
    this.functions.show(live, program);
    this.taint.show(live, this.#indexOf);
    this.devices.show(live);
    this.events.show(program);
    this.draw();
  }

  #showPrograms(live, program) {
    const names = live.modules.map((each) => each.name);
    if (names.join() !== this.names) {
      this.names = names.join();
      this.program.replaceChildren(h("option", { value: "" }, "all"), ...names.map((name) => h("option", { value: name }, name)));
    }
    this.program.value = names.includes(program) ? program : "";
  }

  #showTiles(live) {
    const sum = (list, of) => list.reduce((total, each) => total + of(each), 0);
    const latest = this.history.latest;
    const rate = latest ? [...latest.queues.values()].reduce((total, each) => total + each.rate, 0) : 0;
    const versions = live.modules.map((each) => each.versions[0]?.state);
    const lost = live.devices.filter((each) => each.failure).length;
    const { peaks, task } = live;
    // Queues have their peaks at different times: no sum of them was ever true.
    const most = (of) => Math.max(0, ...peaks.queues.map(of));
    const atOnce = (now, peak, of = count) => [of(Math.max(now, peak)), `at once, ${of(now)} now`];
    const isShort = live.timelines.operations.some((each) => each.forMemory) || live.timelines.calls.some((each) => each.state === "FOR_MEMORY");
    const busy = Math.max(0, task.workers - task.sleepingWorkers);
    const tiles = [
      ["Calls in flight", atOnce(live.activeCalls, peaks.calls)],
      ["Operations in flight", atOnce(sum(live.queues, (each) => each.inFlight), most((each) => each.inFlight))],
      ["Pending", atOnce(live.timelines.waiting, most((each) => each.pending)), live.timelines.waiting > 0 ? "warn" : ""],
      ["Completed", `${rate >= 100 ? count(Math.round(rate)) : rate.toFixed(rate >= 10 ? 0 : 1)} /s`],
      ["Memory in use", atOnce(sum(live.pools, (each) => each.live), Math.max(0, ...peaks.memory.map((each) => each.live)), bytes), isShort ? "bad" : ""],
      ["Programs ready", `${versions.filter((each) => each === "READY").length} of ${versions.length}`, versions.includes("FAILED") ? "bad" : ""],
      ["Devices", lost > 0 ? `${lost} of ${live.devices.length} lost` : plural(live.devices.length, "device"), lost > 0 ? "bad" : ""],
      ["Workers busy", [`${Math.max(busy, peaks.busyWorkers)} of ${task.workers}`, `at once, ${busy} now`]],
    ];
    this.tiles.title = `“At once” is the most at once since the previous answer: since ${peaks.since.slice(11, 19)} UTC. Of several queues or devices, it is the most of any of them, or their sum now if that is more.`;
    if (this.tiles.childElementCount !== tiles.length) {
      this.tiles.replaceChildren(...tiles.map(([name]) => h("div.tile", h("dt", name), h("dd"), h("dd.now"))));
    }
    tiles.forEach(([, given, mood = ""], i) => {
      const [value, now = ""] = [given].flat();
      const tile = /** @type {HTMLElement} */ (this.tiles.children[i]);
      tile.dataset.mood = String(mood);
      setText(tile.children[1], value);
      setText(tile.children[2], now);
    });
  }

  /** Draws the canvases; nothing while another view is shown. */
  draw() {
    if (!this.latest || this.page.state.view !== "live") return;
    const range = this.history.range(SPAN);
    const samples = this.history.samples.filter((each) => each.at >= range.from - 10);
    const times = samples.map((each) => each.at);
    const dark = isDark();
    this.queues.draw(range, times, samples, dark);
    for (const pool of this.latest.pools) this.#drawMemory(pool, range, times, samples, dark);
    this.generation.draw();
  }

  #drawMemory(pool, range, times, samples, dark) {
    let view = this.memoryViews.get(pool.device);
    if (!view) {
      const life = h("div.life", { "aria-live": "polite" });
      view = {
        chart: h("canvas.chart", { role: "img" }),
        legend: h("p.legend"),
        facts: h("p.muted"),
        awaited: h("p.bad"),
        map: new MemoryMapView(pool.device, (block, slab) => this.#lifeOf(life, block, slab)),
      };
      this.memoryViews.set(pool.device, view);
      this.memoryBox.append(
        h("h3", pool.device),
        view.facts,
        view.awaited,
        h("div.chart-box", view.chart),
        view.legend,
        view.map.box,
        legendOfBlocks(),
        life,
      );
    }
    const limited = pool.budget < 2 ** 53;
    setText(
      view.facts,
      `${bytes(pool.live)} in use, ${bytes(pool.cached)} kept for reuse, at most ${bytes(pool.peak)} in use so far${limited ? `, limit ${bytes(pool.budget)}` : ""}${pool.waiters > 0 ? `; ${count(pool.waiters)} to be admitted, or in line for memory` : ""}`,
    );
    const awaited = awaitedMemory(this.latest, pool.device).map((each) => `${plural(each.count, "operation")} for ${each.bytes > 0 ? bytes(each.bytes) : "memory"}${each.pool === "" ? "" : ` of pool “${each.pool}”`}`);
    setText(view.awaited, awaited.length > 0 ? `Waits, of the listed operations: ${awaited.join("; ")}.` : "");
    const names = [...new Set(samples.flatMap((each) => [...(each.memory.get(pool.device)?.keys() ?? [])]))];
    const programIndex = (name) => (name === "no program" ? 8 : names.indexOf(name) + 3);
    const briefly = samples.map((each) => each.others.get(pool.device) ?? 0);
    const most = Math.max(0, ...samples.map((each, i) => [...(each.memory.get(pool.device)?.values() ?? [])].reduce((sum, live) => sum + live, briefly[i])));
    const series = names.map((name) => ({ colour: axisColour(programIndex(name), dark)(0.6), values: samples.map((each) => each.memory.get(pool.device)?.get(name) ?? 0) }));
    drawAreas(view.chart, range, times, [...series, { colour: axisColour(BRIEFLY, dark)(0.35), values: briefly }], { height: 90, format: bytes });
    view.chart.setAttribute("aria-label", `Memory in use on ${pool.device} over ${SPAN} seconds, at most ${bytes(most)} at once, now ${bytes(pool.live)}`);
    view.legend.replaceChildren(
      ...names.map((name) => {
        const consumer = pool.consumers.find((each) => (each.name === "" ? "no program" : each.name) === name);
        return h("span.key", { axis: programIndex(name) }, h("span.swatch.axis"), `${name} ${bytes(consumer?.live ?? 0)}${consumer?.quota ? ` of ${bytes(consumer.quota)}` : ""}`);
      }),
      ...(briefly.some((each) => each > 0) ? [h("span.key", { axis: BRIEFLY }, h("span.swatch.axis"), "more at once, between two answers")] : []),
    );
    view.map.draw(this.latest.memory.find((each) => each.device === pool.device));
  }

  /** Shows what was recorded as a run; without a recorder, what was polled. */
  async exportRun() {
    if (this.exportButton.ariaBusy === "true") return;
    this.exportButton.ariaBusy = "true";
    setText(this.exportButton, "Opening…");
    this.page.say("Opening…");
    this.page.notice("");
    try {
      this.actions.open(await this.#run());
    } catch (error) {
      this.#failed(error);
    } finally {
      this.exportButton.ariaBusy = "false";
      setText(this.exportButton, EXPORT);
    }
  }

  async #run() {
    const { latest } = this; // none before the first answer
    const live = latest ?? (await read("iree", "/live", { since: 0 }));
    if (!latest) this.history.add(live);
    return live.recording ? this.#recording() : snapshotRun(live, this.history);
  }

  /** Who had the bytes of a block: only the flight recorder knows. */
  async #lifeOf(box, block, slab) {
    if (!this.latest.recording) {
      fill(box, h("p.muted", "Who had these bytes before, and why they could be used again, is known with a flight recorder (iree.recorder.enabled)."));
      return;
    }
    try {
      const schedule = new Schedule(await this.#recording());
      const users = schedule.memory.filter((each) => each.slab === slab.number && each.offset < block.offset + block.length && block.offset < each.offset + each.length);
      const show = (user) => fill(box, blockLife(schedule, user, bytes, show));
      if (users.length > 0) show(users[users.length - 1]);
      else fill(box, h("p.muted", `The flight recorder has no use of the ${bytes(block.length)} at ${bytes(block.offset)} of slab ${slab.number}.`));
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error) {
    if (this.page.state.view === "live") this.page.notice(error instanceof Error ? error.message : String(error));
    if (!(error instanceof DataError)) throw error;
  }

  async #recording() {
    return JSON.parse(await readText("iree", "/recording/export/run"));
  }

  /** @returns {boolean} whether the key did something */
  key(event) {
    if (event.key === " ") this.toggle();
    else return false;
    return true;
  }
}
