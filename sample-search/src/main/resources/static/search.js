// Searches while the user types: only the latest query counts, earlier ones are aborted.

const PAUSE = 120; // milliseconds without a keystroke before a query is sent
const COMMON = new Set('and are but can does for from has how not that the this was what when where which who why will with you'.split(' '));
const element = id => document.getElementById(id);
const input = element('query');
const rerank = element('rerank');
const status = element('status');
const problem = element('problem');
const results = element('results');

let waiting;
let asking = new AbortController();

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

async function get(path, signal) {
  const response = await fetch(path, { signal, headers: { Accept: 'application/json' } });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.detail || `the server answered ${response.status}`);
  return body;
}

/** The text with the words of the query marked. */
function marked(text, query) {
  const words = (query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || []).filter(word => !COMMON.has(word));
  if (!words.length) return [text];
  const found = new RegExp(`\\b(?:${words.join('|')})[\\p{L}\\p{N}]*`, 'giu');
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(found)) {
    parts.push(text.slice(end, match.index), make('mark', { textContent: match[0] }));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function hit({ passage, score, nearest }, query, isReranked) {
  const said = isReranked ? `relevance ${score.toFixed(2)}, place ${nearest} by similarity` : `similarity ${score.toFixed(2)}`;
  const share = Math.max(0, Math.min(1, score));
  const fill = make('div', { className: 'fill' });
  fill.style.width = `${(share * 100).toFixed(1)}%`;
  const track = make('div', { className: 'track' }, fill);
  track.setAttribute('aria-hidden', 'true');
  return make('li', {},
    make('h3', {}, make('a', { href: `documents/${passage.page}`, textContent: passage.title })),
    make('p', { className: 'under', textContent: passage.heading || passage.page }),
    make('p', { className: 'text' }, ...marked(passage.text, query)),
    make('div', { className: 'nearness' }, track, make('span', { textContent: said })));
}

function say(text) {
  problem.hidden = true;
  status.textContent = text;
}

async function ask() {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const query = input.value.trim();
  const url = new URL(location.href);
  if (query) url.searchParams.set('q', query); else url.searchParams.delete('q');
  if (rerank.checked) url.searchParams.set('rerank', 'true'); else url.searchParams.delete('rerank');
  history.replaceState(null, '', url);
  if (!query) {
    results.replaceChildren();
    say('\u00a0');
    return;
  }
  try {
    const answer = await get(`search?q=${encodeURIComponent(query)}&rerank=${rerank.checked}`, signal);
    results.replaceChildren(...answer.hits.map(each => hit(each, query, answer.isReranked)));
    const partly = answer.index.indexed < answer.index.passages
      ? `, of ${answer.index.indexed} of ${answer.index.passages} passages so far` : '';
    say(answer.hits.length
      ? `The ${answer.hits.length} ${answer.isReranked ? 'most relevant of the nearest' : 'nearest'} passages${partly}, found in ${answer.millis.toFixed(1)} ms`
      : `Nothing found${partly}`);
  } catch (failure) {
    if (failure.name === 'AbortError') return;
    results.replaceChildren();
    say('\u00a0');
    problem.textContent = `The search failed: ${failure.message}`;
    problem.hidden = false;
  }
}

input.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(ask, PAUSE);
});
rerank.addEventListener('change', ask);
input.form.addEventListener('submit', event => {
  event.preventDefault();
  clearTimeout(waiting);
  ask();
});
for (const example of document.querySelectorAll('.examples button')) {
  example.addEventListener('click', () => {
    input.value = example.textContent;
    input.focus();
    ask();
  });
}

async function about() {
  try {
    const model = await get('model');
    element('model').textContent = model.name;
    element('dimensions').textContent = model.dimensions;
    const { passages, indexed, problem: stopped } = model.index;
    element('passages').textContent = stopped ? `${indexed} of ${passages}: ${stopped}`
      : passages && indexed === passages ? passages : `${indexed} of ${passages || '…'}`;
    element('small').hidden = !model.isSmall;
    element('about').textContent = model.isSmall
      ? 'This is the small encoder bundled with the sample. It was trained on these documents alone: it knows which words occur together in them.'
      : `This is ${model.name}, a model that was trained on sentences and prepared with bin/prepare-model.`;
    if (!stopped && (!passages || indexed < passages)) setTimeout(about, 500);
  } catch (failure) {
    element('about').textContent = `The server does not answer: ${failure.message}`;
  }
}

input.value = new URL(location.href).searchParams.get('q') || '';
rerank.checked = new URL(location.href).searchParams.get('rerank') === 'true';
about();
if (input.value) ask();
input.focus();
