// @ts-check
/** The mask of two sentences in the convention of this book and of other libraries. */

import { choice, el, english, slider, walkByArrows } from "./common.js";

const MAX_LENGTH = 6;

/** @typedef {"encoder" | "decoder" | "cross"} Attention the attention that uses the mask */
/** @typedef {"padding" | "causal" | "both"} Kind */
/** @typedef {"ours" | "torch" | "added" | "hugging"} Convention */
/**
 * The selected options; source and target are the lengths of two sentences.
 * @typedef {object} Choice
 * @property {Attention} attention
 * @property {Kind} kind
 * @property {Convention} convention
 * @property {number[]} source
 * @property {number[]} target
 */

/**
 * A tensor argument: its name, its shape, the code that converts our mask, and its matrices.
 * Their cells are in our convention, in which true means that a query may attend.
 * @typedef {object} Tensor
 * @property {string} name
 * @property {number[]} shape
 * @property {string} from
 * @property {"query" | "sentence"} rows
 * @property {boolean[][][]} grids
 */

/** How each convention writes that a query may attend, and that it may not. */
export const SIGNS = {
  ours: ["T", "F"],
  torch: ["F", "T"],
  added: ["0", "−∞"],
  hugging: ["1", "0"],
};

/** The mask that the model uses in each kind of attention.
 * @type {Record<Attention, Kind>} */
const MODEL_KINDS = { encoder: "padding", decoder: "both", cross: "padding" };

const WORDS = {
  en: {
    attention: "attention",
    attentions: {
      encoder: "encoder: source to source",
      decoder: "decoder: target to target",
      cross: "decoder to encoder",
    },
    kind: "mask",
    kinds: { padding: "padding", causal: "causal", both: "causal & padding" },
    convention: "written for",
    conventions: {
      ours: "this book, SDPA",
      torch: "torch.nn",
      added: "added to the scores",
      hugging: "Hugging Face",
    },
    source: ["source 1", "source 2"],
    target: ["target 1", "target 2"],
    sentences: ["sentence 1", "sentence 2"],
    every: "every sentence",
    key: "key →",
    rows: { query: "query ↓", sentence: "sentence ↓" },
    inside: "The causal mask isn't passed: the model creates it itself.",
    stretched: "Its axis of queries has size 1: every query gets the same row.",
    square:
      "A causal mask compares positions of one sequence. Here queries are target tokens and " +
      "keys are source tokens, so neither is later than the other.",
    ask: "Point at a cell, tap it, or reach it with Tab and the arrow keys, to have it explained.",
    values: { T: "True", F: "False", 0: "0", 1: "1", "−∞": "−∞" },
    /** @param {Cell} cell */
    cell({ sentence, query, key, may, padded, later, value }) {
      const where = sentence === undefined ? "" : `Sentence ${sentence + 1}: `;
      const reasons = [padded && "it is padding", later && "it comes later"].filter(Boolean);
      const why = may ? "" : ` (${reasons.join(" and ")})`;
      const all = may ? "every query may" : "no query may";
      const one = may ? `query ${query} may` : `query ${query} may not`;
      const who = query === undefined ? all : one;
      return `${where}${who} look at key ${key}${why}. Written ${value}.`;
    },
  },
  zh: {
    attention: "注意力",
    attentions: {
      encoder: "编码器：原文看原文",
      decoder: "解码器：译文看译文",
      cross: "解码器看原文",
    },
    kind: "掩码",
    kinds: { padding: "填充", causal: "因果", both: "因果 & 填充" },
    convention: "写法",
    conventions: {
      ours: "本书、SDPA",
      torch: "torch.nn",
      added: "加到分数上",
      hugging: "Hugging Face",
    },
    source: ["原文 1", "原文 2"],
    target: ["译文 1", "译文 2"],
    sentences: ["第 1 句", "第 2 句"],
    every: "每一句",
    key: "键 →",
    rows: { query: "查询 ↓", sentence: "句子 ↓" },
    inside: "因果掩码不用传：由模型自己生成。",
    stretched: "查询那个轴的大小是 1：每个查询得到的都是这一行。",
    square: "因果掩码比较的是同一个序列里的位置。这里的查询是译文的词元，键是原文的词元，分不出谁先谁后。",
    ask: "指向或点按一个格子，或者用 Tab 键和方向键移过去，就会显示文字说明。",
    values: { T: "True", F: "False", 0: "0", 1: "1", "−∞": "−∞" },
    /** @param {Cell} cell */
    cell({ sentence, query, key, may, padded, later, value }) {
      const where = sentence === undefined ? "" : `第 ${sentence + 1} 句：`;
      const who = query === undefined ? "每个查询都" : `查询 ${query} `;
      const reasons = [padded && "是填充符", later && "在后面"].filter(Boolean);
      const why = may ? "" : `（${reasons.join("，而且")}）`;
      return `${where}${who}${may ? "可以看" : "不能看"}键 ${key}${why}。写作 ${value}。`;
    },
  },
};

/**
 * The meaning of a cell. Without a sentence or a query, it holds for all of them.
 * @typedef {object} Cell
 * @property {number} [sentence]
 * @property {number} [query]
 * @property {number} key
 * @property {boolean} may
 * @property {boolean} padded
 * @property {boolean} later
 * @property {string} value
 */

/**
 * padding_mask without its two axes of size 1: a row for each sentence.
 * @param {number[]} lengths
 */
function paddingMask(lengths) {
  const longest = Math.max(...lengths);
  return lengths.map((length) => Array.from({ length: longest }, (_, key) => key < length));
}

/**
 * causal_mask without its two axes of size 1.
 * @param {number} size
 */
function causalMask(size) {
  return Array.from({ length: size }, (_, query) =>
    Array.from({ length: size }, (_, key) => key <= query),
  );
}

/** Where the queries and the keys come from. @param {Choice} choice */
function sides({ attention, source, target }) {
  const queries = attention === "encoder" ? source : target;
  const keys = attention === "decoder" ? target : source;
  return { queries, keys, n: Math.max(...queries), name: attention === "decoder" ? "tgt" : "src" };
}

/**
 * The mask in our convention for all sentences, with the code that creates it.
 * @param {Choice} choice
 * @returns {Tensor}
 */
function ourMask(choice) {
  const { keys, n, name } = sides(choice);
  const [padded, causal] = [choice.kind !== "causal", choice.kind !== "padding"];
  const padding = paddingMask(keys);
  const m = padding[0].length;
  const grids = (padded ? padding : [padding[0].map(() => true)]).map((row) =>
    Array.from({ length: n }, (_, query) =>
      row.map((real, key) => real && (!causal || key <= query)),
    ),
  );
  const parts = [causal && `causal_mask(${n})`, padded && `padding_mask(${name})`];
  const shape = [grids.length, 1, causal ? n : 1, m];
  return { name: "mask", shape, from: parts.filter(Boolean).join(" & "), rows: "query", grids };
}

/**
 * The one or two tensors that a library takes for the same mask.
 * @param {Choice} choice
 * @returns {Tensor[]}
 */
export function tensors(choice) {
  const mask = ourMask(choice);
  if (choice.convention === "ours") return [mask];
  const added = "torch.where(mask, 0.0, -torch.inf)";
  if (choice.convention === "added") return [{ ...mask, from: added }];
  const { keys, n } = sides(choice);
  const torch = choice.convention === "torch";
  /** @type {Tensor} */
  const padding = {
    name: torch ? "key_padding_mask" : "attention_mask",
    shape: [keys.length, Math.max(...keys)],
    from: torch ? "~padding[:, 0, 0]" : "padding[:, 0, 0].long()",
    rows: "sentence",
    grids: [paddingMask(keys)],
  };
  /** @type {Tensor} */
  const causal = {
    name: "attn_mask",
    shape: [n, n],
    from: "~causal[0, 0]",
    rows: "query",
    grids: [causalMask(n)],
  };
  const result = choice.kind === "causal" ? [] : [padding];
  return torch && choice.kind !== "padding" ? [...result, causal] : result;
}

/**
 * The meaning of one cell of a matrix.
 * @param {Tensor} tensor
 * @param {number} grid the index of the matrix
 * @param {number} row
 * @param {number} key
 * @param {Choice} choice
 * @returns {Cell}
 */
function meaning(tensor, grid, row, key, choice) {
  const { values } = english ? WORDS.en : WORDS.zh;
  const { keys } = sides(choice);
  const may = tensor.grids[grid][row][key];
  const sign = /** @type {keyof typeof values} */ (SIGNS[choice.convention][Number(!may)]);
  if (tensor.rows === "sentence") {
    return { sentence: row, key, may, padded: !may, later: false, value: values[sign] };
  }
  const sentence = tensor.grids.length > 1 ? grid : undefined;
  const padded = sentence !== undefined && key >= keys[sentence];
  const later = choice.kind !== "padding" && key > row;
  return { sentence, query: row, key, may, padded, later, value: values[sign] };
}

/**
 * The table of one matrix; pointing at a cell describes it.
 * @param {Tensor} tensor
 * @param {number} grid
 * @param {Choice} choice
 * @param {(cell: Cell) => void} describe
 */
function table(tensor, grid, choice, describe) {
  const words = english ? WORDS.en : WORDS.zh;
  const { queries, keys } = sides(choice);
  const bySentence = tensor.rows === "sentence";
  const hasSentences = tensor.grids.length > 1;

  /** @type {(scope: string, index: number, length: number) => HTMLElement} */
  function head(scope, index, length) {
    const pad = hasSentences && index >= length;
    return el("th", { scope, class: pad ? "pad" : "" }, pad ? "pad" : String(index));
  }

  /** @type {(row: number, key: number, may: boolean) => HTMLElement} */
  function cell(row, key, may) {
    const onSelect = () => describe(meaning(tensor, grid, row, key, choice));
    const events = { pointerenter: onSelect, focus: onSelect, click: onSelect };
    const sign = SIGNS[choice.convention][Number(!may)];
    return el("td", { class: may ? "may" : "", tabindex: row + key ? -1 : 0, ...events }, sign);
  }

  const corner = el(
    "td",
    { class: "corner" },
    el("span", { class: "key" }, words.key),
    el("span", { class: "query" }, words.rows[tensor.rows]),
  );
  const top = tensor.grids[grid][0].map((_, key) => head("col", key, keys[grid]));
  const lines = tensor.grids[grid].map((line, row) => {
    const name = bySentence ? head("row", row + 1, Infinity) : head("row", row, queries[grid]);
    return el("tr", {}, name, ...line.map((may, key) => cell(row, key, may)));
  });
  const caption = bySentence ? "" : hasSentences ? words.sentences[grid] : words.every;
  return walkByArrows(el(
    "table",
    { role: "grid", class: "mask", focusin: moveTabStop, "aria-label": `${tensor.name} ${caption}` },
    ...(caption ? [el("caption", {}, caption)] : []),
    el("thead", {}, el("tr", {}, corner, ...top)),
    el("tbody", {}, ...lines),
  ));
}

/** Makes Tab return to the cell that had the focus last. @param {FocusEvent} event */
function moveTabStop(event) {
  const [cell, table] = [event.target, event.currentTarget];
  if (!(cell instanceof HTMLElement && table instanceof HTMLElement)) return;
  for (const other of table.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
  cell.tabIndex = 0;
}

/** @param {HTMLElement} widget */
export function start(widget) {
  const words = english ? WORDS.en : WORDS.zh;
  /** @type {Choice} */
  const state = {
    attention: "decoder",
    kind: "both",
    convention: "ours",
    source: [5, 2],
    target: [5, 3],
  };
  const output = el("div", { class: "tensors" });
  const line = el("p", { class: "explanation", "aria-live": "polite" }, words.ask);
  /** @param {Cell} cell */
  const describe = (cell) => (line.textContent = words.cell(cell));

  /** @param {Tensor} tensor */
  function drawTensor(tensor) {
    const grids = tensor.grids.map((_, grid) => table(tensor, grid, state, describe));
    const shape = `(${tensor.shape.join(", ")})`;
    const code = el("code", {}, tensor.from);
    const title = el("p", {}, el("b", {}, `${tensor.name} ${shape}`), el("br"), code);
    return el("div", { class: "tensor" }, title, el("div", { class: "grids" }, ...grids));
  }

  function draw() {
    const masks = tensors(state);
    output.replaceChildren(...masks.map(drawTensor));
    const stretched = masks.some(({ shape }) => shape.length === 4 && shape[2] === 1);
    const inside = state.convention === "hugging" && state.kind !== "padding";
    const notes = [stretched && words.stretched, inside && words.inside].filter(Boolean);
    output.append(...notes.map((note) => el("p", { class: "quiet" }, String(note))));
  }

  /** Disables the controls that do not apply to the selected attention. */
  function updateControls() {
    const isCross = state.attention === "cross";
    for (const option of kind.select.options) {
      option.disabled = isCross && option.value !== "padding";
    }
    kind.select.value = state.kind;
    for (const { input } of source) input.disabled = state.attention === "decoder";
    for (const { input } of target) input.disabled = state.attention === "encoder";
    draw();
  }

  /** @type {<T extends string>(texts: Record<T, string>) => [string, string][]} */
  const options = (texts) => Object.entries(texts);
  const attention = choice(words.attention, options(words.attentions), state.attention, (value) => {
    state.attention = /** @type {Attention} */ (value);
    state.kind = MODEL_KINDS[state.attention];
    line.textContent = value === "cross" ? words.square : words.ask;
    updateControls();
  });
  const kind = choice(words.kind, options(words.kinds), state.kind, (value) => {
    state.kind = /** @type {Kind} */ (value);
    line.textContent = words.ask;
    updateControls();
  });
  const convention = choice(
    words.convention,
    options(words.conventions),
    state.convention,
    (value) => {
      state.convention = /** @type {Convention} */ (value);
      line.textContent = words.ask;
      draw();
    },
  );
  /** @type {(side: "source" | "target") => ReturnType<typeof slider>[]} */
  const lengths = (side) =>
    words[side].map((name, sentence) =>
      slider(name, { min: 1, max: MAX_LENGTH, value: state[side][sentence] }, (length) => {
        state[side][sentence] = length;
        draw();
      }),
    );
  const [source, target] = [lengths("source"), lengths("target")];

  const sliders = [...source, ...target].map(({ label }) => label);
  updateControls();
  widget.append(
    el(
      "div",
      { class: "live" },
      el("div", { class: "controls" }, attention.label, kind.label, convention.label),
      el("div", { class: "controls pairs" }, ...sliders),
      line,
      output,
    ),
  );
}
