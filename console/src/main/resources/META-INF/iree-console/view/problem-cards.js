// @ts-check
// What the watchdog found: a card for each root, with how work hangs on it, its age and what to do.
import { chainTo, namesOf, timelineNamed, waitersOf } from "../model/wait-chain.js";
import { fill, h } from "./dom.js";
import { seconds, span } from "./format.js";

export class ProblemCards {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.shown = "";
    this.open = new Set();
  }

  show(live) {
    const problems = live.problems ?? [];
    const all = waitersOf(live);
    const names = namesOf(live);
    const cards = problems.map((problem) => ({ problem, links: linksOf(problem, all, names) }));
    const shown = JSON.stringify(cards.map(({ problem: { since, ...rest }, links }) => [rest, links, span(seconds(since))]));
    if (shown === this.shown) return; // what is selected or unfolded stays
    this.shown = shown;
    this.box.hidden = problems.length === 0;
    fill(this.box, cards.map(({ problem, links }) => this.#card(problem, links)));
  }

  #card({ kind, subject, summary, since, chain, remedy }, links) {
    const key = `${kind} ${subject}`;
    const details = h("details", { open: this.open.has(key), ontoggle: () => this.open[details.open ? "add" : "delete"](key) }, h("summary", {}, "Affected work"), h("ul.plain", {}, chain.map((line) => h("li", {}, line))));
    return h(
      "section.card.problem",
      { "aria-label": `Problem: ${summary}` },
      h("p.problem-head", {}, h("span.state", { "data-state": "failed" }, kind.replaceAll("-", " ")), h("span.number", {}, seconds(since) > 0 && `for ${span(seconds(since))}`)),
      h("p", {}, h("strong", {}, summary)),
      links.length > 0 && h("ol.plain.links", { "aria-label": "How work hangs on it" }, links.map(({ text, missing }) => h(missing ? "li.missing" : "li", {}, text))),
      h("p", {}, h("span.muted", {}, "What to do: "), remedy),
      chain.length > 0 && details,
    );
  }
}

/** From the work that waits to the signal that is missing. */
function linksOf({ kind, subject }, all, names) {
  const timeline = Number(/^timeline (\d+)/.exec(subject)?.[1] ?? NaN);
  if (kind !== "unsignalled-fence" || Number.isNaN(timeline)) return [];
  const chain = chainTo(all, timeline);
  const links = chain.flatMap(({ waiter, wait }, i) => [{ text: titleOf(waiter) }, i < chain.length - 1 && { text: pointOf(wait, names) }].filter(Boolean));
  return chain.length === 0 ? [] : [...links, { text: pointOf(chain[chain.length - 1].wait, names), missing: true }];
}

const titleOf = ({ kind, given }) => (kind === "call" ? `${given.program} ${given.function}` : [given.operation, given.program && `of ${given.program}`, given.function, `on ${given.queue}`].filter(Boolean).join(" "));

const pointOf = ({ timeline, value }, names) => `${timelineNamed(timeline, names)} ≥ ${value}`;
