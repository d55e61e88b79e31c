// Reads formulas from stdin and writes their HTML with MathML to stdout, as JSON:
// [[tex, display], …] -> [{html} or {error}, …]
import { text } from "node:stream/consumers";
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

const formulas = JSON.parse(await text(process.stdin));
const results = formulas.map(([tex, displayMode]) => {
  try {
    return { html: katex.renderToString(tex, { ...options, displayMode, macros: { ...macros } }) };
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(results));
