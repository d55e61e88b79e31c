// @ts-check
/** Names the axes of each tensor in a trace, with the symbols of the page Shapes. */

import { runModel } from "./run-model.js";
import { Tensor } from "./tensor.js";

/** @import { Translator } from "../../../downloads/translator.js" */
/** @import { Program } from "./run-model.js" */

/** @typedef {{src_vocab_size: number, tgt_vocab_size: number, dim_feedforward: number} & Translator["config"]} Sizes */

/**
 * A function that returns the names of a tensor's axes by the index of its stop and the name of the
 * variable, which is one of its locals or changes: m for words of the source, n for tokens of the
 * target, h for heads, 1 for an axis of one element, such as the batch.
 *
 * All traces have the same stops. So the names are found in a trace whose sizes are all different,
 * and hold for sentences of any length, also if both have the same.
 * @param {Program} program
 * @param {Translator} translator
 */
export function nameAxes(program, translator) {
  const config = /** @type {Sizes} */ (translator.config);
  const symbols = new Map([
    [1, "1"],
    [config.tgt_vocab_size, "V_tgt"],
    [config.src_vocab_size, "V_src"],
    [config.max_len, "max_len"],
    [config.dim_feedforward, "f"],
    [config.d_model / config.nhead, "d/h"],
    [config.nhead, "h"],
    [config.d_model, "d"],
  ]);
  const [m, n] = Array.from({ length: config.max_len }, (_, i) => i).filter((size) => size && !symbols.has(size));
  symbols.set(m, "m").set(n, "n");
  const ids = (/** @type {number} */ length) => Array.from({ length }, () => 1);
  const { stops } = runModel(program, translator, ids(m), ids(n));
  return (/** @type {number} */ stop, /** @type {string} */ name) => {
    const { locals, changes } = stops[stop];
    const tensor = changes.find((change) => change.name === name)?.after ?? locals[name];
    return tensor instanceof Tensor ? tensor.shape.map((size) => symbols.get(size) ?? String(size)) : [];
  };
}
