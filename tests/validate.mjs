// What html-validate finds in the files named, one fault a line; the rules left out say why.
import { readFileSync } from "node:fs";
import { HtmlValidate } from "html-validate";

const rules = {
  // A matter of taste, and Material's, MkDocs' or KaTeX's.
  "doctype-style": "off",
  "no-trailing-whitespace": "off",
  "presentation-role-style": "off",
  "void-style": "off",
  "no-inline-style": "off", // KaTeX places by them; the policy allows them alone
  "long-title": "off", // a claim is as long as it is
  "valid-id": ["error", { relaxed: true }], // as HTML has it: anything without a space
  // What a cell of a lab prints has heads in its first row and column, where a scope goes without saying.
  "wcag/h63": "off",
  // Material's, in what no block of a template reaches.
  "input-attributes": "off", // autocomplete="off" keeps Firefox from opening the menu again
  "valid-autocomplete": "off", // the same
  "attribute-misuse": "off", // rel="edit" of the link to a page's source
  "wcag/h30": "off", // that link is named by its title, and axe takes it for a name
  "wcag/h32": "off", // the forms of search and colors aren't sent
  "unique-landmark": "off", // the table of contents stands twice: in the menu, and beside the text
};
const validator = new HtmlValidate({ extends: ["html-validate:recommended"], rules });

for (const file of process.argv.slice(2)) {
  const report = await validator.validateString(readFileSync(file, "utf8"), file);
  for (const { messages } of report.results) {
    for (const { line, ruleId, message } of messages) {
      console.log(`${file}, line ${line}: ${message} (${ruleId})`);
    }
  }
}
