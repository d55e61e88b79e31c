// @ts-check
"use strict";

/**
 * The heading that the reader has scrolled to; none at the top of a page.
 * @returns {string} its id
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
 * Leads the language switch to the same heading.
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
 * Lets the copy button of code with notes give the code without their marks, or what has
 * become of these.
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

/** Names, for screen readers, what Material adds without a name. */
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

/** Lets the keyboard scroll tables; measured by an observer, which makes nobody wait for it. */
const tables = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
  }
});

/**
 * Brings to life what a page has to touch, when it comes near the window: each element names its
 * module. What stands in the element serves until then.
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
 * Renders what is far below the window a few blocks at a time, once the reader begins to scroll;
 * all of it before a link within the page is followed, so that the link leads to the right place.
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
    if (event.target instanceof Element && event.target.closest('a[href*="#"]')) render(Infinity);
  }

  document.addEventListener("scroll", () => whenIdle(renderSome), { once: true });
  document.addEventListener("click", renderAll, { capture: true });
}

document$.subscribe(() => {
  renderProgressively();
  document.querySelectorAll("[data-widget]").forEach((element) => widgets.observe(element));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => tables.observe(table));
});
