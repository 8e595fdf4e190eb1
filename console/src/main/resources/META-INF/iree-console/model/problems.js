// @ts-check
// What keeps work from advancing: the watchdog finds the problems of the running system, the recorder those of a recording.

const MOST = { problems: 100, lines: 64, calls: 1_000, text: 1_000 };

/**
 * @typedef {{text: string, missing: boolean, again: boolean}} Link the last one is a missing signal, or the operation at which a cycle begins again
 * @typedef {{kind: string, subject: string, summary: string, seconds: number, calls: number[], links: Link[], chain: string[], remedy: string}} Problem
 */

/**
 * @param {any} given as the watchdog or the recorder writes them
 * @returns {Problem[]}
 */
export function problemsOf(given) {
  const text = (each) => String(each ?? "").slice(0, MOST.text);
  const texts = (all) => list(all, MOST.lines).map(text);
  return list(given, MOST.problems).map((each) => ({
    kind: text(each?.kind),
    subject: text(each?.subject),
    summary: text(each?.summary),
    seconds: Number(each?.age ?? 0) / 1e9,
    calls: list(each?.calls, MOST.calls).map(Number),
    links: texts(each?.links).map((link, i, { length }) => ({ text: link, missing: i === length - 1 && each.kind === "unsignalled-fence", again: i === length - 1 && each.kind === "deadlock" })),
    chain: texts(each?.chain),
    remedy: text(each?.remedy),
  }));
}

const list = (given, most) => (Array.isArray(given) ? given : []).slice(0, most);
