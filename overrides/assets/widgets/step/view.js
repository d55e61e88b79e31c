// @ts-check
/** What the page Step through shows of a tensor: its axes, a matrix of it, its numbers in words. */

import { sideOf } from "./navigation.js";
import { Tensor, strides } from "./tensor.js";

/** @import { Side } from "./navigation.js" */
/** @import { Stop } from "./run-model.js" */

/**
 * An axis: its name in the shape comments of the file, and whose tokens it counts, if any.
 * @typedef {{name: string, size: number, side?: Side}} Axis
 * @typedef {{rows: number, columns: number, row?: Axis, column: Axis, values: Float32Array}} Matrix
 */

const ATTENTION = ["batch", "head", "query", "key"];
const PAIRS = new Set(["scores", "weights", "mask", "memory_mask", "full"]);

/**
 * @param {Stop[]} stops
 * @param {number} at
 * @param {string} name
 * @param {Tensor} tensor
 * @returns {Axis[]}
 */
export function axesOf(stops, at, name, tensor) {
  const { shape, dtype } = tensor;
  const side = nameSide(stops, at, name);
  const key = isCross(stops[at]) || name === "memory_mask" ? "source" : side;
  const query = isCross(stops[at]) ? "target" : side;
  const pairs = shape.length === 4 && (dtype === "bool" || PAIRS.has(name));
  const names = pairs ? ATTENTION : axisNames(stops[at], name, shape);
  return shape.map((size, i) => {
    const axis = { name: names[i], size };
    if (axis.name === "position") return { ...axis, side };
    if (axis.name === "key") return { ...axis, side: key };
    const alike = dtype === "bool" && size === 1; // a mask for all queries
    return axis.name === "query" && !alike ? { ...axis, side: query } : axis;
  });
}

/** @param {Stop} stop */
function isCross({ path, function: name }) {
  return path.endsWith("cross_attention") || name === "DecoderLayer.forward.read";
}

/**
 * Whose tokens a variable has, apart from the keys of an attention.
 * @param {Stop[]} stops
 * @param {number} at
 * @param {string} name
 * @returns {Side}
 */
function nameSide(stops, at, name) {
  if (["src", "memory", "memory_mask"].includes(name)) return "source";
  const { path, function: called, parent } = stops[at];
  if (path.endsWith("cross_attention")) {
    if (called.endsWith(".split")) return nameSide(stops, stops[parent].caller, splitOf(stops, parent));
    return ["key", "value", "k", "v"].includes(name) ? "source" : "target";
  }
  return sideOf(stops, at);
}

/**
 * The variable that is set from what a call of split returns.
 * @param {Stop[]} stops
 * @param {number} call
 */
function splitOf(stops, call) {
  return stops[stops[call].end + 1]?.changes[0]?.name ?? "";
}

/**
 * @param {Stop} stop
 * @param {string} name
 * @param {readonly number[]} shape
 */
function axisNames(stop, name, shape) {
  if (shape.length === 4) {
    const apart = stop.function.endsWith(".split") && stop.kind !== "return";
    return apart ? ["batch", "position", "head", "head_dim"] : ["batch", "head", "position", "head_dim"];
  }
  if (shape.length === 3) return ["batch", "position", featureName(stop, name)];
  return name === "weight" ? ["vocabulary", "d_model"] : ["batch", "position"];
}

/**
 * @param {Stop} stop
 * @param {string} name
 */
function featureName({ function: called, kind }, name) {
  if (name === "hidden") return "dim_feedforward";
  const logits = kind === "return" && /^Transformer\.(forward|logits)$/.test(called);
  return logits ? "vocabulary" : "d_model";
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
  const shown = axes.flatMap((axis, i) => (["batch", "head"].includes(axis.name) ? [] : [i]));
  const place = axes.findIndex((axis) => axis.name === "head");
  const start = place < 0 ? 0 : Math.min(head, axes[place].size - 1) * steps[place];
  const [row, column] = shown.length > 1 ? shown : [-1, shown[0]];
  const [rows, columns] = [row < 0 ? 1 : axes[row].size, axes[column].size];
  const values = Float32Array.from({ length: rows * columns }, (_, i) => {
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
  return Array.from(values, (value, i) => ({ value, i }))
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value))
    .slice(0, count);
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

/** A number that fits into a cell. @param {number} value */
export function shortNumber(value) {
  if (Number.isInteger(value)) return String(value).replace("-", "−");
  const digits = Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0;
  return value.toFixed(digits).replace("-", "−");
}

/**
 * A share of one as a percentage.
 * @param {number} share
 */
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)}%`;
