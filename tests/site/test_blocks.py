"""Every block of code on the built pages matches its title, and examples run as copied."""

import difflib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from bookbuild.check.includes import include_path
from bookbuild.localize.build import chinese_path
from bookbuild.pages import fresh, paths
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections, without_section_markers
from bookbuild.run import page_files
from bookbuild.run.jobs import list_jobs
from bookbuild.run.page_files import downloadable_snippets, needed_files
from built_pages import ROOT, CodeBlock, assert_no_errors

CODE_SUFFIXES = (".py", ".js")
QUICK = 0.5  # seconds of an example that runs without --all
CODE_LANGUAGES = ("python", "py", "js", "javascript")


def language_of(block: CodeBlock) -> str:
    return "zh" if block.page.startswith("/zh/") else "en"


def downloads(site: Path, language: str) -> Path:
    """The files that pages of a language offer."""
    return site / "zh/downloads" if language == "zh" else site / "downloads"


class BuiltExample(NamedTuple):
    """What the build knows of a program."""

    output: str
    needs: tuple[str, ...]  # the names of the files that it imports or reads
    seconds: float


@pytest.fixture(scope="module")
def listed_files(built_pages) -> dict[str, list[list[Path]]]:
    """The files that each page lists, at each place where it does."""
    return {
        str(page): [
            [page.path.parent / link.attributes["href"] for link in line.find("a")][:-1]  # the zip
            for line in page.article.find("p", "page-files")
        ]
        for page in built_pages
    }


@pytest.fixture(scope="module")
def example_outputs(
    code_blocks, listed_files, everything, tmp_path_factory
) -> dict[tuple[str, str], str]:
    """The output of each example by its page and code, run with only the files of its page.

    Without --all one example of each page is run, of the quick ones that which needs most files;
    the others print what they have printed in the build.
    """
    built = dict(built_examples())
    outputs, chosen, candidates = {}, defaultdict(list), defaultdict(list)
    for block in filter(is_input, code_blocks):
        example = built.get((language_of(block), block.code))
        if everything or not example:
            chosen[block.page].append(block.code)
            continue
        outputs[block.page, block.code] = example.output
        if example.seconds < QUICK:
            candidates[block.page].append((len(example.needs), -example.seconds, block.code))
    for page, examples in candidates.items():
        chosen[page].append(max(examples)[-1])
    folder = tmp_path_factory.mktemp("reader").resolve()
    return outputs | run_examples(chosen, listed_files, folder)


def is_input(block: CodeBlock) -> bool:
    return block.title == "Input"


def built_examples() -> Iterator[tuple[tuple[str, str], BuiltExample]]:
    """Each example, exercise and pitfall, by its language and code."""
    downloads = {*downloadable_snippets()}
    for job in list_jobs():
        if job.source.is_relative_to(paths.SNIPPETS):
            sources = job.source, chinese_path(job.source)
            outputs = (*job.outputs, job.outputs[0])[:2]  # both alike where no words are printed
            needs = tuple(needed_files(job.source, downloads))
            _, seconds = fresh.recorded(job.record_name)
            for language, source, output in zip(LANGUAGES, sources, outputs, strict=True):
                code = without_section_markers(source).rstrip()
                text = output.read_text("utf-8").rstrip()
                yield (language, code), BuiltExample(text, needs, seconds or 0)


def run_examples(
    examples: dict[str, list[str]], listed_files: dict[str, list[list[Path]]], folder: Path
) -> dict[tuple[str, str], str]:
    """What the examples of each page print in a folder with only the files that the page lists."""
    requests = []
    for page, codes in examples.items():
        page_folder = folder / page.strip("/").replace("/", "-")
        page_folder.mkdir()
        for path in {file.resolve() for files in listed_files[page] for file in files}:
            target = page_folder / str(path).partition("/downloads/")[2]
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
        requests.append((str(page_folder), codes))
    command = [sys.executable, str(ROOT / "tests/run_blocks.py")]
    environment = os.environ | {"PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, input=json.dumps(requests), capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    outputs = json.loads(done.stdout)
    return {
        (page, code): output
        for (page, codes), printed in zip(examples.items(), outputs, strict=True)
        for code, output in zip(codes, printed, strict=True)
    }


def test_a_page_lists_its_files_once_beside_the_blocks_and_once_in_the_exercises(
    code_blocks, built_pages, listed_files
):
    built = dict(built_examples())
    for page in built_pages:
        places = listed_files[str(page)]
        assert all(path.is_file() for place in places for path in place), page
        blocks = [each for each in code_blocks if each.page == str(page) and is_input(each)]
        examples = [built.get((language_of(block), block.code)) for block in blocks]
        assert bool(places) == any(example and example.needs for example in examples), page
        assert len(places) <= 2 and all(place == places[0] for place in places), page
        for fold in page.article.find("details", "page-files"):
            (line,) = fold.find("p")
            assert line.classes == ["page-files"], page


def test_the_zip_has_every_file_and_program_of_the_pages(code_blocks, site):
    for language in LANGUAGES:
        folder = downloads(site, language)
        with zipfile.ZipFile(folder / Path(page_files.ZIP).name) as archive:
            texts = {
                name: archive.read(name).decode().rstrip()
                for name in archive.namelist()
                if name.endswith(CODE_SUFFIXES)
            }
            for name in page_files.downloadable_snippets():
                file = name.relative_to(paths.SNIPPETS).as_posix()
                assert archive.read(file) == (folder / file).read_bytes()
        inputs = (each for each in code_blocks if language_of(each) == language and is_input(each))
        assert {block.code for block in inputs} <= {*texts.values()}


def test_every_example_runs_as_copied_and_prints_the_output_below_it(code_blocks, example_outputs):
    """What is not run now is compared with what the build has recorded."""
    errors = []
    nothing = CodeBlock("", 0, "", "", "")
    for block, below in pairwise([nothing, *code_blocks, nothing]):
        expected = (block.page, "Output") if is_input(block) else None
        if expected != ((below.page, below.title) if below.title == "Output" else None):
            errors.append(f"{block} and {below}: an Input has its Output below it")
        elif is_input(block) and example_outputs[block.page, block.code] != below.code:
            printed = example_outputs[block.page, block.code].splitlines()
            lines = difflib.unified_diff(below.code.splitlines(), printed, "expected", "printed")
            errors.append("\n".join([f"{block} prints another output:", *lines]))
    assert_no_errors(errors)


def test_every_block_of_code_is_an_example_or_a_section_of_its_file_or_all_of_it(code_blocks):
    """No page shows code that is never run."""
    errors = []
    for block in code_blocks:
        if not block.title.endswith(CODE_SUFFIXES):
            if block.language in CODE_LANGUAGES and not is_input(block):
                errors.append(f"{block}: give it the title Input and its Output, or that of a file")
        elif not (paths.SNIPPETS / block.title).is_file():
            errors.append(f"{block}: there is no snippets/{block.title}")
        else:
            path = include_path(block.title, language_of(block))
            parts = [*read_sections(path).values(), without_section_markers(path)]
            if block.code not in (part.strip("\n") for part in parts):
                errors.append(f"{block} is no section of snippets/{block.title}")
    assert_no_errors(errors)


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
