// Reads formulas from stdin and writes their HTML with MathML to stdout, as JSON:
// [{tex, display}, …] -> [{html} or {error}, …]
import katex from "katex";

const macros = {
  "\\query": "\\htmlClass{query}{#1}",
  "\\key": "\\htmlClass{key}{#1}",
  "\\val": "\\htmlClass{value}{#1}",
};
const options = {
  output: "htmlAndMathml",
  throwOnError: true,
  trust: ({ command }) => command === "\\htmlClass",
  strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
};

let input = "";
for await (const chunk of process.stdin) input += chunk;
const results = JSON.parse(input).map(({ tex, display }) => {
  try {
    return { html: katex.renderToString(tex, { ...options, displayMode: display, macros: { ...macros } }) };
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(results));
