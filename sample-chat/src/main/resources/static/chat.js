// A page of conversations: a client of OpenAI's interface, and a map of the cache's pages.
import { chunks } from "./events.js";

const EXAMPLES = [
  "What is iree4j?",
  "What is the weather in Vevey?",
  "Describe Ada, 36, of Zug as JSON.",
  "Count to five.",
];
const TOOL = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const SKIES = ["clear", "cloudy", "foggy", "rainy", "snowy", "sunny", "windy"];
const MOST_CALLS = 3; // of tools in a row
const REFRESH = 250; // milliseconds between two looks at the pages

const $ = (id) => document.getElementById(id);
let model = "";
let received = []; // times of the tokens of the last seconds

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

/** The weather is invented: the model only shows that it asks. */
function weather() {
  const random = (n) => Math.floor(Math.random() * n);
  return `{"temperature": ${random(40) - 8}, "sky": "${SKIES[random(SKIES.length)]}"}`; // spaces as in the model's training
}

class Conversation {
  constructor(index) {
    this.user = `conversation-${index + 1}`;
    this.history = [];
    this.running = null;
    const part = $("conversation").content.cloneNode(true);
    this.root = part.querySelector("article");
    const find = (selector) => part.querySelector(selector);
    this.messages = find(".messages");
    this.state = find(".state");
    this.text = find("textarea");
    this.tool = find(".tool");
    this.send = find(".send");
    this.stop = find(".stop");
    const name = `Conversation ${index + 1}`;
    const label = find("label.unseen");
    this.text.id = `text-${index}`;
    label.htmlFor = this.text.id;
    label.textContent = `Message of conversation ${index + 1}`;
    find(".name").textContent = name;
    find("h2 .cell").classList.add(`use-${index}`);
    this.messages.setAttribute("aria-label", `Messages of conversation ${index + 1}`);
    this.send.setAttribute("aria-label", `Send in conversation ${index + 1}`);
    this.stop.setAttribute("aria-label", `Stop conversation ${index + 1}`);
    this.text.value = EXAMPLES[index % EXAMPLES.length];
    this.tool.checked = this.text.value.includes("weather");
    find("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.ask();
      }
    });
    this.stop.addEventListener("click", () => this.cancel());
    $("conversations").append(part);
  }

  cancel() {
    this.running?.abort();
  }

  async ask() {
    const text = this.text.value.trim();
    if (!text || this.running) {
      return;
    }
    this.add("user", text);
    this.history.push({ role: "user", content: text });
    this.text.value = "";
    this.running = new AbortController();
    this.send.disabled = true;
    this.stop.disabled = false;
    try {
      for (let call = 0; call < MOST_CALLS && (await this.answer()); call++);
    } catch (failure) {
      const stopped = this.running.signal.aborted;
      this.state.textContent = stopped ? "Stopped." : failure.message;
      this.state.classList.toggle("bad", !stopped);
    } finally {
      this.running = null;
      this.send.disabled = false;
      this.stop.disabled = true;
    }
  }

  /** Streams an answer. Returns whether tools were called, whose results the model has not seen. */
  async answer() {
    const shown = this.add("assistant", "");
    const answer = { role: "assistant", content: "" };
    const began = performance.now();
    let first = 0;
    let tokens = 0;
    this.history.push(answer); // what a stopped answer has said stays
    const body = {
      model,
      user: this.user,
      stream: true,
      messages: this.history.slice(0, -1),
      ...(this.tool.checked ? { tools: [TOOL] } : {}),
    };
    for await (const chunk of chunks("v1/chat/completions", body, this.running.signal)) {
      const delta = chunk.choices[0]?.delta ?? {};
      if (delta.content) {
        first ||= performance.now();
        tokens++;
        received.push(performance.now());
        answer.content += delta.content;
        shown.lastChild.textContent = answer.content;
        this.messages.scrollTop = this.messages.scrollHeight;
        const seconds = (performance.now() - first) / 1000;
        const rate = seconds > 0.1 ? `${((tokens - 1) / seconds).toFixed(0)} pieces/s` : "…";
        this.show(`First piece after ${(first - began).toFixed(0)} ms, ${rate}`);
      }
      for (const call of delta.tool_calls ?? []) {
        const spaced = call.function.arguments.replaceAll('":"', '": "'); // as in the model's training
        (answer.tool_calls ??= []).push({ id: call.id, type: "function", function: { ...call.function, arguments: spaced } });
      }
    }
    for (const call of answer.tool_calls ?? []) {
      shown.lastChild.textContent = `${answer.content}${call.function.name}(${call.function.arguments})`;
      const result = weather();
      this.add("tool", result);
      this.history.push({ role: "tool", tool_call_id: call.id, content: result });
    }
    return Boolean(answer.tool_calls);
  }

  show(text) {
    this.state.classList.remove("bad");
    this.state.textContent = text;
  }

  add(role, text) {
    const message = element("div", `message ${role}`, "");
    message.append(element("span", "unseen", `${role}: `), element("span", "", text));
    this.messages.append(message);
    this.messages.scrollTop = this.messages.scrollHeight;
    return message;
  }
}

const conversations = [0, 1, 2, 3].map((index) => new Conversation(index));

$("all").addEventListener("click", () => {
  conversations.forEach((each, index) => {
    each.text.value ||= EXAMPLES[index];
    each.ask();
  });
});
$("stop-all").addEventListener("click", () => conversations.forEach((each) => each.cancel()));

/** Shows who uses which page. Keeps the cells, so that nothing flickers. */
function showPages(state) {
  const uses = new Map(state.keptPages.map((page) => [page, "kept"]));
  let used = 0;
  for (const sequence of state.sequences) {
    const index = conversations.findIndex((each) => each.user === sequence.tenant);
    sequence.pages.forEach((page, at) => {
      used += uses.has(page) ? 0 : 1;
      uses.set(page, `${at < sequence.sharedPages ? "shared " : ""}use-${index < 0 ? "other" : index}`);
    });
  }
  const map = $("pages");
  while (map.children.length < state.pages - 1) {
    map.append(element("span", "cell", ""));
  }
  for (let page = 1; page < state.pages; page++) {
    map.children[page - 1].className = `cell ${uses.get(page) ?? ""}`;
  }
  const kept = state.keptPages.length;
  $("page-tokens").textContent = state.pageTokens;
  $("kept").textContent = kept;
  $("used").textContent = used;
  $("free").textContent = state.pages - 1 - kept - used;
  map.setAttribute("aria-label", `Pages of the cache: ${used} used, ${kept} kept, ${state.pages - 1 - kept - used} free`);
}

async function look() {
  try {
    const response = await fetch("actuator/iree/generation");
    const { models } = await response.json();
    if (models.length > 0) {
      $("most").textContent = models[0].maximumTokens;
      if (models[0].state) { // otherwise a long step is in progress
        showPages(models[0].state);
      }
    }
    const second = performance.now() - 1000;
    received = received.filter((time) => time > second);
    $("rate").textContent = `${received.length} pieces in the last second`;
    $("problem").hidden = true;
  } catch (failure) {
    $("problem").textContent = `The server does not answer: ${failure.message}`;
    $("problem").hidden = false;
  }
  setTimeout(look, document.hidden ? 4 * REFRESH : REFRESH);
}

async function start() {
  try {
    model = (await (await fetch("v1/models")).json()).data[0].id;
    $("model").textContent = model;
    $("small").hidden = model !== "small-chat";
  } catch (failure) {
    $("problem").textContent = `The server does not answer: ${failure.message}`;
    $("problem").hidden = false;
  }
  look();
}

start();
