"""The quizzes: docs/quizzes/CHAPTER.yml, both languages in one file, converted to Markdown."""

import re
from pathlib import Path
from typing import Any

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, check_entry, load_entries
from bookbuild.pages.page import SourcePage
from bookbuild.pages.templates import render

NUM_QUESTIONS = 5
MIN_CHOICES, MAX_CHOICES = 3, 4
HTML_TAG = re.compile(r"</?[a-z]\w*>")


def quiz_files() -> dict[str, Path]:
    """The file of each quiz, by its chapter's name."""
    return {path.stem: path for path in sorted((paths.DOCS / "quizzes").glob("*.yml"))}


def load_quiz(path: Path) -> list[Entry]:
    """The questions of a quiz. Raises SourceError for missing, unknown or too many parts."""
    quiz = load_entries(path, ("en", "zh"), ("choices",))
    if len(quiz) != NUM_QUESTIONS:
        raise SourceError(path, 1, f"{len(quiz)} questions; a quiz has {NUM_QUESTIONS}")
    for number, question in enumerate(quiz, 1):
        check_question(path, f"question {number}", question)
    return quiz


def check_question(path: Path, label: str, question: Entry) -> None:
    """Raises SourceError unless the question has valid texts and one right choice."""
    choices: Any = question.get("choices")
    count = len(choices) if isinstance(choices, list) else 0
    if not MIN_CHOICES <= count <= MAX_CHOICES:
        message = f"{label} has {count} choices; write {MIN_CHOICES} or {MAX_CHOICES}"
        raise SourceError(path, question.line, message)
    for choice in choices:
        check_entry(path, choice, ("en", "zh", "en_why", "zh_why"), ("right",))
    count = sum(choice.get("right") == "true" for choice in choices)
    if count != 1:
        message = f"{label} has {count} right choices; mark exactly one with 'right: true'"
        raise SourceError(path, question.line, message)
    texts = [text for choice in choices for text in choice.values()]
    for text in (question["en"], question["zh"], *texts):
        if re.search(r"[\x00-\x09\x0b-\x1f]", text):
            message = "control character; write \\\\ for \\ between double quotes"
            raise SourceError(path, text.line, message)
        if tag := HTML_TAG.search(re.sub(r"`[^`]*`", "", text)):
            message = f"HTML tag {tag[0]}; put it between backticks or remove it"
            raise SourceError(path, text.line, message)


def quiz_markdown(path: Path, language: str) -> str:
    """The Markdown of a quiz: each choice unfolds to its explanation."""
    return render("quiz.md", language, quiz=load_quiz(path))


def error_at_text(page: SourcePage, text: str, message: str) -> SourceError:
    """An error at a text of a page, or at the first question or choice of a quiz with it."""
    for path in quiz_files().values() if text not in page.text else ():
        quiz = load_quiz(path)
        for node in (node for question in quiz for node in (question, *question["choices"])):
            if any(text in value for value in node.values() if isinstance(value, str)):
                return SourceError(path, node.line, message)
    return page.error(max(0, page.text.find(text)), message)
