// @ts-check

/** A step of a scale of time: 1, 2 or 5 times a power of ten; ticks are not divided. */
export function niceStep(least, unit) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) ?? least;
  return unit === "ns" ? step : Math.max(1, Math.round(step));
}
