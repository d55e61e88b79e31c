"""The tables and numbers of the page Proofs, from the claims and what was measured of them."""

import html
from collections.abc import Iterable
from typing import Any

from bookbuild.check.translation import find_parts
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import bibliography
from bookbuild.reference.claim_results import Result, load_results
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

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "none": "No claim yet.",
        "faults": ("Claim about the code", "The test fails if"),
        "comparisons": ("Claim about mathematics, or measurement", "What the test compares"),
        "counts": ("Claims", "Code", "Faults", "Mathematics", "Measurements"),
        "all": "All",
        "kinds": {"mathematics": "mathematics", "measurement": "measurement"},
        "measured": ("Claim", "Numbers", "Results", "Gradients", "Allowed"),
        "test": "test",
        "here": "Measured here",
        "gradients": "gradients",
        "numbers": {
            "claims": "claims, each a test",
            "code": "of them about the code, each with a fault that its test must catch",
            "mathematics": "of them about mathematics",
            "measurement": "of them measurements",
            "changes": "deliberate faults in the code, each caught by its claim",
            "measured": "figures of claims, measured by this build",
            "pages": "pages, in two languages",
            "examples": "examples, run by this build",
            "exercises": "exercises, with their answers",
            "figures": "figures, drawn by this build",
            "widgets": "interactive figures",
            "labs": "labs",
            "works": "works cited",
        },
    },
    "zh": {
        "none": "还没有论断。",
        "faults": ("关于代码的论断", "代码这样一改，测试就失败"),
        "comparisons": ("关于数学的论断，测量结果", "测试比较了什么"),
        "counts": ("论断", "关于代码", "故意改错", "关于数学", "测量结果"),
        "all": "合计",
        "kinds": {"mathematics": "数学", "measurement": "测量"},
        "measured": ("论断", "数据类型", "结果", "梯度", "允许"),
        "test": "测试",
        "here": "这次测得",
        "gradients": "梯度",
        "numbers": {
            "claims": "条论断，每条都是一个测试",
            "code": "条关于代码，每条都有测试必须发现的错误",
            "mathematics": "条关于数学",
            "measurement": "条是测量结果",
            "changes": "处故意改错的代码，每处都被它的论断抓住",
            "measured": "条论断的数字，由这次构建测得",
            "pages": "页，两种语言都有",
            "examples": "个例子，由这次构建运行",
            "exercises": "道练习，附答案",
            "figures": "幅插图，由这次构建画出",
            "widgets": "幅可交互的图",
            "labs": "个动手实验",
            "works": "篇引用的论文和文章",
        },
    },
}


def markdown_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def english(text: str, language: str) -> str:
    """English text for a page in any language."""
    text = html.escape(text).translate({ord(char): f"&#{ord(char)};" for char in "[]|"})
    return text if language == "en" else f'<span lang="en">{text}</span>'


def nowrap(text: str) -> str:
    return f'<span class="nowrap">{text}</span>' if text else ""


def claim_link(claim: Claim, language: str) -> str:
    """A link from the claim to its section, in the color of text because there are so many."""
    return f"[{english(claim.text, language)}]({claim.place}){{ .claim }}"


def source_link(text: str, claim: Claim, line: int) -> str:
    """A link to a line of the test file; the build adds the address of the repository."""
    folder = paths.CLAIMS.relative_to(paths.ROOT).as_posix()
    return f"[{text}](source:{folder}/{claim.file}#L{line})"


def claim_cell(claim: Claim, figures: list[Figure], language: str) -> str:
    """The claim with a link to its section, a link to its test, and what was measured of it."""
    test = source_link(WORDS[language]["test"], claim, claim.line)
    return f"{claim_link(claim, language)} {test}{measured_note(figures, language)}"


def fault_links(claim: Claim, language: str) -> str:
    """The faults that the test must catch, each with a link to its declaration."""
    return "; ".join(
        source_link(english(mutation.fault, language), claim, mutation.line) + "{ .claim }"
        for mutation in claim.mutations
    )


def comparisons_cell(claim: Claim, result: Result | None, language: str) -> str:
    """What the test compares, and the faults that it must catch if there are any."""
    texts = [f"`{text.replace('`', chr(39))}`" for text in (result.comparisons if result else [])]
    faults = [fault_links(claim, language)] if claim.mutations else []
    return "<br>".join([*texts, *faults])


def tables(claims: list[Claim], language: str) -> str:
    """The claims of a page as Markdown tables: those about code, then the others."""
    words, measured, results = WORDS[language], measurements(), load_results()
    faults, comparisons = [], []
    for claim in claims:
        cell = claim_cell(claim, measured.get(claim.comparison, []), language)
        if claim.kind == "code":
            faults.append((cell, fault_links(claim, language)))
        else:
            compared = comparisons_cell(claim, results.get(claim.test), language)
            kind = f"<br><small>{words['kinds'][claim.kind]}</small>"
            comparisons.append((f"{cell}{kind}", compared))
    parts = [
        markdown_table(words[heads], rows)
        for heads, rows in (("faults", faults), ("comparisons", comparisons))
        if rows
    ]
    return "\n".join(parts) or f"{words['none']}\n"


def measured_note(figures: list[Figure], language: str) -> str:
    """What was measured of a claim, for a small line below it."""
    words, parts = WORDS[language], []
    colon, comma = (": ", "; ") if language == "en" else ("：", "；")
    for figure in figures:
        what = f", {words['gradients']}" if figure.what == "gradients" else ""
        parts.append(nowrap(f"{figure.numbers}{what} {figure.value}"))
    return f"<br><small>{words['here']}{colon}{comma.join(parts)}</small>" if parts else ""


def measured_table(language: str) -> str:
    """A Markdown table of all measurements: a row per claim, float32 above float64."""
    measured, rows = measurements(), []
    for claim in all_claims():
        figures = measured.get(claim.comparison, [])
        if figures:
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
            page = SourcePage(language, claim.place.partition("#")[0]).title
            cells = ["<br>".join(map(nowrap, column)) for column in columns]
            rows.append((f"{claim_link(claim, language)}<br><small>{page}</small>", *cells))
    return markdown_table(WORDS[language]["measured"], rows)


def counts(claims: list[Claim]) -> dict[str, int]:
    """How many claims there are of each kind, and how many faults they catch."""
    kinds = {kind: sum(claim.kind == kind for claim in claims) for kind in KINDS}
    return {**kinds, "changes": sum(len(claim.mutations) for claim in claims)}


def counts_table(language: str) -> str:
    """A Markdown table of the counts, with links to the claims of each page."""
    words, rows = WORDS[language], []
    files = test_files()
    groups = [
        (f"[{title}]({address})", [claim for path in files[name] for claim in claims_in(path)])
        for name, (title, address) in claim_sections(language).items()
    ]
    for title, claims in [*groups, (words["all"], all_claims())]:
        counted = counts(claims)
        columns = "code", "changes", "mathematics", "measurement"
        rows.append((title, *(str(counted[column]) for column in columns)))
    return markdown_table(words["counts"], rows)


def numbers() -> dict[str, int]:
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
    files, counted = test_files(), numbers()
    lines = [f"{name}: {count}\n" for name, count in counted.items()]
    write_file(paths.GENERATED / "claims" / "numbers.txt", "".join(lines))
    for language in LANGUAGES:
        folder = paths.GENERATED / language / "claims"
        for page in list_pages(language):
            name = page.name.removesuffix(".md")
            claims = [claim for path in files.get(name, []) for claim in claims_in(path)]
            write_file(folder / f"{name}.md", tables(claims, language))
        write_file(folder / "measured.md", measured_table(language))
        write_file(folder / "counts.md", counts_table(language))
        words = WORDS[language]["numbers"]
        lines = [f"- **{count}** {words[name]}\n" for name, count in counted.items()]
        write_file(folder / "numbers.md", "".join(lines))
