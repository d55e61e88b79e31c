"""The tables and numbers of the page Proofs, from the claims and what was measured of them."""

from bookbuild.generated import bibliography, mutation_testing
from bookbuild.generated.claim_results import load_records
from bookbuild.generated.claims import (
    KINDS,
    Claim,
    all_claims,
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


def counts(claims: list[Claim]) -> dict[str, int]:
    """How many claims there are of each kind, and how many faults they catch."""
    kinds = {kind: sum(claim.kind == kind for claim in claims) for kind in KINDS}
    return {**kinds, "changes": sum(len(claim.mutations) for claim in claims)}


def count_all(claims: list[Claim]) -> dict[str, int]:
    """The numbers of claims, pages, figures and so on."""
    pages = list_pages("en")
    texts = [page.text for page in pages]
    return {
        "claims": len(claims),
        **counts(claims),
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
    by_page = {
        name: [claim for path in files for claim in claims_in(path)]
        for name, files in test_files().items()
    }
    claims = all_claims()
    numbers = count_all(claims)
    shown = {  # of claims: by comparison, by test
        "measured": measurements(),
        "comparisons": {
            f"{file}::{name}": texts
            for file, record in load_records().items()
            for name, texts in record.comparisons.items()
        },
    }
    lines = [f"{name}: {count}\n" for name, count in numbers.items()]
    write_file(paths.GENERATED / "claims" / "numbers.txt", "".join(lines))
    for language in LANGUAGES:
        pages = list_pages(language)
        titles = {page.name: page.title for page in pages}
        sections = [
            (each, counts(by_page[name])) for name, each in claim_sections(language).items()
        ]
        tables = {
            "measured": render("measured.md", language, claims=claims, titles=titles, **shown),
            "mutants": render("mutants.md", language, mutants=mutation_testing.load_results()),
            "counts": render("counts.md", language, sections=sections, numbers=numbers),
        }
        for page, names in claims_pages(language).items():
            tables[page.name.removesuffix(".md")] = "\n".join(
                f"## {titles[f'{name}.md']} {{ #{name} }}\n\n"
                + render("claims.md", language, claims=by_page[name], **shown)
                for name in names
            )
        for name, table in tables.items():
            write_file(paths.GENERATED / language / "claims" / f"{name}.md", table)
