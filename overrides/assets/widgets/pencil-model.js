// @ts-check
/**
 * The pencil model: the tables of by_hand.py, computed as there.
 * @typedef {number[]} Row
 * @typedef {{source: string[], target: string[], sentences: [source: string, target: string][],
 *   weights: Record<string, any>}} Pencil pencil.json
 */

/** @param {Row} a @param {Row} b */
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
/** @param {Row[]} x @param {Row[]} y */
const add = (x, y) => x.map((row, i) => row.map((number, j) => number + y[i][j]));
/** A number with two decimals; a half goes away from zero, also one that binary digits miss. @param {number} x */
const round = (x) => (Number.isFinite(x) ? (Math.sign(x) * Math.floor(Math.abs(x) * 100 + 0.5 + 1e-9)) / 100 : x);

/**
 * Translates a sentence; returns the words up to <eos>, and each table of the last step by its name.
 * @param {Pencil} pencil @param {string[]} source
 * @param {boolean} isRounded whether each result is rounded before it is used, as on paper
 */
export function translate({ weights, ...vocabulary }, source, isRounded) {
  /** @type {Map<string, {rows: string[], columns: string[], values: Row[]}>} */
  const tables = new Map();
  const rounded = isRounded ? round : (/** @type {number} */ x) => x;

  /** @param {string} name @param {string[]} rows @param {Row[]} values @param {string[]} columns */
  function keep(name, rows, values, columns = []) {
    const kept = values.map((row) => row.map(rounded));
    tables.set(name, { rows, columns, values: kept });
    return kept;
  }

  /** @param {Row} scores */
  function softmax(scores) {
    const powers = scores.map((score) => rounded(Math.exp(score - Math.max(...scores))));
    return powers.map((power) => power / powers.reduce((sum, each) => sum + each));
  }

  /** @param {string} name @param {string[]} words @param {Row[]} x */
  function linear(name, words, x) {
    const { [`${name}.weight`]: weight, [`${name}.bias`]: bias } = weights;
    return keep(name, words, x.map((row) => weight.map((/** @type {Row} */ w, /** @type {number} */ i) =>
      dot(row, w) + bias[i])));
  }

  /** @param {"src" | "tgt"} side @param {string[]} words @param {string[]} tokens */
  function embed(side, words, tokens) {
    /** @type {Row[]} */
    const vectors = weights[`${side}_embedding.embedding.weight`];
    const x = words.map((word) => vectors[tokens.indexOf(word)].map((number) => 2 * number));
    const p = words.map((_, i) => [Math.sin(i), Math.cos(i), Math.sin(i / 100), Math.cos(i / 100)]);
    return keep(`${side}.sum`, words, add(keep(`${side}.embedding`, words, x), keep(`${side}.position`, words, p)));
  }

  /** @param {string} name @param {string[]} words @param {Row[]} x @param {string[]} keys @param {Row[]} memory */
  function attention(name, words, x, keys = words, memory = x) {
    const q = linear(`${name}.query`, words, x);
    const k = linear(`${name}.key`, keys, memory);
    const v = linear(`${name}.value`, keys, memory);
    const isCausal = name === "decoder.layers.0.self_attention";
    const heads = [0, 1].map((head) => {
      const part = (/** @type {Row} */ row) => row.slice(2 * head, 2 * head + 2);
      const scores = q.map((query, i) => k.map((key, j) =>
        isCausal && j > i ? -Infinity : dot(part(query), part(key)) / Math.sqrt(2)));
      const kept = keep(`${name}.scores.${head}`, words, scores, keys);
      const shares = keep(`${name}.weights.${head}`, words, kept.map(softmax), keys);
      return shares.map((row) => part([0, 1, 2, 3]).map((i) => dot(row, v.map((value) => value[i]))));
    });
    const joined = keep(`${name}.heads`, words, words.map((_, i) => [...heads[0][i], ...heads[1][i]]));
    return linear(`${name}.output`, words, joined);
  }

  /** @param {string} name @param {string[]} words @param {Row[]} x */
  function feedForward(name, words, x) {
    const hidden = linear(`${name}.linear1`, words, x).map((row) => row.map((number) => Math.max(0, number)));
    return linear(`${name}.linear2`, words, keep(`${name}.relu`, words, hidden));
  }

  /** @param {string} name @param {string[]} words @param {Row[]} x @param {Row[]} y */
  function addAndNorm(name, words, x, y) {
    const sum = keep(`${name}.sum`, words, add(x, y));
    const mean = keep(`${name}.mean`, words, sum.map((row) => [row.reduce((a, b) => a + b) / 4]));
    const centered = keep(`${name}.centered`, words, sum.map((row, i) => row.map((v) => v - mean[i][0])));
    const deviation = keep(`${name}.deviation`, words, centered.map((row) => [Math.sqrt(dot(row, row) / 4 + 1e-5)]));
    return keep(name, words, centered.map((row, i) => row.map((v, j) => // four equal numbers: 0 / 0
      (v / (deviation[i][0] || 1)) * weights[`${name}.weight`][j] + weights[`${name}.bias`][j])));
  }

  const [encoder, decoder] = ["encoder.layers.0", "decoder.layers.0"];
  let x = embed("src", source, vocabulary.source);
  x = addAndNorm(`${encoder}.norm1`, source, x, attention(`${encoder}.self_attention`, source, x));
  const memory = addAndNorm(`${encoder}.norm2`, source, x, feedForward(`${encoder}.feed_forward`, source, x));
  for (let words = ["<bos>"]; ; ) { // the last step has all rows of the decoder
    x = embed("tgt", words, vocabulary.target);
    x = addAndNorm(`${decoder}.norm1`, words, x, attention(`${decoder}.self_attention`, words, x));
    x = addAndNorm(`${decoder}.norm2`, words, x, attention(`${decoder}.cross_attention`, words, x, source, memory));
    x = addAndNorm(`${decoder}.norm3`, words, x, feedForward(`${decoder}.feed_forward`, words, x));
    const output = x.map((row) => weights["output.weight"].map((/** @type {Row} */ w) => dot(row, w)));
    const logits = keep("logits", words, output, vocabulary.target);
    const shares = keep("probabilities", words, logits.map(softmax), vocabulary.target);
    const chosen = shares.map((row) => vocabulary.target[row.indexOf(Math.max(...row))]);
    if (chosen.at(-1) === "<eos>" || words.length === 7) return { tables, words: chosen };
    words = ["<bos>", ...chosen];
  }
}
