"""The README and the menu list all pages, chapters by number; the README names no missing file."""

import re
import shutil
import subprocess

import pytest

from bookbuild.generated import contents_tables
from bookbuild.pages import contents
from bookbuild.pages.paths import LANGUAGES
from built_pages import ROOT

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "PERFORMANCE.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`")
COMMAND = re.compile(r"`(scripts/[a-z_./-]+)")


def test_the_generated_parts_are_current():
    """The chapters of the nav, the lines of attention with a claim, and the numbers."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert contents_tables.readme_text(readme) == readme, "run scripts/build, then commit README.md"
    for part in (contents_tables.readme_table(), contents_tables.readme_code()):
        assert part in readme
    values = contents_tables.README_VALUE.finditer(readme)
    assert len({value["reference"] for value in values}) >= 5
    listed = [target for _, target in LINK.findall(contents_tables.readme_table())]
    assert len(listed) == 2 * len(contents.ordered_pages()) - 2  # all but the home pages


@pytest.mark.parametrize("language", LANGUAGES)
def test_chapters_are_numbered_through_in_the_menu_and_in_their_titles(language, built_pages):
    numbered = [part.pages for part in contents.load_parts() if part.is_numbered]
    names = [name for pages in numbered for name in pages]
    assert len(names) >= 15
    pages = {page.source.name: page for page in built_pages if page.source.language == language}
    (menu, *_) = pages["index.md"].tree.find("nav", "md-nav--primary")
    links = [" ".join(link.text().split()) for link in menu.find("a", "md-nav__link")]
    for number, name in enumerate(names, 1):
        title = f"{number}. {pages[name].source.heading}"
        (heading,) = pages[name].article.find("h1")
        assert heading.text().removesuffix("#") == title
        assert title in links


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_commands_lead_to_files(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [target for _, target in LINK.findall(CODE.sub("", text)) if "://" not in target]
    targets += COMMAND.findall(text)
    targets = [each for each in targets if not each.startswith("../../")]  # pages of GitHub
    missing = [each for each in targets if not (ROOT / each.partition("#")[0]).exists()]
    assert not missing, f"{name} names files that do not exist"


def test_the_workflow_writes_the_address_of_the_site(tmp_path):
    """Until then the README links GitHub's page of deployments, and no placeholder."""
    (tmp_path / "scripts").mkdir()
    for name in ("README.md", "scripts/readme-address"):
        shutil.copy(ROOT / name, tmp_path / name)
    assert "transformer.example" not in (tmp_path / "README.md").read_text(encoding="utf-8")
    command = [tmp_path / "scripts/readme-address", "https://owner.github.io/book"]
    for _ in range(2):
        subprocess.run(command, check=True)
        readme = (tmp_path / "README.md").read_text(encoding="utf-8")
        assert readme.count("[Read the book](https://owner.github.io/book/)") == 1
        assert readme.count("[阅读本书](https://owner.github.io/book/zh/)") == 1
        assert "deployments" not in readme
