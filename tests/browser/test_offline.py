"""The book kept for offline reading: real Chromium, a server that publishes again and goes away."""

import functools
import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from bookbuild.pages.files import write_file
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import offline
from browser_pages import PATIENCE, SilentHandler, settle, watch
from built_pages import assert_no_errors

HOST = "http://book.localhost"
NAMES = [page.name.removesuffix(".md").removesuffix("index") for page in list_pages("en")]
WORDS = {
    "en": {"keep": "Keep for offline", "kept": "Kept on this device", "search": "causal mask"},
    "zh": {"keep": "保存下来", "kept": "已存在这台设备上", "search": "词嵌入"},
}
CHINESE_NAMES = (
    "",
    "pitfalls",
    "labs/look-inside",
    "glossary",
)  # the bytes of all are looked at besides
OPENED = [("en", name) for name in NAMES] + [("zh", name) for name in CHINESE_NAMES]
NOT_KEPT = "Not kept on this device"
START_WIDGETS = """() => {
  const still = document.querySelector("[data-widget]:not(.alive)");
  still?.scrollIntoView({ behavior: "instant" });
  return !still;
}"""


class Publisher:
    """Where a site is published. Like GitHub Pages it lets all be cached for ten minutes."""

    def __init__(self, site: Path):
        self.site, self.prefix = site, "/"
        self.held = socket.socket()  # so that nobody takes the port while the server is away
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        self.asked: list[str] = []
        self.breaks: Callable[[str], bool] = lambda path: False  # off before an answer
        self.answers = threading.Event()
        self.answers.set()
        self.server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        publisher = self

        class Handler(SilentHandler):
            def do_GET(self) -> None:
                publisher.asked.append(self.path)
                hung = not publisher.answers.is_set()
                publisher.answers.wait()
                if hung or publisher.breaks(self.path):
                    self.close_connection = True
                elif self.path.startswith(publisher.prefix):
                    super().do_GET()
                else:
                    self.send_error(404)

            def list_directory(self, path: str) -> None:
                self.send_error(404)

            def translate_path(self, path: str) -> str:
                return super().translate_path("/" + path.removeprefix(publisher.prefix))

            def end_headers(self) -> None:
                self.send_header("Cache-Control", "max-age=600")
                super().end_headers()

        handler = functools.partial(Handler, directory=str(self.site))
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server.daemon_threads, self.server.block_on_close = True, False
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def restart(self) -> None:
        self.stop()
        self.asked.clear()
        self.start()

    def stop(self) -> None:
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


REPUBLISHED = "embeddings", "glossary", "labs", "shapes", "sources"  # pages enough to publish again


def set_network_timeout(site: Path, milliseconds: int) -> None:
    """How long the service worker waits for the network before it takes the copy."""
    text = (site / "offline.js").read_text(encoding="utf-8")
    text, count = re.subn(r"(?<=NETWORK_TIMEOUT = )\d+", str(milliseconds), text)
    assert count == 1
    write_file(site / "offline.js", text)


def copied(site: Path, folder: Path) -> Path:
    """A shorter copy to publish from; write_file makes a file of its own of what it changes."""
    shutil.copytree(site, folder, copy_function=os.symlink)
    for page in [page for home in (folder, folder / "zh") for page in home.glob("*/index.html")]:
        if page.parent.name not in ("zh", *REPUBLISHED):
            shutil.rmtree(page.parent)
    set_network_timeout(folder, PATIENCE)  # on a busy machine the network seems not to answer
    offline.write_lists(folder)
    return folder


@pytest.fixture(scope="module")
def publisher(site: Path) -> Iterator[Publisher]:
    publisher = Publisher(site)
    publisher.start()
    yield publisher
    publisher.stop()
    publisher.held.close()


@pytest.fixture(scope="module")
def chromium(launch_browser, browser_type_launch_args: dict, publisher: Publisher) -> Browser:
    """A Chromium for which HOST, without a port, is the publisher; as BASE in conftest.py."""
    rule = f"--host-resolver-rules=MAP book.localhost 127.0.0.1:{publisher.port}"
    args = [arg for arg in browser_type_launch_args["args"] if "resolver" not in arg]
    browser = launch_browser(args=[*args, rule])
    yield browser
    browser.close()


class Reader:
    """Somebody who reads at HOST, and may keep it."""

    def __init__(self, publisher: Publisher, context: BrowserContext, prefix: str = "/"):
        self.publisher, self.context = publisher, context
        self.base = HOST + prefix
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)

    def home(self, language: str) -> str:
        return self.base + ("zh/" if language == "zh" else "")

    def goto(self, address: str) -> Page:
        self.page.goto(address)
        self.come_near()
        return self.page

    def come_near(self) -> None:
        """What is to be touched comes alive when it is near the window."""
        self.page.evaluate(
            "document.querySelector('.offline')?.scrollIntoView({ behavior: 'instant' })"
        )

    def keep(self, language: str) -> None:
        self.goto(self.home(language))
        self.button(WORDS[language]["keep"]).click()
        self.is_kept(language)

    def button(self, name: str):
        return self.page.locator(".offline").get_by_role("button", name=name)

    def is_kept(self, language: str) -> None:
        self.page.locator(".offline").scroll_into_view_if_needed()  # on whatever page comes
        status = self.page.locator(".offline [role=status]")
        expect(status).to_contain_text(WORDS[language]["kept"])

    def is_renewed(self) -> None:
        """Waits, on the English home page, until what is kept is what is published."""
        output = json.loads((self.publisher.site / "offline.json").read_text())
        expect(self.page.locator(".offline")).to_contain_text(output["key"][:7])

    def cut(self) -> None:
        self.publisher.stop()
        self.context.set_offline(True)

    def mend(self) -> None:
        self.context.set_offline(False)
        self.publisher.start()

    def stored(self) -> tuple[int, int]:
        """How many service workers and caches there are."""
        return tuple(
            self.page.evaluate(
                """async () => [
                  (await navigator.serviceWorker.getRegistrations()).length,
                  (await caches.keys()).length,
                ]"""
            )
        )


@pytest.fixture
def reader(chromium: Browser, publisher: Publisher, site: Path, tmp_path: Path) -> Iterator[Reader]:
    """Somebody who has kept nothing yet, of a site that may be published again."""
    publisher.site = copied(site, tmp_path / "site")
    publisher.restart()
    context = chromium.new_context()
    yield Reader(publisher, context)
    context.close()
    publisher.prefix, publisher.breaks = "/", lambda path: False
    publisher.answers.set()
    publisher.site = site
    publisher.restart()


# Nothing is kept unasked


def test_nothing_is_registered_or_stored_before_the_reader_asks(reader: Reader):
    for address in ("", "glossary/", "zh/", "zh/glossary/"):
        settle(reader.goto(reader.base + address))
        assert reader.stored() == (0, 0)
    assert "/offline.js" not in reader.publisher.asked


def test_without_javascript_there_is_no_button(chromium: Browser, publisher, language):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{HOST}/{'zh/' if language == 'zh' else ''}#offline")
    expect(page.locator(".offline")).to_contain_text("JavaScript")
    expect(page.locator(".offline button")).to_have_count(0)
    context.close()


def test_the_button_reports_the_size_that_the_build_counted(reader: Reader, language):
    page = reader.goto(reader.home(language))
    folder = reader.publisher.site / ("zh" if language == "zh" else "")
    listed = offline.file_hashes(folder, reader.publisher.site / "zh" if language == "en" else None)
    size = sum(size for _, size in listed.values()) / 1e6
    output = page.locator(".offline [role=status]").inner_text()
    assert size <= int(re.search(r"(\d+) MB", output)[1]) < size + 1


def test_all_of_it_goes_by_keyboard_and_axe_finds_nothing(reader: Reader, language):
    page = reader.goto(reader.home(language))
    for expected in ("kept", "keep"):
        reader.button("").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".offline")).to_contain_text(WORDS[language][expected])
        assert page.evaluate("document.activeElement.closest('.offline') !== null")
        found = Axe().run(page, context=".offline").response["violations"]
        assert_no_errors(f"{expected}: {violation['help']}" for violation in found)


def test_keeping_goes_on_while_the_reader_reads_on(reader: Reader):
    page = reader.goto(reader.base)
    reader.button("Keep for").dblclick()
    page.locator(".md-footer__link--next").click()
    expect(page).to_have_url(f"{reader.base}embeddings/")
    page.locator(".md-footer__link--prev").click()
    reader.is_kept("en")
    assert reader.publisher.asked.count("/downloads/translator.safetensors") == 1


# Without a network


@pytest.fixture(scope="module", params=LANGUAGES)
def keeping_reader(
    request, chromium: Browser, publisher: Publisher
) -> Iterator[tuple[str, Reader]]:
    """Somebody who has kept a language, and it."""
    publisher.restart()
    context = chromium.new_context()
    reader = Reader(publisher, context)
    reader.keep(request.param)
    yield request.param, reader
    context.close()


@pytest.fixture
def offline_reader(keeping_reader: tuple[str, Reader]) -> Iterator[tuple[str, Reader]]:
    """The same, with the network cut; nothing may go wrong."""
    _, reader = keeping_reader
    reader.cut()
    errors: list[str] = []
    watch(reader.page, errors, HOST)
    yield keeping_reader
    assert_no_errors(dict.fromkeys(errors))


@pytest.mark.parametrize(("keeping_reader", "name"), OPENED, indirect=["keeping_reader"])
def test_every_page_is_read_without_a_network(offline_reader, name):
    language, reader = offline_reader
    page = reader.goto(f"{reader.home(language)}{name}{'/' if name else ''}")
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.evaluate("document.fonts.ready")
    page.wait_for_function(START_WIDGETS)
    if page.locator("article .katex").count():
        loaded = "document.fonts.load('16px KaTeX_Main').then((faces) => faces.length)"
        assert page.evaluate(loaded), "the formulas' font"
    assert page.locator(".md-header").bounding_box()["height"] < 100, "the theme's style sheet"


def test_every_file_that_is_listed_is_there(offline_reader):
    language, reader = offline_reader
    page = reader.goto(reader.home(language))
    listed = (reader.publisher.site / ("zh" if language == "zh" else "")) / "offline-files.json"
    wrong = page.evaluate(
        """async (files) => {
          const wrong = [];
          for (const [name, [hash]] of Object.entries(files)) {
            const bytes = await (await fetch(name)).arrayBuffer();
            const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
            const hex = Array.from(found, (byte) => byte.toString(16).padStart(2, "0")).join("");
            if (hex !== hash) wrong.push(name);
          }
          return wrong;
        }""",
        json.loads(listed.read_text()),
    )
    assert_no_errors(wrong)


def test_the_translator_translates_without_a_network(offline_reader):
    language, reader = offline_reader
    page = reader.goto(reader.home(language))
    page.locator("#translator-field").fill("why do we work ?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-widget=translator]")).to_contain_text("我们为什么工作")


def test_the_search_and_the_way_to_the_next_page_work_without_a_network(offline_reader):
    language, reader = offline_reader
    page = reader.goto(reader.home(language))
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially(WORDS[language]["search"], delay=10)
    page.keyboard.press("Shift")
    page.locator(".md-search-result__link").first.click()
    expect(page.locator(".md-content article")).to_contain_text(
        WORDS[language]["search"], ignore_case=True
    )
    page.keyboard.press("Escape")
    found = page.url
    page.locator(".md-footer__link--next").click()
    expect(page).not_to_have_url(found)
    expect(page.locator(".md-content article h1")).to_be_visible()


@pytest.mark.parametrize(
    "address", ["attention", "attention/index.html", "attention/?h=mask#causal"]
)
def test_an_address_may_be_written_in_other_ways(offline_reader, address):
    language, reader = offline_reader
    page = reader.goto(reader.home(language) + address)
    expect(page.locator(".md-content h1")).to_contain_text(
        {"en": "Attention", "zh": "注意力"}[language]
    )


def test_what_is_not_kept_is_said_politely_in_both_languages(keeping_reader):
    language, reader = keeping_reader
    reader.cut()
    other = {"en": "zh", "zh": "en"}[language]
    for address in (
        f"{reader.home(other)}attention/",
        f"{reader.home(language)}nonesuch/",
        f"{reader.home(language)}book.pdf",
    ):
        page = reader.goto(address)
        assert page.url == address, "loading again, once online, leads there"
        expect(page.locator("h1")).to_have_text(NOT_KEPT)
        expect(page.locator("[lang=zh] h2")).to_have_text("这台设备上没有保存")
    assert not Axe().run(page).response["violations"]
    page.locator(f"a[href='{reader.home(language)}']").click()
    expect(page.locator("html")).to_have_attribute("lang", language)


# A new publish


def publish(reader: Reader, changes: dict[str, Callable[[str], str] | None]) -> None:
    """Change files of the site, or take them away, and publish it."""
    site = reader.publisher.site
    for name, change in changes.items():
        path = site / name
        if change:
            write_file(path, change(path.read_text(encoding="utf-8")))
        else:
            path.unlink()
    offline.write_lists(site)
    reader.publisher.asked.clear()


CHANGES = {
    "glossary/index.html": lambda text: text.replace("</h1>", " (anew)</h1>"),
    "assets/site.js": lambda text: text + '\ndocument.documentElement.dataset.script = "anew";\n',
    "shapes/index.html": None,
}


def is_new_version(page: Page) -> tuple[bool, bool]:
    """Whether the page, and whether its script, is of the new version."""
    title = page.locator(".md-content h1").inner_text()
    page.wait_for_load_state()
    return "anew" in title, page.evaluate("document.documentElement.dataset.script === 'anew'")


def test_a_new_publish_is_seen_at_once_and_what_is_kept_follows(reader: Reader):
    reader.keep("en")
    glossary, shapes = f"{reader.base}glossary/", f"{reader.base}shapes/"
    assert is_new_version(reader.goto(glossary)) == (False, False)
    publish(reader, CHANGES)
    assert is_new_version(reader.goto(glossary)) == (True, True), (
        "at once, past the browser's own cache"
    )
    assert reader.page.goto(shapes).status == 404
    reader.goto(reader.base)
    reader.is_renewed()
    reader.cut()
    assert is_new_version(reader.goto(glossary)) == (True, True)
    expect(reader.goto(shapes).locator("h1")).to_have_text(NOT_KEPT)
    reader.mend()


def test_only_what_has_changed_is_fetched_again(reader: Reader):
    site = reader.publisher.site
    reader.keep("en")
    publish(reader, CHANGES)
    reader.goto(f"{reader.base}glossary/")
    reader.goto(reader.base)
    reader.is_renewed()
    assert "/glossary/" in reader.publisher.asked
    assert "/downloads/translator.safetensors" not in reader.publisher.asked
    count = "async () => (await (await caches.open((await caches.keys())[0])).keys()).length"
    hashes = {digest for digest, _ in offline.file_hashes(site, site / "zh").values()}
    assert reader.page.evaluate(count) == len(hashes) + 1, "and what is old is taken out"


def test_a_copy_never_mixes_two_versions(reader: Reader):
    reader.keep("en")
    script = "/assets/site.js"  # of the new version, this never comes
    reader.publisher.breaks = lambda path: path == script
    publish(reader, CHANGES)
    page = reader.goto(f"{reader.base}glossary/")
    assert "anew" in page.locator(".md-content h1").inner_text()
    fetched = "(script) => fetch(script).then(() => true, () => false)"
    assert not page.evaluate(fetched, script), "a new page with an old script"
    page.wait_for_timeout(500)  # for what else of the new version can be had
    reader.cut()
    assert is_new_version(reader.goto(f"{reader.base}glossary/")) == (False, False)
    reader.publisher.breaks = lambda path: False
    reader.mend()
    assert is_new_version(reader.goto(f"{reader.base}glossary/")) == (True, True)


def test_where_there_are_no_lists_any_more_nothing_comes_from_the_copy(reader: Reader):
    """As when the book is served to its author, at the address where it was kept before."""
    reader.keep("en")
    publish(reader, CHANGES)
    (reader.publisher.site / "offline.json").unlink()
    (reader.publisher.site / "offline-files.json").unlink()
    assert is_new_version(reader.goto(f"{reader.base}glossary/")) == (True, True)
    reader.goto(reader.base)
    reader.is_kept("en")


# What goes wrong


def test_an_interrupted_keep_leaves_nothing_half_kept_and_goes_on_when_asked_again(reader: Reader):
    asked = reader.publisher.asked
    reader.publisher.breaks = lambda path: len(asked) > 60
    page = reader.goto(reader.base)
    reader.button("Keep for").click()
    expect(page.locator(".offline [role=status]")).to_contain_text("network was lost")
    first = set(asked[:60])
    reader.cut()
    expect(reader.goto(f"{reader.base}glossary/").locator("h1")).to_have_text(NOT_KEPT)
    reader.publisher.breaks = lambda path: False
    reader.mend()
    asked.clear()
    reader.goto(reader.base)  # by itself, since the reader has asked for it
    reader.is_kept("en")
    assert len(asked) < 200
    again = {path for path in asked if path in first and "downloads" in path}
    assert not again, "what had come was fetched again"


def test_bytes_that_the_list_does_not_tell_are_not_kept(reader: Reader):
    """As when a publish comes between the list and a file."""
    site, status = reader.publisher.site, reader.page.locator(".offline [role=status]")
    write_file(site / "assets/site.js", (site / "assets/site.js").read_text("utf-8") + "\n")
    reader.goto(reader.base)
    reader.button("Keep for").click()
    expect(status).to_contain_text("published just now")
    offline.write_lists(site)
    reader.button("Try again").click()
    reader.is_kept("en")


def test_without_room_nothing_is_kept_and_with_room_it_is(reader: Reader):
    page = reader.goto(reader.base)
    session = reader.context.new_cdp_session(page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": HOST, "quotaSize": 3_000_000})
    reader.button("Keep for").click()
    expect(page.locator(".offline [role=status]")).to_contain_text("enough room")
    assert reader.stored() == (0, 0)
    session.send("Storage.overrideQuotaForOrigin", {"origin": HOST})
    reader.button("Try again").click()
    reader.is_kept("en")


def test_a_network_that_never_answers_is_not_waited_for(reader: Reader):
    set_network_timeout(reader.publisher.site, 1000)
    reader.keep("en")
    reader.publisher.asked.clear()
    reader.publisher.answers.clear()
    for name, title in (("glossary", "Glossary"), ("sources", "Sources")):
        expect(reader.goto(f"{reader.base}{name}/").locator("h1")).to_contain_text(title)
    assert "/offline.json" in reader.publisher.asked


def test_removing_takes_all_of_one_language_and_leaves_the_other(reader: Reader):
    reader.keep("en")
    reader.keep("zh")
    assert reader.stored() == (1, 2)
    reader.goto(reader.base)
    reader.button("Remove").click()
    expect(reader.button("Keep for")).to_be_visible()
    assert reader.stored() == (1, 1)
    reader.cut()
    expect(reader.goto(f"{reader.base}zh/glossary/").locator("h1")).to_contain_text("术语")
    expect(reader.goto(f"{reader.base}glossary/").locator("h1")).to_have_text(NOT_KEPT)
    reader.mend()
    reader.goto(f"{reader.base}zh/")
    reader.button("删除").click()
    expect(reader.button("保存下来")).to_be_visible()
    assert reader.stored() == (0, 0)


def test_below_a_path_the_worker_keeps_to_it(reader: Reader, language):
    reader.publisher.prefix = "/repo/"
    reader.base = f"{HOST}/repo/"
    reader.keep(language)
    scopes = (
        "async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope)"
    )
    assert reader.page.evaluate(scopes) == [reader.base]
    reader.cut()
    errors: list[str] = []
    watch(reader.page, errors, reader.base)
    for name in ("glossary/", "labs/look-inside/", ""):
        page = reader.goto(reader.home(language) + name)
        expect(page.locator("html")).to_have_attribute("lang", language)
        page.wait_for_function(START_WIDGETS)
    assert_no_errors(errors)
    other = {"en": "zh", "zh": "en"}[language]
    expect(reader.goto(reader.home(other)).locator("h1")).to_have_text(NOT_KEPT)
