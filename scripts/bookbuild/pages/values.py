"""Values that examples print and pages quote: {{ chapter/example: label }}."""

from bookbuild.pages import paths
from bookbuild.pages.page import VALUE, blank_fences

OUTPUT_FOLDERS = ("proofs/", "pitfalls/")  # a reference to any other output is to an example


def output_name(reference: str) -> str:
    """The output that a reference names: outputs/examples/chapter/example.txt."""
    name = reference.partition(": ")[0]
    return f"outputs/{name if name.startswith(OUTPUT_FOLDERS) else f'examples/{name}'}.txt"


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
    lines = path.read_text(encoding="utf-8").splitlines()
    matches = [line for line in lines if line.startswith(f"{label}: ")]
    if len(matches) != 1:
        labels = ", ".join(line.partition(": ")[0] for line in lines if ": " in line)
        raise ValueError(
            f"{len(matches)} lines of {output} start with '{label}: ', expected 1; "
            f"use one of its labels: {labels or 'none'}"
        )
    return matches[0].removeprefix(f"{label}: ").strip()


def replace_values(text: str) -> str:
    """The page with each {{ chapter/example: label }} replaced by its value, except in code."""
    plain = blank_fences(text)
    for match in reversed([*VALUE.finditer(plain)]):
        text = text[: match.start()] + resolve_value(match[1]) + text[match.end() :]
    return text
