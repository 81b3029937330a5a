// One item: its prompt, and the traces of two runs side by side, the place where they part marked.

const opened = {row: null, a: null, b: null, sampleA: 0, sampleB: 0, drawing: 0};  // a, b: columns

function textAt(texts, place) {
  if (place === undefined || place === null) return null;
  const text = texts[place];
  return typeof text === "string" ? text : `${text[0]}\n⟨${number.format(text[1])} characters left out⟩\n${text[2]}`;
}

// The runs that stand on the sides A and B: those that the reader chose, as far as this suite has them.
function chosenRuns(suite) {
  const asked = suite.runs.filter((run) => resultOf(run, opened.row.item));
  const a = asked.find((run) => run.column === opened.a) ?? asked[0] ?? suite.runs[0];
  const b = asked.find((run) => run.column === opened.b && run !== a) ?? asked.find((run) => run !== a) ?? null;
  return [a, b];
}

function sideOf(suite, run, wanted, {texts, item}) {
  const place = suite.runs.indexOf(run);
  const entry = item.r[place];
  const samples = entry ? entry.s : [];
  const sample = Math.min(wanted, Math.max(0, samples.length - 1));
  const data = samples[sample] || null;
  return {
    run, place, entry, samples, data,
    // Members of shared beginnings name runs by their place.
    key: {run: place, sample, data},
    text: data ? textAt(texts, data.x) : null,
  };
}

function badge(letter) {
  const {sign, name} = OUTCOMES[letter.toLowerCase()];
  return el("span", {class: `badge o-${letter.toLowerCase()}`}, `${sign} ${name}`);
}

function headlineLetter(side, texts) {
  if (side.data.f !== undefined) return "f";
  const verdict = (side.data.v || []).find(([grader]) => textAt(texts, grader) === side.run.headline);
  return verdict ? OUTCOME_LETTERS[verdict[1]] || "f" : "u";
}

function facts(side, texts) {
  const {data} = side;
  const [prompt, generated, trace] = data.k || [null, null, null];
  const verdict = (data.v || []).find(([grader]) => textAt(texts, grader) === side.run.headline);
  const extracted = verdict ? textAt(texts, verdict[2]) : "";
  const list = el("dl", {class: "facts"});
  const add = (title, ...value) => list.append(el("div", {}, el("dt", {}, title), el("dd", {}, ...value)));
  if (extracted) add("answer", el("bdi", {class: "code"}, visible(extracted)));
  if (trace !== null) add("trace", plural(trace, "token"));
  if (generated !== null && generated !== trace) add("generated", plural(generated, "token"));
  const truncated = /length|context/.test(data.s);
  if (data.s) add("stopped by", data.s.replace("_", " "), truncated ? el("span", {class: "cut"}, " ✂ truncated") : null);
  if (prompt !== null) add("prompt", plural(prompt, "token"));
  if (side.entry.d) add("shots dropped", number.format(side.entry.d));
  return list;
}

function traceText(side, other, parting) {
  const box = el("div", {class: "trace", tabindex: 0, role: "group", "aria-label": "Trace"});
  if (!parting || parting.same || !other) {
    box.append(visible(side.text));
    return box;
  }
  // Of imported tokens it may be unknown which of them gave which part of the text.
  const place = parting.kind === "tokens" && !side.data.w && other.text !== null
    ? textDivergence(side.text, other.text) : parting;
  const [before, token, after] = cutAt(side, place);
  const ends = !token && (place.kind === "text" || !(side.data.e && side.data.e[place.at]));
  const detail = side.data.e && side.data.e[parting.at];
  // A token without text of its own: an end token, a piece of a character, what stands behind a stop string.
  const unseen = ends ? "⟨ends here⟩" : `⟨${detail && detail[4] ? "end token" : "token"} ${detail ? detail[0] : ""}⟩`;
  const shown = token ? visible(token) : unseen;
  box.append(el("span", {class: "same"}, visible(before)),
    el("mark", {class: token ? "parting" : "parting sign", "aria-label": "first difference"}, shown), visible(after));
  return box;
}

function choicesTable(side, texts) {
  const choices = side.data.c;
  const best = Math.max(...choices.map(([, logprob]) => logprob ?? -Infinity));
  return el("table", {class: "figures choices"},
    el("thead", {}, el("tr", {}, el("th", {scope: "col"}, "choice"),
      el("th", {scope: "col", class: "r"}, "log-probability"), el("th", {scope: "col", class: "r"}, "tokens"))),
    el("tbody", {}, ...choices.map(([text, logprob, tokens, , gold]) => {
      const likeliest = logprob === best;
      return el("tr", {class: likeliest ? "chosen" : null},
        el("td", {class: "long"}, el("bdi", {}, visible(textAt(texts, text).trim())),
          gold ? el("span", {class: "tag"}, "reference") : null,
          likeliest ? el("span", {class: "tag"}, "most likely") : null),
        el("td", {class: "r"}, logprob === null ? "–" : logprob.toFixed(3)),
        el("td", {class: "r"}, tokens === null ? "–" : number.format(tokens)));
    })));
}

function verdicts(side, texts) {
  const rows = (side.data.v || []).map(([grader, outcome, extracted, detail]) => el("tr", {},
    el("td", {}, oneLine(textAt(texts, grader))), el("td", {}, badge(OUTCOME_LETTERS[outcome] || "f")),
    el("td", {class: "code"}, el("bdi", {}, visible(textAt(texts, extracted)))),
    el("td", {}, el("bdi", {}, visible(textAt(texts, detail))))));
  if (!rows.length) return null;
  const titles = ["grader", "verdict", "extracted", "detail"].map((title) => el("th", {scope: "col"}, title));
  return el("details", {class: "verdicts"}, el("summary", {}, plural(rows.length, "verdict")),
    el("div", {class: "scroll"}, el("table", {class: "figures"}, el("thead", {}, el("tr", {}, ...titles)),
      el("tbody", {}, ...rows))));
}

function sideElement(name, side, other, parting, texts) {
  const {model, setting} = index.columns[side.run.column];
  const head = el("header", {}, el("span", {class: "mark"}, name), el("h3", {}, oneLine(setting)),
    el("span", {class: "model"}, oneLine(`${model} · ${side.run.asked} · run ${side.run.key}`)));
  const element = el("article", {class: "side", "aria-label": `${name}: ${oneLine(setting)}`}, head);
  if (!side.data) {
    element.append(el("p", {class: "empty"}, side.entry ? "Not answered yet." : "This run was not asked this item."));
    return element;
  }
  head.append(badge(headlineLetter(side, texts)));
  element.append(facts(side, texts));
  if (other && parting && parting.kind === "tokens" && !parting.same)
    element.append(el("p", {class: "about"}, aboutToken(side.key, other.key, name === "A" ? "B" : "A", parting)));
  if (side.data.f !== undefined) element.append(el("p", {class: "fault"}, visible(textAt(texts, side.data.f))));
  if (side.data.c) element.append(choicesTable(side, texts));
  if (side.text !== null) element.append(traceText(side, other, parting));
  else if (side.run.ask === "generate" && side.data.f === undefined)
    element.append(el("p", {class: "empty"}, "Imported without its text."));
  const graded = verdicts(side, texts);
  if (graded) element.append(graded);
  return element;
}

function partingLine(parting) {
  if (!parting) return null;
  const line = el("p", {class: "parting-line", role: "status"});
  const unit = parting.kind === "tokens" ? "token" : "character";
  if (parting.same) line.append(`The traces are the same, ${unit} by ${unit}.`);
  else if (parting.at) line.append(`The same for ${plural(parting.at, unit)}, then they part.`);
  else line.append(`They part at the first ${unit}.`);
  return line;
}

function promptElement(title, side, texts) {
  const box = el("pre", {class: "prompt", tabindex: 0, "aria-label": title});
  box.append(visible(textAt(texts, side.entry.p)));
  const element = el("details", {class: "prompt-fold", open: true}, el("summary", {}, title), box);
  // The question stands at the end of the examples.
  queueMicrotask(() => { box.scrollTop = box.scrollHeight; });
  element.addEventListener("toggle", () => { box.scrollTop = box.scrollHeight; });
  return element;
}

function prompts(a, b, texts) {
  const sides = [a, b].filter((side) => side && side.entry);
  if (sides.length === 2 && sides[0].entry.p === sides[1].entry.p) sides.pop();
  if (sides.length === 1) return [promptElement("Prompt", sides[0], texts)];
  return sides.map((side) => promptElement(side === a ? "Prompt of A" : "Prompt of B", side, texts));
}

function goldLine(a, b, texts) {
  const golds = [...new Set([a, b].filter((side) => side && side.entry).map((side) => side.entry.g))];
  if (!golds.some((gold) => textAt(texts, gold))) return null;
  return el("p", {class: "gold-line"}, el("span", {class: "label"}, "Reference"),
    ...golds.map((gold) => el("bdi", {class: "code"}, visible(textAt(texts, gold)))));
}

function sampleSelect(title, side, chosen, name) {
  if (!side || side.samples.length < 2) return null;
  const options = side.samples.map((sample, i) => [i, `sample ${sample.n}`]);
  return select(title, options, Math.min(chosen, side.samples.length - 1), (value) => {
    opened[name] = Number(value);
    drawItem();
  });
}

function pairBar(suite, a, b) {
  const options = suite.runs.map((run) => [run.column, oneLine(labelOf(suite, run))]);
  const change = (side) => (value) => { opened[side] = Number(value); drawItem(); };
  const swap = {type: "button", class: "quiet", "aria-label": "Swap A and B", title: "s", onclick: swapSides};
  return el("div", {class: "bar"}, select("A", options, a.run.column, change("a")),
    sampleSelect("", a, opened.sampleA, "sampleA"), b && el("button", swap, "⇄"),
    b && select("B", options, b.run.column, change("b")), sampleSelect("", b, opened.sampleB, "sampleB"));
}

function swapSides() {
  const [a, b] = chosenRuns(opened.row.suite);
  if (!b) return;
  [opened.a, opened.b, opened.sampleA, opened.sampleB] = [b.column, a.column, opened.sampleB, opened.sampleA];
  drawItem();
}

async function drawItem() {
  const mine = ++opened.drawing;
  const {row} = opened;
  const {suite, item} = row;
  showAddress(addressOf(row));
  ui.title.replaceChildren(el("span", {class: "suite"}, oneLine(suite.name)), " ",
    el("span", {class: "name"}, oneLine(suite.items[item])));
  ui.place.textContent = `${number.format(state.active + 1)} of ${number.format(state.view.length)}`;
  let content;
  try {
    content = await textsOf(row);
  } catch (error) {
    if (mine !== opened.drawing) return;
    ui.content.replaceChildren(el("p", {class: "fault"}, `The texts cannot be unpacked: ${error.message}`));
    return;
  }
  if (mine !== opened.drawing) return;
  const [runA, runB] = chosenRuns(suite);
  const {texts} = content;
  const a = sideOf(suite, runA, opened.sampleA, content);
  const b = runB && sideOf(suite, runB, opened.sampleB, content);
  const hasTrace = (side) => side && side.data && side.data.f === undefined && !side.data.c;
  const both = hasTrace(a) && hasTrace(b);
  const parting = both ? divergence(content.item, {...a.key, text: a.text}, {...b.key, text: b.text}) : null;
  const sides = el("div", {class: b ? "sides" : "sides one"}, sideElement("A", a, b, parting, texts),
    b && sideElement("B", b, a, parting, texts));
  const parts = [pairBar(suite, a, b), goldLine(a, b, texts), ...prompts(a, b, texts), partingLine(parting), sides];
  ui.content.replaceChildren(...parts.filter(Boolean));
  for (const mark of ui.content.querySelectorAll(".trace mark")) {
    const box = mark.closest(".trace");
    box.scrollTop = Math.max(0, mark.offsetTop - box.clientHeight / 3);
  }
}

function openItem(row) {
  if (!row) return;
  if (!ui.dialog.open) [opened.a, opened.b] = [state.a, state.b];
  opened.row = row;
  opened.sampleA = opened.sampleB = 0;
  if (!ui.dialog.open) ui.dialog.showModal();
  ui.content.scrollTop = 0;
  return drawItem();
}

function step(by) {
  const place = state.active + by;
  if (place < 0 || place >= state.view.length) return;
  moveTo(place);
  openItem(state.view[place]);
}

function buildDialog() {
  ui.title = el("h2", {id: "item-title"});
  ui.place = el("span", {class: "place"});
  ui.content = el("div", {class: "content", tabindex: -1, autofocus: true});
  ui.dialog = el("dialog", {class: "item", "aria-labelledby": "item-title"},
    el("header", {class: "top"}, ui.title, ui.place,
      el("button", {type: "button", class: "quiet", title: "k", onclick: () => step(-1)}, "‹ Previous"),
      el("button", {type: "button", class: "quiet", title: "j", onclick: () => step(1)}, "Next ›"),
      el("button", {type: "button", class: "quiet", title: "Esc", onclick: () => ui.dialog.close()}, "Close")),
    ui.content);
  ui.dialog.addEventListener("close", () => {
    if (ui.dialog.open) return;  // again, in the meantime
    ui.content.replaceChildren();
    showAddress("");
    ui.scroll.focus();
  });
  ui.dialog.addEventListener("click", (event) => { if (event.target === ui.dialog) ui.dialog.close(); });
  document.body.append(ui.dialog);
}
