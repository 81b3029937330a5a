// Keys: of the table of items, of an open item, of the page.

const KEYS = [
  ["j  k  ↓  ↑", "next, previous item (of an open one: j  k  →  ←)"],
  ["Page Up  Page Down  Home  End", "further"],
  ["Enter", "opens an item’s traces"],
  ["Esc", "closes them"],
  ["s", "swaps A and B"],
  ["/", "finds items by text"],
  ["t", "light or dark"],
  ["?", "this list"],
];

function showKeys() {
  if (!ui.keys) {
    ui.keys = el("dialog", {class: "keys", "aria-label": "Keys"}, el("h2", {}, "Keys"),
      el("dl", {}, ...KEYS.flatMap(([keys, what]) => [
        el("dt", {}, ...keys.split("  ").flatMap((key) => [el("kbd", {}, key), " "])), el("dd", {}, what)])),
      el("form", {method: "dialog"}, el("button", {class: "quiet"}, "Close")));
    ui.keys.addEventListener("click", (event) => { if (event.target === ui.keys) ui.keys.close(); });
    document.body.append(ui.keys);
  }
  if (!ui.keys.open) ui.keys.showModal();
}

function isTyping(target) {
  return target.closest && target.closest("input, select, textarea");
}

// What moves in the table, by key.
function movement(key, page) {
  return {
    j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity,
  }[key];
}

function onTableKey(event) {
  const page = Math.max(1, Math.floor(ui.scroll.clientHeight / ROW) - 2);
  const by = movement(event.key, page);
  if (by !== undefined) {
    event.preventDefault();
    return moveTo(state.active + by);
  }
  if (event.key === "Enter" && event.target === ui.scroll) {
    event.preventDefault();
    openItem(state.view[state.active]);
  }
}

function onDialogKey(event) {
  const by = {j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1}[event.key];  // the others scroll
  if (by !== undefined) {
    event.preventDefault();
    step(by);
  } else if (event.key === "s") {
    swapSides();
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape" && event.target === ui.words) ui.scroll.focus();
    return;
  }
  if (ui.keys && ui.keys.open) return;
  if (event.key === "t") return toggleTheme();
  if (!index) return;
  if (event.key === "?") return showKeys();
  if (ui.dialog.open) return onDialogKey(event);
  if (event.key === "/") {
    event.preventDefault();
    ui.words.focus();
    return;
  }
  const inTable = ui.scroll.contains(event.target);
  if (event.key === "j" || event.key === "k") {
    if (!inTable) {
      event.preventDefault();
      document.getElementById("items").scrollIntoView();
      ui.scroll.focus({preventScroll: true});
      return draw(true);
    }
  }
  if (inTable) onTableKey(event);
}
