// @ts-check
// Reads the text of a run. Frontiers are most of a large one, and few of them are ever looked at: they stay text until then.
import { ValuesText } from "./values.js";

const SPACE = "[ \\t\\n\\r]*";
const ENTRY = `"[^"\\\\\\x00-\\x1f]*"${SPACE}:${SPACE}(?:0|[1-9]\\d{0,14})${SPACE}`;
// What is not plainly an object of whole numbers is left to the parser, and so to the checks. A quote after a backslash is
// within a name.
const FRONTIERS = new RegExp(`(?<!\\\\)("(?:frontier|entries)"${SPACE}:${SPACE})(\\{${SPACE}(?:${ENTRY}(?:,${SPACE}(?=")|(?=\\}))){0,4096}\\})`, "g");

/**
 * Parses a run as JSON.
 *
 * @param {string} text
 * @returns {any} the run; frontiers of operations may be `ValuesText`
 * @throws {SyntaxError} when it is no JSON
 */
export function parseRun(text) {
  const mark = `values ${Math.random()} `; // that the text does not have
  /** @type {string[]} */
  const values = [];
  const rest = [];
  let from = 0;
  for (const found of text.matchAll(FRONTIERS)) {
    rest.push(text.slice(from, found.index), found[1], `"${mark}${values.length}"`);
    values.push(found[2]);
    from = found.index + found[0].length;
  }
  rest.push(text.slice(from));
  const run = JSON.parse(rest.join(""));
  const put = (each, key, make) => {
    if (typeof each?.[key] === "string" && each[key].startsWith(mark)) each[key] = make(values[Number(each[key].slice(mark.length))]);
  };
  const all = (list, key, make) => Array.isArray(list) && list.forEach((each) => put(each, key, make));
  const packed = (own) => new ValuesText(own);
  all(run?.ops, "frontier", packed);
  all(run?.ops, "entries", packed);
  all(run?.memory, "frontier", JSON.parse);
  return run;
}
