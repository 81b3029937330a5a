// An opened item has an address of its own, to be kept or sent with the file:
// #item=SUITE/ID&a=COLUMN&b=COLUMN, columns as the index counts them.

function addressOf(row) {
  const item = `${encodeURIComponent(row.suite.name)}/${encodeURIComponent(row.suite.items[row.item])}`;
  return `#item=${item}&a=${opened.a}&b=${opened.b}`;
}

// Other names for a place in the same file: a browser may refuse that of a file.
function showAddress(address) {
  try {
    history.replaceState(null, "", address || location.pathname + location.search);
  } catch { /* the item is open all the same */ }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;  // no address of ours
  }
}

// The item that the page's address names: {row, a, b}, or null.
function addressed() {
  const found = /^#item=([^/&]*)\/([^/&]*)&a=(\d+)&b=(\d+)$/.exec(location.hash);
  if (!found) return null;
  const [suite, item] = [decoded(found[1]), decoded(found[2])];
  const row = rows.find((other) => other.suite.name === suite && other.suite.items[other.item] === item);
  return row ? {row, a: Number(found[3]), b: Number(found[4])} : null;
}

function openAddressed() {
  const wanted = addressed();
  if (!wanted) return;
  if (index.columns[wanted.a] && index.columns[wanted.b]) [state.a, state.b] = [wanted.a, wanted.b];
  drawPair();
  drawHeader();
  const place = state.view.indexOf(wanted.row);
  if (place >= 0) moveTo(place);
  [opened.a, opened.b] = [state.a, state.b];
  openItem(wanted.row);
}
