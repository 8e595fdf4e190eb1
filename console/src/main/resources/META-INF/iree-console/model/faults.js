// @ts-check
// Faults as the laboratory writes them: KIND:TARGET[*FACTOR][@TICK].

const FORM = /^(\w+):([^@]+?)(?:\*(\d+))?(?:@(\d+))?$/;

export class Fault {
  /** @param {string} text */
  constructor(text) {
    const [, kind, target, factor, tick] = FORM.exec(text) ?? [];
    this.text = text;
    this.kind = kind ?? "";
    this.target = target ?? "";
    this.factor = Number(factor ?? 2);
    this.tick = Number(tick ?? 0);
  }

  /** Whether it can hit an operation. */
  isFor(schedule, op) {
    return op.id === this.target || this.hardware(schedule).includes(op.hardware);
  }

  /** The hardware that it hits; none when it hits one operation. */
  hardware(schedule) {
    const { machineOf } = schedule;
    const own = machineOf.has(this.target) ? this.target : (schedule.byId.get(this.target)?.hardware ?? null);
    const all = [...machineOf.keys()];
    if (this.kind === "kill") {
      const machine = own === null ? this.target : machineOf.get(own);
      return all.filter((each) => machineOf.get(each) === machine);
    }
    if (machineOf.has(this.target)) return [this.target];
    if (this.kind === "lose" && own !== null) return [own];
    return own === null ? all.filter((each) => machineOf.get(each) === this.target) : [];
  }
}

/** @param {string} list with commas */
export const parseFaults = (list) => (list === "" ? [] : list.split(",").map((each) => new Fault(each)));
