// @ts-check
/** By hand: change the sentence or a weight, and the tables of the page are computed again. */

import { el, english } from "./common.js";
import { translate } from "./pencil-model.js";

/** @import { Pencil } from "./pencil-model.js" */

const LONGEST = 6; // words of a sentence
const LIMIT = 99; // largest absolute value of a weight

const texts = {
  en: {
    change: "Change",
    sentence: "Sentence",
    exact: "Exact numbers, not rounded to two decimals as on paper",
    reset: "Reset",
    hint: `Every weight can be changed in its table: ↑ and ↓ change it by 1, ← and → go to the next weight, and Esc
      restores it. Marked numbers differ from the chapter’s. Crossed-out arithmetic uses the chapter’s numbers.`,
    changed: "Changed results: ",
  },
  zh: {
    change: "修改",
    sentence: "句子",
    exact: "精确计算，不像笔算那样保留两位小数",
    reset: "恢复原样",
    hint: "权重可以直接在表格里修改：↑ 和 ↓ 加减 1，← 和 → 移到相邻的权重，Esc 恢复原值。有标记的数值与书上不同，划掉的算式用的是书上的数值。",
    changed: "有变化的结果数：",
  },
}[english ? "en" : "zh"];

/** @param {string} selector @returns {any[]} elements of the page */
const all = (selector) => [...document.querySelectorAll(selector)];

/** Gives an element so many children, like its last one. @param {Element} parent @param {number} count */
function fit(parent, count) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(parent.lastElementChild?.cloneNode(true) ?? "");
}

/** A number as the page prints it; an exact one has four decimals. @param {number} x @param {boolean} isRounded */
function format(x, isRounded) {
  const digits = Math.abs(x).toFixed(isRounded ? 2 : 4).replace(/\.0+$/, "").replace("Infinity", "∞");
  return x < 0 && digits !== "0" ? `−${digits}` : digits;
}

/** The translation, and each table as texts: a row of heads, then a row for each word.
 * @param {Pencil} pencil @param {string[]} source @param {boolean} isRounded */
function compute(pencil, source, isRounded) {
  const { tables, words } = translate(pencil, source, isRounded);
  const grids = [...tables].map(([name, { rows, columns, values }]) => ({ name, texts: [["", ...columns],
    ...values.map((row, i) => [rows[i], ...row.map((x) => format(x, isRounded))])] }));
  const shares = tables.get("probabilities")?.values.map((row) => Math.max(...row).toFixed(isRounded ? 2 : 4));
  return { words: words.map((word, i) => [word, shares?.[i]]), grids };
}

/** @param {HTMLElement} bar stays in view; the tables can be anywhere on the page */
export async function start(bar) {
  const file = await fetch(new URL("../../downloads/pencil.json", import.meta.url));
  const printed = /** @type {Pencil} */ (await file.json());
  const pencil = structuredClone(printed);
  const original = all("[data-table='src.embedding'] th").map((head) => head.textContent);

  function render() {
    const chosen = choices.map(({ value }) => value).filter(Boolean);
    const source = chosen.length ? chosen : original;
    const { words, grids } = compute(pencil, source, !exact.checked);
    const before = compute(printed, original, !exact.checked).grids;
    let [count, isOutdated] = [0, exact.checked]; // arithmetic is, from the first step with other numbers on
    grids.forEach(({ name, texts: grid }, g) => {
      const differs = grid.map((row, i) => row.map((text, j) => text !== before[g].texts[i]?.[j]));
      count += differs.slice(1).flatMap((row) => row.slice(1)).filter(Boolean).length;
      isOutdated ||= differs.flat().includes(true);
      for (const each of all(`[data-worked="${name}"]`)) each.setAttribute("aria-hidden", String(isOutdated));
      for (const table of all(`table[data-table="${name}"]`)) {
        const first = table.tHead ? 0 : 1; // without columns, there are no heads
        fit(table.tBodies[0], grid.length - 1);
        grid.slice(first).forEach((texts, i) => {
          fit(table.rows[i], texts.length);
          texts.forEach((text, j) => {
            const cell = table.rows[i].cells[j];
            if (text && cell.textContent !== text) cell.textContent = text;
            cell.classList.toggle("changed", differs[i + first][j]);
          });
        });
      }
    });
    for (const { input, row, column, first } of fields) {
      if (input !== document.activeElement) input.value = String(row[column]); // otherwise the reader is typing
      input.parentElement?.classList.toggle("changed", row[column] !== first);
    }
    status.replaceChildren(`${source.join(" ")} → `, ...words.flatMap(([word, share]) =>
      [el("b", { lang: "zh" }, word ?? ""), `\u00a0${share} `]), el("span", {}, count ? texts.changed + count : ""));
  }

  function reset() {
    choices.forEach((select, i) => (select.value = original[i] ?? ""));
    exact.checked = false;
    for (const { row, column, first } of fields) row[column] = first;
    render();
  }

  const fields = all("[data-weights] td").map((cell, i) => {
    const [table, line] = [cell.closest("table"), cell.parentElement.rowIndex];
    const [name, inputs] = [table.dataset.weights, table.getElementsByTagName("input")];
    const isNorm = name.includes("norm"); // its rows are weight and bias; elsewhere the bias is a column
    const path = `${name}.${(isNorm ? line === 1 : cell.matches(".bias")) ? "bias" : "weight"}`;
    const isMatrix = Array.isArray(pencil.weights[path][0]);
    const row = /** @type {number[]} */ (isMatrix ? pencil.weights[path][line] : pencil.weights[path]);
    const column = isMatrix || isNorm ? [...cell.parentElement.querySelectorAll("td")].indexOf(cell) : line;
    const set = (/** @type {number} */ x) => {
      if (Number.isInteger(x) && Math.abs(x) <= LIMIT) row[column] = x;
      input.setAttribute("aria-invalid", String(row[column] !== x));
      render();
    };
    const input = el("input", {
      type: "number", min: -LIMIT, max: LIMIT, "aria-label": path + (isMatrix ? `[${line}]` : "") + `[${column}]`,
      tabindex: inputs.length ? -1 : 0, // Tab goes from table to table
      focus: () => (input.select(), [...inputs].forEach((each) => (each.tabIndex = each === input ? 0 : -1))),
      input: () => set(input.valueAsNumber),
      blur: () => set(row[column]),
      keydown: (event) => {
        if (event.key === "Escape") set(Number((input.value = String(fields[i].first))));
        const next = fields[i + ({ ArrowLeft: -1, ArrowRight: 1 }[String(event.key)] ?? NaN)];
        if (next) event.preventDefault(); // by default, these keys move within the number
        next?.input.focus();
      },
    });
    cell.replaceChildren(input);
    return { input, row, column, first: row[column] };
  });

  const choices = Array.from({ length: LONGEST }, (_, i) => el("select",
    { "aria-label": `${texts.sentence} ${i + 1}`, change: render },
    ...["", ...printed.source.filter((word) => !/</.test(word))].map((value) => el("option", { value }, value || "—"))));
  const exact = el("input", { type: "checkbox", change: render });
  const [status, summary] = [el("p", { role: "status" }), el("summary", {}, texts.change)];
  /** @type {HTMLDetailsElement} */
  const panel = el("details", { keydown: ({ key }) => key === "Escape" && (summary.focus(), (panel.open = false)) },
    summary, el("div", {}, el("fieldset", {}, el("legend", {}, texts.sentence), ...choices),
      el("label", {}, exact, texts.exact), el("button", { type: "button", click: reset }, texts.reset),
      el("p", { class: "quiet" }, texts.hint)));
  bar.replaceChildren(el("div", { class: "live pencil-bar" }, status, panel));
  reset();
}
