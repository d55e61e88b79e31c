// @ts-check
/** The search: which words the pages have, what a query finds, and what is shown of it. */

import MiniSearch from "minisearch";
import { stemmer } from "stemmer";

/**
 * @typedef {object} Section a page, or a section of it, whose address has an anchor
 * @property {string} location
 * @property {string} title
 * @property {string} [text] its paragraphs
 * @property {string} [names] other words for it, between semicolons or on lines of their own
 * @property {string} [code] the names in its blocks of code
 * @property {number} [boost]
 *
 * @typedef {{ text: string, terms: string[] }} Word a word and its terms; the last one is the whole word's
 * @typedef {{ location: string, title: string, text: string, score: number, terms: Record<string, boolean> }} Result
 */

const FIELDS = { title: 4, names: 4, page: 1, text: 1, code: 0.5 }; // how much a word in each counts
const PAGE_BOOST = 1.3; // of a page over its sections
const [NAMED_BOOST, PHRASE_BOOST] = [8, 3]; // if the query is a name of the section, or both have a phrase
const COVERAGE_POWER = 3; // of the fraction of the query's words that a section has
const [PAGES, SECTIONS] = [10, 3]; // at most, and of each page
const EXCERPT = 160; // characters; in Chinese half as many are as long

// Words of questions that their answers needn't have.
const STOP_WORDS = new Set(
  `a about after all also am an and any are as at be because been but by can cannot could did do does doing done don
  each even ever every for from get gets getting give gives go goes got had has have having he help her here his how i
  if in into is isn it its just keep keeps let like make makes many me more most much my need needs of on only or other
  our should so some such t than that the their them then there these they thing this those to too try use used using
  very want was way we were what when where whether which while who why will with work works would you your`.split(/\s+/),
);
const CHINESE_STOP_WORDS = /为什么|为何|怎么样|怎么办|怎么|怎样|如何|什么|请问|是不是|可以|应该|一直|总是|我的|的|了|吗|呢|是/g;

const WORD = /\p{N}+\.\p{N}+|[√∞]|\p{sc=Han}+|(?:(?!\p{sc=Han})[\p{L}\p{N}_])+(?:[-‑–](?!\p{sc=Han})[\p{L}\p{N}_]+)*/gu;
const HAN = /^\p{sc=Han}/u;
const PARTS = /[-‑–_]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const SIGNS = new Map([["√", "sqrt"], ["∞", "inf"]]);

/** @param {string} word */
function stem(word) {
  const lower = word.toLowerCase();
  // A tokenizer is more than a token, and a normalization isn't normal.
  return SIGNS.get(word) ?? (/i[sz](?:er|ation)s?$/.test(lower) ? lower.replace(/s$/, "") : stemmer(lower));
}

/** @type {Map<string, string[]>} */
const known = new Map();

/**
 * The terms by which a word is found: a compound's parts and the whole, so that warm-up is found by
 * warmup and by warm up.
 * @param {string} word
 */
function wordTerms(word) {
  let terms = known.get(word);
  if (!terms) {
    const parts = word.split(PARTS).filter(Boolean);
    terms = (parts.length > 1 ? [...parts, parts.join("")] : parts).map(stem);
    known.set(word, terms);
  }
  return terms;
}

/**
 * The words of a text. Chinese has no spaces: each two characters that follow each other are a word.
 * @param {string} text
 * @returns {Word[]}
 */
function splitWords(text) {
  /** @type {Word[]} */
  const words = [];
  for (const [word] of text.normalize("NFKC").matchAll(WORD)) {
    if (HAN.test(word)) {
      for (let i = 0; i < Math.max(word.length - 1, 1); i++) {
        words.push({ text: word.slice(i, i + 2), terms: [word.slice(i, i + 2)] });
      }
    } else if (wordTerms(word).length) {
      words.push({ text: word, terms: wordTerms(word) });
    }
  }
  return words;
}

/**
 * The words of a query without those of its question, and an error message without its numbers,
 * unless it has no others.
 * @param {string} query
 */
function queryWords(query) {
  const all = splitWords(query);
  const words = splitWords(query.replace(CHINESE_STOP_WORDS, " ")).filter(({ text }) => !STOP_WORDS.has(text.toLowerCase()));
  const others = words.filter(({ text }) => words.length < 5 || !/^[\d.]+$/.test(text));
  return others.length ? others : all;
}

/**
 * A phrase with compounds in parts: batch_first as batch first.
 * @param {Word[]} words
 */
const joinTerms = (words) => words.flatMap(({ terms }) => (terms.length > 1 ? terms.slice(0, -1) : terms)).join(" ");

/**
 * The fraction of a word that is among the terms: the whole, or some of its parts.
 * @param {Word} word
 * @param {Set<string>} found
 */
function foundFraction({ terms }, found) {
  if (found.has(/** @type {string} */ (terms.at(-1)))) return 1;
  return terms.slice(0, -1).filter((term) => found.has(term)).length / Math.max(terms.length - 1, 1);
}

export class Search {
  /** @param {Section[]} sections in order, each page before its sections */
  constructor(sections) {
    this.sections = new Map(sections.map((section) => [section.location, section]));
    /** @type {Set<string>} */
    this.terms = new Set();
    /** @type {MiniSearch<Section>} */
    this.index = new MiniSearch({
      idField: "location",
      fields: Object.keys(FIELDS),
      extractField: (section, field) => (field === "page" ? this.page(section.location).title : section[/** @type {keyof Section} */ (field)]),
      tokenize: (text) => splitWords(text).flatMap(({ terms }) => terms),
      processTerm: (term) => this.terms.add(term) && term,
    });
    this.index.addAll(sections);
    /** @type {Map<Section, string[]>} */
    this.names = new Map();
    this.titles = new Set(sections.flatMap(({ title }) => title.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []));
  }

  /** @param {string} location */
  page(location) {
    return /** @type {Section} */ (this.sections.get(location.split("#")[0]));
  }

  /**
   * The title of a section and its other names, in terms.
   * @param {Section} section
   */
  namesOf(section) {
    const names = this.names.get(section) ?? [section.title, ...(section.names ?? "").split(/[;\n]/)].map((name) => joinTerms(queryWords(name)));
    this.names.set(section, names);
    return names;
  }

  /**
   * @param {Section} section
   * @param {string} phrase the query in terms
   * @param {string[]} quotes parts of the query that can be sentences
   */
  nameBoost(section, phrase, quotes) {
    const names = this.namesOf(section);
    if (names.includes(phrase)) return NAMED_BOOST;
    const text = quotes.length ? (section.text ?? "").toLowerCase() : "";
    const isQuoted = quotes.some((quote) => text.includes(quote));
    return isQuoted || names.some((name) => name.split(" ").length > 2 && ` ${phrase} `.includes(` ${name} `)) ? PHRASE_BOOST : 1;
  }

  /**
   * A word's terms, without parts of two letters if the whole word is in the book: RoPE isn't
   * found by Ro in RoFormer, nor by PE.
   * @param {string[]} terms
   */
  searchedTerms(terms) {
    const isKnown = this.terms.has(/** @type {string} */ (terms.at(-1)));
    return terms.filter((term, i) => !isKnown || term.length > 2 || i === terms.length - 1);
  }

  /**
   * The sections with any of the words. The last word may be incomplete, and one that no section
   * has may be misspelled.
   * @param {Word[]} words
   */
  matches(words) {
    const last = words.at(-1)?.terms.at(-1);
    const terms = new Set(words.flatMap(({ terms }) => this.searchedTerms(terms)));
    return this.index.search([...terms].join(" "), {
      tokenize: (text) => text.split(" "),
      processTerm: (term) => term,
      boost: FIELDS,
      prefix: (term) => term === last && (term.length > 1 || HAN.test(term)),
      fuzzy: (term) => term.length > 4 && !this.terms.has(term) && 1,
    });
  }

  /**
   * The pages that a query finds, each with its sections, best first.
   * @param {string} query
   * @returns {{ items: Result[][], suggest: string[] }}
   */
  search(query) {
    const words = queryWords(query);
    const matches = this.matches(words);
    const inBook = new Set(matches.flatMap(({ queryTerms }) => queryTerms));
    const phrase = joinTerms(words);
    const quotes = query.toLowerCase().split(/[:;,\n]\s+/).filter((part) => part.trim().split(/\s+/).length > 3);
    const knownWords = words.filter((word) => foundFraction(word, inBook));
    const ranked = matches.map(({ id, score, terms, queryTerms }) => {
      const section = /** @type {Section} */ (this.sections.get(id));
      const found = new Set(queryTerms);
      const coverage = knownWords.reduce((sum, word) => sum + foundFraction(word, found), 0) / knownWords.length;
      const boost = (section.boost ?? 1) * (id.includes("#") ? 1 : PAGE_BOOST) * this.nameBoost(section, phrase, quotes);
      return { section, found, shown: terms, score: score * boost * coverage ** COVERAGE_POWER };
    });
    ranked.sort((a, b) => b.score - a.score);

    /** @type {Map<Section, Result[]>} */
    const pages = new Map();
    for (const { section, score, found, shown } of ranked) {
      const page = this.page(section.location);
      const results = pages.get(page) ?? [];
      if (results.length === SECTIONS || (!results.length && pages.size === PAGES)) continue;
      pages.set(page, results);
      const isFound = words.map((word) => /** @type {const} */ ([word.text, foundFraction(word, found) > 0]));
      const terms = Object.fromEntries(isFound.filter(([text, each]) => each || !HAN.test(text))); // half words can't be missing
      results.push({ location: section.location, ...markMatches(section, shown), score, terms });
    }
    for (const [page, results] of pages) {
      if (!results.some(({ location }) => location === page.location)) {
        results.push({ location: page.location, title: escapeHtml(page.title), text: "", score: 0, terms: {} });
      }
    }
    const last = /[\p{L}\p{N}]{2,}$/u.exec(query.toLowerCase())?.[0];
    const suggestion = last && [...this.titles].find((title) => title.startsWith(last));
    return { items: [...pages.values()], suggest: suggestion ? [suggestion] : [] };
  }
}

/** @param {string} text */
const escapeHtml = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * A section's title and an excerpt of its text, with what was found marked.
 * @param {Section} section
 * @param {string[]} terms stems, of which most begin a word
 */
function markMatches({ title, text = "" }, terms) {
  const patterns = terms.slice(0, 30).map((term) => {
    if (HAN.test(term)) return term;
    const sign = [...SIGNS.keys()].filter((each) => SIGNS.get(each) === term).map((each) => `${each}|`);
    const rest = term.length > 1 ? "[\\p{L}\\p{N}]*" : "(?![\\p{L}\\p{N}])";
    const letters = [...term.replace(/i$/, "")].join("[-‑–_]?") + (term.endsWith("i") ? "[iy]" : ""); // warm-up for warmup
    return `${sign}(?<![\\p{L}\\p{N}])${letters}${rest}`;
  });
  const pattern = new RegExp(patterns.join("|") || "(?!)", "giu");
  /** @param {string} part */
  const mark = (part) => {
    let [html, end] = ["", 0];
    for (const match of part.matchAll(pattern)) {
      html += `${escapeHtml(part.slice(end, match.index))}<mark data-md-highlight>${escapeHtml(match[0])}</mark>`;
      end = match.index + match[0].length;
    }
    return (html + escapeHtml(part.slice(end))).replaceAll("</mark><mark data-md-highlight>", "");
  };
  return { title: mark(title), text: mark(excerpt(text, pattern)) };
}

/**
 * The part of a text that has most of the different matches, from the beginning of a sentence if
 * there is one near.
 * @param {string} text
 * @param {RegExp} pattern
 */
function excerpt(text, pattern) {
  const isChinese = (text.match(/\p{sc=Han}/gu)?.length ?? 0) > text.length / 4;
  const length = isChinese ? EXCERPT / 2 : EXCERPT;
  const matches = [...text.matchAll(pattern)].slice(0, 50).map(({ 0: word, index }) => ({ word: word.toLowerCase(), index }));
  let [start, most] = [0, 0];
  for (const { index } of matches) {
    const inside = matches.filter((other) => other.index >= index && other.index < index + length / 2);
    const count = new Set(inside.map(({ word }) => word)).size;
    if (count > most) [start, most] = [index, count];
  }
  const before = (start < length / 2 ? "\n" : "") + text.slice(Math.max(start - length / 2, 0), start);
  const sentence = /(?:[.?!]\s|[。？！；\n])([^.?!。？！；\n]*)$/u.exec(before)?.[1] ?? /\S*\s*\S{0,10}$/u.exec(before)?.[0];
  const from = start - (sentence ?? "").length;
  const part = text.slice(from, from + length);
  const isCut = from + length < text.length;
  return `${from ? "…" : ""}${isCut ? part.replace(/(\d+\.)?\w*$/, "") : part}${isCut ? "…" : ""}`;
}
