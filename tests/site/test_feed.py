"""The feeds are RSS 2.0 and have the entries of docs/changes.yml."""

import xml.etree.ElementTree as etree
from email.utils import parsedate_to_datetime

import pytest

import html_tree
from bookbuild.pages.errors import describe_error
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import feed

ATOM_PREFIX = "{http://www.w3.org/2005/Atom}"
CHANGE_ENTRY = "- {date: 2026-02-01, page: other.md#there, en: A page., zh: 一页。}\n"


@pytest.fixture(scope="module", params=LANGUAGES)
def channel(request, site, site_url) -> tuple[str, str, etree.Element]:
    """A language, the address of its pages, and its feed."""
    folder = "zh/" if request.param == "zh" else ""
    tree = etree.fromstring((site / f"{folder}feed.xml").read_bytes())
    assert (tree.tag, tree.attrib) == ("rss", {"version": "2.0"})
    return request.param, site_url + folder, tree.find("channel")


def test_the_channel_has_a_title_a_language_and_addresses(channel):
    language, site_url, tree = channel
    texts = {child.tag: child.text for child in tree}
    assert texts["link"] == site_url
    assert texts["language"].startswith(language)
    assert texts["title"] and texts["description"]
    (link,) = tree.findall(f"{ATOM_PREFIX}link")
    assert link.attrib == {"href": f"{site_url}feed.xml", "rel": "self"}


def test_every_change_is_an_item_with_its_date_newest_first(channel):
    language, _, tree = channel
    items, changes = tree.findall("item"), feed.load_changes()
    assert [item.findtext("description") for item in items] == [each[language] for each in changes]
    times = [parsedate_to_datetime(item.findtext("pubDate")) for item in items]
    assert [str(time.date()) for time in times] == [each["date"] for each in changes]
    assert times == sorted(times, reverse=True)
    assert tree.findtext("lastBuildDate") == items[0].findtext("pubDate")
    assert {time.utcoffset().total_seconds() for time in times} == {0}


def test_every_item_links_to_a_section_and_has_a_unique_id(channel, built_pages, site_url):
    language, _, tree = channel
    pages = {site_url + page.url: page for page in built_pages if page.source.language == language}
    ids = [item.findtext("guid") for item in tree.findall("item")]
    assert len({*ids}) == len(ids)
    for item in tree.findall("item"):
        address, _, anchor = item.findtext("link").partition("#")
        page = pages[address]
        assert item.findtext("title") in page.article.find("h1")[0].text()
        anchors = {each.attributes.get("id") for each in page.article.find()}
        assert not anchor or anchor in anchors, item.findtext("link")
        assert item.find("guid").attrib == {"isPermaLink": "false"}


def test_every_page_links_to_the_feed_of_its_language(built_pages, site):
    for page in built_pages:
        (link,) = [
            link.attributes
            for link in page.tree.find("link")
            if link.attributes.get("type") == "application/rss+xml"
        ]
        own = site / ("zh" if page.source.language == "zh" else "") / "feed.xml"
        assert (page.path.parent / link["href"]).resolve() == own
        assert link["rel"].split() == ["alternate"]
        footer = page.tree.find("footer", "md-footer")[-1]
        links = [a.attributes["href"] for a in footer.find("a")]
        assert {link["href"], "index.md"} <= {*links}, page


def test_markup_in_an_entry_is_escaped(sample_folder):
    text = (sample_folder / "docs/changes.yml").read_text(encoding="utf-8")
    hostile = '<b>& ]]> \\"a\\"'
    (sample_folder / "docs/changes.yml").write_text(
        text.replace("A page.", f'"{hostile}"'), "utf-8"
    )
    feed_text = feed.rss("en", "https://book.example/", "<Book>", "a & b")
    item = etree.fromstring(feed_text.encode()).find("channel/item")
    assert item.findtext("description") == '<b>& ]]> "a"'
    assert item.findtext("link") == "https://book.example/other/#there"
    assert item.findtext("pubDate") == "Sun, 01 Feb 2026 00:00:00 +0000"
    assert not html_tree.parse(feed_text).find("b")


def test_the_newest_entry_is_the_first_wherever_it_is_in_the_file(sample_folder):
    path = sample_folder / "docs/changes.yml"
    path.write_text(path.read_text(encoding="utf-8").replace("2026-01-01", "2026-03-01"), "utf-8")
    assert [change["date"] for change in feed.load_changes()] == ["2026-03-01", "2026-02-01"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("2026-02-01", "1.2.2026", 1, "invalid date 1.2.2026; write it as 2026-11-21"),
        ("2026-02-01", "2026-02-30", 1, "invalid date 2026-02-30; write it as 2026-11-21"),
        ("date: 2026-02-01, ", "", 1, "entry without date"),
        (", zh: 一本书。", "", 2, "entry without zh"),
        ("A book.", "' '", 2, "entry without en"),
        ("A book.", "A book., de: Ein Buch.", 2, "unknown key de; use one of date, page, en, zh"),
        ("index.md", "none.md", 2, "page docs/en/none.md doesn't exist"),
        ("#there", "#none", 1, "docs/en/other.md has no anchor #none"),
        (
            "- {date: 2026-01-01",
            f"{CHANGE_ENTRY}- {{date: 2026-01-01",
            2,
            "second entry for other.md#there on 2026-02-01",
        ),
        ("page: index.md", "page: [index.md", 2, "invalid YAML: "),
        ("- {date: 2026-02-01", "- nothing\n- {date: 2026-02-01", 1, "invalid entry 'nothing'"),
    ],
)
def test_an_invalid_entry_is_reported_with_its_line(sample_folder, old, new, line, message):
    path = sample_folder / "docs/changes.yml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    errors = [str(error) for error in feed.feed_errors()]
    start = f"docs/changes.yml:{line}: {message}"
    assert any(each.startswith(start) for each in errors), errors


def test_an_empty_or_missing_list_is_reported(sample_folder):
    path = sample_folder / "docs/changes.yml"
    path.write_text("", encoding="utf-8")
    (error,) = feed.feed_errors()
    assert "docs/changes.yml:1: not a list of entries; begin each with" in str(error)
    path.unlink()
    with pytest.raises(FileNotFoundError) as raised:
        [*feed.feed_errors()]
    message = describe_error(raised.value)
    assert message and message.startswith("docs/changes.yml: file not found; run git restore")


def test_valid_entries_give_no_error(sample_folder):
    assert [*feed.feed_errors()] == []
