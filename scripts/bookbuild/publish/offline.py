"""What a reader can keep of a built site for reading offline: each language's files and hashes.

overrides/offline.js, the service worker, fetches what these lists name. It is to find the very
bytes that they tell, so nothing may change a file of the site after they are written.
"""

import hashlib
import json
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from bookbuild.pages.files import write_file

EXCLUDED = (
    "*.gz",  # for search engines; the browser reads the same file unpacked
    "*.pdf",  # each holds all of the book once more
    "*.epub",
    "*.md",
    "llms.txt",  # for programs, as are the next three
    "feed.xml",
    "sbom.cdx.json",
    "cards/*",
    "404.html",  # shown by the site's host alone
    "offline.js",  # the worker and its lists come from the network or not at all
    "offline.json",
    "offline-files.json",
)


def file_hashes(folder: Path, without: Path | None = None) -> dict[str, tuple[str, int]]:
    """Each file's hash and size by its address, which for a page is that of its folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or any(fnmatch(name, each) for each in EXCLUDED):
            continue
        if without and path.is_relative_to(without):
            continue
        data = path.read_bytes()
        address = quote(name.removesuffix("index.html") if path.name == "index.html" else name)
        found[address] = (hashlib.sha256(data).hexdigest(), len(data))
    return found


def write_lists(site: Path) -> None:
    """Write each language's list, and beside it the list's hash: that is the version."""
    for folder, without in ((site, site / "zh"), (site / "zh", None)):
        listed = file_hashes(folder, without)
        text = json.dumps(listed, separators=(",", ":"))
        told = {
            "key": hashlib.sha256(text.encode()).hexdigest(),
            "bytes": sum(size for _, size in listed.values()),
        }
        write_file(folder / "offline-files.json", text)
        write_file(folder / "offline.json", json.dumps(told))
