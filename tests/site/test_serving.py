"""The development server shows saved changes, and reports errors."""

import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

import sample_book
from bookbuild.mkdocs_site import chinese_site
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run import locks
from fault_injection import COMMAND_TIMEOUT, MKDOCS_COMMAND, wait_until
from sample_book import change


class Server(NamedTuple):
    """A server of the sample book."""

    folder: Path
    log: Path
    address: str

    @property
    def messages(self) -> str:
        return self.log.read_text()

    def page(self, path: str) -> str:
        try:
            with urlopen(self.address + path, timeout=COMMAND_TIMEOUT) as page:
                return page.read().decode()
        except OSError:
            return ""

    def save(self, name: str, old: str, new: str) -> None:
        change(self.folder / name, old, new)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = sample_book.make_sample_book(tmp_path_factory.mktemp("served") / "book")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    log = folder.parent / "server.log"
    with open(log, "w") as output:
        command = [MKDOCS_COMMAND, "serve", "-a", address]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
    server = Server(folder, log, f"http://{address}/")
    try:
        wait_until(lambda: "Small" in server.page(""))
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    assert "Traceback (most" not in server.messages


def test_a_served_page_reloads_itself_and_has_no_policy_that_would_forbid_it(server: Server):
    assert "livereload(" in server.page("")
    assert "Content-Security-Policy" not in server.page("")


@pytest.mark.parametrize(
    ("name", "old", "new", "path", "shown"),
    [
        ("docs/en/index.md", "[other]", "saved [other]", "", "saved"),
        ("docs/zh/index.md", "[另一页]", "改过的[另一页]", "zh/", "改过的"),
        ("docs/en/other.md", "# Other", "# Another", "", "Another"),  # the title of a link's target
        ("snippets/tiny.py", "2 * x", "x + x", "", "x + x"),
        ("snippets/examples/chapter/say.py", "21", "4321", "", "8642"),  # the output of an example
        ("scripts/figures/chapter.py", "position", "whereabouts", "", "whereabouts"),
        ("mkdocs.yml", "Link to this section", "Here", "", 'title="Here"'),
    ],
    ids=lambda given: Path(given).name if "/" in given else "",
)
def test_a_saved_change_is_shown_on_its_page(server: Server, name, old, new, path, shown):
    assert shown not in server.page(path)
    server.save(name, old, new)
    wait_until(lambda: shown in server.page(path))


def test_a_new_meaning_is_shown_where_its_term_is_used(server: Server):
    server.save("docs/zh/index.md", "number }}", "number }} 个词元")
    wait_until(lambda: 'title="一段 (token)"' in server.page("zh/"))
    server.save("docs/glossary.yml", "一段", "一小段")
    wait_until(lambda: 'title="一小段 (token)"' in server.page("zh/"))


@pytest.mark.parametrize(("language", "line"), [("en", 9), ("zh", 10)])
def test_a_warning_is_repeated_until_its_cause_is_fixed(server: Server, language: str, line: int):
    """Also if the page with the wrong link has not changed since the last report."""
    name, link, repaired = f"docs/{language}/index.md", "](nonesuch.md)", "](other.md#there)"
    error = f"{name}:{line}: Doc file 'index.md' contains a link"
    server.save(name, repaired, link)
    wait_until(lambda: server.messages.count(error) == 1)
    server.save("docs/en/other.md", "description: Other.", "description: Others.")
    wait_until(lambda: server.messages.count(error) == 2)
    server.save("docs/en/other.md", "description: Others.", "description: Other.")
    wait_until(lambda: server.messages.count(error) == 3)
    server.save(name, link, repaired)
    wait_until(lambda: 'href="other/#there"' in server.page("zh/" if language == "zh" else ""))
    assert server.messages.count(error) == 3


def test_serving_goes_on_after_an_error_that_stops_a_build(server: Server):
    server.save("docs/en/index.md", "$x^2$", r"$\frac{1}$")
    wait_until(lambda: "docs/en/index.md:9: KaTeX parse error" in server.messages)
    server.save("docs/en/index.md", r"$\frac{1}$", "repaired")
    wait_until(lambda: "repaired" in server.page(""))


def test_only_changed_pages_are_rendered_again(sample_folder: Path, tmp_path: Path, monkeypatch):
    renders: list[str] = []
    render = Page.render

    def counted(page: Page, config: MkDocsConfig, files: Files) -> None:
        renders.append(Path(config.docs_dir).name + "/" + page.file.src_uri)
        render(page, config, files)

    def rendered(command: str) -> list[str]:
        renders.clear()
        config = load_config(str(sample_folder / "mkdocs.yml"), site_dir=str(tmp_path / "site"))
        config.plugins.on_startup(command=command, dirty=False)
        build(config, serve_url="http://127.0.0.1:8000/" if command == "serve" else None)
        return sorted(renders)

    monkeypatch.chdir(sample_folder)
    monkeypatch.setattr(Page, "render", counted)
    monkeypatch.setattr(locks, "check_port", lambda *_: None)  # nothing listens here
    monkeypatch.setattr(chinese_site, "can_fork", lambda: False)  # a fork would count its own
    pages = [f"{each}/{page.name}" for each in LANGUAGES for page in list_pages(each)]
    assert rendered("serve") == pages
    assert rendered("serve") == []
    change(sample_folder / "docs/zh/other.md", "其他。", "其他")
    assert rendered("serve") == ["zh/other.md"]
    change(sample_folder / "snippets/tiny.py", "2 * x", "x + x")
    assert rendered("serve") == ["en/index.md", "zh/index.md"]
    assert rendered("build") == pages
