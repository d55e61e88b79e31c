"""Our translator as a browser runs it, snippets/translator.js, beside the one in PyTorch.

A build compares them under Node (scripts/proofs/javascript.py), a test in a real browser.
Both let javascript_model.mjs translate, and compare what it gives with Reference.
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
from corpus import translator as pairs_of
from decode import beam_search, evaluating, greedy_decode
from translator import BOS, EOS, Translator, load_translator, padded

CODE = paths.SNIPPETS / "translator.js"
DRIVER = Path(__file__).with_suffix(".mjs")
MAX_LENGTH = 60
EACH_KIND = 9


def to_float16() -> bytes:
    """The translator's file with its numbers rounded to float16, all else as it is."""
    try:
        with safe_open(TRANSLATOR_WEIGHTS, "pt") as file:
            weights = {name: file.get_tensor(name).half() for name in file.keys()}  # noqa: SIM118
            return safetensors.torch.save(weights, file.metadata())
    except SafetensorError as error:
        what = f"is damaged ({error}); git restore it, or scripts/train makes it anew"
        raise SourceError(TRANSLATOR_WEIGHTS, 1, what) from None


def round_weights(translator: Translator) -> Translator:
    """The translator with the weights of halved(), in float32."""
    for parameter in translator.model.parameters():
        parameter.data = parameter.data.half().float()
    return translator


def sentences() -> list[Pair]:
    """Some of each kind that no training has seen, and the longest of all."""
    pairs = pairs_of("test")
    chosen: dict[str, list[Pair]] = {}
    for pair in pairs:
        chosen.setdefault(pair.kind, []).append(pair)
    found = [pair for kind in sorted(chosen) for pair in chosen[kind][:EACH_KIND]]
    found.append(max(pairs, key=lambda pair: len(pair.source)))
    found.append(max(pairs, key=lambda pair: len(pair.target)))
    return found


@dataclasses.dataclass
class Reference:
    """What one translator makes of the sentences; a list has an item a sentence."""

    greedy: list[list[int]]  # ids with <eos>
    beam: list[list[int]]
    logits: list[np.ndarray]  # (n, V): those before each token of greedy
    attention: list[np.ndarray]  # (n, layer, head, m)


def reference(translator: Translator, pairs: list[Pair]) -> Reference:
    """By PyTorch, all sentences in one batch."""
    model = translator.model
    sources = [torch.tensor(translator.source.encode(pair.source)) for pair in pairs]
    src = padded(sources)
    greedy = greedy_decode(model, src, MAX_LENGTH, BOS, EOS)
    beam = beam_search(model, src, MAX_LENGTH, BOS, EOS)
    given = torch.nn.functional.pad(greedy[:, :-1], (1, 0), value=BOS)
    with evaluating(model), record_cross_attention(translator) as weights:
        logits = model(src, given)
    attention = torch.stack(weights, dim=1).permute(0, 3, 1, 2, 4)  # (b, n, layer, head, m)
    rows = [cut(row) for row in greedy.tolist()]
    return Reference(
        rows,
        [cut(row) for row in beam.tolist()],
        [logits[i, : len(row)].numpy() for i, row in enumerate(rows)],
        [attention[i, : len(row), ..., : len(sources[i])].numpy() for i, row in enumerate(rows)],
    )


def cut(ids: list[int]) -> list[int]:
    """Up to and with <eos>."""
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


@dataclasses.dataclass
class Difference:
    """How far what JavaScript made is from a reference."""

    greedy: int  # how many sentences are the same
    beam: int
    logits: float  # the largest difference
    attention: float


def difference(found: dict, wanted: Reference) -> Difference:
    """found: the result of javascript_model.mjs for the sentences and outputs of wanted."""
    return Difference(
        same(found["greedy"], wanted.greedy),
        same(found["beam"], wanted.beam),
        largest(found["logits"], wanted.logits),
        largest(found["attention"], wanted.attention),
    )


def same(found: list[list[int]], wanted: list[list[int]]) -> int:
    return sum(a == b for a, b in zip(found, wanted, strict=True))


def largest(found: str, wanted: list[np.ndarray]) -> float:
    """Infinite if there are more numbers or fewer than wanted, or one is none."""
    numbers = np.frombuffer(base64.b64decode(found), dtype="<f4")
    flat = np.concatenate([each.ravel() for each in wanted])
    if numbers.shape != flat.shape or not np.isfinite(numbers).all():
        return math.inf
    return float(np.abs(numbers - flat).max())


def driver_input(pairs: list[Pair], outputs: list[list[int]]) -> dict:
    """The input of javascript_model.mjs: the words, and the tokens whose logits are compared."""
    words = [" ".join(pair.source) for pair in pairs]
    return {"sentences": words, "outputs": outputs, "maxLength": MAX_LENGTH}


def run_in_node(weights: Path, asked: dict, code: Path = CODE) -> dict:
    """The result of javascript_model.mjs under Node."""
    done = subprocess.run(
        [node_executable(), str(DRIVER), str(code), str(weights)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"{code.name} under Node: {done.stderr}")
    return json.loads(done.stdout)


def browser_script() -> str:
    """A script for page.evaluate that runs javascript_model.mjs in a browser on the site."""
    functions, _, _ = DRIVER.read_text(encoding="utf-8").partition("if (typeof process")
    return f"""async ([code, weights, task]) => {{
      {functions}
      const bytes = await (await fetch(weights)).arrayBuffer();
      return translateAll(await import(code), bytes, task);
    }}"""


def load() -> Translator:
    return load_translator(TRANSLATOR_WEIGHTS)
