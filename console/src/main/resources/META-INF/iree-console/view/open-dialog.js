// @ts-check
// Opens what the user has: a scenario, which the server runs, or a run.
import { MOST_BYTES, MOST_PACKED, pack } from "../model/packed.js";
import { parseRun } from "../model/run-text.js";
import { isTrace } from "../model/trace.js";
import { byId, setText } from "./dom.js";
import { count } from "./format.js";

const MOST_OF_FILE = 64 << 20; // bytes
const OTHERWISE = "run it with “bin/iree4j lab run FILE --json” and open the result";

export class OpenDialog {
  /** @param {{run: (run: any) => void, trace: (trace: any) => void, scenario: (packed: string) => Promise<void>}} actions both throw what is wrong */
  constructor(actions) {
    this.actions = actions;
    this.dialog = byId("open-dialog");
    this.text = byId("open-text");
    byId("open-run").addEventListener("click", () => this.#open(this.text.value));
    byId("open-close").addEventListener("click", () => this.dialog.close());
    byId("open-file").addEventListener("change", async ({ target }) => {
      await this.#read(target.files);
      target.value = "";
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#open(this.text.value);
    });
  }

  /** @param {string} text to begin with; what was there stays when it is empty */
  show(text) {
    setText(byId("open-status"), "");
    if (text !== "") this.text.value = text;
    if (!this.dialog.open) this.dialog.showModal();
    this.text.focus();
  }

  /** Opens a file that was dropped on the page. @param {FileList} files */
  async drop(files) {
    this.show("");
    await this.#read(files);
  }

  /** @param {FileList} files */
  async #read(files) {
    const [file] = files;
    if (!file) return;
    if (files.length > 1) {
      setText(byId("open-status"), `These are ${count(files.length)} files: open one of them.`);
    } else if (file.size > MOST_OF_FILE) {
      setText(byId("open-status"), `${file.name} has ${count(file.size)} bytes, more than ${count(MOST_OF_FILE)}.`);
    } else {
      let text;
      try {
        text = await this.#textOf(file);
      } catch {
        this.#progress("");
        setText(byId("open-status"), `${file.name} cannot be read: it is a folder, or was changed.`);
        return;
      }
      // A large text would only make the field slow.
      if (text.length <= 200_000) this.text.value = text;
      await this.#open(text);
    }
  }

  /** @param {File} file */
  async #textOf(file) {
    const decoder = new TextDecoder();
    let text = "";
    let read = 0;
    for await (const part of /** @type {any} */ (file.stream())) {
      text += decoder.decode(part, { stream: true });
      read += part.length;
      this.#progress(`Reading ${file.name}`, read / Math.max(1, file.size));
    }
    return text + decoder.decode();
  }

  /** @param {string} what is being done; empty for nothing @param {number} [part] of it; unknown when absent */
  #progress(what, part) {
    const bar = byId("open-bar");
    byId("open-progress").hidden = what === "";
    setText(byId("open-doing"), what);
    if (part === undefined) bar.removeAttribute("value");
    else bar.value = part;
  }

  async #open(text) {
    const status = byId("open-status");
    setText(status, "");
    this.#progress("Opening");
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))); // a large run takes the page's thread
    try {
      const run = runOf(text);
      if (isTrace(run)) {
        this.actions.trace(run);
      } else if (run) {
        this.actions.run(run);
      } else {
        if (text.length > MOST_BYTES) throw new Error(`the scenario has ${count(text.length)} characters, and a request takes ${count(MOST_BYTES)}; ${OTHERWISE}`);
        const packed = await pack(text);
        if (packed.length > MOST_PACKED) throw new Error(`the scenario has ${count(packed.length)} characters when packed, and a request takes ${count(MOST_PACKED)}; ${OTHERWISE}`);
        await this.actions.scenario(packed);
      }
      this.dialog.close();
    } catch (error) {
      setText(status, error instanceof Error ? error.message : String(error));
    } finally {
      this.#progress("");
    }
  }
}

/** A run or trace, as it was parsed; null for a scenario. */
function runOf(text) {
  if (text.startsWith("IREE4JFR")) throw new Error("this is a flight recording: export it with “bin/iree4j export FILE --format=trace --output=FILE.json” to see where its time went, or with “--format=scenario” to run it");
  if (!text.trimStart().startsWith("{")) return null;
  let parsed;
  try {
    parsed = parseRun(text);
  } catch (error) {
    if (/"format"\s*:\s*"iree4j trace/.test(text)) throw new Error(`the trace is damaged: ${error.message}`);
    if (/"ops"\s*:\s*\[/.test(text)) throw new Error(`the run is damaged: ${error.message}`);
    return null; // YAML may begin so too; the server says what is wrong with it
  }
  if (String(parsed?.format).startsWith("iree4j trace") && !isTrace(parsed)) throw new Error(`this is a trace of another version, '${String(parsed.format).slice(0, 60)}': export it with the version of this page`);
  return parsed !== null && typeof parsed === "object" && ("ops" in parsed || isTrace(parsed)) ? parsed : null;
}
