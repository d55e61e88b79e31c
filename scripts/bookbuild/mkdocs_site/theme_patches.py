"""Changes to Material's scripts: each with its reason, and the test that fails without it."""

from pathlib import Path
from typing import NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError


class ThemePatch(NamedTuple):
    reason: str
    test: str
    original: str  # occurs exactly once in the bundle
    replacement: str


THEME_PATCHES = (
    ThemePatch(
        "The search index, a megabyte, is fetched when the search is opened, not on every page.",
        "tests/browser/test_reading.py::test_the_search_index_is_fetched_when_the_search_is_opened",
        '$(location.protocol!=="file:"),Je("search")',
        'Je("search")',
    ),
    ThemePatch(
        "Highlighting needs the search index only on a page whose address has a query.",
        "tests/browser/test_reading.py::test_an_address_can_contain_a_query",
        'z([t,r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")))])',
        'r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")),b(o=>t.pipe(m(n=>[n,o]))))',
    ),
    ThemePatch(
        "The build has wrapped tables. Doing it in the browser moves what is below them.",
        "tests/browser/test_loading.py::test_no_script_wraps_a_table",
        '...M("table:not([class])",e).map(',
        '...M(":not(.md-typeset__table) > table:not([class])",e).map(',
    ),
    ThemePatch(
        "While its tooltip is open, a copy button has no title, and so no name for screen readers.",
        "tests/browser/test_reading.py::test_a_focused_copy_button_keeps_its_name",
        'class:"md-code__button",title:Me("clipboard.copy"),',
        'class:"md-code__button",title:Me("clipboard.copy"),"aria-label":Me("clipboard.copy"),',
    ),
    ThemePatch(
        "Wide code has a place in the order of the Tab key on touchscreens, too.",
        "tests/browser/test_reading.py"
        "::test_the_keyboard_can_scroll_each_block_of_code_that_is_wider_than_the_page",
        'd&&r?e.setAttribute("tabindex","0"):e.removeAttribute("tabindex")',
        'd?e.setAttribute("tabindex","0"):e.removeAttribute("tabindex")',
    ),
)
SEARCH_WORKER_PATTERN = "assets/javascripts/workers/search.*.min.js"  # ours takes its place
UNUSED_FILES = ("assets/javascripts/lunr/*", "assets/search*.js")


def patch_theme(config: MkDocsConfig) -> None:
    scripts = [*Path(config.site_dir, "assets/javascripts").glob("bundle.*.min.js")]
    text = "".join(script.read_text(encoding="utf-8") for script in scripts)
    for patch in THEME_PATCHES:
        if text.count(patch.original) != 1:
            hint = "update THEME_PATCHES to this version of Material"
            raise PluginError(f"expected exactly one {patch.original!r} in the bundle; {hint}")
        text = text.replace(patch.original, patch.replacement)
    scripts[0].write_text(text, encoding="utf-8")
