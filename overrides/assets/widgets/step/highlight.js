// @ts-check
/** Colors Python code. */

const TOKENS = new RegExp([
  /(?<comment>#.*)/, /(?<string>f?"(?:[^"\\]|\\.)*")/,
  /(?<keyword>\b(?:and|class|def|else|for|from|if|import|in|is|not|or|raise|return|None|True|False|self)\b)/,
  /(?<numeral>\b\d[\d.]*(?:e-?\d+)?\b)/,
].map((each) => each.source).join("|"), "g");

/**
 * The parts of each line: [kind, text], with an empty kind for plain code.
 * @param {string} code
 * @returns {[kind: string, text: string][][]}
 */
export function highlight(code) {
  let quoted = false;
  return code.replace(/\n$/, "").split("\n").map((line) => {
    const marks = line.split('"""').length - 1;
    if (quoted || marks) {
      quoted = marks === 1 ? !quoted : quoted;
      return [["string", line]];
    }
    /** @type {[string, string][]} */
    const parts = [];
    let end = 0;
    for (const match of line.matchAll(TOKENS)) {
      const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found) ?? [""];
      parts.push(["", line.slice(end, match.index)], [kind, match[0]]);
      end = match.index + match[0].length;
    }
    return /** @type {[string, string][]} */ ([...parts, ["", line.slice(end)]]).filter(([, each]) => each);
  });
}
