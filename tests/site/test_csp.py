"""What a page may load is written in it: nothing from elsewhere, no script but its own."""

import re

import pytest

import html_tree
from bookbuild.publish import csp
from built_pages import assert_no_errors


@pytest.fixture(scope="module")
def pages(site) -> dict[str, str]:
    """Every HTML file of the site, what is no page of the book among them."""
    return {
        f"/{path.relative_to(site).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
    }


def output(page: str) -> str:
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return found


def test_every_page_has_one_policy_before_whatever_it_loads(pages):
    errors = []
    for name, page in pages.items():
        loads = re.search(r"<(?:script|link|style|img)\b", page)
        if page.index("Content-Security-Policy") > (loads.start() if loads else 0):
            errors.append(f"{name}: something is loaded before the policy")
    assert_no_errors(errors)
    assert len({output(page) for page in pages.values()}) == 1


def test_the_policy_allows_the_inline_scripts_of_each_page_and_no_others(pages):
    allowed = set(re.findall("'sha256-[^']+'", output(pages["/index.html"])))
    assert allowed == set(csp.script_hashes(pages.values()))
    assert csp.script_hashes(["<script>other()</script>"])[0] not in allowed


def test_nothing_unsafe_is_allowed_but_style_attributes(pages):
    parts = dict(part.split(" ", 1) for part in output(pages["/index.html"]).split("; "))
    unsafe = [name for name, value in parts.items() if "unsafe" in value]
    assert unsafe == ["style-src-attr"]
    assert parts["default-src"] == parts["style-src"] == "'self'"
    assert parts["object-src"] == "'none'"


def forbidden_elements(page: str) -> list[str]:
    """Style elements, inline handlers and addresses of javascript: in a page."""
    found = []
    for element in html_tree.parse(page).find():
        if element.tag == "style":
            found.append("a style element")
        for name, value in element.attributes.items():
            if name.startswith("on") or value.strip().lower().startswith("javascript:"):
                found.append(f"{element.tag} with {name}={value[:60]!r}")
    return found


def test_no_page_has_inline_handlers_or_style_elements(pages):
    assert_no_errors(
        f"{name}: {what}" for name, page in pages.items() for what in forbidden_elements(page)
    )


@pytest.mark.parametrize(
    "wrong",
    [
        '<p onclick="go()">',
        "<style>p { color: red }</style>",
        '<a href=" JavaScript:go()">there</a>',
    ],
)
def test_what_is_unruly_is_seen(wrong):
    assert len(forbidden_elements(f"<html><body><p>before</p>{wrong}</body></html>")) == 1


def test_a_followed_link_sends_no_referrer(pages):
    assert all('<meta name="referrer" content="no-referrer">' in page for page in pages.values())


def test_comments_are_allowed_where_they_are_set_up():
    assert csp.GISCUS not in csp.content_security_policy([])
    assert f"frame-src {csp.GISCUS}" in csp.content_security_policy([], comments=True)
