// For each line of standard input, {url, port, device, onlyCategories}, prints Lighthouse's report
// as a line of JSON. One process measures all pages, since loading Lighthouse takes seconds.
import { createInterface } from "node:readline";

import lighthouse, { desktopConfig } from "lighthouse";

for await (const line of createInterface({ input: process.stdin })) {
  const { url, device, ...options } = JSON.parse(line);
  const flags = { ...options, disableFullPageScreenshot: true, logLevel: "error" };
  const config = device === "desktop" ? desktopConfig : undefined; // by default a phone
  const { lhr } = await lighthouse(url, flags, config);
  console.log(JSON.stringify(lhr));
}
