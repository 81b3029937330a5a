// The table of items. Only the rows in sight are elements, so that it scrolls alike with ten and ten thousand.

const ROW = 30;      // pixels, as report.css has it
const MARGIN = 8;    // rows kept ready above and below
const narrow = matchMedia("(max-width: 640px)");  // a phone's: references are left to the opened items
const state = {
  suite: null,       // or all
  words: "", inTexts: false, found: null,  // rows whose texts have the words, where those are searched
  only: "all", a: 0, b: 0,                 // columns
  sort: null, descending: false,
  view: [], active: 0, columns: [], lengths: true,
};
const ui = {};

const FILTERS = {
  all: ["all items", () => true],
  disagree: ["runs disagree", (results) => new Set(results.map((r) => r.share)).size > 1],
  only_a: ["only A right", (_, a, b) => a && b && a.share > 0 && b.share === 0],
  only_b: ["only B right", (_, a, b) => a && b && b.share > 0 && a.share === 0],
  right: ["all right", (results) => results.length > 0 && results.every((r) => r.share === 1)],
  wrong: ["none right", (results) => results.length > 0 && results.every((r) => r.share === 0)],
  no_answer: ["no answer", (_, __, ___, letters) => /n/i.test(letters)],
  truncated: ["truncated", (_, __, ___, letters) => /[A-Z]/.test(letters)],
  fault: ["faults and time-outs", (_, __, ___, letters) => /[ft]/i.test(letters)],
};

function passes(row) {
  if (state.suite && row.suite !== state.suite) return false;
  if (state.words && !(state.found ? state.found.has(row) : hasWords(row))) return false;
  if (state.only === "all") return true;
  const all = row.suite.runs.map((run) => resultOf(run, row.item)).filter(Boolean);
  const of = (column) => resultOf(row.suite.byColumn.get(column), row.item);
  const counted = all.filter((result) => result.share !== null);
  return FILTERS[state.only][1](counted, of(state.a), of(state.b), all.map((r) => r.letters).join(""));
}

function hasWords(row) {
  const text = `${row.suite.name} ${row.suite.items[row.item]} ${row.suite.golds[row.item]}`.toLowerCase();
  return text.includes(state.words);
}

// What a row is sorted by; null goes last.
function sortValue(row) {
  const {kind, column} = state.sort;
  if (kind === "item") return row.suite.items[row.item];
  if (kind === "gold") return row.suite.golds[row.item];
  if (kind === "suite") return row.suite.name;
  const result = resultOf(row.suite.byColumn.get(column), row.item);
  return result && (kind === "tokens" ? result.tokens : result.share);
}

function sorted(view) {
  if (!state.sort) return view;
  const keyed = view.map((row, place) => ({row, place, value: sortValue(row)}));
  const direction = state.descending ? -1 : 1;
  keyed.sort((x, y) => {
    if (x.value === null || y.value === null) return (x.value === null) - (y.value === null) || x.place - y.place;
    const order = typeof x.value === "number" ? x.value - y.value : natural.compare(x.value, y.value);
    return direction * order || x.place - y.place;
  });
  return keyed.map(({row}) => row);
}

function refresh({keepPlace = false} = {}) {
  const active = state.view[state.active];
  state.view = sorted(rows.filter(passes));
  const place = active ? state.view.indexOf(active) : -1;
  state.active = Math.max(0, place);
  ui.count.textContent = state.view.length === rows.length
    ? plural(rows.length, "item") : `${number.format(state.view.length)} of ${plural(rows.length, "item")}`;
  ui.scroll.setAttribute("aria-rowcount", state.view.length + 1);
  ui.empty.hidden = state.view.length > 0;
  if (!keepPlace) ui.scroll.scrollTop = 0;
  draw(true);
}

function shownSuites() {
  return state.suite ? [state.suite] : index.suites;
}

function shownColumns() {
  const used = shownSuites().flatMap((suite) => suite.runs.map((run) => run.column));
  return [...new Set(used)].sort((a, b) => a - b);
}

function sortBy(kind, column = null) {
  const same = state.sort && state.sort.kind === kind && state.sort.column === column;
  if (same && state.descending === (kind === "outcome" || kind === "tokens" ? false : true)) state.sort = null;
  else if (same) state.descending = !state.descending;
  else [state.sort, state.descending] = [{kind, column}, kind === "outcome" || kind === "tokens"];
  drawHeader();
  refresh();
}

function headerCell(kind, title, column = null, properties = {}) {
  const on = state.sort && state.sort.kind === kind && state.sort.column === column;
  return el("th", {
    scope: "col", role: "columnheader",
    "aria-sort": on ? (state.descending ? "descending" : "ascending") : null, ...properties,
  }, el("button", {type: "button", onclick: () => sortBy(kind, column)}, title));
}

function columnMark(column) {
  return column === state.a ? "A" : column === state.b ? "B" : null;
}

function drawHeader() {
  state.columns = shownColumns();
  state.lengths = shownSuites().some((suite) => suite.runs.some((run) => run.tokens));
  const models = new Set(state.columns.map((column) => index.columns[column].model));
  const top = el("tr", {role: "row"});
  const bottom = el("tr", {role: "row", "aria-rowindex": 1});
  bottom.append(headerCell("item", "item", null, {class: "item"}));
  if (!state.suite && index.suites.length > 1) bottom.append(headerCell("suite", "suite", null, {class: "suite"}));
  if (!narrow.matches) bottom.append(headerCell("gold", "reference", null, {class: "gold"}));
  top.append(el("td", {class: "corner"}));
  if (bottom.children.length > 1) top.append(el("td", {colspan: bottom.children.length - 1}));
  for (const column of state.columns) {
    const {model, setting} = index.columns[column];
    const mark = columnMark(column);
    top.append(el("th", {
      colspan: state.lengths ? 2 : 1, scope: "colgroup", role: "columnheader", class: "group",
      title: oneLine(`${setting} · ${model}`),
    }, mark && el("span", {class: "mark"}, mark), el("span", {class: "setting"}, oneLine(setting)),
      models.size > 1 ? el("span", {class: "model"}, oneLine(model)) : null));
    bottom.append(headerCell("outcome", "outcome", column, {class: "outcome"}));
    if (state.lengths) bottom.append(headerCell("tokens", "tokens", column, {class: "tokens r"}));
  }
  ui.head.replaceChildren(top, bottom);
  ui.columns = bottom.children.length;
  // Fixed widths: the table does not change its shape while it scrolls.
  ui.cols.replaceChildren(...[...bottom.children].map((cell) => el("col", {class: cell.className.split(" ")[0]})));
}

function outcomeCell(result) {
  if (!result) return el("td", {class: "outcome none", role: "gridcell"}, "·");
  if (result.letters.length > 1) {
    return el("td", {class: "outcome many", role: "gridcell", title: `${result.right} of ${result.counted} right`},
      `${result.right}/${result.counted}`);
  }
  const letter = result.letters.toLowerCase();
  const {sign, name} = OUTCOMES[letter];
  return el("td", {class: `outcome o-${letter}`, role: "gridcell", title: name, "aria-label": name}, sign);
}

function tokensCell(result) {
  const text = result && result.tokens !== null ? number.format(Math.round(result.tokens)) : "";
  return el("td", {class: "tokens r", role: "gridcell"}, text,
    result && result.truncated ? el("span", {class: "cut", title: "truncated", "aria-label": "truncated"}, "✂") : null);
}

function drawRow(place) {
  const row = state.view[place];
  const item = oneLine(row.suite.items[row.item]);
  const gold = oneLine(row.suite.golds[row.item]);
  const line = el("tr", {
    id: `item-row-${place}`, role: "row", "aria-rowindex": place + 2, "aria-selected": String(place === state.active),
    class: place === state.active ? "active" : null,
  });
  line.append(el("td", {class: "item", role: "gridcell", title: item}, item));
  if (!state.suite && index.suites.length > 1)
    line.append(el("td", {class: "suite", role: "gridcell"}, oneLine(row.suite.name)));
  if (!narrow.matches) line.append(el("td", {class: "gold", role: "gridcell", title: gold}, gold));
  for (const column of state.columns) {
    const result = resultOf(row.suite.byColumn.get(column), row.item);
    line.append(outcomeCell(result));
    if (state.lengths) line.append(tokensCell(result));
  }
  return line;
}

function spacer(count) {
  const line = el("tr", {class: "spacer", "aria-hidden": "true"}, el("td", {colspan: ui.columns}));
  line.firstChild.style.height = `${count * ROW}px`;
  return line;
}

let drawn = {first: -1, last: -1};

function draw(force = false) {
  const top = Math.floor(ui.scroll.scrollTop / ROW);
  const fit = Math.ceil(ui.scroll.clientHeight / ROW);
  const first = Math.max(0, top - MARGIN);
  const last = Math.min(state.view.length, top + fit + MARGIN);
  // Nothing to do as long as what is in sight is drawn.
  if (!force && drawn.first <= Math.max(0, top - 1) && drawn.last >= Math.min(state.view.length, top + fit + 1)) return;
  drawn = {first, last};
  const lines = [];
  if (first > 0) lines.push(spacer(first));
  for (let place = first; place < last; ++place) lines.push(drawRow(place));
  if (last < state.view.length) lines.push(spacer(state.view.length - last));
  ui.body.replaceChildren(...lines);
  ui.scroll.setAttribute("aria-activedescendant", state.view.length ? `item-row-${state.active}` : "");
}

function moveTo(place) {
  if (!state.view.length) return;
  state.active = Math.min(Math.max(place, 0), state.view.length - 1);
  const head = ui.head.offsetHeight;
  const top = state.active * ROW;
  const bottom = top + ROW - (ui.scroll.clientHeight - head);
  if (ui.scroll.scrollTop > top) ui.scroll.scrollTop = top;
  else if (ui.scroll.scrollTop < bottom) ui.scroll.scrollTop = bottom;
  draw(true);
}

function select(title, options, chosen, onchange) {
  const list = el("select", {onchange: (event) => onchange(event.target.value)},
    ...options.map(([value, text]) => el("option", {value, selected: String(value) === String(chosen)}, text)));
  return el("label", {}, el("span", {}, title), list);
}

function columnOptions() {
  return shownColumns().map((column) => {
    const {model, setting} = index.columns[column];
    return [column, oneLine(`${setting} · ${model}`)];
  });
}

// The first two settings of one model, as far as there are.
function choosePair() {
  const columns = shownColumns();
  const model = (column) => index.columns[column].model;
  const first = columns.find((column) => columns.some((other) => other > column && model(other) === model(column)));
  state.a = first ?? columns[0] ?? 0;
  state.b = columns.find((column) => column > state.a && model(column) === model(state.a)) ?? columns.at(-1) ?? 0;
}

function drawPair() {
  const change = (side) => (value) => {
    state[side] = Number(value);
    drawHeader();
    refresh();
  };
  ui.pair.replaceChildren(select("A", columnOptions(), state.a, change("a")),
    select("B", columnOptions(), state.b, change("b")));
}

function chooseSuite(value) {
  state.suite = value === "" ? null : index.suites[Number(value)];
  state.sort = null;
  const columns = shownColumns();
  if (!columns.includes(state.a) || !columns.includes(state.b) || state.a === state.b) choosePair();
  drawPair();
  drawHeader();
  refresh();
}

function buildBar() {
  ui.words = el("input", {
    type: "search", placeholder: "Item, reference …", "aria-label": "Text of items", title: "/",
    oninput: () => searchSoon(),
  });
  ui.inTexts = el("input", {type: "checkbox", onchange: () => searchSoon(0)});
  ui.pair = el("span", {class: "pair"});
  ui.count = el("output", {class: "count", role: "status"});
  const suites = index.suites.map((suite, i) => [i, `${oneLine(suite.name)} (${number.format(suite.items.length)})`]);
  const filters = Object.entries(FILTERS).map(([name, [text]]) => [name, text]);
  return el("div", {class: "bar", role: "search"},
    index.suites.length > 1 ? select("Suite", [["", "all suites"], ...suites], "", chooseSuite) : null,
    select("Show", filters, "all", (value) => { state.only = value; refresh(); }), ui.pair,
    el("label", {}, el("span", {}, "Text"), ui.words),
    el("label", {class: "check"}, ui.inTexts, "in prompts and traces, too"), ui.count);
}

function buildItems() {
  const place = document.getElementById("items");
  choosePair();
  ui.head = el("thead", {role: "rowgroup"});
  ui.body = el("tbody", {role: "rowgroup"});
  ui.cols = el("colgroup", {});
  // What has the focus is the grid; the table within says how it looks.
  ui.table = el("table", {class: "items", role: "presentation"}, ui.cols, ui.head, ui.body);
  ui.scroll = el("div", {
    class: "items-scroll", tabindex: 0, role: "grid", "aria-readonly": "true",
    "aria-label": "Items; j and k move, Enter opens",
  }, ui.table);
  ui.empty = el("p", {class: "empty", hidden: true}, "No item is like that.");
  place.append(
    el("p", {class: "hint"}, "Every item that was asked, with its outcome and trace length under each setting; ",
      "✂ marks truncated traces. Open one to see its traces side by side. ",
      el("button", {type: "button", class: "link", onclick: () => showKeys()}, "Keys")),
    buildBar(), ui.scroll, ui.empty, el("p", {class: "print-only"}, "Items are left out in print."));
  let due = false;
  ui.scroll.addEventListener("scroll", () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  }, {passive: true});
  ui.body.addEventListener("click", (event) => {
    const line = event.target.closest("tr[aria-rowindex]");
    if (!line) return;
    moveTo(Number(line.getAttribute("aria-rowindex")) - 2);
    openItem(state.view[state.active]);
  });
  new ResizeObserver(() => draw(true)).observe(ui.scroll);
  narrow.addEventListener("change", () => { drawHeader(); draw(true); });
  drawPair();
  drawHeader();
  refresh();
}
