// @ts-check
// Numbers by name, as waits, signals and frontiers are: objects, or text that is read when it is asked.

const ZERO = 48;
const NINE = 57;

/** An object of whole numbers that is still JSON, and is known to be well-formed, with names without backslashes. */
export class ValuesText {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @param {(name: string, value: number) => void} visit */
  each(visit) {
    const { text } = this;
    for (let open = text.indexOf('"'); open >= 0; ) {
      const close = text.indexOf('"', open + 1);
      let at = close + 2; // after the colon, or spaces before it
      while (!isDigit(text.charCodeAt(at))) at++;
      let value = 0;
      for (; isDigit(text.charCodeAt(at)); at++) value = 10 * value + text.charCodeAt(at) - ZERO;
      visit(text.slice(open + 1, close), value);
      open = text.indexOf('"', at);
    }
  }
}

const isDigit = (code) => code >= ZERO && code <= NINE;

/**
 * Visits each name and its value.
 *
 * @param {any} values an object, a `ValuesText`, or nothing
 * @param {(name: string, value: number) => void} visit
 */
export function eachValue(values, visit) {
  if (values instanceof ValuesText) {
    values.each(visit);
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
