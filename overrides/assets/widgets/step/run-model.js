// @ts-check
/**
 * Runs transformer.py line by line and records each step, for the page Step through.
 *
 * The build exports the functions of the file that turn ids into logits as a program
 * (model_program.py). runModel interprets it with the weights of the translator, once and to the
 * end; a debugger then only moves in the list of stops. The checks of the file that raise errors
 * are not in the program, because they compute nothing for ids that translator.encode has returned.
 *
 * MultiHeadAttention.forward runs with need_weights=True, so that scores, mask and weights are in
 * the trace; fused_attention, which the file calls otherwise, computes the same without showing
 * them.
 *
 * All numbers have 64 bits, other than in translator.js. What differs from PyTorch in float32 is its
 * rounding; model_trace.py compares each tensor.
 */

import { ATTRIBUTES, OPERATIONS, dropout, embedding, linear } from "./operations.js";
import { Tensor } from "./tensor.js";

/** @import { Translator } from "../../../downloads/translator.js" */

/**
 * What the trace shows of a variable: the name of a function or the path of a module as a string.
 * @typedef {Tensor | number | boolean | string} Shown
 *
 * A variable that a stop sets, or an argument, or a part of a result: then the name of the variable
 * returned, or `return`. The lines are those of the file that readers download.
 * @typedef {{name: string, line: number, before?: Shown, after: Shown}} Change
 *
 * A line that has run: the first of a function (`call`, with the arguments), an assignment (also by
 * `for`), or a `return`. A line that calls functions comes after the stops of the calls.
 * - `line`, `endLine`: first and last line of the statement, or of the head of the function
 * - `function`: `MultiHeadAttention.forward`, `EncoderLayer.attend`, `padding_mask`
 * - `path`: the module it belongs to, such as `encoder.layers.0.self_attention`, `""` for the whole
 *   model; that of the caller for a function outside of classes
 * - `depth`: 0 in Transformer.forward, one more in each call
 * - `parent`: the index of the `call` stop of the function that the stop is in; its own for a `call`
 * - `caller`: for a `call`, the index of the `call` stop of the calling function, else -1
 * - `callLine`: for a `call`, the line that calls, else 0
 * - `end`: for a `call`, the index of the stop that returns; else its own index
 * - `locals`: the tensors in all variables afterwards
 *
 * Step in is i + 1; step over is the next stop whose depth is not larger; step out is the stop
 * after `stops[stops[i].parent].end` (a `return` stop shows its result).
 * @typedef {{kind: "call" | "assign" | "return", line: number, endLine: number, function: string,
 *   path: string, depth: number, parent: number, caller: number, callLine: number, end: number,
 *   changes: Change[], locals: Record<string, Tensor>}} Stop
 *
 * A change to compare with: no causal and no padding mask, no division by the root of d_k, no
 * positions, or a head whose output is zero before the output projection, by the path of its
 * attention and its number. The stops of both runs are the same, apart from the numbers.
 * @typedef {"mask" | "scale" | "positions" | {head: [path: string, head: number]}} Switch
 *
 * @typedef {{without?: Switch | null}} Options
 * @typedef {{stops: Stop[], logits: Tensor}} Trace logits (1, n, vocabulary)
 *
 * The program. An expression is a number, Boolean or null; a string, which is a name; or a list: an
 * operator, its operands, and an object with keyword arguments, if there are any.
 * @typedef {any} Expression
 * @typedef {[line: number, endLine: number, kind: string, ...any[]]} Statement
 * @typedef {{name: string, line: number, endLine: number, body: Statement[],
 *   args: [name: string, line: number, fallback?: Expression][]}} Definition
 * @typedef {{class: string, attributes?: Record<string, any>, children?: Record<string, ModuleTree>,
 *   parameters?: Record<string, number[]>, tables?: Record<string, number[]>}} ModuleTree
 *   parameters and tables of positions with their shapes
 * @typedef {{functions: Record<string, Definition>, modules: ModuleTree,
 *   switches: Record<string, Record<string, Definition>>}} Program
 */

/** A module of the model, with what `self.name` may be. */
class Module {
  /**
   * @param {string} type the name of its class
   * @param {string} path
   */
  constructor(type, path) {
    this.type = type;
    this.path = path;
    /** @type {Map<string, any>} */
    this.attributes = new Map();
  }
}

/** A function of the file, a method with its module. */
class Callable {
  /**
   * @param {Definition} definition
   * @param {Module | undefined} self
   */
  constructor(definition, self) {
    this.definition = definition;
    this.self = self;
  }
}

/** A call in progress. */
class Frame {
  /**
   * @param {Callable} callable
   * @param {string} path
   * @param {number} depth
   * @param {number} call the index of its first stop
   */
  constructor({ definition, self }, path, depth, call) {
    this.name = definition.name;
    this.self = self;
    this.path = path;
    this.depth = depth;
    this.call = call;
    this.line = definition.line;
    /** @type {Map<string, any>} */
    this.variables = new Map();
  }

  /**
   * The tensors in its variables.
   * @returns {Record<string, Tensor>}
   */
  get tensors() {
    return Object.fromEntries([...this.variables].filter(([, value]) => value instanceof Tensor));
  }
}

/** What PyTorch's own modules compute. @type {Record<string, (module: Map<string, any>, x: Tensor) => Tensor>} */
export const MODULES = {
  Dropout: (_, x) => dropout({}, x),
  Embedding: (module, ids) => embedding(ids, module.get("weight")),
  Identity: (_, x) => x,
  Linear: (module, x) => linear(x, module.get("weight"), module.get("bias")),
};

/**
 * Runs the model and records each step.
 * @param {Program} program
 * @param {Translator} translator
 * @param {number[]} src ids of the words
 * @param {number[]} tgt ids of the translation so far, <bos> first
 * @param {Options} options
 * @returns {Trace}
 */
export function runModel(program, translator, src, tgt, options = {}) {
  const without = options.without ?? undefined;
  const name = typeof without === "object" ? "head" : without;
  if (name && !Object.hasOwn(program.switches, name)) throw new Error(`no switch is called ${name}`);
  if (!src.length || !tgt.length) throw new Error("there is nothing to run");
  const functions = { ...program.functions, ...(name && program.switches[name]) };
  const model = buildModule(program.modules, translator.model, "");
  if (typeof without === "object") silenceHead(model, ...without.head);
  const run = new Run(functions);
  const ids = [src, tgt].map((each) => new Tensor([1, each.length], Float64Array.from(each), "int64"));
  const logits = run.callModule(model, ids, {}, undefined);
  return { stops: run.stops, logits };
}

/**
 * A module with its children, its attributes and its weights.
 * @param {ModuleTree} tree
 * @param {any} weights the module's part of translator.model
 * @param {string} path
 */
function buildModule(tree, weights, path) {
  const module = new Module(tree.class, path);
  const { attributes } = module;
  for (const [name, value] of Object.entries(tree.attributes ?? {})) attributes.set(name, value);
  attributes.set("kept", 1); // a head that is switched off is multiplied by 0
  for (const [name, shape] of Object.entries(tree.parameters ?? {})) {
    attributes.set(name, new Tensor(shape, new Float64Array(weights[name])));
  }
  for (const [name, [rows, columns]] of Object.entries(tree.tables ?? {})) {
    attributes.set(name, positionTable(rows, columns));
  }
  for (const [name, child] of Object.entries(tree.children ?? {})) {
    attributes.set(name, buildModule(child, weights?.[name], path ? `${path}.${name}` : name));
  }
  return module;
}

/**
 * What sinusoidal_positional_encoding returns.
 * @param {number} rows
 * @param {number} columns
 */
function positionTable(rows, columns) {
  const waves = Float32Array.from({ length: rows * columns }, (_, i) => {
    const column = i % columns;
    const angle = Math.floor(i / columns) * 10000 ** (-(column - (column % 2)) / columns);
    return column % 2 ? Math.cos(angle) : Math.sin(angle);
  });
  return new Tensor([rows, columns], new Float64Array(waves)); // rounded to float32 as in the file
}

/**
 * @param {Module} model
 * @param {string} path of an attention
 * @param {number} head
 */
function silenceHead(model, path, head) {
  const module = path.split(".").reduce((/** @type {any} */ place, name) => place?.attributes.get(name), model);
  const heads = module?.attributes.get("nhead");
  if (!Number.isInteger(head) || !(head >= 0 && head < heads)) throw new Error(`${path} has no head ${head}`);
  const kept = Float64Array.from({ length: heads }, (_, i) => Number(i !== head));
  module.attributes.set("kept", new Tensor([heads, 1, 1], kept));
}

/** A run of a program, with the stops so far. */
class Run {
  /** @type {Stop[]} */
  stops = [];

  /** @param {Record<string, Definition>} functions */
  constructor(functions) {
    this.functions = functions;
  }

  // Calls

  /**
   * @param {Module} module
   * @param {any[]} args
   * @param {Record<string, any>} keywords
   * @param {Frame | undefined} caller
   */
  callModule(module, args, keywords, caller) {
    const forward = this.functions[`${module.type}.forward`];
    if (forward) return this.call(new Callable(forward, module), args, keywords, caller);
    return MODULES[module.type](module.attributes, args[0]);
  }

  /**
   * @param {Callable} callable
   * @param {any[]} args
   * @param {Record<string, any>} keywords
   * @param {Frame | undefined} caller
   */
  call(callable, args, keywords, caller) {
    const { definition, self } = callable;
    const path = self?.path ?? caller?.path ?? "";
    const frame = new Frame(callable, path, caller ? caller.depth + 1 : 0, this.stops.length);
    if (args.length > definition.args.length) throw new Error(`too many arguments for ${definition.name}`);
    /** @type {Change[]} */
    const changes = [];
    definition.args.forEach(([name, line, fallback], i) => {
      const value = i < args.length ? args[i] : name in keywords ? keywords[name] : fallback;
      if (value === undefined) throw new Error(`${definition.name} needs ${name}`);
      frame.variables.set(name, value);
      changes.push(...change(name, line, value));
    });
    const stop = this.stop("call", [definition.line, definition.endLine], frame, changes);
    stop.caller = caller?.call ?? -1;
    stop.callLine = caller?.line ?? 0;
    const result = this.runBlock(definition.body, frame);
    stop.end = this.stops.length - 1;
    return result ? result.value : null;
  }

  /**
   * @param {Stop["kind"]} kind
   * @param {[line: number, endLine: number]} lines
   * @param {Frame} frame
   * @param {Change[]} changes
   */
  stop(kind, [line, endLine], frame, changes) {
    const { name, path, depth, call: parent } = frame;
    const place = { kind, line, endLine, function: name, path, depth, parent };
    const stop = { ...place, caller: -1, callLine: 0, end: this.stops.length, changes, locals: frame.tensors };
    this.stops.push(stop);
    return stop;
  }

  // Statements

  /**
   * Runs statements until one returns.
   * @param {Statement[]} statements
   * @param {Frame} frame
   * @returns {{value: any} | undefined}
   */
  runBlock(statements, frame) {
    for (const statement of statements) {
      const result = this.runStatement(statement, frame);
      if (result) return result;
    }
    return undefined;
  }

  /**
   * @param {Statement} statement
   * @param {Frame} frame
   * @returns {{value: any} | undefined}
   */
  runStatement([line, endLine, kind, ...parts], frame) {
    /** @type {[number, number]} */
    const lines = [line, endLine];
    frame.line = line;
    if (kind === "=") {
      this.assign(parts[0], this.evaluate(parts[1], frame), lines, frame);
    } else if (kind === "for") {
      for (const item of items(this.evaluate(parts[1], frame))) {
        frame.line = line;
        this.assign(parts[0], item, lines, frame);
        const result = this.runBlock(parts[2], frame);
        if (result) return result;
      }
    } else if (kind === "if") {
      return this.runBlock(this.evaluate(parts[0], frame) ? parts[1] : parts[2], frame);
    } else {
      const value = this.evaluate(parts[0], frame);
      frame.line = line;
      this.stop("return", lines, frame, resultChanges(value, line, frame));
      return { value };
    }
    return undefined;
  }

  /**
   * @param {string | string[]} target
   * @param {any} value
   * @param {[number, number]} lines
   * @param {Frame} frame
   */
  assign(target, value, lines, frame) {
    const names = Array.isArray(target) ? target : [target];
    const values = Array.isArray(target) ? value : [value];
    const changes = names.flatMap((name, i) => {
      return change(name, lines[0], values[i], frame.variables.get(name));
    });
    names.forEach((name, i) => frame.variables.set(name, values[i]));
    this.stop("assign", lines, frame, changes);
  }

  // Expressions

  /**
   * @param {Expression} expression
   * @param {Frame} frame
   * @returns {any}
   */
  evaluate(expression, frame) {
    if (typeof expression === "string") return this.lookUp(expression, frame);
    if (!Array.isArray(expression)) return expression;
    const [operator, ...operands] = expression;
    if (operator === ".") return this.attribute(this.evaluate(operands[0], frame), operands[1]);
    const keywords = isKeywords(operands.at(-1)) ? operands.pop() : {};
    const named = Object.entries(keywords).map(([name, value]) => [name, this.evaluate(value, frame)]);
    const values = operands.map((operand) => this.evaluate(operand, frame));
    const options = Object.fromEntries(named);
    const [callee, ...args] = values;
    if (operator !== "call") return OPERATIONS[operator](options, ...values);
    if (callee instanceof Module) return this.callModule(callee, args, options, frame);
    return this.call(callee, args, options, frame);
  }

  /**
   * @param {string} name
   * @param {Frame} frame
   */
  lookUp(name, frame) {
    if (name === "self") return frame.self;
    if (frame.variables.has(name)) return frame.variables.get(name);
    const definition = this.functions[name];
    if (!definition) throw new Error(`${name} is not defined`);
    return new Callable(definition, undefined);
  }

  /**
   * @param {any} value
   * @param {string} name
   */
  attribute(value, name) {
    if (!(value instanceof Module)) return ATTRIBUTES[name] ? ATTRIBUTES[name](value) : value[name];
    const method = this.functions[`${value.type}.${name}`];
    return method ? new Callable(method, value) : value.attributes.get(name);
  }
}

/** @param {Expression} value the last part of an expression */
function isKeywords(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * What `for` goes through: the items of a list, or the children of a ModuleList.
 * @param {any} value
 */
function items(value) {
  return value instanceof Module ? [...value.attributes.values()].filter((each) => each instanceof Module) : value;
}

/**
 * The change that gives a variable a value; none if nothing of the value can be shown.
 * @param {string} name
 * @param {number} line
 * @param {any} value
 * @param {any} [old]
 * @returns {Change[]}
 */
function change(name, line, value, old) {
  const [after, before] = [value, old].map(shown);
  if (after === undefined) return [];
  return [before === undefined ? { name, line, after } : { name, line, before, after }];
}

/**
 * @param {any} value
 * @returns {Shown | undefined}
 */
function shown(value) {
  if (value instanceof Module) return value.path;
  if (value instanceof Callable) return value.definition.name;
  return value === null || (typeof value === "object" && !(value instanceof Tensor)) ? undefined : value;
}

/**
 * @param {any} value
 * @param {number} line
 * @param {Frame} frame
 */
function resultChanges(value, line, frame) {
  const parts = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) => {
    const variable = [...frame.variables].find(([, each]) => part instanceof Tensor && each === part);
    return change(variable?.[0] ?? "return", line, part);
  });
}
