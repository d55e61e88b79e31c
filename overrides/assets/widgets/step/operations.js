// @ts-check
/**
 * The operators, functions, methods and attributes of Python and PyTorch that transformer.py needs.
 * model_program.py has the same names: the build rejects others.
 */

import { Slice, Tensor, axisIndex, broadcast, broadcastShape, gather, select, strides } from "./tensor.js";

/** @import { DType } from "./tensor.js" */

/**
 * Applies a function of two numbers to each pair of elements.
 * @param {(a: any, b: any) => number | boolean} compute
 * @param {DType} [dtype] of the result, if not that of the operands
 */
function elementwise(compute, dtype) {
  return (/** @type {any} */ _, /** @type {any} */ one, /** @type {any} */ other) => {
    if (!(one instanceof Tensor) && !(other instanceof Tensor)) return compute(one, other);
    const [a, b] = [one, other].map(toTensor);
    const shape = broadcastShape(a.shape, b.shape);
    const [left, right] = [a, b].map((tensor) => broadcast(tensor, shape).data);
    const result = left.map((each, i) => Number(compute(each, right[i])));
    return new Tensor(shape, result, dtype ?? (a.dtype === b.dtype ? a.dtype : "float32"));
  };
}

/** @param {Tensor | number} value */
function toTensor(value) {
  return value instanceof Tensor ? value : new Tensor([], Float64Array.of(value));
}

/**
 * Replaces each vector of x along the last axis by another.
 * @param {Tensor} x
 * @param {number} size of the vectors of the result
 * @param {(vector: Float64Array, result: Float64Array) => void} fill
 */
function mapRows(x, size, fill) {
  const length = x.shape.at(-1) ?? 1;
  const rows = x.data.length / length;
  const result = new Float64Array(rows * size);
  for (let row = 0; row < rows; row++) {
    fill(
      x.data.subarray(row * length, (row + 1) * length),
      result.subarray(row * size, (row + 1) * size),
    );
  }
  return new Tensor([...x.shape.slice(0, -1), size], result);
}

/** x W^T + b, where the weight W has a row for each element of the result. */
export function linear(/** @type {Tensor} */ x, /** @type {Tensor} */ weight, /** @type {Tensor?} */ bias = null) {
  const [rows, columns] = weight.shape;
  if (x.shape.at(-1) !== columns) throw new Error(`(${x.shape}) for weight (${weight.shape})`);
  const { data } = weight;
  return mapRows(x, rows, (vector, result) => {
    for (let row = 0, place = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < columns; i++) sum += data[place++] * vector[i];
      result[row] = bias ? sum + bias.data[row] : sum;
    }
  });
}

/** The rows of a table that ids select. */
export function embedding(/** @type {Tensor} */ ids, /** @type {Tensor} */ table) {
  const [rows, size] = table.shape;
  const result = new Float64Array(ids.data.length * size);
  ids.data.forEach((id, i) => {
    if (!(id >= 0 && id < rows)) throw new Error(`no token has id ${id}`);
    result.set(table.data.subarray(id * size, (id + 1) * size), i * size);
  });
  return new Tensor([...ids.shape, size], result);
}

/** In evaluation, dropout changes nothing. */
export function dropout(/** @type {any} */ _, /** @type {Tensor} */ x, probability = 0) {
  if (probability !== 0) throw new Error(`dropout of ${probability} is random`);
  return x;
}

function layerNorm(
  /** @type {any} */ _,
  /** @type {Tensor} */ x,
  /** @type {number[]} */ shape,
  /** @type {Tensor} */ weight,
  /** @type {Tensor} */ bias,
  /** @type {number} */ eps,
) {
  const [size] = shape;
  if (shape.length !== 1 || x.shape.at(-1) !== size) throw new Error(`layer_norm of (${x.shape}) over (${shape})`);
  return mapRows(x, size, (vector, result) => {
    let [sum, squares] = [0, 0];
    for (const each of vector) sum += each;
    for (const each of vector) squares += (each - sum / size) ** 2;
    const scale = 1 / Math.sqrt(squares / size + eps);
    for (let i = 0; i < size; i++) {
      result[i] = (vector[i] - sum / size) * scale * weight.data[i] + bias.data[i];
    }
  });
}

function softmax(/** @type {any} */ { dim: named }, /** @type {Tensor} */ x, dim = named) {
  const size = x.shape.at(-1) ?? 1;
  if (axisIndex(x, dim) !== x.shape.length - 1) throw new Error("softmax is over the last axis");
  return mapRows(x, size, (vector, result) => {
    const largest = vector.reduce((a, b) => Math.max(a, b));
    const powers = Array.from(vector, (each) => Math.exp(each - largest));
    const sum = powers.reduce((a, b) => a + b);
    powers.forEach((power, i) => (result[i] = power / sum));
  });
}

function matmul(/** @type {any} */ _, /** @type {Tensor} */ one, /** @type {Tensor} */ other) {
  const [n, size] = one.shape.slice(-2);
  const [rows, m] = other.shape.slice(-2);
  if (rows !== size || m === undefined) throw new Error(`(${one.shape}) @ (${other.shape})`);
  const batch = broadcastShape(one.shape.slice(0, -2), other.shape.slice(0, -2));
  const a = broadcast(one, [...batch, n, size]).data;
  const b = broadcast(other, [...batch, size, m]).data;
  const result = new Float64Array((a.length / size) * m);
  for (let i = 0; i < result.length; i++) {
    const row = Math.floor(i / m); // of all rows of a
    let place = Math.floor(row / n) * size * m + (i % m);
    let sum = 0;
    for (let j = 0; j < size; j++, place += m) sum += a[row * size + j] * b[place];
    result[i] = sum;
  }
  return new Tensor([...batch, n, m], result);
}

function transpose(/** @type {any} */ _, /** @type {Tensor} */ x, /** @type {number} */ one, /** @type {number} */ other) {
  const [a, b] = [axisIndex(x, one), axisIndex(x, other)];
  const axes = x.shape.map((_, axis) => (axis === a ? b : axis === b ? a : axis));
  const steps = strides(x.shape);
  return gather(x, axes.map((axis) => x.shape[axis]), axes.map((axis) => steps[axis]));
}

function unflatten(/** @type {any} */ _, /** @type {Tensor} */ x, /** @type {number} */ dim, /** @type {number[]} */ sizes) {
  const axis = axisIndex(x, dim);
  const known = sizes.reduce((product, size) => (size < 0 ? product : product * size), 1);
  const parts = sizes.map((size) => (size < 0 ? x.shape[axis] / known : size));
  return new Tensor([...x.shape.slice(0, axis), ...parts, ...x.shape.slice(axis + 1)], x.data, x.dtype);
}

function flatten(/** @type {any} */ _, /** @type {Tensor} */ x, start = 0) {
  const axis = axisIndex(x, start);
  const joined = x.shape.slice(axis).reduce((product, size) => product * size, 1);
  return new Tensor([...x.shape.slice(0, axis), joined], x.data, x.dtype);
}

function maskedFill(/** @type {any} */ _, /** @type {Tensor} */ x, /** @type {Tensor} */ mask, /** @type {number} */ value) {
  const { data } = broadcast(mask, x.shape);
  return new Tensor(x.shape, x.data.map((each, i) => (data[i] ? value : each)), x.dtype);
}

function tril(/** @type {any} */ _, /** @type {Tensor} */ x, diagonal = 0) {
  const [n, m] = x.shape.slice(-2);
  const keep = (/** @type {number} */ i) => (i % m) - (Math.floor(i / m) % n) <= diagonal;
  return new Tensor(x.shape, x.data.map((each, i) => (keep(i) ? each : 0)), x.dtype);
}

function ones(/** @type {any} */ { dtype = "float32" }, /** @type {number[]} */ ...shape) {
  return new Tensor(shape, new Float64Array(shape.reduce((a, b) => a * b, 1)).fill(1), dtype);
}

function subscript(/** @type {any} */ _, /** @type {any} */ value, /** @type {any[]} */ ...parts) {
  if (value instanceof Tensor) return select(value, parts);
  const [index] = parts;
  const item = Array.isArray(value) && value.at(index);
  if (parts.length !== 1 || !item) throw new Error(`no item ${index}`);
  return item;
}

/** By the name in the program; the first argument has the keyword arguments. @type {Record<string, (...args: any[]) => any>} */
export const OPERATIONS = {
  "+": elementwise((a, b) => a + b),
  "*": elementwise((a, b) => a * b),
  "/": elementwise((a, b) => a / b),
  "@": matmul,
  "&": elementwise((a, b) => a & b),
  "~": (_, /** @type {Tensor} */ x) => new Tensor(x.shape, x.data.map((each) => 1 - each), "bool"),
  "==": elementwise((a, b) => a === b, "bool"),
  "!=": elementwise((a, b) => a !== b, "bool"),
  is: (_, a, b) => a === b,
  tuple: (_, ...items) => items,
  slice: (_, start, stop) => new Slice(start, stop),
  "[]": subscript,
  "F.dropout": dropout,
  "F.layer_norm": layerNorm,
  "math.sqrt": (_, x) => Math.sqrt(x),
  "torch.bool": () => "bool",
  "torch.finfo": () => ({ min: -3.4028234663852886e38 }), // of float32
  "torch.ones": ones,
  ".flatten": flatten,
  ".masked_fill": maskedFill,
  ".relu": (_, /** @type {Tensor} */ x) => new Tensor(x.shape, x.data.map((each) => Math.max(0, each))),
  ".size": (_, x, axis) => (axis === undefined ? x.shape : x.shape[axisIndex(x, axis)]),
  ".softmax": softmax,
  ".transpose": transpose,
  ".tril": tril,
  ".unflatten": unflatten,
};

/** Attributes of other things than modules. @type {Record<string, (value: any) => any>} */
export const ATTRIBUTES = {
  device: () => "cpu",
  dtype: (/** @type {Tensor} */ x) => x.dtype,
  min: (limits) => limits.min,
  shape: (/** @type {Tensor} */ x) => x.shape,
};
