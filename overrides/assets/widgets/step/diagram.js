// @ts-check
/** The diagram of the model, as in figure 1 of the paper: a box for each part, from the bottom up. */

import { el, svg } from "../common.js";
import { COLUMNS, SIZE, placeBoxes } from "./boxes.js";

/** @import { Box, Part } from "./boxes.js" */

const EDGE = 16; // on both sides, for the numbers of the layers

/**
 * The diagram: a button for each box, over the lines between them.
 * @param {{source: number, target: number}} layers
 * @param {Record<Part | "source" | "target" | "diagram", string> & {layer: (number: number) => string}} text
 * @param {(id: string) => void} jump
 */
export function createDiagram(layers, text, jump) {
  const { boxes, height } = placeBoxes(layers);
  const picture = svg("svg", { viewBox: `${-EDGE} 0 ${208 + 2 * EDGE} ${height}`, role: "group", "aria-label": text.diagram });
  const at = (/** @type {string} */ id) => /** @type {Box} */ (boxes.find((box) => box.id === id));
  const middle = SIZE.width / 2;
  for (const side of /** @type {const} */ (["source", "target"])) {
    const own = boxes.filter((box) => box.id.startsWith(side));
    const x = COLUMNS[side] + middle;
    picture.append(svg("path", { d: `M${x} ${height - 16}V${own[own.length - 1].y}` }));
    for (let layer = 0; layer < layers[side]; layer++) {
      const parts = own.filter((box) => box.layer === String(layer));
      const top = parts[parts.length - 1].y - 3;
      picture.append(svg("rect", { class: "layer", x: COLUMNS[side] - 4, y: top, rx: 4,
        width: SIZE.width + 8, height: parts[0].y + SIZE.height + 3 - top }));
      const [edge, center] = [side === "source" ? -4 : 219, (top + parts[0].y + SIZE.height + 3) / 2];
      picture.append(svg("text", { class: "side", transform: `translate(${edge} ${center}) rotate(-90)` }, text.layer(layer)));
    }
    picture.append(svg("text", { class: "side", x, y: height - 4 }, text[side]));
  }
  const norm = at("source.norm");
  for (let layer = 0; layer < layers.target; layer++) {
    const cross = at(`target.${layer}.cross`);
    const y = cross.y + SIZE.height / 2;
    picture.append(svg("path", { d: `M${norm.x + middle} ${norm.y}v-6H104V${y}H${cross.x}` }));
  }
  /** @type {Map<string, SVGGElement>} */
  const groups = new Map();
  for (const { id, part, layer, x, y } of boxes) {
    const place = id.startsWith("source") ? text.source : text.target;
    const name = [place, layer && text.layer(Number(layer)), text[part]].filter(Boolean).join(", ");
    const group = svg("g", { class: part, role: "button", tabindex: "0", "aria-label": name,
      click: () => jump(id),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        jump(id);
      } },
    svg("title", {}, name),
    svg("rect", { x, y, width: SIZE.width, height: SIZE.height, rx: 3 }),
    svg("text", { x: x + middle, y: y + 13.5 }, text[part]));
    groups.set(id, group);
    picture.append(group);
  }
  const element = el("div", { class: "debugger__diagram", inert: true }, picture); // until the first stop is shown
  const mark = (/** @type {string} */ id) => {
    element.inert = false;
    for (const [each, group] of groups) {
      if (each === id) group.setAttribute("aria-current", "step");
      else group.removeAttribute("aria-current");
    }
  };
  return { element, mark };
}
