// The items' index and their texts (reports/html/items.h says how both are laid out).

const OUTCOMES = {
  c: {sign: "✓", name: "correct"},
  i: {sign: "✗", name: "incorrect"},
  n: {sign: "∅", name: "no answer"},
  t: {sign: "⧖", name: "time-out"},
  f: {sign: "!", name: "fault"},
  u: {sign: "?", name: "not graded"},
};
const OUTCOME_LETTERS = {correct: "c", incorrect: "i", no_answer: "n", timeout: "t", fault: "f"};

let index = null;
let rows = [];  // {suite, item}: every item of every suite

function readIndex() {
  const place = document.getElementById("item-index");
  if (!place) return false;
  index = JSON.parse(place.textContent);
  place.remove();
  for (const suite of index.suites) {
    suite.runs = suite.runs.map((run) => index.runs[run]);
    suite.byColumn = new Map(suite.runs.map((run) => [run.column, run]));
    suite.items.forEach((_, item) => rows.push({suite, item}));
  }
  return true;
}

// What the run made of the item: letters of its samples, how many of those that count are right, the mean trace
// length. Null where it was not asked.
function resultOf(run, item) {
  if (!run || run.samples === 0) return null;
  const begin = item * run.samples;
  const letters = run.outcomes.slice(begin, begin + run.samples).replaceAll("-", "");
  if (!letters) return null;
  let right = 0, counted = 0, tokens = 0, measured = 0;
  for (let i = 0; i < letters.length; ++i) {
    const letter = letters[i].toLowerCase();
    if (letter !== "f" && letter !== "u") ++counted;
    if (letter === "c") ++right;
    if (run.tokens && run.tokens[begin + i] >= 0) {
      tokens += run.tokens[begin + i];
      ++measured;
    }
  }
  return {
    letters, right, counted,
    share: counted ? right / counted : null,
    tokens: measured ? tokens / measured : null,
    truncated: /[A-Z]/.test(letters),
  };
}

// Whether two runs of the suite go by the same model and setting.
function labelsMeet(suite, run) {
  const name = (other) => `${index.columns[other.column].model} ${index.columns[other.column].setting}`;
  return suite.runs.some((other) => other !== run && name(other) === name(run));
}

function labelOf(suite, run) {
  const {model, setting} = index.columns[run.column];
  const more = labelsMeet(suite, run) ? `, ${run.asked}, run ${run.key}` : "";
  return `${setting} · ${model}${more}`;
}

const unpacked = new Map();  // block -> promise; the last ones only
const KEPT_BLOCKS = 12;

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function blockOf(number) {
  let block = unpacked.get(number);
  if (block) unpacked.delete(number);
  else block = inflate(JSON.parse(document.getElementById(`item-block-${number}`).textContent));
  unpacked.set(number, block);
  if (unpacked.size > KEPT_BLOCKS) unpacked.delete(unpacked.keys().next().value);
  return block;
}

function blockNumber({suite, item}) {
  return suite.first + Math.floor(item / index.block);
}

// {texts, item}, as items.h has them.
async function textsOf(row) {
  const block = await blockOf(blockNumber(row));
  return {texts: block.t, item: block.i[row.item % index.block]};
}
