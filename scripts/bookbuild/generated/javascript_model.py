"""Compares the translator in JavaScript, snippets/translator.js, with the one in PyTorch.

The build compares them under Node (scripts/proofs/javascript.py), a test in a browser. Both
run driver.mjs, whose results have the form of Outputs, and compare them with PyTorch's.
"""

import json
import math
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open

from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS, forward_with_attention
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.node import node_executable
from corpus import Pair
from corpus import translator as translator_pairs
from decode import beam_search, greedy_decode
from translator import BOS, EOS, Translator, load_translator

TRANSLATOR_JS = paths.SNIPPETS / "translator.js"
DRIVER_SCRIPT = paths.SCRIPTS / "bookbuild/generated/driver.mjs"
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
    """Translate each source with PyTorch; the logits are those of the greedy ids."""
    model = translator.model
    outputs: Outputs = []
    for pair in pairs:
        src = torch.tensor([translator.source.encode(pair.source)])
        greedy = greedy_decode(model, src, MAX_LENGTH, BOS, EOS)
        beam = beam_search(model, src, MAX_LENGTH, BOS, EOS)
        tgt = torch.nn.functional.pad(greedy[:, :-1], (1, 0), value=BOS)
        logits, weights = forward_with_attention(model, src, tgt)
        attention = torch.cat(weights).permute(2, 0, 1, 3)  # (n, layer, head, m)
        outputs.append(
            {
                "greedy": greedy[0].tolist(),
                "beam": beam[0].tolist(),
                "logits": logits.flatten().tolist(),
                "attention": attention.flatten().tolist(),
            }
        )
    return outputs


class Difference(NamedTuple):
    """How much the outputs of JavaScript differ from the reference."""

    greedy: int  # number of equal sentences
    beam: int
    logits: float  # largest absolute difference
    attention: float


def compare_outputs(outputs: Outputs, reference: Outputs) -> Difference:
    """Compare the results of driver.mjs with the reference for the same sentences."""
    pairs = [*zip(outputs, reference, strict=True)]
    return Difference(
        *(sum(one[key] == other[key] for one, other in pairs) for key in ("greedy", "beam")),
        *(
            max(largest_difference(one[key], other[key]) for one, other in pairs)
            for key in ("logits", "attention")
        ),
    )


def largest_difference(numbers: Any, expected: Any, scale: Any = 1) -> float:
    """As a multiple of scale; infinite if the numbers are not as many, or not finite."""
    if len(numbers) != len(expected):
        return math.inf
    differences = np.abs(np.array(numbers, dtype=float) - np.array(expected, dtype=float))
    largest = float((differences / scale).max())
    return largest if math.isfinite(largest) else math.inf


def translation_tasks(pairs: list[Pair], reference: Outputs) -> list[dict]:
    """The tasks of driver.mjs: sentences, and the tokens whose logits to compute."""
    return [
        {"text": " ".join(pair.source), "output": each["greedy"], "maxLength": MAX_LENGTH}
        for pair, each in zip(pairs, reference, strict=True)
    ]


def run_in_node(
    function: str, modules: list[Path], weights: bytes, tasks: list[dict]
) -> Iterator[dict]:
    """The results of a function of driver.mjs. Raises RuntimeError if Node fails."""
    with tempfile.TemporaryDirectory() as folder:
        weights_file, output = Path(folder, "weights"), Path(folder, "output")
        weights_file.write_bytes(weights)
        addresses = [module.as_uri() for module in modules]
        with output.open("w") as stdout:
            process = subprocess.run(
                [node_executable(), DRIVER_SCRIPT, function, weights_file, *addresses],
                input=json.dumps(tasks),
                stdout=stdout,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        if process.returncode:
            raise RuntimeError(f"{modules[0].name} failed under Node: {process.stderr}")
        with output.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def browser_script() -> str:
    """A script for page.evaluate that returns the results of a function of driver.mjs."""
    functions, _, _ = DRIVER_SCRIPT.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([name, addresses, weights, tasks]) => {{
      {functions}
      const bytes = await (await fetch(weights)).arrayBuffer();
      return runTasks(name, addresses, bytes, tasks);
    }}"""
