// @ts-check
// What the page shows, as it is in its address: a copied address shows the same.

import { MOST_PACKED } from "./packed.js";

/** The views of the page, the first unless the address names another. */
export const VIEWS = ["explore", "live", "calls"];
const NUMBERS = { lesson: [0, 3, 0], width: [1, 4, 1], depth: [1, 8, 1], lanes: [0, 4, 0], delay: [0, 4, 1], tick: [0, Number.MAX_SAFE_INTEGER, 0], since: [0, Number.MAX_SAFE_INTEGER, 0], until: [0, Number.MAX_SAFE_INTEGER, 0] };
/** Characters of a text; some faults name what has long names. */
export const MOST = { text: MOST_PACKED, fault: 2_400 };
const TEXTS = { view: VIEWS[0], scenario: "", op: "", fault: "", program: "", recorder: "", text: "" };
const FLAGS = { ways: false };

/** @param {string} search the query of an address */
export function readState(search) {
  const query = new URLSearchParams(search);
  const state = /** @type {any} */ ({});
  for (const [name, [least, most, preset]] of Object.entries(NUMBERS)) {
    const value = Number(query.get(name));
    state[name] = query.has(name) && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.floor(value))) : preset;
  }
  for (const [name, preset] of Object.entries(TEXTS)) state[name] = (query.get(name) ?? preset).slice(0, MOST[name] ?? 300);
  for (const [name, preset] of Object.entries(FLAGS)) state[name] = query.has(name) ? query.get(name) === "1" : preset;
  if (!VIEWS.includes(state.view)) state.view = VIEWS[0];
  return state;
}

/** @param {any} state what differs from the presets is written */
export function writeState(state) {
  const query = new URLSearchParams();
  for (const [name, preset] of Object.entries(TEXTS)) if (state[name] !== preset) query.set(name, state[name]);
  for (const [name, [, , preset]] of Object.entries(NUMBERS)) if (state[name] !== preset) query.set(name, String(state[name]));
  for (const [name, preset] of Object.entries(FLAGS)) if (state[name] !== preset) query.set(name, state[name] ? "1" : "0");
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
