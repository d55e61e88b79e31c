// @ts-check
/** The file transformer.py in a box, with the current line marked. */

import { el } from "../common.js";
import { highlight } from "./highlight.js";

/** @import { Stop } from "./run-model.js" */

/**
 * @param {string} code
 * @param {{code: string, runTo: (line: number) => string}} text
 * @param {(line: number) => void} run called with the line that the reader clicks on
 */
export function createCode(code, text, run) {
  const rows = highlight(code).map((parts, i) => {
    const spans = parts.map(([kind, part]) => (kind ? el("span", { class: kind }, part) : part));
    return el("div", { class: "debugger__line" }, el("span", { class: "number" }, String(i + 1)), el("code", {}, ...spans));
  });
  const box = el("div", { class: "debugger__code", role: "region", tabindex: 0, "aria-label": text.code }, ...rows);
  /** @type {HTMLElement[]} */
  let marked = [];

  /** Makes the number of each line that runs a button. @param {Stop[]} stops */
  const setStops = (stops) => {
    for (const line of new Set(stops.map((stop) => stop.line))) {
      const number = rows[line - 1]?.firstElementChild;
      if (!number || number.tagName === "BUTTON") continue;
      const button = el("button", { type: "button", class: "number", tabindex: -1, "aria-label": text.runTo(line),
        title: text.runTo(line), click: () => run(line) }, String(line));
      number.replaceWith(button);
    }
  };

  /**
   * @param {Stop} stop
   * @param {number[]} callers the lines of the calls around it
   */
  const show = ({ line, endLine }, callers) => {
    for (const row of marked) {
      row.classList.remove("now", "caller");
      row.removeAttribute("aria-current");
    }
    const now = rows.slice(line - 1, endLine);
    const calling = callers.filter(Boolean).map((each) => rows[each - 1]);
    for (const row of calling) row.classList.add("caller");
    for (const row of now) row.classList.add("now");
    now[0]?.setAttribute("aria-current", "step");
    marked = [...now, ...calling];
    scrollTo(box, now);
  };
  return { element: box, setStops, show };
}

/**
 * Scrolls the lines of a statement into the middle of their box, unless they are well in view.
 * @param {HTMLElement} box
 * @param {HTMLElement[]} rows
 */
function scrollTo(box, rows) {
  if (!rows.length) return;
  const { offsetTop } = rows[0];
  const room = box.clientHeight - rows.reduce((sum, row) => sum + row.offsetHeight, 0);
  const place = offsetTop - box.scrollTop;
  if (!box.scrollLeft && place > box.clientHeight * 0.2 && place < room * 0.8) return;
  const top = offsetTop - Math.max(0, room) * 0.4;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches || Math.abs(top - box.scrollTop) > 400;
  box.scrollTo({ top, left: 0, behavior: still ? "instant" : "smooth" });
}
