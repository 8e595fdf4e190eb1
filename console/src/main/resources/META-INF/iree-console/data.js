// @ts-check
// Where data comes from: actuator endpoints that the application exposes, or runs that the page has in itself.
import { unpack } from "./model/packed.js";

export class DataError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }

  /** Whether asking again is of no use before the user has signed in. */
  get isDenied() {
    return this.status === UNAUTHORIZED || this.status === FORBIDDEN;
  }
}

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

let endpoints = null;

const kept = document.getElementById("kept");
let runs = null; // read when they are asked for

/** Whether the page is a file, with the runs of its scenarios in itself, and without a server. */
export const isFile = kept !== null;

/** A scenario as it is, or what the file has of its three ways. */
async function readKept(path, { width = 1, depth = 1, lanes = 0, delay = 1, fault = "" }) {
  runs ??= JSON.parse(await unpack(kept?.textContent ?? "", Infinity));
  if (path === "") return { scenarios: runs.runs.map(({ id, label, description }) => ({ id, label, description, isKept: true })) };
  const [, id, view] = path.split("/").map(decodeURIComponent);
  const isPlain = Number(width) === 1 && Number(depth) === 1 && Number(lanes) === 0 && Number(delay) === 1 && fault === "";
  const found = isPlain && (view === "ways" ? runs.ways.find(({ costs }) => costs.id === id) : runs.runs.find((each) => each.id === id));
  if (!found) throw new DataError("This page is a file: it shows its scenarios as they are, and opens runs. The console of an application also scales them, injects faults, and runs your own.", 0);
  return found;
}

/** Resolved here: against an address with a user and password, fetch resolves to one that it then refuses. */
const resolved = (path) => new URL(path, location.href);

/** Whether it is data, and not the page of a login that the request was redirected to. */
const isData = (answer, type = "json") => answer.ok && (answer.headers.get("Content-Type") ?? "").includes(type);

/** Whether an answer asks for a login; those that redirect to one have its status. */
const asksForLogin = (answer) => answer.status === UNAUTHORIZED || answer.redirected;

/** Reads which endpoints are exposed. */
export async function findEndpoints() {
  if (isFile) return (endpoints = { endpoints: { ireelab: "kept" }, problem: "This page is a file, and has no application." });
  let problem;
  try {
    const answer = await fetch(resolved("console.json"), { cache: "no-store" });
    if (isData(answer)) return (endpoints = await answer.json());
    problem = asksForLogin(answer) ? "You are not signed in: sign in to the application, and load this page again." : `console.json answers ${answer.status}: load this page again.`;
  } catch {
    problem = "The application does not answer: load this page again.";
  }
  return (endpoints = { endpoints: {}, problem });
}

/** Why an endpoint has no data; empty when it has. */
export function whyNot(id) {
  if (endpoints?.endpoints?.[id]) return "";
  return (
    endpoints?.problem ??
    `The actuator endpoint '${id}' is not exposed. Add it to management.endpoints.web.exposure.include, as in “health, iree, ireelab”.`
  );
}

/**
 * @param {string} id an endpoint
 * @param {string} path below it
 * @param {Record<string, string | number>} query
 * @param {AbortSignal} [signal]
 */
export async function read(id, path = "", query = {}, signal) {
  if (isFile && whyNot(id) === "") return readKept(path, query);
  return (await ask(id, path, query, "json", signal)).json();
}

/**
 * Reads a file that an endpoint makes.
 *
 * @param {string} id an endpoint
 * @param {string} path below it
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>}
 */
export async function readText(id, path, signal) {
  return (await ask(id, path, {}, "octet-stream", signal)).text();
}

async function ask(id, path, query, type, signal) {
  const why = whyNot(id);
  if (why !== "") throw new DataError(why, 0);
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
  let answer;
  try {
    answer = await fetch(resolved(`${endpoints.endpoints[id]}${path}${text === "" ? "" : `?${text}`}`), {
      headers: { Accept: `application/${type}` },
      cache: "no-store",
      signal,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new DataError("The application does not answer.", 0);
  }
  if (isData(answer, type)) return answer;
  if (asksForLogin(answer)) {
    throw new DataError(`You are not signed in, or not any more: sign in to the application, and load this page again. The actuator endpoint '${id}' asks for it.`, UNAUTHORIZED);
  }
  if (answer.status === FORBIDDEN) throw new DataError(`You may not read the actuator endpoint '${id}': sign in as a user who may.`, FORBIDDEN);
  throw new DataError(await reason(answer), answer.status);
}

async function reason(answer) {
  try {
    const body = await answer.json();
    return String(body.detail ?? body.message ?? body.reason ?? body.error ?? `Status ${answer.status}.`);
  } catch {
    return `Status ${answer.status}.`;
  }
}
