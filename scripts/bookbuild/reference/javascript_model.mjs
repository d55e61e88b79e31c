// Runs translator.js and returns the outputs that javascript_model.py compares.
// Under Node: node javascript_model.mjs CODE WEIGHTS < task.json; in a browser: translateAll.

/** @param {Float32Array[]} rows @returns {string} base64 */
function encodeFloats(rows) {
  const characters = [];
  for (const row of rows) {
    for (const byte of new Uint8Array(row.buffer)) characters.push(String.fromCharCode(byte));
  }
  return btoa(characters.join(""));
}

/**
 * @param {typeof import("../../../snippets/translator.js")} module
 * @param {ArrayBuffer} weights
 * @param {{sentences: string[], outputs: number[][], maxLength: number}} task
 */
function translateAll({ parse, greedy, beam }, weights, task) {
  const translator = parse(weights);
  const sources = task.sentences.map((text) => translator.encode(translator.words(text)));
  /** @type {Float32Array[]} */ const logits = [];
  /** @type {Float32Array[]} */ const attention = [];
  sources.forEach((ids, i) => {
    const progress = translator.start(ids);
    for (const id of [1, ...task.outputs[i].slice(0, -1)]) {
      const step = progress.step(id);
      logits.push(step.logits);
      attention.push(...step.attention.flat());
    }
  });
  /** @type {number[]} milliseconds per character of each sentence */
  const times = [];
  const greedyIds = sources.map((ids) => {
    const start = performance.now();
    const steps = greedy(translator, ids, task.maxLength);
    times.push((performance.now() - start) / steps.length);
    return steps.map((step) => step.id);
  });
  const beamIds = sources.map((ids) => {
    return beam(translator, ids, 4, 0.6, task.maxLength).map((step) => step.id);
  });
  const tensors = { logits: encodeFloats(logits), attention: encodeFloats(attention) };
  return { greedy: greedyIds, beam: beamIds, times, ...tensors };
}

if (typeof process !== "undefined") {
  const { readFileSync } = await import("node:fs");
  const [code, path] = process.argv.slice(2);
  const { buffer, byteOffset, length } = readFileSync(path);
  const weights = buffer.slice(byteOffset, byteOffset + length);
  const task = JSON.parse(readFileSync(0, "utf-8"));
  const { pathToFileURL } = await import("node:url");
  const module = await import(pathToFileURL(code).href);
  process.stdout.write(JSON.stringify(translateAll(module, weights, task)));
}
