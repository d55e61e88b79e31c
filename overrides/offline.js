// @ts-check
/// <reference lib="webworker" />
"use strict";
/**
 * The service worker that keeps the book for reading without a network. It is registered when a
 * reader asks for it (assets/widgets/offline.js), and keeps each language by itself.
 *
 * A language's cache holds files by their hashes, and one list: which hash stands at which
 * address. The list is put in last, when all its files are there, so a copy is whole or isn't
 * there, and is never of two versions. What is published (bookbuild/publish/offline.py) has the same list.
 *
 * @typedef {Told["language"]} Language
 * @typedef {Record<string, [hash: string, bytes: number]>} Files by address, from the language's home
 * @typedef {{ key: string, date: number, files: Files }} Copy
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const ROOT = worker.registration.scope;
const LIST = `${ROOT}offline/list`; // addresses inside the caches alone
const PATIENCE = 3000; // milliseconds in which the network has to answer
const AT_ONCE = 6;

/** @param {Language} language */
const home = (language) => (language === "zh" ? `${ROOT}zh/` : ROOT);
/** @param {Language} language */
const cacheOf = (language) => `offline ${home(language)}`;
/** @param {string} hash */
const place = (hash) => `${ROOT}offline/${hash}`;

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

// Reading

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(ROOT)) event.respondWith(answer(event));
});

/** Where a browser's page came from, and so what it loads: by the client's id. @type {Map<string, "network" | "copy">} */
const sources = new Map();

/**
 * Online, what is published: from the copy if that is the same, else from the network. Without a
 * network, the copy. A page and what it loads come from one place.
 * @param {FetchEvent} event
 */
async function answer(event) {
  const { request } = event;
  const language = request.url.startsWith(`${ROOT}zh/`) ? "zh" : "en";
  const name = nameOf(request.url, language);
  const isPage = request.mode === "navigate" || name === "" || name.endsWith("/");
  const copy = await kept(language);
  if (!copy || !(name in copy.files || `${name}/` in copy.files)) {
    if (isPage && !copy) event.waitUntil(goOn(language));
    const isNew = isPage && copy; // or it never was there: the browser's own cache doesn't know
    const fetched = isNew ? fetch(request, { cache: "no-cache" }) : fetch(request);
    return fetched.catch(() => (request.mode === "navigate" ? notKept() : Response.error()));
  }
  const client = event.resultingClientId || event.clientId;
  if (isPage || !sources.has(client)) {
    const asked = isPublished(language, copy);
    event.waitUntil(asked.then((same) => (same === false ? renew(language) : undefined)));
    sources.set(client, (await inTime(asked)) === false ? "network" : "copy");
  }
  if (sources.get(client) === "network") {
    const asked = fetch(request, { cache: "no-cache" });
    if (!isPage) return asked; // and never the copy's: that is of another version
    const answered = await inTime(asked);
    if (answered) return answered;
    sources.set(client, "copy");
  }
  if (!(name in copy.files)) {
    const address = new URL(request.url);
    address.pathname += "/";
    return Response.redirect(address.href);
  }
  const found = await caches.match(place(copy.files[name][0]), { cacheName: cacheOf(language) });
  return found ?? fetch(request); // not found if the copy has just been renewed or removed
}

/**
 * An address as the lists have it: from the language's home, without a query.
 * @param {string} address
 * @param {Language} language
 */
function nameOf(address, language) {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.slice(home(language).length).replace(/(^|\/)index\.html$/, "$1");
}

/**
 * @param {Language} language
 * @returns {Promise<Copy | undefined>}
 */
async function kept(language) {
  const list = await caches.match(LIST, { cacheName: cacheOf(language) });
  return list?.json();
}

/**
 * Whether the copy is what is published; undefined if the network doesn't tell.
 * @param {Language} language
 * @param {Copy} copy
 */
async function isPublished(language, copy) {
  const options = /** @type {const} */ ({ cache: "no-store" });
  const response = await fetch(`${home(language)}offline.json`, options).catch(() => undefined);
  if (!response || response.status >= 500) return undefined;
  if (!response.ok) return false;
  const published = await response.json().catch(() => undefined); // a hotel's page to log in?
  return published && published.key === copy.key;
}

/**
 * What is promised, or undefined if it fails or takes too long.
 * @template T
 * @param {Promise<T>} promised
 * @returns {Promise<T | undefined>}
 */
function inTime(promised) {
  /** @type {Promise<undefined>} */
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
  return Promise.race([promised.catch(() => undefined), late]);
}

/** A page that says that there is none, in both languages, whichever are kept. */
async function notKept() {
  const link = { en: "", zh: "" };
  if (await kept("en")) link.en = `<p><a href="${home("en")}">To what is kept in English</a></p>`;
  if (await kept("zh")) link.zh = `<p><a href="${home("zh")}">去看保存好的中文版</a></p>`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not kept on this device · 这台设备上没有保存</title>
</head>
<body style="max-width: 34rem; margin: 12vh auto; padding: 0 1rem; font: 1.05rem/1.7 system-ui, sans-serif">
<main>
<section>
<h1 style="line-height: 1.3">Not kept on this device</h1>
<p>There is no network, and this address isn't among what you keep for offline reading: it may be in the
other language, a file that isn't kept (PDF, EPUB), or mistyped. Once you are online, load it again.</p>
${link.en}
</section>
<section lang="zh">
<h2>这台设备上没有保存</h2>
<p>现在没有网络，这个地址也不在你保存下来离线阅读的内容里：可能是另一种语言的页面，可能是不保存的文件（PDF、EPUB），也可能是地址写错了。联网以后再刷新一次就好。</p>
${link.zh}
</section>
</main>
</body>
</html>
`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src-attr 'unsafe-inline'",
  };
  return new Response(html, { status: 503, headers });
}

// Keeping

/** What is on its way, and how to stop it. @type {Map<Language, { whole: Promise<void>, stop: AbortController }>} */
const running = new Map();
/** How far the last try came. @type {Map<Language, Pick<Told, "done" | "bytes" | "reason">>} */
const progress = new Map();

worker.addEventListener("message", (event) => {
  /** @type {Asked} */
  const { ask, language } = event.data;
  const does = { keep: renew, remove, state: tell };
  event.waitUntil(does[ask](language));
});

/**
 * Tells every page of the book how the copy of a language stands.
 * @param {Language} language
 */
async function tell(language) {
  const copy = await kept(language);
  /** @type {Told} */
  let told = { language, state: "absent", ...progress.get(language) };
  if (copy) told = { language, state: "kept", key: copy.key, date: copy.date };
  else if (running.has(language)) told.state = "keeping";
  else if (await caches.has(cacheOf(language))) told.state = "unfinished";
  for (const client of await worker.clients.matchAll({ includeUncontrolled: true })) {
    client.postMessage(told);
  }
}

/**
 * Goes on with what a reader has asked for and the network has broken off.
 * @param {Language} language
 */
async function goOn(language) {
  if (await caches.has(cacheOf(language))) await renew(language);
}

/**
 * Makes the copy what is published, or leaves it as it is. Asking twice does it once.
 * @param {Language} language
 */
function renew(language) {
  let run = running.get(language);
  if (!run) {
    const stop = new AbortController();
    const whole = bring(language, stop.signal)
      .catch((error) => giveUp(language, error))
      .finally(() => running.delete(language))
      .then(() => tell(language));
    running.set(language, (run = { whole, stop }));
  }
  return run.whole;
}

class Changed extends Error {}

/**
 * Fetches what is published and not here yet, and then takes it for the copy.
 * @param {Language} language
 * @param {AbortSignal} signal
 */
async function bring(language, signal) {
  progress.set(language, {});
  /** @type {RequestInit} */
  const fresh = { cache: "no-store", signal }; // as published, and not kept by the browser once more
  const { key, bytes } = await (await get("offline.json", fresh)).json();
  if ((await kept(language))?.key === key) return;
  const list = await (await get("offline-files.json", fresh)).arrayBuffer();
  if ((await digest(list)) !== key) throw new Changed();
  /** @type {Files} */
  const files = JSON.parse(new TextDecoder().decode(list));
  const cache = await caches.open(cacheOf(language));
  const here = new Set((await cache.keys()).map(({ url }) => url));
  let done = 0;

  /** @param {number} more */
  function count(more) {
    done += more;
    progress.set(language, { done, bytes });
    return tell(language);
  }

  /** @param {string} name */
  async function get(name, options = fresh) {
    const response = await fetch(home(language) + name, options);
    if (!response.ok) throw response.status < 500 ? new Changed() : new Error(name);
    return response;
  }

  /** @param {[name: string, about: Files[string]]} file */
  async function keep([name, [hash, size]]) {
    const response = await get(name);
    const body = await response.arrayBuffer();
    if ((await digest(body)) !== hash) throw new Changed();
    const type = response.headers.get("content-type") ?? "application/octet-stream";
    await cache.put(place(hash), new Response(body, { headers: { "content-type": type } }));
    await count(size);
  }

  const wanted = Object.entries(files);
  const queue = wanted.filter(([, [hash]]) => !here.has(place(hash)));
  await count(bytes - queue.reduce((sum, [, [, size]]) => sum + size, 0));
  const tries = Array.from({ length: AT_ONCE }, async () => {
    try {
      for (let file = queue.pop(); file; file = queue.pop()) await keep(file);
    } catch (error) {
      queue.length = 0; // the others need not go on
      throw error;
    }
  });
  const broken = (await Promise.allSettled(tries)).find((one) => one.status === "rejected");
  if (broken) throw broken.reason;
  signal.throwIfAborted();
  /** @type {Copy} */
  const copy = { key, date: Date.now(), files };
  await cache.put(LIST, Response.json(copy));
  await sweep(language, copy);
}

/**
 * Says why a copy couldn't be made, and frees the room if there wasn't enough. Else what has come
 * so far waits for the next try.
 * @param {Language} language
 * @param {Error} error
 */
async function giveUp(language, error) {
  /** @type {Told["reason"]} */
  let reason = "network";
  if (error.name === "QuotaExceededError") reason = "room";
  else if (error instanceof Changed) reason = "changed";
  progress.set(language, { ...progress.get(language), reason });
  if (reason !== "room") return;
  const copy = await kept(language);
  await (copy ? sweep(language, copy) : clear(language));
}

/**
 * Takes out what belongs to no copy any more.
 * @param {Language} language
 * @param {Copy} copy
 */
async function sweep(language, copy) {
  const cache = await caches.open(cacheOf(language));
  const needed = new Set(Object.values(copy.files).map(([hash]) => place(hash)));
  const old = (await cache.keys()).filter(({ url }) => url !== LIST && !needed.has(url));
  await Promise.all(old.map((request) => cache.delete(request)));
}

/**
 * Takes a language out, and the worker with the last one.
 * @param {Language} language
 */
async function clear(language) {
  await caches.delete(cacheOf(language));
  const left = await Promise.all([caches.has(cacheOf("en")), caches.has(cacheOf("zh"))]);
  if (!left.includes(true)) await worker.registration.unregister();
}

/** @param {Language} language */
async function remove(language) {
  const run = running.get(language);
  run?.stop.abort();
  await run?.whole;
  progress.delete(language);
  await clear(language);
  await tell(language);
}

/**
 * SHA-256, as bookbuild/publish/offline.py writes it.
 * @param {ArrayBuffer} bytes
 */
async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
