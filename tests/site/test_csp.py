"""The Content-Security-Policy of each page: nothing from other origins, no unlisted scripts."""

import re

import pytest

import html_tree
from bookbuild.publish import csp
from built_pages import assert_no_errors


@pytest.fixture(scope="module")
def html_pages(site) -> dict[str, str]:
    """Every HTML file of the site by its path, including those that are no pages of the book."""
    return {
        f"/{path.relative_to(site).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
    }


def page_policy(page: str) -> str:
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return found


def test_every_page_has_one_policy_before_anything_it_loads(html_pages):
    errors = []
    for name, page in html_pages.items():
        first_load = re.search(r"<(?:script|link|style|img)\b", page)
        if page.index("Content-Security-Policy") > (first_load.start() if first_load else 0):
            errors.append(f"{name}: something is loaded before the policy")
    assert_no_errors(errors)
    assert len({page_policy(page) for page in html_pages.values()}) == 1


def test_the_policy_allows_the_inline_scripts_of_each_page_and_no_others(html_pages):
    allowed = set(re.findall("'sha256-[^']+'", page_policy(html_pages["/index.html"])))
    assert allowed == set(csp.script_hashes(html_pages.values()))
    assert csp.script_hashes(["<script>other()</script>"])[0] not in allowed


def test_nothing_unsafe_is_allowed_but_style_attributes(html_pages):
    parts = dict(part.split(" ", 1) for part in page_policy(html_pages["/index.html"]).split("; "))
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


def test_no_page_has_inline_handlers_or_style_elements(html_pages):
    assert_no_errors(
        f"{name}: {what}" for name, page in html_pages.items() for what in forbidden_elements(page)
    )


@pytest.mark.parametrize(
    "wrong",
    [
        '<p onclick="go()">',
        "<style>p { color: red }</style>",
        '<a href=" JavaScript:go()">there</a>',
    ],
)
def test_forbidden_elements_are_detected(wrong):
    assert len(forbidden_elements(f"<html><body><p>before</p>{wrong}</body></html>")) == 1


def test_a_followed_link_sends_no_referrer(html_pages):
    assert all(
        '<meta name="referrer" content="no-referrer">' in page for page in html_pages.values()
    )


def test_comments_are_allowed_where_they_are_set_up():
    assert csp.GISCUS_ORIGIN not in csp.content_security_policy([])
    assert f"frame-src {csp.GISCUS_ORIGIN}" in csp.content_security_policy([], comments=True)
