"""The tables and numbers of the page Proofs, from the claims and what was measured of them."""

from typing import NamedTuple

from bookbuild.generated import bibliography, mutation_testing
from bookbuild.generated.claim_results import load_records
from bookbuild.generated.claims import (
    KINDS,
    Claim,
    Figure,
    claim_sections,
    claims_in,
    claims_pages,
    measurements,
    test_files,
)
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.page import FIGURE, FOLDED_ANSWER, WIDGET, list_pages, prose
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.templates import render


class Row(NamedTuple):
    """A claim, what was measured of it, and what its test compares."""

    claim: Claim
    figures: list[Figure]
    comparisons: list[str]


def rows_by_page() -> dict[str, list[Row]]:
    """The claims of each page that has any."""
    measured, records = measurements(), load_records()
    comparisons = {name: record.comparisons for name, record in records.items()}
    return {
        name: [
            Row(
                claim,
                measured.get(claim.comparison, []),
                comparisons.get(claim.file, {}).get(claim.name, []),
            )
            for path in files
            for claim in claims_in(path)
        ]
        for name, files in test_files().items()
    }


def counts(rows: list[Row]) -> dict[str, int]:
    """How many claims there are of each kind, and how many faults they catch."""
    kinds = {kind: sum(row.claim.kind == kind for row in rows) for kind in KINDS}
    return {**kinds, "changes": sum(len(row.claim.mutations) for row in rows)}


def count_all(rows: list[Row]) -> dict[str, int]:
    """The numbers of claims, pages, figures and so on."""
    pages = list_pages("en")
    texts = [page.text for page in pages]
    return {
        "claims": len(rows),
        **counts(rows),
        "measured": len(measurements()),
        "pages": len(pages),
        "examples": len([*(paths.SNIPPETS / "examples").rglob("*.py")]),
        "exercises": sum(len(FOLDED_ANSWER.findall(text)) for text in texts),
        "figures": len({match[2] for text in texts for match in FIGURE.finditer(prose(text))}),
        "widgets": sum(len(WIDGET.findall(text)) for text in texts),
        "labs": sum(page.is_notebook for page in pages),
        "works": len(bibliography.select_references(software=False)),
    }


def write() -> None:
    """Write the files that the page Proofs and the pages of claims include."""
    claims = rows_by_page()
    rows = [row for rows_of_page in claims.values() for row in rows_of_page]
    numbers = count_all(rows)
    lines = [f"{name}: {count}\n" for name, count in numbers.items()]
    write_file(paths.GENERATED / "claims" / "numbers.txt", "".join(lines))
    for language in LANGUAGES:
        pages = list_pages(language)
        titles = {page.name: page.title for page in pages}
        sections = [(each, counts(claims[name])) for name, each in claim_sections(language).items()]
        tables = {
            "measured": render("measured.md", language, rows=rows, titles=titles),
            "mutants": render("mutants.md", language, mutants=mutation_testing.load_results()),
            "counts": render("counts.md", language, sections=sections, numbers=numbers),
        }
        for page, names in claims_pages(language).items():
            tables[page.name.removesuffix(".md")] = "\n".join(
                f"## {titles[f'{name}.md']} {{ #{name} }}\n\n"
                + render("claims.md", language, rows=claims[name])
                for name in names
            )
        for name, table in tables.items():
            write_file(paths.GENERATED / language / "claims" / f"{name}.md", table)
