// @ts-check
// A scenario as a part of an address: UTF-8, as a raw deflate stream, in Base64 for URLs.

/** Characters of a packed scenario, so that servers with a limit of 4 KiB for the first line take the request. */
export const MOST_PACKED = 3_500;

/** Bytes of a scenario that the server reads. */
export const MOST_BYTES = 65_536;

const through = async (bytes, stream, most) => {
  const chunks = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`it expands to more than ${most} bytes`);
    }
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
};

/** @param {string} text */
export async function pack(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"), Infinity);
  const binary = Array.from(bytes, (each) => String.fromCharCode(each)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} packed @param {number} most bytes of the text */
export async function unpack(packed, most = MOST_BYTES) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await through(Uint8Array.from(binary, (each) => each.charCodeAt(0)), new DecompressionStream("deflate-raw"), most);
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}
