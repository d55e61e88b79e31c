# --8<-- [start:imports]
"""Sentence pairs of your own: cleaning, parts, subwords."""

import itertools
import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from tqdm import tqdm

from corpus import PARTS, Pair
from pair_files import read_columns
from phrases import part_of

MAX_BYTES = 512  # of a sentence in UTF-8; it has no more subwords than bytes
MAX_RATIO = 5.0  # of the longer sentence's bytes to the shorter one's
MIN_PAIRS = 100
T = TypeVar("T")
# Control characters, except white space and the escape character, and U+FFFD.
DAMAGED = re.compile("[\x00-\x08\x0e-\x1a\x7f-\x84\x86-\x9f\ufffd]")


# --8<-- [end:imports]
# --8<-- [start:reading]
class Text(NamedTuple):
    """A source and its translation, as they are in the file."""

    source: str
    target: str


Dropped = dict[str, list[int]]  # the line numbers of each reason


def read_pairs(
    *paths: Path,
    columns: str | None = None,
    encoding: str | None = None,
) -> tuple[list[Text], Dropped]:
    """The clean pairs of a file, in its order, and what was dropped.

    Unicode is composed (NFC), and each run of white space becomes one space.
    Raises ValueError as read_columns, and if no pair is left.
    """
    pairs: dict[Text, None] = {}
    dropped: Dropped = {}
    rows = read_columns(paths, columns, encoding)
    for number, texts in progress(rows, "cleaning"):
        pair = Text(*map(clean, texts))
        reason = "duplicate" if pair in pairs else reason_to_drop(pair)
        if DAMAGED.search(pair.source + pair.target):
            reason = "damaged character"
        if reason:
            dropped.setdefault(reason, []).append(number)
        else:
            pairs[pair] = None
    if not pairs:
        raise ValueError(f"{paths[0]}: no pair is left; {report(dropped)}")
    return list(pairs), dropped


def progress(items: Iterable[T], name: str) -> Iterable[T]:
    """A bar if a person watches; with torchrun, of the first process."""
    other = os.environ.get("RANK", "0") != "0"
    return tqdm(items, name, disable=other or None, leave=False)


def clean(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def reason_to_drop(pair: Text) -> str | None:
    """Why a pair is not used, or None."""
    short, long = sorted(len(text.encode()) for text in pair)
    if short == 0:
        return "empty"
    if long > MAX_BYTES:
        return "too long"
    if long > MAX_RATIO * short:
        return "length ratio"
    return None


def report(dropped: Dropped) -> str:
    """A line for each reason: how many pairs were dropped, and where."""
    found = []
    for reason, numbers in dropped.items():
        more = ", …" if len(numbers) > 3 else ""
        first = ", ".join(map(str, numbers[:3])) + more
        found.append(f"dropped {len(numbers)} {reason} (line {first})")
    return "\n".join(found)


def split_pairs(pairs: list[Text]) -> dict[str, list[Text]]:
    """The pairs of each part; a source, in any case of letters, is in one.

    Raises ValueError for fewer than MIN_PAIRS pairs and for an empty part.
    """
    parts: dict[str, list[Text]] = {part: [] for part in PARTS}
    for pair in pairs:
        parts[part_of(pair.source.casefold())].append(pair)
    if len(pairs) < MIN_PAIRS:
        raise ValueError(
            f"pairs left: {len(pairs)}; a training needs at least {MIN_PAIRS}, "
            "a useful translator many thousands"
        )
    if not all(parts.values()):
        sources = len({pair.source.casefold() for pair in pairs})
        raise ValueError(
            f"different sources: {sources}; these are too few for a training, "
            "a validation and a test set without a common source"
        )
    return parts


# --8<-- [end:reading]
# --8<-- [start:subwords]
class Subwords:
    """Splits text into subwords, and joins them: byte-pair encoding.

    The 256 bytes are subwords, so that any text can be split and
    join(split(text)) == text. Source: Sennrich et al. 2016, section 3.2.
    """

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.tokens: list[str] = sorted(tokenizer.get_vocab())

    def split(self, text: str) -> list[str]:
        return self.tokenizer.encode(text).tokens

    def join(self, subwords: list[str]) -> str:
        return self.tokenizer.decoder.decode(subwords)

    def pair(self, text: Text) -> Pair:
        return Pair(self.split(text.source), self.split(text.target), "text")


def learn_subwords(pairs: list[Text], vocab_size: int) -> Subwords:
    """Merges learned from both languages, the most frequent pair first.

    Stops at vocab_size subwords, or when no pair occurs twice.
    Raises ValueError for a vocab_size below the 256 bytes.
    """
    if vocab_size < 256:
        raise ValueError(f"vocab_size must be at least 256, got {vocab_size}")
    vocab_size = min(vocab_size, 1_000_000)  # more don't fit a model
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel
    tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=2,
        initial_alphabet=sorted(byte_level.alphabet()),
        show_progress=sys.stderr.isatty(),
    )
    tokenizer.train_from_iterator(itertools.chain(*pairs), trainer)
    return Subwords(tokenizer)


# --8<-- [end:subwords]
