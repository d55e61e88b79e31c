"""Values that examples print and pages quote: {{ chapter/example: label }}."""

import re

from bookbuild.pages import paths
from bookbuild.pages.page import FENCE, VALUE

OTHER_OUTPUTS = ("proofs/", "pitfalls/")  # what else prints values that pages say


def resolve_value(reference: str) -> str:
    """The value of 'chapter/example: label' in what the example printed, or a proof."""
    name, colon, label = reference.partition(": ")
    printed = f"{name}.txt" if name.startswith(OTHER_OUTPUTS) else f"examples/{name}.txt"
    path = paths.GENERATED / "outputs" / printed
    if not colon or not path.is_file():
        raise ValueError(
            f"{{{{ {reference} }}}} names no example; "
            "it should read {{ chapter/example: label }}"
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith(f"{label}: ")]
    if len(found) != 1:
        labels = ", ".join(each.partition(": ")[0] for each in lines if ": " in each)
        raise ValueError(
            f"{len(found)} lines of outputs/{printed} begin with '{label}: '; "
            f"exactly one is needed, and there are {labels or 'no labels'}"
        )
    return found[0].removeprefix(f"{label}: ").strip()


def replace_values(text: str) -> str:
    """The page with each {{ chapter/example: label }} replaced by its value."""
    fences = [(m.start(), m.end()) for m in FENCE.finditer(text)]

    def replace(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in fences):
            return match[0]
        return resolve_value(match[1])

    return VALUE.sub(replace, text)
