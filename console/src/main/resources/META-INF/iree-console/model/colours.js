// @ts-check
// One colour for each axis, the same in every view. Hues are far apart for neighbours; lightness fits the theme.

const HUES = [265, 150, 40, 330, 205, 95, 300, 15, 175, 70, 235, 125];

/** @param {number} index @param {boolean} dark */
export function axisColour(index, dark) {
  const hue = HUES[index % HUES.length];
  return (alpha = 1) => `oklch(${dark ? 0.76 : 0.55} ${dark ? 0.12 : 0.15} ${hue} / ${alpha})`;
}

/** The hue of an axis, for the style sheet. */
export const hueOf = (index) => String(HUES[index % HUES.length]);
