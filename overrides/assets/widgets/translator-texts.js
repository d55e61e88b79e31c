// @ts-check
/** The texts of the live translator in both languages. */

export const END = "<eos>"; // the token that ends a sentence

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(share < 0.01 ? 2 : 1)}%`;

export const TEXTS = {
  en: {
    label: "An English sentence",
    go: "Translate",
    list: "Words that the model knows",
    examples: "Examples",
    another: "Another one",
    loading: "Fetching the model …",
    failed: "The model could not be fetched or run.",
    again: "Try again",
    empty: "Write a sentence first, or take an example.",
    /** @type {(words: number, places: number) => string} */
    long: (words, places) => `${words} words are too many: the model has ${places} positions.`,
    /** @type {(known: number) => string} */
    unknown: (known) => `is not among the ${known} words that the model knows.`,
    number: "Write numbers in words, like forty two.",
    near: "Similar words:",
    more: "More unknown words follow.",
    /** @type {(most: number) => string} */
    endless: (most) => `The translation did not end within ${most} characters.`,
    right: "This is the grammar’s translation.",
    /** @type {(chinese: string) => string} */
    wrong: (chinese) => `The grammar’s translation is ${chinese}, so the model is wrong here.`,
    back: "Step back",
    forward: "Step forward",
    step: "Step",
    whole: "Step back, or click a character: which words did it look at, and what else might it have been?",
    all: "the whole sentence",
    /** @type {(step: number, steps: number) => string} */
    place: (step, steps) => `Step ${step} of ${steps}: `,
    /** @type {(looks: string[]) => string} */
    looks: (looks) => ` looks at ${looks.join(", ")}.`,
    /** @type {(word: string, share: number) => string} */
    look: (word, share) => `${word} (${percent(share)})`,
    likeliest: "The likeliest next tokens",
    layer: "Layer",
    head: "Head",
    mean: "mean of all",
    search: "Search",
    greedy: "greedy",
    beam: "beam of 4",
    picture: "The English words above, the Chinese characters below; the wider a line, the more a character looks at a word.",
    percent,
  },
  zh: {
    label: "一句英文",
    go: "翻译",
    list: "模型认识的词",
    examples: "例句",
    another: "换一句",
    loading: "正在加载模型……",
    failed: "模型加载失败，或者运行出错。",
    again: "再试一次",
    empty: "先写一句英文，或者点一个例句。",
    /** @type {(words: number, places: number) => string} */
    long: (words, places) => `一共 ${words} 个词，太长了：模型只有 ${places} 个位置。`,
    /** @type {(known: number) => string} */
    unknown: (known) => `不在模型认识的 ${known} 个词里。`,
    number: "数字请用英文单词写，比如 forty two。",
    near: "相近的词：",
    more: "后面还有别的生词。",
    /** @type {(most: number) => string} */
    endless: (most) => `写了 ${most} 个字还没有写到结尾。`,
    right: "和语法给出的译文一样。",
    /** @type {(chinese: string) => string} */
    wrong: (chinese) => `语法给出的译文是“${chinese}”，这里模型译错了。`,
    back: "后退一步",
    forward: "前进一步",
    step: "步",
    whole: "后退一步，或者点一个字：写这个字时看了哪些词，还可能写成什么？",
    all: "整句",
    /** @type {(step: number, steps: number) => string} */
    place: (step, steps) => `第 ${step} 步，共 ${steps} 步：`,
    /** @type {(looks: string[]) => string} */
    looks: (looks) => ` 看的是 ${looks.join("、")}。`,
    /** @type {(word: string, share: number) => string} */
    look: (word, share) => `${word}（${percent(share)}）`,
    likeliest: "下一个词元，最可能的几个",
    layer: "层",
    head: "头",
    mean: "全部的平均",
    search: "搜索",
    greedy: "贪心",
    beam: "束搜索（束宽 4）",
    picture: "上面是英文的词，下面是中文的字；线越粗，这个字看那个词看得越多。",
    percent,
  },
};
