"""The decorators of a claim: where the book makes it, and the faults that its test must catch.

`bookbuild.generated.claims` reads them from the source, so every argument is a literal string.
"""

import pytest


def claim(place: str, *, kind: str = "code") -> pytest.MarkDecorator:
    """The book makes this claim at a place: `masks#padding-mask`, or `masks` for a whole page.

    The kind is "code" for what this repository's code does, "mathematics" for what holds of any
    code, and "measurement" for a measured number or for what another library does.
    """
    return pytest.mark.claim(place, kind=kind)


def mutation(file: str, old: str, new: str, *, fault: str) -> pytest.MarkDecorator:
    """The test must fail once `old`, found exactly once in snippets/`file`, is replaced by `new`.

    Most claims need none, since a generated change does. The pages of claims list `fault`, a short
    description, beside the claim.
    """
    return pytest.mark.mutation(file, old, new, fault=fault)
