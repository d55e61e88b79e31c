// @ts-check
/** Attention by hand: the numbers of every step, and the arithmetic behind each cell. */

/**
 * @typedef {number[][]} Matrix one row a token
 * @typedef {{query: Matrix, key: Matrix, value: Matrix}} Entries
 * @typedef {{scores: Matrix, scaled: Matrix, powers: Matrix, weights: Matrix,
 *   output: Matrix}} Steps
 * @typedef {{name: keyof Steps, row: number, column: number}} Cell
 */

/** The example of the chapter. @type {Entries} */
export const CHAPTER = {
  query: [[0, 1], [2, 0], [1, 1]],
  key: [[2, 0], [0, 2], [1, -1]],
  value: [[10, 0], [0, 10], [5, 5]],
};

/**
 * scaled_dot_product_attention of transformer.py, step by step.
 * @param {Entries} entries
 * @param {boolean} divides whether the scores are divided by √2
 * @returns {Steps}
 */
export function attend({ query, key, value }, divides) {
  const root = divides ? Math.sqrt(query[0].length) : 1;
  const scores = query.map((q) => key.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((score) => score / root));
  const powers = scaled.map((row) => row.map((x) => Math.exp(x)));
  const weights = powers.map((row) => row.map((power) => power / sum(row)));
  const output = weights.map((row) => value[0].map((_, j) => dot(row, column(value, j))));
  return { scores, scaled, powers, weights, output };
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

/**
 * @param {number[]} a
 * @param {number[]} b
 */
const dot = (a, b) => sum(a.map((x, i) => x * b[i]));

/** @param {Matrix} matrix @param {number} j */
const column = (matrix, j) => matrix.map((row) => row[j]);

/**
 * The arithmetic behind the number of a cell, written out.
 * @param {Cell} cell
 * @param {Entries} entries
 * @param {boolean} divides
 * @param {string} undivided what to say of a score that isn't divided
 * @returns {string}
 */
export function arithmetic({ name, row: i, column: j }, entries, divides, undivided) {
  const steps = attend(entries, divides);
  const result = formatNumber(steps[name][i][j]);
  switch (name) {
    case "scores":
      return `${products(entries.query[i], entries.key[j])} = ${result}`;
    case "scaled":
      return divides ? `${formatNumber(steps.scores[i][j])} / √2 = ${result}` : undivided;
    case "powers":
      return `e^${factor(steps.scaled[i][j])} = ${result}`;
    case "weights":
      return `${formatNumber(steps.powers[i][j])} / (${steps.powers[i].map(formatNumber).join(" + ")})`
        + ` = ${result}`;
    case "output":
      return `${products(steps.weights[i], column(entries.value, j))} = ${result}`;
  }
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
const products = (a, b) => a.map((x, i) => `${factor(x)} · ${factor(b[i])}`).join(" + ");

/** A number inside a product. @param {number} x */
const factor = (x) => (x < 0 ? `(${formatNumber(x)})` : formatNumber(x));

/**
 * Formats a number for the tables. Only exactly 0 is written as 0.
 * @param {number} x
 */
export function formatNumber(x) {
  const size = Math.abs(x);
  if (size >= 1e4 || (size && size < 0.0005)) return minus(powerOfTen(x));
  const decimals = size < 100 ? 3 : size < 1000 ? 2 : 1;
  return minus(Number.isInteger(x) ? String(x) : x.toFixed(decimals));
}

/** @param {number} x */
function powerOfTen(x) {
  const [digit, power] = x.toExponential(0).split("e");
  const raised = [...String(Number(power))].map((each) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(each)] ?? "⁻");
  return `${digit}·10${raised.join("")}`;
}

/** @param {string} text */
const minus = (text) => text.replace("-", "−");

/**
 * The places, as [matrix, row, column], of the numbers that a cell is computed from.
 * @param {Cell} cell
 * @returns {[keyof Entries | keyof Steps, number, number][]}
 */
export function sources({ name, row, column }) {
  switch (name) {
    case "scores":
      return [0, 1].flatMap((i) => [["query", row, i], ["key", column, i]]);
    case "scaled":
      return [["scores", row, column]];
    case "powers":
      return [["scaled", row, column]];
    case "weights":
      return [0, 1, 2].map((i) => ["powers", row, i]);
    case "output":
      return [0, 1, 2].flatMap((i) => [["weights", row, i], ["value", i, column]]);
  }
}
