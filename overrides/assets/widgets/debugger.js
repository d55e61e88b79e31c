// @ts-check
/** The debugger of the page Step through: transformer.py line by line, with the tensors of a sentence that the reader enters. */

import { el, english } from "./common.js";
import { greedy, load } from "./model.js";
import { nameAxes } from "./step/axes.js";
import { boxOf, stopOfBox } from "./step/boxes.js";
import { createCode } from "./step/code.js";
import { createDiagram } from "./step/diagram.js";
import * as go from "./step/navigation.js";
import { Panel } from "./step/panel.js";
import { fail } from "./step-through.js";
import { runModel } from "./step/run-model.js";
import { EN, ZH } from "./step/texts.js";
import { Field, near } from "./translator-field.js";

export { runModel }; // the tests run that of the published file

/**
 * @import { Translator } from "../../downloads/translator.js"
 * @import { Tokens } from "./step/panel.js"
 * @import { Program, Stop, Trace } from "./step/run-model.js"
 * @typedef {{text: string, url: string, title: string}} Explanation
 * @typedef {{functions: Record<string, Explanation>, tour: {at: string, title: string, text: string}[]}} Notes
 * @typedef {{translator: Translator, program: Program, notes: Notes, code: string}} Files
 * @typedef {{src: number[], tgt: number[], tokens: Tokens}} Input
 */

const EXAMPLES = ["why do we work ?", "tom is not selling vegetables", "she bought two cats yesterday"];
const SECOND_SENTENCE = "why do you work ?"; // until the reader enters another one
const BY_SENTENCE = "sentence"; // the choice to compare with another sentence
const DOWNLOADS = new URL("../../downloads/", import.meta.url);
const BOS = 1;
const text = document.documentElement.lang === "en" ? EN : ZH; // the build keeps one of them

/** @type {Record<string, string>} the action of each key */
const KEYS = {
  ArrowRight: "step", ArrowLeft: "back", ArrowDown: "over", ArrowUp: "out", l: "layer", n: "token",
  h: "head", t: "tour", Home: "first", End: "last",
};
const ACTIONS = /** @type {const} */ (["back", "step", "over", "out", "layer", "token"]);
const SIGNS = { back: "←", step: "→", over: "↓", out: "↑", layer: "L", token: "N", tour: "T" };

/**
 * Fetches what the debugger needs, replaces the content of the element, and runs the model.
 * @param {HTMLElement} element
 * @param {HTMLElement} status
 * @param {(share: number) => void} onProgress called with the downloaded share of the weights
 */
export async function open(element, status, onProgress) {
  const language = english ? "en" : "zh";
  const [translator, program, notes, code] = await Promise.all([
    load(onProgress),
    fetchFile("model_program.json").then((file) => file.json()),
    fetchFile(`step-through-${language}.json`).then((file) => file.json()),
    fetchFile("transformer.py").then((file) => file.text()),
  ]);
  await nextTask();
  const files = { translator, program, notes, code };
  const widget = new Debugger(element, status, files);
  await nextTask();
  widget.build(files);
  await nextTask();
  await widget.translate();
  if (widget.address.has("at")) widget.panel.reveal();
}

/** @param {string} name */
async function fetchFile(name) {
  const response = await fetch(new URL(name, DOWNLOADS));
  if (!response.ok) throw new Error(`${response.status} ${name}`);
  return response;
}

/** Lets the browser paint and respond between two parts of the work. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** `layer 1 · ` for `decoder.layers.1.norm`, "" outside of the layers. @param {string} path */
function layerName(path) {
  const number = /layers\.(\d+)/.exec(path)?.[1];
  return number ? `${text.layerNumber(Number(number))} · ` : "";
}

class Debugger {
  /** @type {Stop[]} */
  stops = [];
  /** @type {Trace | undefined} */
  other;
  at = 0;
  tour = 0; // the stop of the tour, from 1; 0 outside of the tour
  timer = 0;

  /**
   * @param {HTMLElement} element
   * @param {HTMLElement} status
   * @param {Files} files
   */
  constructor(element, status, files) {
    this.element = element;
    this.status = status;
    this.files = files;
    this.symbols = nameAxes(files.program, files.translator);
    this.address = new URLSearchParams(location.search);
    this.field = new Field(text.words);
    this.field.input.value = (this.address.get("s") ?? EXAMPLES[0]).slice(0, 300);
    this.forced = el("input", { type: "text", lang: "zh", name: "forced", autocomplete: "off",
      value: (this.address.get("to") ?? "").slice(0, 100) });
    this.live = el("p", { class: "debugger__live", "aria-live": "polite" });
    this.panel = new Panel(text, this.address, () => this.show());
    this.slider = el("input", { type: "range", min: 0, "aria-label": text.slider, class: "debugger__slider",
      input: () => this.move(this.slider.valueAsNumber) });
    this.count = el("span", { class: "debugger__count", "aria-hidden": "true" });
    this.compare = el("select", { change: () => this.runAgain() });
    this.second = el("input", { type: "text", lang: "en", name: "second", autocomplete: "off",
      value: (this.address.get("with") ?? SECOND_SENTENCE).slice(0, 300) });
    this.secondStatus = el("p", { role: "status" });
    this.secondForm = this.createSecondForm();
    this.scope = el("p", { class: "debugger__scope", role: "status" });
    this.explanation = el("div", { class: "debugger__explanation" });
    this.stack = el("p", { class: "debugger__stack", "aria-label": text.stack, role: "group" });
  }

  // Elements

  /** @param {Files} files */
  build({ translator, program, code }) {
    const known = translator.source.tokens.slice(3);
    this.field.known = known;
    const counts = { source: "encoder", target: "decoder" };
    const layers = Object.entries(counts).map(([side, stack]) =>
      [side, Object.keys(program.modules.children?.[stack].children?.layers.children ?? {}).length]);
    this.diagram = createDiagram(Object.fromEntries(layers), { ...text.boxes, layer: text.layerNumber }, (id) => this.jump(id));
    this.code = createCode(code, text, (line) => {
      this.move(go.runToLine(this.stops, this.at, line));
      this.panel.reveal();
    });
    this.fillCompare(program);
    this.buttons = Object.fromEntries(["tour", ...ACTIONS].map((name) => [name, this.button(name)]));
    const link = el("button", { type: "button", title: text.titles.link, click: () => this.copy(link) }, text.link);
    const bar = el("div", { class: "debugger__bar", role: "toolbar", "aria-label": text.step },
      ...Object.values(this.buttons), link, el("div", { class: "debugger__run" }, this.slider, this.count));
    const choices = el("div", { class: "debugger__choices" },
      ...this.panel.choices, el("label", {}, `${text.compare} `, this.compare), this.scope, this.secondForm);
    const place = el("div", { class: "debugger__place" }, this.diagram.element,
      el("div", {}, this.stack, this.explanation));
    const side = el("div", { class: "debugger__side" }, place, choices, this.panel.element);
    this.root = el("div", { class: "debugger", tabindex: -1, keydown: (/** @type {KeyboardEvent} */ event) => this.press(event) },
      this.form(), this.status,
      el("div", { class: "debugger__main" }, el("div", { class: "debugger__top" }, bar, this.code.element), side),
      this.live);
    this.element.replaceChildren(this.root);
  }

  form() {
    const form = el("form", { class: "debugger__form" },
      el("label", { for: "translator-field" }, text.label), this.field.element,
      el("label", { class: "debugger__forced" }, `${text.forced} `, this.forced),
      el("button", { type: "submit" }, text.run));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.field.close();
      this.translate();
    });
    const chips = EXAMPLES.map((each) => el("button", { type: "button", lang: "en", click: () => {
      this.field.input.value = each;
      this.forced.value = "";
      this.translate();
    } }, each));
    return el("div", {}, form, el("div", { class: "debugger__chips", role: "group", "aria-label": text.examples }, ...chips));
  }

  createSecondForm() {
    const form = el("form", { class: "debugger__second", hidden: true }, el("label", {}, `${text.second} `, this.second),
      el("button", { type: "submit" }, text.runSecond), this.secondStatus);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.runAgain();
    });
    return form;
  }

  /** @param {string} name of an action */
  button(name) {
    const key = /** @type {keyof typeof SIGNS} */ (name);
    return el("button", { type: "button", title: text.titles[key], "data-action": name,
      click: () => this.act(name) }, text[key], " ", el("kbd", { "aria-hidden": "true" }, SIGNS[key]));
  }

  /** @param {Program} program */
  fillCompare({ modules }) {
    const option = (/** @type {string} */ value, /** @type {string} */ label) => el("option", { value }, label);
    const heads = this.files.translator.config.nhead;
    const all = Object.entries({ encoder: ["self"], decoder: ["self", "cross"] }).flatMap(([stack, kinds]) =>
      Object.keys(modules.children?.[stack].children?.layers.children ?? {}).flatMap((layer) =>
        kinds.flatMap((kind) => Array.from({ length: heads }, (_, head) =>
          option(`${stack}.layers.${layer}.${kind}_attention.${head}`,
            text.off.head(stack, Number(layer), kind === "cross", head))))));
    this.compare.append(option("", text.nothing), option(BY_SENTENCE, text.sentence), ...(/** @type {const} */ (["mask", "scale", "positions"]))
      .map((name) => option(name, text.off[name])), el("optgroup", { label: text.heads }, ...all));
    this.compare.value = this.address.has("with") ? BY_SENTENCE : this.address.get("off") ?? "";
    if (this.compare.selectedIndex < 0) this.compare.value = "";
  }

  // The run

  /** Runs the sentence in the field, and keeps the place in the run. */
  async translate() {
    try {
      const input = this.read(this.files.translator, this.field.input.value, this.forced.value, this.status);
      if (!input) return;
      this.input = input;
      if (!this.stops.length) await nextTask();
      this.runAgain();
    } catch (problem) {
      fail(this.status, problem, () => this.translate());
    }
  }

  /**
   * The ids and tokens of a sentence and its translation, shown in `status`; undefined after an error.
   * @param {Translator} translator
   * @param {string} sentence
   * @param {string} translation "" for the model's own
   * @param {HTMLElement} status
   * @returns {Input | undefined}
   */
  read(translator, sentence, translation, status) {
    const words = translator.words(sentence.replaceAll("’", "'").replaceAll("？", "?"));
    const forced = [...translation.replace(/\s/g, "")];
    const error = this.sentenceError(translator, words, forced);
    status.textContent = error;
    if (error) return undefined;
    const src = /** @type {number[]} */ (translator.encode(words));
    const written = forced.length ? forced : greedy(translator, src).map(({ token }) => token);
    if (written[written.length - 1] === "<eos>") written.pop();
    const tgt = [BOS, ...written.map((token) => translator.target.tokens.indexOf(token))];
    status.replaceChildren(el("span", { lang: "en" }, words.join(" ")), " → ", el("b", { lang: "zh" }, written.join("")));
    return { src, tgt, tokens: { source: words, target: ["<bos>", ...written] } };
  }

  /**
   * @param {Translator} translator
   * @param {string[]} words
   * @param {string[]} forced
   */
  sentenceError(translator, words, forced) {
    const known = translator.source.tokens.slice(3);
    const most = translator.config.max_len;
    const characters = translator.target.tokens.slice(3);
    if (!words.length) return text.empty;
    if (words.length > most || forced.length >= most) return text.long(most - 1);
    const unknown = words.filter((word) => !known.includes(word)).map((word) => {
      const similar = near(word, known);
      return word + (similar.length ? text.near(similar.join(", ")) : "");
    });
    unknown.push(...forced.filter((token) => !characters.includes(token)));
    return unknown.length ? text.unknown([...new Set(unknown)].slice(0, 5).join(", ")) : "";
  }

  /** Runs the model, and a second time with the change or the sentence to compare with. */
  runAgain() {
    if (!this.input) return;
    const { program, translator, notes } = this.files;
    const { src, tgt, tokens } = this.input;
    const name = this.stops.length ? go.stopName(this.stops, this.at) : this.address.get("at");
    this.stops = runModel(program, translator, src, tgt).stops;
    const without = go.parseSwitch(this.compare.value);
    this.scope.textContent = without ? text.scope[typeof without === "object" ? "head" : without] : "";
    this.secondForm.hidden = this.compare.value !== BY_SENTENCE;
    const second = this.secondForm.hidden ? undefined : this.read(translator, this.second.value, "", this.secondStatus);
    const other = without ? this.input : second;
    this.other = other && runModel(program, translator, other.src, other.tgt, { without });
    this.panel.prepare(tokens, translator.target.tokens, this.symbols, second?.tokens);
    this.code?.setStops(this.stops);
    this.slider.max = String(this.stops.length - 1);
    const found = name ? go.findStop(this.stops, name) : -1;
    if (found < 0) this.takeTour(Number(this.address.get("tour")) || 1);
    else if (this.tour) this.takeTour(this.tour);
    else this.move(found);
    this.address.delete("tour");
    if (!notes.tour.length) this.move(0);
  }

  // Moving

  /** @param {KeyboardEvent} event */
  press(event) {
    const { target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || event.defaultPrevented || !(target instanceof Element)) return;
    if (target.closest("input, select") || (target.closest("canvas") && event.key.length > 1)) return;
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation(); // the theme goes to another page at some letters
    this.act(action);
  }

  /** @param {string} action */
  act(action) {
    const { stops, at, tour } = this;
    if (!stops.length || this.buttons?.[action]?.getAttribute("aria-disabled") === "true") return;
    const forward = action === "step";
    if (action === "tour") return tour ? this.move(at) : this.takeTour(1);
    if (action === "head" || action === "token") return this.panel.next(action);
    if (tour && (forward || action === "back")) return this.takeTour(tour + (forward ? 1 : -1));
    /** @type {Record<string, () => number>} */
    const targets = {
      step: () => at + 1, back: () => at - 1, over: () => go.stepOver(stops, at), out: () => go.stepOut(stops, at),
      layer: () => go.nextLayer(stops, at), first: () => 0, last: () => stops.length - 1,
    };
    return this.move(targets[action]());
  }

  /** @param {number} to a stop; leaves the tour */
  move(to) {
    this.tour = 0;
    this.at = Math.max(0, Math.min(this.stops.length - 1, to));
    this.show();
  }

  /** @param {number} number of a stop of the tour, from 1; past the last one the tour ends */
  takeTour(number) {
    const tour = this.files.notes.tour;
    if (number > tour.length) return this.move(this.at);
    this.tour = Math.max(1, number);
    this.at = Math.max(0, go.findStop(this.stops, tour[this.tour - 1].at));
    return this.show();
  }

  /** @param {string} box of the diagram */
  jump(box) {
    const next = stopOfBox(this.stops, this.at, box);
    if (next < 0) return;
    this.move(next);
    this.panel.reveal();
  }

  // Output

  /** Shows the stop; the focus stays in the widget, if possible at the same place. */
  show() {
    const { root } = this;
    const controls = () => [...this.panel.element.querySelectorAll("button, canvas")];
    const focused = document.activeElement;
    const [inside, place] = [root?.contains(focused), controls().findIndex((each) => each === focused)];
    this.render();
    if (!inside || root?.contains(document.activeElement)) return;
    const next = controls()[place] ?? root;
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  }

  render() {
    const { stops, at } = this;
    const stop = stops[at];
    if (!stop) return;
    const calls = go.callStack(stops, at);
    this.code?.show(stop, calls.map((call) => stops[call].callLine)); // first, while the layout is known
    this.slider.value = String(at);
    const place = text.place(at + 1, stops.length);
    this.slider.setAttribute("aria-valuetext", `${place}, ${stop.function}, ${stop.line}`);
    this.count.textContent = place;
    this.diagram?.mark(boxOf(stops, at));
    this.stack.replaceChildren(...calls.flatMap((call, i) => {
      const { function: name } = stops[call];
      const link = el("button", { type: "button", title: stops[call].path, click: () => this.move(call) }, name);
      return i ? [" › ", link] : [link];
    }), ...(stop.path ? [el("span", {}, layerName(stop.path), stop.path)] : []));
    this.explain();
    this.panel.show(stops, at, this.other?.stops[at]);
    this.showButtons();
    this.live.textContent = `${stop.line}, ${stop.function}: ${this.panel.summary}`;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.writeAddress(), 300);
  }

  /** The text about the stop, after that of the tour. */
  explain() {
    const { functions, tour } = this.files.notes;
    const note = go.textNames(this.stops, this.at).map((name) => functions[name]).find(Boolean);
    const stop = this.tour ? tour[this.tour - 1] : undefined;
    const own = stop ? [el("p", {}, el("b", {}, `${this.tour}. ${stop.title}`)), el("p", {}, stop.text)]
      : note ? [el("p", {}, note.text)] : [];
    const link = note ? [el("p", { class: "debugger__link" }, `${text.read} `,
      el("a", { href: new URL(note.url, DOWNLOADS).href }, note.title))] : [];
    this.explanation.replaceChildren(...own, ...link);
  }

  showButtons() {
    const { tour, stops, at, buttons } = this;
    if (!buttons) return;
    const count = this.files.notes.tour.length;
    buttons.tour.setAttribute("aria-pressed", String(tour > 0));
    buttons.tour.firstChild?.replaceWith(tour ? text.tourAt(tour, count) : text.tour);
    const isLast = at === stops.length - 1;
    const ends = { back: tour ? tour === 1 : !at, step: isLast, over: isLast, out: isLast, layer: go.nextLayer(stops, at) === at };
    // Not disabled, which would take the focus from the button, and the keys with it.
    for (const [name, end] of Object.entries(ends)) buttons[name].setAttribute("aria-disabled", String(end));
  }

  /** The address of this moment. */
  get link() {
    const url = new URL(location.href);
    const { head, source, target } = this.panel.state;
    /** @type {Record<string, string>} */
    const state = {
      s: this.input?.tokens.source.join(" ") ?? "",
      to: this.forced.value,
      at: go.stopName(this.stops, this.at),
      tour: this.tour ? String(this.tour) : "",
      head: head ? String(head) : "",
      source: source ? String(source) : "",
      target: target ? String(target) : "",
      [this.secondForm.hidden ? "off" : "with"]: this.secondForm.hidden ? this.compare.value : this.second.value,
    };
    if (state.s === EXAMPLES[0]) state.s = "";
    if (state.tour) state.at = "";
    url.search = String(new URLSearchParams(Object.entries(state).filter(([, value]) => value)));
    return url;
  }

  writeAddress() {
    const { link } = this;
    history.replaceState(history.state, "", link);
    for (const each of document.querySelectorAll(".md-select__link")) {
      if (each instanceof HTMLAnchorElement) each.search = link.search;
    }
  }

  /** @param {HTMLButtonElement} button */
  async copy(button) {
    await navigator.clipboard.writeText(this.link.href);
    button.textContent = text.copied;
    setTimeout(() => (button.textContent = text.link), 1500);
  }
}
