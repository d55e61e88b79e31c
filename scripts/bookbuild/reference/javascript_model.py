"""Compares the translator in JavaScript, snippets/translator.js, with the one in PyTorch.

The build compares them under Node (scripts/proofs/javascript.py), a test in a browser. Both
run javascript_model.mjs, whose result has the form of Outputs, and compare it with PyTorch's.
"""

import json
import math
import subprocess
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

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
from decode import beam_search, eval_mode, greedy_decode
from translator import BOS, EOS, Translator, load_translator, padded

TRANSLATOR_JS = paths.SNIPPETS / "translator.js"
DRIVER_SCRIPT = paths.SCRIPTS / "bookbuild/reference/javascript_model.mjs"
MAX_LENGTH = 60  # tokens
Outputs = list[dict[str, Any]]  # greedy and beam (ids), logits and attention of each sentence


def to_float16() -> bytes:
    """The weights file of the translator, converted to float16."""
    try:
        with safe_open(TRANSLATOR_WEIGHTS, "pt") as file:
            weights = {name: file.get_tensor(name).half() for name in file.keys()}  # noqa: SIM118
            return safetensors.torch.save(weights, file.metadata())
    except SafetensorError as error:
        message = f"damaged weights file ({error}); run git restore, or scripts/train"
        raise SourceError(TRANSLATOR_WEIGHTS, 1, message) from None


def load_trained_translator(rounded: bool = False) -> Translator:
    """The translator with its weights in float32, which may be rounded to float16 first."""
    translator = load_translator(TRANSLATOR_WEIGHTS)
    for parameter in translator.model.parameters() if rounded else ():
        parameter.data = parameter.data.half().float()
    return translator


def comparison_pairs(per_kind: int = 2) -> list[Pair]:
    """Some test pairs of each kind, and those with the longest source and target."""
    pairs = sorted(translator_pairs("test"), key=lambda pair: pair.kind)
    kinds = groupby(pairs, key=lambda pair: pair.kind)
    selected = [pair for _, group in kinds for pair in islice(group, per_kind)]
    selected.append(max(pairs, key=lambda pair: len(pair.source)))
    selected.append(max(pairs, key=lambda pair: len(pair.target)))
    return selected


def compute_reference(translator: Translator, pairs: list[Pair]) -> Outputs:
    """Translate all sources in one batch with PyTorch; the logits are those of the greedy ids."""
    model = translator.model
    sources = [torch.tensor(translator.source.encode(pair.source)) for pair in pairs]
    src = padded(sources)
    greedy = greedy_decode(model, src, MAX_LENGTH, BOS, EOS)
    beam = beam_search(model, src, MAX_LENGTH, BOS, EOS)
    tgt = torch.nn.functional.pad(greedy[:, :-1], (1, 0), value=BOS)
    with eval_mode(model), record_cross_attention(translator) as weights:
        logits = model(src, tgt)
    attention = torch.stack(weights, dim=1).permute(0, 3, 1, 2, 4)  # (b, n, layer, head, m)
    outputs: Outputs = []
    for i, source in enumerate(sources):
        ids = truncate_after_eos(greedy[i].tolist())
        own = attention[i, : len(ids), ..., : len(source)]
        outputs.append(
            {
                "greedy": ids,
                "beam": truncate_after_eos(beam[i].tolist()),
                "logits": logits[i, : len(ids)].flatten().tolist(),
                "attention": own.flatten().tolist(),
            }
        )
    return outputs


def truncate_after_eos(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


class Difference(NamedTuple):
    """How much the outputs of JavaScript differ from the reference."""

    greedy: int  # number of equal sentences
    beam: int
    logits: float  # largest absolute difference
    attention: float


def compare_outputs(outputs: Outputs, reference: Outputs) -> Difference:
    """Compare the result of javascript_model.mjs with the reference for the same sentences."""

    def count_equal(key: str) -> int:
        return sum(one[key] == other[key] for one, other in zip(outputs, reference, strict=True))

    def largest_difference(key: str) -> float:
        """Infinite if the numbers are not as many, or not finite."""
        numbers, expected = (
            np.array([number for sentence in each for number in sentence[key]], dtype=float)
            for each in (outputs, reference)
        )
        if numbers.shape != expected.shape or not np.isfinite(numbers).all():
            return math.inf
        return float(np.abs(numbers - expected).max())

    return Difference(
        count_equal("greedy"),
        count_equal("beam"),
        largest_difference("logits"),
        largest_difference("attention"),
    )


def driver_input(pairs: list[Pair], reference: Outputs) -> dict:
    """The input of javascript_model.mjs: sentences, and tokens whose logits to compute."""
    sentences = [" ".join(pair.source) for pair in pairs]
    outputs = [sentence["greedy"] for sentence in reference]
    return {"sentences": sentences, "outputs": outputs, "maxLength": MAX_LENGTH}


def run_in_node(weights: Path, task: dict, code: Path = TRANSLATOR_JS) -> Outputs:
    """The result of javascript_model.mjs under Node. Raises RuntimeError if Node fails."""
    process = subprocess.run(
        [node_executable(), str(DRIVER_SCRIPT), str(code), str(weights)],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if process.returncode:
        raise RuntimeError(f"{code.name} failed under Node: {process.stderr}")
    return json.loads(process.stdout)


def browser_script() -> str:
    """A script for page.evaluate that returns the result of javascript_model.mjs as JSON."""
    functions, _, _ = DRIVER_SCRIPT.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([code, weights, task]) => {{
      {functions}
      const bytes = await (await fetch(weights)).arrayBuffer();
      return translateAll(await import(code), bytes, task);
    }}"""
