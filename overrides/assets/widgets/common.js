// @ts-check
/** Shared by the widgets: elements, SVG, controls. */

export const english = document.documentElement.lang === "en";

/** @typedef {Record<string, string | number | boolean | ((event: any) => void)>} Attributes */

/**
 * Sets attributes and appends children. A boolean toggles an attribute without a value; a function
 * is an event listener. Strings are added as text, never as HTML.
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
function setUp(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Creates an HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 */
export function el(tag, attributes = {}, ...children) {
  return setUp(document.createElement(tag), attributes, children);
}

/**
 * Creates an SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...(Node | string)} children
 */
export function svg(tag, attributes = {}, ...children) {
  return setUp(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * A slider with its name and its value; `move` is called on every change.
 * @param {string} name
 * @param {{min: number, max: number, value: number}} range
 * @param {(value: number) => void} move
 */
export function slider(name, range, move) {
  const output = el("b", { "aria-hidden": "true" }, String(range.value));
  const input = el("input", { type: "range", ...range });
  const set = () => (output.textContent = input.value);
  input.addEventListener("input", () => (set(), move(input.valueAsNumber)));
  const label = el("label", { class: "control" }, el("span", {}, name), input, output);
  return { label, input, set };
}

/**
 * A drop-down list; `choose` is called with the selected value.
 * @param {string} name
 * @param {[value: string | number, text: string][]} options
 * @param {string | number} value
 * @param {(value: string) => void} choose
 */
export function choice(name, options, value, choose) {
  const items = options.map(([value, text]) => el("option", { value }, text));
  const select = el("select", { change: () => choose(select.value) }, ...items);
  select.value = String(value);
  const label = el("label", { class: "control" }, el("span", {}, name), select);
  return { label, select };
}

/**
 * Moves the focus through the cells of a table with the arrow keys, and selects radio buttons.
 * @param {HTMLTableElement} table
 */
export function walkByArrows(table) {
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const cell = event.target instanceof Element && event.target.closest("td");
    const row = cell && cell.closest("tr");
    if (!step || !cell || !row) return;
    event.preventDefault(); // by default, all four arrows move along the rows
    const next = table.rows[row.rowIndex + step[0]]?.cells[cell.cellIndex + step[1]];
    if (next?.tagName !== "TD") return;
    const radio = next.querySelector("input");
    (radio ?? next).focus();
    radio?.click();
  });
  return table;
}

/** Row and column offset of each key. @type {Record<string, [number, number] | undefined>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
