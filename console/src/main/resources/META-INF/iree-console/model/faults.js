// @ts-check
// Faults as the laboratory writes them: KIND:TARGET[*FACTOR][@TICK].

const FORM = /^(\w+):(.+?)(?:\*(\d+))?(?:@(\d+))?$/;
const SEPARATOR = /,(?=(?:kill|lose|slow|fail|exhaust|reject):)/i; // ids may have commas

export class Fault {
  /** @param {string} text */
  constructor(text) {
    const [, kind, target, factor, tick] = FORM.exec(text) ?? [];
    this.text = text;
    this.kind = (kind ?? "").toLowerCase();
    // Only slow hardware has a factor: of other faults it belongs to the name.
    this.target = `${target ?? ""}${factor !== undefined && this.kind !== "slow" ? `*${factor}` : ""}`;
    this.factor = Number(factor ?? 2);
    this.tick = Number(tick ?? 0);
  }

  /** Whether an operation may fail because of it, as far as the operation's own times say. */
  mayHit(schedule, op) {
    if (this.kind === "reject") return this.#mayCancel(schedule, op);
    const hardware = this.hardware(schedule);
    const its = hardware.length > 0 ? hardware.includes(op.hardware) : op.id === this.target;
    if (!its) return false;
    if (this.kind === "kill" || this.kind === "lose") return op.end < 0 || op.end >= this.tick;
    if (this.kind === "fail") return hardware.length === 0 || (op.start >= 0 && op.start <= this.tick && this.tick < op.end);
    return this.kind === "exhaust" && op.start >= this.tick;
  }

  /**
   * Whether an operation cannot end well because of it. Which of several that start at one tick finds no memory is not
   * known, nor when the host learns that a draft is wrong.
   */
  mustHit(schedule, op) {
    return !["exhaust", "reject"].includes(this.kind) && this.mayHit(schedule, op);
  }

  /** Whether an operation may stand on a draft of the verification that the fault names, and had not ended before that. */
  #mayCancel(schedule, op) {
    const verification = schedule.byId.get(this.target);
    if (!verification || (op.start >= 0 && op.end >= 0 && op.end < verification.end)) return false;
    const drafts = new Set(verification.before.map((each) => each.hardware));
    return [op, ...schedule.pastOf(op)].some((each) => drafts.has(each.hardware));
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
export const splitFaults = (list) => (list === "" ? [] : list.split(SEPARATOR));

/** @param {string} list with commas */
export const parseFaults = (list) => splitFaults(list).map((each) => new Fault(each));
