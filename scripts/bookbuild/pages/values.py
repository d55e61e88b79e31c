"""Values that examples print and pages quote: {{ chapter/example: label }}."""

import re

from bookbuild.pages import paths
from bookbuild.pages.page import FENCE, VALUE

OUTPUT_FOLDERS = ("proofs/", "pitfalls/")  # a reference to any other output is to an example


def resolve_value(reference: str) -> str:
    """The value of 'chapter/example: label' in the output of the example or proof.

    Raises ValueError if there is no such output, or not exactly one line with the label.
    """
    name, colon, label = reference.partition(": ")
    output = f"{name}.txt" if name.startswith(OUTPUT_FOLDERS) else f"examples/{name}.txt"
    path = paths.GENERATED / "outputs" / output
    if not colon or not path.is_file():
        raise ValueError(
            f"unknown example in {{{{ {reference} }}}}; use {{{{ chapter/example: label }}}}"
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    matches = [line for line in lines if line.startswith(f"{label}: ")]
    if len(matches) != 1:
        labels = ", ".join(line.partition(": ")[0] for line in lines if ": " in line)
        raise ValueError(
            f"{len(matches)} lines of outputs/{output} start with '{label}: ', expected 1; "
            f"use one of its labels: {labels or 'none'}"
        )
    return matches[0].removeprefix(f"{label}: ").strip()


def replace_values(text: str) -> str:
    """The page with each {{ chapter/example: label }} replaced by its value."""
    fences = [(match.start(), match.end()) for match in FENCE.finditer(text)]

    def replace(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in fences):
            return match[0]
        return resolve_value(match[1])

    return VALUE.sub(replace, text)
