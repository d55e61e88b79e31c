"""The lists of pages on the home page and in the README, and what else the README shows."""

import re
from collections.abc import Iterator
from textwrap import dedent

from bookbuild.generated.claims import all_claims
from bookbuild.pages import paths
from bookbuild.pages.contents import Part, load_parts, part_title
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections
from bookbuild.pages.templates import render
from bookbuild.pages.values import resolve_value

HOME_HEADER = {"en": "| Chapter | Question |", "zh": "| 章节 | 问题 |"}
FOLDED_PARTS = ("In depth", "Decoders since 2023", "Finding mistakes", "Reference")  # in the README
README_CLAIM = "test_by_hand.py::test_plain_python_computes_every_table_of_the_model"
# <!-- value CHAPTER/EXAMPLE: LABEL -->VALUE<!-- end -->
README_VALUE = re.compile(
    r"(?P<opening><!-- (?P<kind>value|hundreds) (?P<reference>[^>]+?) -->).*?<!-- end -->"
)


def pages_of(part: Part, language: str) -> list[SourcePage]:
    """The pages of a part that exist in a language."""
    pages = (SourcePage(language, name) for name in part.pages)
    return [page for page in pages if page.path.exists()]


def home_table(language: str) -> str:
    """A row for each page with its question, below a row for each part."""
    rows = [HOME_HEADER[language], "|---|---|"]
    for part in load_parts():
        rows.append(f"| **{part_title(part, language)}** | |")
        for page in pages_of(part, language):
            rows.append(f"| [{page.title}]({page.name}) | {page.meta.get('question', '')} |")
    return "".join(f"{row}\n" for row in rows)


def readme_table() -> str:
    """A row for each page of a part, in both languages; the parts that a first reading can skip
    are folded."""
    return "\n".join(map(readme_part, load_parts()))


def readme_part(part: Part) -> str:
    titles = " · ".join(part_title(part, language) for language in LANGUAGES)
    rows = [f"| {titles} | 中文 | Question |", "|---|---|---|"]
    for name in part.pages:
        pages = [SourcePage(language, name) for language in LANGUAGES]
        links = [
            f"[{page.title}]({page.display_path.as_posix()})" if page.path.exists() else ""
            for page in pages
        ]
        rows.append(f"| {' | '.join(links)} | {pages[0].meta.get('question', '')} |")
    table = "".join(f"{row}\n" for row in rows)
    if part.title not in FOLDED_PARTS:
        return table
    return f"<details><summary>{titles}</summary>\n\n{table}\n</details>\n"


def readme_code() -> str:
    """The lines of attention, and a claim about them with the mutation that it has caught."""
    section = read_sections(paths.SNIPPETS / "transformer.py")["scaled_dot_product_attention"]
    lines = [line for line in section.rpartition('"""\n')[2].splitlines() if line.strip()]
    code = dedent("\n".join(line for line in lines if not line.strip().startswith("#")))
    claim = next(each for each in all_claims() if each.test == README_CLAIM)
    mutation = claim.mutations[0]
    (line,) = (line for line in code.splitlines() if mutation.change[0] in line)
    values = {"code": code, "claim": claim, "mutation": mutation, "line": line.strip()}
    changed = line.strip().replace(*mutation.change)
    return render("readme_code.md", LANGUAGES[0], **values, changed=changed)


def readme_value(match: re.Match[str]) -> str:
    """A value with its comments; a number that changes often is rounded down to hundreds."""
    value = resolve_value(match["reference"])
    if match["kind"] == "hundreds":
        value = f"{int(value) // 100 * 100:,}"
    return f"{match['opening']}{value}<!-- end -->"


def readme_text(text: str) -> str:
    """The README with its generated parts: the chapters, the code and the numbers."""
    for name, make in (("contents", readme_table), ("code", readme_code)):
        block = rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)"
        text = re.sub(block, lambda _, make=make: make(), text, flags=re.S)
    return README_VALUE.sub(readme_value, text)


def update_readme() -> bool:
    """Write the generated parts of README.md; returns whether it has changed."""
    path = paths.ROOT / "README.md"
    if not path.exists():
        return False
    old = path.read_text(encoding="utf-8")
    new = readme_text(old)
    write_file(path, new)
    return new != old


def question_errors() -> Iterator[SourceError]:
    """Pages of the table of contents without the question that the home page lists."""
    for language in LANGUAGES:
        for page in (page for part in load_parts() for page in pages_of(part, language)):
            if not page.meta.get("question"):
                hint = "write the question that it answers into its front matter"
                yield SourceError(page.path, 1, f"has no question; {hint}")
