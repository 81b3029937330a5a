// What makes a page of a file: called once, when all of it is there.

// The contents say which section is in sight.
function followSections() {
  const links = new Map([...document.querySelectorAll("nav.contents a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("main section[id]")].filter((section) => links.has(section.id));
  let current = null;
  const follow = () => {
    const above = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 4);
    const link = above.length ? links.get(above.at(-1).id) : null;
    if (link === current) return;
    if (current) current.removeAttribute("aria-current");
    if (link) link.setAttribute("aria-current", "true");
    current = link;
  };
  let due = false;
  addEventListener("scroll", () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; follow(); });
  }, {passive: true});
  follow();
}

// Beside the text the contents are open, above it they are folded.
function foldContents() {
  const beside = matchMedia("(min-width: 1101px)");
  const fold = () => { document.querySelector("nav.contents details").open = beside.matches; };
  beside.addEventListener("change", fold);
  fold();
}

// What is folded is printed, too.
function unfoldForPrint() {
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    for (const fold of unfolded) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of unfolded) fold.open = false;
    unfolded = [];
  });
}

function build() {
  addThemeButton(document.querySelector("main > header"));
  foldContents();
  for (const table of document.querySelectorAll("main table.figures")) enhanceTable(table);
  if (readIndex()) {
    buildItems();
    buildDialog();
    openAddressed();
    addEventListener("hashchange", openAddressed);
  }
  document.addEventListener("keydown", onKey);
  followSections();
  unfoldForPrint();
  performance.mark("fullband-ready");
}

function start() {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", build);
  else build();
}
