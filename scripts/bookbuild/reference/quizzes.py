"""The quizzes: docs/quizzes/CHAPTER.yml, both languages in one file, converted to Markdown."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, parse_yaml

NUM_QUESTIONS = 5
MIN_CHOICES, MAX_CHOICES = 3, 4
LABELS = {
    "en": {"question": "Question", "right": "Right.", "wrong": "Not quite.", "space": " "},
    "zh": {"question": "问题", "right": "对。", "wrong": "不对。", "space": ""},
}
HTML_TAG = re.compile(r"</?[a-z]\w*>")


def quiz_files() -> dict[str, Path]:
    """The file of each quiz, by its chapter's name."""
    return {path.stem: path for path in sorted((paths.DOCS / "quizzes").glob("*.yml"))}


def load_quiz(path: Path) -> list[Entry]:
    """The questions of a quiz. Raises SourceError for missing, unknown or too many parts."""
    return parse_quiz(path, path.stat().st_mtime_ns)


@functools.cache
def parse_quiz(path: Path, modified_ns: int) -> list[Entry]:
    quiz = parse_yaml(path, path.read_text(encoding="utf-8"))
    if not isinstance(quiz, list) or len(quiz) != NUM_QUESTIONS:
        count = len(quiz) if isinstance(quiz, list) else 0
        raise SourceError(path, 1, f"{count} questions; a quiz has {NUM_QUESTIONS}")
    for number, question in enumerate(quiz, 1):
        check_question(path, f"question {number}", question)
    return quiz


def check_question(path: Path, label: str, question: object) -> None:
    """Raises SourceError unless the question has valid texts and one right choice."""
    question = check_texts(path, 1, label, question, ("en", "zh"), ("choices",))
    line, choices = question.line, question.get("choices")
    if not isinstance(choices, list) or not MIN_CHOICES <= len(choices) <= MAX_CHOICES:
        count = len(choices) if isinstance(choices, list) else 0
        message = f"{label} has {count} choices; write {MIN_CHOICES} or {MAX_CHOICES}"
        raise SourceError(path, line, message)
    for number, choice in enumerate(choices, 1):
        required = ("en", "zh", "en_why", "zh_why")
        check_texts(path, line, f"{label}, choice {number}", choice, required, ("right",))
    num_right = sum(choice.get("right") == "true" for choice in choices)
    if num_right != 1:
        message = f"{label} has {num_right} right choices; mark exactly one with 'right: true'"
        raise SourceError(path, line, message)


def check_texts(
    path: Path,
    line: int,
    label: str,
    node: object,
    required: tuple[str, ...],
    optional: tuple[str, ...],
) -> Entry:
    """Return the node if it is a mapping with valid texts. Raises SourceError otherwise.

    The line is used for a node that has none of its own.
    """
    if not isinstance(node, Entry):
        raise SourceError(path, line, f"{label} is not a mapping with {', '.join(required)}")
    line = node.line
    for key in required:
        if not isinstance(node.get(key), str) or not node[key].strip():
            raise SourceError(path, line, f"{label} has no text {key}; add it")
        if re.search(r"[\x00-\x09\x0b-\x1f]", node[key]):
            message = f"{label}, {key}: control character; write \\\\ for \\ between double quotes"
            raise SourceError(path, line, message)
        tag = HTML_TAG.search(re.sub(r"`[^`]*`", "", node[key]))
        if tag:
            message = f"{label}, {key}: HTML tag {tag[0]}; put it between backticks or remove it"
            raise SourceError(path, line, message)
    for key in node:
        if key not in (*required, *optional):
            known = ", ".join((*required, *optional))
            raise SourceError(path, line, f"{label} has the unknown key {key}; use {known}")
    return node


def quiz_markdown(path: Path, language: str) -> str:
    """The Markdown of a quiz: each choice unfolds to its explanation."""
    labels, parts = LABELS[language], []
    for number, question in enumerate(load_quiz(path), 1):
        text = question[language].strip()
        parts.append(f"**{labels['question']} {number}.** {text}\n")
        for choice in question["choices"]:
            verdict = "right" if choice.get("right") == "true" else "wrong"
            explanation = choice[f"{language}_why"].strip()
            parts.append(
                f'<details class="{verdict}" markdown>\n'
                f"<summary markdown>{choice[language].strip()}</summary>\n\n"
                f"**{labels[verdict]}**{labels['space']}{explanation}\n\n"
                "</details>\n"
            )
    body = "\n".join(parts)
    return f'<div class="quiz" data-search-exclude markdown>\n\n{body}\n</div>\n'


def errors_at_text(text: str, message: str) -> Iterator[SourceError]:
    """An error with the message at the first question or choice of each quiz with the text."""
    for path in quiz_files().values():
        quiz = load_quiz(path)
        for node in (node for question in quiz for node in (question, *question["choices"])):
            if any(text in value for value in node.values() if isinstance(value, str)):
                yield SourceError(path, node.line, message)
                break
