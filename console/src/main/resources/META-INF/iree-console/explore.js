// @ts-check
// The view of scenarios: picks one, has the server run it, and shows the run at any time.
import { DataError, read } from "./data.js";
import { parseFaults, splitFaults } from "./model/faults.js";
import { unpack } from "./model/packed.js";
import { isolated } from "./model/names.js";
import { MOST } from "./model/page-state.js";
import { checkRun } from "./model/run-check.js";
import { Schedule } from "./model/schedule.js";
import { byId, h, isStill, setText } from "./view/dom.js";
import { Faults, describeFault } from "./view/faults.js";
import { FrontierTable } from "./view/frontier-table.js";
import { count, plural, timeNamed } from "./view/format.js";
import { Graph } from "./view/graph.js";
import { Lanes } from "./view/lanes.js";
import { Lesson } from "./view/lesson.js";
import { MemoryPanel } from "./view/memory-panel.js";
import { OpenDialog } from "./view/open-dialog.js";
import { EventLog, OperationPanel, OperationTable, SemaphoreTable } from "./view/panels.js";
import { ProblemCards } from "./view/problem-cards.js";
import { Transport } from "./view/transport.js";
import { Ways } from "./view/ways.js";

/** Scenarios that are no part of the list, by id. */
const SPECIAL = {
  own: { id: "own", label: "Your scenario" },
  recorded: { id: "recorded", label: "What was recorded", unit: "ns", hasDepth: false, hasLanes: false },
};

const FIRST = "fork-join"; // the scenario of a page whose address names none, with the lesson

const MOST_RECORDS = 16_000; // of a scenario, the latest
const MOST_FAULTS = 16; // that the server takes
const MARKED = ["kill", "lose", "slow"]; // faults that last

export class Explore {
  /**
   * @param {{state: any, save: () => void, saveNow: () => void, say: (text: string) => void, notice: (text: string) => void}} page
   * @param {{openTrace: (trace: any) => void}} actions
   */
  constructor(page, actions) {
    this.page = page;
    this.scenarios = [];
    this.schedule = null;
    this.selected = null;
    this.opened = null; // a file or recording, instead of a scenario of the server
    this.running = null;
    this.started = false;
    const select = (op) => this.select(op);
    this.lanes = new Lanes(byId("lanes-box"), {
      select,
      seek: (at) => this.transport.seek(this.schedule?.unit === "ns" ? at : Math.round(at)),
      pickHardware: (hardware) => this.faults.pick(hardware),
    }, true);
    this.graph = new Graph(byId("graph-box"), { select });
    this.operation = new OperationPanel(byId("operation-box"), { select });
    this.semaphores = new SemaphoreTable(byId("semaphores-box"));
    this.frontiers = new FrontierTable(byId("frontiers-box"), { select });
    this.lesson = new Lesson((step, number) => this.#teach(step, number));
    this.log = new EventLog(byId("log-box"));
    this.table = new OperationTable(byId("table-box"), { select });
    this.faults = new Faults(byId("faults-box"), { inject: (fault) => this.inject(fault), undo: (fault) => this.undo(fault) });
    this.memory = new MemoryPanel(byId("memory-card"), byId("memory-box"));
    this.problems = new ProblemCards(byId("explore-problems"));
    this.ways = new Ways(byId("ways-box"), (delay) => {
      page.state.delay = delay;
      this.load();
    });
    this.transport = new Transport((at) => this.#move(at));
    this.dialog = new OpenDialog({ run: (run) => this.open(checkRun(run)), trace: (trace) => actions.openTrace(trace), scenario: (packed) => this.#openScenario(packed) });
    this.#listen();
  }

  #listen() {
    const { page } = this;
    byId("scenario").addEventListener("change", (event) => this.pick(event.target.value));
    for (const name of ["width", "depth", "lanes"]) {
      byId(name).addEventListener("input", (event) => {
        page.state[name] = Number(event.target.value);
        setText(byId(`${name}-value`), event.target.value);
        this.load();
      });
    }
    const clicks = {
      play: () => this.transport.toggle(),
      back: () => this.transport.step(-1),
      forward: () => this.transport.step(1),
      first: () => this.transport.seek(0),
      last: () => this.transport.seek(this.transport.end),
      speed: () => this.transport.faster(this.transport.speed >= 8 ? -5 : 1),
      "zoom-in": () => this.lanes.zoom(0.5),
      "zoom-out": () => this.lanes.zoom(2),
      ways: () => this.compare(),
      lesson: () => this.#toggleLesson(),
      "lesson-close": () => this.#toggleLesson(),
      open: () => this.#showDialog(),
      rerun: () => this.#rerun(),
      share: () => this.#share(),
    };
    for (const [id, action] of Object.entries(clicks)) byId(id).addEventListener("click", action);
    byId("position").addEventListener("input", (event) => {
      this.transport.pause();
      this.transport.seek(Number(event.target.value));
    });
    for (const id of ["table-card", "frontiers-card"]) byId(id).addEventListener("toggle", () => this.#showTables());
    this.transport.changed = () => this.#showTransport();
  }

  /** Reads the list of scenarios and shows the one of the page's address. */
  async start() {
    if (this.started) return;
    this.started = true;
    try {
      const list = await read("ireelab");
      this.scenarios = list.scenarios ?? list;
    } catch (error) {
      this.started = false; // for when the view is opened again
      this.#failed(error);
    }
    const groups = Map.groupBy(this.scenarios, (each) => each.group ?? "Scenarios");
    byId("scenario").replaceChildren(
      ...[...groups].map(([name, all]) => h("optgroup", { label: name }, all.map((each) => h("option", { value: each.id }, each.label ?? each.id)))),
    );
    if (this.opened) this.#showOpened();
    else if (this.scenarios.length > 0) {
      const asked = this.scenario ? "" : this.page.state.scenario;
      if (!this.scenario) Object.assign(this.page.state, this.#first);
      const { op } = this.page.state;
      await this.load(true);
      this.#sayUnknown(asked, op);
    }
  }

  /** Says what the address names and the page does not have; more important is why it has no run. */
  #sayUnknown(scenario, op) {
    if (!byId("notice").hidden) return;
    const name = (given) => `“${isolated(given)}”`;
    if (scenario !== "") this.page.notice(`The address names scenario ${name(scenario)}, which is not here: this is ${name(this.scenario.label ?? this.scenario.id)}.`);
    else if (op !== "" && this.schedule && !this.schedule.byId.has(op)) this.page.notice(`The address names operation ${name(op)}, which ${name(this.schedule.label)} does not have.`);
  }

  /** The scenario with which a page begins whose address names none. */
  get #first() {
    const first = this.scenarios.find((each) => each.id === FIRST);
    return first ? { scenario: FIRST, lesson: 1 } : { scenario: this.scenarios[0].id };
  }

  get scenario() {
    const { scenario, text, until } = this.page.state;
    if (this.opened) return null;
    if (scenario === "own") return text === "" ? null : SPECIAL.own;
    if (scenario === "recorded") return until === 0 ? null : SPECIAL.recorded;
    return this.scenarios.find((each) => each.id === scenario) ?? null;
  }

  pick(id) {
    this.#leave({ scenario: id });
    return this.load();
  }

  /** Begins with another scenario. */
  #leave(state) {
    this.opened = null;
    Object.assign(this.page.state, { tick: 0, op: "", fault: "", depth: 1, width: 1, lanes: 0, text: "", recorder: "", since: 0, until: 0, ...state });
    this.transport.pause();
    this.transport.at = 0;
  }

  /** The scenario before or after this one. */
  neighbour(step) {
    const { length } = this.scenarios;
    const now = this.scenarios.findIndex((each) => each.id === this.page.state.scenario);
    const at = now < 0 && step < 0 ? length - 1 : now + step; // before what is no part of the list is its last
    if (length > 0) this.pick(this.scenarios[(at + length) % length].id);
  }

  get faultList() {
    return splitFaults(this.page.state.fault);
  }

  /**
   * Has the server run the scenario as the page's state says.
   *
   * @param {boolean} first whether to begin at the time that the state says
   * @param {() => void} refused called when it does not
   */
  async load(first = false, refused = () => {}) {
    const { state } = this.page;
    const { scenario } = this;
    if (!scenario) return;
    try {
      await this.#run(scenario, first ? state.tick : null);
    } catch (error) {
      refused();
      if (first) this.#option(scenario, scenario.label ?? scenario.id); // what was asked for, though it is not shown
      this.#failed(error);
    }
  }

  /** @param {any} scenario @param {number | null} at where to begin; null to go on */
  async #run(scenario, at) {
    this.running?.abort();
    const { signal } = (this.running = new AbortController());
    const before = this.asked;
    // The server computes what it was asked for though nobody waits any more: the page asks for one after the other.
    this.asked = (async () => {
      await before?.catch(() => {});
      if (!signal.aborted) await this.#ask(scenario, at, signal);
    })();
    await this.asked;
  }

  async #ask(scenario, at, signal) {
    const { state } = this.page;
    const query = { width: state.width };
    if (scenario.hasDepth !== false) query.depth = state.depth;
    if (scenario.hasLanes !== false && state.lanes > 0) query.lanes = state.lanes;
    if (state.fault !== "") query.fault = state.fault;
    if (scenario === SPECIAL.own) query.text = state.text;
    if (scenario === SPECIAL.recorded) {
      Object.assign(query, { since: state.since, until: state.until });
      if (state.recorder !== "") query.recorder = state.recorder;
    }
    let run;
    try {
      run = await read("ireelab", `/${encodeURIComponent(scenario.id)}`, query);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (signal.aborted) return;
    this.page.notice("");
    // Remarks are about the scenario as it is.
    const plain = state.width === 1 && state.depth === 1 && state.lanes === 0 && state.fault === "";
    this.show(new Schedule({ ...scenario, ...run, annotations: plain ? run.annotations : [] }), at ?? this.transport.at);
    if (state.ways) await this.ways.load(scenario, { ...query, delay: state.delay }, signal);
  }

  #failed(error) {
    this.transport.pause();
    if (this.page.state.view === "explore") this.page.notice(error instanceof DataError ? error.message : String(error));
    if (!(error instanceof DataError)) throw error;
  }

  /** @param {Schedule} schedule @param {number} at */
  show(schedule, at) {
    const { state } = this.page;
    const { scenario } = this;
    this.schedule = schedule;
    this.#option(scenario, schedule.label);
    byId("rerun").hidden = !this.opened?.records;
    setText(byId("description"), schedule.description);
    this.problems.show(schedule.problems);
    const isRun = scenario !== null && !scenario.isKept; // by a scheduler that can run it otherwise
    const hasDepth = isRun && scenario.hasDepth !== false;
    const hasLanes = isRun && scenario.hasLanes !== false;
    this.#slider("width", state.width, isRun);
    this.#slider("depth", state.depth, hasDepth);
    this.#slider("lanes", state.lanes || Math.max(1, ...schedule.hardware.map((each) => schedule.lanes.filter((lane) => lane.hardware === each).length)), hasLanes);
    setText(
      byId("summary"),
      `${plural(schedule.operations.length, "operation")}, ${plural(schedule.lanes.length, "lane")}, ${timeNamed(schedule.unit, schedule.finalTick)} at the end`,
    );
    byId("ways").setAttribute("aria-pressed", String(state.ways));
    byId("ways").disabled = scenario === null;
    byId("share").disabled = scenario === null; // a file is not in the address
    byId("ways-card").hidden = !state.ways || scenario === null;
    const position = byId("position");
    position.max = String(schedule.finalTick);
    position.step = schedule.isFine ? "any" : "1";
    for (const view of [this.lanes, this.graph, this.semaphores, this.log, this.memory]) view.show(schedule);
    this.#showTables();
    byId("legend-chip").hidden = !this.lanes.hasChips;
    this.lesson.show(schedule, state.lesson);
    const faults = parseFaults(state.fault);
    this.lanes.mark(faults.filter((each) => MARKED.includes(each.kind)).flatMap((each) => each.hardware(schedule).map((hardware) => ({ hardware, fault: each }))));
    this.faults.show(schedule, faults, isRun);
    this.select(schedule.byId.get(state.op) ?? null);
    this.transport.show(schedule, at);
  }

  /** The list has an entry for what is not one of its scenarios while that is shown. */
  #option(scenario, label) {
    const list = byId("scenario");
    list.querySelector("option[data-opened]")?.remove();
    if (scenario === null || SPECIAL[scenario.id] === scenario) list.prepend(h("option", { value: scenario?.id ?? "", "data-opened": "" }, label));
    list.value = scenario?.id ?? "";
  }

  #slider(name, value, enabled) {
    const slider = byId(name);
    slider.value = String(value);
    slider.disabled = !enabled;
    setText(byId(`${name}-value`), enabled ? String(value) : "–");
  }

  /** Fills the unfolded tables. */
  #showTables() {
    if (!this.schedule) return;
    if (byId("table-card").open) this.table.show(this.schedule);
    if (!byId("frontiers-card").open) return this.frontiers.clear();
    this.frontiers.show(this.schedule);
    this.frontiers.move(this.transport.at);
  }

  /** Plays a step of the lesson; shows its end at once to those who want no motion. */
  #teach({ op, at }, number) {
    const { transport } = this;
    this.page.state.lesson = number;
    transport.pause();
    this.select(op);
    if (isStill()) return transport.seek(at);
    transport.seek(op.start - 0.01);
    transport.play(at);
  }

  #toggleLesson() {
    const { state } = this.page;
    if (this.lesson.steps.length === 0) return;
    const closes = document.activeElement === byId("lesson-close");
    state.lesson = state.lesson === 0 ? 1 : 0;
    this.lesson.mark(state.lesson);
    if (closes) byId("lesson").focus();
    this.page.save();
  }

  /** Draws the canvases again, for example in other colours. */
  draw() {
    this.lanes.draw();
    this.ways.lanes.forEach((each) => each.draw());
    this.memory.draw();
  }

  /** Everything that depends on time. */
  #move(at) {
    if (!this.schedule) return;
    this.lanes.move(at);
    this.ways.move(at);
    const { unit, isFine } = this.schedule;
    // The rest changes with events only.
    const shown = isFine ? this.schedule.eventsUntil(at) : Math.floor(at);
    const label = timeNamed(unit, at);
    setText(byId("now"), unit === "ns" ? label : `${label} of ${this.schedule.finalTick}`);
    byId("position").value = String(unit === "ns" ? at : Math.floor(at));
    if (shown === this.shown?.at && this.schedule === this.shown.schedule) return;
    this.shown = { at: shown, schedule: this.schedule };
    byId("position").setAttribute("aria-valuetext", label);
    for (const view of [this.graph, this.semaphores, this.operation, this.frontiers, this.log, this.faults, this.memory]) view.move(at);
    const passed = this.schedule.annotations.filter((each) => each.tick <= at);
    setText(byId("annotation"), passed.length === 0 ? "" : passed[passed.length - 1].text);
  }

  #showTransport() {
    const { playing, speed, at } = this.transport;
    const play = byId("play");
    setText(play, playing ? "Pause" : "Play");
    play.setAttribute("aria-label", playing ? "Pause" : "Play");
    setText(byId("speed"), `${speed}×`);
    byId("speed").setAttribute("aria-label", `Speed ${speed}×`);
    if (!playing && this.schedule && !this.opened) {
      this.page.state.tick = Math.floor(at);
      this.page.save();
    }
  }

  /** @param {any} op null for none */
  select(op) {
    this.selected = op;
    this.page.state.op = op?.id ?? "";
    if (!this.opened) this.page.save();
    const past = op ? this.schedule.pastOf(op) : new Set();
    const future = op ? this.schedule.futureOf(op) : new Set();
    this.lanes.select(op, past);
    this.graph.select(op, past, future);
    this.operation.show(this.schedule, op, this.transport.at);
  }

  /** The operation after or before the selected one. */
  walk(step) {
    const all = this.schedule?.operations ?? [];
    if (all.length === 0) return;
    const at = this.selected ? this.selected.index + step : step > 0 ? 0 : all.length - 1;
    this.select(all[(at + all.length) % all.length]);
    this.page.say(`${this.selected.label}, ${this.schedule.stateOf(this.selected, this.transport.at)}`);
  }

  inject(fault) {
    if (!this.scenario || this.faultList.includes(fault)) return;
    const before = this.page.state.fault;
    const all = [...this.faultList, fault];
    if (all.length > MOST_FAULTS || all.join().length > MOST.fault) {
      const many = all.length > MOST_FAULTS;
      this.page.notice(`A run has at most ${many ? `${MOST_FAULTS} faults` : `${count(MOST.fault)} characters of faults`}, and this one would have ${count(many ? all.length : all.join().length)}: undo one first.`);
      return;
    }
    this.page.state.fault = all.join(",");
    parseFaults(fault).forEach((each) => this.page.say(describeFault(each, this.schedule)));
    this.load(false, () => (this.page.state.fault = before));
  }

  undo(fault) {
    this.page.state.fault = this.faultList.filter((each) => fault !== null && each !== fault).join(",");
    this.load();
  }

  compare() {
    this.page.state.ways = !this.page.state.ways;
    this.page.save();
    return this.load();
  }

  async #share() {
    this.page.saveNow();
    try {
      await navigator.clipboard.writeText(location.href);
      this.page.say("The link is copied.");
      const button = byId("share");
      setText(button, "Copied");
      setTimeout(() => setText(button, "Copy link"), 1500);
    } catch {
      this.page.notice(`Copy the address yourself: ${location.href}`);
    }
  }

  async #showDialog() {
    const { scenario, text } = this.page.state;
    let own = "";
    try {
      own = scenario === "own" && !this.opened ? await unpack(text) : "";
    } catch {
      // The address was damaged; the notice says so.
    }
    this.dialog.show(own);
  }

  /** Runs the user's own scenario; what was shown stays when it is refused. */
  async #openScenario(packed) {
    const before = { ...this.page.state };
    const { opened, transport } = this;
    const { at } = transport;
    this.#leave({ scenario: "own", text: packed });
    try {
      await this.#run(SPECIAL.own, 0);
    } catch (error) {
      this.opened = opened;
      transport.at = at;
      Object.assign(this.page.state, before);
      this.page.save();
      throw error;
    }
  }

  /** Runs a recording again, on virtual devices, where it can be scaled, compared and disturbed. */
  #rerun() {
    const { recorder, since, until } = this.opened.records;
    this.#leave({ scenario: "recorded", recorder, since: Math.max(since, until - MOST_RECORDS), until });
    return this.load();
  }

  /** Shows a run that did not come from the laboratory: a file, or what Live exported. */
  open(run) {
    const schedule = new Schedule(run);
    this.#leave({ scenario: "" });
    this.opened = run;
    this.#showOpened(schedule);
  }

  #showOpened(schedule = new Schedule(this.opened)) {
    this.running?.abort();
    this.page.notice("");
    this.show(schedule, 0);
  }

  /** @returns {boolean} whether the key did something */
  key(event) {
    const { transport } = this;
    const keys = {
      " ": () => transport.toggle(),
      ArrowRight: () => transport.step(1),
      ArrowLeft: () => transport.step(-1),
      Home: () => transport.seek(0),
      End: () => transport.seek(transport.end),
      n: () => this.walk(1),
      p: () => this.walk(-1),
      Escape: () => this.schedule && this.select(null),
      "[": () => this.neighbour(-1),
      "]": () => this.neighbour(1),
      "+": () => this.lanes.zoom(0.5),
      "-": () => this.lanes.zoom(2),
      "<": () => transport.faster(-1),
      ">": () => transport.faster(1),
      h: () => this.page.say(`Faults of ${this.faults.next()}`),
      u: () => this.undo(null),
      c: () => this.compare(),
      w: () => this.#toggleLesson(),
      o: () => this.#showDialog(),
    };
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (action) action();
    else return this.faults.key(event.key);
    return true;
  }
}
