// @ts-check
/** The live translator: a sentence becomes Chinese, step by step, with the attention between them. */

import { el, english } from "./common.js";
import { Field, near } from "./translator-field.js";
import { END, TEXTS } from "./translator-texts.js";

/** @import { Step, Translator } from "../../downloads/translator.js" */

const EXAMPLES = [
  "why do we work ?",
  "she bought two cats yesterday",
  "this is the cake that we made",
  "ten thousand and five",
];
const SENTENCES = new URL("../../downloads/sentences.json", import.meta.url);
const LAYERS = 2; // of the translator, and its heads
const HEADS = 4;
const LONGEST = 60; // characters
const SHOWN = 5; // candidates at each step

/** @param {HTMLElement} element */
export function start(element) {
  new Live(element);
}

/**
 * How much a token looks at each word, in a layer: by one head, or the mean of all.
 * @param {Step} step
 * @param {number} layer
 * @param {number | undefined} head
 */
export function attention(step, layer, head) {
  const heads = step.attention[layer];
  if (head !== undefined) return heads[head];
  return heads[0].map((_, word) => heads.reduce((sum, row) => sum + row[word], 0) / heads.length);
}

/**
 * The tokens of the largest probabilities, the likeliest first.
 * @param {ArrayLike<number>} probabilities
 * @param {string[]} tokens
 */
export function likeliest(probabilities, tokens) {
  return Array.from(probabilities, (share, i) => ({ token: tokens[i], share }))
    .sort((one, other) => other.share - one.share)
    .slice(0, SHOWN);
}

class Live {
  /** @type {Translator | undefined} */
  model;
  /** @type {typeof import("./translator-figure.js") | undefined} */
  figure;
  /** @type {{words: string[], steps: Step[]} | undefined} */
  result;
  /** @type {Record<string, string>} sentences of the grammar with their translations */
  grammar = {};
  room = 0; // for the picture, in pixels
  turn = 0; // counts what was asked for, since only the last counts
  timer = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.text = TEXTS[english ? "en" : "zh"];
    this.field = new Field(this.text.list);
    this.field.input.value = EXAMPLES[0];
    this.said = el("div", { id: "translator-said", class: "said", role: "status" });
    this.stage = el("div", { class: "stage" }, ...element.childNodes);
    this.told = el("p", { class: "told", role: "status" }, this.text.whole);
    this.bars = el("ol", { class: "bars", "aria-label": this.text.likeliest });
    this.slider = el("input", { type: "range", min: 1, "aria-label": this.text.step });
    this.layer = this.choice(this.text.layer, numbers(LAYERS), LAYERS - 1);
    this.head = this.choice(this.text.head, [this.text.mean, ...numbers(HEADS)], 0);
    this.search = this.choice(this.text.search, [this.text.greedy, this.text.beam], 0);
    const drawn = Array.from(this.stage.querySelectorAll("svg text"), (each) => each.textContent ?? "");
    const words = EXAMPLES[0].split(" ");
    this.setSteps(drawn.length - words.length);
    this.tellResult(words, drawn.slice(words.length));
    this.listen();
    const panel = el("div", { class: "panel" }, this.told, this.bars, this.controls());
    element.replaceChildren(this.form(), this.chips(), this.said, this.stage, panel);
    element.classList.add("ready");
    new ResizeObserver(() => this.fit()).observe(this.stage);
  }

  // What it is made of

  form() {
    const label = el("label", { for: "translator-field" }, this.text.label);
    const form = el("form", {}, label, this.field.element, button(this.text.go, undefined, "go"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.field.close();
      this.translate();
    });
    form.addEventListener("focusin", () => this.ready(() => this.translate()));
    return form;
  }

  chips() {
    const examples = EXAMPLES.map((sentence) => {
      const chip = button(sentence, () => this.take(sentence));
      chip.lang = "en";
      return chip;
    });
    const another = button(this.text.another, () => this.another(), "another");
    const group = { class: "chips", role: "group", "aria-label": this.text.examples };
    return el("div", group, ...examples, another);
  }

  controls() {
    const back = button("‹", () => this.go(this.at - 1), "step");
    const forward = button("›", () => this.go(this.at + 1), "step");
    back.setAttribute("aria-label", this.text.back);
    forward.setAttribute("aria-label", this.text.forward);
    const steps = el("div", { class: "steps" }, back, this.slider, forward);
    const labels = [this.layer, this.head, this.search].map((choice) => choice.parentElement ?? choice);
    return el("div", { class: "controls" }, steps, el("div", { class: "choices" }, ...labels));
  }

  /**
   * @param {string} label
   * @param {string[]} names
   * @param {number} chosen
   */
  choice(label, names, chosen) {
    const options = names.map((name, i) => el("option", { value: i, selected: i === chosen }, name));
    const select = el("select", {}, ...options);
    el("label", {}, el("span", {}, label), select);
    return select;
  }

  listen() {
    this.slider.addEventListener("input", () => this.go(this.at));
    for (const choice of [this.layer, this.head]) {
      choice.addEventListener("change", () => this.go(this.at));
    }
    this.search.addEventListener("change", () => this.translate());
  }

  // What it does

  /** @param {string} sentence one that is not typed */
  take(sentence) {
    this.field.input.value = sentence;
    return this.translate();
  }

  /** A sentence of the grammar that has not been shown yet. */
  async another() {
    try {
      if (!Object.keys(this.grammar).length) this.grammar = await (await fetch(SENTENCES)).json();
    } catch (error) {
      return this.fail(error, () => this.another());
    }
    const sentences = Object.keys(this.grammar);
    const next = sentences.indexOf(this.field.input.value) + 1 || Math.floor(Math.random() * sentences.length);
    return this.take(sentences[next % sentences.length]);
  }

  /**
   * The model, fetched at the first call with what draws its answers; undefined if it can't be had, which is told.
   * @param {() => void} again what to do when the reader tries again
   */
  async ready(again) {
    if (this.model) return this.model;
    const before = [...this.said.childNodes];
    const bar = el("progress", { max: 1, "aria-label": this.text.loading });
    this.say(`${this.text.loading} `, bar);
    try {
      this.figure = await import("./translator-figure.js");
      const { load } = await import("./model.js");
      this.model = await load((share) => (bar.value = share));
    } catch (error) {
      this.fail(error, again);
      return undefined;
    }
    this.field.known = this.known;
    if (bar.isConnected) this.say(...before);
    return this.model;
  }

  /** The words that it knows. */
  get known() {
    return this.model?.source.tokens.slice(3) ?? []; // without <pad>, <bos>, <eos>
  }

  /**
   * @param {unknown} error
   * @param {() => void} again
   */
  fail(error, again) {
    const why = el("p", { class: "note", lang: "en" }, String(error));
    this.say(`${this.text.failed} `, button(this.text.again, again), why);
  }

  /** Translates what stands in the field, and writes it character by character, unless told. */
  async translate(play = true) {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    const again = () => this.translate(play);
    const model = await this.ready(again);
    if (!model || turn !== this.turn) return;
    const words = model.words(this.sentence);
    const fault = this.fault(words, model.config.max_len);
    if (fault) return this.say(...fault);
    try {
      await this.write(model, words);
      if (play) this.play();
    } catch (error) {
      this.fail(error, again);
    }
  }

  /** What stands in the field, with the marks that the model knows. */
  get sentence() {
    return this.field.input.value.replaceAll("’", "'").replaceAll("？", "?");
  }

  /**
   * @param {Translator} model
   * @param {string[]} words all of which it knows
   */
  async write(model, words) {
    const { beam, greedy } = await import("./model.js");
    const find = this.search.value === "1" ? beam : greedy;
    const steps = find(model, model.encode(words));
    this.result = { words, steps };
    this.setSteps(steps.length);
    this.tellResult(words, tokensOf(steps));
  }

  /**
   * What is wrong with the words, as something to say; undefined if nothing is.
   * @param {string[]} words
   * @param {number} places
   */
  fault(words, places) {
    if (!words.length) return [this.text.empty];
    if (words.length > places) return [this.text.long(words.length, places)];
    const unknown = [...new Set(words)].filter((word) => !this.known.includes(word));
    return unknown.length ? this.unknown(words, unknown) : undefined;
  }

  /**
   * The sentence with what is not known marked in it, and for some of that what is near.
   * @param {string[]} words
   * @param {string[]} unknown
   */
  unknown(words, unknown) {
    const marked = words.flatMap((word) => [unknown.includes(word) ? el("mark", {}, word) : word, " "]);
    const lines = unknown.slice(0, 3).map((word) => {
      const known = this.known.filter((each) => each !== "?").length;
      const near = this.nearOnes(word);
      return el("p", {}, el("b", { lang: "en" }, word), ` ${this.text.unknown(known)} `, ...near);
    });
    const more = unknown.length > 3 ? [el("p", {}, this.text.more)] : [];
    return [el("p", { class: "marked", lang: "en" }, ...marked), ...lines, ...more];
  }

  /** @param {string} word */
  nearOnes(word) {
    if (/\d/.test(word)) return [this.text.number];
    const found = near(word, this.known);
    const buttons = found.map((each) => button(each, () => this.replace(word, each)));
    for (const each of buttons) each.lang = "en";
    return found.length ? [this.text.near, ...buttons] : [];
  }

  /**
   * Another word for an unknown one, and what comes of it.
   * @param {string} word
   * @param {string} other
   */
  replace(word, other) {
    const words = this.model?.words(this.sentence) ?? [];
    this.field.input.focus();
    return this.take(words.map((each) => (each === word ? other : each)).join(" "));
  }

  // What it shows

  /** @param {(Node | string)[]} content for eyes and for screen readers */
  say(...content) {
    this.said.replaceChildren(...content);
  }

  /**
   * @param {string[]} words
   * @param {string[]} tokens
   */
  tellResult(words, tokens) {
    const sentence = words.join(" ");
    const ended = tokens.at(-1) === END;
    const chinese = tokens.slice(0, ended ? -1 : undefined).join("");
    const content = [el("span", { lang: "en" }, sentence), " → ", el("b", { lang: "zh" }, chinese)];
    const wanted = this.grammar[sentence];
    const judged = wanted === chinese ? this.text.right : this.text.wrong(wanted);
    const note = !ended ? this.text.endless(LONGEST) : wanted ? judged : "";
    this.say(el("p", {}, ...content), ...(note ? [el("p", { class: "note" }, note)] : []));
  }

  /** The step that is shown, from 1; one more than there are steps is the whole sentence. */
  get at() {
    return Number(this.slider.value);
  }

  /** @param {number} steps */
  setSteps(steps) {
    this.slider.max = String(steps + 1);
    this.show(steps + 1);
  }

  /** Shows a step because the reader wants it. @param {number} step */
  async go(step) {
    clearTimeout(this.timer);
    if (!this.result) await this.translate(false);
    this.told.setAttribute("aria-live", "polite");
    this.show(step);
  }

  /** One step after another, and then the whole sentence. */
  play() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const steps = this.result?.steps.length ?? 0;
    const pause = Math.min(320, 4500 / steps);
    this.told.setAttribute("aria-live", "off"); // the result has been told
    /** @param {number} step */
    const next = (step) => {
      if (!this.element.isConnected) return;
      this.show(step);
      if (step <= steps) this.timer = setTimeout(next, pause, step + 1);
    };
    next(1);
  }

  /** @param {number} step */
  show(step) {
    this.slider.value = String(step);
    const steps = Number(this.slider.max) - 1;
    const whole = this.at > steps;
    this.slider.setAttribute("aria-valuetext", whole ? this.text.all : this.text.place(this.at, steps));
    if (!this.result) return;
    this.draw();
    if (whole) this.told.replaceChildren(this.text.whole);
    else this.tellStep(this.result.words, this.result.steps[this.at - 1]);
    this.bars.replaceChildren(...(whole ? [] : this.candidates(this.result.steps[this.at - 1])));
  }

  draw() {
    if (!this.result || !this.figure) return;
    const { words, steps } = this.result;
    const { draw, layout } = this.figure;
    const tokens = tokensOf(steps);
    const weights = steps.map((step) => this.weights(step));
    const chosen = this.at > steps.length ? undefined : this.at - 1;
    const places = layout(words, tokens, this.stage.clientWidth);
    const picture = draw(places, words, tokens, weights, chosen, (token) => this.go(token + 1));
    picture.setAttribute("aria-label", this.text.picture);
    this.stage.replaceChildren(picture);
  }

  /** The picture again if the room for it is another. */
  fit() {
    if (this.stage.clientWidth !== this.room) this.draw();
    this.room = this.stage.clientWidth;
  }

  /** @param {Step} step */
  weights(step) {
    const head = Number(this.head.value);
    return attention(step, Number(this.layer.value), head ? head - 1 : undefined);
  }

  /**
   * @param {string[]} words
   * @param {Step} step
   */
  tellStep(words, step) {
    const looks = Array.from(this.weights(step), (share, i) => ({ word: words[i], share }))
      .filter(({ share }) => share >= 0.05)
      .sort((one, other) => other.share - one.share)
      .slice(0, 3)
      .map(({ word, share }) => this.text.look(word, share));
    const place = this.text.place(this.at, Number(this.slider.max) - 1);
    this.told.replaceChildren(place, el("b", { lang: "zh" }, step.token), this.text.looks(looks));
  }

  /** @param {Step} step */
  candidates(step) {
    return likeliest(step.probabilities, this.model?.target.tokens ?? []).map(({ token, share }) => {
      const bar = el("span", { class: "bar" });
      bar.style.setProperty("--share", String(share));
      const taken = token === step.token ? "taken" : "";
      const name = el("span", { lang: "zh" }, token);
      return el("li", { class: taken }, name, bar, el("span", {}, this.text.percent(share)));
    });
  }
}

/** @param {Step[]} steps */
const tokensOf = (steps) => steps.map(({ token }) => token);

/** @param {number} count */
const numbers = (count) => Array.from({ length: count }, (_, i) => String(i + 1));

/**
 * @param {string} label
 * @param {(() => void) | undefined} [press] none: it sends the form
 * @param {string} [kind]
 */
function button(label, press, kind = "chip") {
  const made = el("button", { type: press ? "button" : "submit", class: kind }, label);
  if (press) made.addEventListener("click", press);
  return made;
}
