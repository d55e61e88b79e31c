// Runs a model in JavaScript, and returns for each task what is compared with PyTorch.
// Under Node: node driver.mjs FUNCTION WEIGHTS MODULE… < tasks.json, which prints a line of JSON for
// each task. In a browser: runTasks.

/** Translates a sentence (javascript_model.py). */
function translate({ greedy, beam }, translator, { text, output, maxLength }) {
  const ids = translator.encode(translator.words(text));
  const progress = translator.start(ids);
  const steps = [1, ...output.slice(0, -1)].map((id) => progress.step(id));
  const start = performance.now();
  const greedySteps = greedy(translator, ids, maxLength);
  const milliseconds = (performance.now() - start) / greedySteps.length; // per character
  return {
    logits: steps.flatMap((step) => [...step.logits]),
    attention: steps.flatMap((step) => step.attention.flat().flatMap((row) => [...row])),
    milliseconds,
    greedy: greedySteps.map((step) => step.id),
    beam: beam(translator, ids, 4, 0.6, maxLength).map((step) => step.id),
  };
}

/** Records the tensors of a run of the program, in order (model_trace.py). */
function trace({ runModel }, translator, { program, src, tgt, without }) {
  const steps = [];
  const parts = [];
  for (const { function: name, path, changes } of runModel(program, translator, src, tgt, { without }).stops) {
    for (const { name: variable, line, after } of changes) {
      if (!after.shape) continue;
      steps.push({ function: name, path, line, name: variable, shape: after.shape, dtype: after.dtype });
      const bytes = new Uint8Array(after.data.buffer, after.data.byteOffset, after.data.byteLength);
      for (let i = 0; i < bytes.length; i += 8192) {
        parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
      }
    }
  }
  return { steps, data: btoa(parts.join("")) };
}

/**
 * @param {"translate" | "trace"} name of the function
 * @param {string[]} addresses of translator.js, and for a trace of run-model.js
 * @param {ArrayBuffer} weights of the translator
 * @param {object[]} tasks
 */
async function runTasks(name, addresses, weights, tasks) {
  const modules = Object.assign({}, ...(await Promise.all(addresses.map((each) => import(each)))));
  const translator = modules.parse(weights);
  return tasks.map((task) => ({ translate, trace })[name](modules, translator, task));
}

if (typeof process !== "undefined") {
  const { readFileSync } = await import("node:fs");
  const [name, path, ...addresses] = process.argv.slice(2);
  const { buffer, byteOffset, length } = readFileSync(path);
  const weights = buffer.slice(byteOffset, byteOffset + length);
  const results = await runTasks(name, addresses, weights, JSON.parse(readFileSync(0, "utf-8")));
  for (const result of results) process.stdout.write(`${JSON.stringify(result)}\n`);
}
