// @ts-check
/** The trained translator, shared by the widgets and fetched once, at first use. */

import { parse } from "../../downloads/translator.js"; // the file that the chapter explains
import { english } from "./common.js";

export { beam, greedy } from "../../downloads/translator.js";

/** @import { Translator } from "../../downloads/translator.js" */

const ROOT = new URL(english ? "../../" : "../../../", import.meta.url);
const WEIGHTS = new URL("downloads/translator-float16.safetensors", ROOT); // the same for both languages

/** @type {Promise<Translator> | undefined} */
let loaded;
/** @type {Set<(share: number) => void>} */
const listeners = new Set();

/**
 * The translator, fetched at the first call. After a failure, the next call tries again.
 * @param {(share: number) => void} onProgress called with the downloaded share, 0 to 1, if known
 * @returns {Promise<Translator>}
 */
export function load(onProgress) {
  listeners.add(onProgress);
  loaded ??= fetchWeights().then(parse);
  loaded.catch(() => {
    loaded = undefined;
  });
  return loaded.finally(() => listeners.delete(onProgress));
}

async function fetchWeights() {
  const response = await fetch(WEIGHTS);
  if (!response.ok || !response.body) throw new Error(`${response.status} ${WEIGHTS.pathname}`);
  const compressed = response.headers.has("content-encoding"); // content-length is then not the size of the file
  const length = compressed ? 0 : Number(response.headers.get("content-length"));
  const reader = response.body.getReader();
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let received = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    received += part.value.length;
    if (length) for (const listener of listeners) listener(Math.min(1, received / length));
  }
  return new Blob(parts).arrayBuffer();
}
