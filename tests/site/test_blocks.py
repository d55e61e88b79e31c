"""Every block of code on the built pages matches its title, and examples run as copied."""

import ast
import difflib
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from pygments.lexers import JavascriptLexer
from pygments.token import Comment, String

from bookbuild.check.includes import include_path
from bookbuild.localize.build import chinese_path
from bookbuild.localize.render import without_words
from bookbuild.mkdocs_site.markdown_extension import MERGED_TOKENS, PLAIN_TOKENS
from bookbuild.pages import paths
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections, without_section_markers
from bookbuild.run.jobs import list_jobs
from built_pages import ROOT, CodeBlock, assert_no_errors
from sample_book import module_command

CODE_SUFFIXES = (".py", ".js")
# A glossary has at least one term.
GLOSSARY_TERM = "- {en: a, zh: 甲, anchor: a, where: index.md, en_meaning: a, zh_meaning: 甲}\n"
CODE_LANGUAGES = ("python", "py", "js", "javascript")


def language_of(block: CodeBlock) -> str:
    return "zh" if block.page.startswith("/zh/") else "en"


def downloads(site: Path, language: str) -> Path:
    """The files that pages of a language offer."""
    return site / "zh/downloads" if language == "zh" else site / "downloads"


@pytest.fixture(scope="module")
def example_outputs(code_blocks, site, everything, tmp_path_factory) -> dict[tuple[str, str], str]:
    """The output of each example by its language and code, run with the downloads of the site.

    Without --all only those are run whose code the build has not run.
    """
    known = {} if everything else dict(generated_outputs())
    examples = dict.fromkeys(
        (language_of(each), each.code) for each in code_blocks if is_input(each)
    )
    outputs = {}
    for language in LANGUAGES:
        codes = [code for other, code in examples if other == language]
        codes = [code for code in codes if (language, code) not in known]
        folder = tmp_path_factory.mktemp(f"reader-{language}").resolve()
        for code, output in run_examples(codes, downloads(site, language), folder):
            outputs[language, code] = output
    return known | outputs


def is_input(block: CodeBlock) -> bool:
    return block.title == "Input"


def generated_outputs() -> Iterator[tuple[tuple[str, str], str]]:
    """The language and the code of each example, exercise and pitfall, with its output."""
    for job in list_jobs():
        if job.source.is_relative_to(paths.SNIPPETS):
            sources = job.source, chinese_path(job.source)
            outputs = (*job.outputs, job.outputs[0])[:2]  # both alike where no words are printed
            for language, source, output in zip(LANGUAGES, sources, outputs, strict=True):
                code = without_section_markers(source).rstrip()
                yield (language, code), output.read_text("utf-8").rstrip()


def run_examples(
    examples: Collection[str], downloads: Path, folder: Path
) -> Iterator[tuple[str, str]]:
    """Each example with its output, run in an empty folder.

    scripts/generate runs them, in a folder where the downloads are all the snippets.
    """
    if not examples:
        return
    shutil.copytree(downloads, folder / "snippets")
    ignore = shutil.ignore_patterns("figures", "proofs", "__pycache__")
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=ignore)
    (folder / "docs").mkdir()
    (folder / "docs/glossary.yml").write_text(GLOSSARY_TERM, encoding="utf-8")
    (folder / "docs/references.bib").touch()
    for name in ("requirements.txt", "mkdocs.yml"):
        shutil.copy(ROOT / name, folder)
    for number, code in enumerate(examples):
        path = folder / f"snippets/examples/{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{code}\n", encoding="utf-8")
    command = module_command(folder, "run.generate")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outputs = folder / ".generated/outputs/examples"
    for number, code in enumerate(examples):
        yield code, (outputs / f"{number}.txt").read_text(encoding="utf-8").rstrip()


def test_every_example_runs_as_copied_and_prints_the_output_below_it(code_blocks, example_outputs):
    errors = []
    for block, below in pairwise([*code_blocks, CodeBlock("", 0, "", "", "")]):
        if not is_input(block):
            continue
        if (below.page, below.title) != (block.page, "Output"):
            errors.append(f"{block}: no block Output below it")
            continue
        printed = example_outputs[language_of(block), block.code]
        if printed != below.code:
            lines = difflib.unified_diff(
                below.code.splitlines(), printed.splitlines(), "expected", "printed", "", "", 0
            )
            errors.append("\n".join([f"{block} prints another output:", *lines]))
    assert_no_errors(errors)


def test_every_output_is_below_its_example_and_is_not_empty(code_blocks):
    errors = []
    for above, block in pairwise([CodeBlock("", 0, "", "", ""), *code_blocks]):
        if block.title == "Output":
            if (above.page, above.title) != (block.page, "Input"):
                errors.append(f"{block}: no block Input above it")
            if not block.code.strip():
                errors.append(f"{block} is empty")
    assert_no_errors(errors)


def test_every_block_of_code_is_an_example_or_part_of_a_file(code_blocks, site):
    """No page shows code that is never run."""
    there = site / "downloads"
    files = {p.relative_to(there).as_posix() for p in there.rglob("*") if p.suffix in CODE_SUFFIXES}
    assert_no_errors(
        f"{block}: give it the title Input and its Output, or the name of the file it is part of"
        for block in code_blocks
        if block.language in CODE_LANGUAGES and block.title not in {"Input", *files}
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("file", "between"), [("transformer.py", "\n\n\n"), ("translator.js", "\n\n")]
)
def test_the_sections_shown_are_the_model_file_line_for_line(
    site, built_pages, code_blocks, language, file, between
):
    """Each section is on exactly one page; the imports and the configuration come late."""
    pages = {page.url for page in built_pages if page.source.language == language}
    text = (downloads(site, language) / file).read_text("utf-8")
    shown = [b.code for b in code_blocks if b.title == file and b.page[1:] in pages]
    assert between.join(sorted(shown, key=text.find)) + "\n" == text


def test_every_block_titled_with_a_file_shows_a_section_or_all_of_it(code_blocks):
    errors = []
    for block in code_blocks:
        path = include_path(block.title, language_of(block)) if is_file(block) else None
        if path:
            parts = [*read_sections(path).values(), without_section_markers(path)]
            if block.code not in (part.strip("\n") for part in parts):
                errors.append(f"{block} is no section of snippets/{block.title}")
        elif block.title.endswith(CODE_SUFFIXES):
            errors.append(f"{block}: there is no snippets/{block.title}")
    assert_no_errors(errors)


def is_file(block: CodeBlock) -> bool:
    return block.title.endswith(CODE_SUFFIXES) and (paths.SNIPPETS / block.title).is_file()


def test_both_languages_show_the_same_code(code_blocks):
    """The words may differ; tests/bookbuild/test_localize.py compares the files more strictly."""
    english_blocks = [block for block in code_blocks if language_of(block) == "en"]
    chinese_blocks = [block for block in code_blocks if language_of(block) == "zh"]
    assert len(english_blocks) == len(chinese_blocks)
    assert_no_errors(
        f"{zh} differs from {en}"
        for en, zh in zip(english_blocks, chinese_blocks, strict=True)
        if zh.code != en.code and en.language in CODE_LANGUAGES and code_tree(en) != code_tree(zh)
    )


def code_tree(block: CodeBlock) -> str:
    """The syntax tree of Python code, or the tokens of JavaScript, without words."""
    if block.language.startswith("py"):
        return ast.dump(without_words(ast.parse(block.code)))
    tokens = JavascriptLexer().get_tokens(block.code)
    return " ".join(code for token, code in tokens if token not in Comment and token not in String)


def test_merged_token_classes_have_one_color(site):
    """merge_token_classes merges only classes that have one color in the style sheet."""
    (sheet,) = site.glob("assets/stylesheets/main.*.css")
    colored = re.compile(r"([^{}]+)\{color:var\((--md-code-hl-[^)]+)")
    colors = {
        name: color
        for names, color in colored.findall(sheet.read_text())
        for name in re.findall(r"\.highlight \.(\w+)", names)
    }
    for name, others in MERGED_TOKENS.items():
        assert {colors[each] for each in others} == {colors[name]}
    own = (ROOT / "overrides/assets/site.css").read_text(encoding="utf-8")
    plain = {colors[name] for name in PLAIN_TOKENS if name in colors}
    inherited = "--md-code-hl-name-color", "--md-code-fg-color"  # the theme: one is the other
    assert all(f"{color}: var(--ink);" in own for color in plain - {inherited[0]})
    assert f"{inherited[1]}: var(--ink);" in own and inherited[0] not in own


def test_code_has_only_token_classes_of_the_style_sheet(built_pages):
    colored = {*MERGED_TOKENS} | {"c1", "cm", "sd", "se", "sr"}
    assert_no_errors(
        dict.fromkeys(
            f"{page}: {span.classes}"
            for page in built_pages
            for code in page.article.find("pre")
            for span in code.find("span")
            if span.classes and not set(span.classes) <= colored | {"noted"}
        )
    )
