// @ts-check
/** What the page Step through shows of a tensor: its axes, a matrix of it, its numbers in words. */

import { Tensor, strides } from "./tensor.js";

/**
 * @import { Side } from "./navigation.js"
 * @import { Stop } from "./run-model.js"
 *
 * An axis: its name, and whose tokens it counts, if any.
 * @typedef {{name: string, size: number, side?: Side}} Axis
 * @typedef {{rows: number, columns: number, row?: Axis, column: Axis, values: Float64Array}} Matrix
 */

/** @type {Record<string, string>} the names in the file for the symbols of axes.js */
const NAMES = { h: "head", d: "d_model", "d/h": "head_dim", f: "dim_feedforward", V_tgt: "tgt_vocab_size" };
/** @type {Record<string, Side>} */
const SIDES = { m: "source", n: "target" };

/**
 * The axes of a tensor at a stop, there or before it in the same call.
 * @param {Stop[]} stops
 * @param {number} at
 * @param {string} name
 * @param {Tensor} tensor
 * @param {(stop: number, name: string) => string[]} symbols
 * @returns {Axis[]}
 */
export function axesOf(stops, at, name, tensor, symbols) {
  const isHere = (/** @type {Stop} */ { changes, locals }) =>
    (changes.find((change) => change.name === name)?.after ?? locals[name]) === tensor;
  let place = at;
  while (place > stops[at].parent && !isHere(stops[place])) place--;
  const found = symbols(place, name);
  return tensor.shape.map((size, i) => {
    const symbol = found[i] ?? "";
    const isBatch = i === 0 && symbol === "1";
    return { name: isBatch ? "batch" : NAMES[symbol] ?? symbol, size, side: SIDES[symbol] };
  });
}

/**
 * The matrix of a tensor that the page draws: of the first sentence, and of one head.
 * @param {Tensor} tensor
 * @param {Axis[]} axes
 * @param {number} head
 * @returns {Matrix}
 */
export function matrixOf(tensor, axes, head) {
  const steps = strides(tensor.shape);
  const place = axes.findIndex((axis) => axis.name === "head");
  const column = axes.length - 1;
  const row = axes.findLastIndex((axis, i) => i < column && i !== place && axis.name !== "batch");
  const start = place < 0 ? 0 : Math.min(head, axes[place].size - 1) * steps[place];
  const [rows, columns] = [row < 0 ? 1 : axes[row].size, axes[column].size];
  const values = Float64Array.from({ length: rows * columns }, (_, i) => {
    const along = row < 0 ? 0 : Math.floor(i / columns) * steps[row];
    return tensor.data[start + along + (i % columns) * steps[column]];
  });
  return { rows, columns, row: row < 0 ? undefined : axes[row], column: axes[column], values };
}

/**
 * What is in one tensor and not in the other of the same shape.
 * @param {Tensor} one
 * @param {Tensor} other
 */
export function difference(one, other) {
  return new Tensor(one.shape, one.data.map((value, i) => value - other.data[i]));
}

/**
 * The smallest and the largest element, and the largest magnitude.
 * @param {ArrayLike<number>} values
 */
export function rangeOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return { low, high, most: Math.max(Math.abs(low), Math.abs(high)) };
}

/**
 * The places of the elements that are largest in magnitude.
 * @param {ArrayLike<number>} values
 * @param {number} count
 */
export function largest(values, count) {
  /** @type {{value: number, i: number}[]} */
  const top = [];
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]);
    if (top.length === count && size <= Math.abs(top[count - 1].value)) continue;
    const place = top.findIndex(({ value }) => size > Math.abs(value));
    top.splice(place < 0 ? top.length : place, 0, { value: values[i], i });
    top.splice(count);
  }
  return top;
}

/**
 * The softmax of a row of logits.
 * @param {ArrayLike<number>} row
 */
export function softmax(row) {
  const { high } = rangeOf(row);
  const powers = Array.from(row, (each) => Math.exp(each - high));
  const sum = powers.reduce((total, each) => total + each);
  return powers.map((each) => each / sum);
}

/** A number with four significant digits and a real minus. @param {number} value */
export function formatNumber(value) {
  const size = Math.abs(value);
  const text = Number.isInteger(value) && size < 1e6 ? String(value)
    : size && (size < 1e-3 || size >= 1e6) ? value.toExponential(2)
    : value.toPrecision(4);
  return text.replace("-", "−").replace("e−", "e-");
}

/**
 * A number that fits into a cell.
 * @param {number} value
 * @param {boolean} [whole] without decimals
 */
export function shortNumber(value, whole = false) {
  if (whole) return String(value).replace("-", "−");
  if (Math.abs(value) < 0.005) return "0.00";
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(digits).replace("-", "−");
}

/**
 * A share of one as a percentage.
 * @param {number} share
 */
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)}%`;
