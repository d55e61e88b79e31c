// Evaluated in a browser: parses the HTML of a page and returns it as a chapter of the book, its
// article as XML, and its metadata, of which the book takes those of the home page.
// Ids become unique in the book: masks, masks--why, masks--fn-vaswani.
// `names` has the name of each chapter by its address; `newTitle` replaces the page's, if any.
([html, url, names, newTitle]) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector("article");
  const heading = article.querySelector("h1");
  const canonical = page.querySelector("link[rel=canonical]").href;
  const root = canonical.slice(0, canonical.length - url.length + 1); // of the site
  const address = (link) => new URL(link.getAttribute("href"), `http://site.localhost${url}`);
  const uniqueId = (id, name) => (id ? `${name}--${id.replaceAll(":", "-")}` : name);
  const ownId = (_, id) => `#${uniqueId(id, names[url])}`;
  const text = (element) => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll(".katex-mathml").forEach((each) => each.remove());
    return copy.textContent.trim();
  };

  // What is useful only in a browser
  const buttons = ".md-content__button, .headerlink, .touch, .files, .notes-button, .hero p:has(> .md-button)";
  const repeated = ".footnote-backref ~ .footnote-backref";
  article.querySelectorAll(`${buttons}, ${repeated}`).forEach((each) => each.remove());
  for (const each of article.querySelectorAll("abbr, wbr, .number, .highlight span")) {
    if (!each.matches("span") || !each.attributes.length) each.replaceWith(...each.childNodes);
  }
  for (const each of article.querySelectorAll("*")) {
    ["tabindex", "download"].forEach((name) => each.removeAttribute(name));
  }

  // Links lead to chapters, or else to the site
  for (const link of article.querySelectorAll("a[href]")) {
    const target = address(link);
    const name = names[target.pathname];
    if (target.host !== "site.localhost") continue;
    const anchor = `#${uniqueId(target.hash.slice(1), name)}`;
    link.setAttribute("href", name ? anchor : root + target.pathname.slice(1) + target.hash);
  }
  for (const element of article.querySelectorAll("*")) {
    for (const attribute of element.attributes) {
      let { value } = attribute;
      if (attribute.name === "id") value = ownId("", value).slice(1);
      if (attribute.name === "xlink:href") value = value.replace(/^#(.*)/, ownId);
      attribute.value = value.replace(/(?<=url\()#([^)]*)/g, ownId);
    }
  }

  if (newTitle) heading.textContent = newTitle;
  heading.id = names[url];
  return {
    book: {
      title: page.querySelector("meta[property='og:site_name']").content,
      description: page.querySelector("meta[name=description]").content,
      rights: page.querySelector(".md-copyright__highlight").textContent.trim(),
      address: canonical,
    },
    styleSheets: [...page.querySelectorAll("link[rel=stylesheet]")].map((link) => address(link).pathname),
    chapter: {
      name: names[url],
      title: text(heading),
      sections: [...article.querySelectorAll("h2")].map((each) => [each.id, text(each)]),
      article: new XMLSerializer().serializeToString(article),
    },
  };
};
