// Draws with the pointer, queries the server after every movement, and shows its answer. The strokes are sent as they
// are: the server makes the 8x8 picture, so that this code exists, and is tested, in one place.

const examples = [
  [0, 0, 2, 13, 10, 3, 0, 0, 0, 0, 10, 15, 12, 13, 1, 0, 0, 0, 16, 4, 0, 6, 4, 0, 0, 2, 16, 3, 0, 1, 7, 0, 0, 5, 13, 5, 0, 2, 8, 0, 0, 4, 12, 0, 0, 3, 8, 0, 0, 0, 13, 5, 6, 13, 5, 0, 0, 0, 5, 14, 13, 8, 1, 0],
  [0, 0, 1, 14, 7, 0, 0, 0, 0, 0, 6, 16, 16, 1, 0, 0, 0, 0, 7, 16, 15, 0, 0, 0, 0, 0, 6, 16, 15, 0, 0, 0, 0, 0, 6, 16, 15, 0, 0, 0, 0, 0, 4, 16, 16, 1, 0, 0, 0, 0, 4, 16, 16, 6, 0, 0, 0, 0, 1, 15, 16, 8, 0, 0],
  [0, 0, 7, 12, 12, 2, 0, 0, 0, 5, 15, 6, 10, 9, 0, 0, 0, 11, 4, 0, 11, 6, 0, 0, 0, 3, 0, 2, 15, 2, 0, 0, 0, 0, 1, 13, 6, 0, 0, 0, 0, 0, 11, 11, 1, 0, 0, 0, 0, 1, 16, 7, 4, 4, 2, 0, 0, 0, 11, 12, 13, 14, 11, 0],
  [0, 1, 10, 16, 16, 6, 0, 0, 0, 7, 14, 9, 12, 12, 0, 0, 0, 1, 1, 5, 15, 5, 0, 0, 0, 0, 3, 16, 14, 3, 0, 0, 0, 0, 1, 11, 14, 16, 6, 0, 0, 0, 0, 0, 0, 12, 11, 0, 0, 0, 7, 8, 13, 16, 5, 0, 0, 0, 15, 16, 12, 5, 0, 0],
  [0, 0, 4, 16, 6, 0, 0, 0, 0, 0, 12, 15, 1, 0, 0, 0, 0, 1, 16, 11, 0, 0, 0, 0, 0, 8, 16, 3, 0, 7, 4, 0, 0, 12, 16, 6, 11, 16, 7, 0, 0, 7, 16, 16, 15, 3, 0, 0, 0, 0, 4, 16, 10, 0, 0, 0, 0, 0, 4, 16, 6, 0, 0, 0],
  [0, 1, 8, 12, 16, 16, 7, 0, 0, 7, 16, 12, 12, 12, 5, 0, 0, 4, 13, 3, 0, 0, 0, 0, 0, 4, 16, 16, 13, 0, 0, 0, 0, 2, 8, 6, 15, 6, 0, 0, 0, 0, 7, 0, 9, 12, 0, 0, 0, 0, 16, 11, 13, 12, 0, 0, 0, 0, 5, 13, 12, 5, 0, 0],
  [0, 0, 3, 12, 3, 0, 0, 0, 0, 0, 13, 14, 2, 0, 0, 0, 0, 3, 10, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 3, 0, 0, 0, 4, 10, 16, 16, 16, 4, 0, 0, 6, 16, 4, 0, 8, 9, 0, 0, 0, 15, 12, 4, 9, 12, 0, 0, 0, 2, 13, 16, 14, 4, 0],
  [0, 0, 8, 16, 16, 1, 0, 0, 0, 1, 12, 10, 16, 5, 0, 0, 0, 0, 0, 3, 16, 6, 0, 0, 0, 0, 0, 6, 16, 2, 0, 0, 0, 4, 12, 14, 16, 12, 5, 0, 0, 12, 16, 16, 14, 12, 5, 0, 0, 0, 6, 13, 0, 0, 0, 0, 0, 0, 11, 8, 0, 0, 0, 0],
  [0, 0, 4, 13, 16, 14, 2, 0, 0, 2, 15, 5, 4, 14, 4, 0, 0, 8, 15, 6, 1, 15, 1, 0, 0, 4, 16, 16, 13, 10, 0, 0, 0, 0, 1, 9, 16, 10, 0, 0, 0, 0, 4, 14, 3, 14, 6, 0, 0, 0, 9, 10, 3, 13, 8, 0, 0, 0, 3, 15, 16, 11, 1, 0],
  [0, 0, 3, 14, 16, 8, 0, 0, 0, 3, 15, 8, 4, 15, 1, 0, 0, 8, 10, 0, 3, 16, 8, 0, 0, 3, 15, 13, 16, 14, 1, 0, 0, 0, 2, 5, 16, 4, 0, 0, 0, 0, 0, 8, 11, 0, 0, 0, 0, 0, 0, 15, 2, 0, 0, 0, 0, 0, 2, 13, 0, 0, 0, 0],
];

const element = (id) => document.getElementById(id);
const paper = element("paper");
const pen = paper.getContext("2d");
const seen = element("seen").getContext("2d");

let strokes = [];
let current = null;
let example = null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// --- drawing -------------------------------------------------------------------------------------------------------

function pointOf(event) {
  const box = paper.getBoundingClientRect();
  return [
    ((event.clientX - box.left) * paper.width) / box.width,
    ((event.clientY - box.top) * paper.height) / box.height,
  ];
}

function redraw() {
  pen.clearRect(0, 0, paper.width, paper.height);
  if (example !== null) drawPixels(example);
  pen.strokeStyle = colour("--ink");
  pen.lineWidth = 38;
  pen.lineCap = "round";
  pen.lineJoin = "round";
  for (const stroke of strokes) {
    pen.beginPath();
    pen.moveTo(...stroke[0]);
    for (const point of stroke.length > 1 ? stroke.slice(1) : stroke) pen.lineTo(...point);
    pen.stroke();
  }
  element("hint").hidden = strokes.length > 0 || example !== null;
}

function drawPixels(pixels) {
  const size = paper.width / 8;
  pen.fillStyle = colour("--ink");
  pixels.forEach((value, i) => {
    pen.globalAlpha = value / 16;
    pen.fillRect((i % 8) * size, Math.floor(i / 8) * size, size, size);
  });
  pen.globalAlpha = 1;
}

paper.addEventListener("pointerdown", (event) => {
  if (current !== null || event.button !== 0) return;
  event.preventDefault();
  paper.setPointerCapture(event.pointerId);
  example = null;
  current = { pointer: event.pointerId, points: [pointOf(event)] };
  strokes.push(current.points);
  redraw();
  ask({ strokes });
});

paper.addEventListener("pointermove", (event) => {
  if (current?.pointer !== event.pointerId) return;
  const moves = event.getCoalescedEvents?.() ?? [];
  for (const move of moves.length > 0 ? moves : [event]) current.points.push(pointOf(move));
  redraw();
  ask({ strokes });
});

for (const end of ["pointerup", "pointercancel"]) {
  paper.addEventListener(end, (event) => {
    if (current?.pointer === event.pointerId) current = null;
  });
}

function clear() {
  strokes = [];
  current = null;
  example = null;
  redraw();
  showNothing();
}

function undo() {
  example = null;
  strokes.pop();
  current = null;
  redraw();
  if (strokes.length > 0) ask({ strokes });
  else showNothing();
}

element("clear").addEventListener("click", clear);
element("undo").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") clear();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

examples.forEach((pixels, digit) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = digit;
  button.setAttribute("aria-label", `Example of ${digit}`);
  button.addEventListener("click", () => {
    clear();
    example = pixels;
    redraw();
    ask({ pixels });
  });
  document.querySelector(".examples").append(button);
});

// --- asking --------------------------------------------------------------------------------------------------------

// One request at a time; meanwhile only the newest drawing is kept.
let asking = false;
let next = null;
let generation = 0;

async function ask(request) {
  next = request;
  if (asking) return;
  asking = true;
  try {
    while (next !== null) {
      const body = JSON.stringify(next);
      const asked = generation;
      next = null;
      const start = performance.now();
      const response = await fetch("digits", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body,
      });
      const answer = await response.json();
      if (asked !== generation) continue; // cleared in the meantime
      if (response.ok) show(answer, performance.now() - start);
      else showProblem(answer.detail ?? answer.title ?? `status ${response.status}`);
    }
  } catch (error) {
    showProblem(`The server does not answer (${error.message}).`);
  } finally {
    asking = false;
  }
}

// --- showing -------------------------------------------------------------------------------------------------------

const bars = Array.from({ length: 10 }, (_, digit) => {
  const item = document.createElement("li");
  item.innerHTML =
    `<span aria-hidden="true">${digit}</span>` +
    `<div class="track" role="meter" aria-label="${digit}" aria-valuemin="0" aria-valuemax="100" aria-valuenow="0"><div class="fill"></div></div>` +
    `<span class="value" aria-hidden="true"></span>`;
  element("bars").append(item);
  return item;
});

const percent = (p) => (p >= 0.9995 ? "100 %" : `${(100 * p).toFixed(1)} %`);

function showBars(probabilities, best) {
  bars.forEach((item, digit) => {
    const p = probabilities[digit];
    item.classList.toggle("best", digit === best);
    item.querySelector(".fill").style.width = `${100 * p}%`;
    item.querySelector(".track").setAttribute("aria-valuenow", (100 * p).toFixed(1));
    item.querySelector(".value").textContent = best === null ? "" : percent(p);
  });
}

function showPixels(pixels) {
  const image = seen.createImageData(8, 8);
  pixels.forEach((value, i) => {
    const grey = 255 - Math.round((255 * value) / 16);
    image.data.set([grey, grey, grey, 255], 4 * i);
  });
  seen.putImageData(image, 0, 0);
}

function show(answer, milliseconds) {
  const sure = answer.probabilities[answer.digit];
  const word = sure > 0.95 ? "This is" : sure > 0.6 ? "This looks like" : "Perhaps";
  element("digit").textContent = answer.digit;
  element("sentence").textContent = `${word} a ${answer.digit}`;
  element("timing").textContent = `answered in ${milliseconds.toFixed(1)} ms`;
  element("problem").hidden = true;
  showBars(answer.probabilities, answer.digit);
  showPixels(answer.pixels);
}

function showNothing() {
  generation++;
  next = null;
  element("digit").textContent = "–";
  element("sentence").textContent = "Nothing drawn yet";
  element("timing").textContent = "";
  element("problem").hidden = true;
  showBars(new Array(10).fill(0), null);
  showPixels(new Array(64).fill(0));
}

function showProblem(text) {
  element("problem").textContent = text;
  element("problem").hidden = false;
}

async function showWhere() {
  try {
    const response = await fetch("digits", { headers: { Accept: "application/json" } });
    const { model, device, function: name } = await response.json();
    element("model").textContent = model;
    element("device").textContent = device;
    element("function").textContent = name;
  } catch {
    for (const id of ["model", "device", "function"]) element(id).textContent = "unknown";
  }
}

redraw();
showNothing();
showWhere();
