// @ts-check
/** The live translator: translates a sentence step by step, and shows the attention. */

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
const LAYERS = 2; // of the translator
const HEADS = 4;
const MAX_CHARACTERS = 60; // characters
const MAX_CANDIDATES = 5; // candidates at each step
const MAX_LINK_LENGTH = 300; // characters of a sentence in the address
const MAX_WORD_LENGTH = 40; // characters of a word in a message

/** @param {HTMLElement} element */
export function start(element) {
  new Live(element);
}

/**
 * The attention weights of a token in a layer: of one head, or the mean of all heads.
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
 * The tokens with the largest probabilities, the likeliest first.
 * @param {ArrayLike<number>} probabilities
 * @param {string[]} tokens
 */
export function likeliest(probabilities, tokens) {
  return Array.from(probabilities, (share, i) => ({ token: tokens[i], share }))
    .sort((one, other) => other.share - one.share)
    .slice(0, MAX_CANDIDATES);
}

/** @param {string} word */
const shorten = (word) => (word.length > MAX_WORD_LENGTH ? `${word.slice(0, MAX_WORD_LENGTH)}…` : word);

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
  turn = 0; // number of requests; only the last one is shown
  timer = 0;

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.text = TEXTS[english ? "en" : "zh"];
    this.field = new Field(this.text.list);
    this.field.input.value = EXAMPLES[0];
    this.status = el("div", { id: "translator-output", class: "output", role: "status" });
    this.stage = el("div", { class: "stage" }, ...element.childNodes);
    this.message = el("p", { class: "explanation", role: "status" }, this.text.whole);
    this.bars = el("ol", { class: "bars", "aria-label": this.text.likeliest });
    this.slider = el("input", { type: "range", min: 1, "aria-label": this.text.step });
    this.layer = this.choice(this.text.layer, numbers(LAYERS), LAYERS - 1);
    this.head = this.choice(this.text.head, [this.text.mean, ...numbers(HEADS, 0)], 0);
    this.search = this.choice(this.text.search, [this.text.greedy, this.text.beam], 0);
    const drawn = Array.from(this.stage.querySelectorAll("svg text"), (each) => each.textContent ?? "");
    const words = EXAMPLES[0].split(" ");
    this.setSteps(drawn.length - words.length);
    this.showResult(words, drawn.slice(words.length));
    this.listen();
    const panel = el("div", { class: "panel" }, this.message, this.bars, this.controls());
    element.replaceChildren(this.form(), this.chips(), this.status, this.stage, panel);
    element.classList.add("ready");
    new ResizeObserver(() => this.fit()).observe(this.stage);
    const sentence = new URLSearchParams(location.search).get("s")?.slice(0, MAX_LINK_LENGTH);
    if (sentence) this.take(sentence);
  }

  // Elements

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

  // Actions

  /** @param {string} sentence translated in place of the one in the field */
  take(sentence) {
    this.field.input.value = sentence;
    return this.translate();
  }

  /** Translates the next sentence of the grammar. */
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
   * The model, fetched at the first call; after a failure, shows an error and returns undefined.
   * @param {() => void} again called when the reader tries again
   */
  async ready(again) {
    if (this.model) return this.model;
    const before = [...this.status.childNodes];
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

  /** The vocabulary. */
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

  /** Translates the sentence in the field, and plays the steps unless `play` is false. */
  async translate(play = true) {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    const again = () => this.translate(play);
    const model = await this.ready(again);
    if (!model || turn !== this.turn) return;
    const words = model.words(this.sentence);
    const error = this.sentenceError(words, model.config.max_len);
    this.stage.classList.toggle("past", Boolean(error)); // the picture is of another sentence
    this.keepInAddress();
    if (error) return this.say(...error);
    try {
      await this.write(model, words);
      if (play) this.play();
    } catch (error) {
      this.fail(error, again);
    }
  }

  /** Puts the sentence into the address, for Back, a reload and a link to it. */
  keepInAddress() {
    const url = new URL(location.href);
    url.searchParams.set("s", this.sentence.slice(0, MAX_LINK_LENGTH));
    history.replaceState(history.state, "", url);
  }

  /** The sentence in the field, with the punctuation that the model knows. */
  get sentence() {
    return this.field.input.value.replaceAll("’", "'").replaceAll("？", "?");
  }

  /**
   * @param {Translator} model
   * @param {string[]} words known words
   */
  async write(model, words) {
    const { beam, greedy } = await import("./model.js");
    const find = this.search.value === "1" ? beam : greedy;
    const steps = find(model, model.encode(words));
    this.result = { words, steps };
    this.setSteps(steps.length);
    this.showResult(words, tokensOf(steps));
  }

  /**
   * An error message about the words; undefined if they can be translated.
   * @param {string[]} words
   * @param {number} places
   */
  sentenceError(words, places) {
    if (!words.length) return [this.text.empty];
    if (words.length > places) return [this.text.long(words.length, places)];
    const unknown = [...new Set(words)].filter((word) => !this.known.includes(word));
    return unknown.length ? this.unknownWords(words, unknown) : undefined;
  }

  /**
   * The sentence with unknown words marked, and similar words for the first three of them.
   * @param {string[]} words
   * @param {string[]} unknown
   */
  unknownWords(words, unknown) {
    const marked = words.flatMap((word) => [unknown.includes(word) ? el("mark", {}, shorten(word)) : word, " "]);
    const lines = unknown.slice(0, 3).map((word) => {
      const known = this.known.filter((each) => each !== "?").length;
      const near = this.similarWords(word);
      return el("p", {}, el("b", { lang: "en" }, shorten(word)), ` ${this.text.unknown(known)} `, ...near);
    });
    const more = unknown.length > 3 ? [el("p", {}, this.text.more)] : [];
    return [el("p", { class: "marked", lang: "en" }, ...marked), ...lines, ...more];
  }

  /** @param {string} word */
  similarWords(word) {
    if (/\d/.test(word)) return [this.text.number];
    const matches = near(word, this.known);
    const buttons = matches.map((each) => button(each, () => this.replace(word, each)));
    for (const each of buttons) each.lang = "en";
    return matches.length ? [this.text.near, ...buttons] : [];
  }

  /**
   * Replaces an unknown word, and translates the new sentence.
   * @param {string} word
   * @param {string} other
   */
  replace(word, other) {
    const words = this.model?.words(this.sentence) ?? [];
    this.field.input.focus();
    return this.take(words.map((each) => (each === word ? other : each)).join(" "));
  }

  // Output

  /** @param {(Node | string)[]} content announced by screen readers */
  say(...content) {
    this.status.replaceChildren(...content);
  }

  /**
   * @param {string[]} words
   * @param {string[]} tokens
   */
  showResult(words, tokens) {
    const sentence = words.join(" ");
    const ended = tokens.at(-1) === END;
    const chinese = tokens.slice(0, ended ? -1 : undefined).join("");
    const content = [el("span", { lang: "en" }, sentence), " → ", el("b", { lang: "zh" }, chinese)];
    const expected = this.grammar[sentence];
    const verdict = expected === chinese ? this.text.right : this.text.wrong(expected);
    const note = !ended ? this.text.endless(MAX_CHARACTERS) : expected ? verdict : "";
    this.say(el("p", {}, ...content), ...(note ? [el("p", { class: "note" }, note)] : []));
  }

  /** The current step, from 1; one past the last step is the whole sentence. */
  get at() {
    return Number(this.slider.value);
  }

  /** @param {number} steps */
  setSteps(steps) {
    this.slider.max = String(steps + 1);
    this.show(steps + 1);
  }

  /** Shows the step that the reader selects. @param {number} step */
  async go(step) {
    clearTimeout(this.timer);
    if (!this.result) await this.translate(false);
    this.message.setAttribute("aria-live", "polite");
    this.show(step);
  }

  /** Shows one step after another, and then the whole sentence. */
  play() {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const steps = this.result?.steps.length ?? 0;
    const pause = Math.min(320, 4500 / steps);
    this.message.setAttribute("aria-live", "off"); // the result has already been announced
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
    if (whole) this.message.replaceChildren(this.text.whole);
    else this.showStep(this.result.words, this.result.steps[this.at - 1]);
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

  /** Redraws the picture if the available width has changed. */
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
  showStep(words, step) {
    const looks = Array.from(this.weights(step), (share, i) => ({ word: words[i], share }))
      .filter(({ share }) => share >= 0.05)
      .sort((one, other) => other.share - one.share)
      .slice(0, 3)
      .map(({ word, share }) => this.text.look(word, share));
    const place = this.text.place(this.at, Number(this.slider.max) - 1);
    this.message.replaceChildren(place, el("b", { lang: "zh" }, step.token), this.text.looks(looks));
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

/** @param {number} count @param {number} first */
const numbers = (count, first = 1) =>
  Array.from({ length: count }, (_, i) => String(first + i));

/**
 * @param {string} label
 * @param {(() => void) | undefined} [press] without it, the button submits the form
 * @param {string} [kind]
 */
function button(label, press, kind = "chip") {
  const element = el("button", { type: press ? "button" : "submit", class: kind }, label);
  if (press) element.addEventListener("click", press);
  return element;
}
