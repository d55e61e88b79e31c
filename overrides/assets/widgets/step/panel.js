// @ts-check
/** The tensors of a stop: heat maps, the number under the pointer, and the same in words. */

import { el } from "../common.js";
import { cellAt, drawMap, planMap, readStyle } from "./drawing.js";
import { Tensor } from "./tensor.js";
import { axesOf, difference, formatNumber, largest, matrixOf, percent, rangeOf, softmax } from "./view.js";

/**
 * @import { Side } from "./navigation.js"
 * @import { Shown, Stop } from "./run-model.js"
 * @import { Texts } from "./texts.js"
 * @import { Axis, Matrix } from "./view.js"
 * @typedef {{source: string[], target: string[]}} Tokens
 * @typedef {{name: string, note: string, tensor: Tensor, axes: Axis[], most?: number, tokens: Tokens}} Item
 */

const SHARES = 4; // rows of a list of likely tokens
/** @type {Record<string, string[]>} what else to show where a variable is set */
const RELATED = { "scaled_dot_product_attention:weights": ["scores", "mask"] };
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Panel {
  /** @type {Tokens} */
  tokens = { source: [], target: [] };
  /** @type {Tokens | undefined} */
  secondTokens; // of a sentence to compare with
  /** @type {string[]} */
  vocabulary = [];
  /** @type {(stop: number, name: string) => string[]} */
  symbols = () => [];
  side = /** @type {Side} */ ("source"); // whose token can be selected
  headCount = 1;
  watched = ""; // a variable that stays in view
  own = 0; // how many of the tensors shown first are those that the stop sets
  names = ["", ""]; // of the two runs that are compared
  gap = ""; // the name of their difference
  /** @type {{name: string, row: number, column: number} | undefined} a cell whose number stays shown */
  pointed;
  summary = "";
  width = 0;
  style = { ink: "", note: "", empty: "", font: "" };

  /**
   * @param {Texts} text
   * @param {URLSearchParams} address
   * @param {() => void} changed called when the reader selects another head or token
   */
  constructor(text, address, changed) {
    const number = (/** @type {string} */ name) => Math.max(0, Math.floor(Number(address.get(name))) || 0);
    this.state = { head: number("head"), source: number("source"), target: number("target") };
    this.text = text;
    this.changed = changed;
    this.element = el("div", { class: "debugger__tensors" });
    this.heads = el("select", { change: () => this.select("head", Number(this.heads.value)) });
    this.positions = el("select", { change: () => this.select(this.side, Number(this.positions.value)) });
    this.choices = [el("label", {}, `${text.head} `, this.heads), el("label", {}, `${text.position} `, this.positions)];
    /** @type {(() => void)[]} */
    this.draws = [];
    new ResizeObserver(() => this.draw()).observe(this.element);
    new MutationObserver(() => this.draw()).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  /**
   * @param {Tokens} tokens
   * @param {string[]} vocabulary
   * @param {(stop: number, name: string) => string[]} symbols of the axes of a variable
   * @param {Tokens} [secondTokens] of a sentence to compare with
   */
  prepare(tokens, vocabulary, symbols, secondTokens) {
    const { text } = this;
    const names = secondTokens ? [text.first, text.second] : [text.original, text.changed];
    Object.assign(this, { tokens, vocabulary, symbols, secondTokens, names, gap: text.difference(names[1], names[0]) });
    for (const side of /** @type {const} */ (["source", "target"])) {
      this.state[side] = Math.min(this.state[side], tokens[side].length - 1);
    }
  }

  /**
   * @param {"head" | Side} name
   * @param {number} value
   */
  select(name, value) {
    this.state[name] = value;
    this.changed();
  }

  /** Selects the next head or token. @param {"head" | "token"} what */
  next(what) {
    if (what === "head") return this.select("head", (this.state.head + 1) % this.headCount);
    return this.select(this.side, (this.state[this.side] + 1) % this.tokens[this.side].length);
  }

  /**
   * The target token that is written after a position, "" if unknown or for the source.
   * @param {Tokens} tokens
   * @param {Side} side
   * @param {number} position
   */
  written(tokens, side, position) {
    return side === "target" ? (tokens.target[position + 1] ?? "<eos>") : "";
  }

  // A stop

  /**
   * @param {Stop[]} stops
   * @param {number} at
   * @param {Stop} [other] the same stop of a run with a change or of another sentence
   */
  show(stops, at, other) {
    const stop = stops[at];
    const items = this.itemsOf(stops, at, other);
    const main = items.slice(0, this.own).findLast(({ axes }) => isPerHead(axes)) ?? items[0];
    this.fillChoices(main);
    this.draws = [];
    const plain = this.plainValues(stop, other);
    const values = plain.length ? [el("p", { class: "debugger__values" }, el("code", {}, plain.join("\n")))] : [];
    const texts = items.map((item) => this.describe(item));
    const figures = items.map((item, i) => this.figure(item, item === main, i, texts[i]));
    const heads = main && isPerHead(main.axes) ? [this.thumbnails(main)] : [];
    figures.splice(this.own, 0, ...heads);
    this.element.replaceChildren(...values, ...figures, this.locals(stop, items));
    this.summary = [...plain, ...texts].join("; ");
    this.draw();
  }

  /**
   * The values that are no tensors: `length = 5`, and that of the other run if it differs.
   * @param {Stop} stop
   * @param {Stop} [other]
   */
  plainValues({ changes }, other) {
    return changes.flatMap(({ name, after }, i) => {
      if (after instanceof Tensor) return [];
      const [own, second] = [format(after), format(other?.changes[i].after ?? after)];
      return [`${name} = ${own}${own === second ? "" : ` (${this.names[1]}: ${second})`}`];
    });
  }

  /**
   * @param {Stop[]} stops
   * @param {number} at
   * @param {Stop} [other]
   */
  itemsOf(stops, at, other) {
    const { text } = this;
    const stop = stops[at];
    /** @type {Item[]} */
    const items = [];
    /** @type {(name: string, tensor: Tensor, note?: string, most?: number, like?: Tensor) => void} */
    const add = (name, tensor, note = "", most = 0, like = tensor) => {
      const same = note ? undefined : items.find((item) => item.tensor === tensor && !item.note);
      const axes = axesOf(stops, at, name, like, this.symbols).map((axis, i) => ({ ...axis, size: tensor.shape[i] }));
      const tokens = (note === this.names[1] && this.secondTokens) || this.tokens;
      if (same) same.name += ` = ${name}`;
      else items.push({ name, note, tensor, axes, tokens, ...(most ? { most } : {}) });
    };
    stop.changes.forEach(({ name, after, before }, i) => {
      if (!(after instanceof Tensor)) return;
      const changed = other?.changes[i]?.after;
      if (changed instanceof Tensor) this.addComparison(add, name, after, changed);
      else if (before instanceof Tensor) this.addBefore(add, name, before, after);
      else add(name, after);
    });
    this.own = items.length;
    const [first] = stop.changes;
    for (const each of RELATED[`${stop.function}:${first?.name}`] ?? []) {
      if (stop.kind === "assign" && !other && !(first.before instanceof Tensor) && stop.locals[each]) add(each, stop.locals[each]);
    }
    if (this.watched && stop.locals[this.watched] && !items.some((item) => item.tensor === stop.locals[this.watched])) {
      add(this.watched, stop.locals[this.watched], text.locals);
    }
    return items;
  }

  /**
   * @param {(name: string, tensor: Tensor, note?: string, most?: number) => void} add
   * @param {string} name
   * @param {Tensor} before
   * @param {Tensor} after
   */
  addBefore(add, name, before, after) {
    const alike = String(before.shape) === String(after.shape);
    const most = alike ? Math.max(rangeOf(before.data).most, rangeOf(after.data).most) : 0;
    add(name, before, this.text.before, most);
    add(name, after, this.text.after, most);
  }

  /**
   * @param {(name: string, tensor: Tensor, note?: string, most?: number, like?: Tensor) => void} add
   * @param {string} name
   * @param {Tensor} one
   * @param {Tensor} changed
   */
  addComparison(add, name, one, changed) {
    const gap = String(one.shape) === String(changed.shape) ? difference(changed, one) : undefined;
    if (gap && !rangeOf(gap.data).most) return add(name, one, this.text.same);
    const most = Math.max(rangeOf(one.data).most, rangeOf(changed.data).most);
    add(name, one, this.names[0], most);
    add(name, changed, this.names[1], most, one);
    if (gap) add(name, gap, this.gap, 0, one);
  }

  /** Offers the heads and the tokens of a tensor. @param {Item | undefined} item */
  fillChoices(item) {
    const axes = item?.axes ?? [];
    this.headCount = axes.find((axis) => axis.name === "head")?.size ?? 1;
    const side = axes.find((axis) => axis.side)?.side;
    if (side) this.side = side;
    const { state, tokens, text } = this;
    const count = Math.max(this.headCount, state.head + 1);
    fill(this.heads, Array.from({ length: count }, (_, i) => String(i)), state.head);
    this.heads.disabled = this.headCount < 2;
    const own = tokens[this.side].map((token, i) =>
      `${i}: ${this.side === "target" ? text.writes(token, this.written(tokens, "target", i)) : token}`);
    fill(this.positions, own, state[this.side]);
  }

  /** Scrolls the first tensor into view, unless it is. */
  reveal() {
    this.element.querySelector("figure")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  // A tensor

  /**
   * @param {Item} item
   * @param {boolean} main whether it is the one whose details are shown
   * @param {number} i
   * @param {string} description
   */
  figure(item, main, i, description) {
    const { name, note, tensor, axes } = item;
    const matrix = matrixOf(tensor, axes, this.state.head);
    const shape = el("span", { class: "debugger__shape" }, "(", ...axes.flatMap((axis, j) => [j ? ", " : "",
      el("span", {}, String(axis.size), el("small", {}, axis.name))]), ")");
    const head = isPerHead(axes);
    const caption = el("figcaption", {}, el("b", {}, name), note && ` ${note} `, shape,
      tensor.dtype === "float32" ? "" : ` ${tensor.dtype}`, head ? ` · ${this.text.head} ${this.state.head}` : "");
    const canvas = el("canvas", { role: "img", tabindex: 0, "aria-label": `${description} ${this.text.map}` });
    const readout = el("p", { class: "debugger__readout", id: `debugger-readout-${i}` }, this.rangeText(matrix));
    this.prepareMap(item, matrix, canvas, readout);
    return el("figure", { class: main ? "main" : "" }, caption, canvas, readout,
      ...this.shares(item, matrix));
  }

  /** @param {Matrix} matrix */
  rangeText({ values }) {
    const { low, high } = rangeOf(values);
    return this.text.range(formatNumber(low), formatNumber(high));
  }

  /**
   * Draws a map when the panel is drawn, and lets the pointer and the arrow keys move in it.
   * @param {Item} item
   * @param {Matrix} matrix
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} readout
   */
  prepareMap(item, matrix, canvas, readout) {
    const { rows, columns } = matrix;
    const rowLabels = matrix.row?.side ? item.tokens[matrix.row.side].slice(0, rows) : [];
    const columnLabels = matrix.column.side ? item.tokens[matrix.column.side].slice(0, columns) : [];
    if (!rowLabels.length && matrix.column.side && matrix.row) rowLabels.push(this.text.all);
    /** @type {{row: number, column: number} | undefined} */
    let cell = this.pointed?.name === item.name + item.note ? this.pointed : undefined;
    if (cell) readout.textContent = this.cellText(item, matrix, cell);
    let plan = planMap(300, rows, columns, 0, 0);
    const most = item.most ?? mostOf(item);
    const selected = matrix.row?.side ? this.state[matrix.row.side] : -1;
    const draw = () => {
      const width = (/** @type {string[]} */ labels) => Math.max(0, ...labels.map(widthOf));
      plan = planMap(this.width - 2, rows, columns, width(rowLabels), width(columnLabels));
      drawMap(canvas, plan, matrix, this.style,
        { most, rowLabels, columnLabels, selected, cell, whole: item.tensor.dtype !== "float32" });
    };
    const point = (/** @type {typeof cell} */ place) => {
      if (place?.row === cell?.row && place?.column === cell?.column) return;
      cell = place;
      readout.textContent = place ? this.cellText(item, matrix, place) : this.rangeText(matrix);
      draw();
    };
    const under = (/** @type {MouseEvent} */ event) => cellAt(plan, rows, columns, event.offsetX, event.offsetY);
    canvas.addEventListener("pointermove", (event) => point(under(event)));
    canvas.addEventListener("pointerleave", () => point(undefined));
    canvas.addEventListener("blur", () => point(undefined));
    canvas.addEventListener("click", (event) => {
      const place = under(event);
      if (!place) return;
      point(place);
      const side = matrix.row?.side;
      if (!side || place.row === selected || place.row >= this.tokens[side].length) return;
      this.pointed = { name: item.name + item.note, ...place };
      this.select(side, place.row);
      this.pointed = undefined;
    });
    canvas.addEventListener("keydown", (event) => {
      const arrow = ARROWS[event.key];
      if (event.key === "Escape" && cell) {
        point(undefined);
        /** @type {HTMLElement | null} */ (canvas.closest(".debugger")?.querySelector("[data-action=step]"))?.focus();
      } else if (arrow) {
        const start = { row: Math.max(0, selected), column: 0 };
        const limit = (/** @type {number} */ value, /** @type {number} */ size) => Math.max(0, Math.min(size - 1, value));
        readout.setAttribute("aria-live", "polite");
        point(cell ? { row: limit(cell.row + arrow[0], rows), column: limit(cell.column + arrow[1], columns) } : start);
      } else return;
      event.preventDefault();
    });
    this.draws.push(draw);
  }

  /** Draws all maps again, for another width or theme. */
  draw() {
    this.width = this.element.clientWidth;
    if (!this.width) return;
    this.style = readStyle(this.element);
    for (const draw of this.draws) draw();
  }

  /**
   * `scores[0, 2, 为, why] = 3.2`, and what an id means.
   * @param {Item} item
   * @param {Matrix} matrix
   * @param {{row: number, column: number}} place
   */
  cellText({ name, axes, tokens }, matrix, { row, column }) {
    const value = matrix.values[row * matrix.columns + column];
    const index = axes.map((axis) => {
      if (axis.name === "batch") return "0";
      if (axis.name === "head") return String(Math.min(this.state.head, axis.size - 1));
      return this.label(tokens, axis, axis === matrix.column ? column : row);
    });
    return `${name}[${index.join(", ")}] = ${formatNumber(value)}`;
  }

  /**
   * @param {Tokens} tokens
   * @param {Axis} axis
   * @param {number} i
   */
  label(tokens, axis, i) {
    if (axis.side) return `${i} ${tokens[axis.side][i]}`;
    return axis.name === "tgt_vocab_size" ? `${i} ${this.vocabulary[i]}` : String(i);
  }

  /**
   * A small map of each head, to choose one.
   * @param {Item} item
   */
  thumbnails({ tensor, axes, note }) {
    const { most } = rangeOf(tensor.data);
    const buttons = Array.from({ length: this.headCount }, (_, head) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      const matrix = matrixOf(tensor, axes, head);
      this.draws.push(() => {
        const { rows, columns } = matrix;
        const plan = { ...planMap(64, rows, columns, 0, 0), cellWidth: 64 / columns, cellHeight: 40 / rows,
          width: 64, height: 40, numbers: false };
        drawMap(canvas, plan, matrix, this.style, { most, rowLabels: [], columnLabels: [], selected: -1, whole: true });
      });
      return el("button", { type: "button", "aria-pressed": String(head === this.state.head),
        click: () => this.select("head", head) }, canvas, `${this.text.head} ${head}`);
    });
    return el("div", { class: "debugger__heads", role: "group", "aria-label": this.text.head }, note && el("p", {}, note), ...buttons);
  }

  /**
   * The tokens with the largest shares: after the logits, and those that a query reads.
   * @param {Item} item
   * @param {Matrix} matrix
   */
  shares({ name, axes, note, tokens }, { values, rows, columns, row, column }) {
    const { text, state } = this;
    const logits = column.name === "tgt_vocab_size";
    if (!row?.side || !(logits || name === "weights") || axes.length < 3 || note === this.gap) return [];
    const at = state[row.side];
    if (at >= rows) return []; // the other sentence is longer
    const numbers = values.slice(at * columns, (at + 1) * columns);
    const shares = logits ? softmax(numbers) : numbers;
    const items = largest(shares, SHARES).map(({ value, i }) => {
      const bar = el("span", { class: "bar" });
      bar.style.setProperty("--share", String(value));
      const token = logits ? this.vocabulary[i] : tokens[column.side ?? "source"][i];
      const language = logits || column.side === "target" ? "zh" : "en";
      return el("li", {}, el("span", { lang: language }, token), bar, el("span", {}, percent(value)));
    });
    const place = text.row(tokens[row.side][at], this.written(tokens, row.side, at));
    return [el("p", { class: "debugger__at" }, `${place} · ${logits ? text.likeliest : text.reads}`),
      el("ol", { class: "debugger__shares" }, ...items)];
  }

  /**
   * A tensor in words: name, shape, range, largest numbers.
   * @param {Item} item
   */
  describe(item) {
    const { name, note, tensor, axes } = item;
    const matrix = matrixOf(tensor, axes, this.state.head);
    const shape = axes.map((axis) => `${axis.name} ${axis.size}`).join(", ");
    const top = largest(matrix.values, 3).map(({ i }) => this.cellText(item, matrix,
      { row: Math.floor(i / matrix.columns), column: i % matrix.columns }));
    const range = tensor.dtype === "float32" ? `; ${this.rangeText(matrix)}; ${this.text.largest}${top.join(", ")}` : "";
    return `${name}${note && ` ${note}`} (${shape})${range}.`;
  }

  // Variables

  /**
   * @param {Stop} stop
   * @param {Item[]} items
   */
  locals(stop, items) {
    const buttons = Object.entries(stop.locals).map(([name, tensor]) => {
      const shown = items.some((item) => item.tensor === tensor);
      const press = () => {
        this.watched = this.watched === name ? "" : name;
        this.changed();
      };
      return el("button", { type: "button", class: shown ? "shown" : "", "aria-pressed": String(this.watched === name),
        click: press }, el("b", {}, name), ` (${tensor.shape.join(", ")})`);
    });
    return el("div", { class: "debugger__locals", role: "group", "aria-label": this.text.locals },
      el("span", {}, this.text.locals), ...buttons);
  }
}

/** @param {Axis[]} axes */
const isPerHead = (axes) => axes.some((axis) => axis.name === "head" && axis.size > 1);

/** @param {Shown} value */
function format(value) {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  return String(value instanceof Tensor ? "" : value);
}

/** The magnitude that is opaque: 1 for weights, and ids have no color. @param {Item} item */
function mostOf({ name, note, tensor }) {
  if (tensor.dtype === "int64") return Infinity;
  return name === "weights" && rangeOf(tensor.data).low >= 0 ? 1 : rangeOf(tensor.data).most;
}

/** About how many pixels wide a label is. @param {string} label */
function widthOf(label) {
  return [...label].reduce((width, each) => width + (each > "\u2e00" ? 12.5 : 6.8), 0);
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} labels
 * @param {number} value
 */
function fill(select, labels, value) {
  if (Array.from(select.options, (each) => each.text).join("\n") !== labels.join("\n")) {
    select.replaceChildren(...labels.map((label, i) => el("option", { value: i }, label)));
  }
  select.value = String(value);
}
