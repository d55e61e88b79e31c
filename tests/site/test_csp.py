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


@pytest.fixture(scope="module")
def policy(html_pages) -> str:
    """The policy, which is that of all pages."""
    pattern = re.compile('<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
    (policy,) = {tuple(pattern.findall(page)) for page in html_pages.values()}
    assert len(policy) == 1
    return policy[0]


def test_the_policy_allows_the_inline_scripts_of_the_pages_and_nothing_else(html_pages, policy):
    allowed = {*re.findall("'sha256-[^']+'", policy)}
    assert allowed == {*csp.script_hashes(html_pages.values())}
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert [name for name, value in parts.items() if "unsafe" in value] == ["style-src-attr"]
    assert parts["default-src"] == parts["style-src"] == "'self'"
    assert parts["object-src"] == "'none'"


def test_no_page_has_inline_handlers_or_style_elements_or_loads_before_its_policy(html_pages):
    errors = []
    for name, page in html_pages.items():
        load = re.search(r"<(?:script|link|style|img)\b", page)
        if load and page.index("Content-Security-Policy") > load.start():
            errors.append(f"{name}: something is loaded before the policy")
        if '<meta name="referrer" content="no-referrer">' not in page:
            errors.append(f"{name}: a followed link sends a referrer")
        for element in html_tree.parse(page).find():
            if element.tag == "style":
                errors.append(f"{name}: a style element")
            for attribute, value in element.attributes.items():
                if attribute.startswith("on") or value.strip().lower().startswith("javascript:"):
                    errors.append(f"{name}: {element.tag} with {attribute}={value[:60]!r}")
    assert_no_errors(errors)


def test_comments_are_allowed_where_they_are_set_up():
    assert csp.GISCUS_ORIGIN not in csp.content_security_policy([])
    assert f"frame-src {csp.GISCUS_ORIGIN}" in csp.content_security_policy([], comments=True)
