"""The steps of the page By hand: the tables of snippets/by_hand.py with titles and arithmetic.

The page, the worksheet, the poster and the spreadsheet all show these steps, in this order.
"""

import math
import runpy
from collections.abc import Iterable
from typing import Any, NamedTuple

from bookbuild.pages import paths
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.templates import render

SENTENCE = ["why", "do", "we", "work", "?"]
DECIMALS = 2


class Step(NamedTuple):
    """A table of the translation with its titles and the arithmetic of a row."""

    name: str
    part: str  # of the model
    title: str  # which result of this part
    formula: str  # TeX
    rows: list[str]
    columns: list[str]
    values: list[list[float]]
    worked: int  # the row whose arithmetic is shown
    arithmetic: list[str]  # an equation for each number of this row


# Part of the model: English and Chinese
PARTS = {
    "src": ("Source words", "原文的词"),
    "encoder.layers.0.self_attention": ("Encoder self-attention", "编码器的自注意力"),
    "encoder.layers.0.norm1": ("Encoder: add & norm 1", "编码器：相加与归一化 1"),
    "encoder.layers.0.feed_forward": ("Encoder feed-forward network", "编码器的前馈网络"),
    "encoder.layers.0.norm2": ("Encoder: add & norm 2", "编码器：相加与归一化 2"),
    "tgt": ("Target words", "译文的词"),
    "decoder.layers.0.self_attention": ("Masked self-attention", "解码器的掩码自注意力"),
    "decoder.layers.0.norm1": ("Decoder: add & norm 1", "解码器：相加与归一化 1"),
    "decoder.layers.0.cross_attention": ("Cross-attention", "交叉注意力"),
    "decoder.layers.0.norm2": ("Decoder: add & norm 2", "解码器：相加与归一化 2"),
    "decoder.layers.0.feed_forward": ("Decoder feed-forward network", "解码器的前馈网络"),
    "decoder.layers.0.norm3": ("Decoder: add & norm 3", "解码器：相加与归一化 3"),
    "": ("Next word", "下一个词"),
}
# Result within its part: English, Chinese, formula
RESULTS = {
    "embedding": ("Word vectors × 2", "词向量 × 2", r"2\,E_w"),
    "position": (
        "Position vectors",
        "位置向量",
        r"(\sin p, \cos p, \sin\tfrac{p}{100}, \cos\tfrac{p}{100})",
    ),
    "start": ("Word + position", "词 + 位置", r"x"),
    "sum": ("Sublayer's input + output", "子层的输入 + 输出", r"s = x + f(x)"),
    "query": ("Queries", "查询", r"x (W^Q)^\top + b^Q"),
    "key": ("Keys", "键", r"x (W^K)^\top + b^K"),
    "value": ("Values", "值", r"x (W^V)^\top + b^V"),
    "scores.0": ("Scores of head 0", "0 号头的分数", r"q \cdot k / \sqrt 2"),
    "weights.0": ("Weights of head 0", "0 号头的权重", r"\operatorname{softmax}"),
    "scores.1": ("Scores of head 1", "1 号头的分数", r"q \cdot k / \sqrt 2"),
    "weights.1": ("Weights of head 1", "1 号头的权重", r"\operatorname{softmax}"),
    "heads": ("Both heads, joined", "两个头的输出拼接", r"a = \sum_j w_j v_j"),
    "output": ("Output", "输出", r"a (W^O)^\top + b^O"),
    "mean": ("Mean", "均值", r"\mu"),
    "centered": ("Minus the mean", "减去均值", r"s - \mu"),
    "deviation": ("Standard deviation", "标准差", r"\sigma"),
    "norm": ("Normalized", "归一化", r"\gamma (s - \mu) / \sigma + \beta"),
    "linear1": ("Hidden layer", "隐藏层", r"x W_1^\top + b_1"),
    "relu": ("ReLU", "ReLU", r"\max(0, h)"),
    "linear2": ("Output", "输出", r"h W_2^\top + b_2"),
    "logits": ("Logits", "logits", r"x (W^{\text{out}})^\top"),
    "probabilities": ("Probabilities", "概率", r"\operatorname{softmax}"),
}


def run_by_hand() -> dict[str, Any]:
    """The names of snippets/by_hand.py; MkDocs runs without the snippets on its path."""
    return runpy.run_path(str(paths.SNIPPETS / "by_hand.py"))


def translation() -> Any:
    """The page's sentence translated by hand, each result rounded to two decimals."""
    model = run_by_hand()["load"](DECIMALS)
    model.translate(SENTENCE)
    return model


def steps(language: str) -> list[Step]:
    """The steps of the page's sentence, in order."""
    which, model, found = LANGUAGES.index(language), translation(), []
    for name, rows, columns, values in model.tables:
        part, result = split_name(name)
        titles = PARTS[part][which], RESULTS[result][which], RESULTS[result][2]
        # why is followed through the encoder, 我们, after which 为什么 comes, through the decoder
        row = 1 if rows[0] == "<bos>" else 0
        found.append(Step(name, *titles, rows, columns, values, row, arithmetic(model, name, row)))
    return found


def split_name(name: str) -> tuple[str, str]:
    """The part of the model that computes a table, and which of its results it is."""
    if name in PARTS:
        return name, "norm"
    if name in ("src.sum", "tgt.sum"):
        return name[:3], "start"
    part = max((each for each in PARTS if name.startswith(f"{each}.")), key=len, default="")
    return part, name.removeprefix(f"{part}.")


# The arithmetic of a row


def arithmetic(model: Any, name: str, row: int) -> list[str]:
    """How each number of a row of a table is computed, from the numbers of the tables before.

    Products with 0 are left out, and so are keys that a mask hides.
    """
    tables = {table.name: table.values for table in model.tables}
    part, result = split_name(name)
    values = tables[name][row]

    def linear(x: list[float], weight: str, bias: str | None) -> list[str]:
        rows = model.weights[weight]
        biases = model.weights[bias] if bias else [0] * len(rows)
        return [sum_of_products(x, w, b) for w, b in zip(rows, biases, strict=True)]

    match result.split("."):
        case ["embedding"]:
            word = next(t.rows[row] for t in model.tables if t.name == name)
            vocabulary = model.source if part == "src" else model.target
            numbers = model.weights[f"{part}_embedding.embedding.weight"][vocabulary.index(word)]
            left = [f"2 · {text(number, True)}" for number in numbers]
        case ["position"]:
            left = [f"sin {row}", f"cos {row}", f"sin {text(row / 100)}", f"cos {text(row / 100)}"]
        case ["start" | "sum"]:
            a, b = (tables[each][row] for each in summands(part))
            left = [f"{text(x)} + {text(y, True)}" for x, y in zip(a, b, strict=True)]
        case ["query" | "key" | "value" | "output" | "linear1" | "linear2"]:
            x = tables[read_by(name)][row]
            left = linear(x, f"{name}.weight", f"{name}.bias")
        case ["scores", head]:
            columns = slice(2 * int(head), 2 * int(head) + 2)
            query = tables[f"{part}.query"][row][columns]
            keys = [key[columns] for key in tables[f"{part}.key"]]
            left = [f"({sum_of_products(query, key)}) / √2" for key in keys]
            left = [each for each, value in zip(left, values, strict=True) if value > -math.inf]
        case ["weights", head]:
            return softmax(tables[f"{part}.scores.{head}"][row], values)
        case ["heads"]:
            v = [*zip(*tables[f"{part}.value"], strict=True)]
            w = [tables[f"{part}.weights.{head}"][row] for head in (0, 0, 1, 1)]
            left = [sum_of_products(a, b) for a, b in zip(w, v, strict=True)]
        case ["mean"]:
            x = tables[f"{part}.sum"][row]
            left = [f"({join_terms(map(text, x))}) / 4"]
        case ["centered"]:
            [mean] = tables[f"{part}.mean"][row]
            left = [f"{text(x)} − {text(mean, True)}" for x in tables[f"{part}.sum"][row]]
        case ["deviation"]:
            x = tables[f"{part}.centered"][row]
            left = [f"√(({' + '.join(f'{text(each, True)}²' for each in x)}) / 4)"]
        case ["norm"]:
            [deviation] = tables[f"{part}.deviation"][row]
            weight, bias = (model.weights[f"{part}.{kind}"] for kind in ("weight", "bias"))
            left = []
            for x, w, b in zip(tables[f"{part}.centered"][row], weight, bias, strict=True):
                quotient = f"{text(x)} / {text(deviation)} · {text(w, True)}" if w else ""
                left.append(join_terms(filter(None, (quotient, text(b) if b else ""))))
        case ["relu"]:
            left = [f"max(0, {text(x)})" for x in tables[f"{part}.linear1"][row]]
        case ["logits"]:
            left = linear(tables["decoder.layers.0.norm3"][row], "output.weight", None)
        case ["probabilities"]:
            return softmax(tables["logits"][row], values)
        case _:
            raise ValueError(f"a table without arithmetic: {name}")
    shown = [value for value in values if value > -math.inf]
    equations = zip(left, map(text, shown), strict=True)
    return [f"{a} = {value}" for a, value in equations if a != value]


def softmax(scores: list[float], weights: list[float]) -> list[str]:
    """The powers of e, their sum, and the quotients that aren't 0."""
    rounded = run_by_hand()["rounded"]
    largest, lines, powers = max(scores), [], []
    for score in scores:
        powers.append(rounded(math.exp(score - largest), DECIMALS))
        if score > -math.inf:
            lines.append(f"e^({text(score)} − {text(largest, True)}) = {text(powers[-1])}")
    total = sum(powers)
    lines.append(f"{join_terms(text(power) for power in powers if power)} = {text(total)}")
    pairs = zip(powers, weights, strict=True)
    return lines + [f"{text(a)} / {text(total)} = {text(b)}" for a, b in pairs if a]


def summands(part: str) -> tuple[str, str]:
    """The tables that a sum adds."""
    if part in ("src", "tgt"):
        return f"{part}.embedding", f"{part}.position"
    names = [*PARTS]
    before = names[names.index(part) - 1]  # the sublayer
    kind = "linear2" if before.endswith("feed_forward") else "output"
    return residual_of(before), f"{before}.{kind}"


def residual_of(part: str) -> str:
    """The table that a sublayer reads, and to which its output is added."""
    names = [*PARTS]
    before = names[names.index(part) - 1]
    return f"{before}.sum" if before in ("src", "tgt") else before


def read_by(name: str) -> str:
    """The table that a linear map reads."""
    part, result = split_name(name)
    if result == "output":
        return f"{part}.heads"
    if result == "linear2":
        return f"{part}.relu"
    if part.endswith("cross_attention") and result in ("key", "value"):
        return "encoder.layers.0.norm2"
    return residual_of(part)


def text(value: float, inner: bool = False) -> str:
    """A number as on paper; a negative one is in brackets behind another sign."""
    if value == -math.inf:
        return "−∞"
    digits = f"{abs(value):.{DECIMALS}f}".removesuffix(f".{'0' * DECIMALS}")
    if value >= 0 or digits == "0":
        return digits
    return f"(−{digits})" if inner else f"−{digits}"


def sum_of_products(a: Iterable[float], b: Iterable[float], bias: float = 0) -> str:
    """a · b + bias; products with 0 are left out."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x and y]
    terms = [f"{text(x, bool(n))} · {text(y, True)}" for n, (x, y) in enumerate(pairs)]
    return join_terms([*terms, text(bias)] if bias or not terms else terms)


def join_terms(terms: Iterable[str]) -> str:
    """A sum: a term with a minus sign is subtracted."""
    return " + ".join(terms).replace("+ −", "− ")


# The tables on the page

SYMBOLS = {
    "query": ("W^Q", "b^Q"),
    "key": ("W^K", "b^K"),
    "value": ("W^V", "b^V"),
    "output": ("W^O", "b^O"),
    "linear1": ("W_1", "b_1"),
    "linear2": ("W_2", "b_2"),
}


class Weights(NamedTuple):
    """The numbers of a module: a line for each output, or each word, or each of gamma and beta."""

    name: str  # of the module
    formula: str  # TeX
    rows: list[str]
    values: list[list[int]]
    biases: list[int]  # one more column; empty if there are none


def all_weights() -> list[Weights]:
    """All weights of the model, by module, in its order."""
    model, found = translation(), []
    for name in dict.fromkeys(each.rpartition(".")[0] for each in model.weights):
        weight, biases = model.weights[f"{name}.weight"], model.weights.get(f"{name}.bias", [])
        last = name.rpartition(".")[2]
        if last.startswith("norm"):
            rows = ["γ", "β"]
            found.append(Weights(name, r"\gamma, \beta", rows, [weight, biases], []))
        elif last == "embedding" or name == "output":
            words = model.source if name.startswith("src") else model.target
            formula = "E" if last == "embedding" else r"W^{\text{out}}"
            found.append(Weights(name, formula, words, weight, biases))
        else:
            found.append(Weights(name, ", ".join(SYMBOLS[last]), [], weight, biases))
    return found


def page_tables(language: str) -> dict[str, str]:
    """The tables of the page by the names under which it includes them; none without the model."""
    if not (paths.SNIPPETS / "by_hand.py").exists():
        return {}
    tables = {
        f"weights/{each.name}": render("pencil_weights.md", language, weights=each)
        for each in all_weights()
    }
    for step in steps(language):
        tables[step.name] = render("pencil_step.md", language, step=step, text=text, zip=zip)
    return tables
