// Answers queries with the search of the site: reads {folder, queries}, writes an answer for each query.
import { readFileSync } from "node:fs";

import { Search } from "../overrides/assets/search.js";

/** @param {string | number} path */
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const { folder, queries } = read(0);
const [{ docs }, texts] = [read(`${folder}/search_index.json`), read(`${folder}/texts.json`)];
const search = new Search(docs.map((section, i) => ({ ...section, ...texts[i] })));
console.log(JSON.stringify(queries.map((query) => search.search(query))));
