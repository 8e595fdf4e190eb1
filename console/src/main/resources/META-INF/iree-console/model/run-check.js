// @ts-check
// Checks a run from a file before it is shown: whatever is in it, the page says what is wrong with it and stays usable.
import { ValuesText } from "./values.js";

const MOST = { operations: 100_000, lanes: 4_096, entries: 2_000_000, annotations: 10_000, memory: 200_000, text: 10_000 };
const LATEST = Number.MAX_SAFE_INTEGER;

/**
 * @param {any} run
 * @throws {Error} naming what is wrong
 */
export function checkRun(run) {
  if (typeof run !== "object" || run === null || Array.isArray(run)) throw new Error("it is not an object");
  list(run, "ops", MOST.operations, 1);
  list(run, "annotations", MOST.annotations).forEach((each, i) => time(each?.tick, `tick of annotation ${i + 1}`));
  list(run, "violations", MOST.annotations);
  list(run, "collateral", MOST.operations);
  if (list(run, "memory", MOST.memory).length > 0 && run.isRecording) throw new Error("memory of a recording is not read from files");
  run.memory?.forEach((each, i) => {
    time(each?.tick, `tick of memory event ${i + 1}`);
    ["slab", "offset"].forEach((key) => time(each[key], `'${key}' of memory event ${i + 1}`));
    if (!Number.isSafeInteger(each.units)) throw new Error(`'units' of memory event ${i + 1} is not a whole number`);
    values(each.frontier ?? {}, `memory event ${i + 1}`);
  });
  texts(run, ["id", "label", "description"]);
  time(run.finalTick, "'finalTick'");
  list(run, "queues", MOST.operations).forEach((each, i) => {
    object(each, `queue ${i + 1}`);
    list(each, "ops", MOST.operations);
  });
  const lanes = list(run, "hardware", MOST.lanes).reduce((sum, each, i) => {
    object(each, `hardware ${i + 1}`);
    texts(each, ["id", "label"], " of hardware");
    return sum + whole(each?.lanes ?? 1, "'lanes' of hardware", MOST.lanes);
  }, 0);
  if (lanes > MOST.lanes) throw new Error(`it has ${lanes} lanes, more than ${MOST.lanes}`);
  const ids = new Set();
  const semaphores = Object.values(run.sems ?? {});
  semaphores.forEach((each) => text(each?.label, "'label' of a semaphore"));
  const before = run.heldBefore ?? {};
  let entries = semaphores.length + values(before, "'heldBefore'");
  Object.keys(before).forEach((pool) => text(pool, "a pool of 'heldBefore'"));
  const used = new Set();
  run.ops.forEach((op, i) => {
    object(op, `operation ${i + 1}`);
    if (typeof op.id !== "string" || op.id === "") throw new Error(`operation ${i + 1} has no 'id'`);
    text(op.id, "'id' of an operation");
    if (ids.has(op.id)) throw new Error(`operation '${op.id}' occurs twice`);
    ids.add(op.id);
    try {
      entries += checkOperation(op);
    } catch (error) {
      throw new Error(`operation '${op.id.slice(0, 60)}': ${error.message}`);
    }
    if (op.lane) used.add(op.lane);
  });
  if (lanes + used.size > 2 * MOST.lanes) throw new Error(`its operations are on ${used.size} lanes, more than ${MOST.lanes}`);
  if (entries > MOST.entries) throw new Error(`it has ${entries} waits, signals and entries of frontiers, more than ${MOST.entries}`);
  return run;
}

/** @returns {number} the entries of its waits, signals and frontier, without those that are still text */
function checkOperation(op) {
  texts(op, ["label", "hw", "lane", "note"]);
  text(typeof op.failure === "boolean" ? null : op.failure, "'failure'");
  for (const key of ["start", "end"]) if (op[key] !== null && op[key] !== undefined) time(op[key], `'${key}'`);
  if (isTime(op.end) && op.end < op.start) throw new Error(`it ends at ${op.end}, before it starts at ${op.start}`);
  const waits = list(op, "knownWaits", MOST.entries);
  waits.forEach((each) => {
    object(each, "a wait");
    texts(each, ["timeline", "over", "by", "text"], " of a wait");
    time(each.value, "the value of a wait");
  });
  time(op.moreWaits ?? 0, "'moreWaits'");
  text(op.forMemory, "'forMemory'");
  return ["wait", "signal", "frontier", "entries"].reduce((sum, key) => sum + values(op[key] ?? {}, `'${key}'`), waits.length);
}

function object(given, what) {
  if (typeof given !== "object" || given === null) throw new Error(`${what} is not an object`);
}

function list(run, key, most, least = 0) {
  const given = run[key] ?? [];
  if (!Array.isArray(given)) throw new Error(`'${key}' is not a list`);
  if (given.length < least) throw new Error(`there is no list '${key}' in it`);
  if (given.length > most) throw new Error(`'${key}' has ${given.length} elements, more than ${most}`);
  return given;
}

const texts = (given, keys, of = "") => keys.forEach((key) => text(given[key], `'${key}'${of}`));

function text(given, what) {
  if (given === null || given === undefined) return;
  if (typeof given !== "string") throw new Error(`${what} is not a text`);
  if (given.length > MOST.text) throw new Error(`${what} has ${given.length} characters, more than ${MOST.text}`);
}

const isTime = (given) => typeof given === "number" && given >= 0 && given <= LATEST;

function time(given, what) {
  if (!isTime(given)) throw new Error(`${what} is ${String(given).slice(0, 60)}, not a number from 0 to ${LATEST}`);
}

function whole(given, what, most) {
  if (!Number.isSafeInteger(given) || given < 1 || given > most) throw new Error(`${what} is ${String(given).slice(0, 60)}, not a whole number from 1 to ${most}`);
  return given;
}

function values(given, what) {
  if (typeof given !== "object" || Array.isArray(given)) throw new Error(`${what} is not an object`);
  if (given instanceof ValuesText) return 0;
  let count = 0;
  for (const name in given) {
    if (!isTime(given[name])) time(given[name], `the value of '${name.slice(0, 60)}' in ${what}`);
    count++;
  }
  return count;
}
