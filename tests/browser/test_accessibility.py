"""What axe, the checker of accessibility, says of every page, light and dark."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from all_pages import address, every_page, open_everything
from built_pages import expect_none

# Takes out what axe would look at for minutes: all but some formulas, and what is in blocks of
# code whose colours earlier blocks have all shown.
REPEATED = """() => {
  const formulas = [...document.querySelectorAll(".katex:not(th .katex)")];
  formulas.slice(20).forEach((each) => each.remove());
  const seen = new Set();
  for (const code of document.querySelectorAll("article pre > code")) {
    const colours = [...code.children].map((each) => each.className);
    if (colours.every((colour) => seen.has(colour))) code.textContent = "";
    for (const colour of colours) seen.add(colour);
  }
}"""


# Without the nodes that pass, which are thousands and take longer to tell than to check.
FAULTS_ALONE = {"resultTypes": ["violations"]}


@every_page
def test_axe_finds_nothing(page: Page, url):
    found = violations(page, url, "light", {})
    if not url.startswith("zh/"):  # the colours are those of both languages
        found += violations(page, url, "dark", {"runOnly": ["color-contrast"]})
    expect_none(found)


def violations(page: Page, url: str, scheme: str, options: dict) -> list[str]:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if page.url != address(url):
        page.goto(address(url))
        open_everything(page)
        page.evaluate(REPEATED)
    return [
        f"/{url}, {scheme}: {violation['id']}: {violation['help']}\n    {node['html'][:200]}"
        for violation in Axe().run(page, options=options | FAULTS_ALONE).response["violations"]
        for node in violation["nodes"][:5]
    ]
