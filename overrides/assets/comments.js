// @ts-check
// Loads giscus in the page's language and color scheme; only pages with comments load this file.
(() => {
  const ORIGIN = "https://giscus.app";
  const holder = /** @type {HTMLElement} */ (document.querySelector(".giscus"));
  const theme = () => (document.body.dataset.mdColorScheme === "slate" ? "dark" : "light");

  const script = document.createElement("script");
  script.src = `${ORIGIN}/client.js`;
  script.crossOrigin = "anonymous";
  Object.assign(script.dataset, holder.dataset, {
    mapping: "pathname",
    strict: "1",
    reactionsEnabled: "0",
    emitMetadata: "0",
    inputPosition: "top",
    loading: "lazy",
    theme: theme(),
  });
  holder.append(script);

  new MutationObserver(() => {
    const frame = /** @type {HTMLIFrameElement?} */ (document.querySelector("iframe.giscus-frame"));
    frame?.contentWindow?.postMessage({ giscus: { setConfig: { theme: theme() } } }, ORIGIN);
  }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
})();
