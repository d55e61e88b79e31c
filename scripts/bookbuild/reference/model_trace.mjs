// Runs run-model.js and returns the tensors that model_trace.py compares, in order.
// Under Node: node model_trace.mjs RUN_MODEL TRANSLATOR WEIGHTS < input.json, which has the program
// and the tasks; prints a line of JSON for each task. In a browser: traceTensors.

/**
 * @param {typeof import("../../../overrides/assets/widgets/step/run-model.js")} module
 * @param {import("../../../overrides/assets/widgets/step/run-model.js").Program} program
 * @param {import("../../../snippets/translator.js").Translator} translator
 * @param {{src: number[], tgt: number[], without?: any}} task
 */
function traceTensors({ runModel }, program, translator, { src, tgt, without }) {
  const { stops } = runModel(program, translator, src, tgt, { without });
  const steps = [];
  const parts = [];
  for (const { function: name, path, changes } of stops) {
    for (const { name: variable, line, after } of changes) {
      if (!after.shape) continue;
      steps.push({ function: name, path, line, name: variable, shape: after.shape, dtype: after.dtype });
      const bytes = new Uint8Array(after.data.buffer, after.data.byteOffset, after.data.byteLength);
      for (let i = 0; i < bytes.length; i += 8192) {
        parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
      }
    }
  }
  return JSON.stringify({ steps, data: btoa(parts.join("")) });
}

if (typeof process !== "undefined") {
  const { readFileSync } = await import("node:fs");
  const { pathToFileURL } = await import("node:url");
  const [runner, code, path] = process.argv.slice(2);
  const { buffer, byteOffset, length } = readFileSync(path);
  const { parse } = await import(pathToFileURL(code).href);
  const translator = parse(buffer.slice(byteOffset, byteOffset + length));
  const module = await import(pathToFileURL(runner).href);
  const { program, tasks } = JSON.parse(readFileSync(0, "utf-8"));
  for (const task of tasks) {
    process.stdout.write(`${traceTensors(module, program, translator, task)}\n`);
  }
}
