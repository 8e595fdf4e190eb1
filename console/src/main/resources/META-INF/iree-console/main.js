// @ts-check
// The page: which view is shown, the theme, keys, and the address that says all of that.
import { findEndpoints, isFile, whyNot } from "./data.js";
import { Calls } from "./calls.js";
import { Explore } from "./explore.js";
import { Live } from "./live.js";
import { VIEWS, readState, writeState } from "./model/page-state.js";
import { byId, setText } from "./view/dom.js";

const THEMES = ["system", "light", "dark"];
const TITLES = { explore: "Explore", live: "Live", calls: "Calls" };
const APART = 400; // milliseconds between changes of the address: browsers refuse more than some hundred in half a minute

const page = /** @type {any} */ ({
  state: readState(location.search),
  saved: -APART,
  /** Has the address say what is shown: at once, or soon if it has just changed. */
  save() {
    const wait = page.saved + APART - performance.now();
    if (wait <= 0) page.saveNow();
    else page.saving ??= setTimeout(page.saveNow, wait);
  },
  saveNow() {
    clearTimeout(page.saving);
    page.saving = undefined;
    const search = writeState(page.state);
    if (search === location.search) return;
    page.saved = performance.now();
    try {
      history.replaceState(null, "", `${location.pathname}${search}`);
    } catch {
      // A page within another, without an address of its own.
    }
  },
  /** For readers of screens. */
  say(text) {
    setText(byId("said"), text);
  },
  /** What is wrong; empty for nothing. */
  notice(text) {
    byId("notice").hidden = text === "";
    setText(byId("notice"), text);
  },
});

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  setText(byId("theme"), `Theme: ${theme}`);
  try {
    localStorage.setItem("iree4j.theme", theme);
  } catch {
    // Not kept then.
  }
  draw();
}

function draw() {
  explore.draw();
  live.draw();
  calls.draw();
}

function keptTheme() {
  try {
    return localStorage.getItem("iree4j.theme") ?? "system";
  } catch {
    return "system";
  }
}

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
}

/** @param {string} view @param {boolean} begins whether the view begins to read from the server what it shows */
function show(view, begins = true) {
  page.state.view = view;
  for (const each of VIEWS) {
    byId(`${each}-view`).hidden = each !== view;
    if (each === view) byId(`${each}-tab`).setAttribute("aria-current", "page");
    else byId(`${each}-tab`).removeAttribute("aria-current");
  }
  byId("skip").setAttribute("href", `#${view}-view`);
  document.title = `${TITLES[view]} · iree4j console`;
  page.notice(begins && !(view === "calls" && calls.trace) ? whyNot(view === "explore" ? "ireelab" : "iree") : "");
  page.save();
  if (view !== "explore") explore.transport.pause();
  if (view !== "live") live.stop();
  if (!begins) return;
  if (view === "explore") explore.draw();
  views[view].start();
}

const explore = new Explore(page, {
  openTrace(trace) {
    calls.open(trace);
    byId("calls-tab").hidden = false;
    show("calls", false);
  },
});
const calls = new Calls(byId("calls-view"), page);
const live = new Live(byId("live-view"), page, {
  open(run) {
    show("explore");
    explore.open(run);
  },
});

const views = { explore, live, calls };

for (const view of VIEWS) {
  byId(`${view}-tab`).addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(view);
  });
}
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", () => byId("keys-dialog").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return; // texts go where they are dropped
    event.preventDefault(); // or the browser leaves the page for the file
    const leaves = kind === "drop" || (kind === "dragleave" && event.relatedTarget === null);
    document.documentElement.classList.toggle("drops", !leaves);
    if (kind !== "drop") return;
    show("explore");
    explore.dialog.drop(event.dataTransfer.files);
  });
}

addEventListener("pagehide", () => page.saveNow());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const { target } = event;
  if (!(target instanceof Element)) return;
  // Keys that a focused control needs are its own.
  if (target.matches("input:not([type=range]), select, textarea")) return;
  const own = { range: ["Arrow", "Home", "End", "Page"], button: [" ", "Enter"], scrolls: ["Arrow", "Home", "End", "Page", " "] };
  const kind = target.matches("input[type=range]") ? "range" : target.matches("button, a, summary") ? "button" : target.matches("[tabindex='0'][role=group]") ? "scrolls" : null;
  if (kind && own[kind].some((each) => event.key.startsWith(each))) return;
  const keys = {
    1: () => show("explore"),
    2: () => isFile || show("live"),
    3: () => byId("calls-tab").hidden || show("calls"),
    t: nextTheme,
    "?": () => byId("keys-dialog").showModal(),
  };
  const action = keys[event.key];
  if (action) action();
  else if (!views[page.state.view].key(event)) return;
  event.preventDefault();
});

setTheme(THEMES.includes(keptTheme()) ? keptTheme() : "system");
await findEndpoints();
byId("live-tab").hidden = byId("calls-tab").hidden = isFile;
show(isFile ? "explore" : page.state.view);
// For scripts that measure; nothing on the page reads it.
Object.assign(window, { ireeConsole: views });
