"""Tables of the largest differences between our models and those of transformers."""

import json
from collections.abc import Iterable

import pytest

from bookbuild.generated.claim_results import code_key
from helpers import SNIPPETS
from small_decoders import BOUND


def assert_shown(name: str, files: Iterable[str], shown: dict[str, str]) -> set[str]:
    """Compare an example's output with snippets/results/NAME.json, which must belong to the files.

    Returns the names of the models. The measurement has more seeds than the tests.
    """
    recorded = json.loads((SNIPPETS / "results" / f"{name}.json").read_text("utf-8"))
    hint = f"results/{name}.json is stale; run scripts/experiment {name}"
    assert recorded["key"] == code_key(files), hint
    for model, differences in recorded["differences"].items():
        assert float(shown[model]) == pytest.approx(max(differences.values()), rel=0.05)
        assert max(differences.values()) < BOUND
    return {*recorded["differences"]}
