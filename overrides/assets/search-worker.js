// @ts-check
/**
 * The search in a worker; Material's script sends it the index, then queries. The index has titles
 * and other names, and answers soon. The worker fetches the texts, which are ten times as long.
 */

import { Search } from "./search.js";

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
/** @type {Search} */
let search;
let query = "";
let [isAnswered, hasTexts] = [true, false];

/** Answers only the latest of the queries that came while the last one was answered. */
function answer() {
  if (isAnswered) return;
  isAnswered = true;
  const data = search.search(query);
  if (data.items.length || hasTexts || !query) postMessage({ type: RESULT, data });
}

/** @param {import("./search.js").Section[]} sections */
async function addTexts(sections) {
  const response = await fetch(new URL("../../../search/texts.json", location.href));
  const texts = await response.json();
  search = new Search(sections.map((section, i) => ({ ...section, ...texts[i] })));
  [isAnswered, hasTexts] = [false, true];
  answer();
}

addEventListener("message", ({ data: { type, data } }) => {
  if (type === SETUP) {
    search = new Search(data.docs);
    postMessage({ type: READY });
    addTexts(data.docs);
  } else if (type === QUERY) {
    [query, isAnswered] = [data, false];
    setTimeout(answer);
  }
});
