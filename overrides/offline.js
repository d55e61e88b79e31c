// @ts-check
/// <reference lib="webworker" />
"use strict";
/**
 * The service worker that stores the book for offline reading. It is registered when a reader
 * requests it (assets/widgets/offline.js), and stores each language separately.
 *
 * A language's cache has files by their hashes, and one list of addresses with their hashes. The
 * list is added last, when all of its files are stored, so a copy is either complete or missing,
 * and never mixes two versions. The published site has the same list (bookbuild/publish/offline.py).
 *
 * @typedef {OfflineState["language"]} Language
 * @typedef {Record<string, [hash: string, bytes: number]>} Files by address, relative to the language's home;
 *   the Chinese list also has the weights, which are next to the English home
 * @typedef {{ key: string, date: number, files: Files }} Copy
 */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const ROOT = worker.registration.scope;
const LIST = `${ROOT}offline/list`; // an address that exists only in the caches
const NETWORK_TIMEOUT = 3000; // milliseconds
const MAX_CONCURRENT_DOWNLOADS = 6;

/** @param {Language} language */
const homeUrl = (language) => (language === "zh" ? `${ROOT}zh/` : ROOT);
/** @param {Language} language */
const cacheName = (language) => `offline ${homeUrl(language)}`;
/** @param {string} hash */
const fileUrl = (hash) => `${ROOT}offline/${hash}`;

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

// Reading

worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(ROOT)) event.respondWith(respond(event));
});

/** The source of each open page, and of all files that it loads, by client id. @type {Map<string, "network" | "copy">} */
const sources = new Map();

/**
 * Responds with the published version: from the copy if it is up to date, else from the network.
 * Without a network, responds from the copy. A page and its files come from the same source.
 * @param {FetchEvent} event
 */
async function respond(event) {
  const { request } = event;
  const language = await requestLanguage(event);
  const name = fileName(request.url, language);
  const isPage = request.mode === "navigate" || name === "" || name.endsWith("/");
  const copy = await loadCopy(language);
  if (!copy || !(name in copy.files || `${name}/` in copy.files)) {
    if (isPage && !copy) event.waitUntil(resume(language));
    const isNew = isPage && copy; // added since the copy was made, so the browser's own cache may be out of date
    const fetched = isNew ? fetch(request, { cache: "no-cache" }) : fetch(request);
    return fetched.catch(() => (request.mode === "navigate" ? notStoredPage() : Response.error()));
  }
  const client = event.resultingClientId || event.clientId;
  if (isPage || !sources.has(client)) {
    const check = isPublished(language, copy);
    event.waitUntil(check.then((same) => (same === false ? update(language) : undefined)));
    sources.set(client, (await withTimeout(check)) === false ? "network" : "copy");
  }
  if (sources.get(client) === "network") {
    const pending = fetch(request, { cache: "no-cache" });
    if (!isPage) return pending; // never from the copy, which is another version
    const response = await withTimeout(pending);
    if (response) return response;
    sources.set(client, "copy");
  }
  if (!(name in copy.files)) {
    const address = new URL(request.url);
    address.pathname += "/";
    return Response.redirect(address.href);
  }
  const cached = await caches.match(fileUrl(copy.files[name][0]), { cacheName: cacheName(language) });
  return cached ?? fetch(request); // missing if the copy has just been updated or removed
}

/**
 * The language of a page, or of the page that requests a file.
 * @param {FetchEvent} event
 * @returns {Promise<Language>}
 */
async function requestLanguage({ request, clientId }) {
  const client = request.mode === "navigate" ? undefined : await worker.clients.get(clientId);
  return (client?.url ?? request.url).startsWith(`${ROOT}zh/`) ? "zh" : "en";
}

/**
 * An address as in the lists: relative to the language's home, without a query.
 * @param {string} address
 * @param {Language} language
 */
function fileName(address, language) {
  const { origin, pathname } = new URL(address);
  const [url, home] = [origin + pathname, homeUrl(language)];
  const name = url.startsWith(home) ? url.slice(home.length) : `../${url.slice(ROOT.length)}`;
  return name.replace(/(^|\/)index\.html$/, "$1");
}

/**
 * @param {Language} language
 * @returns {Promise<Copy | undefined>}
 */
async function loadCopy(language) {
  const list = await caches.match(LIST, { cacheName: cacheName(language) });
  return list?.json();
}

/**
 * Whether the copy is up to date; undefined if the network does not answer.
 * @param {Language} language
 * @param {Copy} copy
 */
async function isPublished(language, copy) {
  const options = /** @type {const} */ ({ cache: "no-store" });
  const response = await fetch(`${homeUrl(language)}offline.json`, options).catch(() => undefined);
  if (!response || response.status >= 500) return undefined;
  if (!response.ok) return false;
  const published = await response.json().catch(() => undefined); // for example the login page of a hotel's network
  return published && published.key === copy.key;
}

/**
 * The result of a promise, or undefined if it fails or takes too long.
 * @template T
 * @param {Promise<T>} promise
 * @returns {Promise<T | undefined>}
 */
function withTimeout(promise) {
  /** @type {Promise<undefined>} */
  const timeout = new Promise((resolve) => setTimeout(resolve, NETWORK_TIMEOUT));
  return Promise.race([promise.catch(() => undefined), timeout]);
}

/** The page shown for an address that is not stored, in both languages. */
async function notStoredPage() {
  const link = { en: "", zh: "" };
  if (await loadCopy("en")) link.en = `<p><a href="${homeUrl("en")}">Read the saved English book</a></p>`;
  if (await loadCopy("zh")) link.zh = `<p><a href="${homeUrl("zh")}">去看保存好的中文版</a></p>`;
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
<p>There is no network, and this page isn't among what you saved. It may be in the other language or a
file that isn't saved (PDF, EPUB), or its address may be mistyped. Load it again when you are online.</p>
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

// Storing

/** The running downloads, and how to stop them. @type {Map<Language, { finished: Promise<void>, stop: AbortController }>} */
const downloads = new Map();
/** The progress of the last attempt. @type {Map<Language, Pick<OfflineState, "done" | "bytes" | "reason">>} */
const progress = new Map();

worker.addEventListener("message", (event) => {
  /** @type {OfflineRequest} */
  const { ask, language } = event.data;
  const actions = { keep: update, remove, state: resumeAndReport };
  event.waitUntil(actions[ask](language));
});

/**
 * Reports the state of a language's copy to all open pages.
 * @param {Language} language
 */
async function reportState(language) {
  const copy = await loadCopy(language);
  /** @type {OfflineState} */
  let report = { language, state: "absent", ...progress.get(language) };
  if (copy) report = { language, state: "kept", key: copy.key, date: copy.date };
  else if (downloads.has(language)) report.state = "keeping";
  else if (await caches.has(cacheName(language))) report.state = "unfinished";
  for (const client of await worker.clients.matchAll({ includeUncontrolled: true })) {
    client.postMessage(report);
  }
}

/** @param {Language} language */
async function isInterrupted(language) {
  return (await caches.has(cacheName(language))) && !(await loadCopy(language));
}

/** @param {Language} language */
async function resume(language) {
  if (await isInterrupted(language)) await update(language);
}

/** @param {Language} language */
async function resumeAndReport(language) {
  const resumed = (await isInterrupted(language)) ? update(language) : undefined;
  await reportState(language);
  await resumed;
}

/**
 * Updates the copy to the published version, or leaves it unchanged. Concurrent calls share one download.
 * @param {Language} language
 */
function update(language) {
  let run = downloads.get(language);
  if (!run) {
    const stop = new AbortController();
    const finished = download(language, stop.signal)
      .catch((error) => recordFailure(language, error))
      .finally(() => downloads.delete(language))
      .then(() => reportState(language));
    downloads.set(language, (run = { finished, stop }));
  }
  return run.finished;
}

class ContentChanged extends Error {}

/**
 * Downloads the published files that are missing, and then stores the list.
 * @param {Language} language
 * @param {AbortSignal} signal
 */
async function download(language, signal) {
  progress.set(language, {});
  /** @type {RequestInit} */
  const fresh = { cache: "no-store", signal }; // bypasses the browser's HTTP cache
  const { key, bytes } = await (await get("offline.json", fresh)).json();
  if ((await loadCopy(language))?.key === key) return;
  const list = await (await get("offline-files.json", fresh)).arrayBuffer();
  if ((await digest(list)) !== key) throw new ContentChanged();
  /** @type {Files} */
  const files = JSON.parse(new TextDecoder().decode(list));
  const cache = await caches.open(cacheName(language));
  const stored = new Set((await cache.keys()).map(({ url }) => url));
  let done = 0;

  /** @param {number} more */
  function count(more) {
    done += more;
    progress.set(language, { done, bytes });
    return reportState(language);
  }

  /** @param {string} name */
  async function get(name, options = fresh) {
    const response = await fetch(homeUrl(language) + name, options);
    if (!response.ok) throw response.status < 500 ? new ContentChanged() : new Error(name);
    return response;
  }

  /** @param {[name: string, about: Files[string]]} file */
  async function saveFile([name, [hash, size]]) {
    const response = await get(name);
    const body = await response.arrayBuffer();
    if ((await digest(body)) !== hash) throw new ContentChanged();
    const type = response.headers.get("content-type") ?? "application/octet-stream";
    await cache.put(fileUrl(hash), new Response(body, { headers: { "content-type": type } }));
    await count(size);
  }

  const queue = Object.entries(files).filter(([, [hash]]) => !stored.has(fileUrl(hash)));
  await count(bytes - queue.reduce((sum, [, [, size]]) => sum + size, 0));
  const workers = Array.from({ length: MAX_CONCURRENT_DOWNLOADS }, async () => {
    try {
      for (let file = queue.pop(); file; file = queue.pop()) await saveFile(file);
    } catch (error) {
      queue.length = 0; // stops the other workers
      throw error;
    }
  });
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  signal.throwIfAborted();
  /** @type {Copy} */
  const copy = { key, date: Date.now(), files };
  await cache.put(LIST, Response.json(copy));
  await removeUnused(language, copy);
}

/**
 * Records why a download failed. If the storage is full, frees it; otherwise the files that are
 * stored so far are kept for the next attempt.
 * @param {Language} language
 * @param {Error} error
 */
async function recordFailure(language, error) {
  /** @type {OfflineState["reason"]} */
  let reason = "network";
  if (error.name === "QuotaExceededError") reason = "room";
  else if (error instanceof ContentChanged) reason = "changed";
  progress.set(language, { ...progress.get(language), reason });
  if (reason !== "room") return;
  const copy = await loadCopy(language);
  await (copy ? removeUnused(language, copy) : deleteCopy(language));
}

/**
 * Removes files that no longer belong to the copy.
 * @param {Language} language
 * @param {Copy} copy
 */
async function removeUnused(language, copy) {
  const cache = await caches.open(cacheName(language));
  const needed = new Set(Object.values(copy.files).map(([hash]) => fileUrl(hash)));
  const unused = (await cache.keys()).filter(({ url }) => url !== LIST && !needed.has(url));
  await Promise.all(unused.map((request) => cache.delete(request)));
}

/**
 * Deletes the cache of a language, and unregisters the worker with the last one.
 * @param {Language} language
 */
async function deleteCopy(language) {
  await caches.delete(cacheName(language));
  const remaining = await Promise.all([caches.has(cacheName("en")), caches.has(cacheName("zh"))]);
  if (!remaining.includes(true)) await worker.registration.unregister();
}

/** @param {Language} language */
async function remove(language) {
  const run = downloads.get(language);
  run?.stop.abort();
  await run?.finished;
  progress.delete(language);
  await deleteCopy(language);
  await reportState(language);
}

/**
 * SHA-256 in hexadecimal, as in bookbuild/publish/offline.py.
 * @param {ArrayBuffer} bytes
 */
async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
