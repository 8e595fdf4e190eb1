// @ts-check
// Problems: a card for each root, with how work hangs on the root, the age and what to do. The watchdog finds the
// problems of the running system, the recorder those of a recording.
import { chainTo, cycleOf, namesOf, timelineNamed, waitersOf } from "../model/wait-chain.js";
import { fill, h, setText } from "./dom.js";
import { bytes, seconds, span } from "./format.js";

/** @typedef {import("../model/problems.js").Problem} Problem */

export class ProblemCards {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.shown = "";
    this.open = new Set();
    this.ages = [];
  }

  show(live) {
    const problems = live.problems ?? [];
    const all = waitersOf(live);
    const names = namesOf(live);
    const cards = problems.map((problem) => ({ problem, links: linksOf(problem, all, names) }));
    const shown = JSON.stringify(cards.map(({ problem: { since, ...rest }, links }) => [rest, links]));
    if (shown === this.shown) return problems.forEach(({ since }, i) => setText(this.ages[i], ageOf(since))); // what is selected or has the focus stays
    this.shown = shown;
    this.ages = problems.map(({ since }) => h("span.number", {}, ageOf(since)));
    this.box.hidden = problems.length === 0;
    fill(this.box, cards.map(({ problem, links }, i) => this.#card(problem, links, this.ages[i])));
  }

  #card(problem, links, age) {
    const key = `${problem.kind} ${problem.subject}`;
    const details = affected(problem, { open: this.open.has(key), ontoggle: () => this.open[details.open ? "add" : "delete"](key) });
    return card(problem, links, age, problem.chain.length > 0 && details);
  }
}

/** The problems at the end of a recording. */
export class RecordedProblemCards {
  /** @param {HTMLElement} box @param {(problem: Problem) => any} [action] makes the last line of a card */
  constructor(box, action = () => null) {
    this.box = box;
    this.action = action;
    /** @type {Problem[]} */
    this.problems = [];
  }

  /** @param {Problem[]} problems */
  show(problems) {
    this.problems = problems;
    this.box.hidden = problems.length === 0;
    fill(
      this.box,
      problems.map((problem) => card(problem, problem.links, h("span.number", {}, `for ${span(problem.seconds)}`), problem.chain.length > 0 && affected(problem), this.action(problem))),
    );
  }

  /** Brings a card into sight. @param {Problem} problem */
  look(problem) {
    const found = /** @type {HTMLElement} */ (this.box.children[this.problems.indexOf(problem)]);
    found.scrollIntoView({ block: "nearest" });
    found.focus({ preventScroll: true });
  }
}

const affected = ({ chain }, attributes = {}) => h("details", attributes, h("summary", {}, "Affected work"), h("ul.plain", {}, chain.map((line) => h("li", {}, readable(line)))));

function card({ kind, summary, remedy }, links, age, ...last) {
  return h(
    "section.card.problem",
    { "aria-label": `Problem: ${readable(summary)}`, tabindex: -1 },
    h("p.problem-head", {}, h("span.state", { "data-state": "failed" }, kind.replaceAll("-", " ")), age),
    h("p", {}, h("strong", {}, readable(summary))),
    links.length > 0 && h("ol.plain.links", { "aria-label": "How work hangs on it" }, links.map(({ text, missing, again }) => h(missing ? "li.missing" : again ? "li.again" : "li", {}, again && "back to ", text))),
    h("p", {}, h("span.muted", {}, "What to do: "), remedy),
    last,
  );
}

/** Numbers of bytes are exact where they are found; a page is read by people. */
const readable = (text) => text.replace(/\b(\d{4,}) bytes\b/g, (_, number) => bytes(number));

const ageOf = (since) => (seconds(since) > 0 ? `for ${span(seconds(since))}` : "");

/** From the work that waits to the signal that is missing, or once round a deadlock. */
function linksOf({ kind, subject }, all, names) {
  const timeline = Number(/^timeline (\d+)/.exec(subject)?.[1] ?? NaN);
  const find = { "unsignalled-fence": chainTo, deadlock: cycleOf }[kind];
  const chain = find === undefined || Number.isNaN(timeline) ? [] : find(all, timeline);
  if (chain.length === 0) return [];
  const links = chain.flatMap(({ waiter, wait }) => [{ text: titleOf(waiter) }, { text: pointOf(wait, names) }]);
  return kind === "deadlock" ? [...links, { text: "the first operation", again: true }] : links.with(-1, { ...links[links.length - 1], missing: true });
}

const titleOf = ({ kind, given }) => (kind === "call" ? `${given.program} ${given.function}` : [given.operation, given.program && `of ${given.program}`, given.function, `on ${given.queue}`].filter(Boolean).join(" "));

const pointOf = ({ timeline, value }, names) => `${timelineNamed(timeline, names)} ≥ ${value}`;
