"""Changes to Material's scripts, each with its reason."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

# What is to be otherwise in Material's scripts: where, what stands there, what instead, and why.
THEME_PATCHES = (
    # A Chinese query is cut into words of the index, and its last character never tried:
    # 多头注意力 is one word, not 多头 and 注意.
    (
        "workers/search.*.min.js",
        "for(let o=s+1;o<t.length;o++)t.slice(s,o)in e",
        "for(let o=s+1;o<=t.length;o++)t.slice(s,o)in e",
    ),
    # The index, a megabyte, is fetched when the search is opened, not with each first page …
    ("bundle.*.min.js", '$(location.protocol!=="file:"),Je("search")', 'Je("search")'),
    # … nor to mark words in a page, unless its address names some …
    (
        "bundle.*.min.js",
        'z([t,r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")))])',
        'r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")),b(o=>t.pipe(m(n=>[n,o]))))',
    ),
    # … and what searches it is fetched when it first has something to do; its address is
    # relative to the page that came first.
    (
        "bundle.*.min.js",
        "t=new Worker(e)",
        "a=new URL(e,we()),t=Object.assign(new EventTarget,{postMessage(s){let o=new Worker(a);"
        'o.onmessage=({data:n})=>t.dispatchEvent(new MessageEvent("message",{data:n})),'
        "(t.postMessage=n=>o.postMessage(n))(s)}})",
    ),
    # A browser's tools would ask for the maps, which aren't published.
    ("bundle.*.min.js", "//# sourceMappingURL=", "// Not published: "),
    ("workers/search.*.min.js", "//# sourceMappingURL=", "// Not published: "),
)
UNUSED_FILES = (
    "*.map",
    "assets/javascripts/lunr/*",
)  # for languages that the search cuts otherwise


def patch_theme(config: MkDocsConfig) -> None:
    for name, there, instead in THEME_PATCHES:
        (script,) = Path(config.site_dir, "assets/javascripts").glob(name)
        text = script.read_text(encoding="utf-8")
        if text.count(there) != 1:
            raise PluginError(f"{script.name} is not the one that MENDS knows: no {there}")
        script.write_text(text.replace(there, instead), encoding="utf-8")
