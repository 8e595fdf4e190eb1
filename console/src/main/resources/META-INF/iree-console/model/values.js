// @ts-check
// Numbers by name, as waits, signals and frontiers are: objects, or text that is read when it is asked.

const PAIR = /"([^"]*)"\s*:\s*(\d+)/g;

/** An object of whole numbers that is still JSON, and is known to be well-formed. */
export class ValuesText {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/**
 * Visits each name and its value.
 *
 * @param {any} values an object, a `ValuesText`, or nothing
 * @param {(name: string, value: number) => void} visit
 */
export function eachValue(values, visit) {
  if (values instanceof ValuesText) {
    for (const [, name, value] of values.text.matchAll(PAIR)) visit(name, Number(value));
  } else {
    // No list of pairs: there may be a million of them.
    for (const name in values) visit(name, Number(values[name]));
  }
}

/** @param {any} values @returns {[string, number][]} */
export function pairsOf(values) {
  /** @type {[string, number][]} */
  const pairs = [];
  eachValue(values, (name, value) => pairs.push([name, value]));
  return pairs;
}
