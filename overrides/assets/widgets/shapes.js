// @ts-check
/** The steps of multi-head attention on a batch, with named and colored axes. */

import { choice, el, english, slider, svg } from "./common.js";

/** @typedef {"batch" | "position" | "d_model" | "head" | "head_dim" | "key"} Axis */
/** @typedef {[axis: Axis, size: number][]} Shape */
/** @typedef {"tokens" | "maps" | "view" | "transpose" | "matmul"} Before up to the scores */
/** @typedef {Before | "softmax" | "average" | "back" | "flatten" | "output"} Name */
/** @typedef {"ink" | "query" | "value"} Color */
/** @typedef {{name: Name, code: string, shape: Shape, from: Shape[], color: Color}} Step */

const LAST = 10; // steps
const AVERAGE = "return F.dropout(weights, dropout) @ value, weights";
const JOIN = "joined = heads.transpose(1, 2).flatten(2)";
const SIZES = [4, 6, 8, 12, 16, 64, 512];

const WORDS = {
  en: {
    open: "Step through the shapes, with sizes of your own",
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
    /** @type {Record<Name, [operation: string, description: string]>} */
    steps: {
      tokens: ["tokens", "Each position of each sentence has one vector of d_model features."],
      maps: [
        "linear",
        "Three maps make queries, keys and values. Each mixes the features of one token and " +
          "leaves the shape as it is.",
      ],
      view: [
        "view",
        "unflatten: the last axis is cut into heads. No number moves: the features of a " +
          "token are only split into groups.",
      ],
      transpose: [
        "transpose",
        "Heads change places with positions. Now each head has a matrix of its own, with all " +
          "tokens in it. Keys and values go the same way.",
      ],
      matmul: [
        "matmul",
        "Queries times keys: head_dim is summed over and gone, and the keys' positions are " +
          "the new last axis. Then division by √head_dim.",
      ],
      softmax: [
        "softmax",
        "Scores become weights that sum to 1 along the last axis, the keys. The shape stays. " +
          "(The fused kernel takes this step with the ones before and after it.)",
      ],
      average: [
        "matmul",
        "Weights times values: the keys' axis is summed over, and head_dim is back.",
      ],
      back: [
        "transpose",
        "Positions change places with heads again, so that the heads of a token are " +
          "together.",
      ],
      flatten: [
        "flatten",
        "The heads of each token are laid side by side: d_model features again.",
      ],
      output: [
        "linear",
        "The output map mixes what the heads have found. The shape is that of the start.",
      ],
    },
    down: "down the picture: ",
    across: "across: ",
    rows: "rows: ",
    columns: "columns: ",
    marks: [", ", ". "],
    outlined: "Outlined: the first token of the first sentence.",
    indivisible:
      "d_model can't be split into heads of equal size. " +
      "Choose another number of heads, or another d_model.",
  },
  zh: {
    open: "一步步看形状怎样变，也可以改大小",
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
    /** @type {Record<Name, [operation: string, description: string]>} */
    steps: {
      tokens: ["词元", "每句话的每个位置有一个向量，d_model 个特征。"],
      maps: [
        "linear",
        "三个线性映射得出查询、键和值。每个映射只混合一个词元自己的特征，形状不变。",
      ],
      view: [
        "view",
        "unflatten：把最后一个轴切成头。数值都不移动，只是把一个词元的特征分成组。",
      ],
      transpose: [
        "transpose",
        "头和位置对换。现在每个头有自己的一个矩阵，里面有所有词元。键和值也走同样的步骤。",
      ],
      matmul: [
        "matmul",
        "查询乘键：对 head_dim 求和，这个轴没有了；新的最后一个轴是键的位置。" +
          "然后除以 √head_dim。",
      ],
      softmax: [
        "softmax",
        "分数变成权重，沿最后一个轴（键）加起来是 1。形状不变。" +
          "（融合算子把这一步和前后两步一起做了。）",
      ],
      average: ["matmul", "权重乘值：对键的轴求和，head_dim 又回来了。"],
      back: ["transpose", "位置和头再换回来，一个词元的各个头又连在一起。"],
      flatten: [
        "flatten",
        "每个词元的各个头并排放好，又是 d_model 个特征。",
      ],
      output: ["linear", "输出映射把各个头得到的东西混合起来。形状和开头一样。"],
    },
    down: "图中自上而下：",
    across: "自左而右：",
    rows: "行：",
    columns: "列：",
    marks: ["，", "。"],
    outlined: "框出的是第一句的第一个词元。",
    indivisible: "d_model 必须能被头数整除，否则切不成一样大的头。换一个头数，或者换一个 d_model。",
  },
};

/**
 * The error message of MultiHeadAttention.
 * @param {number} d_model
 * @param {number} nhead
 */
function divisibilityError(d_model, nhead) {
  return `nhead=${nhead} must divide d_model=${d_model}`;
}

/**
 * All steps, each with its line of transformer.py.
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
  /** @type {[Name, string, Shape, Shape[], Color][]} */
  const all = [
    ["tokens", "query: Tensor,", whole, [], "ink"],
    ["maps", "self.query = nn.Linear(d_model, d_model)", whole, [whole], "query"],
    ["view", "x = x.unflatten(-1, (self.nhead, -1))", cut, [whole], "query"],
    ["transpose", "return x.transpose(1, 2)", heads, [cut], "query"],
    ["matmul", "scores = query @ key.transpose(-2, -1)", pairs, [heads, turned], "ink"],
    ["softmax", "weights = scores.softmax(dim=-1)", pairs, [pairs], "ink"],
    ["average", AVERAGE, heads, [pairs, values], "value"],
    ["back", JOIN, cut, [heads], "value"],
    ["flatten", JOIN, whole, [cut], "value"],
    ["output", "return self.output(joined), weights", whole, [whole], "ink"],
  ];
  return all.map(([name, code, shape, from, color]) => ({ name, code, shape, from, color }));
}

const [WIDTH, HEIGHT, GAP, LARGEST] = [520, 290, 10, 24]; // units of the picture

/**
 * Draws a tensor as matrices: the last two axes are rows and columns, the axis before them goes
 * across the picture, the first axis down. Heads alternate between strong and pale.
 * @param {Step} step
 */
function picture({ shape, color }) {
  const sizes = shape.map(([, size]) => size);
  if (sizes.length === 3) sizes.splice(1, 0, 1);
  const [down, across, rows, columns] = sizes;
  const width = Math.min(LARGEST, (WIDTH - GAP * across) / (across * columns));
  const height = Math.min(LARGEST, (HEIGHT - GAP * down) / (down * rows));
  const [right, below] = [columns * width + GAP, rows * height + GAP];
  const head = shape.findIndex(([axis]) => axis === "head");
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  for (let i = 0; i < down; i++) {
    for (let j = 0; j < across; j++) {
      const x = (WIDTH - across * right + GAP) / 2 + j * right;
      const y = (HEIGHT - down * below + GAP) / 2 + i * below;
      /** @type {(row: number) => boolean} */
      const pale = (row) => [false, j % 2 > 0, row % 2 > 0][Math.max(head, 0)];
      drawing.append(matrix({ x, y, rows, columns, width, height }, color, pale));
      // The first token is a row, or a whole matrix between unflatten and transpose.
      const isMatrix = head === 2;
      if (i > 0 || (isMatrix && j > 0)) continue;
      const size = { width: columns * width, height: (isMatrix ? rows : 1) * height };
      drawing.append(svg("rect", { class: "token", x, y, ...size }));
    }
  }
  return drawing;
}

/**
 * @param {{x: number, y: number, rows: number, columns: number, width: number, height: number}} at
 *   the top left corner, and the size of a cell
 * @param {Color} color
 * @param {(row: number) => boolean} pale
 */
function matrix({ x, y, rows, columns, width, height }, color, pale) {
  const bars = Array.from({ length: rows }, (_, row) => {
    const place = { x, y: y + row * height, width: columns * width, height };
    return svg("rect", { class: pale(row) ? "pale" : "strong", ...place });
  });
  /** @type {string[]} */
  const lines = [];
  if (height > 3) lines.push(...bars.map((_, r) => `M${x},${y + r * height} h${columns * width}`));
  for (let c = 1; c < columns && width > 3; c++) {
    lines.push(`M${x + c * width},${y} v${rows * height}`);
  }
  return svg("g", { class: color }, ...bars, svg("path", { d: lines.join("") }));
}

/**
 * A shape: each size with the name of its axis below.
 * @param {Shape} shape
 */
function labeledShape(shape) {
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
  const output = el("div", { class: "step" });
  const operation = el("p", { class: "operation" });
  const line = el("p", { class: "explanation", "aria-live": "polite" });

  /** Explains the axes of the picture. @param {Shape} shape */
  function legend(shape) {
    const places = [words.down, words.across, words.rows, words.columns];
    if (shape.length === 3) places.splice(1, 1);
    const parts = shape.flatMap(([axis], i) => [
      places[i],
      el("b", { class: axis }, words.axes[axis]),
      words.marks[Number(i + 1 === shape.length)],
    ]);
    return el("p", { class: "quiet" }, ...parts, words.outlined);
  }

  function showError() {
    const error = el("code", {}, `ValueError: ${divisibilityError(state.d_model, state.nhead)}`);
    operation.replaceChildren(error);
    output.replaceChildren();
    line.textContent = words.indivisible;
  }

  function draw() {
    const possible = state.d_model % state.nhead === 0;
    for (const control of [back, on, step.input]) control.disabled = !possible;
    if (!possible) return showError();
    const now = steps(state.batch, state.n, state.d_model, state.nhead)[state.step - 1];
    const [name, description] = words.steps[now.name];
    const shapes = [...now.from, now.shape].map((shape, i, all) => {
      const sign = i === 0 ? "" : i + 1 < all.length ? "@ " : "→ ";
      return el("span", { class: "nowrap" }, sign, labeledShape(shape));
    });
    operation.replaceChildren(el("b", {}, name), " ", el("code", {}, now.code));
    output.replaceChildren(
      el("p", { class: "sizes" }, ...shapes),
      picture(now),
      legend(now.shape),
    );
    line.textContent = description;
  }

  /** @param {number} by */
  function go(by) {
    state.step = Math.min(LAST, Math.max(1, state.step + by));
    step.input.valueAsNumber = state.step;
    step.set();
    draw();
  }

  /**
   * @param {string} name
   * @param {"batch" | "n" | "nhead" | "step"} field
   * @param {number} max
   */
  const part = (name, field, max) =>
    slider(name, { min: 1, max, value: state[field] }, (value) => {
      state[field] = value;
      draw();
    });
  const sizes = [part(words.batch, "batch", 4), part("n", "n", 8)];
  const width = choice("d_model", SIZES.map((size) => [size, String(size)]), 8, (value) => {
    state.d_model = Number(value);
    draw();
  });
  const heads = part("nhead", "nhead", 8);
  const step = part(words.step, "step", LAST);
  const back = el("button", { type: "button", click: () => go(-1) }, words.back);
  const on = el("button", { type: "button", click: () => go(1) }, words.on);

  const labels = sizes.map(({ label }) => label);
  draw();
  widget.append(
    el(
      "details",
      { class: "live example" },
      el("summary", {}, words.open),
      el("div", { class: "controls pairs" }, ...labels, width.label, heads.label),
      el("div", { class: "controls row" }, el("div", { class: "buttons" }, back, on), step.label),
      operation,
      line,
      output,
    ),
  );
}
