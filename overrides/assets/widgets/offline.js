// @ts-check
/** The button that stores the book for offline reading, with the service worker offline.js. */

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
    network: "The network was lost, so nothing can be read offline yet. Finished downloads won’t be repeated.",
    room: "There isn’t enough room on this device, so nothing was kept.",
    changed: "The book is being published just now, so nothing can be read offline yet. Try again in a minute.",
  },
  zh: {
    keep: "保存下来，离线阅读",
    again: "再试一次",
    stop: "停止并删除",
    remove: "删除",
    absent: (/** @type {string} */ size) => `浏览器会在这台设备上存 ${size}。`,
    keeping: "正在下载",
    part: (/** @type {string} */ done, /** @type {string} */ size) => `${done} / ${size}`,
    kept: (/** @type {string} */ date, /** @type {string} */ version) =>
      `已存在这台设备上，内容截至 ${date}，版本 ${version}。`,
    network: "网络断了，现在还不能离线阅读。已经下载的不会再下载一遍。",
    room: "这台设备的空间不够，没有保存任何内容。",
    changed: "这本书正在发布，现在还不能离线阅读。过一分钟再试一次。",
  },
};

const LANGUAGE = english ? "en" : "zh";
const WORDS = TEXTS[LANGUAGE];
const HOME = new URL("../../", import.meta.url);
const ROOT = english ? HOME : new URL("../", HOME);
const CACHE = `offline ${HOME.href}`; // as in the service worker
const KEEP_ALIVE_INTERVAL = 20_000; // milliseconds; a browser stops a worker that receives no messages for too long

const megabytes = (bytes = 0) => `${Math.ceil(bytes / 1e6)} MB`;

const dateOf = (/** @type {number} */ time) =>
  new Date(time).toLocaleDateString(english ? "en-GB" : "zh-CN", { dateStyle: "long" });

/** The download size as the build computed it; undefined without offline.json. */
async function size() {
  const response = await fetch(new URL("offline.json", HOME)).catch(() => undefined);
  return response?.ok ? megabytes((await response.json()).bytes) : undefined;
}

/** The service worker of this site, not of another site on the same host. */
async function findRegistration() {
  const registration = await navigator.serviceWorker.getRegistration(ROOT);
  return registration?.scope === ROOT.href ? registration : undefined;
}

/**
 * @param {ServiceWorkerRegistration | undefined} registration
 * @param {OfflineRequest["ask"]} ask
 */
function send(registration, ask) {
  const worker = registration?.active ?? registration?.waiting ?? registration?.installing;
  worker?.postMessage({ ask, language: LANGUAGE });
}

/** @param {HTMLElement} element */
export async function start(element) {
  const workers = navigator.serviceWorker;
  if (!workers) return; // not a secure context
  /** @type {string | undefined} */
  let downloadSize;
  let timer = 0;
  const status = el("p", { role: "status", tabindex: -1 });
  const bar = el("progress", { "aria-label": WORDS.keeping });
  const part = el("span", { class: "quiet" });
  const keep = el("button", { type: "button", click: begin });
  const remove = el("button", { type: "button", click: async () => send(await findRegistration(), "remove") });
  const how = el("div", { class: "how" }, status, part, bar);
  const live = el("div", { class: "live" }, how, el("p", {}, keep, remove));

  async function begin() {
    if (keep.ariaDisabled) return;
    show({ language: LANGUAGE, state: "keeping" });
    navigator.storage.persist(); // otherwise a browser may evict it when storage is low
    const script = new URL("offline.js", ROOT);
    try {
      await caches.open(CACHE); // a page that opens before the worker runs finds the reader's request by it
      const registered = await workers.register(script, { scope: ROOT.pathname });
      send(registered, "keep");
      timer = setInterval(() => send(registered, "keep"), KEEP_ALIVE_INTERVAL);
    } catch {
      await caches.delete(CACHE);
      show({ language: LANGUAGE, state: "absent", reason: "network" });
    }
  }

  /** @param {OfflineState} report */
  function show(report) {
    const { state, done, bytes, key = "", date = 0, reason } = report;
    if (state === "absent" && downloadSize === undefined) {
      size().then((text = "") => {
        downloadSize = text;
        if (text) show(report);
      });
      return;
    }
    const messages = {
      absent: reason ? WORDS[reason] : WORDS.absent(downloadSize ?? ""),
      keeping: WORDS.keeping,
      unfinished: WORDS[reason ?? "network"],
      kept: WORDS.kept(dateOf(date), key.slice(0, 7)),
    };
    if (status.textContent !== messages[state]) status.textContent = messages[state];
    bar.hidden = part.hidden = state !== "keeping";
    bar.max = bytes ?? 1;
    bar.value = done ?? 0;
    part.textContent = bytes ? WORDS.part(megabytes(done), megabytes(bytes)) : "";
    const focused = [keep, remove].some((button) => button === document.activeElement);
    keep.hidden = state === "kept";
    keep.ariaDisabled = state === "keeping" ? "true" : null; // not hidden, because a second click may land here
    keep.textContent = reason || state === "unfinished" ? WORDS.again : WORDS.keep;
    remove.hidden = state === "absent";
    remove.textContent = state === "keeping" ? WORDS.stop : WORDS.remove;
    if (!live.isConnected) element.replaceChildren(live);
    if (focused && document.activeElement === document.body) status.focus();
  }

  workers.addEventListener("message", ({ data }) => {
    if (data.language !== LANGUAGE) return;
    if (data.state !== "keeping") clearInterval(timer);
    if (element.isConnected) show(data);
  });
  const existing = await findRegistration();
  if (existing) send(existing, "state");
  else if (await caches.has(CACHE)) begin();
  else show({ language: LANGUAGE, state: "absent" });
}
