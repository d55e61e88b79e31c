"""Compares the translator in JavaScript, snippets/translator.js, with the one in PyTorch.

The build compares them under Node (scripts/proofs/javascript.py), a test in a browser. Both
run javascript_model.mjs and compare its result with the ReferenceOutputs of PyTorch.
"""

import base64
import dataclasses
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.node import node_executable
from bookbuild.reference.cross_attention import TRANSLATOR_WEIGHTS, record_cross_attention
from corpus import Pair
from corpus import translator as translator_pairs
from decode import beam_search, evaluating, greedy_decode
from translator import BOS, EOS, Translator, load_translator, padded

TRANSLATOR_JS = paths.SNIPPETS / "translator.js"
DRIVER = paths.SCRIPTS / "bookbuild/reference/javascript_model.mjs"
MAX_LENGTH = 60  # tokens
PAIRS_PER_KIND = 9


def to_float16() -> bytes:
    """The weights file of the translator, converted to float16."""
    try:
        with safe_open(TRANSLATOR_WEIGHTS, "pt") as file:
            weights = {name: file.get_tensor(name).half() for name in file.keys()}  # noqa: SIM118
            return safetensors.torch.save(weights, file.metadata())
    except SafetensorError as error:
        message = f"damaged weights file ({error}); run git restore, or scripts/train"
        raise SourceError(TRANSLATOR_WEIGHTS, 1, message) from None


def load_trained_translator() -> Translator:
    return load_translator(TRANSLATOR_WEIGHTS)


def round_weights(translator: Translator) -> Translator:
    """Round the translator's weights to float16, in place; they stay float32."""
    for parameter in translator.model.parameters():
        parameter.data = parameter.data.half().float()
    return translator


def comparison_pairs() -> list[Pair]:
    """Some test pairs of each kind, and those with the longest source and target."""
    pairs = translator_pairs("test")
    by_kind: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_kind.setdefault(pair.kind, []).append(pair)
    selected = [pair for kind in sorted(by_kind) for pair in by_kind[kind][:PAIRS_PER_KIND]]
    selected.append(max(pairs, key=lambda pair: len(pair.source)))
    selected.append(max(pairs, key=lambda pair: len(pair.target)))
    return selected


@dataclasses.dataclass
class ReferenceOutputs:
    """The outputs of the PyTorch translator; each list has one item per sentence."""

    greedy: list[list[int]]  # ids, up to and including <eos>
    beam: list[list[int]]
    logits: list[np.ndarray]  # (n, V): those before each token of greedy
    attention: list[np.ndarray]  # (n, layer, head, m)


def compute_reference(translator: Translator, pairs: list[Pair]) -> ReferenceOutputs:
    """Translate all sources in one batch with PyTorch."""
    model = translator.model
    sources = [torch.tensor(translator.source.encode(pair.source)) for pair in pairs]
    src = padded(sources)
    greedy = greedy_decode(model, src, MAX_LENGTH, BOS, EOS)
    beam = beam_search(model, src, MAX_LENGTH, BOS, EOS)
    tgt = torch.nn.functional.pad(greedy[:, :-1], (1, 0), value=BOS)
    with evaluating(model), record_cross_attention(translator) as weights:
        logits = model(src, tgt)
    attention = torch.stack(weights, dim=1).permute(0, 3, 1, 2, 4)  # (b, n, layer, head, m)
    rows = [truncate_after_eos(row) for row in greedy.tolist()]
    return ReferenceOutputs(
        rows,
        [truncate_after_eos(row) for row in beam.tolist()],
        [logits[i, : len(row)].numpy() for i, row in enumerate(rows)],
        [attention[i, : len(row), ..., : len(sources[i])].numpy() for i, row in enumerate(rows)],
    )


def truncate_after_eos(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


@dataclasses.dataclass
class Difference:
    """How much the outputs of JavaScript differ from the reference."""

    greedy: int  # number of equal sentences
    beam: int
    logits: float  # largest absolute difference
    attention: float


def compare_outputs(outputs: dict, reference: ReferenceOutputs) -> Difference:
    """Compare the result of javascript_model.mjs with the reference for the same sentences."""
    return Difference(
        count_equal(outputs["greedy"], reference.greedy),
        count_equal(outputs["beam"], reference.beam),
        largest_difference(outputs["logits"], reference.logits),
        largest_difference(outputs["attention"], reference.attention),
    )


def count_equal(outputs: list[list[int]], expected: list[list[int]]) -> int:
    return sum(a == b for a, b in zip(outputs, expected, strict=True))


def largest_difference(encoded: str, expected: list[np.ndarray]) -> float:
    """The largest absolute difference; infinite if the numbers are not as many, or not finite."""
    numbers = np.frombuffer(base64.b64decode(encoded), dtype="<f4")
    expected_numbers = np.concatenate([array.ravel() for array in expected])
    if numbers.shape != expected_numbers.shape or not np.isfinite(numbers).all():
        return math.inf
    return float(np.abs(numbers - expected_numbers).max())


def driver_input(pairs: list[Pair], outputs: list[list[int]]) -> dict:
    """The input of javascript_model.mjs: sentences, and tokens whose logits to compute."""
    sentences = [" ".join(pair.source) for pair in pairs]
    return {"sentences": sentences, "outputs": outputs, "maxLength": MAX_LENGTH}


def run_in_node(weights: Path, task: dict, code: Path = TRANSLATOR_JS) -> dict:
    """The result of javascript_model.mjs under Node. Raises RuntimeError if Node fails."""
    process = subprocess.run(
        [node_executable(), str(DRIVER), str(code), str(weights)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if process.returncode:
        raise RuntimeError(f"{code.name} under Node: {process.stderr}")
    return json.loads(process.stdout)


def browser_script() -> str:
    """A script for page.evaluate that runs javascript_model.mjs in a browser on the site."""
    functions, _, _ = DRIVER.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([code, weights, task]) => {{
      {functions}
      const bytes = await (await fetch(weights)).arrayBuffer();
      return translateAll(await import(code), bytes, task);
    }}"""
