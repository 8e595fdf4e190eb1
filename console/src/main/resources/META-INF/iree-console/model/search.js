// @ts-check

/** The first index for which the predicate holds, in an array where it holds for a tail. */
export function firstIndex(length, holds) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
