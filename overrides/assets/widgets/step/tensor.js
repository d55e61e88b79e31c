// @ts-check
/**
 * Tensors: their elements by rows, and the ways to select, repeat and reorder them. All have 64 bits,
 * so that a number differs from PyTorch's only by the rounding of float32 there.
 */

/** @typedef {"float32" | "bool" | "int64"} DType */

/** A tensor, which no operation changes, so that all who need it share it. */
export class Tensor {
  /**
   * @param {readonly number[]} shape
   * @param {Float64Array<ArrayBuffer>} data a bool is 0 or 1
   * @param {DType} dtype of the tensor in PyTorch
   */
  constructor(shape, data, dtype = "float32") {
    if (data.length !== countElements(shape)) throw new Error(`${data.length} numbers for shape (${shape})`);
    this.shape = shape;
    this.data = data;
    this.dtype = dtype;
  }
}

/** @param {readonly number[]} shape */
function countElements(shape) {
  return shape.reduce((count, size) => count * size, 1);
}

/**
 * How far apart in the data the neighbors along each axis are.
 * @param {readonly number[]} shape
 */
export function strides(shape) {
  return shape.map((_, axis) => countElements(shape.slice(axis + 1)));
}

/**
 * A tensor of another shape with elements of this one.
 * @param {Tensor} tensor
 * @param {readonly number[]} shape of the result
 * @param {readonly number[]} steps how far to go in the data for a step along each axis of the result
 * @param {number} start the place in the data of the first element
 */
export function gather({ data, dtype }, shape, steps, start = 0) {
  const result = new Float64Array(countElements(shape));
  const index = shape.map(() => 0);
  let place = start;
  for (let i = 0; i < result.length; i++) {
    result[i] = data[place];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += steps[axis];
      if (++index[axis] < shape[axis]) break;
      place -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return new Tensor(shape, result, dtype);
}

/**
 * The shape to which both shapes broadcast.
 * @param {readonly number[]} one
 * @param {readonly number[]} other
 */
export function broadcastShape(one, other) {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, axis) => {
    const [a, b] = [one, other].map((shape) => shape[shape.length - length + axis] ?? 1);
    if (a !== b && a !== 1 && b !== 1) throw new Error(`(${one}) and (${other}) do not broadcast`);
    return a === 1 ? b : a;
  });
}

/**
 * @param {Tensor} tensor
 * @param {readonly number[]} shape
 */
export function broadcast(tensor, shape) {
  if (String(tensor.shape) === String(shape)) return tensor;
  const added = shape.length - tensor.shape.length;
  const own = strides(tensor.shape);
  const steps = shape.map((_, axis) => (tensor.shape[axis - added] > 1 ? own[axis - added] : 0));
  return gather(tensor, shape, steps);
}

/**
 * The index of an axis, which may count from the last one.
 * @param {Tensor} tensor
 * @param {number} axis
 */
export function axisIndex({ shape }, axis) {
  const index = axis < 0 ? axis + shape.length : axis;
  if (!(index in shape)) throw new Error(`(${shape}) has no axis ${axis}`);
  return index;
}

/**
 * What tensor[…] is in Python: a number selects, null adds an axis of size 1, a slice takes a range.
 * @param {Tensor} tensor
 * @param {(number | null | Slice)[]} parts
 */
export function select(tensor, parts) {
  const own = strides(tensor.shape);
  /** @type {number[]} */
  const shape = [];
  /** @type {number[]} */
  const steps = [];
  let [axis, start] = [0, 0];
  const rest = tensor.shape.length - parts.filter((part) => part !== null).length;
  for (const part of [...parts, ...Array.from({ length: rest }, () => new Slice())]) {
    const size = tensor.shape[axis];
    if (part === null) {
      shape.push(1);
      steps.push(0);
    } else if (part instanceof Slice) {
      const [first, end] = part.range(size);
      start += first * own[axis];
      shape.push(end - first);
      steps.push(own[axis++]);
    } else {
      const index = part < 0 ? part + size : part;
      if (!(index >= 0 && index < size)) throw new Error(`index ${part} for size ${size}`);
      start += index * own[axis++];
    }
  }
  return gather(tensor, shape, steps, start);
}

/** start:stop in Python. */
export class Slice {
  /**
   * @param {number | null} start
   * @param {number | null} stop
   */
  constructor(start = null, stop = null) {
    this.start = start;
    this.stop = stop;
  }

  /**
   * @param {number} size
   * @returns {[start: number, stop: number]}
   */
  range(size) {
    const [start, stop] = [this.start ?? 0, this.stop ?? size].map((end) => {
      return Math.min(size, Math.max(0, end < 0 ? end + size : end));
    });
    return [start, Math.max(start, stop)];
  }
}
