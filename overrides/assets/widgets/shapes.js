// @ts-check
/** A batch goes through multi-head attention, a step at a time: its axes, named and coloured. */

import { choice, el, english, slider, svg } from "./common.js";

/** @typedef {"batch" | "position" | "d_model" | "head" | "head_dim" | "key"} Axis */
/** @typedef {[axis: Axis, size: number][]} Shape */
/** @typedef {"tokens" | "maps" | "view" | "transpose" | "matmul" | "softmax" | "average" | "back" | "flatten" | "output"} Name */
/** @typedef {"ink" | "query" | "value"} Colour */
/** @typedef {{name: Name, code: string, shape: Shape, from: Shape[], colour: Colour}} Step */

const LAST = 10; // steps
const SIZES = [4, 6, 8, 12, 16, 64, 512];

const WORDS = {
  en: {
    batch: "batch",
    step: "step",
    back: "← back",
    on: "next →",
    axes: {
      batch: "batch",
      position: "position",
      d_model: "d_model",
      head: "head",
      head_dim: "head_dim",
      key: "position of the key",
    },
    /** @type {Record<Name, [operation: string, told: string]>} */
    steps: {
      tokens: ["tokens", "Each position of each sentence has one vector of d_model features."],
      maps: ["linear", "Three maps make queries, keys and values. Each mixes the features of one token and leaves the shape as it is."],
      view: ["view", "unflatten: the last axis is cut into heads. No number moves: the features of a token are only counted in groups."],
      transpose: ["transpose", "Heads change places with positions. Now each head has a matrix of its own, with all tokens in it. Keys and values go the same way."],
      matmul: ["matmul", "Queries times keys: head_dim is summed over and gone, and the keys' positions are the new last axis. Then division by √head_dim."],
      softmax: ["softmax", "Scores become weights that sum to 1 along the last axis, the keys. The shape stays. (The fused kernel takes this step with the ones before and after it.)"],
      average: ["matmul", "Weights times values: the keys' axis is summed over, and head_dim is back."],
      back: ["transpose", "Positions change places with heads again, so that the heads of a token stand together."],
      flatten: ["flatten", "The heads of each token are laid side by side: d_model features again."],
      output: ["linear", "The output map mixes what the heads have found. The shape is that of the start."],
    },
    down: "down the picture:",
    across: "across:",
    rows: "rows:",
    columns: "columns:",
    outlined: "Outlined: the first token of the first sentence.",
    /** @param {number} d_model @param {number} nhead */
    refused: (d_model, nhead) =>
      `d_model must be divisible by nhead, got ${d_model} and ${nhead}`,
    refusal: "Heads of equal size can't be cut from it. Choose another number of heads, or another d_model.",
  },
  zh: {
    batch: "批",
    step: "步骤",
    back: "← 上一步",
    on: "下一步 →",
    axes: {
      batch: "批",
      position: "位置",
      d_model: "d_model",
      head: "头",
      head_dim: "head_dim",
      key: "键的位置",
    },
    /** @type {Record<Name, [operation: string, told: string]>} */
    steps: {
      tokens: ["词元", "每句话的每个位置有一个向量，d_model 个特征。"],
      maps: ["linear", "三个线性映射得出查询、键和值。每个映射只混合一个词元自己的特征，形状不变。"],
      view: ["view", "unflatten：把最后一个轴切成头。没有一个数挪动，只是一个词元的特征改成按组来数。"],
      transpose: ["transpose", "头和位置对换。现在每个头有自己的一个矩阵，里面有所有词元。键和值也走同样的步骤。"],
      matmul: ["matmul", "查询乘键：对 head_dim 求和，这个轴没有了；新的最后一个轴是键的位置。然后除以 √head_dim。"],
      softmax: ["softmax", "分数变成权重，沿最后一个轴（键）加起来是 1。形状不变。（融合的内核把这一步和前后两步一起做了。）"],
      average: ["matmul", "权重乘值：对键的轴求和，head_dim 又回来了。"],
      back: ["transpose", "位置和头再换回来，一个词元的各个头又站在一起。"],
      flatten: ["flatten", "每个词元的各个头并排放好，又是 d_model 个特征。"],
      output: ["linear", "输出映射把各个头得到的东西混合起来。形状和开头一样。"],
    },
    down: "图中自上而下：",
    across: "自左而右：",
    rows: "行：",
    columns: "列：",
    outlined: "框出的是第一句的第一个词元。",
    /** @param {number} d_model @param {number} nhead */
    refused: (d_model, nhead) =>
      `d_model must be divisible by nhead, got ${d_model} and ${nhead}`,
    refusal: "d_model 必须能被头数整除，否则切不成一样大的头。换一个头数，或者换一个 d_model。",
  },
};

/**
 * All steps, each with the line of transformer.py that takes it.
 * @param {number} batch
 * @param {number} n
 * @param {number} d_model
 * @param {number} nhead
 * @returns {Step[]}
 */
export function steps(batch, n, d_model, nhead) {
  const head_dim = d_model / nhead;
  /** @type {(...axes: Shape) => Shape} */
  const shape = (...axes) => [["batch", batch], ...axes];
  const whole = shape(["position", n], ["d_model", d_model]);
  const cut = shape(["position", n], ["head", nhead], ["head_dim", head_dim]);
  const heads = shape(["head", nhead], ["position", n], ["head_dim", head_dim]);
  const turned = shape(["head", nhead], ["head_dim", head_dim], ["key", n]);
  const pairs = shape(["head", nhead], ["position", n], ["key", n]);
  const values = shape(["head", nhead], ["key", n], ["head_dim", head_dim]);
  /** @type {[Name, string, Shape, Shape[], Colour][]} */
  const all = [
    ["tokens", "query: Tensor,", whole, [], "ink"],
    ["maps", "self.query = nn.Linear(d_model, d_model)", whole, [whole], "query"],
    ["view", "x = x.unflatten(-1, (self.nhead, -1))", cut, [whole], "query"],
    ["transpose", "return x.transpose(1, 2)", heads, [cut], "query"],
    ["matmul", "scores = query @ key.transpose(-2, -1)", pairs, [heads, turned], "ink"],
    ["softmax", "weights = scores.softmax(dim=-1)", pairs, [pairs], "ink"],
    ["average", "return F.dropout(weights, dropout) @ value, weights", heads, [pairs, values], "value"],
    ["back", "joined = heads.transpose(1, 2).flatten(2)", cut, [heads], "value"],
    ["flatten", "joined = heads.transpose(1, 2).flatten(2)", whole, [cut], "value"],
    ["output", "return self.output(joined), weights", whole, [whole], "ink"],
  ];
  return all.map(([name, code, shape, from, colour]) => ({ name, code, shape, from, colour }));
}

const [WIDTH, HEIGHT, GAP, LARGEST] = [520, 290, 10, 24]; // units of the picture

/**
 * A tensor as matrices: the last two axes are rows and columns, the one before lies across the
 * picture, the first down. Heads are strong and pale in turn.
 * @param {Step} step
 */
function picture({ shape, colour }) {
  const sizes = shape.map(([, size]) => size);
  const [down, across, rows, columns] = sizes.length === 4 ? sizes : [sizes[0], 1, ...sizes.slice(1)];
  const width = Math.min(LARGEST, (WIDTH - GAP * across) / (across * columns));
  const height = Math.min(LARGEST, (HEIGHT - GAP * down) / (down * rows));
  const ofHeads = shape[1][0] === "head";
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  const left = (WIDTH - across * (columns * width + GAP)) / 2 + GAP / 2;
  const top = (HEIGHT - down * (rows * height + GAP)) / 2 + GAP / 2;
  for (let i = 0; i < down; i++) {
    for (let j = 0; j < across; j++) {
      const x = left + j * (columns * width + GAP);
      const y = top + i * (rows * height + GAP);
      const pale = (row = 0) => (ofHeads ? j : shape[2][0] === "head" ? row : 0) % 2;
      drawing.append(matrix(x, y, rows, columns, width, height, colour, pale));
      const token = i === 0 && (ofHeads || shape.length === 3 || j === 0);
      if (token) drawing.append(outline(x, y, ofHeads || shape.length === 3 ? 1 : rows, columns, width, height));
    }
  }
  return drawing;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} rows
 * @param {number} columns
 * @param {number} width of a cell
 * @param {number} height
 * @param {Colour} colour
 * @param {(row: number) => number} pale 1 for a pale row
 */
function matrix(x, y, rows, columns, width, height, colour, pale) {
  const lines = [];
  if (height > 3) for (let r = 1; r < rows; r++) lines.push(`M${x},${y + r * height} h${columns * width}`);
  if (width > 3) for (let c = 1; c < columns; c++) lines.push(`M${x + c * width},${y} v${rows * height}`);
  const bars = Array.from({ length: rows }, (_, r) =>
    svg("rect", {
      class: pale(r) ? "pale" : "strong",
      x,
      y: y + r * height,
      width: columns * width,
      height,
    }),
  );
  return svg("g", { class: colour }, ...bars, svg("path", { d: lines.join("") || "M0,0" }));
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} rows
 * @param {number} columns
 * @param {number} width
 * @param {number} height
 */
function outline(x, y, rows, columns, width, height) {
  return svg("rect", { class: "token", x, y, width: columns * width, height: rows * height });
}

/**
 * A shape with the name of each axis below its size.
 * @param {Shape} shape
 */
function named(shape) {
  const { axes } = english ? WORDS.en : WORDS.zh;
  const sizes = shape.map(([axis, size]) =>
    el("span", { class: `axis ${axis}` }, el("b", {}, String(size)), el("span", {}, axes[axis])),
  );
  return el("span", { class: "shape" }, ...sizes);
}

/** @param {HTMLElement} widget */
export function start(widget) {
  const words = english ? WORDS.en : WORDS.zh;
  const state = { batch: 2, n: 5, d_model: 8, nhead: 2, step: 1 };
  const shown = el("div", { class: "step" });
  const operation = el("p", { class: "operation" });
  const line = el("p", { class: "told", "aria-live": "polite" });

  /** What lies where in the picture. @param {Shape} shape */
  function legend(shape) {
    const places = [words.down, ...(shape.length > 3 ? [words.across] : []), words.rows, words.columns];
    const parts = shape.flatMap(([axis], i) => [
      `${places[i]} `,
      el("b", { class: axis }, words.axes[axis]),
      english ? (i + 1 < shape.length ? ", " : ". ") : i + 1 < shape.length ? "，" : "。",
    ]);
    return el("p", { class: "quiet" }, ...parts, words.outlined);
  }

  function refuse() {
    const error = el("code", {}, `ValueError: ${words.refused(state.d_model, state.nhead)}`);
    operation.replaceChildren(error);
    shown.replaceChildren();
    line.textContent = words.refusal;
  }

  function draw() {
    const possible = state.d_model % state.nhead === 0;
    for (const control of [back, on, step.input]) control.disabled = !possible;
    if (!possible) return refuse();
    const now = steps(state.batch, state.n, state.d_model, state.nhead)[state.step - 1];
    const [name, told] = words.steps[now.name];
    const shapes = [...now.from, now.shape].map((shape, i, all) => {
      const sign = i === 0 ? "" : i + 1 < all.length ? "@ " : "→ ";
      return el("span", { class: "unbroken" }, sign, named(shape));
    });
    operation.replaceChildren(el("b", {}, name), " ", el("code", {}, now.code));
    shown.replaceChildren(
      el("p", { class: "sizes" }, ...shapes),
      picture(now),
      legend(now.shape),
    );
    line.textContent = told;
  }

  /** @param {number} by */
  function go(by) {
    state.step = Math.min(LAST, Math.max(1, state.step + by));
    step.input.valueAsNumber = state.step;
    step.set();
    draw();
  }

  /** @type {(name: string, field: "batch" | "n" | "nhead" | "step", min: number, max: number) => ReturnType<typeof slider>} */
  const part = (name, field, min, max) =>
    slider(name, { min, max, value: state[field] }, (value) => {
      state[field] = value;
      draw();
    });
  const sizes = [part(words.batch, "batch", 1, 4), part("n", "n", 1, 8)];
  const width = choice("d_model", SIZES.map((size) => [size, String(size)]), 8, (value) => {
    state.d_model = Number(value);
    draw();
  });
  const heads = part("nhead", "nhead", 1, 8);
  const step = part(words.step, "step", 1, LAST);
  const back = el("button", { type: "button", click: () => go(-1) }, words.back);
  const on = el("button", { type: "button", click: () => go(1) }, words.on);

  const labels = sizes.map(({ label }) => label);
  draw();
  widget.append(
    el(
      "div",
      { class: "live" },
      el("div", { class: "controls pairs" }, ...labels, width.label, heads.label),
      el("div", { class: "controls row" }, el("div", { class: "buttons" }, back, on), step.label),
      operation,
      line,
      shown,
    ),
  );
}
