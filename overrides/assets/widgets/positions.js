// @ts-check
/** Two positions, the rotation from one to the other, and their inner product. */

import { choice, el, english, slider, svg } from "./common.js";

const LAST = 100; // the positions are 0 … LAST
const MAX_CLOCKS = 8; // the maximal number of clocks
const SIZES = [4, 8, 16, 64, 512];
const BASES = [10000, 1000, 100, 10];

const WORDS = {
  en: {
    first: "position p",
    second: "position p + k",
    back: "← both",
    on: "both →",
    base: "base",
    /** @param {number} i */
    pair: (i) => `pair ${i}`,
    distance: "distance k",
    curve: "The inner product at every distance from −100 to 100, as a fraction of that at 0.",
    /** @param {number} p @param {number} q @param {string} product */
    turned: (p, q, product) =>
      `From PE(${p}) to PE(${q}): M with k = ${q - p} turns each pair by its own kθ. ` +
      `The cosines of these angles add up to the inner product, ${product}.`,
    /** @param {number} p @param {number} q @param {string} product */
    moved: (p, q, product) =>
      `Both moved, to ${p} and ${q}. The hands have turned, but each arc is as long as before: ` +
      `k is still ${q - p}, and the inner product still ${product}.`,
    /** @param {number} pairs */
    most: (pairs) => ` (${pairs} at distance 0)`,
    end: `This is the end: the positions here go from 0 to ${LAST}.`,
  },
  zh: {
    first: "位置 p",
    second: "位置 p + k",
    back: "← 同时左移",
    on: "同时右移 →",
    base: "底数",
    /** @param {number} i */
    pair: (i) => `第 ${i} 对`,
    distance: "距离 k",
    curve: "距离从 −100 到 100 的点积，以距离 0 处的为 1。",
    /** @param {number} p @param {number} q @param {string} product */
    turned: (p, q, product) =>
      `从 PE(${p}) 到 PE(${q})：k = ${q - p}，矩阵 M 让每一对各转自己的 kθ。` +
      `这些角的余弦加起来就是点积，${product}。`,
    /** @param {number} p @param {number} q @param {string} product */
    moved: (p, q, product) =>
      `两个位置同时移到了 ${p} 和 ${q}。指针都转了，每段弧却和原来一样长：` +
      `k 还是 ${q - p}，点积也还是 ${product}。`,
    /** @param {number} pairs */
    most: (pairs) => `（距离 0 处是 ${pairs}）`,
    end: `已到边界：位置范围是 0 到 ${LAST}。`,
  },
};

/**
 * θ of each pair, its angle of rotation per position.
 * @param {number} d_model
 * @param {number} base
 */
function frequencies(d_model, base) {
  return Array.from({ length: d_model / 2 }, (_, i) => base ** ((-2 * i) / d_model));
}

/**
 * A row of sinusoidal_positional_encoding, rounded to float32 like the original.
 * @param {number} position
 * @param {number[]} thetas
 */
export function encoding(position, thetas) {
  return thetas
    .flatMap((theta) => [Math.sin(position * theta), Math.cos(position * theta)])
    .map(Math.fround);
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function innerProduct(a, b) {
  return a.reduce((sum, x, column) => sum + x * b[column], 0);
}

/**
 * The pairs that are shown as clocks: all, or a selection from the first to the last.
 * @param {number} pairs
 */
function clockPairs(pairs) {
  const count = Math.min(pairs, MAX_CLOCKS);
  return Array.from({ length: count }, (_, j) => Math.round((j * (pairs - 1)) / (count - 1)));
}

/**
 * A number with a true minus sign.
 * @param {number} value
 * @param {number} digits
 */
function formatNumber(value, digits) {
  return value.toFixed(digits).replace(/^-(?=.*[1-9])/, "−").replace(/^-/, "");
}

/**
 * The arc from one angle to another, modulo full turns, with an arrowhead.
 * @param {number} from
 * @param {number} by
 */
function arc(from, by) {
  const rest = by % (2 * Math.PI);
  const to = from + rest;
  /** @type {(angle: number, radius: number) => string} */
  const point = (angle, radius) =>
    `${(radius * Math.sin(angle)).toFixed(3)},${(-radius * Math.cos(angle)).toFixed(3)}`;
  const flags = `${Number(Math.abs(rest) > Math.PI)} ${Number(rest > 0)}`;
  const back = to - Math.sign(rest) * Math.min(0.35, Math.abs(rest));
  return svg(
    "g",
    { class: "turn" },
    svg("path", { d: `M${point(from, 0.5)} A0.5,0.5 0 ${flags} ${point(to, 0.5)}` }),
    svg("path", { d: `M${point(back, 0.38)} L${point(to, 0.5)} L${point(back, 0.62)}` }),
  );
}

/**
 * The clock of one pair: the hand of p, that of p + k, and the turn between them.
 * @param {number[]} from sine and cosine
 * @param {number[]} to
 * @param {number} turn
 */
function clockFace(from, to, turn) {
  /** @type {(name: string, hand: number[]) => SVGElement} */
  const hand = (name, [x, y]) =>
    svg(
      "g",
      { class: name },
      svg("line", { x2: x, y2: -y }),
      svg("circle", { cx: x, cy: -y, r: 0.1 }),
    );
  return svg(
    "svg",
    { viewBox: "-1.15 -1.15 2.3 2.3", "aria-hidden": "true" },
    svg("circle", { class: "dial", r: 1 }),
    arc(Math.atan2(from[0], from[1]), turn),
    hand("from", from),
    hand("to", to),
  );
}

/**
 * The clock with its name, its angle and the cosine of the angle.
 * @param {string} name
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} turn
 */
function clock(name, from, to, turn) {
  const angle = String(Number(turn.toPrecision(2))).replace("-", "−");
  return el(
    "div",
    { class: "face" },
    el("b", {}, name),
    clockFace(from, to, turn),
    el("span", {}, `kθ = ${angle}`),
    el("span", { class: "cosine" }, `cos ${formatNumber(Math.cos(turn), 3)}`),
  );
}

/**
 * The curve of the inner product at every distance, with a mark at the selected distance.
 * @param {number[]} thetas
 * @param {number} k
 * @param {typeof WORDS.en} words
 */
function curve(thetas, k, words) {
  /** @type {(k: number) => number} */
  const share = (k) => thetas.reduce((sum, theta) => sum + Math.cos(k * theta), 0) / thetas.length;
  /** @type {(k: number) => string} */
  const place = (k) => `${270 + 2.3 * k},${(50 - 40 * share(k)).toFixed(2)}`;
  const distances = Array.from({ length: 2 * LAST + 1 }, (_, j) => j - LAST);
  const [x, y] = place(k).split(",");
  return svg(
    "svg",
    { class: "curve", viewBox: "0 0 520 116", role: "img", "aria-label": words.curve },
    svg("path", { class: "axis", d: "M40,50 H500 M270,6 V94" }),
    svg("polyline", { points: distances.map(place).join(" ") }),
    svg("line", { class: "mark", x1: x, x2: x, y1: 50, y2: y }),
    svg("circle", { cx: x, cy: y, r: 5 }),
    ...[1, 0, -1].map((v) => svg("text", { x: 32, y: 55 - 40 * v, class: "left" }, formatNumber(v, 0))),
    ...[-LAST, LAST].map((v) => svg("text", { x: 270 + 2.3 * v, y: 112 }, formatNumber(v, 0))),
    svg("text", { x: 270, y: 112 }, words.distance),
  );
}

/** @param {HTMLElement} widget */
export function start(widget) {
  const words = english ? WORDS.en : WORDS.zh;
  const state = { p: 3, q: 7, d_model: 16, base: 10000 };

  const faces = el("div", { class: "faces" });
  const sum = el("p", { class: "sum" });
  const plot = el("div");
  const line = el("p", { class: "explanation", "aria-live": "polite" });

  function draw() {
    const { p, q, d_model, base } = state;
    const thetas = frequencies(d_model, base);
    const [from, to] = [p, q].map((position) => encoding(position, thetas));
    const product = formatNumber(innerProduct(from, to), 4);
    const clocks = clockPairs(thetas.length).map((i) => {
      const [hand, other] = [from, to].map((row) => row.slice(2 * i, 2 * i + 2));
      return clock(words.pair(i), hand, other, (q - p) * thetas[i]);
    });
    faces.replaceChildren(...clocks);
    plot.replaceChildren(curve(thetas, q - p, words));
    sum.replaceChildren(
      el("span", { class: "from" }, `PE(${p})`),
      " · ",
      el("span", { class: "to" }, `PE(${q})`),
      ` = Σ cos kθ = `,
      el("b", { class: "product" }, product),
      el("span", { class: "quiet" }, words.most(thetas.length)),
    );
    return product;
  }

  const describe = () => (line.textContent = words.turned(state.p, state.q, draw()));

  /** @param {number} step */
  function moveBoth(step) {
    const ends = [state.p + step, state.q + step];
    if (Math.min(...ends) < 0 || Math.max(...ends) > LAST) return (line.textContent = words.end);
    [state.p, state.q] = ends;
    first.input.valueAsNumber = state.p;
    second.input.valueAsNumber = state.q;
    first.set();
    second.set();
    line.textContent = words.moved(state.p, state.q, draw());
  }

  const range = { min: 0, max: LAST };
  const first = slider(words.first, { ...range, value: state.p }, (p) => ((state.p = p), draw()));
  const second = slider(words.second, { ...range, value: state.q }, (q) => ((state.q = q), draw()));
  for (const { input } of [first, second]) input.addEventListener("change", describe);
  first.label.classList.add("from");
  second.label.classList.add("to");
  const both = el(
    "div",
    { class: "buttons" },
    el("button", { type: "button", click: () => moveBoth(-1) }, words.back),
    el("button", { type: "button", click: () => moveBoth(1) }, words.on),
  );
  /** @type {(sizes: number[]) => [number, string][]} */
  const options = (sizes) => sizes.map((size) => [size, String(size)]);
  const size = choice("d_model", options(SIZES), state.d_model, (value) => {
    state.d_model = Number(value);
    describe();
  });
  const base = choice(words.base, options(BASES), state.base, (value) => {
    state.base = Number(value);
    describe();
  });

  const controls = el("div", { class: "controls" }, first.label, second.label);
  const row = el("div", { class: "controls row" }, both, size.label, base.label);
  describe();
  widget.prepend(el("div", { class: "live" }, controls, row, faces, sum, plot, line));
}
