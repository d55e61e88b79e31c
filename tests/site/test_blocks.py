"""Every block of code on the built pages is what it says it is, and runs as it is copied."""

import difflib
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from bookbuild.mkdocs_site.page_html import PLAIN_TOKENS, SAME_COLOR
from bookbuild.pages import paths
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections, without_section_markers
from built_pages import ROOT, Block, assert_no_errors
from sample_book import module_command

CODE = (".py", ".js")
# A glossary has at least one term.
TERM = "- {en: a, zh: 甲, anchor: a, where: index.md, en_meaning: a, zh_meaning: 甲}\n"
CODE_LANGUAGES = ("python", "py", "js", "javascript")


@pytest.fixture(scope="module")
def printed(blocks, site, tmp_path_factory) -> dict[str, str]:
    """What each example prints, run in an empty folder beside the site's downloads.

    scripts/generate runs them, in a folder where the downloads are all the snippets.
    """
    folder = tmp_path_factory.mktemp("reader").resolve()
    shutil.copytree(site / "downloads", folder / "snippets")
    ignore = shutil.ignore_patterns("figures", "proofs", "__pycache__")
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=ignore)
    (folder / "docs").mkdir()
    (folder / "docs/glossary.yml").write_text(TERM, encoding="utf-8")
    (folder / "docs/references.bib").touch()
    for name in ("requirements.txt", "mkdocs.yml"):
        shutil.copy(ROOT / name, folder)
    examples = dict.fromkeys(block.code for block in blocks if block.title == "Input")
    for number, code in enumerate(examples):
        path = folder / f"snippets/examples/{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{code}\n", encoding="utf-8")
    command = module_command(folder, "run.generate")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outputs = folder / ".generated/outputs/examples"
    return {
        code: (outputs / f"{number}.txt").read_text(encoding="utf-8").rstrip()
        for number, code in enumerate(examples)
    }


def test_every_example_runs_as_copied_and_prints_what_is_below_it(blocks, printed):
    errors = []
    for block, below in pairwise([*blocks, Block("", 0, "", "", "")]):
        if block.title != "Input":
            continue
        if (below.page, below.title) != (block.page, "Output"):
            errors.append(f"{block}: no Output stands below it")
        elif printed[block.code] != below.code:
            stands, prints = below.code.splitlines(), printed[block.code].splitlines()
            lines = difflib.unified_diff(
                stands, prints, "what stands there", "what it prints", "", "", 0
            )
            errors.append("\n".join([f"{block} prints something else:", *lines]))
    assert_no_errors(errors)


def test_every_output_is_below_its_example_and_is_not_empty(blocks):
    errors = []
    for above, block in pairwise([Block("", 0, "", "", ""), *blocks]):
        if block.title == "Output":
            if (above.page, above.title) != (block.page, "Input"):
                errors.append(f"{block}: no Input stands above it")
            if not block.code.strip():
                errors.append(f"{block} is empty")
    assert_no_errors(errors)


def test_every_block_of_code_is_an_example_or_part_of_a_file(blocks, site):
    """So that none is shown which nothing runs."""
    there = site / "downloads"
    files = {p.relative_to(there).as_posix() for p in there.rglob("*") if p.suffix in CODE}
    assert_no_errors(
        f"{block}: give it the title Input and its Output, or the name of the file it is part of"
        for block in blocks
        if block.language in CODE_LANGUAGES and block.title not in {"Input", *files}
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("file", "between"), [("transformer.py", "\n\n\n"), ("translator.js", "\n\n")]
)
def test_the_sections_shown_are_the_model_file_line_for_line(
    site, built, blocks, language, file, between
):
    shown = {page.url: [] for page in built if page.source.language == language}
    for block in blocks:
        if block.title == file and block.page[1:] in shown:
            shown[block.page[1:]].append(block.code)
    home = next(page for page in built if page.url == ("zh/" if language == "zh" else ""))
    order = [url for url in reading_order(home) if url in shown]
    sections = [code for url in order for code in shown[url]]
    assert between.join(sections) + "\n" == (site / "downloads" / file).read_text()


def reading_order(home) -> list[str]:
    """The pages' addresses in the order of the table of contents."""
    links = home.tree.find("nav", "md-nav--primary")[0].find("a", "md-nav__link")
    prefix = "zh/" if home.source.language == "zh" else ""
    order = [prefix + link.attributes["href"].removeprefix("./") for link in links]
    return [url for url in order if "#" not in url]


def test_every_block_named_as_a_file_is_a_section_of_it_or_all_of_it(blocks):
    errors = []
    for block in blocks:
        path = paths.SNIPPETS / block.title
        if block.title.endswith(CODE) and path.is_file():
            parts = [*read_sections(path).values(), without_section_markers(path)]
            if block.code not in (part.strip("\n") for part in parts):
                errors.append(f"{block} is no section of snippets/{block.title}")
        elif block.title.endswith(CODE):
            errors.append(f"{block}: there is no snippets/{block.title}")
    assert_no_errors(errors)


def test_both_languages_show_the_same_code(blocks):
    half = [block for block in blocks if not block.page.startswith("/zh/")]
    other = [block for block in blocks if block.page.startswith("/zh/")]
    assert len(half) == len(other)
    assert_no_errors(
        f"{zh} differs from {en}"
        for en, zh in zip(half, other, strict=True)
        if zh.code != en.code and en.language in CODE_LANGUAGES
    )


def test_the_style_sheet_has_one_color_for_what_has_one_name(site):
    """markup.colored gives one name to all that it takes for one."""
    (sheet,) = site.glob("assets/stylesheets/main.*.css")
    coloured = re.compile(r"([^{}]+)\{color:var\((--md-code-hl-[^)]+)")
    colours = {
        name: colour
        for names, colour in coloured.findall(sheet.read_text())
        for name in re.findall(r"\.highlight \.(\w+)", names)
    }
    for name, others in SAME_COLOR.items():
        assert {colours[each] for each in others} == {colours[name]}
    own = (ROOT / "overrides/assets/site.css").read_text(encoding="utf-8")
    plain = {colours[name] for name in PLAIN_TOKENS if name in colours}
    inherited = "--md-code-hl-name-color", "--md-code-fg-color"  # the theme: one is the other
    assert all(f"{colour}: var(--ink);" in own for colour in plain - {inherited[0]})
    assert f"{inherited[1]}: var(--ink);" in own and inherited[0] not in own


def test_no_block_of_code_has_a_color_that_the_style_sheet_does_not_know(built):
    coloured = {*SAME_COLOR} | {"c1", "cm", "sd", "se", "sr"}
    assert_no_errors(
        dict.fromkeys(
            f"{page}: {span.classes}"
            for page in built
            for code in page.article.find("pre")
            for span in code.find("span")
            if span.classes and not set(span.classes) <= coloured
        )
    )
