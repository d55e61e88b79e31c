"""Renders the Jinja templates in scripts/bookbuild/templates/, which contain both languages."""

import html
import json
from pathlib import Path

import jinja2

FOLDER = Path(__file__).parents[1] / "templates"
ENVIRONMENT = jinja2.Environment(
    autoescape=jinja2.select_autoescape(["html", "xhtml"]),
    keep_trailing_newline=True,
    loader=jinja2.FileSystemLoader(FOLDER),
    lstrip_blocks=True,
    trim_blocks=True,
    undefined=jinja2.StrictUndefined,
)
ENVIRONMENT.filters["css_string"] = lambda text: json.dumps(text, ensure_ascii=False)
ENVIRONMENT.filters["html"] = html.escape


def render(template: str, language: str, **values: object) -> str:
    """The text in one language; in a template, words("English", "中文") selects its words."""

    def words(english: str, chinese: str) -> str:
        return english if language == "en" else chinese

    values |= {"language": language, "words": words}
    return ENVIRONMENT.get_template(template).render(values)


def read_template(name: str) -> str:
    """A file of the folder without values, such as a style sheet."""
    return (FOLDER / name).read_text(encoding="utf-8")
