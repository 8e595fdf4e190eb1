// @ts-check
// Where data comes from: actuator endpoints that the application exposes, and nothing else.

export class DataError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let endpoints = null;

/** Reads which endpoints are exposed. */
export async function findEndpoints() {
  const answer = await fetch("console.json", { cache: "no-store" });
  endpoints = answer.ok ? await answer.json() : { endpoints: {}, problem: `console.json answers ${answer.status}.` };
  return endpoints;
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
  const why = whyNot(id);
  if (why !== "") throw new DataError(why, 0);
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
  let answer;
  try {
    answer = await fetch(`${endpoints.endpoints[id]}${path}${text === "" ? "" : `?${text}`}`, {
      headers: { Accept: "application/json" },
      cache: "no-store",
      signal,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new DataError("The application does not answer.", 0);
  }
  if (answer.ok && (answer.headers.get("Content-Type") ?? "").includes("json")) return answer.json();
  if (answer.status === 401 || answer.status === 403 || answer.redirected) {
    throw new DataError(`You may not read the actuator endpoint '${id}' (status ${answer.status}): sign in as a user who may.`, answer.status);
  }
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
