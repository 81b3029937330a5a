// Finding items by text: ids and references at once, prompts and traces block by block as they are unpacked.

let searching = 0;  // grows with every search; an older one stops
let waiting = null;

function searchSoon(delay = 120) {
  clearTimeout(waiting);
  waiting = setTimeout(search, delay);
}

async function search() {
  const mine = ++searching;
  state.words = ui.words.value.trim().toLowerCase();
  state.inTexts = ui.inTexts.checked;
  state.found = null;
  if (!state.words || !state.inTexts) return refresh();
  const wanted = state.suite ? rows.filter((row) => row.suite === state.suite) : rows;
  state.found = new Set(wanted.filter(hasWords));
  refresh();
  for (let i = 0; i < wanted.length;) {
    const number = blockNumber(wanted[i]);
    const block = await inflate(JSON.parse(document.getElementById(`item-block-${number}`).textContent));
    if (mine !== searching) return;
    const whole = (text) => (typeof text === "string" ? text : text[0] + text[2]);
    const has = block.t.map((text) => whole(text).toLowerCase().includes(state.words));
    for (; i < wanted.length && blockNumber(wanted[i]) === number; ++i)
      if (textIndices(block.i[wanted[i].item % index.block]).some((text) => has[text])) state.found.add(wanted[i]);
    if (number % 16 === 0) refresh({keepPlace: true});
  }
  refresh({keepPlace: true});
}

// Of all texts that the item shows.
function textIndices(item) {
  const found = [];
  for (const run of item.r) {
    if (!run) continue;
    found.push(run.p, run.g);
    for (const sample of run.s) {
      for (const text of [sample.x, sample.f]) if (text !== undefined) found.push(text);
      for (const choice of sample.c || []) found.push(choice[0]);
      for (const verdict of sample.v || []) found.push(verdict[2]);
    }
  }
  return found;
}
