"""The book saved for offline reading: real Chromium, and a server that is updated and stopped."""

import functools
import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from bookbuild.pages.files import write_file
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import offline
from browser_pages import (
    TIMEOUT_MS,
    SilentHandler,
    SiteServer,
    axe_errors,
    record_errors,
    wait_until_idle,
)
from built_pages import assert_no_errors

ORIGIN = "http://book.localhost"
LABELS = {
    "en": {"keep": "Keep for offline", "kept": "Kept on this device", "search": "causal mask"},
    "zh": {"keep": "保存下来", "kept": "已存在这台设备上", "search": "词嵌入"},
}
# Pages with and without widgets, formulas and code. test_every_listed_file_is_saved reads the files
# of all pages, and test_all_pages.py checks that each page loads only listed files.
OFFLINE_PAGES = ("", "attention/", "pitfalls/", "labs/look-inside/", "glossary/")
NOT_SAVED_TITLE = "Not kept on this device"
START_WIDGETS_SCRIPT = """() => {
  const still = document.querySelector("[data-widget]:not(.alive)");
  still?.scrollIntoView({ behavior: "instant" });
  return !still;
}"""


class Publisher:
    """A server for a site. Like GitHub Pages it allows caching for ten minutes."""

    def __init__(self, site: Path):
        self.site, self.prefix = site, "/"
        self.reserved_socket = (
            socket.socket()
        )  # so that no other process takes the port while the server is stopped
        self.reserved_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved_socket.bind(("127.0.0.1", 0))
        self.port = self.reserved_socket.getsockname()[1]
        self.requested_paths: list[str] = []
        self.drops_request: Callable[[str], bool] = lambda path: (
            False
        )  # closes the connection without a response
        self.answering = threading.Event()
        self.answering.set()
        self.server: SiteServer | None = None

    def start(self) -> None:
        publisher = self

        class Handler(SilentHandler):
            def do_GET(self) -> None:
                publisher.requested_paths.append(self.path)
                hung = not publisher.answering.is_set()
                publisher.answering.wait()
                if hung or publisher.drops_request(self.path):
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
        self.server = SiteServer(("127.0.0.1", self.port), handler)
        self.server.daemon_threads, self.server.block_on_close = True, False
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def restart(self) -> None:
        self.stop()
        self.requested_paths.clear()
        self.start()

    def stop(self) -> None:
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


REPUBLISHED_PAGES = (
    "overview",
    "glossary",
    "labs",
    "shapes",
    "sources",
)  # the pages of a shorter site


def set_network_timeout(site: Path, milliseconds: int) -> None:
    """Set how long the service worker waits for the network before it uses the copy."""
    text = (site / "offline.js").read_text(encoding="utf-8")
    text, count = re.subn(r"(?<=NETWORK_TIMEOUT = )\d+", str(milliseconds), text)
    assert count == 1
    write_file(site / "offline.js", text)


def copy_site(site: Path, folder: Path) -> Path:
    """A shorter site of links to its files; write_file replaces a link by a changed file."""
    shutil.copytree(site, folder, copy_function=os.symlink)
    for page in [page for home in (folder, folder / "zh") for page in home.glob("*/index.html")]:
        if page.parent.name not in ("zh", *REPUBLISHED_PAGES):
            shutil.rmtree(page.parent)
    set_network_timeout(folder, TIMEOUT_MS)  # on a busy machine the network seems not to answer
    offline.write_lists(folder)
    return folder


@pytest.fixture(scope="module")
def publisher(site: Path) -> Iterator[Publisher]:
    publisher = Publisher(site)
    publisher.start()
    yield publisher
    publisher.stop()
    publisher.reserved_socket.close()


@pytest.fixture(scope="module")
def chromium(launch_browser, browser_type_launch_args: dict, publisher: Publisher) -> Browser:
    """A Chromium for which ORIGIN, without a port, is the publisher; see BASE_URL."""
    rule = f"--host-resolver-rules=MAP book.localhost 127.0.0.1:{publisher.port}"
    args = [arg for arg in browser_type_launch_args["args"] if "resolver" not in arg]
    browser = launch_browser(args=[*args, rule])
    yield browser
    browser.close()


class OfflineReader:
    """A reader's browser at ORIGIN, which can save the book."""

    def __init__(self, publisher: Publisher, context: BrowserContext, prefix: str = "/"):
        self.publisher, self.context = publisher, context
        self.base_url = ORIGIN + prefix
        self.page = context.new_page()
        self.page.set_default_timeout(TIMEOUT_MS)

    def home_url(self, language: str) -> str:
        return self.base_url + ("zh/" if language == "zh" else "")

    def goto(self, address: str) -> Page:
        self.page.goto(address)
        self.scroll_to_button()
        return self.page

    def scroll_to_button(self) -> None:
        """Scroll to the button, which becomes active near the window."""
        self.page.evaluate(
            "document.querySelector('.offline')?.scrollIntoView({ behavior: 'instant' })"
        )

    def save_for_offline(self, language: str) -> None:
        self.goto(self.home_url(language))
        self.button(LABELS[language]["keep"]).click()
        self.expect_saved(language)

    def button(self, name: str):
        return self.page.locator(".offline").get_by_role("button", name=name)

    def expect_saved(self, language: str) -> None:
        self.page.locator(".offline").scroll_into_view_if_needed()  # on the page that is open now
        status = self.page.locator(".offline [role=status]")
        expect(status).to_contain_text(LABELS[language]["kept"])

    def expect_updated(self) -> None:
        """Wait, on the English home page, until the saved copy is the published version."""
        output = json.loads((self.publisher.site / "offline.json").read_text())
        expect(self.page.locator(".offline")).to_contain_text(output["key"][:7])

    def disconnect(self) -> None:
        self.publisher.stop()
        self.context.set_offline(True)

    def reconnect(self) -> None:
        self.context.set_offline(False)
        self.publisher.start()

    def count_storage(self) -> tuple[int, int]:
        """The number of service workers and of caches."""
        return tuple(
            self.page.evaluate(
                """async () => [
                  (await navigator.serviceWorker.getRegistrations()).length,
                  (await caches.keys()).length,
                ]"""
            )
        )


@pytest.fixture
def reader(
    chromium: Browser, publisher: Publisher, site: Path, tmp_path: Path
) -> Iterator[OfflineReader]:
    """A reader who has saved nothing, and a site that can be updated."""
    publisher.site = copy_site(site, tmp_path / "site")
    publisher.restart()
    context = chromium.new_context()
    yield OfflineReader(publisher, context)
    context.close()
    publisher.prefix, publisher.drops_request = "/", lambda path: False
    publisher.answering.set()
    publisher.site = site
    publisher.restart()


def check_translator(page: Page) -> None:
    """Translate a sentence on a home page."""
    page.locator("[data-widget=translator]").scroll_into_view_if_needed()  # starts near the window
    page.locator("#translator-field").fill("why do we work ?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-widget=translator]")).to_contain_text("我们为什么工作")


# Before saving


def test_nothing_is_registered_or_stored_before_the_reader_asks(reader: OfflineReader):
    for address in ("", "glossary/", "zh/", "zh/glossary/"):
        wait_until_idle(reader.goto(reader.base_url + address))
        assert reader.count_storage() == (0, 0)
    assert "/offline.js" not in reader.publisher.requested_paths


@pytest.mark.parametrize("prefix", [pytest.param("/", marks=pytest.mark.slow), "/repo/"])
def test_the_weights_are_fetched_once_for_both_languages(reader: OfflineReader, prefix):
    reader.publisher.prefix = prefix
    page = reader.goto(ORIGIN + prefix)
    check_translator(page)
    page.locator(".md-select").hover()
    page.locator(".md-select__link[hreflang=zh]").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    check_translator(page)
    requests = [each for each in reader.publisher.requested_paths if "float16" in each]
    assert requests == [f"{prefix}downloads/translator-float16.safetensors"]


def test_without_javascript_there_is_no_button(chromium: Browser, publisher, language):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{ORIGIN}/{'zh/' if language == 'zh' else ''}#offline")
    expect(page.locator(".offline")).to_contain_text("JavaScript")
    expect(page.locator(".offline button")).to_have_count(0)
    context.close()


def test_the_button_reports_the_size_that_the_build_counted(reader: OfflineReader, language):
    page = reader.goto(reader.home_url(language))
    folder = reader.publisher.site / ("zh" if language == "zh" else "")
    size = json.loads((folder / "offline.json").read_text())["bytes"] / 1e6
    output = page.locator(".offline [role=status]").inner_text()
    assert size <= int(re.search(r"(\d+) MB", output)[1]) < size + 1


def test_saving_and_removing_work_with_the_keyboard_and_axe(reader: OfflineReader, language):
    page = reader.goto(reader.home_url(language))
    for expected in ("kept", "keep"):
        reader.button("").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".offline")).to_contain_text(LABELS[language][expected])
        assert page.evaluate("document.activeElement.closest('.offline') !== null")
        assert_no_errors(axe_errors(page, ".offline"))


def test_saving_continues_while_the_reader_navigates(reader: OfflineReader):
    page = reader.goto(reader.base_url)
    reader.button("Keep for").dblclick()
    page.locator(".md-footer__link--next").click()
    expect(page).to_have_url(f"{reader.base_url}overview/")
    page.locator(".md-footer__link--prev").click()
    reader.expect_saved("en")
    assert reader.publisher.requested_paths.count("/downloads/translator.safetensors") == 1


@pytest.mark.parametrize("returns_first", [False, True])
def test_saving_begins_although_the_reader_leaves_before_the_worker_runs(
    reader: OfflineReader, returns_first
):
    requested, answered = threading.Event(), threading.Event()

    def delays_worker(path: str) -> bool:
        if path == "/offline.js":
            requested.set()
            answered.wait()
        return False

    reader.publisher.drops_request = delays_worker
    page = reader.goto(reader.base_url)
    reader.button("Keep for").click()
    assert requested.wait(TIMEOUT_MS / 1000)
    page.locator(".md-footer__link--next").click()
    expect(page).to_have_url(f"{reader.base_url}overview/")
    if not returns_first:
        answered.set()
    page.locator(".md-footer__link--prev").click()
    expect(page).to_have_url(reader.base_url)
    answered.set()
    reader.expect_saved("en")


# Without a network


@pytest.fixture(scope="module", params=LANGUAGES)
def saved_reader(
    request, chromium: Browser, publisher: Publisher
) -> Iterator[tuple[str, OfflineReader]]:
    """A language, and a reader who has saved it."""
    publisher.restart()
    context = chromium.new_context()
    reader = OfflineReader(publisher, context)
    reader.save_for_offline(request.param)
    yield request.param, reader
    context.close()


@pytest.fixture
def offline_reader(saved_reader: tuple[str, OfflineReader]) -> Iterator[tuple[str, OfflineReader]]:
    """The same reader without a network; any error fails the test."""
    _, reader = saved_reader
    reader.disconnect()
    errors: list[str] = []
    record_errors(reader.page, errors, ORIGIN)
    yield saved_reader
    assert_no_errors(dict.fromkeys(errors))


@pytest.mark.parametrize("name", OFFLINE_PAGES)
def test_a_saved_page_loads_without_a_network(offline_reader, name):
    language, reader = offline_reader
    page = reader.goto(reader.home_url(language) + name)
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.evaluate("document.fonts.ready")
    page.wait_for_function(START_WIDGETS_SCRIPT)
    if page.locator("article .katex").count():
        loaded = "document.fonts.load('16px KaTeX_Main').then((faces) => faces.length)"
        assert page.evaluate(loaded), "the formulas' font"
    assert page.locator(".md-header").bounding_box()["height"] < 100, "the theme's style sheet"


def test_every_listed_file_is_saved(offline_reader):
    language, reader = offline_reader
    page = reader.goto(reader.home_url(language))
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
    check_translator(reader.goto(reader.home_url(language)))


def test_search_and_navigation_work_without_a_network(offline_reader):
    language, reader = offline_reader
    page = reader.goto(reader.home_url(language))
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially(LABELS[language]["search"], delay=10)
    page.keyboard.press("Shift")
    page.locator(".md-search-result__link").first.click()
    expect(page.locator(".md-content article")).to_contain_text(
        LABELS[language]["search"], ignore_case=True
    )
    page.keyboard.press("Escape")
    found = page.url
    page.locator(".md-footer__link--next").click()
    expect(page).not_to_have_url(found)
    expect(page.locator(".md-content article h1")).to_be_visible()


@pytest.mark.parametrize(
    "address", ["attention", "attention/index.html", "attention/?h=mask#causal"]
)
def test_variants_of_an_address_load_the_same_page(offline_reader, address):
    language, reader = offline_reader
    page = reader.goto(reader.home_url(language) + address)
    expect(page.locator(".md-content h1")).to_contain_text(
        {"en": "Attention", "zh": "注意力"}[language]
    )


def test_an_unsaved_page_shows_a_notice_in_both_languages(saved_reader):
    language, reader = saved_reader
    reader.disconnect()
    other = {"en": "zh", "zh": "en"}[language]
    for address in (
        f"{reader.home_url(other)}attention/",
        f"{reader.home_url(language)}nonesuch/",
        f"{reader.home_url(language)}book.pdf",
    ):
        page = reader.goto(address)
        assert page.url == address, "a reload, once online, shows the page"
        expect(page.locator("h1")).to_have_text(NOT_SAVED_TITLE)
        expect(page.locator("[lang=zh] h2")).to_have_text("这台设备上没有保存")
    assert_no_errors(axe_errors(page))
    page.locator(f"a[href='{reader.home_url(language)}']").click()
    expect(page.locator("html")).to_have_attribute("lang", language)


# A new version


def publish(reader: OfflineReader, changes: dict[str, Callable[[str], str] | None]) -> None:
    """Change or remove files of the site, and publish it."""
    site = reader.publisher.site
    for name, change in changes.items():
        path = site / name
        if change:
            write_file(path, change(path.read_text(encoding="utf-8")))
        else:
            path.unlink()
    offline.write_lists(site)
    reader.publisher.requested_paths.clear()


SITE_CHANGES = {
    "glossary/index.html": lambda text: text.replace("</h1>", " (anew)</h1>"),
    "assets/site.js": lambda text: text + '\ndocument.documentElement.dataset.script = "anew";\n',
    "shapes/index.html": None,
}


def is_new_version(page: Page) -> tuple[bool, bool]:
    """Whether the page, and whether its script, is of the new version."""
    title = page.locator(".md-content h1").inner_text()
    page.wait_for_load_state()
    return "anew" in title, page.evaluate("document.documentElement.dataset.script === 'anew'")


def test_a_new_version_is_shown_at_once_and_the_copy_is_updated(reader: OfflineReader):
    reader.save_for_offline("en")
    glossary, shapes = f"{reader.base_url}glossary/", f"{reader.base_url}shapes/"
    assert is_new_version(reader.goto(glossary)) == (False, False)
    publish(reader, SITE_CHANGES)
    assert is_new_version(reader.goto(glossary)) == (True, True), (
        "at once, in spite of the browser's own cache"
    )
    assert reader.page.goto(shapes).status == 404
    reader.goto(reader.base_url)
    reader.expect_updated()
    reader.disconnect()
    assert is_new_version(reader.goto(glossary)) == (True, True)
    expect(reader.goto(shapes).locator("h1")).to_have_text(NOT_SAVED_TITLE)
    reader.reconnect()


def test_only_changed_files_are_fetched_again(reader: OfflineReader):
    site = reader.publisher.site
    reader.save_for_offline("en")
    publish(reader, SITE_CHANGES)
    reader.goto(f"{reader.base_url}glossary/")
    reader.goto(reader.base_url)
    reader.expect_updated()
    assert "/glossary/" in reader.publisher.requested_paths
    assert "/downloads/translator.safetensors" not in reader.publisher.requested_paths
    count = "async () => (await (await caches.open((await caches.keys())[0])).keys()).length"
    hashes = {digest for digest, _ in offline.file_hashes(site).values()}
    assert reader.page.evaluate(count) == len(hashes) + 1, "outdated files are removed"


def test_a_copy_never_mixes_two_versions(reader: OfflineReader):
    reader.save_for_offline("en")
    script = "/assets/site.js"  # this file of the new version never arrives
    reader.publisher.drops_request = lambda path: path == script
    publish(reader, SITE_CHANGES)
    page = reader.goto(f"{reader.base_url}glossary/")
    assert "anew" in page.locator(".md-content h1").inner_text()
    fetched = "(script) => fetch(script).then(() => true, () => false)"
    assert not page.evaluate(fetched, script), "a new page with an old script"
    page.wait_for_timeout(500)  # for the other files of the new version
    reader.disconnect()
    assert is_new_version(reader.goto(f"{reader.base_url}glossary/")) == (False, False)
    reader.publisher.drops_request = lambda path: False
    reader.reconnect()
    assert is_new_version(reader.goto(f"{reader.base_url}glossary/")) == (True, True)


@pytest.mark.slow
def test_the_copy_is_not_used_without_published_lists(reader: OfflineReader):
    """For example scripts/serve at an address where the book was saved before."""
    reader.save_for_offline("en")
    publish(reader, SITE_CHANGES)
    (reader.publisher.site / "offline.json").unlink()
    (reader.publisher.site / "offline-files.json").unlink()
    assert is_new_version(reader.goto(f"{reader.base_url}glossary/")) == (True, True)
    reader.goto(reader.base_url)
    reader.expect_saved("en")


# Errors


@pytest.mark.slow
def test_an_interrupted_download_leaves_no_partial_copy_and_resumes(reader: OfflineReader):
    requested_paths = reader.publisher.requested_paths
    reader.publisher.drops_request = lambda path: len(requested_paths) > 60
    page = reader.goto(reader.base_url)
    reader.button("Keep for").click()
    expect(page.locator(".offline [role=status]")).to_contain_text("network was lost")
    first = set(requested_paths[:60])
    reader.disconnect()
    expect(reader.goto(f"{reader.base_url}glossary/").locator("h1")).to_have_text(NOT_SAVED_TITLE)
    reader.publisher.drops_request = lambda path: False
    reader.reconnect()
    requested_paths.clear()
    reader.goto(reader.base_url)  # resumes by itself, since the reader has requested it
    reader.expect_saved("en")
    assert len(requested_paths) < 200
    again = {path for path in requested_paths if path in first and "downloads" in path}
    assert not again, "files that had arrived were fetched again"


@pytest.mark.slow
def test_a_file_with_another_hash_than_listed_is_not_saved(reader: OfflineReader):
    """For example when the site is updated between the requests for the list and for a file."""
    site, status = reader.publisher.site, reader.page.locator(".offline [role=status]")
    write_file(site / "assets/site.js", (site / "assets/site.js").read_text("utf-8") + "\n")
    reader.goto(reader.base_url)
    reader.button("Keep for").click()
    expect(status).to_contain_text("published just now")
    offline.write_lists(site)
    reader.button("Try again").click()
    reader.expect_saved("en")


@pytest.mark.slow
def test_nothing_is_saved_without_enough_storage(reader: OfflineReader):
    page = reader.goto(reader.base_url)
    session = reader.context.new_cdp_session(page)
    session.send("Storage.overrideQuotaForOrigin", {"origin": ORIGIN, "quotaSize": 3_000_000})
    reader.button("Keep for").click()
    expect(page.locator(".offline [role=status]")).to_contain_text("enough room")
    assert reader.count_storage() == (0, 0)
    session.send("Storage.overrideQuotaForOrigin", {"origin": ORIGIN})
    reader.button("Try again").click()
    reader.expect_saved("en")


def test_the_copy_is_used_when_the_network_never_answers(reader: OfflineReader):
    set_network_timeout(reader.publisher.site, 1000)
    reader.save_for_offline("en")
    reader.publisher.requested_paths.clear()
    reader.publisher.answering.clear()
    for name, title in (("glossary", "Glossary"), ("sources", "Sources")):
        expect(reader.goto(f"{reader.base_url}{name}/").locator("h1")).to_contain_text(title)
    assert "/offline.json" in reader.publisher.requested_paths


def test_removing_one_language_keeps_the_other(reader: OfflineReader):
    reader.save_for_offline("en")
    reader.save_for_offline("zh")
    assert reader.count_storage() == (1, 2)
    reader.goto(reader.base_url)
    reader.button("Remove").click()
    expect(reader.button("Keep for")).to_be_visible()
    assert reader.count_storage() == (1, 1)
    reader.disconnect()
    expect(reader.goto(f"{reader.base_url}zh/glossary/").locator("h1")).to_contain_text("术语")
    expect(reader.goto(f"{reader.base_url}glossary/").locator("h1")).to_have_text(NOT_SAVED_TITLE)
    reader.reconnect()
    reader.goto(f"{reader.base_url}zh/")
    reader.button("删除").click()
    expect(reader.button("保存下来")).to_be_visible()
    assert reader.count_storage() == (0, 0)


def test_the_worker_is_limited_to_the_path_of_the_site(reader: OfflineReader, language):
    reader.publisher.prefix = "/repo/"
    reader.base_url = f"{ORIGIN}/repo/"
    reader.save_for_offline(language)
    scopes = (
        "async () => (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope)"
    )
    assert reader.page.evaluate(scopes) == [reader.base_url]
    reader.disconnect()
    errors: list[str] = []
    record_errors(reader.page, errors, reader.base_url)
    for name in ("glossary/", "labs/look-inside/", ""):
        page = reader.goto(reader.home_url(language) + name)
        expect(page.locator("html")).to_have_attribute("lang", language)
        page.wait_for_function(START_WIDGETS_SCRIPT)
    assert_no_errors(errors)
    other = {"en": "zh", "zh": "en"}[language]
    expect(reader.goto(reader.home_url(other)).locator("h1")).to_have_text(NOT_SAVED_TITLE)
