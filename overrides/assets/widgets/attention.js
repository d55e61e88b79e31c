// @ts-check
/** Attention by hand: change three queries, keys and values, and see every result. */

import { CHAPTER, arithmetic, attend, formatNumber, sources } from "./attention-numbers.js";
import { el, english, walkByArrows } from "./common.js";

/**
 * @import { Cell, Entries, Steps } from "./attention-numbers.js"
 * @typedef {{name: keyof Entries, row: number, column: number}} Entry
 * @typedef {{entries: Entries, divides: boolean, entry: Entry, cell: Cell}} State what is selected
 */

const LIMIT = 10; // largest absolute value of an entry

/** @type {(keyof Entries)[]} */
const ENTRIES = ["query", "key", "value"];
/** @type {(keyof Steps)[]} */
const STEPS = ["scores", "scaled", "powers", "weights", "output"];

const WORDS = {
  en: {
    titles: {
      query: ["queries", "Q"],
      key: ["keys", "K"],
      value: ["values", "V"],
      scores: ["scores", "Q Kᵀ"],
      scaled: ["scaled", "÷ √2"],
      powers: ["exponentials", "eˣ"],
      weights: ["weights", "÷ sum of row"],
      output: ["output", "weights · V"],
    },
    places: {
      query: "Query of $q, number $i",
      key: "Key of $q, number $i",
      value: "Value of $q, number $i",
      scores: "Score of $q with $k",
      scaled: "Score of $q with $k, scaled",
      powers: "Exponential for $q and $k",
      weights: "Weight that $q gives $k",
      output: "Output of $q, number $i",
    },
    divide: "divide by √2",
    reset: "The chapter’s numbers",
    undivided: "not divided, the same",
    colon: ": ",
  },
  zh: {
    titles: {
      query: ["查询", "Q"],
      key: ["键", "K"],
      value: ["值", "V"],
      scores: ["分数", "Q Kᵀ"],
      scaled: ["缩放后", "÷ √2"],
      powers: ["取指数后", "eˣ"],
      weights: ["权重", "÷ 行的和"],
      output: ["输出", "权重 · V"],
    },
    places: {
      query: "$q 的查询，第 $i 个数值",
      key: "$q 的键，第 $i 个数值",
      value: "$q 的值，第 $i 个数值",
      scores: "$q 对 $k 的分数",
      scaled: "$q 对 $k 的分数，缩放后",
      powers: "$q 对 $k，取指数后",
      weights: "$q 给 $k 的权重",
      output: "$q 的输出，第 $i 个数值",
    },
    divide: "除以 √2",
    reset: "恢复书中的数值",
    undivided: "不缩放，数值不变",
    colon: "：",
  },
};

const words = english ? WORDS.en : WORDS.zh;

const TOKENS = ["we", "work", "?"];

/**
 * @param {Entry | Cell} place
 * @returns {string} the description of a place
 */
function describe({ name, row, column }) {
  return words.places[name]
    .replace("$q", TOKENS[row])
    .replace("$k", TOKENS[column])
    .replace("$i", String(column + 1));
}

/** @param {Entry | Cell} place */
const address = ({ name, row, column }) => `${name} ${row} ${column}`;

/** @returns {State} */
const initialState = () => ({
  entries: structuredClone(CHAPTER),
  divides: true,
  entry: { name: "query", row: 1, column: 0 },
  cell: { name: "scores", row: 1, column: 0 },
});

/**
 * @param {HTMLElement} element contains the static figure, which the widget replaces
 */
export function start(element) {
  const state = initialState();
  const changed = () => render(live, state);
  const status = el("p", { class: "by-hand__status", role: "status" });
  const reset = el("button", { type: "button" }, words.reset);
  reset.addEventListener("click", () => {
    Object.assign(state, initialState());
    changed();
  });
  const live = el("div", { class: "by-hand" },
    el("div", { class: "by-hand__matrices" },
      ...ENTRIES.map((name) => matrix(name, 2, name, (place) => field(place, state, changed))),
      el("div", { class: "by-hand__options" }, option(state, changed), reset),
      ...STEPS.map((name) => walkByArrows(matrix(name, name === "output" ? 2 : 3, "query",
        (place) => choice(place, state, changed))))),
    el("div", { class: "by-hand__explanation" }, slider(state, changed), el("p")),
    status);
  live.addEventListener("change", () => { // announce only the final value of a slider
    status.textContent = live.querySelector(".by-hand__explanation p")?.textContent ?? "";
  });
  changed();
  element.replaceChildren(live);
}

/**
 * A matrix as a table: three rows, and as many columns as there are keys or numbers.
 * @template {keyof Entries | keyof Steps} Name
 * @param {Name} name
 * @param {number} width
 * @param {keyof Entries} side the tokens of the rows
 * @param {(place: {name: Name, row: number, column: number}) => Node[]} content of a cell
 */
function matrix(name, width, side, content) {
  const [title, formula] = words.titles[name];
  const columns = [0, 1, 2].slice(0, width);
  const heads = columns.map((column) => width === 3
    ? el("th", { scope: "col", class: "key" }, TOKENS[column])
    : el("th", { scope: "col" }, String(column + 1)));
  const rows = [0, 1, 2].map((row) => el("tr", {},
    el("th", { scope: "row", class: side }, TOKENS[row]),
    ...columns.map((column) => el("td", { "data-at": address({ name, row, column }) },
      ...content({ name, row, column })))));
  return el("table", { class: `by-hand__matrix by-hand__${name}` },
    el("caption", {}, el("b", {}, title), " ", el("span", {}, formula)),
    el("thead", {}, el("tr", {}, el("td"), ...heads)),
    el("tbody", {}, ...rows));
}

/**
 * A field for one entry. Invalid and too large numbers are ignored.
 * @param {Entry} entry
 * @param {State} state
 * @param {() => void} changed
 */
function field(entry, state, changed) {
  const input = el("input", { type: "number", min: -LIMIT, max: LIMIT, step: 0.5 });
  input.addEventListener("focus", () => {
    state.entry = entry;
    changed();
  });
  input.addEventListener("input", () => {
    const x = input.valueAsNumber;
    if (Math.abs(x) <= LIMIT) state.entries[entry.name][entry.row][entry.column] = x;
    input.setAttribute("aria-invalid", String(!(Math.abs(x) <= LIMIT)));
    changed();
  });
  input.addEventListener("change", () => {
    input.value = String(state.entries[entry.name][entry.row][entry.column]);
    input.removeAttribute("aria-invalid");
  });
  return [input];
}

/**
 * A computed number that can be selected to show its arithmetic.
 * @param {Cell} cell
 * @param {State} state
 * @param {() => void} changed
 */
function choice(cell, state, changed) {
  const radio = el("input", { type: "radio", name: `by-hand-${cell.name}` });
  radio.addEventListener("change", () => {
    state.cell = cell;
    changed();
  });
  return [radio, el("span", { "aria-hidden": "true" })];
}

/**
 * @param {State} state
 * @param {() => void} changed
 */
function option(state, changed) {
  const box = el("input", { type: "checkbox" });
  box.addEventListener("input", () => {
    state.divides = box.checked;
    changed();
  });
  return el("label", {}, box, words.divide);
}

/**
 * A slider for the entry that was changed last.
 * @param {State} state
 * @param {() => void} changed
 */
function slider(state, changed) {
  const range = el("input", { type: "range", min: -LIMIT, max: LIMIT, step: 0.5 });
  range.addEventListener("input", () => {
    const { name, row, column } = state.entry;
    state.entries[name][row][column] = range.valueAsNumber;
    changed();
  });
  return el("label", {}, el("span"), range);
}

/**
 * Updates all numbers and labels.
 * @param {HTMLElement} live
 * @param {State} state
 */
function render(live, state) {
  const box = /** @type {HTMLInputElement} */ (live.querySelector("[type=checkbox]"));
  box.checked = state.divides;
  const divisor = live.querySelector(".by-hand__scaled caption span");
  if (divisor) divisor.textContent = state.divides ? words.titles.scaled[1] : "÷ 1";
  for (const name of ENTRIES) renderEntries(live, state, name);
  for (const name of STEPS) renderStep(live, state, name);
  renderArithmetic(live, state);
}

/**
 * @param {HTMLElement} live
 * @param {string} name
 * @param {number} row
 * @param {number} column
 */
function inputAt(live, name, row, column) {
  const input = live.querySelector(`[data-at="${name} ${row} ${column}"] input`);
  return /** @type {HTMLInputElement} */ (input);
}

/**
 * @param {HTMLElement} live
 * @param {State} state
 * @param {keyof Entries} name
 */
function renderEntries(live, { entries, entry }, name) {
  entries[name].forEach((numbers, row) => numbers.forEach((x, column) => {
    const input = inputAt(live, name, row, column);
    input.setAttribute("aria-label", describe({ name, row, column }));
    if (input !== document.activeElement) input.value = String(x); // otherwise the reader is typing
    input.classList.toggle("chosen", address({ name, row, column }) === address(entry));
  }));
}

/**
 * @param {HTMLElement} live
 * @param {State} state
 * @param {keyof Steps} name
 */
function renderStep(live, { entries, divides, cell }, name) {
  attend(entries, divides)[name].forEach((results, row) => results.forEach((result, column) => {
    const at = { name, row, column };
    const text = formatNumber(result);
    const radio = inputAt(live, name, row, column);
    radio.checked = address(at) === address(cell);
    radio.setAttribute("aria-label", `${text}, ${describe(at)}`);
    const label = /** @type {HTMLElement} */ (radio.nextElementSibling);
    label.textContent = text;
    if (name === "weights") label.style.setProperty("--share", String(result));
  }));
}

/**
 * Shows the arithmetic of the selected number, and marks the cells that it is computed from.
 * @param {HTMLElement} live
 * @param {State} state
 */
function renderArithmetic(live, { entries, divides, entry, cell }) {
  const range = /** @type {HTMLInputElement} */ (live.querySelector("input[type=range]"));
  range.value = String(entries[entry.name][entry.row][entry.column]);
  const [name, line] = live.querySelectorAll(".by-hand__explanation :is(label span, p)");
  name.textContent = describe(entry);
  line.textContent =
    describe(cell) + words.colon + arithmetic(cell, entries, divides, words.undivided);
  const used = sources(cell).map((place) => place.join(" "));
  for (const each of live.querySelectorAll("td[data-at]")) {
    each.classList.toggle("used", used.includes(each.getAttribute("data-at") ?? ""));
  }
}
