// Runs translator.js and returns the outputs that javascript_model.py compares, as JSON.
// Under Node: node javascript_model.mjs CODE WEIGHTS < task.json; in a browser: translateAll.

/**
 * @param {typeof import("../../../snippets/translator.js")} module
 * @param {ArrayBuffer} weights
 * @param {{sentences: string[], outputs: number[][], maxLength: number}} task
 */
function translateAll({ parse, greedy, beam }, weights, task) {
  const translator = parse(weights);
  const sentences = task.sentences.map((text, i) => {
    const ids = translator.encode(translator.words(text));
    const progress = translator.start(ids);
    const steps = [1, ...task.outputs[i].slice(0, -1)].map((id) => progress.step(id));
    const start = performance.now();
    const greedySteps = greedy(translator, ids, task.maxLength);
    const milliseconds = (performance.now() - start) / greedySteps.length; // per character
    return {
      logits: steps.flatMap((step) => [...step.logits]),
      attention: steps.flatMap((step) => step.attention.flat().flatMap((row) => [...row])),
      milliseconds,
      greedy: greedySteps.map((step) => step.id),
      beam: beam(translator, ids, 4, 0.6, task.maxLength).map((step) => step.id),
    };
  });
  return JSON.stringify(sentences);
}

if (typeof process !== "undefined") {
  const { readFileSync } = await import("node:fs");
  const { pathToFileURL } = await import("node:url");
  const [code, path] = process.argv.slice(2);
  const { buffer, byteOffset, length } = readFileSync(path);
  const weights = buffer.slice(byteOffset, byteOffset + length);
  const module = await import(pathToFileURL(code).href);
  process.stdout.write(translateAll(module, weights, JSON.parse(readFileSync(0, "utf-8"))));
}
