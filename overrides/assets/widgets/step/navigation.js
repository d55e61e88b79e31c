// @ts-check
/** Ways through the stops of a run, and the names of stops in an address. */

/**
 * @import { Stop, Switch } from "./run-model.js"
 * @typedef {"source" | "target"} Side
 */

/**
 * The next stop that is not deeper: the line is passed without the calls in it.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function stepOver(stops, at) {
  const next = stops.findIndex((stop, i) => i > at && stop.depth <= stops[at].depth);
  return next < 0 ? stops.length - 1 : next;
}

/**
 * The stop after the function has returned.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function stepOut(stops, at) {
  return Math.min(stops[stops[at].parent].end + 1, stops.length - 1);
}

/**
 * The next stop at a line, or the first one if none follows; -1 if the line never runs.
 * @param {Stop[]} stops
 * @param {number} at
 * @param {number} line
 */
export function runToLine(stops, at, line) {
  const here = (/** @type {Stop} */ stop) => stop.line <= line && line <= stop.endLine;
  const next = stops.findIndex((stop, i) => i > at && here(stop));
  return next < 0 ? stops.findIndex(here) : next;
}

/** The layer that a module is in, such as `decoder.layers.1`. @param {string} path */
const layerOf = (path) => /^\w+\.layers\.\d+/.exec(path)?.[0] ?? "";

/**
 * The stop of the next layer with the same function, part of the layer and place in the function;
 * from outside of the layers, the first stop of the next layer.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function nextLayer(stops, at) {
  const layer = layerOf(stops[at].path);
  const part = (/** @type {Stop} */ { path }) => path.slice(layerOf(path).length);
  const after = stops.findIndex((stop, i) => i > at && layerOf(stop.path) && layerOf(stop.path) !== layer);
  if (!layer || after < 0) return after < 0 ? at : after;
  const place = ordinal(stops, at);
  const next = layerOf(stops[after].path);
  const same = stops.flatMap((stop, i) =>
    i >= after && layerOf(stop.path) === next && stop.function === stops[at].function &&
    part(stop) === part(stops[at]) ? [i] : []);
  return same[place] ?? same[0] ?? after;
}

/**
 * The calls around a stop, from the outermost one to its own.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function callStack(stops, at) {
  const calls = [];
  for (let call = stops[at].parent; call >= 0; call = stops[call].caller) calls.unshift(call);
  return calls;
}

/**
 * Whose tokens a stop is about: those of the encoder's input or those of the decoder's.
 * @param {Stop[]} stops
 * @param {number} at
 * @returns {Side}
 */
export function sideOf(stops, at) {
  const names = callStack(stops, at).map((call) => stops[call].function);
  return ["Transformer.encode", "padding_mask"].includes(names[1]) ? "source" : "target";
}

/**
 * How many stops of the same function and module come before this one.
 * @param {Stop[]} stops
 * @param {number} at
 */
function ordinal(stops, at) {
  return stops.slice(0, at).filter((stop) => isAlike(stop, stops[at])).length;
}

/**
 * @param {Stop} one
 * @param {Stop} other
 */
const isAlike = (one, other) => one.function === other.function && one.path === other.path;

/**
 * The name of a stop: `function@path:n`, without the parts that are empty or zero.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function stopName(stops, at) {
  const { function: name, path } = stops[at];
  const place = ordinal(stops, at);
  return name + (path && `@${path}`) + (place ? `:${place}` : "");
}

/**
 * The stop with a name, -1 if there is none. The name may omit the path: the first module is meant;
 * and after the colon may be a variable, `scores`, or `scores:2` for the second line that sets it.
 * @param {Stop[]} stops
 * @param {string} name
 */
export function findStop(stops, name) {
  const [place, variable = "0", nth = "1"] = name.split(":");
  const [called, path] = place.split("@");
  const first = stops.find((stop) => stop.function === called && (path ?? stop.path) === stop.path);
  if (!first) return -1;
  const all = stops.flatMap((stop, i) => (isAlike(stop, first) ? [i] : []));
  if (/^\d+$/.test(variable)) return all[Number(variable)] ?? -1;
  const end = stops[all[0]].end;
  const own = all.filter((i) => i <= end && stops[i].kind !== "call");
  const setting = own.filter((i) => stops[i].changes.some((each) => each.name === variable));
  return setting[Number(nth) - 1] ?? -1;
}

/**
 * The names under which a text about a stop may be, the most specific first: the function with a
 * variable that the stop sets, and for a second line that sets it its number; then the function.
 * @param {Stop[]} stops
 * @param {number} at
 */
export function textNames(stops, at) {
  const { kind, function: name, changes, parent } = stops[at];
  if (kind === "call") return [name];
  const variable = kind === "return" ? "return" : (changes[0]?.name ?? "");
  const before = stops.slice(parent, at).filter((stop) =>
    stop.parent === parent && stop.kind === "assign" && stop.line < stops[at].line &&
    stop.changes[0]?.name === variable).length;
  const own = `${name}:${variable}`;
  return kind === "assign" && before ? [`${own}:${before + 1}`, own, name] : [own, name];
}

/**
 * The change that a part of an address names: `mask`, or `decoder.layers.1.self_attention.2`.
 * @param {string} name
 * @returns {Switch | undefined}
 */
export function parseSwitch(name) {
  const [, path, head] = /^(.+_attention)\.(\d+)$/.exec(name) ?? [];
  if (path) return { head: [path, Number(head)] };
  return name === "mask" || name === "scale" || name === "positions" ? name : undefined;
}
