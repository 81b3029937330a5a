// Where two traces part.

// {kind: "tokens", at, same} by tokens, or {kind: "text", at, same} by characters, where the traces' tokens
// cannot be compared; null without traces. A side is {run: place in the suite, sample: place in its samples, data,
// text}.
function divergence(item, a, b) {
  const place = (members, side) => members.findIndex(([run, sample]) => run === side.run && sample === side.sample);
  for (const {m: members, n: lengths, p: shared} of item.l) {
    const [x, y] = [place(members, a), place(members, b)];
    if (x < 0 || y < 0) continue;
    const at = Math.min(lengths[x], ...shared.slice(Math.min(x, y), Math.max(x, y)));
    return {kind: "tokens", at, same: at === lengths[x] && at === lengths[y]};
  }
  return a.text === null || b.text === null ? null : textDivergence(a.text, b.text);
}

function textDivergence(a, b) {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) ++at;
  if (at > 0 && /[\ud800-\udbff]/.test(a[at - 1])) --at;  // characters that share their first half
  return {kind: "text", at, same: at === a.length && at === b.length};
}

// [text before, the token or character itself, text after]
function cutAt(side, {kind, at}) {
  let begin = at, end = Math.min(at + 1, side.text.length);
  if (kind === "tokens") {
    const lengths = side.data.w || [];
    begin = 0;
    for (let i = 0; i < at && i < lengths.length; ++i) begin += lengths[i];
    end = begin + (lengths[at] || 0);
  } else if (/[\ud800-\udbff]/.test(side.text[at] || "")) {
    ++end;  // both halves of a character
  }
  return [side.text.slice(0, begin), side.text.slice(begin, end), side.text.slice(end)];
}

function percent(logprob) {
  const share = 100 * Math.exp(logprob);
  return share >= 99.95 ? "> 99.9 %" : share < 0.05 ? "< 0.1 %" : `${share.toFixed(1)} %`;
}

// What is known of the token at which a trace parts from the other, as a sentence; `name` is the other side's.
function aboutToken(side, other, name, {at}) {
  const token = side.data.e && side.data.e[at];
  if (!token) return `Ends after ${plural(at, "token")}.`;
  const [id, logprob, second, secondLogprob] = token;
  let text = `Token ${number.format(at + 1)} (id ${id})`;
  if (logprob !== null) text += `: ${percent(logprob)}`;
  if (second === null || secondLogprob === null) return `${text}.`;
  const others = other.data.e && other.data.e[at];
  const who = others && others[0] === second ? `${name}’s` : `id ${second}`;
  return `${text}; second was ${who}: ${percent(secondLogprob)}.`;
}
