// @ts-check
/** Heads: where the trained translator looks, in a sentence of the reader's own. */

import { greedy } from "../../downloads/translator.js";
import { el, english, svg, walkByArrows } from "./common.js";
import { load } from "./model.js";
import { near } from "./translator-field.js";

/**
 * @import { Translator } from "../../downloads/translator.js"
 * @typedef {{words: string[], tokens: string[], heads: Float32Array[][][]}} Crossing
 *   heads[layer][head] has a row for each token written, in it a weight for each word
 * @typedef {{layer: number, head: number, row: number, column: number}} Place
 */

const EXAMPLES = [
  "why do we work ?",
  "tom is not selling vegetables",
  "we went to london five years ago",
  "three hundred and forty two thousand and five",
];

const WORDS = {
  en: {
    label: "An English sentence",
    look: "Look inside",
    examples: "Or one of these:",
    loading: "Fetching the translator",
    failed: "The translator could not be fetched. Press the button to try again.",
    empty: "Write a sentence first, or choose one of those below.",
    unknown: (/** @type {string} */ list, /** @type {number} */ known) =>
      `The translator knows ${known} words, but not ${list}.`,
    near: (/** @type {string} */ list) => ` (near it: ${list})`,
    long: (/** @type {number} */ most) => `That is too long: ${most} words at most.`,
    layer: (/** @type {number} */ layer) => `Layer ${layer}`,
    head: (/** @type {number} */ head) => `head ${head}`,
    shares: "In percent: how much the strongest word gets, on average over the characters.",
    where: (/** @type {Place} */ { layer, head }, /** @type {string} */ token) =>
      `Layer ${layer + 1}, head ${head + 1}, about to write ${token}: `,
    most: (/** @type {string} */ share, /** @type {string} */ word) =>
      `${share} of the weight is on “${word}”, more than on any other word.`,
    less: (/** @type {string[]} */ [share, word, most, best]) =>
      `${share} of the weight is on “${word}”; most, ${most}, is on “${best}”.`,
    cell: (/** @type {string[]} */ [share, token, word]) => `${share}, ${token} reads ${word}`,
  },
  zh: {
    label: "一句英文",
    look: "看看里面",
    examples: "或者选一句：",
    loading: "正在取翻译器",
    failed: "翻译器没有取到。再按一次按钮，可以重试。",
    empty: "先写一句话，或者从下面选一句。",
    unknown: (/** @type {string} */ list, /** @type {number} */ known) =>
      `翻译器认识 ${known} 个词，不认识 ${list}。`,
    near: (/** @type {string} */ list) => `（相近的有 ${list}）`,
    long: (/** @type {number} */ most) => `太长了：最多 ${most} 个词。`,
    layer: (/** @type {number} */ layer) => `第 ${layer} 层`,
    head: (/** @type {number} */ head) => `头 ${head}`,
    shares: "百分数：权重最大的词占多少，对各个字取平均。",
    where: (/** @type {Place} */ { layer, head }, /** @type {string} */ token) =>
      `第 ${layer + 1} 层，头 ${head + 1}，即将写「${token}」：`,
    most: (/** @type {string} */ share, /** @type {string} */ word) =>
      `${share} 的权重在 ${word} 上，比在别的词上都多。`,
    less: (/** @type {string[]} */ [share, word, most, best]) =>
      `${share} 的权重在 ${word} 上；最多的是 ${best}，${most}。`,
    cell: (/** @type {string[]} */ [share, token, word]) => `${share}，写「${token}」时看 ${word}`,
  },
};
const text = english ? WORDS.en : WORDS.zh;

// The numbers

/**
 * The translation, and the cross-attention of every layer and head while it was written.
 * @param {Translator} translator
 * @param {string[]} words
 * @returns {Crossing}
 */
export function crossing(translator, words) {
  const steps = greedy(translator, translator.encode(words));
  const heads = steps[0].attention.map((layer, i) =>
    layer.map((_, j) => steps.map((step) => step.attention[i][j])));
  return { words, tokens: steps.map((step) => step.token), heads };
}

/**
 * What is wrong with a sentence, in words; nothing if it can be translated.
 * @param {Translator} translator
 * @param {string[]} words
 */
export function fault(translator, words) {
  const known = translator.source.tokens.slice(3); // behind <pad>, <bos> and <eos>
  const unknown = words.filter((word) => !known.includes(word));
  const most = translator.config.max_len;
  if (!words.length) return text.empty;
  if (unknown.length) {
    const told = [...new Set(unknown)].map((word) => {
      const alike = near(word, known);
      return alike.length ? word + text.near(alike.join(", ")) : word;
    });
    return text.unknown(told.join(", "), known.length);
  }
  return words.length > most ? text.long(most) : "";
}

/** Where the largest number of a row is. @param {Float32Array} row */
const strongest = (row) => row.indexOf(Math.max(...row));

/** What the strongest word gets, on average over the rows. @param {Float32Array[]} rows */
const meanShare = (rows) => rows.reduce((sum, row) => sum + Math.max(...row), 0) / rows.length;

/** @param {number} share */
const percent = (share, decimals = 1) => `${(100 * share).toFixed(decimals)}%`;

/**
 * What a cell means, in a sentence.
 * @param {Crossing} crossing
 * @param {Place} place
 */
export function told({ words, tokens, heads }, place) {
  const row = heads[place.layer][place.head][place.row];
  const best = strongest(row);
  const [share, most] = [percent(row[place.column]), percent(row[best])];
  const word = words[place.column];
  const rest = place.column === best
    ? text.most(share, word)
    : text.less([share, word, most, words[best]]);
  return text.where(place, tokens[place.row]) + rest;
}

// The drawing

/**
 * @param {HTMLElement} element holds the picture that serves until a sentence is asked for
 */
export function start(element) {
  const input = el("input", { type: "text", name: "sentence", value: EXAMPLES[0], lang: "en",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const chips = EXAMPLES.map((each) => el("button", { type: "button", lang: "en" }, each));
  const form = el("form", { class: "heads__form" },
    el("label", {}, text.label, input),
    el("button", { type: "submit" }, text.look),
    el("div", {}, text.examples, ...chips));
  const said = el("p", { class: "heads__said", role: "status" });
  const picture = el("div", { class: "heads__picture" }, ...element.childNodes);
  const look = looker(input, said, picture);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      input.value = chip.textContent ?? "";
      look();
    });
  }
  element.replaceChildren(el("div", { class: "heads" }, form, said, picture));
}

/**
 * A function that translates what stands in the field and shows the heads. The translator is
 * fetched when it is first called; a later call overtakes one that still waits.
 * @param {HTMLInputElement} input
 * @param {HTMLElement} said
 * @param {HTMLElement} picture
 */
function looker(input, said, picture) {
  let calls = 0;
  return async () => {
    const call = ++calls;
    const progress = el("progress", { max: 1, "aria-label": text.loading });
    picture.classList.add("heads__picture--wide"); // at once: later it would be a jump
    said.replaceChildren(`${text.loading} `, progress);
    const translator = await load((share) => (progress.value = share)).catch(() => null);
    if (call !== calls) return;
    const words = translator?.words(input.value) ?? [];
    const wrong = translator ? fault(translator, words) : text.failed;
    said.textContent = wrong;
    if (translator && !wrong) show(crossing(translator, words), said, picture);
  };
}

/**
 * All heads, small, and the chosen one, large.
 * @param {Crossing} crossing
 * @param {HTMLElement} said
 * @param {HTMLElement} picture
 */
function show(crossing, said, picture) {
  const { tokens, heads } = crossing;
  said.textContent = tokens.filter((token) => token !== "<eos>").join("");
  const large = el("div", { class: "heads__large" });
  const line = el("p", { class: "heads__told", "aria-live": "polite" });
  const place = { layer: heads.length - 1, head: 0, row: 0, column: 0 };
  const choose = (/** @type {Partial<Place>} */ other) => {
    const { layer, head } = Object.assign(place, other);
    if (!("row" in other)) {
      place.column = strongest(heads[layer][head][place.row]);
      large.replaceChildren(map(crossing, place, choose));
    }
    line.textContent = told(crossing, place);
  };
  const small = heads.map((layer, i) => el("fieldset", {},
    el("legend", {}, text.layer(i + 1)),
    ...layer.map((rows, j) => thumbnail(rows, i, j, choose))));
  picture.replaceChildren(...small, el("p", {}, text.shares), large, line);
  choose({});
  const last = /** @type {HTMLInputElement} */ (small[place.layer].querySelector("input"));
  last.checked = true;
}

/**
 * A head, small: a radio button with its heat map.
 * @param {Float32Array[]} rows
 * @param {number} layer
 * @param {number} head
 * @param {(place: Partial<Place>) => void} choose
 */
function thumbnail(rows, layer, head, choose) {
  const radio = el("input", { type: "radio", name: "head" });
  radio.addEventListener("change", () => choose({ layer, head }));
  const squares = rows.flatMap((row, y) => [...row].map((weight, x) =>
    svg("rect", { x, y, width: 1, height: 1, "fill-opacity": weight.toFixed(3) })));
  const heat = svg("svg", { "aria-hidden": "true", preserveAspectRatio: "none",
    viewBox: `0 0 ${rows[0].length} ${rows.length}` }, ...squares);
  const share = el("b", {}, percent(meanShare(rows), 0));
  return el("label", {}, radio, heat, el("span", {}, text.head(head + 1), " ", share));
}

/**
 * A head, large: a row for each character, a column for each word, each cell to be chosen.
 * @param {Crossing} crossing
 * @param {Place} place
 * @param {(place: Partial<Place>) => void} choose
 */
function map({ words, tokens, heads }, place, choose) {
  const columns = words.map((word) => el("th", { scope: "col", lang: "en" }, el("span", {}, word)));
  const rows = heads[place.layer][place.head].map((weights, row) => {
    const cells = [...weights].map((weight, column) => {
      const checked = row === place.row && column === place.column;
      const radio = el("input", { type: "radio", name: "weight", checked,
        "aria-label": text.cell([percent(weight), tokens[row], words[column]]) });
      radio.addEventListener("change", () => choose({ row, column }));
      const shown = el("span", { "aria-hidden": "true" });
      if (weight >= 0.05) shown.textContent = (100 * weight).toFixed(0);
      shown.style.setProperty("--share", String(weight));
      return el("td", { class: column === strongest(weights) ? "strongest" : "" }, radio, shown);
    });
    return el("tr", {}, el("th", { scope: "row", lang: "zh" }, tokens[row]), ...cells);
  });
  return walkByArrows(el("table", { class: "heads__map" },
    el("thead", {}, el("tr", {}, el("td"), ...columns)), el("tbody", {}, ...rows)));
}
