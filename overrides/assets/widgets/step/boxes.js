// @ts-check
/** The boxes of the diagram: what each stands for, and where it is. */

import { sideOf } from "./navigation.js";

/**
 * @import { Stop } from "./run-model.js"
 * @typedef {"embedding" | "position" | "mask" | "self" | "cross" | "feed" | "norm" | "logits"} Part
 * @typedef {{id: string, part: Part, x: number, y: number, layer?: string}} Box
 */

export const SIZE = { width: 84, height: 19, step: 24 };
export const COLUMNS = { source: 6, target: 118 };
/** @type {Record<string, Part[]>} the parts of a layer, in the order of norm1, norm2 and norm3 */
const LAYERS = { source: ["self", "feed"], target: ["self", "cross", "feed"] };
/** @type {Record<string, Part>} */
const MODULES = { self_attention: "self", cross_attention: "cross", feed_forward: "feed" };

/**
 * The box that a stop is in, "" for a stop between the boxes.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function boxOf(stops, at) {
  const { path, function: name } = stops[at];
  const side = sideOf(stops, at);
  if (/_mask$/.test(name)) return `${side}.mask`;
  if (name === "Transformer.logits") return "target.logits";
  if (/^(src|tgt)_embedding/.test(path)) return `${side}.embedding`;
  if (path === "position") return `${side}.position`;
  if (/^\w+\.norm$/.test(path)) return `${side}.norm`;
  const [, layer, module, number] = /layers\.(\d+)\.([a-z_]+)(\d?)/.exec(path) ?? [];
  if (module) return `${side}.${layer}.${MODULES[module] ?? LAYERS[side][Number(number) - 1]}`;
  const method = /Layer\.(attend|read)$/.exec(name)?.[1];
  const own = /layers\.(\d+)$/.exec(path);
  return method && own ? `${side}.${own[1]}.${method === "read" ? "cross" : "self"}` : "";
}

/** @type {Record<string, string>} the variable of a part that says most about it */
const MAIN = { self: "weights", cross: "weights", feed: "hidden" };

/**
 * The stop to which a click on a box leads: where the main variable of an attention or a
 * feed-forward network is set, else the next first stop in the box, or the first; -1 if none.
 * @param {Stop[]} stops
 * @param {number} at
 * @param {string} box
 */
export function stopOfBox(stops, at, box) {
  const inside = (/** @type {number} */ i) => boxOf(stops, i) === box;
  const main = MAIN[box.split(".")[2]];
  if (main) return stops.findIndex(({ kind, changes: [first] }, i) => kind === "assign" && first?.name === main && inside(i));
  const next = inside(at) ? stops.findIndex((_, i) => i > at && inside(i) && !inside(i - 1)) : -1;
  return next < 0 ? stops.findIndex((_, i) => inside(i)) : next;
}

/**
 * The boxes of a model with so many layers, and the height of the diagram.
 * @param {{source: number, target: number}} layers
 */
export function placeBoxes(layers) {
  const rows = { source: 4 + 2 * layers.source, target: 5 + 3 * layers.target };
  const height = Math.max(rows.source, rows.target) * SIZE.step + 26;
  /** @type {Box[]} */
  const boxes = [];
  for (const side of /** @type {const} */ (["source", "target"])) {
    /** @type {{part: Part, layer?: string}[]} */
    const parts = [{ part: "embedding" }, { part: "position" }, { part: "mask" }];
    for (let layer = 0; layer < layers[side]; layer++) {
      parts.push(...LAYERS[side].map((part) => ({ part, layer: String(layer) })));
    }
    parts.push({ part: "norm" });
    if (side === "target") parts.push({ part: "logits" });
    parts.forEach(({ part, layer }, i) => {
      const id = [side, layer, part].filter(Boolean).join(".");
      boxes.push({ id, part, layer, x: COLUMNS[side], y: height - 20 - (i + 1) * SIZE.step });
    });
  }
  return { boxes, height };
}
