// Elements and texts. What models and data sets wrote enters the page through text nodes alone.

// el("td", {class: "r", onclick: f}, "text", element, null, ...)
function el(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Control characters, those of no width and those that turn the direction of writing.
const UNSEEN = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e" +
  "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]", "g");

function nameOf(character) {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return "U+" + code.toString(16).toUpperCase().padStart(4, "0");
}

// The text, what is not seen in it written out.
function visible(text) {
  const fragment = document.createDocumentFragment();
  let begin = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > begin) fragment.append(text.slice(begin, found.index));
    fragment.append(el("span", {class: "unseen"}, nameOf(found[0])));
    begin = found.index + 1;
  }
  fragment.append(text.slice(begin));
  return fragment;
}

// The same for attributes and one-line cells: line ends become visible, too.
function oneLine(text) {
  return text.replace(UNSEEN, nameOf).replace(/\s*\n\s*/g, " ⏎ ").trim();
}

const number = new Intl.NumberFormat("en-US");
const natural = new Intl.Collator("en-US", {numeric: true});

function plural(count, word) {
  return `${number.format(count)} ${word}${count === 1 ? "" : "s"}`;
}
