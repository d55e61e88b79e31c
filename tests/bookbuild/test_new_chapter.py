"""A chapter is added with nothing but the texts and commands of CONTRIBUTING.md."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

from built_pages import ROOT
from fault_injection import CommandResult, run_command
from sample_book import change

NAME, PLACE = "why-layers", 9  # the new chapter comes after this one
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# Each recipe of CONTRIBUTING by its name, example, and what is in it.
RECIPES = dict(
    re.findall(r"^\*\*An? (\w+)\.\*\*(.*?)(?=^\*\*An? |^## )", CONTRIBUTING, re.M | re.S)
)
BLOCK = re.compile(r"^(`{3,})\w+\n(.*?)\n\1$", re.M | re.S)
COMMAND = re.compile(r"`((?:scripts/(?!serve)[a-z]+|\.venv/bin/pytest)(?: [^`]+)?)`")
CHAPTER = """\
---
description: {description}
question: {question}
---

# {title}

## {mask} {{ #causal-mask }}

{example}

{{{{ why-layers/twice: may attend }}}}

![{alt}](figures/why-layers/rising.svg)

## {in_short} {{ #in-short }}

{in_short}.

## {quiz} {{ #quiz }}

--8<-- "quizzes/why-layers.md"

## {exercises} {{ #exercises }}
"""
ENGLISH = {
    **{"title": "Why layers?", "question": "Why several layers?", "description": "Layers."},
    **{"alt": "A line that rises.", "mask": "The mask", "in_short": "In short", "quiz": "Quiz"},
    "exercises": "Exercises",
}
CHINESE = {
    **{"title": "为什么要有层？", "question": "为什么要好几层？", "description": "层。"},
    **{
        "alt": "一条上升的线。",
        "mask": "掩码",
        "in_short": "小结",
        "quiz": "测验",
        "exercises": "练习",
    },
}
EXERCISES = {
    "en": '\n**Exercise {0}** (think, 2 minutes). Why?\n\n??? success "Answer {0}"\n\n    So.\n',
    "zh": '\n**练习 {0}**（思考，2 分钟）。为什么？\n\n??? success "答案 {0}"\n\n    因为。\n',
}
WRITTEN_BY_COMMANDS = {
    "README.md",
    "snippets/results/claims.json",
    "snippets/results/outputs.json",
}


def adapted(text: str) -> str:
    """A text or a command of a recipe, for the new chapter instead of that on masks."""
    return text.replace("test_masks", "test_why_layers").replace("masks", NAME)


def blocks(recipe: str) -> list[str]:
    return [adapted(block[2]) + "\n" for block in BLOCK.finditer(RECIPES[recipe])]


def five_questions(question: str) -> str:
    """The question of the recipe five times, with its right choice at three places."""
    (entry,) = yaml.safe_load(question)
    choices = entry["choices"]
    turned = [entry | {"choices": choices[n:] + choices[:n]} for n in (0, 1, 2, 0, 1)]
    return yaml.safe_dump(turned, allow_unicode=True, sort_keys=False)


def chapter_texts() -> dict[str, str]:
    """The files that an author writes, by their names."""
    (example, shown), (figure,), (claim,) = map(blocks, ("example", "figure", "claim"))
    (question,) = blocks("quiz")
    shown_in_chinese = shown.replace("Input", "输入").replace("Output", "输出")
    english = CHAPTER.format(example=shown, **ENGLISH)
    chinese = CHAPTER.format(example=shown_in_chinese, **CHINESE).replace("小结.", "小结。")
    for number in (1, 2, 3):
        english += EXERCISES["en"].format(number)
        chinese += EXERCISES["zh"].format(number)
    return {
        "docs/en/why-layers.md": english,
        "docs/zh/why-layers.md": chinese,
        "docs/quizzes/why-layers.yml": five_questions(question),
        "snippets/examples/why-layers/twice.py": example,
        "scripts/figures/why-layers.py": figure,
        "tests/claims/test_why_layers.py": claim,
    }


def source_files(folder: Path) -> dict[str, bytes]:
    """The files of the book that git would track."""
    outputs = {".generated", ".venv", "node_modules", "site", ".pytest_cache"}
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    kept = (path for path in paths if path.parts[0] not in outputs)
    return {
        path.as_posix(): (folder / path).read_bytes()
        for path in kept
        if "__pycache__" not in path.parts and path.suffix != ".lock"
    }


@pytest.fixture
def copied_book(tmp_path: Path) -> Path:
    """The repository, with what has been generated and installed."""

    def others(folder: str, names: list[str]) -> set[str]:
        at_top = {".git", ".venv", "node_modules", "site", ".pytest_cache", ".ruff_cache"}
        return {"__pycache__", *(at_top if Path(folder) == ROOT else ())} & {*names}

    folder = shutil.copytree(ROOT, tmp_path / "book", ignore=others, symlinks=True)
    for name in (".venv", "node_modules"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.mark.slow
def test_the_recipes_of_contributing_add_a_chapter(copied_book, monkeypatch):
    for name in [name for name in os.environ if name.startswith("PYTEST_") or name == "ALL"]:
        monkeypatch.delenv(name)  # of this run, not of those below

    def run(command: str) -> CommandResult:
        program, *arguments = shlex.split(adapted(command))
        return run_command(copied_book, copied_book / program, *arguments)

    def must_succeed(command: str) -> None:
        status, output = run(command)
        assert status == 0, f"$ {command}\n{output}"

    def write(*names: str) -> None:
        for name in names:
            path = copied_book / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts.pop(name), encoding="utf-8")

    texts, before = chapter_texts(), source_files(copied_book)
    by_hand = {*texts, "mkdocs.yml", "snippets/zh/why-layers.po"}
    commands = {name: COMMAND.findall(recipe) for name, recipe in RECIPES.items()}
    pending, *_, last_tests = commands.pop("chapter")

    write("docs/en/why-layers.md")
    nav = "      - encoder-decoder.md\n      - full-model.md\n"
    change(copied_book / "mkdocs.yml", nav, f"{nav}      - {NAME}.md\n")
    must_succeed(pending)
    write(*(name for name in [*texts] if "zh" not in name))
    generate, catalogs, *_ = commands["example"]
    for command in (generate, catalogs):
        must_succeed(command)
    catalog = copied_book / "snippets/zh/why-layers.po"
    change(catalog, 'msgid "may attend:"\nmsgstr ""', 'msgid "may attend:"\nmsgstr "可以关注："')
    # Left to translators, it builds.
    status, output = run("scripts/build")
    assert status and "README.md:1: its generated parts have changed; commit it" in output, output
    assert "Aborted with 1 warnings" in output, output
    write("docs/zh/why-layers.md")
    for recipe in commands.values():
        for command in recipe:
            must_succeed(command)
    status, output = run("scripts/build")  # the README counts the new claim
    assert status and "README.md:1: its generated parts have changed; commit it" in output, output
    must_succeed("scripts/build")
    must_succeed(last_tests)

    after = source_files(copied_book)
    changed = {name for name in after if after[name] != before.get(name)}
    assert before.keys() <= after.keys()
    assert changed == by_hand | WRITTEN_BY_COMMANDS and len(by_hand) <= 10
    check_site(copied_book / "site", after["README.md"].decode())


def check_site(site: Path, readme: str) -> None:
    """The chapter and those after it have their numbers in all lists of both languages."""
    number = PLACE + 1
    (row,) = (line for line in readme.splitlines() if f"docs/en/{NAME}.md" in line)
    assert f"[{number}. {ENGLISH['title']}](docs/en/{NAME}.md)" in row
    assert f"[{number}. {CHINESE['title']}](docs/zh/{NAME}.md) | {ENGLISH['question']}" in row
    assert f"| [{number + 1}. " in readme.partition(row)[2]
    for language, texts in (("", ENGLISH), ("zh/", CHINESE)):
        title = f"{number}. {texts['title']}"
        page = (site / language / NAME / "index.html").read_text(encoding="utf-8")
        home = (site / language / "index.html").read_text(encoding="utf-8")
        claims = (site / language / "claims-model/index.html").read_text(encoding="utf-8")
        assert re.search(rf"<h1[^>]*>{re.escape(title)}<", page)
        assert f'aria-label="{texts["alt"]}"' in page and 'class="quiz"' in page
        assert re.search(r'<a class="number"[^>]*twice\.py">6</a>', page)
        (nav,) = re.findall(r'<nav class="md-nav md-nav--primary.*?</nav>\s*</div>', home, re.S)
        assert title in nav and title in home.replace(nav, "") and texts["question"] in home
        assert f"{NAME}/#in-short" in claims
        after = (site / language / "by-hand/index.html").read_text(encoding="utf-8")
        assert re.search(rf"<h1[^>]*>{number + 1}\. ", after)
