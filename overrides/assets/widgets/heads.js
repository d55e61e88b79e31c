// @ts-check
/** Heads: the cross-attention of the trained translator for a sentence that the reader enters. */

import { greedy } from "../../downloads/translator.js";
import { el, english, svg, walkByArrows } from "./common.js";
import { load } from "./model.js";
import { near } from "./translator-field.js";

/**
 * @import { Translator } from "../../downloads/translator.js"
 * @typedef {{words: string[], tokens: string[], heads: Float32Array[][][]}} Crossing
 *   heads[layer][head] has a row for each token, with a weight for each word
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
      `Layer ${layer + 1}, head ${head}, about to write ${token}: `,
    most: (/** @type {string} */ share, /** @type {string} */ word) =>
      `${share} of the weight is on “${word}”, more than on any other word.`,
    less: (/** @type {string[]} */ [share, word, most, best]) =>
      `${share} of the weight is on “${word}”; most, ${most}, is on “${best}”.`,
    cell: (/** @type {string[]} */ [share, token, word]) => `${share}, ${token} reads ${word}`,
  },
  zh: {
    label: "一句英文",
    look: "拆开翻译模型",
    examples: "或者选一句：",
    loading: "正在加载翻译模型",
    failed: "翻译模型加载失败。再按一次按钮，可以重试。",
    empty: "先写一句话，或者从下面选一句。",
    unknown: (/** @type {string} */ list, /** @type {number} */ known) =>
      `翻译模型认识 ${known} 个词，不认识 ${list}。`,
    near: (/** @type {string} */ list) => `（相近的有 ${list}）`,
    long: (/** @type {number} */ most) => `太长了：最多 ${most} 个词。`,
    layer: (/** @type {number} */ layer) => `第 ${layer} 层`,
    head: (/** @type {number} */ head) => `${head} 号头`,
    shares: "百分数：权重最大的词占多少，对各个字取平均。",
    where: (/** @type {Place} */ { layer, head }, /** @type {string} */ token) =>
      `第 ${layer + 1} 层，${head} 号头，即将写“${token}”：`,
    most: (/** @type {string} */ share, /** @type {string} */ word) =>
      `${share} 的权重在 ${word} 上，比在别的词上都多。`,
    less: (/** @type {string[]} */ [share, word, most, best]) =>
      `${share} 的权重在 ${word} 上；最多的是 ${best}，${most}。`,
    cell: (/** @type {string[]} */ [share, token, word]) => `${share}，写“${token}”时看 ${word}`,
  },
};
const text = english ? WORDS.en : WORDS.zh;

// The numbers

/**
 * The translation, and the cross-attention of every layer and head for each of its tokens.
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
 * An error message about a sentence; empty if it can be translated.
 * @param {Translator} translator
 * @param {string[]} words
 */
export function sentenceError(translator, words) {
  const known = translator.source.tokens.slice(3); // after <pad>, <bos> and <eos>
  const unknown = words.filter((word) => !known.includes(word));
  const most = translator.config.max_len;
  if (!words.length) return text.empty;
  if (unknown.length) {
    const descriptions = [...new Set(unknown)].map((word) => {
      const similar = near(word, known);
      return similar.length ? word + text.near(similar.join(", ")) : word;
    });
    return text.unknown(descriptions.join(", "), known.filter((word) => word !== "?").length);
  }
  return words.length > most ? text.long(most) : "";
}

/** The index of the largest number of a row. @param {Float32Array} row */
const strongest = (row) => row.indexOf(Math.max(...row));

/** The largest weight of a row, averaged over the rows. @param {Float32Array[]} rows */
const meanShare = (rows) => rows.reduce((sum, row) => sum + Math.max(...row), 0) / rows.length;

/** @param {number} share */
const percent = (share, decimals = 1) => `${(100 * share).toFixed(decimals)}%`;

/**
 * A sentence that describes a cell.
 * @param {Crossing} crossing
 * @param {Place} place
 */
export function describe({ words, tokens, heads }, place) {
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
 * @param {HTMLElement} element contains the static figure, which the first sentence replaces
 */
export function start(element) {
  const input = el("input", { type: "text", name: "sentence", value: EXAMPLES[0], lang: "en",
    autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const chips = EXAMPLES.map((each) => el("button", { type: "button", lang: "en" }, each));
  const form = el("form", { class: "heads__form" },
    el("label", {}, text.label, input),
    el("button", { type: "submit" }, text.look),
    el("div", {}, text.examples, ...chips));
  const status = el("p", { class: "heads__said", role: "status" });
  const picture = el("div", { class: "heads__picture" }, ...element.childNodes);
  const look = createLookup(input, status, picture);
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
  element.replaceChildren(el("div", { class: "heads" }, form, status, picture));
}

/**
 * A function that translates the sentence in the field and shows the heads. The translator is
 * fetched at the first call; a later call cancels one that is still waiting.
 * @param {HTMLInputElement} input
 * @param {HTMLElement} status
 * @param {HTMLElement} picture
 */
function createLookup(input, status, picture) {
  let calls = 0;
  return async () => {
    const call = ++calls;
    const progress = el("progress", { max: 1, "aria-label": text.loading });
    picture.classList.add("heads__picture--wide"); // now, because later it would shift the layout
    status.replaceChildren(`${text.loading} `, progress);
    const translator = await load((share) => (progress.value = share)).catch(() => null);
    if (call !== calls) return;
    const words = translator?.words(input.value) ?? [];
    const error = translator ? sentenceError(translator, words) : text.failed;
    status.textContent = error;
    if (translator && !error) show(crossing(translator, words), status, picture);
  };
}

/**
 * Shows thumbnails of all heads, and the selected head large.
 * @param {Crossing} crossing
 * @param {HTMLElement} status
 * @param {HTMLElement} picture
 */
function show(crossing, status, picture) {
  const { tokens, heads } = crossing;
  status.textContent = tokens.filter((token) => token !== "<eos>").join("");
  const large = el("div", { class: "heads__large" });
  const line = el("p", { class: "heads__explanation", "aria-live": "polite" });
  const place = { layer: heads.length - 1, head: 0, row: 0, column: 0 };
  const choose = (/** @type {Partial<Place>} */ other) => {
    const { layer, head } = Object.assign(place, other);
    if (!("row" in other)) {
      place.column = strongest(heads[layer][head][place.row]);
      large.replaceChildren(map(crossing, place, choose));
    }
    line.textContent = describe(crossing, place);
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
 * A thumbnail of a head: a radio button with its heat map.
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
  return el("label", {}, radio, heat, el("span", {}, text.head(head), " ", share));
}

/**
 * The table of a head: a row for each character, a column for each word, all cells selectable.
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
      const label = el("span", { "aria-hidden": "true" });
      if (weight >= 0.05) label.textContent = (100 * weight).toFixed(0);
      label.style.setProperty("--share", String(weight));
      return el("td", { class: column === strongest(weights) ? "strongest" : "" }, radio, label);
    });
    return el("tr", {}, el("th", { scope: "row", lang: "zh" }, tokens[row]), ...cells);
  });
  return walkByArrows(el("table", { class: "heads__map" },
    el("thead", {}, el("tr", {}, el("td"), ...columns)), el("tbody", {}, ...rows)));
}
