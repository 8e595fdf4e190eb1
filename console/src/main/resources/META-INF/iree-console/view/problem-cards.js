// @ts-check
// Problems: a card for each root, with how work hangs on the root, the age and what to do.
import { fill, h, setText } from "./dom.js";
import { readable, span } from "./format.js";

/** @typedef {import("../model/problems.js").Problem} Problem */

export class ProblemCards {
  /** @param {HTMLElement} box @param {(problem: Problem) => any} [action] makes the last line of a card */
  constructor(box, action = () => null) {
    this.box = box;
    this.action = action;
    /** @type {Problem[]} */
    this.problems = [];
    this.open = new Set();
    this.ages = [];
  }

  /** @param {Problem[]} problems */
  show(problems) {
    this.problems = problems;
    this.box.hidden = problems.length === 0;
    this.ages = problems.map(() => h("span.number"));
    fill(this.box, problems.map((problem, i) => this.#card(problem, this.ages[i])));
    this.#showAges();
  }

  /** Shows problems again: what is selected or has the focus stays while they are the same. @param {Problem[]} problems */
  update(problems) {
    const known = (all) => JSON.stringify(all, (key, value) => (key === "seconds" ? 0 : value));
    if (known(problems) !== known(this.problems)) return this.show(problems);
    this.problems = problems;
    this.#showAges();
  }

  #showAges() {
    this.problems.forEach(({ seconds }, i) => setText(this.ages[i], seconds > 0 ? `for ${span(seconds)}` : ""));
  }

  #card(problem, age) {
    const { kind, subject, summary, remedy, links, chain } = problem;
    const key = `${kind} ${subject || summary}`;
    const details = h("details", { open: this.open.has(key), ontoggle: () => this.open[details.open ? "add" : "delete"](key) }, h("summary", "Affected work"), h("ul.plain", chain.map((line) => h("li", readable(line)))));
    return h(
      "section.card.problem",
      { "aria-label": `Problem: ${readable(summary)}`, tabindex: -1 },
      h("p.problem-head", h("span.state", { "data-state": "failed" }, kind.replaceAll("-", " ")), age),
      h("p", h("strong", readable(summary))),
      links.length > 0 && h("ol.plain.links", { "aria-label": "How work hangs on it" }, links.map(({ text, missing, again }) => h(missing ? "li.missing" : again ? "li.again" : "li", again && "back to ", text))),
      h("p", h("span.muted", "What to do: "), remedy),
      chain.length > 0 && details,
      this.action(problem),
    );
  }

  /** Brings a card into sight. @param {Problem} problem */
  look(problem) {
    const found = /** @type {HTMLElement} */ (this.box.children[this.problems.indexOf(problem)]);
    found.scrollIntoView({ block: "nearest" });
    found.focus({ preventScroll: true });
  }
}
