// @ts-check
"use strict";

/**
 * Returns the id of the heading that the reader has scrolled to, "" at the top of a page.
 * @returns {string}
 */
function headingInView() {
  let id = "";
  for (const heading of document.querySelectorAll(".md-content :is(h2, h3, h4)[id]")) {
    if (heading.getBoundingClientRect().top > 240) break;
    if (heading.checkVisibility()) id = heading.id;
  }
  return id;
}

/**
 * Makes the language switch link to the same heading.
 * @param {Event} event
 */
function followHeading(event) {
  const link = event.target instanceof Element && event.target.closest(".md-select__link");
  if (link instanceof HTMLAnchorElement) link.hash = headingInView();
}

for (const type of ["pointerover", "focusin", "click"]) {
  document.addEventListener(type, followHeading, true);
}

/**
 * Makes the copy button of annotated code copy the code without annotation marks.
 * @param {Event} event
 */
function copyCodeAlone(event) {
  const button = event.target instanceof Element && event.target.closest("[data-clipboard-target]");
  const code = button && button.closest(".annotate")?.querySelector("code");
  if (!code) return;
  const copy = /** @type {Element} */ (code.cloneNode(true));
  for (const note of copy.querySelectorAll(".md-annotation")) note.remove();
  const text = (copy.textContent ?? "").replace(/ *# \(\d+\)!$/gm, "").replace(/( # .*) \(\d+\)$/gm, "$1");
  code.dataset.copy = text.replace(/ +$/gm, "");
}

document.addEventListener("click", copyCodeAlone, true);

/**
 * Gives each number a tooltip with the file that computed it, before the theme sets up tooltips.
 * The Tab key stops once at each file that a paragraph or a table links to.
 */
function nameSources() {
  const english = document.documentElement.lang === "en";
  const [source, check] = english ? ["Source: ", "By hand, checked by "] : ["来源：", "手算，由测试验证："];
  /** @type {Map<Element | null, Set<string>>} */
  const files = new Map();
  for (const link of document.querySelectorAll("a.number")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    const file = link.pathname.replace(/.*?\/blob\/main\//, "");
    const block = link.closest("table, p, li");
    const others = files.get(block) ?? new Set();
    if (others.has(file)) link.tabIndex = -1;
    files.set(block, others.add(file));
    link.title = (file.startsWith("tests/") ? check : source) + file;
  }
}

nameSources();

/** @type {Element | null} */
let tapped = null;

/**
 * Notes which number a finger touches before its tooltip is shown. A link has no title while its
 * tooltip is shown, and the theme may show it before the browser's click event.
 * @param {PointerEvent} event
 */
function noteTouch({ target, pointerType }) {
  tapped = pointerType === "touch" && target instanceof Element ? target.closest("a.number[title]") : null;
}

/**
 * Makes the first tap on a number show its tooltip, and the second one open the file.
 * @param {MouseEvent} event
 */
function showSourceFirst(event) {
  if (tapped && event.target instanceof Node && tapped.contains(event.target)) event.preventDefault();
  tapped = null;
}

document.addEventListener("pointerdown", noteTouch);
document.addEventListener("click", showSourceFirst);

/** Adds accessible names to elements that Material's script adds without one. */
function giveNames() {
  const english = document.documentElement.lang === "en";
  for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
    nav.setAttribute("aria-label", `${nav.querySelector("button")?.title} ${++named}`);
  }
  for (const link of document.querySelectorAll("a.md-annotation__index:not([aria-label])")) {
    const number = link.querySelector("span")?.dataset.mdAnnotationId;
    link.setAttribute("aria-label", `${english ? "Note" : "注释"} ${number}`);
  }
}

let named = 0;
new MutationObserver(giveNames).observe(document.body, { childList: true, subtree: true });

/** Makes wide tables focusable, so the keyboard can scroll them; an observer forces no layout. */
const tables = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
  }
});

/**
 * Starts a widget when it comes near the window; its element names its module. The element's static
 * content is shown until then.
 */
const widgets = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting || !(target instanceof HTMLElement)) continue;
      widgets.unobserve(target);
      import(`./widgets/${target.dataset.widget}.js`).then((module) => {
        module.start(target);
        target.classList.add("alive");
      });
    }
  },
  { rootMargin: "100%" },
);

/**
 * Renders the whole page, of which only the first view is rendered while it loads: the reader
 * scrolls, or follows a link and needs exact heights at the anchor or after coming back. What the
 * reader sees keeps its position; not every browser has scroll anchoring, and none before a frame.
 * @param {Event} event
 */
function renderRest({ target }) {
  const page = document.documentElement;
  const link = target instanceof Element && target.closest("a");
  if (!page.classList.contains("first-view") || !(link || target === document)) return;
  const seen = link || document.elementFromPoint(innerWidth / 2, innerHeight / 2) || page;
  const { top } = seen.getBoundingClientRect();
  page.classList.remove("first-view");
  scrollBy(0, seen.getBoundingClientRect().top - top);
}

/** Renders the rest of a loaded page in short tasks, from top to bottom. */
function renderInSteps() {
  const rest = ".first-view .md-content__inner > :nth-child(n + 30):not(.rendered)";
  const blocks = [...document.querySelectorAll(rest)];
  for (const block of blocks.slice(0, 4)) block.classList.add("rendered");
  if (blocks.length) whenIdle(renderInSteps);
  else document.documentElement.classList.remove("first-view");
}

const whenIdle = window.requestIdleCallback ?? setTimeout; // Safari has no requestIdleCallback
addEventListener("load", () => whenIdle(renderInSteps));
document.addEventListener("scroll", renderRest);
document.addEventListener("click", renderRest, true);

document$.subscribe(() => {
  document.querySelectorAll("[data-widget]").forEach((element) => widgets.observe(element));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => tables.observe(table));
});
