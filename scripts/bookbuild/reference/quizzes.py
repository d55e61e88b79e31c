"""The quizzes: docs/quizzes/CHAPTER.yml, both languages, as Markdown for the chapter's pages."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import LINE_KEY, LineNumberLoader, yaml_error

QUESTIONS = 5
CHOICES = (3, 4)
WORDS = {
    "en": {"question": "Question", "right": "Right.", "wrong": "Not quite.", "space": " "},
    "zh": {"question": "问题", "right": "对。", "wrong": "不对。", "space": ""},
}
TAG = re.compile(r"</?[a-z]\w*>")


def quiz_files() -> dict[str, Path]:
    return {path.stem: path for path in sorted((paths.DOCS / "quizzes").glob("*.yml"))}


@functools.cache
def questions(path: Path, mtime: int) -> list[dict]:
    """A chapter's questions. Raises Fault for whatever is missing or too much."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), LineNumberLoader)
    except yaml.MarkedYAMLError as error:
        raise yaml_error(path, error) from None
    if not isinstance(found, list) or len(found) != QUESTIONS:
        count = len(found) if isinstance(found, list) else 0
        raise SourceError(path, 1, f"{count} questions; a quiz has {QUESTIONS}")
    for number, question in enumerate(found, 1):
        where = f"question {number}"
        texts(path, 1, where, question, ("en", "zh"), ("choices",))
        choices = question.get("choices")
        if not isinstance(choices, list) or not CHOICES[0] <= len(choices) <= CHOICES[1]:
            count = len(choices) if isinstance(choices, list) else 0
            what = f"{where} has {count} choices; {CHOICES[0]} or {CHOICES[1]} are needed"
            raise SourceError(path, question[LINE_KEY], what)
        for place, choice in enumerate(choices, 1):
            named = f"{where}, choice {place}"
            texts(
                path,
                question[LINE_KEY],
                named,
                choice,
                ("en", "zh", "en_why", "zh_why"),
                ("right",),
            )
        right = sum(choice.get("right") == "true" for choice in choices)
        if right != 1:
            what = f"{where} has {right} right choices; exactly one has 'right: true'"
            raise SourceError(path, question[LINE_KEY], what)
    return found


def texts(
    path: Path, near: int, where: str, given: object, wanted: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """Are these texts all there, and nothing unknown?"""
    if not isinstance(given, dict):
        raise SourceError(path, near, f"{where} is no mapping with {', '.join(wanted)}")
    for name in wanted:
        if not isinstance(given.get(name), str) or not given[name].strip():
            raise SourceError(path, given[LINE_KEY], f"{where} has no text {name}")
        if re.search(r"[\x00-\x09\x0b-\x1f]", given[name]):
            what = f"{where}, {name}: between double quotes a backslash is written twice"
            raise SourceError(path, given[LINE_KEY], what)
        tag = TAG.search(re.sub(r"`[^`]*`", "", given[name]))
        if tag:  # a browser would take it for HTML, and show nothing
            what = f"{where}, {name}: {tag[0]} stands between backticks, or not at all"
            raise SourceError(path, given[LINE_KEY], what)
    for name in given:
        if name not in (*wanted, *more, LINE_KEY):
            known = ", ".join((*wanted, *more))
            raise SourceError(path, given[LINE_KEY], f"{where} has {name}; known are {known}")


def load_quiz(path: Path) -> list[dict]:
    return questions(path, path.stat().st_mtime_ns)


def quiz_markdown(path: Path, language: str) -> str:
    """The quiz of a chapter: each choice unfolds to what is to be said of it."""
    words, parts = WORDS[language], []
    for number, question in enumerate(load_quiz(path), 1):
        text = question[language].strip()
        parts.append(f"**{words['question']} {number}.** {text}\n")
        for choice in question["choices"]:
            verdict = "right" if choice.get("right") == "true" else "wrong"
            why = choice[f"{language}_why"].strip()
            parts.append(
                f'<details class="{verdict}" markdown>\n'
                f"<summary markdown>{choice[language].strip()}</summary>\n\n"
                f"**{words[verdict]}**{words['space']}{why}\n\n"
                "</details>\n"
            )
    body = "\n".join(parts)
    return f'<div class="quiz" data-search-exclude markdown>\n\n{body}\n</div>\n'


def errors_containing(piece: str, what: str) -> Iterator[SourceError]:
    """What is said of a link or a formula, at the question or choice that has it."""
    for path in quiz_files().values():
        parts = [part for each in load_quiz(path) for part in (each, *each["choices"])]
        for part in parts:
            if any(piece in text for text in part.values() if isinstance(text, str)):
                yield SourceError(path, part[LINE_KEY], what)
                break
