"""The Content-Security-Policy of every published page: nothing from elsewhere, and no inline
script but those whose hashes it names."""

import base64
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file

INLINE = re.compile(r"<script>(.*?)</script>", re.S)  # one with a src or a type runs nothing inline
FIRST = '<meta charset="utf-8">'
GISCUS = "https://giscus.app"  # comments, on the pages that have them


def script_hashes(pages: Iterable[str]) -> list[str]:
    """The inline scripts of all pages, so that all have one policy."""
    scripts = {script for page in pages for script in INLINE.findall(page)}
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_security_policy(scripts: list[str], comments: bool = False) -> str:
    """The policy's text. KaTeX and Matplotlib place and colour by style attributes."""
    other = f" {GISCUS}" if comments else ""
    parts = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", *scripts]) + other,
        "style-src": "'self'" + other,
        "style-src-attr": "'unsafe-inline'",
        "img-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    if comments:
        parts["frame-src"] = GISCUS
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def add_policy(site: Path, comments: bool = False) -> None:
    """Write the policy into every page of a built site."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    told = content_security_policy(script_hashes(pages.values()), comments)
    metas = (
        f'{FIRST}\n  <meta http-equiv="Content-Security-Policy" content="{told}">'
        '\n  <meta name="referrer" content="no-referrer">'
    )
    for path, page in pages.items():
        if page.count(FIRST) != 1:
            raise SourceError(path, 1, f"has {page.count(FIRST)} times {FIRST}")
        write_file(path, page.replace(FIRST, metas))
