// @ts-check
/** The figure of the live translator: words, characters, and a line for each attention weight. */

import { svg } from "./common.js";
import { END } from "./translator-texts.js";

/** @typedef {{x: number, y: number}} Point */
/**
 * @typedef {object} Layout
 * @property {boolean} turned whether the words are in a column, because a row is too narrow
 * @property {number} width
 * @property {number} height
 * @property {Point[]} words the position of each word
 * @property {Point[]} tokens the position of each token
 */

const WIDTH = 520; // these constants are the same in scripts/figures/live.py, which draws the initial figure
const HEIGHT = 216;
const SPAN = 440;
const THRESHOLD = 0.02;
const ROW = 30; // height of a row in the vertical layout

/**
 * The positions of all words: in two rows, or in two columns if the rows do not fit.
 * @param {string[]} words
 * @param {string[]} tokens
 * @param {number} room the available width in pixels
 * @returns {Layout}
 */
export function layout(words, tokens, room) {
  const above = words.map((word) => 9.5 * word.length + 22);
  const below = tokens.map((token) => (token === END ? 56 : 34));
  const needed = Math.max(sum(above), sum(below));
  if (needed > Math.max(WIDTH, room)) return columns(words, tokens, Math.min(WIDTH, room));
  const width = Math.max(WIDTH, needed);
  const [xs, places] = [above, below].map((sizes) => centers(sizes, width));
  return {
    turned: false,
    width,
    height: HEIGHT,
    words: xs.map((x) => ({ x, y: 28 })),
    tokens: places.map((x) => ({ x, y: 200 })),
  };
}

/**
 * @param {string[]} words
 * @param {string[]} tokens
 * @param {number} width
 * @returns {Layout}
 */
function columns(words, tokens, width) {
  const height = ROW * Math.max(words.length, tokens.length);
  /** @param {string[]} all @param {number} x */
  const column = (all, x) => all.map((_, i) => ({ x, y: ((i + 0.5) * height) / all.length + 7 }));
  return {
    turned: true,
    width,
    height,
    words: column(words, 0.38 * width),
    tokens: column(tokens, 0.72 * width),
  };
}

/**
 * The centers of cells that are spread over the span.
 * @param {number[]} sizes
 * @param {number} width
 */
function centers(sizes, width) {
  const span = Math.max(SPAN, sum(sizes));
  const scale = span / sum(sizes);
  let edge = (width - span) / 2;
  return sizes.map((size) => {
    edge += size * scale;
    return edge - (size * scale) / 2;
  });
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/**
 * Draws the lines, the words, and the characters up to the selected one, which is highlighted.
 * @param {Layout} layout
 * @param {string[]} words
 * @param {string[]} tokens
 * @param {ArrayLike<number>[]} weights a row for each token, a weight for each word
 * @param {number | undefined} chosen the last token to draw; undefined draws the whole sentence
 * @param {(token: number) => void} choose called when a token is clicked
 */
export function draw(layout, words, tokens, weights, chosen, choose) {
  const written = chosen === undefined ? tokens.length : chosen + 1;
  const { width, height } = layout;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  for (let i = 0; i < written; i++) {
    const group = svg("g", { class: chosen === undefined || chosen === i ? "lines" : "lines past" });
    group.append(...lines(layout, i, weights[i]));
    picture.append(group);
  }
  const seen = chosen === undefined ? undefined : weights[chosen];
  words.forEach((word, i) => {
    const faint = seen && seen[i] < THRESHOLD ? " faint" : "";
    picture.append(text(layout.words[i], word, `word${faint}`, layout.turned ? "end" : "middle"));
  });
  tokens.forEach((token, i) => {
    if (i >= written) return;
    const kind = `token${token === END ? " last" : ""}${i === chosen ? " chosen" : ""}`;
    const place = text(layout.tokens[i], token, kind, layout.turned ? "start" : "middle");
    place.addEventListener("click", () => choose(i));
    picture.append(place);
  });
  return picture;
}

/**
 * @param {Point} place
 * @param {string} content
 * @param {string} kind
 * @param {string} anchor
 */
function text({ x, y }, content, kind, anchor) {
  const language = kind.startsWith("word") ? "en" : "zh";
  return svg("text", { x, y, class: kind, lang: language, "text-anchor": anchor }, content);
}

/**
 * A line from a token to each word that it attends to, as wide as the weight is large.
 * @param {Layout} layout
 * @param {number} token
 * @param {ArrayLike<number>} weights
 */
function lines(layout, token, weights) {
  return Array.from(weights).flatMap((weight, word) => {
    if (weight < THRESHOLD) return [];
    const d = curve(layout, layout.tokens[token], layout.words[word]);
    const opacity = Math.max(0.2, weight).toFixed(2);
    const thickness = (0.5 + 5 * weight).toFixed(2);
    return [svg("path", { d, "stroke-width": thickness, "stroke-opacity": opacity })];
  });
}

/**
 * @param {Layout} layout
 * @param {Point} from
 * @param {Point} to
 */
function curve({ turned, width }, from, to) {
  if (!turned) return `M${from.x} 172C${from.x} 106 ${to.x} 106 ${to.x} 40`;
  const [left, right] = [0.38 * width + 8, 0.72 * width - 8];
  const middle = (left + right) / 2;
  const [y, end] = [from.y - 7, to.y - 6];
  return `M${right} ${y}C${middle} ${y} ${middle} ${end} ${left} ${end}`;
}
