// The section for a cluster: runs a pipeline of programs, and shows the stages in a lane for each node.

const element = (id) => document.getElementById(id);
const STAGES = 16;

async function ask(method) {
  const response = await fetch(`pipelines/programs?stages=${STAGES}`, { method, headers: { Accept: "application/json" } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? answer.title ?? `status ${response.status}`);
  return answer;
}

function add(parent, name, text, className = "") {
  const child = document.createElement(name);
  child.textContent = text;
  child.className = className;
  parent.append(child);
  return child;
}

function stage(list, { stage, result, epoch }) {
  const item = add(list, "li", "");
  item.style.gridColumn = stage + 1;
  add(item, "span", `stage ${stage}: `, "unseen");
  add(item, "b", result);
  item.append(" epoch ");
  add(item, "span", epoch, "epoch");
}

function show({ nodes, submitMillis, millis, stages }) {
  element("ring-answer").textContent =
    `Counted to ${stages.at(-1).result} on ${nodes} ${nodes === 1 ? "node" : "nodes"} in ${millis.toFixed(1)} ms, ` +
    `of which ${submitMillis.toFixed(1)} ms to submit all ${stages.length} calls`;
  element("lanes").replaceChildren();
  for (const [node, lane] of Map.groupBy(stages, (each) => each.node)) {
    const item = add(element("lanes"), "li", "");
    add(item, "span", `${node}, ${lane[0].axis}`);
    const list = add(item, "ol", "");
    lane.forEach((each) => stage(list, each));
  }
}

element("run-ring").addEventListener("click", async () => {
  element("ring-answer").textContent = "Running…";
  element("ring-problem").hidden = true;
  try {
    show(await ask("POST"));
  } catch (error) {
    element("ring-answer").textContent = "";
    element("lanes").replaceChildren();
    element("ring-problem").textContent = error.message;
    element("ring-problem").hidden = false;
  }
});

try {
  element("ring").hidden = (await ask("GET")).length < 2;
} catch {
  // Without an answer the section stays hidden.
}
