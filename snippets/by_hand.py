"""The pencil model without PyTorch: each table that its translation needs.

    python by_hand.py why do we work ?

Lists of numbers, +, ×, exp and square roots, as on paper. Prints each table.
"""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

Row = list[float]
Matrix = list[Row]

PENCIL = Path(__file__).with_name("pencil.json")


class Table(NamedTuple):
    """An intermediate result: its name, and a row of numbers for each word."""

    name: str
    rows: list[str]  # the words
    columns: list[str]
    values: Matrix


def linear(x: Matrix, weight: Matrix, bias: Row) -> Matrix:
    """x W^T + b: the dot product of each row of x with each row of W."""
    return [
        [dot(row, w) + b for w, b in zip(weight, bias, strict=True)]
        for row in x
    ]


def dot(a: Row, b: Row) -> float:
    return sum(one * other for one, other in zip(a, b, strict=True))


def add(x: Matrix, y: Matrix) -> Matrix:
    return [
        [one + other for one, other in zip(*rows, strict=True)]
        for rows in zip(x, y, strict=True)
    ]


def rounded(number: float, decimals: int) -> float:
    """A half is rounded away from zero, as on paper: 1.295 is 1.30.

    round() would take 1.29, since no float is exactly 1.295.
    """
    if math.isinf(number):
        return number
    steps = math.floor(abs(number) * 10**decimals + 0.5 + 1e-9)
    return math.copysign(steps / 10**decimals, number)


def position(p: int) -> Row:
    """The four numbers of position p, for d_model 4."""
    slow = p / 100  # 10000^(2/4) = 100
    return [math.sin(p), math.cos(p), math.sin(slow), math.cos(slow)]


class ByHand:
    """The pencil model; tables has every result of the last translation.

    With decimals, each result is rounded before it is used, as on paper.
    """

    def __init__(self, about: dict[str, Any], decimals: int | None = None):
        self.weights = about["weights"]
        self.source, self.target = about["source"], about["target"]
        self.decimals = decimals
        self.tables: list[Table] = []

    def keep(
        self,
        name: str,
        rows: Sequence[str],
        values: Matrix,
        columns: Sequence[str] = (),
    ) -> Matrix:
        """Note a result as a table, rounded."""
        values = [self.round(row) for row in values]
        self.tables.append(Table(name, [*rows], [*columns], values))
        return values

    def round(self, values: Row) -> Row:
        if self.decimals is None:
            return values
        return [rounded(value, self.decimals) for value in values]

    def embed(self, side: str, words: list[str], ids: list[int]) -> Matrix:
        """√d = 2 times the row of each word, plus the row of its position."""
        table = self.weights[f"{side}_embedding.embedding.weight"]
        x = [[2 * number for number in table[i]] for i in ids]
        x = self.keep(f"{side}.embedding", words, x)
        p = [position(i) for i in range(len(words))]
        p = self.keep(f"{side}.position", words, p)
        return self.keep(f"{side}.sum", words, add(x, p))

    def softmax(self, scores: Row) -> Row:
        """e^score of each, divided by their sum.

        The largest score is subtracted from all: the result is the same, and
        no number is large.
        """
        powers = [math.exp(score - max(scores)) for score in scores]
        powers = self.round(powers)
        return [power / sum(powers) for power in powers]

    def attention(
        self,
        name: str,
        x: Matrix,
        words: list[str],
        memory: Matrix,
        memory_words: list[str],
        causal: bool = False,
    ) -> Matrix:
        """Each word of x attends to the words of memory, in two heads."""
        q = self.linear(f"{name}.query", words, x)
        k = self.linear(f"{name}.key", memory_words, memory)
        v = self.linear(f"{name}.value", memory_words, memory)
        joined: Matrix = [[] for _ in words]
        for head in range(2):  # columns 0 and 1, then 2 and 3
            part = slice(2 * head, 2 * head + 2)
            scores = [
                [
                    -math.inf
                    if causal and j > i
                    else dot(q[i][part], k[j][part]) / math.sqrt(2)
                    for j in range(len(memory))
                ]
                for i in range(len(x))
            ]
            scores = self.keep(
                f"{name}.scores.{head}", words, scores, memory_words
            )
            weights = self.keep(
                f"{name}.weights.{head}",
                words,
                [self.softmax(row) for row in scores],
                memory_words,
            )
            values = [list(column) for column in zip(*v, strict=True)][part]
            for i, row in enumerate(weights):
                joined[i] += [dot(row, column) for column in values]
        joined = self.keep(f"{name}.heads", words, joined)
        return self.linear(f"{name}.output", words, joined)

    def linear(self, name: str, words: list[str], x: Matrix) -> Matrix:
        weight = self.weights[f"{name}.weight"]
        bias = self.weights[f"{name}.bias"]
        return self.keep(name, words, linear(x, weight, bias))

    def feed_forward(self, name: str, words: list[str], x: Matrix) -> Matrix:
        hidden = self.linear(f"{name}.linear1", words, x)
        hidden = [[max(0.0, number) for number in row] for row in hidden]
        hidden = self.keep(f"{name}.relu", words, hidden)
        return self.linear(f"{name}.linear2", words, hidden)

    def add_and_norm(
        self, name: str, words: list[str], x: Matrix, y: Matrix
    ) -> Matrix:
        """LayerNorm(x + y): mean 0 and variance 1, times weight, plus bias."""
        x = self.keep(f"{name}.sum", words, add(x, y))
        mean = self.keep(f"{name}.mean", words, [[sum(r) / 4] for r in x])
        x = [[v - m for v in row] for row, [m] in zip(x, mean, strict=True)]
        x = self.keep(f"{name}.centered", words, x)
        deviation = [[math.sqrt(dot(row, row) / 4 + 1e-5)] for row in x]
        deviation = self.keep(f"{name}.deviation", words, deviation)
        weight = self.weights[f"{name}.weight"]
        bias = self.weights[f"{name}.bias"]
        x = [
            [
                v / (s or 1.0) * w + b
                for v, w, b in zip(row, weight, bias, strict=True)
            ]
            for row, [s] in zip(x, deviation, strict=True)
        ]
        return self.keep(name, words, x)

    def encode(self, words: list[str]) -> Matrix:
        layer = "encoder.layers.0"
        x = self.embed("src", words, [self.source.index(w) for w in words])
        y = self.attention(f"{layer}.self_attention", x, words, x, words)
        x = self.add_and_norm(f"{layer}.norm1", words, x, y)
        y = self.feed_forward(f"{layer}.feed_forward", words, x)
        return self.add_and_norm(f"{layer}.norm2", words, x, y)

    def decode(
        self, words: list[str], memory: Matrix, source: list[str]
    ) -> Matrix:
        """The probabilities of the word after each of the words."""
        layer = "decoder.layers.0"
        x = self.embed("tgt", words, [self.target.index(w) for w in words])
        y = self.attention(f"{layer}.self_attention", x, words, x, words, True)
        x = self.add_and_norm(f"{layer}.norm1", words, x, y)
        y = self.attention(f"{layer}.cross_attention", x, words, memory, source)
        x = self.add_and_norm(f"{layer}.norm2", words, x, y)
        y = self.feed_forward(f"{layer}.feed_forward", words, x)
        x = self.add_and_norm(f"{layer}.norm3", words, x, y)
        logits = linear(
            x, self.weights["output.weight"], [0.0] * len(self.target)
        )
        logits = self.keep("logits", words, logits, self.target)
        probs = [self.softmax(row) for row in logits]
        return self.keep("probabilities", words, probs, self.target)

    def translate(self, source: list[str]) -> list[str]:
        """The most probable word, again and again until <eos>."""
        self.tables.clear()
        memory = self.encode(source)
        encoder = [*self.tables]
        words = ["<bos>"]
        while len(words) < 8:
            self.tables = [
                *encoder
            ]  # the last step has all rows of the decoder
            probs = self.decode(words, memory, source)[-1]
            word = self.target[probs.index(max(probs))]
            if word == "<eos>":
                break
            words.append(word)
        return words[1:]


def load(decimals: int | None = None, path: Path = PENCIL) -> ByHand:
    return ByHand(json.loads(path.read_text(encoding="utf-8")), decimals)


def main() -> None:
    words = sys.argv[1:] or ["why", "do", "we", "work", "?"]
    model = load(decimals=2)
    if unknown := [word for word in words if word not in model.source[1:]]:
        known = ", ".join(model.source[1:])  # without <pad>
        sys.exit(f"by_hand.py: unknown word {unknown[0]!r}; it knows {known}")
    translation = model.translate(words)
    for name, rows, columns, values in model.tables:
        print(f"\n{name}", *columns, sep="  ")
        for word, row in zip(rows, values, strict=True):
            print(*(f"{number:7.2f}" for number in row), f"  {word}")
    print("\n", *translation)


if __name__ == "__main__":
    main()
