/* Elements, and untrusted text: set as text only, with what would not be seen made visible. */
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function shown(text) {
  const fragment = document.createDocumentFragment();
  let done = 0;
  for (const found of String(text).matchAll(UNSEEN)) {
    if (found.index > done) fragment.append(String(text).slice(done, found.index));
    const mark = document.createElement("span");
    mark.className = "unseen";
    mark.textContent = `U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    fragment.append(mark);
    done = found.index + found[0].length;
  }
  fragment.append(String(text).slice(done));
  return fragment;
}

/* Text for an attribute, where what is not seen cannot be made visible. */
function tame(text) {
  return String(text).replace(UNSEEN, "");
}

/* An element; strings among its children are shown as text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") element.addEventListener(...value);
    else element.setAttribute(name, value === true ? "" : tame(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === "object" ? child : shown(child));
  }
  return element;
}

/* Text in which the given stretches are marked. */
function marked(text, stretches) {
  const spans = [];
  for (const stretch of stretches) {
    const start = stretch ? text.indexOf(stretch) : -1;
    if (start >= 0) spans.push([start, start + stretch.length]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  const fragment = document.createDocumentFragment();
  let done = 0;
  for (const [start, end] of spans) {
    if (end <= done) continue;
    const from = Math.max(start, done);
    fragment.append(shown(text.slice(done, from)));
    fragment.append(make("mark", {}, text.slice(from, end)));
    done = end;
  }
  fragment.append(shown(text.slice(done)));
  return fragment;
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/* A score as a sign, which is never told by colour alone. */
function sign(score) {
  if (score === null || score === undefined) return ["–", "none", "unmeasured"];
  if (score === 1) return ["✓", "right", "1"];
  if (score === 0) return ["✗", "wrong", "0"];
  const number = String(Math.round(score * 100) / 100);
  return [number, score >= 0.5 ? "right" : "wrong", number];
}
