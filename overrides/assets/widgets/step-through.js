// @ts-check
/** The start of the page Step through: its debugger and the model are fetched at the first action. */

import { el, english } from "./common.js";

const TEXTS = {
  en: {
    start: "Start (downloads 1.3 MB)", // the debugger, the model and its program; a test adds them up
    loading: "Fetching the model …",
    failed: "The model could not be fetched or run.",
    again: "Try again",
  },
  zh: {
    start: "开始（下载 1.3 MB）",
    loading: "正在加载模型……",
    failed: "模型加载失败，或者运行出错。",
    again: "再试一次",
  },
};
const STATE = /[?&](s|to|at|tour|head|source|target|off|with)=/; // in the address
const START_KEYS = ["ArrowRight", "Enter"];
const text = english ? TEXTS.en : TEXTS.zh;

/** @param {HTMLElement} element contains the static figures, which the debugger replaces */
export function start(element) {
  const status = el("p", { id: "translator-output", class: "debugger__status", role: "status" });
  const load = async () => {
    const progress = el("progress", { max: 1, "aria-label": text.loading });
    status.replaceChildren(`${text.loading} `, progress);
    element.classList.remove("failed");
    try {
      const { open } = await import("./debugger.js");
      await open(element, status, (share) => (progress.value = share));
    } catch (error) {
      element.classList.add("failed"); // the static pictures
      fail(status, error, begin);
    }
  };
  const begin = async () => {
    document.removeEventListener("keydown", press);
    bar.replaceWith(status);
    await load();
    // The controls to the top of the window, so that the first tensors are in it.
    element.querySelector(".debugger__main")?.scrollIntoView({ behavior: "instant" });
    if (document.activeElement !== document.body) return;
    const step = element.querySelector("[data-action=step]");
    if (step instanceof HTMLElement) step.focus({ preventScroll: true }); // for the next →
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.target !== document.body || !START_KEYS.includes(event.key)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    begin();
  };
  const button = el("button", { type: "button", class: "md-button md-button--primary", click: begin }, text.start);
  const bar = el("p", { class: "debugger__start" }, button);
  const hasState = STATE.test(location.search);
  element.prepend(hasState ? status : bar);
  if (hasState) load();
  else document.addEventListener("keydown", press);
}

/**
 * Shows an error, and a button for another try.
 * @param {HTMLElement} status
 * @param {unknown} error
 * @param {() => void} again
 */
export function fail(status, error, again) {
  const button = el("button", { type: "button", click: again }, text.again);
  status.replaceChildren(`${text.failed} `, button, " ", el("span", { lang: "en" }, String(error)));
}
