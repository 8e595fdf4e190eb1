// @ts-check
// Numbers as people read them.

import { isolated } from "../model/names.js";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(count) {
  let value = Number(count);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

export function count(value) {
  return Number(value).toLocaleString("en-GB").replaceAll(",", "\u202f");
}

/** Seconds of an ISO 8601 duration such as PT1M4.2S. */
export function seconds(duration) {
  if (typeof duration === "number") return duration;
  const parts = /^-?P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(String(duration));
  if (parts === null) return NaN;
  const [, days, hours, minutes, rest] = parts;
  return Number(days ?? 0) * 86_400 + Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0);
}

/** A time span in seconds, in the unit that leaves one to three digits before the point. */
export function span(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0 s";
  if (value >= 3_600) return `${(value / 3_600).toFixed(1)} h`;
  if (value >= 100) return `${(value / 60).toFixed(1)} min`;
  if (value >= 1) return `${value.toFixed(1)} s`;
  if (value >= 1e-3) return `${(value * 1e3).toFixed(value >= 0.1 ? 0 : 1)} ms`;
  if (value >= 1e-6) return `${(value * 1e6).toFixed(0)} µs`;
  return `${Math.round(value * 1e9)} ns`;
}

/** Nanoseconds, as exact as they are worth reading: moments of a recording that are apart read apart. */
function moment(nanos) {
  const [scale, unit, digits] = nanos >= 1e9 ? [1e9, "s", 6] : nanos >= 1e6 ? [1e6, "ms", 3] : nanos >= 1e3 ? [1e3, "µs", 1] : [1, "ns", 0];
  return `${Number((nanos / scale).toFixed(digits))} ${unit}`;
}

/** A time of a schedule: ticks are plain numbers, recordings are in nanoseconds. */
export const time = (unit, value) => (unit === "ns" ? moment(value) : String(Math.floor(value)));

/** The same with its unit's name. */
export const timeNamed = (unit, value) => (unit === "ns" ? moment(value) : `tick ${Math.floor(value)}`);

/** A text of the server: numbers of bytes are exact where they are found, and a page is read by people. */
export const readable = (text) => text.replace(/\b(\d{4,}) bytes\b/g, (_, number) => bytes(number));

/** A label, and the id where that is another. */
export const labelled = (label, id) => (label === isolated(id) ? label : `${label} (${isolated(id)})`);

export const plural = (number, word, many = `${word}s`) => `${count(number)} ${number === 1 ? word : many}`;
