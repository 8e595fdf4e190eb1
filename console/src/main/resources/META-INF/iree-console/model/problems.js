// @ts-check
// What keeps work from advancing, as the recorder finds in a recording.

const MOST = { problems: 100, lines: 64, text: 1_000 };

/**
 * @typedef {{text: string, missing?: boolean}} Link the last one is the missing signal
 * @typedef {{kind: string, summary: string, seconds: number, call: number, links: Link[], chain: string[], remedy: string}} Problem
 */

/**
 * @param {any} given as the recorder writes them
 * @returns {Problem[]}
 */
export function problemsOf(given) {
  const text = (each) => String(each ?? "").slice(0, MOST.text);
  const texts = (all) => list(all, MOST.lines).map(text);
  return list(given, MOST.problems).map((each) => ({
    kind: text(each?.kind),
    summary: text(each?.summary),
    seconds: Number(each?.age ?? 0) / 1e9,
    call: Number(each?.call ?? 0),
    links: texts(each?.links).map((link, i, all) => ({ text: link, missing: i === all.length - 1 })),
    chain: texts(each?.chain),
    remedy: text(each?.remedy),
  }));
}

const list = (given, most) => (Array.isArray(given) ? given : []).slice(0, most);
