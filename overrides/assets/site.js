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

/** Whether the address names something in view that isn't a heading, such as a term of the glossary. */
function showsTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const { top, bottom } = target?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
  return target && !target.matches("h2, h3, h4") && bottom > 0 && top < innerHeight;
}

/**
 * Makes the language switch link to the same heading, or to what the address names.
 * @param {Event} event
 */
function followHeading(event) {
  const link = event.target instanceof Element && event.target.closest(".md-select__link");
  if (link instanceof HTMLAnchorElement) link.hash = showsTarget() ? location.hash : headingInView();
}

for (const type of ["pointerover", "focusin", "click"]) {
  document.addEventListener(type, followHeading, true);
}

/**
 * Highlights the note and the line of code that the pointer or the focus is on.
 * @param {Event} event
 */
function highlightNote({ target }) {
  document.querySelectorAll(".paired").forEach((part) => part.classList.remove("paired"));
  const part = target instanceof Element && target.closest(".noted, .line-note");
  const id = part && (part.id || part.querySelector(".note-link")?.getAttribute("href")?.slice(1));
  if (!id) return;
  document.getElementById(id)?.classList.add("paired");
  document.querySelector(`[href="#${id}"]`)?.parentElement?.classList.add("paired");
}

/**
 * Folds all notes on lines of code, or shows them again, on this page and on those opened later.
 * A number shows them, and the page scrolls only to a note that is out of sight.
 * @param {Event} event
 */
function foldNotes(event) {
  const control = event.target instanceof Element && event.target.closest(".notes-button, .note-link");
  if (!control) return;
  const { top } = control.getBoundingClientRect();
  const isButton = control.matches(".notes-button");
  const folded = document.documentElement.classList.toggle("notes-folded", isButton ? undefined : false);
  markFolded();
  __md_set("__notes_folded", folded);
  scrollBy(0, control.getBoundingClientRect().top - top);
  const note = document.querySelector(control.getAttribute("href") ?? ":root")?.getBoundingClientRect();
  if (note && note.top > 60 && note.bottom < innerHeight) event.preventDefault();
}

function markFolded() {
  const folded = document.documentElement.classList.contains("notes-folded");
  for (const button of document.querySelectorAll(".notes-button")) {
    button.setAttribute("aria-expanded", String(!folded));
  }
}

/** Shows folded notes if the address leads to something in them, such as the mark of a footnote. */
function showTargetNotes() {
  const target = document.querySelector(".notes-folded .annotated > ol :target");
  if (!target) return;
  document.documentElement.classList.remove("notes-folded");
  markFolded();
  target.scrollIntoView();
}

markFolded();
document.addEventListener("click", foldNotes);
for (const type of ["load", "hashchange"]) addEventListener(type, showTargetNotes);
for (const type of ["pointerover", "focusin"]) document.addEventListener(type, highlightNote);

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
  for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
    nav.setAttribute("aria-label", `${nav.querySelector("button")?.title} ${++named}`);
  }
}

let named = 0;
new MutationObserver(giveNames).observe(document.body, { childList: true, subtree: true });

/**
 * Makes a table or code focusable if it is wide, so the keyboard can scroll it.
 * @param {Element} target
 */
function makeFocusable(target) {
  if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
}

/** An observer forces no layout. */
const scrollers = new ResizeObserver((entries) => entries.forEach(({ target }) => makeFocusable(target)));

// Code out of view has no width until it is laid out, and keeps its size then.
document.addEventListener("contentvisibilityautostatechange", ({ target }) => {
  if (target instanceof HTMLElement && target.matches("code")) requestAnimationFrame(() => makeFocusable(target));
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

/** Marks the widgets that are where the button back to the top is shown, in the upper part of the window. */
const underTop = new IntersectionObserver(
  (entries) => entries.forEach(({ target, isIntersecting }) => target.classList.toggle("under-top", isIntersecting)),
  { rootMargin: "0px 0px -70%" },
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
  document.querySelectorAll("[data-widget]").forEach((element) => [widgets, underTop].forEach((each) => each.observe(element)));
  document.querySelectorAll(".md-typeset__scrollwrap, pre > code").forEach((each) => scrollers.observe(each));
});
