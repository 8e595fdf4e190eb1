// @ts-check
// Names as they are shown.

// Letters written from right to left, and characters that turn the direction of what follows.
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name whose direction is its own, as in a bdi element, which lists, SVG and canvases do not have. */
export const isolated = (name) => (TURNS.test(name) ? `\u2068${name}\u2069` : name);
