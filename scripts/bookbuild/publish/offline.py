"""The lists of files, with hashes, that readers can save for offline reading in each language.

overrides/offline.js, the service worker, fetches the listed files and compares their hashes, so
the lists are written after all other files of the site.
"""

import hashlib
import json
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from bookbuild.pages.files import write_file
from bookbuild.pages.paths import SHARED_WEIGHTS

EXCLUDED_PATTERNS = (
    "zh/*",  # has a list of its own
    "*.gz",  # for search engines; the browser reads the uncompressed file
    "*.pdf",  # the whole book, which the pages contain
    "*.epub",
    "*.md",
    "llms.txt",  # for programs, like the next three
    "feed.xml",
    "sbom.cdx.json",
    "cards/*",
    "404.html",  # shown only by the site's host
    "offline.js",  # the worker and its lists always come from the network
    "offline.json",
    "offline-files.json",
)


def file_hashes(folder: Path) -> dict[str, tuple[str, int]]:
    """Each file's hash and size by its address; the address of a page is that of its folder."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not any(fnmatch(name, each) for each in EXCLUDED_PATTERNS):
            data = path.read_bytes()
            address = quote(name.removesuffix("index.html") if path.name == "index.html" else name)
            files[address] = (hashlib.sha256(data).hexdigest(), len(data))
    return files


def write_lists(site: Path) -> None:
    """Write the list of each language, and a file with the list's hash as its version."""
    english, chinese = file_hashes(site), file_hashes(site / "zh")
    chinese |= {f"../{name}": file for name, file in english.items() if name == SHARED_WEIGHTS}
    for folder, files in ((site, english), (site / "zh", chinese)):
        text = json.dumps(files, separators=(",", ":"))
        version = {
            "key": hashlib.sha256(text.encode()).hexdigest(),
            "bytes": sum(size for _, size in files.values()),
        }
        write_file(folder / "offline-files.json", text)
        write_file(folder / "offline.json", json.dumps(version))
