# --8<-- [start:translator]
"""A translator is a model with its two vocabularies; and its file."""

import ast
import hashlib
import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from checkpoints import write_whole
from corpus import Pair, Vocabulary
from decode import greedy_decode
from transformer import Transformer, TransformerConfig

PAD, BOS, EOS = Vocabulary.pad_id, Vocabulary.bos_id, Vocabulary.eos_id


def padded(rows: Iterable[Tensor]) -> Tensor:
    """Rows of ids, of any lengths -> (batch, longest), filled with <pad>."""
    return pad_sequence(list(rows), batch_first=True, padding_value=PAD)


class Translator(NamedTuple):
    """A model, and the vocabularies of its source and of its target."""

    model: Transformer
    source: Vocabulary
    target: Vocabulary

    def translate(
        self, sentences: list[list[str]], max_len: int = 60
    ) -> list[list[str]]:
        """Lists of words -> lists of characters, by greedy decoding."""
        ids = [torch.tensor(self.source.encode(words)) for words in sentences]
        src = padded(ids).to(next(self.model.parameters()).device)
        tgt = greedy_decode(self.model, src, max_len, BOS, EOS)
        return [self.target.decode(row) for row in tgt.tolist()]


def new_translator(pairs: list[Pair], seed: int = 0, **sizes) -> Translator:
    """An untrained one for these pairs; sizes are those of the config."""
    source = Vocabulary(token for pair in pairs for token in pair.source)
    target = Vocabulary(token for pair in pairs for token in pair.target)
    config = TransformerConfig(len(source), len(target), max_len=64, **sizes)
    torch.manual_seed(seed)
    return Translator(Transformer(config), source, target)


# --8<-- [end:translator]
# --8<-- [start:exact_match]
def exact_match(translator: Translator, pairs: list[Pair]) -> dict[str, float]:
    """The share translated without a fault: of "all", and of each kind."""
    right: dict[str, list[bool]] = {"all": []}
    pairs = sorted(pairs, key=lambda pair: len(pair.target))
    for i in range(0, len(pairs), 256):
        batch = pairs[i : i + 256]
        longest = len(batch[-1].target) + 1  # and <eos>; longer is wrong anyway
        found = translator.translate([pair.source for pair in batch], longest)
        for pair, target in zip(batch, found, strict=True):
            for kind in "all", pair.kind:
                right.setdefault(kind, []).append(target == pair.target)
    return {kind: statistics.mean(found) for kind, found in right.items()}


# --8<-- [end:exact_match]
EMPTY = "Constant(value='')"


def code_only(text: str) -> str:
    """Python code -> its syntax tree as text, without docstrings.

    Neither comments nor layout change it, nor does the version of Python:
    empty fields and empty strings, which only some versions have, are left out.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            del node.body[0]
        elif isinstance(node, ast.JoinedStr):
            node.values = [v for v in node.values if show_node(v) != EMPTY]
    return show_node(tree)


def show_node(node: object) -> str:
    """A node of a syntax tree, or what one of its fields has, as text."""
    if isinstance(node, list):
        return f"[{', '.join(map(show_node, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={show_node(value)}"
        for name, value in ast.iter_fields(node)
        if value is not None and value != []
    ]
    return f"{type(node).__name__}({', '.join(fields)})"


# --8<-- [start:files]
MADE_BY = (
    "transformer.py",
    "numerals.py",
    "phrases.py",
    "corpus.py",
    "checkpoints.py",
    "translator.py",
    "batching.py",
    "trainer.py",
    "train.py",
)


def code_key(*files: Path | str) -> str:
    """A hash of the code of files, of those that make a translator if none.

    Comments, docstrings and layout don't change it.
    """
    paths = files or [Path(__file__).with_name(name) for name in MADE_BY]
    texts = [
        code_only(Path(path).read_text(encoding="utf-8")) for path in paths
    ]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def digest(weights: dict[str, Tensor]) -> str:
    """A checksum of the weights."""
    found = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        found.update(name.encode() + tensor.numpy().tobytes())
    return found.hexdigest()


def save_translator(
    translator: Translator, path: Path, seed: int, **more: str
) -> None:
    """Weights, configuration, vocabularies, seed, key and a checksum."""
    weights = translator.model.cpu().state_dict()
    about = {
        "config": asdict(translator.model.config),
        "source": translator.source.tokens,
        "target": translator.target.tokens,
        "seed": seed,
        "key": code_key(),
        "weights": digest(weights),
    } | more
    text = json.dumps(about, ensure_ascii=False)
    data = safetensors.torch.save(weights, {"translator": text})
    write_whole(path, data)


def read_file(path: Path | str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What save_translator wrote beside the weights, and the weights.

    Raises ValueError for a file that is not there, damaged, or another.
    """
    try:
        with safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {})["translator"])
            names = file.keys()
            weights = {name: file.get_tensor(name) for name in names}
    except FileNotFoundError as error:
        raise ValueError(f"{path} is missing; a training writes it") from error
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ValueError(
            f"{path} is not a whole file of a training ({error!r}); train again"
        ) from error
    if about.get("weights") != digest(weights):
        raise ValueError(
            f"{path} is damaged: its checksum differs; train again"
        )
    return about, weights


def load_translator(path: Path | str) -> Translator:
    """The translator that save_translator wrote; ValueError as read_file."""
    about, weights = read_file(path)
    try:
        model = Transformer(TransformerConfig(**about["config"]))
        model.load_state_dict(weights)
        names = about["source"], about["target"]
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{path} doesn't fit its configuration") from error
    source, target = map(Vocabulary, names)
    return Translator(model.eval(), source, target)


# --8<-- [end:files]
