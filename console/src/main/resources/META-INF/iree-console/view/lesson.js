// @ts-check
// Three captioned steps that say on a run what a frontier is.
import { lessonOf } from "../model/lesson.js";
import { frontierChips } from "./chips.js";
import { byId, h } from "./dom.js";

export class Lesson {
  /** @param {(step: import("../model/lesson.js").Step, number: number) => void} go shows a step, the first one having number 1 */
  constructor(go) {
    this.go = go;
    this.list = byId("lesson-steps");
    this.steps = [];
  }

  /** @param {import("../model/schedule.js").Schedule} schedule @param {number} number the step that is shown; 0 for none */
  show(schedule, number) {
    this.steps = lessonOf(schedule);
    byId("lesson").hidden = this.steps.length === 0;
    this.list.replaceChildren(
      ...this.steps.map((step, i) =>
        h(
          "li",
          h("h3", h("button.link", { onclick: () => this.#pick(i + 1) }, `${i + 1}. ${step.title}`)),
          h("p", step.text),
          frontierChips(step.op.frontier, schedule.axis),
        ),
      ),
    );
    this.mark(number);
  }

  #pick(number) {
    this.mark(number);
    this.go(this.steps[number - 1], number);
  }

  /** Opens the card at a step; closes it for 0, and where the run has no steps. */
  mark(number) {
    const open = number > 0 && this.steps.length > 0;
    byId("lesson-card").hidden = !open;
    byId("lesson").setAttribute("aria-expanded", String(open));
    [...this.list.children].forEach((item, i) => {
      if (i + 1 === number) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
  }
}
