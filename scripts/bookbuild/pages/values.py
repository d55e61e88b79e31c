"""Values that examples print and pages quote: {{ chapter/example: label }}."""

import re
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.files import read_text
from bookbuild.pages.page import VALUE, blank_fences

RESULT = re.compile(r'"(\w+)\.json"')
SOURCE_LINK = re.compile(r'<a class="number"[^>]*>(.*?)</a>')
OUTPUT_FOLDERS = ("proofs/", "pitfalls/")  # a reference to any other output is to an example
CLAIM_COUNTS = "claims/numbers"  # {{ claims/numbers: code }}


def output_name(reference: str) -> str:
    """The output that a reference names: outputs/examples/chapter/example.txt."""
    name = reference.partition(": ")[0]
    if name == CLAIM_COUNTS:
        return f"{name}.txt"
    return f"outputs/{name if name.startswith(OUTPUT_FOLDERS) else f'examples/{name}'}.txt"


def source_path(name: str) -> Path:
    """The file that makes outputs/examples/CHAPTER/NAME.txt or figures/CHAPTER/NAME.svg."""
    path = Path(name)
    if name.startswith("figures/"):
        return paths.SCRIPTS / f"{path.parent}.py"
    program = path.relative_to("outputs").with_suffix(".py")
    return (paths.SCRIPTS if program.parts[0] == "proofs" else paths.SNIPPETS) / program


def resolve_value(reference: str) -> str:
    """The value of 'chapter/example: label' in the output of the example or proof.

    Raises ValueError if there is no such output, or not exactly one line with the label.
    """
    output, label = output_name(reference), reference.partition(": ")[2]
    path = paths.GENERATED / output
    if not label or not path.is_file():
        raise ValueError(
            f"unknown example in {{{{ {reference} }}}}; use {{{{ chapter/example: label }}}}"
        )
    lines = read_text(path).splitlines()
    matches = [line for line in lines if line.startswith(f"{label}: ")]
    if len(matches) != 1:
        labels = ", ".join(line.partition(": ")[0] for line in lines if ": " in line)
        raise ValueError(
            f"{len(matches)} lines of {output} start with '{label}: ', expected 1; "
            f"use one of its labels: {labels or 'none'}"
        )
    return matches[0].removeprefix(f"{label}: ").strip()


def source_file(reference: str) -> str:
    """The file of the repository that computes a value: an example, a proof, or the experiment
    whose result the example reads."""
    if reference.startswith(f"{CLAIM_COUNTS}: "):
        return "scripts/bookbuild/generated/claim_tables.py"
    program = source_path(output_name(reference))
    for result in RESULT.findall(read_text(program)):
        if (paths.SCRIPTS / f"experiments/{result}.py").is_file():
            return f"scripts/experiments/{result}.py"
    return program.relative_to(paths.ROOT).as_posix()


def source_link(content: str, file: str, repository: str) -> str:
    """HTML that links a number to the file of the repository that computes it."""
    href = f"{repository.rstrip('/')}/blob/main/{file}"
    return f'<a class="number" href="{href}">{content}</a>'


def remove_source_links(text: str) -> str:
    return SOURCE_LINK.sub(r"\1", text)


def replace_values(text: str, repository: str | None = None) -> str:
    """The page with each {{ chapter/example: label }} replaced by its value, except in code.

    Each value links to its source if there is a repository.
    """
    plain = blank_fences(text)
    for match in reversed([*VALUE.finditer(plain)]):
        value = resolve_value(match[1])
        if repository:
            value = source_link(value, source_file(match[1]), repository)
        text = text[: match.start()] + value + text[match.end() :]
    return text
