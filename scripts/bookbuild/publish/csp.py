"""The Content-Security-Policy of every published page: no request to another origin, and no
inline script except those whose hashes it lists."""

import base64
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from bookbuild.pages.files import write_file

INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)  # without src and type
CHARSET_ELEMENT = '<meta charset="utf-8">'
GISCUS_ORIGIN = "https://giscus.app"  # comments


def script_hashes(pages: Iterable[str]) -> list[str]:
    """The hashes of the inline scripts of all pages, which share one policy."""
    scripts = {script for page in pages for script in INLINE_SCRIPT.findall(page)}
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_security_policy(scripts: list[str], comments: bool = False) -> str:
    """The policy; it allows style attributes, which KaTeX and Matplotlib need."""
    other = f" {GISCUS_ORIGIN}" if comments else ""
    directives = {
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
        directives["frame-src"] = GISCUS_ORIGIN
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def add_policy(site: Path, comments: bool = False) -> None:
    """Add the policy to every page of a built site."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    policy = content_security_policy(script_hashes(pages.values()), comments)
    metas = (
        f'{CHARSET_ELEMENT}\n  <meta http-equiv="Content-Security-Policy" content="{policy}">'
        '\n  <meta name="referrer" content="no-referrer">'
    )
    for path, page in pages.items():
        write_file(path, page.replace(CHARSET_ELEMENT, metas))
