// @ts-check
/** The texts of the page Step through, apart from those about the lines (docs/step-through/). */

/** @typedef {typeof EN | typeof ZH} Texts */

export const EN = {
  label: "An English sentence",
  run: "Run",
  words: "Words that the model knows",
  examples: "Examples",
  forced: "Translation to read (optional)",
  empty: "Write a sentence first, or take an example.",
  /** @type {(most: number) => string} */
  long: (most) => `That is too long: ${most} tokens at most.`,
  /** @type {(list: string) => string} */
  unknown: (list) => `The model does not know ${list}.`,
  /** @type {(list: string) => string} */
  near: (list) => ` (near it: ${list})`,
  tour: "Tour",
  /** @type {(i: number, count: number) => string} */
  tourAt: (i, count) => `Tour, ${i} of ${count}`,
  back: "Back",
  step: "Step",
  over: "Over",
  out: "Out",
  layer: "Next layer",
  layerNumber: (/** @type {number} */ number) => `layer ${number}`,
  token: "Next token",
  link: "Copy link",
  copied: "Copied",
  titles: {
    back: "One stop back", step: "One stop on, into calls", over: "To the next line, past calls",
    out: "Out of this function", layer: "The same line in the next layer",
    token: "Select the next token", link: "Copy the address of this moment",
    tour: "Twelve stops from the words to the translation",
  },
  slider: "Stop",
  /** @type {(i: number, count: number) => string} */
  place: (i, count) => `stop ${i} of ${count}`,
  code: "transformer.py",
  /** @type {(line: number) => string} */
  runTo: (line) => `Run to line ${line}`,
  stack: "Calls",
  read: "In the book:",
  head: "Head",
  position: "Token",
  compare: "Compare with",
  nothing: "nothing",
  sentence: "another sentence",
  second: "second sentence",
  runSecond: "Compare",
  first: "first sentence",
  off: {
    mask: "no mask", scale: "no division by √d_k", positions: "no positions",
    /** @type {(stack: string, layer: number, cross: boolean, head: number) => string} */
    head: (stack, layer, cross, head) => `${stack} layer ${layer}, ${cross ? "cross" : "self"}-attention, head ${head}`,
  },
  heads: "One head off",
  locals: "Variables here",
  before: "before",
  after: "after",
  original: "original",
  changed: "changed",
  /** @type {(one: string, other: string) => string} */
  difference: (one, other) => `difference (${one} − ${other})`,
  scope: {
    mask: "All masks of the model are left out, so the inputs of this line can differ too. The target tokens stay the same.",
    scale: "The division is left out in every attention, so the inputs of this line can differ too. The target tokens stay the same.",
    positions: "Encoder and decoder get no positions, so the inputs of this line can differ too. The target tokens stay the same.",
    head: "Only this head is off, but everything after it can differ too. The target tokens stay the same.",
  },
  same: "No difference.",
  /** @type {(names: string) => string} */
  mask: (names) => `${names}: 1 where a query may attend to a key, else 0.`,
  likeliest: "The likeliest next tokens",
  reads: "Reads most",
  /** @type {(token: string, next: string) => string} */
  writes: (token, next) => `${token} (then ${next})`,
  /** @type {(at: string, next: string) => string} */
  row: (at, next) => `At ${at}${next && `, about to write ${next}`}`,
  /** @type {(low: string, high: string) => string} */
  range: (low, high) => `from ${low} to ${high}`,
  largest: "largest: ",
  all: "any query",
  map: "Arrow keys move through the numbers; Escape leaves.",
  boxes: {
    source: "source", target: "target", embedding: "Embedding", position: "Position",
    mask: "Mask", self: "Attention", cross: "Cross-att.", feed: "Feed-forw.", norm: "Norm",
    logits: "Linear", diagram: "The model, as in figure 1 of the paper",
  },
};

export const ZH = {
  label: "一句英文",
  run: "运行",
  words: "模型认识的词",
  examples: "例句",
  forced: "指定译文（可不填）",
  empty: "先写一句英文或点一个例句。",
  /** @type {(most: number) => string} */
  long: (most) => `太长了：最多 ${most} 个词元。`,
  /** @type {(list: string) => string} */
  unknown: (list) => `模型不认识 ${list}。`,
  /** @type {(list: string) => string} */
  near: (list) => `（相近的有 ${list}）`,
  tour: "导览",
  /** @type {(i: number, count: number) => string} */
  tourAt: (i, count) => `导览 ${i}/${count}`,
  back: "后退",
  step: "单步进入",
  over: "单步跳过",
  out: "单步跳出",
  layer: "下一层的同一行",
  layerNumber: (/** @type {number} */ number) => `第 ${number} 层`,
  token: "下一个词元",
  link: "复制链接",
  copied: "已复制",
  titles: {
    back: "退一步", step: "执行一步，遇到调用就进入", over: "执行到下一行，不进入调用",
    out: "跳出当前函数", layer: "到下一层的同一行", token: "选中下一个词元",
    link: "复制链接", tour: "从单词到译文，共十二站",
  },
  slider: "步",
  /** @type {(i: number, count: number) => string} */
  place: (i, count) => `第 ${i} 步，共 ${count} 步`,
  code: "transformer.py",
  /** @type {(line: number) => string} */
  runTo: (line) => `运行到第 ${line} 行`,
  stack: "调用栈",
  read: "书中讲解：",
  head: "头",
  position: "词元",
  compare: "对比",
  nothing: "不对比",
  sentence: "另一个句子",
  second: "第二句",
  runSecond: "对比",
  first: "第一句",
  off: {
    mask: "去掉掩码", scale: "不除以 √d_k", positions: "去掉位置编码",
    /** @type {(stack: string, layer: number, cross: boolean, head: number) => string} */
    head: (stack, layer, cross, head) => `${stack === "encoder" ? "编码器" : "解码器"}第 ${layer} 层${cross ? "交叉注意力" : "自注意力"}的 ${head} 号头`,
  },
  heads: "关掉一个头",
  locals: "当前变量",
  before: "之前",
  after: "之后",
  original: "原来",
  changed: "改动后",
  /** @type {(one: string, other: string) => string} */
  difference: (one, other) => `差值（${one} − ${other}）`,
  scope: {
    mask: "整个模型都没有掩码，这一行的输入也可能不同。译文词元不变。",
    scale: "整个模型都不除以 √d_k，这一行的输入也可能不同。译文词元不变。",
    positions: "整个模型都没有位置编码，这一行的输入也可能不同。译文词元不变。",
    head: "只关掉这一个头，后面的计算也可能不同。译文词元不变。",
  },
  same: "没有差别。",
  /** @type {(names: string) => string} */
  mask: (names) => `${names}：查询可以看的键为 1，否则为 0。`,
  likeliest: "最可能的下一个词元",
  reads: "关注最多的词",
  /** @type {(token: string, next: string) => string} */
  writes: (token, next) => `${token}（接着写 ${next}）`,
  /** @type {(at: string, next: string) => string} */
  row: (at, next) => `在 ${at} 处${next && `，即将写 ${next}`}`,
  /** @type {(low: string, high: string) => string} */
  range: (low, high) => `${low} 到 ${high}`,
  largest: "最大的：",
  all: "全部查询",
  map: "方向键移动，Esc 离开。",
  boxes: {
    source: "原文", target: "译文", embedding: "词嵌入", position: "位置编码",
    mask: "掩码", self: "自注意力", cross: "交叉注意力", feed: "前馈网络", norm: "层归一化",
    logits: "线性层", diagram: "模型，画法同论文图 1",
  },
};
