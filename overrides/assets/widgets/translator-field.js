// @ts-check
/** Helps with words: completes them from the vocabulary, and finds similar ones. */

import { el } from "./common.js";

const MAX_COMPLETIONS = 6;

/**
 * The known words that complete the text before the cursor.
 * @param {string} before
 * @param {string[]} known
 */
function completions(before, known) {
  const prefix = lastWord(before);
  if (!prefix) return [];
  return known.filter((word) => word.startsWith(prefix) && word !== prefix).slice(0, MAX_COMPLETIONS);
}

/** @param {string} text */
const lastWord = (text) => /[a-z']*$/.exec(text.toLowerCase().replace("’", "'"))?.[0] ?? "";

/**
 * Up to four known words that are similar to an unknown one; at equal distance, those with the same
 * first letter come first.
 * @param {string} word
 * @param {string[]} known
 */
export function near(word, known) {
  const most = Math.min(2, Math.max(1, Math.floor(word.length / 2)));
  return known
    .filter((each) => /^[a-z]/.test(each) && Math.abs(each.length - word.length) <= most)
    .map((each) => ({ each, far: distance(word, each), alike: Number(each[0] === word[0]) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far || other.alike - one.alike)
    .slice(0, 4)
    .map(({ each }) => each);
}

/**
 * How many letters to insert, remove or replace to make one word the other (Levenshtein).
 * @param {string} one
 * @param {string} other
 */
export function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1] + Number(one[i - 1] !== other[j - 1]);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[other.length];
}

/** A text field that completes the word before the cursor, by keyboard, mouse or touch. */
export class Field {
  /** @type {string[]} */
  known = [];
  /** @type {HTMLElement[]} */
  options = [];
  active = -1;

  /** @param {string} label the name of the list of words */
  constructor(label) {
    this.list = el("ul", { id: "translator-list", role: "listbox", "aria-label": label, hidden: true });
    this.input = el("input", {
      id: "translator-field",
      type: "text",
      role: "combobox",
      lang: "en",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "translator-list",
      "aria-describedby": "translator-output",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      enterkeyhint: "go",
    });
    this.input.addEventListener("input", () => this.suggest());
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.input.addEventListener("blur", () => this.close());
    // A tap on a word must not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.element = el("div", { class: "field" }, this.input, this.list);
  }

  get before() {
    return this.input.value.slice(0, this.input.selectionStart ?? undefined);
  }

  suggest() {
    const matches = completions(this.before, this.known);
    this.active = -1;
    this.options = matches.map((word, i) => this.option(word, i));
    this.list.replaceChildren(...this.options);
    this.list.hidden = !matches.length;
    this.input.setAttribute("aria-expanded", String(matches.length > 0));
    this.input.removeAttribute("aria-activedescendant");
  }

  /**
   * @param {string} word
   * @param {number} i
   */
  option(word, i) {
    const attributes = { id: `translator-word-${i}`, role: "option", "aria-selected": "false" };
    const item = el("li", { ...attributes, lang: "en" }, word);
    item.addEventListener("click", () => this.take(i));
    return item;
  }

  close() {
    this.list.hidden = true;
    this.options = [];
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.isComposing) return;
    const { length } = this.options;
    if (event.key === "Escape" && length) this.close();
    else if (event.key === "Enter" && this.active >= 0) this.take(this.active);
    else if (event.key === "ArrowDown" && length) this.mark((this.active + 1) % length);
    else if (event.key === "ArrowUp" && length) this.mark((this.active < 1 ? length : this.active) - 1);
    else return;
    event.preventDefault();
  }

  /** @param {number} i */
  mark(i) {
    this.options[this.active]?.setAttribute("aria-selected", "false");
    this.active = i;
    this.options[i].setAttribute("aria-selected", "true");
    this.input.setAttribute("aria-activedescendant", this.options[i].id);
  }

  /** @param {number} i the suggestion that replaces the word before the cursor */
  take(i) {
    const word = this.options[i].textContent ?? "";
    const start = this.before.length - lastWord(this.before).length;
    const after = this.input.value.slice(this.before.length).replace(/^[a-z']+/i, "");
    this.input.value = `${this.input.value.slice(0, start)}${word} ${after.trimStart()}`;
    this.input.setSelectionRange(start + word.length + 1, start + word.length + 1);
    this.close();
  }
}
