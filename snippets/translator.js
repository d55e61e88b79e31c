// --8<-- [start:vectors]
// @ts-check
/**
 * The translator in a browser: transformer.py and decode.py once more, for one
 * sentence and one position at a time. x is a vector (d_model,) where Python
 * has a tensor (batch, position, d_model); nothing is padded, nothing masked.
 * @typedef {Float32Array<ArrayBuffer>} Vector
 * @typedef {{weight: Vector, bias: Vector}} Layer weight (out, in), by rows
 */
const [PAD, BOS, EOS] = [0, 1, 2];
const EPS = 1e-5;

/** W x + b. */
function linear(/** @type {Vector} */ x, /** @type {Layer} */ layer) {
  return layer.bias.map((sum, row) => {
    const start = row * x.length;
    for (let i = 0; i < x.length; i++) sum += layer.weight[start + i] * x[i];
    return sum;
  });
}

function layerNorm(/** @type {Vector} */ x, /** @type {Layer} */ layer) {
  const mean = x.reduce((sum, each) => sum + each) / x.length;
  const centered = x.map((each) => each - mean);
  const squares = centered.reduce((sum, each) => sum + each * each, 0);
  const scale = 1 / Math.sqrt(squares / x.length + EPS);
  const { weight, bias } = layer;
  return centered.map((each, i) => each * scale * weight[i] + bias[i]);
}

function add(/** @type {Vector} */ a, /** @type {Vector} */ b) {
  return a.map((each, i) => each + b[i]);
}

function logSoftmax(/** @type {ArrayLike<number>} */ scores) {
  const logs = Float64Array.from(scores);
  const largest = Math.max(...logs); // exp() of more than 709 is infinite
  const sum = logs.reduce((sum, each) => sum + Math.exp(each - largest), 0);
  return logs.map((each) => each - largest - Math.log(sum));
}

// --8<-- [end:vectors]
// --8<-- [start:attention]
/** @typedef {Record<"query" | "key" | "value" | "output", Layer>} Heads */
/** @typedef {{key: Vector, value: Vector}} Kept */

/** What a position keeps for all that will look at it. */
function keep(/** @type {Vector} */ x, /** @type {Heads} */ heads) {
  return { key: linear(x, heads.key), value: linear(x, heads.value) };
}

/** What x finds in the positions kept, and how much each head reads of each.
 * @param {Vector} x @param {Heads} heads @param {Kept[]} kept */
function attend(x, heads, kept, nhead = 1) {
  const query = linear(x, heads.query);
  const size = x.length / nhead; // head_dim
  const joined = new Float32Array(x.length);
  const weights = [];
  for (let start = 0; start < x.length; start += size) {
    const end = start + size; // the columns of this head
    const scores = kept.map(({ key }) => {
      let sum = 0;
      for (let j = start; j < end; j++) sum += query[j] * key[j];
      return sum / Math.sqrt(size);
    });
    const row = Float32Array.from(logSoftmax(scores), Math.exp);
    kept.forEach(({ value }, i) => {
      for (let j = start; j < end; j++) joined[j] += row[i] * value[j];
    });
    weights.push(row);
  }
  return { output: linear(joined, heads.output), weights };
}

// --8<-- [end:attention]
// --8<-- [start:translator]
/** @typedef {{self_attention: Heads, cross_attention: Heads, feed_forward:
 *   {linear1: Layer, linear2: Layer}, norm1: Layer, norm2: Layer, norm3:
 *   Layer}} Block
 * @typedef {{layers: Block[], norm: Layer}} Stack
 * @typedef {{embedding: Layer}} Embedding
 * @typedef {{src_embedding: Embedding, tgt_embedding: Embedding,
 *   encoder: Stack, decoder: Stack, output: Layer}} Model
 * @typedef {Record<"d_model" | "nhead" | "max_len", number>} Config */

/** max(0, x W1 + b1) W2 + b2. */
function feedForward(/** @type {Vector} */ x, /** @type {Block} */ block) {
  const { linear1, linear2 } = block.feed_forward;
  const hidden = linear(x, linear1);
  return linear(hidden.map((each) => Math.max(0, each)), linear2);
}

function vocabulary(/** @type {string[]} */ tokens) {
  return { tokens, ids: new Map(tokens.map((token, id) => [token, id])) };
}

/** A model, its configuration, and the vocabularies of its two sides. */
export class Translator {
  /** @param {Model} model @param {Config} config
   * @param {string[]} source @param {string[]} target */
  constructor(model, config, source, target) {
    this.model = model;
    this.config = config;
    this.source = vocabulary(source);
    this.target = vocabulary(target);
  }

  /** "Forty-two?" becomes forty, two and ?. */
  words(/** @type {string} */ text) {
    return text.toLowerCase().match(/\?|[^\s.,?-]+/g) ?? [];
  }

  /** The ids of the words; an Error for one that is not known. */
  encode(/** @type {string[]} */ words) {
    return words.map((word) => {
      const id = this.source.ids.get(word) ?? PAD;
      if (id <= EOS) throw new Error(`${word} is not in the vocabulary`);
      return id;
    });
  }

  /** A token's vector times sqrt(d_model), plus its position's waves. */
  embed(/** @type {Embedding} */ { embedding }, id = PAD, position = 0) {
    const { d_model, max_len } = this.config;
    if (position >= max_len) throw new Error(`over ${max_len} tokens`);
    const x = embedding.weight.slice(id * d_model, (id + 1) * d_model);
    if (id <= PAD || x.length === 0) throw new Error(`no token has id ${id}`);
    return x.map((each, column) => {
      const odd = column % 2;
      const angle = position / 10000 ** ((column - odd) / d_model);
      const wave = odd ? Math.cos(angle) : Math.sin(angle);
      return each * Math.sqrt(d_model) + wave;
    });
  }

  /** Runs the encoder. */
  start(/** @type {number[]} */ ids) {
    if (ids.length === 0) throw new Error("there is nothing to translate");
    const { encoder, decoder, src_embedding } = this.model;
    let xs = ids.map((id, i) => this.embed(src_embedding, id, i));
    for (const block of encoder.layers) {
      const { self_attention: heads, norm1, norm2 } = block;
      const ys = xs.map((x) => layerNorm(x, norm1));
      const kept = ys.map((y) => keep(y, heads));
      xs = xs.map((x, i) => {
        x = add(x, attend(ys[i], heads, kept, this.config.nhead).output);
        return add(x, feedForward(layerNorm(x, norm2), block));
      });
    }
    const memory = xs.map((x) => layerNorm(x, encoder.norm));
    const source = decoder.layers.map((block) => {
      return memory.map((x) => keep(x, block.cross_attention));
    });
    return new Progress(this, source, source.map(() => []));
  }
}

// --8<-- [end:translator]
// --8<-- [start:progress]
/** A translation in progress: what each layer keeps of source and target. */
class Progress {
  /** @param {Translator} translator
   * @param {Kept[][]} source @param {Kept[][]} target */
  constructor(translator, source, target) {
    this.translator = translator;
    this.source = source;
    this.target = target;
  }

  /** One more id -> logits of the next, and cross-attention [layer][head]. */
  step(/** @type {number} */ id) {
    const { config, model } = this.translator;
    const { tgt_embedding, decoder, output } = model;
    let x = this.translator.embed(tgt_embedding, id, this.target[0].length);
    const attention = decoder.layers.map((block, i) => {
      const { self_attention: heads, cross_attention } = block;
      const y = layerNorm(x, block.norm1);
      this.target[i].push(keep(y, heads)); // it may look at itself
      x = add(x, attend(y, heads, this.target[i], config.nhead).output);
      const z = layerNorm(x, block.norm2);
      const read = attend(z, cross_attention, this.source[i], config.nhead);
      x = add(x, read.output);
      x = add(x, feedForward(layerNorm(x, block.norm3), block));
      return read.weights;
    });
    return { logits: linear(layerNorm(x, decoder.norm), output), attention };
  }

  /** Another that begins alike; what does not grow is shared. */
  copy() {
    const target = this.target.map((kept) => [...kept]);
    return new Progress(this.translator, this.source, target);
  }
}

// --8<-- [end:progress]
// --8<-- [start:beam]
/** @typedef {{id: number, token: string, log: number, probabilities: Vector,
 *   attention: Vector[][]}} Step log: the logarithm of its own probability */
/** @typedef {{progress: Progress, steps: Step[], total: number}} Beam */

const ended = (/** @type {Beam} */ beam) => beam.steps.at(-1)?.id === EOS;

/** A beam continued by its likeliest next tokens, the likeliest first. */
function extend(/** @type {Beam} */ beam, count = 1) {
  if (ended(beam)) return [beam];
  const progress = beam.progress.copy();
  const { logits, attention } = progress.step(beam.steps.at(-1)?.id ?? BOS);
  logits[PAD] = -Infinity;
  const logs = logSoftmax(logits);
  const probabilities = Float32Array.from(logs, Math.exp);
  const ids = [...logs.keys()].sort((a, b) => logs[b] - logs[a]);
  return ids.slice(0, count).map((id) => {
    const token = progress.translator.target.tokens[id];
    const step = { id, token, log: logs[id], probabilities, attention };
    const total = beam.total + step.log;
    return { progress, steps: [...beam.steps, step], total };
  });
}

/** The best of size translations; the first of them is the greedy one.
 * @param {Translator} translator @param {number[]} ids */
export function beam(translator, ids, size = 4, penalty = 0.6, maxLength = 60) {
  /** Its score, or while unfinished the best that it can become. */
  const reach = (/** @type {Beam} */ beam) => {
    const length = ended(beam) ? beam.steps.length : maxLength;
    return beam.total / ((5 + length) / 6) ** penalty;
  };
  /** @type {Beam[]} */
  let beams = [{ progress: translator.start(ids), steps: [], total: 0 }];
  for (let length = 1; ; length++) {
    const [first, ...others] = beams.flatMap((beam) => extend(beam, size));
    others.sort((a, b) => b.total - a.total);
    beams = [first, ...others.slice(0, size - 1)];
    const best = beams.reduce((a, b) => (reach(b) > reach(a) ? b : a));
    if (ended(best) || length === maxLength) return best.steps;
  }
}

/** The likeliest token at each step: what is left of a beam alone.
 * @param {Translator} translator @param {number[]} ids */
export function greedy(translator, ids, maxLength = 60) {
  return beam(translator, ids, 1, 0, maxLength);
}

// --8<-- [end:beam]
// --8<-- [start:file]
/** A number of 16 bits: a sign, five bits of exponent, ten of fraction. */
function float16(/** @type {number} */ bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const size = exponent ? 1024 + fraction : 2 * fraction;
  return (bits >> 15 ? -size : size) * 2 ** (exponent - 25);
}

/** What save_translator wrote, or the same in float16; an Error for another. */
export function parse(/** @type {ArrayBuffer} */ buffer) {
  try {
    const start = 8 + new DataView(buffer).getUint32(0, true);
    const text = new TextDecoder().decode(buffer.slice(8, start));
    const { __metadata__, ...tensors } = JSON.parse(text);
    const { config, source, target } = JSON.parse(__metadata__.translator);
    const { norm_first, tie_embeddings, pad_id, layer_norm_eps } = config;
    if (!norm_first || tie_embeddings || pad_id || layer_norm_eps !== EPS) {
      throw new Error(`norm_first, untied, pad_id ${PAD} and eps ${EPS} alone`);
    }
    /** @type {any} */
    const model = { output: { bias: new Float32Array(target.length) } };
    for (const [name, { dtype, data_offsets }] of Object.entries(tensors)) {
      if (!/^F(16|32)$/.test(dtype)) throw new Error(`${name} is ${dtype}`);
      const [from, to] = data_offsets;
      const bytes = buffer.slice(start + from, start + to);
      if (bytes.byteLength < to - from) throw new Error(`${name} is cut off`);
      const path = name.split("."); // encoder, layers, 0, ..., norm, weight
      const last = path.pop() ?? "";
      const place = path.reduce((place, part) => (place[part] ??= []), model);
      place[last] = dtype === "F32" ? new Float32Array(bytes)
        : Float32Array.from(new Uint16Array(bytes), float16);
    }
    const translator = new Translator(model, config, source, target);
    const { logits } = translator.start([EOS]).step(BOS);
    if (!logits.every(Number.isFinite)) throw new Error("numbers are missing");
    return translator;
  } catch (error) {
    throw new Error(`this is no translator for translator.js: ${error}`);
  }
}

// --8<-- [end:file]
