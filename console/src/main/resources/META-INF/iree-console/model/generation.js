// @ts-check
// The state of a generator as lanes and as a map of pages.

/** Whether the endpoint has the part. @param {any} summary of the endpoint */
export const hasGeneration = (summary) => summary.selectors.includes("generation");

/**
 * A lane for each sequence: those with pages first, in the order of their beginning.
 *
 * @param {any} state
 */
export function lanesOf(state) {
  const longest = Math.max(1, ...state.sequences.map((each) => each.promptTokens + each.maximumTokens));
  return state.sequences.map((each) => ({
    ...each,
    waits: each.pages.length === 0,
    // Shares of the longest lane: the tokens of the prompt, those generated, those that may follow; those computed.
    prompt: each.promptTokens / longest,
    generated: each.generatedTokens / longest,
    left: Math.max(0, each.maximumTokens - each.generatedTokens) / longest,
    computed: each.computedTokens / longest,
  }));
}

/**
 * What each page from 1 is for: page 0 is for padding.
 *
 * @param {any} state
 * @returns {{page: number, use: "used" | "shared" | "kept" | "free", users: number[]}[]}
 */
export function pagesOf(state) {
  const pages = Array.from({ length: state.pages - 1 }, (_, i) => ({ page: i + 1, use: "free", users: [] }));
  for (const page of state.keptPages) pages[page - 1].use = "kept";
  for (const each of state.sequences) {
    each.pages.forEach((page, at) => {
      if (pages[page - 1].use !== "shared") pages[page - 1].use = at < each.sharedPages ? "shared" : "used";
      pages[page - 1].users.push(each.number);
    });
  }
  return /** @type {any} */ (pages);
}
