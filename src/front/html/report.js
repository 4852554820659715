// The page of `seechange compare`. What the report says becomes text nodes and attributes, never
// markup. One state, drawn by three functions: the list, the pair, and where its pictures lie.
"use strict";
(() => {
const report = JSON.parse(document.getElementById("report").textContent);

const VERDICTS = {
  unreadable: { rank: 0, sign: "!", heading: "Unreadable" },
  resized: { rank: 1, sign: "\u2922", heading: "Resized" },
  changed: { rank: 2, sign: "\u2260", heading: "Changed" },
  added: { rank: 3, sign: "+", heading: "Added" },
  removed: { rank: 4, sign: "\u2212", heading: "Removed" },
};
const VIEWS = [
  ["side", "Side by side"],
  ["slider", "Slider"],
  ["flip", "Flip"],
  ["onion", "Onion skin"],
  ["difference", "Difference"],
  ["overview", "Overview"],
];
const SIDES = { before: "Before", actual: "Actual" };
const SORTS = [
  ["worst", "Worst first"],
  ["pixels", "Most pixels first"],
  ["path", "By path"],
];
const KEYS = [
  ["j  \u2193 / k  \u2191", "next / previous pair"],
  ["1 \u2026 6", "side by side, slider, flip, onion skin, difference, overview"],
  ["f", "flip between before and actual"],
  ["\u2190 / \u2192", "move the slider, fade the onion skin, flip"],
  ["n / p", "next / previous area"],
  ["+ / \u2212", "zoom in / out (also the wheel)"],
  ["0 / w / z", "fit all / fit the width / one to one"],
  ["Shift + arrows", "move the picture (also by dragging)"],
  ["o / x", "outlines / what was ignored, on or off"],
  ["d", "difference: marked or subtracted; side by side: a third pane"],
  ["i", "details on or off"],
  ["a / A", "tick the pair for acceptance / and go on"],
  ["c", "the command that accepts"],
  ["/", "filter by path"],
  ["Esc", "out of a field; fit all; back to the list"],
];
const ROW_PX = 46;
const HEADING_PX = 32;
const PX_AROUND = 300;
const MOST_OUTLINES = 400;
const MAX_ZOOM = 64;
const ZOOMS = [1 / 16, 1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

const isNarrow = () => matchMedia("(max-width: 820px)").matches;

const state = {
  sort: "worst", text: "", only: new Set(), hideAllowed: false,
  row: null, missing: null,
  view: "side", fit: "all", scale: 1, x: 0, y: 0,
  split: 0.5, onion: 0.5, flipped: false,
  outlines: true, ignored: false, subtract: false, third: false, details: !isNarrow(),
  area: null,
};

// --- Elements -------------------------------------------------------------------------------

/** An element with attributes and children; strings become text. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function button(label, attributes, act) {
  const made = make("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

function toggle(label, key, title, change) {
  const made = button(label, { class: "toggle", title: `${title} (${key})`, "aria-pressed": "false" }, change);
  made.setAttribute("aria-keyshortcuts", key);
  return made;
}

const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

// --- What the report says -------------------------------------------------------------------

const inlined = new Map();
for (const element of document.querySelectorAll("script[data-path]")) {
  inlined.set(element.dataset.path, element);
}
const isSingle = inlined.size > 0;

/** Whether a path names a file in a pair's folder: everything else is not a picture of ours. */
function isInside(path) {
  const parts = String(path).split("/");
  return parts.length > 2 && parts[0] === "pairs"
    && parts.slice(1).every((part) => !["", ".", ".."].includes(part) && !part.includes("\\"));
}

function pictureUrl(path) {
  if (typeof path !== "string" || !isInside(path)) return null;
  const inside = inlined.get(path);
  if (inside) return `data:${inside.dataset.type};base64,${inside.textContent.trim()}`;
  return isSingle ? null : path.split("/").map(encodeURIComponent).join("/");
}

const rows = (report.rows ?? []).filter((row) => row.verdict in VERDICTS);
rows.forEach((row, index) => {
  row.index = index;
  const cut = row.path.lastIndexOf("/") + 1;
  row.folder = row.path.slice(0, cut);
  row.name = row.path.slice(cut);
  row.lower = row.path.toLowerCase();
  row.link = `#/${row.path.split("/").map(encodeURIComponent).join("/")}`;
});
const byPath = new Map();
for (const row of rows) byPath.set(row.path, [...(byPath.get(row.path) ?? []), row]);

const areasOf = (row) => row.diff?.areas ?? [];
const movedOf = (row) => row.diff?.moved ?? [];
const ratioOf = (row) => row.diff?.changed_ratio ?? 0;
const changedPixels = (row) => (row.diff?.changed_pixels ?? 0) + (row.diff?.moved_pixels ?? 0);
const overviewOf = (row) => (row.diff?.pictures ?? []).find((one) => one.role === "overview")?.path ?? null;
const canAccept = (row) => row.verdict !== "unreadable";

/** The size a side has once it is upright; null where there is no such side. */
function sizeOf(row, side) {
  const compared = row.diff?.[side === "actual" ? "after" : "before"];
  const file = row.files?.[side];
  if (!file) return null;
  const size = compared ?? file;
  return size.width && size.height ? { width: size.width, height: size.height } : null;
}

function percent(ratio) {
  if (!ratio) return "0 %";
  const value = ratio * 100;
  // As in the report's sentences, ties to even included.
  if (value < 0.005) return "< 0.01 %";
  if (value >= 99.5 && value < 100) return "> 99 %";
  const digits = value < 0.995 ? 2 : value < 9.95 ? 1 : 0;
  const minimumFractionDigits = digits === 1 ? 1 : 0;
  const rounding = { minimumFractionDigits, maximumFractionDigits: digits, roundingMode: "halfEven" };
  return `${value.toLocaleString("en", rounding)} %`;
}

const sizeText = (size) => (size ? `${size.width}\u00d7${size.height}` : "?");

/** What a row of the list says after its verdict. */
function summary(row) {
  const before = sizeOf(row, "before");
  const actual = sizeOf(row, "actual");
  if (row.verdict === "resized") return `${sizeText(before)} \u2192 ${sizeText(actual)}`;
  if (row.verdict === "added") return actual ? sizeText(actual) : "";
  if (row.verdict === "removed") return before ? sizeText(before) : "";
  if (row.verdict === "unreadable") return row.error?.side ?? "";
  const moved = movedOf(row).length;
  const parts = [percent(ratioOf(row)), count(areasOf(row).length, "area")];
  if (moved) parts.push(`${moved} moved`);
  return parts.join(" \u00b7 ");
}

// --- Kept between visits --------------------------------------------------------------------

/** Two reports with other pairs or pictures do not share their ticks. */
function fingerprint() {
  let hash = 0x811c9dc5;
  let other = 0x1234567;
  const add = (text) => {
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
      other = Math.imul(other + text.charCodeAt(at), 0x5bd1e995) ^ (other >>> 13);
    }
  };
  for (const row of rows) add(`${row.path}\0${row.verdict}\0${row.files?.actual?.sha256 ?? ""}\0`);
  return `${(hash >>> 0).toString(36)}${(other >>> 0).toString(36)}`;
}

/** Storage is refused in some browsers for files; then everything lives as long as the page. */
const kept = {
  get(name) {
    try { return localStorage.getItem(`seechange:${name}`); } catch { return null; }
  },
  set(name, value) {
    try { localStorage.setItem(`seechange:${name}`, value); } catch { /* in memory then */ }
  },
};
const ticksName = `ticks:${fingerprint()}`;
const ticked = new Set();
for (const number of (kept.get(ticksName) ?? "").split(",")) {
  const row = rows.find((one) => String(one.number) === number);
  if (row && canAccept(row)) ticked.add(row);
}

function tick(some, on) {
  for (const row of some.filter(canAccept)) {
    if (on) ticked.add(row); else ticked.delete(row);
  }
  kept.set(ticksName, [...ticked].map((row) => row.number).join(","));
  drawTicks();
}

// --- The command that accepts ---------------------------------------------------------------

/**
 * One word for a POSIX shell. What a terminal would act on when it is pasted (control characters)
 * and bytes that are no text are written by printf; a line break is safe inside quotes, and would
 * be lost at the end of a command substitution.
 */
function quoted(bytes) {
  let word = "";
  let text = [];
  const flush = () => {
    if (text.length) word += `'${new TextDecoder().decode(new Uint8Array(text)).replaceAll("'", "'\\''")}'`;
    text = [];
  };
  for (const part of readable(bytes)) {
    if (part.plain) { text.push(...part.bytes); continue; }
    flush();
    word += `"$(printf '${part.bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}')"`;
  }
  flush();
  return word || "''";
}

/** A name cut into characters; `plain` is text that may stand in quotes as it is. */
function readable(bytes) {
  const parts = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for (let at = 0; at < bytes.length;) {
    const length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
    let part = [...bytes.slice(at, at + length)];
    let plain = false;
    try {
      plain = part.length === length && !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(decoder.decode(new Uint8Array(part)));
    } catch {
      part = [bytes[at]];
    }
    parts.push({ plain, bytes: part });
    at += part.length;
  }
  return parts;
}

function bytesOf(row) {
  if (!row.path_bytes) return new TextEncoder().encode(row.path);
  return Uint8Array.from(row.path_bytes.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Playwright keeps its goldens elsewhere, and accepts all of them or none. */
const isPlaywright = report.options?.layout === "playwright";

/** One or more commands, none longer than a system takes. */
function acceptCommand(folder, chosen) {
  if (isPlaywright) return "npx playwright test --update-snapshots";
  const names = chosen.map(bytesOf);
  const where = new TextEncoder().encode(folder);
  const dashes = [where, ...names].some((bytes) => bytes[0] === 0x2d);
  const removed = chosen.some((row) => row.verdict === "removed") ? "--delete-removed " : "";
  const start = `seechange accept ${removed}${dashes ? "-- " : ""}${/^[\w./+-]+$/.test(folder) ? folder : quoted(where)}`;
  const commands = [];
  let line = start;
  for (const name of names.map(quoted)) {
    if (line !== start && line.length + name.length > 100000) {
      commands.push(line);
      line = start;
    }
    line += ` ${name}`;
  }
  return [...commands, line].join("\n");
}

/** The report's folder where the page knows it: opened from a file it lies in it. */
function ownFolder() {
  if (location.protocol !== "file:" || isSingle) return "REPORT";
  try {
    const path = decodeURIComponent(location.pathname.slice(0, location.pathname.lastIndexOf("/")));
    return (/^\/[A-Za-z]:/.test(path) ? path.slice(1) : path) || "/";
  } catch {
    return "REPORT";
  }
}

// --- The list -------------------------------------------------------------------------------

const list = {
  scroller: make("div", { class: "scroller", tabindex: "-1" }),
  inside: make("ul", { class: "rows", "aria-label": "Pairs" }),
  empty: make("p", { class: "empty" }),
  shown: new Map(),
  items: [],
  rows: [],
  height: 0,
};
list.scroller.append(list.inside, list.empty);

const worse = (a, b) =>
  VERDICTS[a.verdict].rank - VERDICTS[b.verdict].rank
  || ratioOf(b) - ratioOf(a) || changedPixels(b) - changedPixels(a) || a.index - b.index;
const ORDERS = {
  worst: worse,
  pixels: (a, b) => changedPixels(b) - changedPixels(a) || worse(a, b),
  path: (a, b) => a.index - b.index,
};

function isWanted(row) {
  return (state.only.size === 0 || state.only.has(row.verdict))
    && !(state.hideAllowed && row.allowed)
    && state.text.toLowerCase().split(/\s+/).every((word) => row.lower.includes(word));
}

/** Sorts and filters anew: rows, with a heading before each kind. */
function arrange() {
  const wanted = rows.filter(isWanted).sort(ORDERS[state.sort]);
  const failing = wanted.filter((row) => !row.allowed);
  const allowed = wanted.filter((row) => row.allowed);
  list.rows = [...failing, ...allowed];
  list.items = [];
  let last = null;
  for (const row of list.rows) {
    const kind = row.allowed ? "Allowed" : state.sort === "worst" ? VERDICTS[row.verdict].heading : "Not allowed";
    if (kind !== last && (state.sort === "worst" || allowed.length > 0)) {
      const same = (one) => (kind === "Allowed" ? one.allowed : !one.allowed && (state.sort !== "worst" || one.verdict === row.verdict));
      list.items.push({ heading: kind, count: list.rows.filter(same).length });
    }
    last = kind;
    list.items.push({ row });
  }
  list.height = 0;
  list.items.forEach((item, index) => {
    item.index = index;
    item.top = list.height;
    list.height += item.row ? ROW_PX : HEADING_PX;
  });
  for (const element of list.shown.values()) element.remove();
  list.shown.clear();
  drawList();
  drawCounts();
}

/** Only the rows in sight are in the document. */
function drawList() {
  list.inside.style.height = `${list.height}px`;
  list.empty.hidden = list.rows.length > 0;
  const { scrollTop, clientHeight } = list.scroller;
  const first = firstBelow(scrollTop - PX_AROUND);
  const last = firstBelow(scrollTop + clientHeight + PX_AROUND);
  for (const [index, element] of list.shown) {
    if ((index < first || index >= last) && !element.contains(document.activeElement)) {
      element.remove();
      list.shown.delete(index);
    }
  }
  for (let index = first; index < last; index += 1) {
    if (!list.shown.has(index)) insertItem(index);
  }
}

/** The first item that begins at or below a height, by bisection. */
function firstBelow(height) {
  let [low, high] = [0, list.items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list.items[middle].top < height) low = middle + 1; else high = middle;
  }
  return low;
}

/** In the order of the list, which is that of the Tab key. */
function insertItem(index) {
  const item = list.items[index];
  const element = item.row ? rowElement(item.row) : headingElement(item);
  element.style.top = `${item.top}px`;
  let next = null;
  for (const [at, other] of list.shown) {
    if (at > index && (next === null || at < next[0])) next = [at, other];
  }
  list.inside.insertBefore(element, next?.[1] ?? null);
  list.shown.set(index, element);
}

function headingElement(item) {
  return make("li", { class: "heading", role: "presentation" },
    make("span", {}, item.heading), make("span", { class: "quiet" }, ` ${item.count}`));
}

function rowElement(row) {
  const place = list.rows.indexOf(row);
  const box = make("input", {
    type: "checkbox", name: "accept", "aria-label": `accept ${row.path}`, title: "accept (a)", disabled: !canAccept(row),
  });
  box.checked = ticked.has(row);
  box.addEventListener("change", () => tick([row], box.checked));
  const link = make("a", { href: row.link, title: row.path, "aria-current": row === state.row ? "true" : null },
    sign(row),
    make("span", { class: "what" },
      make("span", { class: "path" }, make("span", { class: "folder" }, row.folder), make("span", { class: "name" }, row.name || row.path)),
      make("span", { class: "meta" }, row.verdict, row.allowed ? ", allowed" : "", summary(row) ? ` \u00b7 ${summary(row)}` : "")),
    meter(row));
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(row);
  });
  return make("li", { class: "row", "aria-setsize": list.rows.length, "aria-posinset": place + 1, "data-number": row.number }, box, link);
}

function sign(row) {
  return make("span", { class: `sign ${row.verdict}${row.allowed ? " allowed" : ""}`, "aria-hidden": "true" }, VERDICTS[row.verdict].sign);
}

/** How much changed, by its order of magnitude: 0.001 % is a sliver, everything is full. */
function meter(row) {
  const full = row.verdict === "changed" && ratioOf(row) > 0 ? Math.max(0.08, 1 + Math.log10(ratioOf(row)) / 5) : 0;
  const bar = make("span", { class: "meter", "aria-hidden": "true", title: "how much changed, by its order of magnitude" }, make("span"));
  bar.firstChild.style.height = `${Math.min(1, full) * 100}%`;
  bar.hidden = full === 0;
  return bar;
}

function scrollTo(row) {
  const item = list.items.find((one) => one.row === row);
  if (!item) return;
  const { top } = item;
  const { scrollTop, clientHeight } = list.scroller;
  if (top < scrollTop + ROW_PX) list.scroller.scrollTop = top - ROW_PX;
  else if (top + 2 * ROW_PX > scrollTop + clientHeight) list.scroller.scrollTop = top + 2 * ROW_PX - clientHeight;
  drawList();
}

function drawCurrent() {
  for (const [index, element] of list.shown) {
    const link = element.querySelector("a");
    if (!link) continue;
    if (list.items[index].row === state.row) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// --- The frame of the page ------------------------------------------------------------------

const totals = report.totals ?? {};
const status = make("p", { class: "unseen", role: "status" });
const filter = make("input", {
  type: "search", name: "text", placeholder: "Filter by path", "aria-label": "Filter by path", title: "Filter by path (/)",
  "aria-keyshortcuts": "/", autocomplete: "off", spellcheck: "false",
});
const order = make("select", { name: "order", "aria-label": "Order", title: "Order" }, SORTS.map(([value, label]) => make("option", { value }, label)));
const hideAllowed = make("input", { type: "checkbox", name: "hide-allowed" });
const chips = new Map();
const shownCount = make("span", { class: "quiet" });
const tickShown = button("Tick all shown", { class: "plain" }, () => tick(list.rows, !allTicked()));
const acceptButton = button("Accept\u2026", { class: "strong", title: "The command that accepts (c)" }, openAccept);
const themeButton = button("", { class: "plain" }, nextTheme);
const helpButton = button("?", { class: "plain", "aria-label": "Keys", title: "Keys (?)" }, () => help.showModal());
const viewer = make("main", { class: "viewer", tabindex: "-1", "aria-label": "Pair" });

function chip(verdict) {
  const number = rows.filter((row) => row.verdict === verdict).length;
  const made = button([
    make("span", { class: `sign ${verdict}`, "aria-hidden": "true" }, VERDICTS[verdict].sign),
    `${verdict} `, make("b", {}, number.toLocaleString("en")),
  ], { class: "chip", "aria-pressed": "false", "data-verdict": verdict, title: `Only ${verdict}; several may be chosen` }, () => {
    if (!state.only.delete(verdict)) state.only.add(verdict);
    arrangeAndKeep();
  });
  made.hidden = number === 0;
  chips.set(verdict, made);
  return made;
}

function buildPage() {
  const same = totals.same ?? (report.rows ?? []).filter((row) => row.verdict === "same").length;
  const shard = report.shard ? ` \u00b7 shard ${report.shard.index} of ${report.shard.count}` : "";
  const header = make("header", {},
    make("h1", {}, "seechange compare"),
    make("p", { class: "folders" },
      make("span", { class: "mono" }, String(report.base ?? "")), " \u2192 ", make("span", { class: "mono" }, String(report.actual ?? "")),
      make("span", { class: "quiet" }, shard)),
    make("span", { class: "space" }), acceptButton, themeButton, helpButton);
  const controls = make("div", { class: "controls" },
    make("div", { class: "chips", role: "group", "aria-label": "Verdicts" },
      Object.keys(VERDICTS).map(chip), make("span", { class: "chip same", title: "Pairs without a difference are only counted" }, `same ${same.toLocaleString("en")}`)),
    (report.remarks ?? []).map((remark) => make("p", { class: "quiet remark" }, String(remark))),
    filter,
    make("div", { class: "line" }, order, make("label", { class: "check", hidden: !rows.some((row) => row.allowed) }, hideAllowed, "Hide allowed")),
    make("div", { class: "line" }, shownCount, make("span", { class: "space" }), tickShown));
  document.body.append(header,
    make("div", { class: "columns" }, make("nav", { class: "list", "aria-label": "Pairs of pictures" }, controls, list.scroller), viewer),
    help, accept.dialog, status);
  document.title = rows.length ? `${rows.length} of ${totals.pairs ?? (report.rows ?? []).length} differ \u00b7 seechange` : "nothing differs \u00b7 seechange";
}

function drawCounts() {
  for (const [verdict, made] of chips) made.setAttribute("aria-pressed", String(state.only.has(verdict)));
  if (filter.value !== state.text) filter.value = state.text;
  order.value = state.sort;
  hideAllowed.checked = state.hideAllowed;
  shownCount.textContent = list.rows.length === rows.length ? count(rows.length, "pair") : `${list.rows.length.toLocaleString("en")} of ${count(rows.length, "pair")}`;
  list.empty.textContent = rows.length ? "No pair matches the filters. Esc in the field clears it." : "No pair differs.";
  drawTicks();
}

const allTicked = () => list.rows.some(canAccept) && list.rows.filter(canAccept).every((row) => ticked.has(row));

function drawTicks() {
  for (const [index, element] of list.shown) {
    const box = element.querySelector("input");
    if (box) box.checked = ticked.has(list.items[index].row);
  }
  acceptButton.textContent = ticked.size ? `Accept ${ticked.size.toLocaleString("en")}\u2026` : "Accept\u2026";
  tickShown.textContent = allTicked() ? "Untick all shown" : "Tick all shown";
  tickShown.disabled = !list.rows.some(canAccept);
  if (pair.tick) pair.tick.checked = ticked.has(state.row);
}

const THEMES = { auto: "\u25d0", light: "\u2600", dark: "\u263e" };

function nextTheme() {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  kept.set("theme", next);
  setTheme(next);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  themeButton.textContent = THEMES[name];
  themeButton.setAttribute("aria-label", `Colours: ${name}`);
  themeButton.title = `Colours: ${name}`;
}

function closable(title, ...children) {
  const id = `title-${title.replaceAll(/\W/g, "")}`;
  const dialog = make("dialog", { "aria-labelledby": id });
  dialog.append(make("div", { class: "bar" }, make("h2", { id }, title), make("span", { class: "space" }),
    button("\u2715", { class: "plain", "aria-label": "Close", title: "Close (Esc)" }, () => dialog.close())), ...children);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  return dialog;
}

const help = closable("Keys", make("dl", { class: "keys" }, KEYS.flatMap(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)])));

// --- Accepting ------------------------------------------------------------------------------

const accept = {
  folder: make("input", { type: "text", name: "folder", class: "mono", spellcheck: "false", autocomplete: "off", "aria-label": "The report's folder" }),
  text: make("textarea", { name: "command", class: "mono", readonly: true, rows: "8", spellcheck: "false", "aria-label": "The command" }),
  said: make("span", { class: "quiet", role: "status" }),
  note: make("p"),
};
accept.copy = button("Copy command", { class: "strong" }, copyCommand);
accept.clear = button("Untick all", { class: "plain" }, () => { tick(rows, false); drawAccept(); });
accept.field = make("label", { class: "field" }, make("span", {}, "The report's folder"), accept.folder);
accept.last = make("div", { class: "line" }, accept.copy, accept.said, make("span", { class: "space" }), accept.clear);
accept.dialog = closable("Accept", accept.note, accept.field, accept.text, accept.last);
accept.folder.value = ownFolder();
accept.folder.addEventListener("input", drawAccept);

function openAccept() {
  accept.said.textContent = "";
  drawAccept();
  accept.dialog.showModal();
  if (ticked.size) accept.copy.focus();
}

function drawAccept() {
  const chosen = rows.filter((row) => ticked.has(row));
  const removed = chosen.filter((row) => row.verdict === "removed").length;
  const deleted = removed ? ` The goldens of ${count(removed, "removed pair")} are deleted.` : "";
  accept.note.textContent = isPlaywright && chosen.length
    ? "Playwright keeps its goldens elsewhere. This accepts whatever its tests show, not only what is ticked."
    : chosen.length
    ? `${count(chosen.length, "pair")} ticked.${deleted} Run this where the compare ran; --dry-run only says what it would do.`
    : "No pair is ticked yet: tick pairs in the list, or with a, and come back for the command.";
  for (const part of [accept.field, accept.text, accept.last]) part.hidden = chosen.length === 0;
  accept.field.hidden ||= isPlaywright;
  accept.text.value = chosen.length ? acceptCommand(accept.folder.value || "REPORT", chosen) : "";
}

async function copyCommand() {
  accept.text.focus();
  accept.text.select();
  let copied = false;
  try {
    await navigator.clipboard.writeText(accept.text.value);
    copied = true;
  } catch {
    copied = document.execCommand("copy");
  }
  accept.said.textContent = copied ? "Copied." : "Press Ctrl+C: the command is selected.";
}

// --- The pair -------------------------------------------------------------------------------

const pair = { panes: [], stage: null, handle: null, tick: null, tools: {} };

const isAlone = (row) => !(hasPicture(row, "before") && hasPicture(row, "actual"));

function hasPicture(row, side) {
  return Boolean(row.files?.[side]) && !(row.verdict === "unreadable" && row.error?.side === side);
}

/** The view that can be shown: one picture alone has only itself. */
function viewOf(row) {
  if (isAlone(row)) return "side";
  return state.view === "overview" && !overviewOf(row) ? "side" : state.view;
}

function drawPair() {
  const row = state.row;
  pair.panes = [];
  pair.stage = pair.handle = pair.tick = null;
  viewer.replaceChildren();
  document.body.classList.toggle("chosen", Boolean(row ?? state.missing));
  if (!row) {
    viewer.append(nothing());
    return;
  }
  pair.stage = make("div", { class: "stage", tabindex: "0", role: "group", "aria-label": "Pictures; plus and minus zoom, Shift and arrows move" });
  watchStage(pair.stage);
  const below = make("div", { class: "body" }, make("div", { class: "pictures" }, row.error ? trouble(row) : null, pair.stage, control()), state.details ? details(row) : null);
  viewer.append(titleBar(row), toolBar(row), below);
  fillStage(row);
  place();
  watchSize(pair.stage);
}

function nothing() {
  if (state.missing !== null) {
    return make("div", { class: "nothing" },
      make("p", {}, "This report has no differing pair ", make("span", { class: "mono" }, state.missing), "."), backLink());
  }
  return make("div", { class: "nothing" }, make("p", {}, rows.length ? "Choose a pair." : "Nothing differs."));
}

function backLink() {
  return button("\u2190 List", { class: "plain back", title: "Back to the list (Esc)" }, closePair);
}

function titleBar(row) {
  const at = list.rows.indexOf(row);
  pair.tick = make("input", { type: "checkbox", name: "accept-this", disabled: !canAccept(row) });
  pair.tick.checked = ticked.has(row);
  pair.tick.addEventListener("change", () => tick([row], pair.tick.checked));
  return make("div", { class: "bar title" }, backLink(),
    button("\u2191", { class: "plain", "aria-label": "Previous pair", title: "Previous pair (k)" }, () => step(-1)),
    button("\u2193", { class: "plain", "aria-label": "Next pair", title: "Next pair (j)" }, () => step(1)),
    make("h2", { title: row.path }, make("span", { class: "folder" }, row.folder), row.name),
    make("span", { class: "verdict" }, sign(row), row.verdict, row.allowed ? ", allowed" : ""),
    make("span", { class: "space" }),
    make("span", { class: "quiet place" }, at < 0 ? "" : `${at + 1} of ${list.rows.length}`),
    make("label", { class: "check", title: "Tick for acceptance (a)" }, pair.tick, "Accept"));
}

function toolBar(row) {
  const now = viewOf(row);
  const alone = isAlone(row);
  const views = VIEWS.map(([view, label], at) => button(label, {
    "aria-pressed": String(!alone && view === now), "data-view": view, title: `${label} (${at + 1})`, "aria-keyshortcuts": at + 1,
    disabled: alone || (view === "overview" && !overviewOf(row)),
  }, () => setView(view)));
  pair.tools = {
    outlines: toggle("Outlines", "o", "Areas and moves", () => flipSwitch("outlines")),
    ignored: toggle("Ignored", "x", "Specks, carets and anti-aliasing", () => flipSwitch("ignored")),
    details: toggle("Details", "i", "Details", () => { state.details = !state.details; drawPair(); keep(); }),
    zoom: make("output", { class: "zoom", "aria-label": "Zoom" }),
  };
  return make("div", { class: "bar tools", role: "toolbar", "aria-label": "View" },
    make("div", { class: "segments", role: "group", "aria-label": "Views" }, views), make("span", { class: "space" }),
    pair.tools.outlines, pair.tools.ignored, pair.tools.details,
    make("div", { class: "segments", role: "group", "aria-label": "Zoom" },
      button("\u2212", { "aria-label": "Zoom out", title: "Zoom out (\u2212)" }, () => zoomStep(-1)), pair.tools.zoom,
      button("+", { "aria-label": "Zoom in", title: "Zoom in (+)" }, () => zoomStep(1)),
      button("Fit", { title: "Fit all (0, double click)" }, () => fit("all")),
      button("Width", { title: "Fit the width (w)" }, () => fit("width")),
      button("1:1", { title: "One to one (z)" }, () => setScale(1))));
}

function flipSwitch(name) {
  state[name] = !state[name];
  place();
  keep();
}

function trouble(row) {
  const side = SIDES[row.error.side] ?? "";
  return make("div", { class: "trouble", role: "note" },
    make("b", {}, `${side ? `${side}: ` : ""}cannot be read`), make("span", {}, String(row.error.message ?? "")));
}

/** What a view has below the pictures: a fader, a switch. */
function control() {
  const view = viewOf(state.row);
  const bar = make("div", { class: "bar control" });
  if (isAlone(state.row)) return null;
  if (view === "onion") {
    const fader = make("input", { type: "range", name: "onion", min: "0", max: "100", value: Math.round(state.onion * 100), "aria-label": "How much of the actual picture shows" });
    fader.addEventListener("input", () => { state.onion = fader.value / 100; place(); keep(); });
    pair.fader = fader;
    bar.append("Before", fader, "Actual");
    return bar;
  }
  if (view === "flip") {
    const hold = button("Hold for before", { class: "hold" }, () => {});
    // Only what holding flipped is flipped back.
    let held = false;
    const show = (on) => () => {
      if (held !== on) { held = on; state.flipped = on; place(); }
    };
    hold.addEventListener("pointerdown", show(true));
    for (const end of ["pointerup", "pointerleave", "pointercancel"]) hold.addEventListener(end, show(false));
    hold.addEventListener("keydown", (event) => { if (event.key === " " && !event.repeat) show(true)(); });
    hold.addEventListener("keyup", (event) => { if (event.key === " ") show(false)(); });
    hold.addEventListener("blur", show(false));
    bar.append(hold, button("Flip", { title: "Flip (f)", "aria-keyshortcuts": "f" }, flip));
    return bar;
  }
  if (view === "difference" || view === "side") {
    const box = make("input", { type: "checkbox", name: "difference", disabled: !state.row.diff_picture });
    box.checked = view === "side" ? state.third && !box.disabled : state.subtract || box.disabled;
    box.addEventListener("change", switchDifference);
    bar.append(make("label", { class: "check", title: "d" }, box, view === "side" ? "Difference as a third pane" : "Subtract the pictures"));
    return bar;
  }
  return null;
}

function switchDifference() {
  if (viewOf(state.row) === "side") state.third = !state.third; else state.subtract = !state.subtract;
  drawPair();
  keep();
}

function fillStage(row) {
  const view = viewOf(row);
  pair.stage.dataset.view = view;
  if (isAlone(row)) {
    for (const side of Object.keys(SIDES)) if (hasPicture(row, side)) addPane(row, captionOf(row, side), [side]);
    if (!pair.panes.length) pair.stage.append(make("p", { class: "lost" }, "There is no picture to show."));
    return;
  }
  if (view === "side") {
    addPane(row, captionOf(row, "before"), ["before"]);
    addPane(row, captionOf(row, "actual"), ["actual"]);
    if (state.third && row.diff_picture) addPane(row, "Difference", ["diff"]);
  } else if (view === "difference") {
    if (row.diff_picture && !state.subtract) addPane(row, "Difference, marked", ["diff"]);
    else addPane(row, "Difference, subtracted", ["before", "actual"]);
    pair.stage.classList.toggle("subtract", !row.diff_picture || state.subtract);
  } else if (view === "overview") {
    addPane(row, "Overview", ["overview"]);
  } else {
    addPane(row, "", ["before", "actual"]);
    if (view === "slider") addHandle();
  }
}

const captionOf = (row, side) =>
  (row.verdict === "resized" ? `${SIDES[side]} \u00b7 ${sizeText(sizeOf(row, side))}` : SIDES[side]);

/** One window on the pair: layers of pictures, the outlines, a caption. */
function addPane(row, caption, kinds) {
  const pane = {
    root: make("figure", { class: "pane" }), layers: kinds.map((kind) => layer(row, kind)),
    marks: makeSvg("svg", { class: "marks", "aria-hidden": "true" }), caption: make("figcaption", {}, caption), kinds,
  };
  pane.root.append(...pane.layers.map((one) => one.element), pane.marks, pane.caption);
  pair.panes.push(pane);
  pair.stage.append(pane.root);
}

function layer(row, kind) {
  const path = kind === "diff" ? row.diff_picture : kind === "overview" ? overviewOf(row) : row.files?.[kind]?.shown;
  const size = kind === "overview" ? null : kind === "diff" ? row.diff?.after ?? sizeOf(row, "actual") : sizeOf(row, kind);
  const url = pictureUrl(path);
  const image = make("img", { class: "picture", "data-kind": kind, alt: `${SIDES[kind] ?? kind} of ${row.path}`, draggable: "false", decoding: "sync" });
  const one = { image, kind, size, element: make("div", { class: "layer" }, image) };
  image.addEventListener("load", () => {
    one.size ??= { width: image.naturalWidth, height: image.naturalHeight };
    place();
    // Shown once it can be painted at once: flipping never flashes.
    image.decode().catch(() => {}).then(() => image.classList.add("loaded"));
  });
  image.addEventListener("error", () => lost(one, path));
  if (url === null) lost(one, path); else image.src = url;
  return one;
}

function lost(one, path) {
  one.element.replaceChildren(make("p", { class: "lost" }, "The picture cannot be shown: ", make("span", { class: "mono" }, String(path ?? "none"))));
}

// --- Where the pictures lie -----------------------------------------------------------------

/** The size all layers fit into, in pixels of the pictures. */
function world() {
  const sizes = pair.panes.flatMap((pane) => pane.layers.map((one) => one.size)).filter(Boolean);
  return { width: Math.max(1, ...sizes.map((size) => size.width)), height: Math.max(1, ...sizes.map((size) => size.height)) };
}

function paneSize() {
  const box = pair.panes[0].root;
  return { width: Math.max(1, box.clientWidth), height: Math.max(1, box.clientHeight) };
}

/** The scale at which the pictures fit; small ones are enlarged by a whole number. */
function fitting(which, room) {
  const all = world();
  const across = (room.width - 24) / all.width;
  const fits = which === "width" ? across : Math.min(across, (room.height - (room.height < 300 ? 24 : 64)) / all.height);
  return fits >= 1 ? Math.min(8, Math.floor(fits)) : Math.max(fits, 0.01);
}

/** Beside each other or one below the other, as they come out larger. */
function arrangePanes() {
  const { clientWidth: width, clientHeight: height } = pair.stage;
  const number = pair.panes.length;
  const beside = fitting("all", { width: width / number, height });
  const below = fitting("all", { width, height: height / number });
  pair.stage.classList.toggle("stacked", below > beside);
}

/** Lays out every pane for the zoom, and draws the outlines. */
function place() {
  if (!pair.stage || !pair.panes.length) return;
  // An overview's size is known once it has loaded; until then nothing is to be placed.
  if (!pair.panes.some((pane) => pane.layers.some((one) => one.size))) return;
  arrangePanes();
  const all = world();
  const room = paneSize();
  if (state.fit) {
    state.scale = fitting(state.fit, room);
    state.x = all.width / 2;
    if (state.fit === "all") state.y = all.height / 2;
    else if (state.fit === "width") state.y = Math.max(state.y, Math.min(all.height / 2, (room.height / 2 - 40) / state.scale));
  }
  state.x = Math.min(all.width, Math.max(0, state.x));
  state.y = Math.min(all.height, Math.max(0, state.y));
  const left = Math.round(room.width / 2 - state.x * state.scale);
  const top = Math.round(room.height / 2 - state.y * state.scale);
  pair.panes.forEach((pane) => placePane(pane, left, top, room));
  drawSwitches();
}

function placePane(pane, left, top, room) {
  const view = pair.stage.dataset.view;
  for (const one of pane.layers) {
    const { image, size } = one;
    if (size) {
      image.style.width = `${size.width}px`;
      image.style.height = `${size.height}px`;
    }
    image.style.transform = `translate(${left}px, ${top}px) scale(${state.scale})`;
    image.style.imageRendering = state.scale * devicePixelRatio > 1.01 ? "pixelated" : "auto";
  }
  const [below, above] = pane.layers;
  if (view === "slider" && above) {
    const cut = Math.round(room.width * state.split);
    below.element.style.clipPath = `inset(0 ${room.width - cut}px 0 0)`;
    above.element.style.clipPath = `inset(0 0 0 ${cut}px)`;
    placeHandle(cut);
  } else if (view === "onion" && above) {
    above.element.style.opacity = state.onion;
    pane.caption.textContent = `Before ${Math.round(100 - state.onion * 100)} % \u00b7 actual ${Math.round(state.onion * 100)} %`;
  } else if (view === "flip" && above) {
    below.element.style.visibility = state.flipped ? "visible" : "hidden";
    above.element.style.visibility = state.flipped ? "hidden" : "visible";
    pane.caption.textContent = captionOf(state.row, state.flipped ? "before" : "actual");
  }
  drawMarks(pane, left, top);
}

function drawSwitches() {
  const { outlines, ignored, details: shown, zoom } = pair.tools;
  outlines.setAttribute("aria-pressed", String(state.outlines));
  ignored.setAttribute("aria-pressed", String(state.ignored));
  shown.setAttribute("aria-pressed", String(state.details));
  zoom.textContent = `${Math.round(state.scale * 100)} %`;
  if (pair.fader) pair.fader.value = Math.round(state.onion * 100);
  viewer.querySelectorAll(".areas button").forEach((made) =>
    made.setAttribute("aria-pressed", String(Number(made.dataset.area) === state.area)));
}

function addHandle() {
  pair.handle = make("div", {
    class: "handle", role: "slider", tabindex: "0", "aria-label": "Divider between before and actual",
    "aria-orientation": "horizontal", "aria-valuemin": "0", "aria-valuemax": "100",
  }, make("span", { class: "grip", "aria-hidden": "true" }, "\u21d4"));
  // Where on the handle it was taken hold of, so that it does not jump.
  let grabbed = 0;
  const at = (event) => event.clientX - pair.stage.getBoundingClientRect().left;
  const move = (event) => setSplit((at(event) - grabbed) / paneSize().width);
  pair.handle.addEventListener("pointerdown", (event) => {
    event.stopPropagation();
    event.preventDefault();
    pair.handle.focus();
    grabbed = at(event) - paneSize().width * state.split;
    pair.handle.setPointerCapture(event.pointerId);
  });
  pair.handle.addEventListener("pointermove", (event) => { if (pair.handle.hasPointerCapture(event.pointerId)) move(event); });
  pair.handle.addEventListener("keydown", (event) => {
    const to = { Home: 0, End: 1, PageUp: state.split - 0.1, PageDown: state.split + 0.1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setSplit(to);
  });
  pair.stage.append(pair.handle, make("span", { class: "corner left" }, captionOf(state.row, "before")),
    make("span", { class: "corner right" }, captionOf(state.row, "actual")));
}

function setSplit(to) {
  state.split = Math.min(1, Math.max(0, to));
  place();
  keep();
}

function placeHandle(cut) {
  pair.handle.style.left = `${cut}px`;
  const now = Math.round(state.split * 100);
  pair.handle.setAttribute("aria-valuenow", now);
  pair.handle.setAttribute("aria-valuetext", `${now} % before, ${100 - now} % actual`);
}

// --- Outlines -------------------------------------------------------------------------------

function drawMarks(pane, left, top) {
  const row = state.row;
  const at = (rect) => ({ x: left + rect.x * state.scale, y: top + rect.y * state.scale, width: rect.width * state.scale, height: rect.height * state.scale });
  const marks = [];
  if (!pane.kinds.includes("overview")) {
    if (state.ignored) marks.push(...ignoredRects(row).slice(0, MOST_OUTLINES).map(({ rect }) => outline(at(rect), "set-aside", 2)));
    if (state.outlines) {
      marks.push(...movedOf(row).slice(0, MOST_OUTLINES).flatMap((moved) => arrow(at(moved.from), at(moved.to))));
      marks.push(...numbered(areasOf(row).slice(0, MOST_OUTLINES), at));
    }
  }
  pane.marks.replaceChildren(...marks);
}

/** Just outside of what it marks, so that it hides nothing. */
function outline(box, kind, gap) {
  const rect = { x: box.x - gap, y: box.y - gap, width: box.width + 2 * gap, height: box.height + 2 * gap };
  return makeSvg("g", { class: `outline ${kind}` }, makeSvg("rect", { class: "halo", ...rect }), makeSvg("rect", { class: "line", ...rect }));
}

/** Outlines first, then the numbers that find room beside them. */
function numbered(areas, at) {
  const boxes = areas.map(at);
  const taken = [];
  const labels = areas.map((area, index) => {
    const place = labelPlace(area, boxes[index], areas.length <= 60 ? boxes : [], taken);
    if (place) taken.push(place);
    return place ? label(area, place) : null;
  });
  return [...areas.map((area, index) => outline(boxes[index], kindOf(area), 2)), ...labels.filter(Boolean)];
}

const kindOf = (area) => (area.number === state.area ? "area chosen" : "area");

/** Beside its area, off the other areas where that goes and off the other numbers always. */
function labelPlace(area, box, boxes, taken) {
  const width = 8 + 7 * String(area.number).length;
  const size = { width, height: 15 };
  const places = [
    { x: box.x - 3, y: box.y - 19 }, { x: box.x - 3, y: box.y + box.height + 4 },
    { x: box.x - width - 4, y: box.y - 2 }, { x: box.x + box.width + 4, y: box.y - 2 },
  ].map((place) => ({ ...place, ...size })).filter((place) => place.y >= 0 && place.x >= 0);
  const isFree = (others) => (place) => !others.some((other) => overlaps(place, other));
  const apart = places.filter(isFree(taken));
  return apart.find(isFree(boxes)) ?? apart[0] ?? (area.number === state.area ? places[0] : null);
}

const overlaps = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

function label(area, place) {
  return makeSvg("g", { class: `label ${kindOf(area)}` }, makeSvg("rect", { ...place, rx: 3 }),
    makeSvg("text", { x: place.x + place.width / 2, y: place.y + 11.5, "text-anchor": "middle" }, String(area.number)));
}

function arrow(from, to) {
  const start = { x: from.x + from.width / 2, y: from.y + from.height / 2 };
  const end = { x: to.x + to.width / 2, y: to.y + to.height / 2 };
  const length = Math.hypot(end.x - start.x, end.y - start.y);
  const marks = [outline(from, "moved from", 1), outline(to, "moved to", 1)];
  if (length < 6) return marks;
  const [ux, uy] = [(end.x - start.x) / length, (end.y - start.y) / length];
  const head = Math.min(12, length / 2);
  const neck = { x: end.x - ux * head, y: end.y - uy * head };
  const points = [[end.x, end.y], [neck.x - uy * head / 2, neck.y + ux * head / 2], [neck.x + uy * head / 2, neck.y - ux * head / 2]];
  const line = { x1: start.x, y1: start.y, x2: neck.x, y2: neck.y };
  return [...marks, makeSvg("g", { class: "arrow" }, makeSvg("line", { class: "halo", ...line }), makeSvg("line", { class: "line", ...line }),
    makeSvg("polygon", { points: points.map((point) => point.join(",")).join(" ") }))];
}

function ignoredRects(row) {
  const ignored = row.diff?.ignored ?? {};
  const all = { speck: ignored.specks?.rects, caret: ignored.carets, "anti-aliasing": ignored.antialiased };
  return Object.entries(all).flatMap(([kind, rects]) => (rects ?? []).map((rect) => ({ kind, rect })));
}

// --- Zooming and moving ---------------------------------------------------------------------

function fit(which) {
  if (!pair.panes.length) return;
  state.fit = which;
  state.area = null;
  if (which === "width") state.y = 0;
  place();
  keep();
}

/** Another scale; the picture's point under (x, y) of a pane stays where it is. */
function setScale(scale, x = null, y = null) {
  if (!pair.panes.length) return;
  const room = paneSize();
  const [dx, dy] = [(x ?? room.width / 2) - room.width / 2, (y ?? room.height / 2) - room.height / 2];
  const next = Math.min(MAX_ZOOM, Math.max(0.02, scale));
  state.x += dx / state.scale - dx / next;
  state.y += dy / state.scale - dy / next;
  state.scale = next;
  state.fit = null;
  place();
  keep();
}

function zoomStep(direction) {
  const now = state.scale;
  const next = direction > 0 ? ZOOMS.find((zoom) => zoom > now * 1.01) : ZOOMS.findLast((zoom) => zoom < now / 1.01);
  if (next) setScale(next);
}

function pan(dx, dy) {
  if (!pair.panes.length) return;
  state.x -= dx / state.scale;
  state.y -= dy / state.scale;
  state.fit = null;
  place();
  keep();
}

function zoomToArea(area) {
  const room = paneSize();
  const fits = Math.min((room.width * 0.6) / area.width, (room.height * 0.6) / area.height, 12);
  state.scale = fits >= 1 ? Math.floor(fits) : fits;
  state.x = area.x + area.width / 2;
  state.y = area.y + area.height / 2;
  state.fit = null;
  state.area = area.number ?? null;
  if (viewOf(state.row) === "overview") {
    state.view = "side";
    drawPair();
  } else place();
  keep(false);
}

function stepArea(direction) {
  const areas = areasOf(state.row ?? {});
  if (!areas.length) return;
  const at = areas.findIndex((area) => area.number === state.area);
  zoomToArea(areas[at < 0 ? (direction > 0 ? 0 : areas.length - 1) : (at + direction + areas.length) % areas.length]);
}

/** The mouse, a pen or two fingers on the pictures. */
function watchStage(stage) {
  const fingers = new Map();
  let travelled = 0;
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = inPane(event);
    const unit = event.deltaMode === 1 ? 30 : 1;
    setScale(state.scale * Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.002)), x, y);
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 1) travelled = 0;
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) { stage.classList.toggle("over-area", Boolean(areaAt(event))); return; }
    const now = [event.clientX, event.clientY];
    travelled += Math.hypot(now[0] - last[0], now[1] - last[1]);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, now);
    if (other) pinch(other, last, now, event);
    else if (travelled > 3) { stage.classList.add("moving"); pan(now[0] - last[0], now[1] - last[1]); }
  });
  const end = (event) => {
    const was = fingers.delete(event.pointerId);
    stage.classList.remove("moving");
    if (!was || event.type !== "pointerup" || travelled > 3) return;
    const area = areaAt(event);
    if (area) zoomToArea(area);
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("dblclick", () => fit("all"));
}

function pinch(other, last, now, event) {
  const apart = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
  const [x, y] = inPane(event);
  setScale((state.scale * apart(now)) / apart(last), x, y);
}

/** Where an event lies in its pane, and the same in pixels of the pictures. */
function inPane(event) {
  const boxes = (pair.panes.length ? pair.panes.map((pane) => pane.root) : [pair.stage]).map((root) => root.getBoundingClientRect());
  const box = boxes.find((one) => event.clientX >= one.left && event.clientX < one.right && event.clientY >= one.top && event.clientY < one.bottom) ?? boxes[0];
  return [event.clientX - box.left, event.clientY - box.top];
}

function areaAt(event) {
  if (!pair.panes.length || !state.outlines || pair.stage.dataset.view === "overview") return null;
  const [x, y] = inPane(event);
  const room = paneSize();
  const px = state.x + (x - room.width / 2) / state.scale;
  const py = state.y + (y - room.height / 2) / state.scale;
  const slack = 4 / state.scale;
  const hit = (area) => px >= area.x - slack && px < area.x + area.width + slack && py >= area.y - slack && py < area.y + area.height + slack;
  return areasOf(state.row).filter(hit).sort((a, b) => a.width * a.height - b.width * b.height)[0] ?? null;
}

const resized = new ResizeObserver(() => place());

function watchSize(stage) {
  resized.disconnect();
  resized.observe(stage);
}

// --- Details --------------------------------------------------------------------------------

function details(row) {
  return make("aside", { class: "details", "aria-label": "Details" },
    row.sentence ? make("p", { class: "sentence", title: row.sentence }, firstSentence(row.sentence)) : null,
    facts(row), areaList(row), movedList(row), ignoredList(row));
}

/** What the lists below do not say better. */
function firstSentence(text) {
  return text.split("\n")[0].replace(/; overview\.png .*$/, ".");
}

function facts(row) {
  const lines = [];
  for (const side of Object.keys(SIDES)) {
    const file = row.files?.[side];
    if (file) lines.push([SIDES[side], [sizeText(sizeOf(row, side)), fileText(file)]]);
  }
  if (row.diff?.changed_pixels) lines.push(["Changed", [`${count(row.diff.changed_pixels, "pixel")}, ${percent(ratioOf(row))}`]]);
  if (row.diff?.moved_pixels) lines.push(["Moved", [count(row.diff.moved_pixels, "pixel")]]);
  if (row.rule) lines.push(["Rule", [make("span", { class: "mono" }, row.rule)]]);
  if (row.allowed) lines.push(["Allowed", ["does not fail the comparison"]]);
  return make("dl", { class: "facts" }, lines.flatMap(([name, parts]) => [make("dt", {}, name), make("dd", {}, parts)]));
}

function fileText(file) {
  const text = bytesText(file.bytes ?? 0);
  const url = isSingle ? null : pictureUrl(file.path);
  return [" \u00b7 ", url ? make("a", { href: url, target: "_blank", rel: "noopener", title: "Open the file" }, text) : text];
}

function bytesText(bytes) {
  if (bytes < 1000) return count(bytes, "byte");
  const power = bytes < 1e6 ? 1 : 2;
  const value = bytes / 1000 ** power;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${power === 1 ? "kB" : "MB"}`;
}

function section(title, number, ...children) {
  return make("section", {}, make("h3", {}, title, make("span", { class: "quiet" }, ` ${number}`)), ...children);
}

function areaList(row) {
  const areas = areasOf(row);
  if (!areas.length) return null;
  const items = areas.slice(0, MOST_OUTLINES).map((area) => make("li", {}, button([
    make("span", { class: "number" }, String(area.number)),
    make("span", { class: "where" }, sizeText(area), make("span", { class: "quiet" }, `${area.x},${area.y}`)),
    make("span", { class: "quiet" }, `${(area.changed_pixels ?? 0).toLocaleString("en")} px`),
  ], { "data-area": area.number, "aria-pressed": "false", title: `Zoom to area ${area.number} at ${area.x},${area.y}; largest difference of a pixel: ${area.max_delta}` }, () => zoomToArea(area))));
  const more = areas.length - items.length;
  return section("Areas", areas.length, make("ol", { class: "areas" }, items), more > 0 ? make("p", { class: "quiet" }, `and ${count(more, "smaller one")}, not outlined`) : null);
}

function movedList(row) {
  const moved = movedOf(row);
  if (!moved.length) return null;
  const way = ({ dx, dy }) => [dy < 0 ? `up ${-dy}` : dy > 0 ? `down ${dy}` : "", dx < 0 ? `left ${-dx}` : dx > 0 ? `right ${dx}` : ""].filter(Boolean).join(", ");
  const items = moved.slice(0, MOST_OUTLINES).map((one) => make("li", {}, button([
    make("span", { class: "number moved" }, "\u2192"),
    make("span", { class: "where" }, sizeText(one.from), make("span", { class: "quiet" }, ` ${way(one)}`)),
  ], { title: `From ${one.from.x}, ${one.from.y} to ${one.to.x}, ${one.to.y}` }, () => zoomToArea(around(one.from, one.to)))));
  return section("Moved", moved.length, make("ol", { class: "areas" }, items));
}

function around(a, b) {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  return { x, y, width: Math.max(a.x + a.width, b.x + b.width) - x, height: Math.max(a.y + a.height, b.y + b.height) - y };
}

function ignoredList(row) {
  const ignored = row.diff?.ignored;
  if (!ignored) return null;
  const lines = [
    ["specks", ignored.specks?.count ?? 0, `${ignored.specks?.pixels ?? 0} px`],
    ["carets", (ignored.carets ?? []).length, ""],
    ["anti-aliased", (ignored.antialiased ?? []).length, `${ignored.antialiased_pixels ?? 0} px`],
  ].filter(([, number]) => number > 0).map(([name, number, pixels]) => [name, `${number}${pixels ? `, ${pixels}` : ""}`]);
  if (ignored.masked_pixels) lines.push(["masked", `${ignored.masked_pixels.toLocaleString("en")} px`]);
  if (ignored.faint_pixels) lines.push(["faint", `${ignored.faint_pixels.toLocaleString("en")} px`]);
  if (!lines.length) return null;
  return section("Ignored", "", make("dl", { class: "facts" }, lines.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])));
}

// --- Going from pair to pair ----------------------------------------------------------------

function open(row, push = true) {
  const hadFocus = list.inside.contains(document.activeElement);
  state.row = row;
  state.missing = null;
  state.area = null;
  state.flipped = false;
  state.fit = "all";
  if (push) remember(true);
  drawPair();
  scrollTo(row);
  drawCurrent();
  if (hadFocus) list.inside.querySelector("a[aria-current]")?.focus({ preventScroll: true });
  say(row);
  prepareNext();
}

function say(row) {
  const at = list.rows.indexOf(row);
  status.textContent = `${at < 0 ? "" : `${at + 1} of ${list.rows.length}: `}${row.path}, ${row.verdict}${row.allowed ? ", allowed" : ""}, ${summary(row)}`;
}

function closePair() {
  state.row = null;
  state.missing = null;
  remember(true);
  drawPair();
  drawCurrent();
  filter.blur();
}

function step(by) {
  const at = list.rows.indexOf(state.row);
  const next = list.rows[at < 0 ? 0 : at + by];
  if (next) open(next);
}

/** The pictures of the pair that is looked at next, once nothing else is to do. */
let waiting = null;
function prepareNext() {
  clearTimeout(waiting);
  if (isSingle) return;
  waiting = setTimeout(() => {
    const next = list.rows[list.rows.indexOf(state.row) + 1];
    if (!next || !state.row) return;
    for (const side of Object.keys(SIDES)) {
      const url = hasPicture(next, side) ? pictureUrl(next.files[side].shown) : null;
      if (url) new Image().src = url;
    }
  }, 400);
}

function setView(view) {
  state.view = view;
  state.flipped = false;
  const was = document.activeElement?.dataset?.view;
  drawPair();
  if (was) viewer.querySelector(`[data-view="${view}"]`)?.focus();
  keep(false);
}

function flip() {
  if (!state.row || isAlone(state.row)) return;
  if (viewOf(state.row) !== "flip") {
    state.view = "flip";
    state.flipped = false;
    drawPair();
  }
  state.flipped = !state.flipped;
  place();
  keep();
}

// --- The address ----------------------------------------------------------------------------

const short = (number) => String(Math.round(number * 1000) / 1000);

/** What the address says: the pair, how it is looked at, and the list's filters. */
function address() {
  const query = new URLSearchParams();
  const put = (name, value, usual) => { if (value !== usual) query.set(name, value); };
  if (state.row) {
    if (byPath.get(state.row.path).length > 1) query.set("row", state.row.number);
    put("view", state.view, "side");
    put("zoom", state.fit ?? short(state.scale), "all");
    if (!state.fit) { query.set("x", short(state.x)); query.set("y", short(state.y)); }
    if (state.area !== null) query.set("area", state.area);
    if (state.view === "slider") put("split", short(state.split), "0.5");
    if (state.view === "onion") put("onion", short(state.onion), "0.5");
    put("subtract", String(state.subtract), "false");
    put("third", String(state.third), "false");
    put("outlines", String(state.outlines), "true");
    put("ignored", String(state.ignored), "false");
    put("details", String(state.details), String(!isNarrow()));
  }
  put("text", state.text, "");
  put("only", [...state.only].sort().join(","), "");
  put("sort", state.sort, "worst");
  put("allowed", state.hideAllowed ? "hidden" : "shown", "shown");
  const asked = query.toString();
  return `${state.row ? state.row.link : "#/"}${asked ? `?${asked}` : ""}`;
}

function remember(push) {
  clearTimeout(keeping);
  const to = address();
  if (to === location.hash) return;
  try {
    if (push) history.pushState(null, "", to); else history.replaceState(null, "", to);
  } catch { /* too many changes at once, says the browser: the next one is kept */ }
}

/** Keeps the state in the address, in a moment: browsers refuse hundreds of changes a second. */
let keeping = null;
function keep(later = true) {
  clearTimeout(keeping);
  if (later) keeping = setTimeout(() => remember(false), 250); else remember(false);
}

function readAddress() {
  const hash = location.hash.replace(/^#\/?/, "");
  const cut = hash.indexOf("?");
  const query = new URLSearchParams(cut < 0 ? "" : hash.slice(cut + 1));
  const number = (name, usual) => { const value = Number.parseFloat(query.get(name)); return Number.isFinite(value) ? value : usual; };
  const known = (name, names, usual) => (names.includes(query.get(name)) ? query.get(name) : usual);
  state.text = query.get("text") ?? "";
  state.only = new Set((query.get("only") ?? "").split(",").filter((name) => name in VERDICTS));
  state.sort = known("sort", Object.keys(ORDERS), "worst");
  state.hideAllowed = query.get("allowed") === "hidden";
  state.view = known("view", VIEWS.map(([name]) => name), state.row ? state.view : "side");
  state.fit = known("zoom", ["all", "width"], query.has("zoom") ? null : "all");
  state.scale = Math.min(MAX_ZOOM, Math.max(0.02, number("zoom", 1)));
  state.x = number("x", 0);
  state.y = number("y", 0);
  state.area = query.has("area") ? number("area", null) : null;
  state.split = Math.min(1, Math.max(0, number("split", 0.5)));
  state.onion = Math.min(1, Math.max(0, number("onion", 0.5)));
  for (const [name, usual] of [["subtract", false], ["third", false], ["outlines", true], ["ignored", false], ["details", !isNarrow()]]) {
    state[name] = query.has(name) ? query.get(name) === "true" : usual;
  }
  findRow(cut < 0 ? hash : hash.slice(0, cut), query.get("row"));
}

function findRow(link, number) {
  let path = link;
  try {
    path = link.split("/").map(decodeURIComponent).join("/");
  } catch { /* not written by this page: taken as it stands */ }
  const found = byPath.get(path) ?? [];
  state.row = found.find((row) => String(row.number) === number) ?? found[0] ?? null;
  state.missing = state.row || path === "" ? null : path;
}

function followAddress() {
  readAddress();
  arrange();
  if (state.row === null && state.missing === null && !isNarrow() && list.rows.length) {
    state.row = list.rows[0];
    state.fit = "all";
  }
  drawPair();
  if (state.row) {
    scrollTo(state.row);
    say(state.row);
    prepareNext();
  }
  drawCurrent();
}

function arrangeAndKeep() {
  arrange();
  list.scroller.scrollTop = 0;
  drawList();
  drawCurrent();
  keep();
  status.textContent = shownCount.textContent;
  const place = viewer.querySelector(".place");
  const at = list.rows.indexOf(state.row);
  if (place) place.textContent = at < 0 ? "" : `${at + 1} of ${list.rows.length}`;
}

// --- Keys -----------------------------------------------------------------------------------

const sideways = (by) => () => {
  const view = state.row && !isAlone(state.row) ? viewOf(state.row) : null;
  if (view === "slider") setSplit(state.split + by * 0.02);
  else if (view === "onion") { state.onion = Math.min(1, Math.max(0, state.onion + by * 0.05)); place(); keep(); }
  else if (view === "flip") flip();
  else return false;
  return true;
};
const onPair = (act) => () => (state.row && pair.panes.length ? (act(), true) : false);

const ACTS = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  f: flip, ArrowLeft: sideways(-1), ArrowRight: sideways(1),
  n: onPair(() => stepArea(1)), p: onPair(() => stepArea(-1)),
  "+": onPair(() => zoomStep(1)), "=": onPair(() => zoomStep(1)), "-": onPair(() => zoomStep(-1)),
  0: onPair(() => fit("all")), w: onPair(() => fit("width")), z: onPair(() => setScale(1)),
  o: onPair(() => flipSwitch("outlines")), x: onPair(() => flipSwitch("ignored")),
  d: onPair(() => { if (!isAlone(state.row) && state.row.diff_picture && ["side", "difference"].includes(viewOf(state.row))) switchDifference(); }),
  i: onPair(() => { state.details = !state.details; drawPair(); keep(); }),
  a: onPair(() => tick([state.row], !ticked.has(state.row))),
  A: onPair(() => { tick([state.row], true); step(1); }),
  c: openAccept,
  "/": () => { if (isNarrow() && state.row) closePair(); filter.focus(); filter.select(); },
  "?": () => help.showModal(),
};
VIEWS.forEach(([view], at) => { ACTS[at + 1] = onPair(() => { if (!isAlone(state.row)) setView(view); }); });
const PANS = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const field = event.target.closest?.("input, select, textarea");
  const isTyped = field && !["checkbox"].includes(field.type);
  if (event.key === "Escape") { escape(field); return; }
  if (isTyped) {
    if (field === filter && (event.key === "Enter" || event.key === "ArrowDown")) { event.preventDefault(); intoList(); }
    return;
  }
  const act = event.shiftKey && PANS[event.key] && pair.panes.length ? () => pan(...PANS[event.key]) : ACTS[event.key];
  if (act && act() !== false) event.preventDefault();
}

function intoList() {
  filter.blur();
  if (list.rows.length && !list.rows.includes(state.row)) open(list.rows[0]);
  (list.inside.querySelector("a[aria-current]") ?? list.inside.querySelector("a"))?.focus({ preventScroll: true });
}

function escape(field) {
  if (field === filter) {
    state.text = "";
    filter.blur();
    arrangeAndKeep();
  } else if (field) field.blur();
  else if (state.row && !state.fit) fit("all");
  else if (isNarrow() && document.body.classList.contains("chosen")) closePair();
}

// --- Start ----------------------------------------------------------------------------------

setTheme(Object.keys(THEMES).includes(kept.get("theme")) ? kept.get("theme") : "auto");
buildPage();
filter.addEventListener("input", () => { state.text = filter.value; arrangeAndKeep(); });
order.addEventListener("change", () => { state.sort = order.value; arrangeAndKeep(); });
hideAllowed.addEventListener("change", () => { state.hideAllowed = hideAllowed.checked; arrangeAndKeep(); });
let drawing = 0;
list.scroller.addEventListener("scroll", () => {
  cancelAnimationFrame(drawing);
  drawing = requestAnimationFrame(drawList);
}, { passive: true });
new ResizeObserver(drawList).observe(list.scroller);
addEventListener("popstate", followAddress);
addEventListener("keydown", onKey);
followAddress();
})();
