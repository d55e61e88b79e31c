// @ts-check
/** Draws a matrix as a heat map with its labels, on a canvas. */

import { shortNumber } from "./view.js";

/**
 * @typedef {{left: number, top: number, width: number, height: number, cellWidth: number,
 *   cellHeight: number, slanted: boolean, numbers: boolean}} Plan in CSS pixels
 */

const POSITIVE = "232 113 10"; // as in the figures of the book
const NEGATIVE = "26 115 232";
const WIDEST = 44; // a cell
const LARGEST = 330; // height of a map with very many rows

/**
 * The sizes of a heat map.
 * @param {number} room the available width
 * @param {number} rows
 * @param {number} columns
 * @param {number} rowText the width of the widest label of a row, 0 without labels
 * @param {number} columnText the same of a column
 * @returns {Plan}
 */
export function planMap(room, rows, columns, rowText, columnText) {
  const left = rowText ? Math.min(rowText + 8, 92) : 0;
  const cellWidth = Math.min((room - left) / columns, WIDEST);
  const slanted = columnText > cellWidth - 4;
  const top = !columnText ? 0 : slanted ? Math.min(0.72 * columnText + 14, 70) : 18;
  const wide = cellWidth >= 32;
  const cellHeight = Math.min(wide ? 25 : 17, Math.max(1, LARGEST / rows));
  return {
    left, top, cellWidth, cellHeight, slanted, numbers: wide && cellHeight >= 15,
    width: left + columns * cellWidth + (slanted ? Math.max(0, room - left - columns * cellWidth) : 0),
    height: top + rows * cellHeight,
  };
}

/**
 * The color of a value, transparent at zero.
 * @param {number} value
 * @param {number} most the magnitude that is opaque
 */
function colorOf(value, most) {
  const share = most ? Math.min(1, Math.abs(value) / most) : 0;
  return `rgb(${value < 0 ? NEGATIVE : POSITIVE} / ${share.toFixed(3)})`;
}

/**
 * The row and column at a point of the map; undefined outside of the cells.
 * @param {Plan} plan
 * @param {number} rows
 * @param {number} columns
 * @param {number} x
 * @param {number} y
 */
export function cellAt(plan, rows, columns, x, y) {
  const column = Math.floor((x - plan.left) / plan.cellWidth);
  const row = Math.floor((y - plan.top) / plan.cellHeight);
  return column >= 0 && column < columns && row >= 0 && row < rows ? { row, column } : undefined;
}

/** The colors and the font of the page. @param {Element} element */
export function readStyle(element) {
  const style = getComputedStyle(element);
  const [ink, note, empty] = ["--ink", "--note", "--output"].map((name) => style.getPropertyValue(name).trim());
  return { ink, note, empty, font: style.fontFamily };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Plan} plan
 * @param {{rows: number, columns: number, values: Float64Array}} matrix
 * @param {ReturnType<typeof readStyle>} style
 * @param {{most: number, rowLabels: string[], columnLabels: string[], selected: number,
 *   whole: boolean, cell?: {row: number, column: number}}} options `selected` is a row, -1 for none;
 *   `whole` writes numbers without decimals
 */
export function drawMap(canvas, plan, { rows, columns, values }, { ink, note, empty, font }, options) {
  const { left, top, cellWidth, cellHeight } = plan;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.ceil(plan.width * scale);
  canvas.height = Math.ceil(plan.height * scale);
  canvas.style.width = `${plan.width}px`;
  canvas.style.height = `${plan.height}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  context.font = `12px ${font}`;
  context.textBaseline = "middle";
  context.fillStyle = ink;
  context.textAlign = "right";
  options.rowLabels.forEach((label, i) => {
    context.fillText(label, left - 6, top + (i + 0.5) * cellHeight, left - 8);
  });
  options.columnLabels.forEach((label, i) => drawColumnLabel(context, plan, label, i));
  context.textAlign = "center";
  context.font = `11px ${font}`;
  const gap = cellWidth > 9 ? 1 : 0;
  for (let i = 0; i < values.length; i++) {
    const [x, y] = [left + (i % columns) * cellWidth, top + Math.floor(i / columns) * cellHeight];
    const width = gap ? cellWidth - gap : cellWidth + 0.3; // no light between narrow cells
    if (gap) {
      context.fillStyle = empty;
      context.fillRect(x, y, width, cellHeight - gap);
    }
    context.fillStyle = colorOf(values[i], options.most);
    context.fillRect(x, y, width, cellHeight - (cellHeight > 5 ? 1 : 0));
    if (!plan.numbers) continue;
    const strong = Math.abs(values[i]) > 0.55 * options.most;
    context.fillStyle = !strong ? ink : values[i] > 0 ? "#160a00" : "#ffffff";
    context.fillText(shortNumber(values[i], options.whole), x + cellWidth / 2, y + cellHeight / 2, cellWidth - 4);
  }
  context.lineWidth = 1.5;
  context.strokeStyle = ink;
  if (rows > 1 && options.selected >= 0 && options.selected < rows) {
    context.strokeRect(left + 0.75, top + options.selected * cellHeight + 0.25, columns * cellWidth - 1.5, cellHeight - 1);
  }
  if (!options.cell) return;
  context.lineWidth = 2;
  context.strokeStyle = note;
  const { row, column } = options.cell;
  context.strokeRect(left + column * cellWidth, top + row * cellHeight, Math.max(3, cellWidth - 1), cellHeight - 1);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Plan} plan
 * @param {string} label
 * @param {number} i
 */
function drawColumnLabel(context, { left, top, cellWidth, slanted }, label, i) {
  const middle = left + (i + 0.5) * cellWidth;
  context.save();
  context.translate(middle - (slanted ? 2 : 0), top - (slanted ? 6 : 9));
  if (slanted) context.rotate(-Math.PI / 4);
  context.textAlign = slanted ? "left" : "center";
  context.fillText(label, 0, 0);
  context.restore();
}
