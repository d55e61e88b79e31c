"""The tables and numbers of the page Proofs, from the claims and what was measured of them."""

from typing import NamedTuple

from bookbuild.check.translation import find_parts
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.templates import render
from bookbuild.reference import bibliography
from bookbuild.reference.claim_results import load_results
from bookbuild.reference.claims import (
    KINDS,
    Claim,
    Figure,
    all_claims,
    claim_sections,
    claims_in,
    measurements,
    test_files,
)


class Row(NamedTuple):
    """A claim, what was measured of it, and what its test compares."""

    claim: Claim
    figures: list[Figure]
    comparisons: list[str]


def claim_rows(claims: list[Claim]) -> list[Row]:
    measured, results = measurements(), load_results()
    comparisons = {test: result.comparisons for test, result in results.items()}
    return [
        Row(claim, measured.get(claim.comparison, []), comparisons.get(claim.test, []))
        for claim in claims
    ]


def measured_table(language: str) -> str:
    """A Markdown table of all measurements: a row per claim, float32 above float64."""
    rows = []
    for claim, figures, _ in claim_rows(all_claims()):
        kinds = list(dict.fromkeys(figure.numbers for figure in figures))
        columns = [
            kinds,
            [figure.value for figure in figures if figure.what != "gradients"],
            [figure.value for figure in figures if figure.what == "gradients"],
            [
                ", ".join(dict.fromkeys(f.bound for f in figures if f.numbers == kind))
                for kind in kinds
            ],
        ]
        if figures:
            page = SourcePage(language, claim.place.partition("#")[0])
            rows.append((claim, page.title, columns))
    return render("measured.md", language, rows=rows)


def counts(claims: list[Claim]) -> dict[str, int]:
    """How many claims there are of each kind, and how many faults they catch."""
    kinds = {kind: sum(claim.kind == kind for claim in claims) for kind in KINDS}
    return {**kinds, "changes": sum(len(claim.mutations) for claim in claims)}


def counts_table(language: str, numbers: dict[str, int]) -> str:
    """A Markdown table of the counts, with links to the claims of each page."""
    claims = claims_by_page()
    sections = [
        (section, counts(claims[name])) for name, section in claim_sections(language).items()
    ]
    return render("counts.md", language, sections=sections, numbers=numbers)


def claims_by_page() -> dict[str, list[Claim]]:
    return {
        name: [claim for path in files for claim in claims_in(path)]
        for name, files in test_files().items()
    }


def count_all() -> dict[str, int]:
    """The numbers of claims, pages, figures and so on."""
    pages = list_pages("en")
    texts = [page.text for page in pages]
    claims = all_claims()
    return {
        "claims": len(claims),
        **counts(claims),
        "measured": len(measurements()),
        "pages": len(pages),
        "examples": len([*(paths.SNIPPETS / "examples").rglob("*.py")]),
        "exercises": sum(len(find_parts("exercise", text)) // 2 for text in texts),
        "figures": len({part.value for text in texts for part in find_parts("figure", text)}),
        "widgets": sum(text.count('<div class="widget"') for text in texts),
        "labs": sum(page.is_notebook for page in pages),
        "works": len(bibliography.select_references(software=False)),
    }


def write() -> None:
    """Write the files that the page Proofs and the pages of claims include."""
    numbers, claims = count_all(), claims_by_page()
    lines = [f"{name}: {count}\n" for name, count in numbers.items()]
    write_file(paths.GENERATED / "claims" / "numbers.txt", "".join(lines))
    for language in LANGUAGES:
        folder = paths.GENERATED / language / "claims"
        for page in list_pages(language):
            name = page.name.removesuffix(".md")
            rows = claim_rows(claims.get(name, []))
            write_file(folder / f"{name}.md", render("claims.md", language, rows=rows))
        write_file(folder / "measured.md", measured_table(language))
        write_file(folder / "counts.md", counts_table(language, numbers))
        write_file(folder / "numbers.md", render("numbers.md", language, **numbers))
