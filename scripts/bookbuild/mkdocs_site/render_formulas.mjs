// Reads lists of formulas from stdin, one a line, and writes a line with their HTML and MathML for
// each, as JSON: [[tex, display], …] -> [{html} or {error}, …]
import { createInterface } from "node:readline";
import katex from "katex";

const macros = {
  "\\query": "\\htmlClass{query}{#1}",
  "\\key": "\\htmlClass{key}{#1}",
  "\\val": "\\htmlClass{value}{#1}",
};
const options = {
  output: "htmlAndMathml",
  trust: ({ command }) => command === "\\htmlClass",
  strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
};

function render([tex, displayMode]) {
  try {
    return { html: katex.renderToString(tex, { ...options, displayMode, macros: { ...macros } }) };
  } catch (error) {
    return { error: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(JSON.parse(line).map(render))}\n`);
}
