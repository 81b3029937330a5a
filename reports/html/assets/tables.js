// The report's own tables: sorted by their headers, filtered where they are long. They stand in the file as
// plain tables and are read without this.

const LONG_TABLE = 16;  // rows from which on a table can be filtered

function valueOf(cell) {
  return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
}

// Numbers before texts, cells of neither last in both directions.
function compareCells(a, b, direction) {
  const [x, y] = [valueOf(a), valueOf(b)];
  if (x !== null && y !== null) return direction * (x - y);
  if (x !== null || y !== null) return x !== null ? -1 : 1;
  const [s, t] = [a.textContent.trim(), b.textContent.trim()];
  const nothing = (text) => text === "" || text === "–" || text === "—" || text === "-";
  if (nothing(s) || nothing(t)) return nothing(s) - nothing(t);
  return direction * natural.compare(s, t);
}

function sortTable(table, column) {
  const header = table.tHead.rows[0].cells[column];
  const next = {ascending: "descending", descending: "none"}[header.getAttribute("aria-sort")] || "ascending";
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  if (next !== "none") header.setAttribute("aria-sort", next);
  const direction = next === "descending" ? -1 : 1;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  for (const row of rows) row.dataset.place ??= row.rowIndex;
  rows.sort((a, b) => {
    const order = next === "none" ? 0 : compareCells(a.cells[column], b.cells[column], direction);
    return order || a.dataset.place - b.dataset.place;
  });
  body.append(...rows);
  table.classList.toggle("reordered", next !== "none");
}

function filterTable(table, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !wanted.every((word) => text.includes(word));
  }
  table.classList.toggle("filtered", wanted.length > 0);
}

function enhanceTable(table) {
  if (table.tBodies[0].rows.length > 1) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const title = cell.textContent;
      cell.replaceChildren(el("button", {type: "button", onclick: () => sortTable(table, column)}, title));
    });
  }
  const scroll = table.parentElement;
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  const heading = scroll.closest("section")?.querySelector("h2, h3, h4, h5, h6")?.textContent;
  scroll.setAttribute("aria-label", table.caption?.textContent || heading || "Table");
  if (table.tBodies[0].rows.length >= LONG_TABLE) {
    scroll.before(el("input", {
      type: "search", class: "filter-table", placeholder: "Filter rows", "aria-label": "Filter rows",
      oninput: (event) => filterTable(table, event.target.value),
    }));
  }
}
