// @ts-check
/** The button that keeps the book for reading offline. The work is done by a service worker, offline.js. */

import { el, english } from "./common.js";

const TEXTS = {
  en: {
    keep: "Keep for offline reading",
    again: "Try again",
    stop: "Stop and remove",
    remove: "Remove it",
    absent: (/** @type {string} */ size) => `Your browser stores ${size} on this device.`,
    keeping: "Fetching",
    part: (/** @type {string} */ done, /** @type {string} */ size) => `${done} of ${size}`,
    kept: (/** @type {string} */ date, /** @type {string} */ version) =>
      `Kept on this device as of ${date}, version ${version}.`,
    network: "The network was lost, so nothing can be read offline yet. What has come won’t be fetched again.",
    room: "There isn’t enough room on this device, so nothing was kept.",
    changed: "The book is being published just now, so nothing can be read offline yet. Try again in a minute.",
  },
  zh: {
    keep: "保存下来，离线阅读",
    again: "再试一次",
    stop: "停下并删除",
    remove: "删除",
    absent: (/** @type {string} */ size) => `浏览器会在这台设备上存 ${size}。`,
    keeping: "正在下载",
    part: (/** @type {string} */ done, /** @type {string} */ size) => `${done} / ${size}`,
    kept: (/** @type {string} */ date, /** @type {string} */ version) =>
      `已存在这台设备上，内容截至 ${date}，版本 ${version}。`,
    network: "网络断了，现在还不能离线阅读。已经下载的不会再下载一遍。",
    room: "这台设备的空间不够，什么都没有保存。",
    changed: "这本书正在发布，现在还不能离线阅读。过一分钟再试一次。",
  },
};

const LANGUAGE = english ? "en" : "zh";
const WORDS = TEXTS[LANGUAGE];
const HOME = new URL("../../", import.meta.url);
const ROOT = english ? HOME : new URL("../", HOME);
const STILL_HERE = 20_000; // milliseconds; a browser stops a worker that works for too long unasked

const megabytes = (bytes = 0) => `${Math.ceil(bytes / 1e6)} MB`;

const dateOf = (/** @type {number} */ time) =>
  new Date(time).toLocaleDateString(english ? "en-GB" : "zh-CN", { dateStyle: "long" });

/** How much there is to keep, as the build counted it; undefined where no build has. */
async function size() {
  const response = await fetch(new URL("offline.json", HOME)).catch(() => undefined);
  return response?.ok ? megabytes((await response.json()).bytes) : undefined;
}

/** The worker that keeps this site, and not another one at the same host. */
async function registration() {
  const found = await navigator.serviceWorker.getRegistration(ROOT);
  return found?.scope === ROOT.href ? found : undefined;
}

/**
 * @param {ServiceWorkerRegistration | undefined} to
 * @param {Asked["ask"]} ask
 */
function send(to, ask) {
  const worker = to?.active ?? to?.waiting ?? to?.installing;
  worker?.postMessage({ ask, language: LANGUAGE });
}

/** @param {HTMLElement} element */
export async function start(element) {
  const workers = navigator.serviceWorker;
  if (!workers) return; // the address isn't a secure one
  /** @type {string | undefined} */
  let offer;
  let asking = 0;
  const said = el("p", { role: "status", tabindex: -1 });
  const bar = el("progress", { "aria-label": WORDS.keeping });
  const part = el("span", { class: "quiet" });
  const keep = el("button", { type: "button", click: begin });
  const remove = el("button", { type: "button", click: async () => send(await registration(), "remove") });
  const how = el("div", { class: "how" }, said, part, bar);
  const live = el("div", { class: "live" }, how, el("p", {}, keep, remove));

  async function begin() {
    if (keep.ariaDisabled) return;
    show({ language: LANGUAGE, state: "keeping" });
    navigator.storage.persist(); // else a browser that is short of room may throw it away
    const script = new URL("offline.js", ROOT);
    try {
      const registered = await workers.register(script, { scope: ROOT.pathname });
      send(registered, "keep");
      asking = setInterval(() => send(registered, "keep"), STILL_HERE);
    } catch {
      show({ language: LANGUAGE, state: "absent", reason: "network" });
    }
  }

  /** @param {Told} told */
  function show(told) {
    const { state, done, bytes, key = "", date = 0, reason } = told;
    if (state === "absent" && offer === undefined) {
      size().then((found = "") => {
        offer = found;
        if (found) show(told);
      });
      return;
    }
    const words = {
      absent: reason ? WORDS[reason] : WORDS.absent(offer ?? ""),
      keeping: WORDS.keeping,
      unfinished: WORDS[reason ?? "network"],
      kept: WORDS.kept(dateOf(date), key.slice(0, 7)),
    };
    if (said.textContent !== words[state]) said.textContent = words[state];
    bar.hidden = part.hidden = state !== "keeping";
    bar.max = bytes ?? 1;
    bar.value = done ?? 0;
    part.textContent = bytes ? WORDS.part(megabytes(done), megabytes(bytes)) : "";
    const focused = [keep, remove].some((button) => button === document.activeElement);
    keep.hidden = state === "kept";
    keep.ariaDisabled = state === "keeping" ? "true" : null; // it stays where a second click may land
    keep.textContent = reason || state === "unfinished" ? WORDS.again : WORDS.keep;
    remove.hidden = state === "absent";
    remove.textContent = state === "keeping" ? WORDS.stop : WORDS.remove;
    if (!live.isConnected) element.replaceChildren(live);
    if (focused && document.activeElement === document.body) said.focus();
  }

  workers.addEventListener("message", ({ data }) => {
    if (data.language !== LANGUAGE) return;
    if (data.state !== "keeping") clearInterval(asking);
    if (element.isConnected) show(data);
  });
  const before = await registration();
  if (before) send(before, "state");
  else show({ language: LANGUAGE, state: "absent" });
}
