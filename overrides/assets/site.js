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
 * Renders what is far below the window a few blocks at a time, once the reader begins to scroll.
 * A click on a link renders all of it: an anchor, and the way back from another page, need exact
 * heights.
 */
function renderProgressively() {
  const blocks = [...document.querySelectorAll(".progressive .md-content__inner > :nth-child(n + 30)")];
  const whenIdle = window.requestIdleCallback ?? setTimeout; // Safari has no idle callbacks

  /** @param {number} limit the number of elements after which to stop */
  function render(limit) {
    for (let elements = 0; blocks.length && elements < limit; ) {
      const block = /** @type {HTMLElement} */ (blocks.shift());
      block.style.contentVisibility = "visible";
      elements += 1 + block.getElementsByTagName("*").length;
    }
  }

  function renderSome() {
    render(200);
    if (blocks.length) whenIdle(renderSome);
  }

  /** @param {Event} event */
  function renderAll(event) {
    if (event.target instanceof Element && event.target.closest("a[href]")) render(Infinity);
  }

  document.addEventListener("scroll", () => whenIdle(renderSome), { once: true });
  document.addEventListener("click", renderAll, { capture: true });
}

document$.subscribe(() => {
  renderProgressively();
  document.querySelectorAll("[data-widget]").forEach((element) => widgets.observe(element));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => tables.observe(table));
});
